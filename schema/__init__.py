"""The GraphQL schema: one room per noun; fields are one-line calls to resolvers.

Begin with `build`. `base` is what every type builds on, `guard` the limits before execution.
"""
