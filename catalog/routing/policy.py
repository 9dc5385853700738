"""The routing policy: how agents, people and routing models choose among packs and pipelines."""

from __future__ import annotations

POLICY = (
    "Choose what serves the request.\n"
    "1. Compare what the request has with what an entry accepts, and what it wants with what the entry produces.\n"
    "2. Pipelines come before packs: when a pipeline accepts and produces what is wanted, choose it.\n"
    "3. A pipeline that supersedes packs wins over chaining these packs.\n"
    "4. Limitations say what an entry does not do. A request for just that is a gap, and seeds the proposal.\n"
    "5. Peek at the caller's defaults before asking for an input. Leave out what neither the request, its context nor "
    "the defaults say; never make up an address, a file or a name.\n"
    "6. What nothing does is a gap, and a near miss is one, too. Name each missing capability separately, say why it "
    "is missing, and propose a pack `area.verb` that would do it, or a pipeline if packs of this catalog do it in a "
    "chain. A request may be served in part: choose what serves it, and name the rest as gaps.\n"
    "7. Use only ids of this catalog. Entries that cannot run here tell what they lack. Confirm with the user, "
    "then run."
)
