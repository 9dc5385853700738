"""Executes pipelines.

`definitions`, `templates` and `schemas` say what is to run, `packs` what can. `running` runs it, `resuming` goes on
with it, `watching` reads what happened. `agents`, `gateway` and `mounts` call agent programs, models and MCP servers;
`egress`, `processes` and `files` are the ways to the outside; `secrets` keeps secrets out of all of it.
"""
