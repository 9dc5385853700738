"""The GraphQL schema: one file per noun; fields are one-line calls to resolvers."""
