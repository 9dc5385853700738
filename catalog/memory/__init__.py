"""Learns what each caller usually chooses, from runs that ended, and forgets on request.

Begin with `audit_memory`, then `defaults`.
"""
