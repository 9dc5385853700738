"""Callers, their tokens and logins, the audit trail, and the accepted tools of mounted servers.

Begin with `callers`; every change writes `audit` in its own transaction.
"""
