"""Access of handlers to the audit memory of their caller: they may only forget it."""

from __future__ import annotations

from typing import Protocol


class MemoryPort(Protocol):
    """The port of audit memory, implemented by `catalog.memory.audit_memory.Memory`."""

    async def forget_for(self, caller_id: str, scope: str, *, dry_run: bool, run_id: str) -> int:
        """Delete a caller's rows in a scope, or only count them; returns how many. Writes an audit row.

        Raises:
            PackError: `invalid_input` for an unknown scope.
        """


class CallerMemory:
    """The memory of one attempt's caller."""

    def __init__(self, port: MemoryPort, caller_id: str, run_id: str) -> None:
        self._port = port
        self._caller_id = caller_id
        self._run_id = run_id

    async def forget(self, scope: str, *, dry_run: bool = False) -> int:
        """Forget rows of audit memory, or only count them; returns how many.

        Args:
            scope: `all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`.
            dry_run: Only count.

        Raises:
            PackError: `invalid_input` for an unknown scope.
        """
        return await self._port.forget_for(self._caller_id, scope, dry_run=dry_run, run_id=self._run_id)
