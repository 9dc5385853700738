"""Callers, their tokens and logins, the audit trail, and which tools of mounted servers were accepted.

Begin with `callers`; `audit` is written by every change in its own transaction.
"""
