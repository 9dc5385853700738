"""Web addresses, and the HTTP client that reaches only allowed ones.

Begin with `policy` and `client`; `web_address` reads addresses.
"""
