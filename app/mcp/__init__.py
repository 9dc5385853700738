"""Packline for agents: MCP tools made of GraphQL fields and the operations they call.

session     who calls, what they chose to be shown, and how their documents are run; made for each request
inputs      a field's arguments as a tool's parameters
documents/  what each tool asks of the schema; `tool_documents` reads it
outputs     what a document selects as the tool's answer: the output schema, the shaping
tool        what every tool offers; use cases (`operation_tools`), `graphql_query` and single packs are tools
waiting     waiting for a run, telling how far it is, saying which call comes next
answers     what a call comes to, short enough; `refusals` says it when it is refused
toolbox     which tools a caller is shown, and who answers a call
server      the MCP server over all of that; the only modules that import `mcp` are this one and those it names
parts       what may be added to it
messages    what is no message of the protocol, and why
mount       `/mcp` over HTTP: sign-in, size, and the task that owns the server
resources   what can be read by address; `resource_handlers` says it in the words of the protocol
tasks       the tasks extension: a run is a task
bridge      stdin and stdout, carried on to a running server
"""
