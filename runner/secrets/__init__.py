"""The open vault, and everything that keeps its values out of what is stored or shown.

Begin with `vault` and `redaction`. A way of writing a secret is added in `forms`, a kind of token in `token_shapes`.
"""
