"""Backups, and what retention deletes."""
