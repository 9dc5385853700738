"""Artifacts and the commands on them."""
