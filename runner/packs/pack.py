"""The pack protocol: the declaration of a pack by its author.

A pack is a function with a contract. `pack` makes one from an async function whose two parameters
are a `PackContext` and a pydantic input model and which returns a pydantic output model. Authors import all of this
from `packline`, never from here.
"""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from runner.packs.metadata import Metadata

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from runner.failures import JSONValue
    from runner.packs.context import ArtifactFile, PackContext
    from runner.packs.needs import CredentialNeed, ModelNeed, Service

Effects = Literal["none", "idempotent", "external"]

PACK_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z")
PACK_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)\Z")


@dataclass(frozen=True, slots=True)
class PostCondition:
    """A check before a step counts as succeeded.

    Attributes:
        description: For people, such as "the PDF has a page for each slide".
        check: Gets the output model and the files saved by the attempt; returns the problem, or None. Runs on the
            event loop, so it must read at most a few kilobytes.
    """

    description: str
    check: Callable[[Any, Sequence[ArtifactFile]], str | None]


@dataclass(frozen=True, eq=False)
class Pack:
    """A callable capability with its contract.

    Attributes:
        name: `area.verb`.
        version: Semantic version, `1.2.3`.
        description: What it does, Markdown; the handler's docstring.
        input_model: Checks and documents the input. Unknown fields are refused.
        output_model: Checks and documents the output.
        effects: Its external changes.
        repeatable: Whether another run gives an equivalent result, including a session.
        preserves_session: Whether it provides a session for later steps.
        uses_session: Whether it works in the session of an earlier step; other packs get none.
        uses_agent: Whether it calls an agent.
        at_most_once: Whether it must not run again if an outcome is unknown.
        takes_idempotency_key: Whether external changes happen once, no matter how often it runs with one key.
        timeout_seconds: Time-out of an attempt, unless the step sets one; None for the server's default.
        services: Services it needs on this machine.
        credentials: Credentials it may read.
        models: Roles it needs models for.
        cost: The cost of a call, in units a person can price, such as `one writer call, about as many tokens as the
            text is long`; empty if it costs nothing.
        post_conditions: Checks before it counts as succeeded.
        metadata: Metadata for search and routing.
        handler: The function.
    """

    name: str
    version: str
    description: str
    input_model: type[BaseModel]
    output_model: type[BaseModel]
    effects: Effects
    repeatable: bool
    preserves_session: bool
    uses_session: bool
    uses_agent: bool
    at_most_once: bool
    takes_idempotency_key: bool
    timeout_seconds: float | None
    services: tuple[Service, ...]
    credentials: tuple[CredentialNeed, ...]
    models: tuple[ModelNeed, ...]
    cost: str
    post_conditions: tuple[PostCondition, ...]
    metadata: Metadata
    handler: Callable[[PackContext, Any], Awaitable[BaseModel]]

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the input."""
        return self.input_model.model_json_schema(mode="validation")

    @property
    def output_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the output."""
        return self.output_model.model_json_schema(mode="serialization")


class PackDefinitionError(Exception):
    """The declaration of a pack is wrong; the message names the pack, the field and the rule."""


def pack(
    name: str,
    *,
    version: str,
    effects: Effects,
    repeatable: bool,
    metadata: Metadata | None = None,
    preserves_session: bool = False,
    uses_session: bool = False,
    uses_agent: bool = False,
    at_most_once: bool = False,
    takes_idempotency_key: bool = False,
    timeout_seconds: float | None = None,
    services: Sequence[Service] = (),
    credentials: Sequence[CredentialNeed] = (),
    models: Sequence[ModelNeed] = (),
    cost: str = "",
    post_conditions: Sequence[PostCondition] = (),
) -> Callable[[Callable[..., Awaitable[BaseModel]]], Pack]:
    """Make a pack from an async function `(ctx: PackContext, input: Model) -> Model`.

    Raises:
        PackDefinitionError: The function or a value does not fit the protocol.
    """
    if not PACK_NAME.match(name):
        raise PackDefinitionError(f"Pack name `{name}` is not of the form `area.verb` in lower case.")
    if not PACK_VERSION.match(version):
        raise PackDefinitionError(f"Pack {name}: version `{version}` is not a semantic version such as `1.0.0`.")
    if effects not in (known := typing.get_args(Effects)):
        raise PackDefinitionError(f"Pack {name}: effects is `{effects}`, not one of {', '.join(known)}.")
    if timeout_seconds is not None and not 0 < timeout_seconds <= 86_400:
        raise PackDefinitionError(f"Pack {name}: timeout_seconds {timeout_seconds} is not within 0 to 86400.")

    def declare(function: Callable[..., Awaitable[BaseModel]]) -> Pack:
        if not inspect.iscoroutinefunction(function):
            raise PackDefinitionError(f"Pack {name}: the handler must be an `async def` function.")
        hints = typing.get_type_hints(function)
        parameters = list(inspect.signature(function).parameters)
        if len(parameters) != 2:
            raise PackDefinitionError(f"Pack {name}: the handler takes (ctx, input), not {len(parameters)} parameters.")
        shapes = {}
        for role, key in (("input", parameters[1]), ("output", "return")):
            model = hints.get(key)
            if not (isinstance(model, type) and issubclass(model, BaseModel)):
                raise PackDefinitionError(f"Pack {name}: its {role} must be annotated with a pydantic model.")
            shapes[role] = model
        if shapes["input"].model_config.get("extra") not in (None, "forbid"):
            raise PackDefinitionError(f"Pack {name}: the input model must refuse unknown fields.")
        return Pack(
            name=name,
            version=version,
            description=inspect.getdoc(function) or "",
            input_model=_forbid_unknown(shapes["input"]),
            output_model=shapes["output"],
            effects=effects,
            repeatable=repeatable,
            preserves_session=preserves_session,
            uses_session=uses_session,
            uses_agent=uses_agent,
            at_most_once=at_most_once,
            takes_idempotency_key=takes_idempotency_key,
            timeout_seconds=timeout_seconds,
            services=tuple(services),
            credentials=tuple(credentials),
            models=tuple(models),
            cost=cost,
            post_conditions=tuple(post_conditions),
            metadata=metadata or Metadata(),
            handler=function,
        )

    return declare


def _forbid_unknown(model: type[BaseModel]) -> type[BaseModel]:
    """Make a model refuse unknown fields, unless its author has configured them."""
    if model.model_config.get("extra") is None:
        model.model_config["extra"] = "forbid"
        # A model with `defer_build` is not built yet (`runner.packs.registry`).
        if not model.model_config.get("defer_build"):
            model.model_rebuild(force=True)
    return model
