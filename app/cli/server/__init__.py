"""Commands about this machine's server: up, doctor, backup, connect."""
