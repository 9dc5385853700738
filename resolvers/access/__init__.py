"""Use cases of callers, tokens, credentials and the audit trail."""
