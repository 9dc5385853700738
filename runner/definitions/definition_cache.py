"""Cache of compiled definitions: compiles small ones immediately, large ones once in a thread."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from runner.definitions.background_compile import LARGE_BYTES, in_background_once
from runner.definitions.compiled import compile_document

if TYPE_CHECKING:
    from collections.abc import Callable


Made = TypeVar("Made")

#: Cached small definitions; a version never changes, so no entry is ever stale.
CACHE_SIZE = 512
#: Characters of cached large definitions. A result takes up to a hundred times as much memory.
CACHE_CHARACTERS = 2 << 20


class DefinitionCache(Generic[Made]):
    """Bounded cache of results of a function of stored definitions.

    Args:
        make: Makes a result from a document and the stored input schema.
    """

    def __init__(self, make: Callable[[str, str | None], Made]) -> None:
        self._make = make
        self._small = lru_cache(maxsize=CACHE_SIZE)(make)
        self._large: OrderedDict[tuple[str, str | None], Made] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get_if_quick(self, document: str, input_schema: str | None = None) -> Made | None:
        """Return the result for a definition; None for a large one that is not cached."""
        if len(document) <= LARGE_BYTES:
            return self._small(document, input_schema)
        key = (document, input_schema)
        with self._lock:
            found = self._large.get(key)
            if found is not None:
                self._large.move_to_end(key)
        return found

    async def get(self, caller_id: str, document: str, input_schema: str | None = None) -> Made:
        """Return the result for a definition; a large one is made in a thread.

        Args:
            caller_id: The caller; each caller's definitions are made one at a time.
            document: Canonical JSON, as `store.models` keeps it.
            input_schema: The version's input schema, for a definition that declares none.
        """
        found = self.get_if_quick(document, input_schema)
        if found is not None:
            return found

        def known() -> Made | None:
            return self.get_if_quick(document, input_schema)

        def work() -> Made:
            made = self._make(document, input_schema)
            self._keep((document, input_schema), made)
            return made

        return await in_background_once(caller_id, (id(self), document, input_schema), known, work)

    def _keep(self, key: tuple[str, str | None], made: Made) -> None:
        with self._lock:
            if key not in self._large:
                self._characters += len(key[0])
            self._large[key] = made
            while self._characters > CACHE_CHARACTERS and len(self._large) > 1:
                (document, _), _ = self._large.popitem(last=False)
                self._characters -= len(document)


definitions = DefinitionCache(compile_document)
