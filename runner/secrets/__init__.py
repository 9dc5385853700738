"""The open vault, and the redaction of its values from everything that is stored or shown.

Begin with `vault` and `redaction`. Add another encoding of secrets in `forms`, another kind of token in `token_shapes`.
"""
