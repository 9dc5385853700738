"""Isolation levels of agents' processes."""

from __future__ import annotations

from runner.agents.isolation import Isolation
from schema.base.enums import described_enum

described_enum(
    Isolation,
    "How strictly an agent's process is isolated, weakest first. The agent's built-in tools are not "
    "restricted beyond that.",
    {
        "PROCESS": "A separate process group and an empty environment.",
        "SANDBOX": "PROCESS, plus a restricted view of files and other processes.",
        "SANDBOX_OFFLINE": "SANDBOX, without network access.",
    },
    name="IsolationLevel",
)

IsolationLevel = Isolation
