"""Callers, tokens, credentials and the audit log."""
