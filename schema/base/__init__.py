"""What all types share: scalars, pagination, problems, directives, masking, loaders.

Begin with `context` and `directives`. Imports no other room of the schema, except inside functions that load a type of
the graph.
"""
