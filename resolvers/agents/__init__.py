"""Agent profiles, Packline's own tools in agent steps, and how agents' programs are connected."""
