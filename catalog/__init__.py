"""The catalog of packs and pipelines: metadata, search, routing, and learned defaults.

`routing` ranks entries for a request, `memory` learns defaults, `promotion` turns a chain of pack calls into a
definition. The catalog never runs anything.
"""
