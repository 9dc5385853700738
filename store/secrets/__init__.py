"""The vault: its cipher and key, credentials as rows, and the file they are exported to.

Begin with `vault_key` and `cipher`. Nothing here is read in clear text except by `runner.secrets`.
"""
