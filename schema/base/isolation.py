"""How far an agent's process is kept apart, as the schema names it."""

from __future__ import annotations

from runner.agents.isolation import Isolation
from schema.base.enums import described_enum

described_enum(
    Isolation,
    "How far an agent's process is kept apart, weakest first. What it does with its own inner tools is not governed.",
    {
        "PROCESS": "Own process group, empty environment.",
        "SANDBOX": "Also own view of files and processes.",
        "SANDBOX_OFFLINE": "Also no network.",
    },
    name="IsolationLevel",
)

IsolationLevel = Isolation
