"""Agent profiles, Packline's own tools in agent steps, and the configuration of agent clients."""
