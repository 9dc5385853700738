"""What every type builds on: scalars, pagination, problems, directives, masking, loaders.

Begin with `context` and `directives`. Imports no other room of the schema, except inside a function where a type of the
graph has to be loaded.
"""
