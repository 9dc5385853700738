"""Callers, tokens, credentials, the audit trail."""
