"""What can be run and what it is for: metadata, search, routing, and what callers usually choose.

`routing` ranks entries for a request, `memory` learns defaults, `promotion` turns a chain of pack calls into a
definition. Nothing here runs anything.
"""
