"""Commands about credentials and the vault."""
