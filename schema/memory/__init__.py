"""Audit memory and the defaults learned from it."""
