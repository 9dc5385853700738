"""The vault: its cipher and key, rows of credentials, and their export file.

Begin with `vault_key` and `cipher`. Only `runner.secrets` opens sealed values.
"""
