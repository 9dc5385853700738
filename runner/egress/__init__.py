"""Web addresses, and the HTTP client that reaches only allowed ones.

Begin with `web_address` and `client`.
"""
