"""Who is calling, from which host, and how often one address may be wrong.

Begin with `identity`.
"""
