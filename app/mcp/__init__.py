"""Packline for agents: MCP tools made from the same declarations as the GraphQL fields.

session     who calls, what they chose to be shown, and how their documents are run; made for each request
inputs      a field's arguments as a tool's parameters
outputs     a tool's selection as its answer: the document, the output schema, the shaping
tools       every tool there is, and which of them a caller is shown
calls       one call: check the arguments, run the document, wait, say what comes next
server      the MCP server over all of that; the only modules that import `mcp` are this one and those it names
mount       `/mcp` over HTTP: sign-in, size, and the task that owns the server
resources   what can be read by address; `resource_handlers` says it in the words of the protocol
tasks       the tasks extension: a run is a task
bridge      stdin and stdout, carried on to a running server
"""
