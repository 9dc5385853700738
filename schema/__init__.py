"""The GraphQL schema: one room per noun, whose fields are one-line calls to resolvers.

Begin with `build`. `base` holds what all types share, `guard` the checks before execution.
"""
