"""`packline`, with the rows of a list of runs read once and then answered from memory: what a list costs without them.

python -m tests.bench.from_memory up …
"""

from __future__ import annotations

from typing import Any

import resolvers.runs
from app.cli import main

_found: dict[str, Any] = {}


def _from_memory(name: str) -> Any:
    read = getattr(resolvers.runs, name)

    async def answer(*args: Any, **kwargs: Any) -> Any:
        if name not in _found:
            _found[name] = await read(*args, **kwargs)
        return _found[name]

    return answer


if __name__ == "__main__":
    for use in ("list_runs",):
        setattr(resolvers.runs, use, _from_memory(use))
    main()
