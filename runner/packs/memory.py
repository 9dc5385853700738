"""What a handler may do with what Packline remembers of its caller: forget it."""

from __future__ import annotations

from typing import Protocol


class MemoryPort(Protocol):
    """Keeps memory; `catalog.memory.audit_memory.Memory` is one."""

    async def forget_for(self, caller_id: str, scope: str, *, dry_run: bool, run_id: str) -> int:
        """Delete a caller's rows in a scope, or count them; how many. Leaves a row in the audit.

        Raises:
            PackError: `invalid_input`; the scope is none.
        """


class CallerMemory:
    """The memory of one attempt's caller; other callers' are out of reach."""

    def __init__(self, port: MemoryPort, caller_id: str, run_id: str) -> None:
        self._port = port
        self._caller_id = caller_id
        self._run_id = run_id

    async def forget(self, scope: str, *, dry_run: bool = False) -> int:
        """Forget rows of audit memory, or count them; how many. Nothing else is touched.

        Args:
            scope: `all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`.
            dry_run: Only count.

        Raises:
            PackError: `invalid_input`; the scope is none of these.
        """
        return await self._port.forget_for(self._caller_id, scope, dry_run=dry_run, run_id=self._run_id)
