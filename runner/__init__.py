"""Executes pipelines.

`definitions`, `templates` and `schemas` describe pipelines, `packs` what steps can call. `running` executes runs,
`resuming` resumes them, `watching` reads their events. `agents`, `gateway` and `mounts` call agent programs, models and
MCP servers; `egress`, `processes` and `files` reach the network, other processes and files; `secrets` opens the vault
and masks secrets everywhere.
"""
