"""The pack protocol: the declaration of a pack by its author.

A pack is a function with a contract. `pack` makes one from an async function whose two parameters
are a `PackContext` and a pydantic input model and which returns a pydantic output model. Authors import all of this
from `packline`, never from here.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from pydantic import BaseModel

from runner.excerpts import excerpt
from runner.issues import nearest
from runner.json_values import forbidden_text, text_problem
from runner.packs.metadata import Metadata
from runner.packs.needs import (
    CREDENTIAL_KEY,
    SERVICE_NAME,
    CredentialKindName,
    CredentialNeed,
    ModelNeed,
    Service,
    ServiceAddress,
)
from runner.packs.revalidation import find_misfit
from runner.schemas.pydantic_messages import needed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from runner.failures import JSONValue
    from runner.packs.context import ArtifactFile, PackContext

P = ParamSpec("P")
T = TypeVar("T")

Effects = Literal["none", "idempotent", "external"]

PACK_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+\Z")
PACK_VERSION = re.compile(r"((0|[1-9][0-9]{0,8})\.){2}(0|[1-9][0-9]{0,8})\Z")
MAX_TIMEOUT_SECONDS = 86_400
_FLAGS = ("repeatable", "preserves_session", "uses_session", "uses_agent", "at_most_once", "takes_idempotency_key")
#: Longest value in a message, in characters.
_VALUE_CHARACTERS = 80


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

    Cannot be made with a wrong value, so that lists, searches and runs need no checks; `registry` checks the schemas,
    which are made once: the author's code for them may raise anything.

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

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            PackDefinitionError: A value is wrong.
        """
        name: object = self.name
        if not isinstance(name, str) or not PACK_NAME.match(name):
            shown = excerpt(name if isinstance(name, str) else repr(name), _VALUE_CHARACTERS)
            raise PackDefinitionError(f"Pack name `{shown}` is not of the form `area.verb` in lower case.")
        for problem in _problems(self):
            raise PackDefinitionError(f"Pack {name}: {problem}")

    @cached_property
    def input_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the input."""
        return self.input_model.model_json_schema(mode="validation")

    @cached_property
    def output_schema(self) -> dict[str, JSONValue]:
        """JSON Schema (draft 2020-12) of the output."""
        return self.output_model.model_json_schema(mode="serialization")


class PackDefinitionError(Exception):
    """The declaration of a pack is wrong; the message names the pack, the field and the rule."""


def _with_known_arguments(declare: Callable[P, T]) -> Callable[P, T]:
    """Refuse keywords that a function does not have, naming the nearest one."""
    signature = inspect.signature(declare)
    known = signature.parameters

    @wraps(declare)
    def checked(*args: P.args, **keywords: P.kwargs) -> T:
        for unknown in keywords.keys() - known:
            near = nearest(unknown, known)
            meant = f" Did you mean `{near}`?" if near else f" It has {', '.join(f'`{name}`' for name in known)}."
            raise PackDefinitionError(f"`{declare.__name__}` has no argument `{unknown}`.{meant}")
        if args and callable(args[0]):
            raise PackDefinitionError(f"`@{declare.__name__}` has no arguments. {_USAGE}")
        try:
            signature.bind(*args, **keywords)
        except TypeError as error:
            raise PackDefinitionError(f"`{declare.__name__}`: {error}. {_USAGE}") from error
        return declare(*args, **keywords)

    return checked


_USAGE = 'Write `@pack("area.verb", version="1.0.0", effects="none", repeatable=True)`.'


@_with_known_arguments
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
            services=_items(services),
            credentials=_items(credentials),
            models=_items(models),
            cost=cost,
            post_conditions=_items(post_conditions),
            metadata=Metadata() if metadata is None else metadata,
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


def _items(given: Any) -> Any:  # noqa: ANN401 - `Pack` refuses what is no list
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | Mapping) else given


def _problems(pack: Any) -> Iterator[str]:  # noqa: ANN401 - the values may have any type
    """Yield what is wrong with a pack's values; each names the field, the value and the rule."""
    if not isinstance(pack.version, str) or not PACK_VERSION.match(pack.version):
        yield f'version is {_shown(pack.version)}, not a semantic version such as "1.0.0".'
    yield from _choice("effects", pack.effects, typing.get_args(Effects))
    for flag in _FLAGS:
        yield from _flag(flag, getattr(pack, flag))
    limit = pack.timeout_seconds
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if limit is not None and not (is_number and 0 < limit <= MAX_TIMEOUT_SECONDS):
        yield f"timeout_seconds is {_shown(limit)}, not a number of seconds above 0 and up to {MAX_TIMEOUT_SECONDS}."
    yield from _text("description", pack.description)
    yield from _text("cost", pack.cost)
    for role, model in (("input", pack.input_model), ("output", pack.output_model)):
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            yield f"its {role} is {_shown(model)}; it must be annotated with a pydantic model."
    if not callable(pack.handler):
        yield f"its handler is {_shown(pack.handler)}, not a function."
    yield from _metadata_problems(pack.metadata)
    for field, kind in _LISTS.items():
        items = getattr(pack, field)
        if not isinstance(items, tuple):
            yield f"{field} is {_shown(items)}, not a list of {kind.__name__}."
            continue
        for index, item in enumerate(items):
            if isinstance(item, kind):
                yield from (f"{field}[{index}].{problem}" for problem in _item_problems(item))
            else:
                yield f"{field}[{index}] is {_shown(item)}, not a {kind.__name__}."


def _item_problems(item: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield what is wrong with a requirement or post-condition, beginning with the field."""
    if isinstance(item, ServiceAddress):
        name: object = item.name
        if not isinstance(name, str) or not SERVICE_NAME.match(name):
            yield f"name is {_shown(name)}, not the name of a service such as 'garden': a to z, 0 to 9 and _."
    elif isinstance(item, Service):
        yield from _name("name", item.name)
        yield from _function("probe", item.probe)
    elif isinstance(item, PostCondition):
        yield from _name("description", item.description)
        yield from _function("check", item.check)
    else:
        yield from _flag("required", item.required)
        if isinstance(item, ModelNeed):
            yield from _name("role", item.role)
        else:
            if not isinstance(item.key, str) or not CREDENTIAL_KEY.match(item.key):
                yield f"key is {_shown(item.key)}, not the key of a credential such as 'github'."
            yield from _choice("kind", item.kind, typing.get_args(CredentialKindName))


def _metadata_problems(metadata: object) -> Iterator[str]:
    if not isinstance(metadata, Metadata):
        yield f"metadata is {_shown(metadata)}; write `Metadata(…)`."
    elif (misfit := find_misfit(metadata)) is not None:
        path, error = misfit
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in ("metadata", *path, *first["loc"]))
        yield f"{where} is {_shown(first['input'])}; {needed(first)}."
    else:
        for issue in forbidden_text(metadata.model_dump()):
            yield f"{'.'.join(('metadata', *issue.path))}: {issue.message}"


def _choice(field: str, value: object, known: Sequence[str]) -> Iterator[str]:
    if not isinstance(value, str) or value not in known:
        near = nearest(value, known) if isinstance(value, str) else None
        meant = f" Did you mean {_shown(near)}?" if near else ""
        yield f"{field} is {_shown(value)}, not one of {', '.join(_shown(one) for one in known if one)}.{meant}"


def _flag(field: str, value: object) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"{field} is {_shown(value)}, not True or False."


def _name(field: str, value: object) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip():
        yield f"{field} is {_shown(value)}, not a text."
    else:
        yield from _text(field, value)


def _text(field: str, value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{field} is {_shown(value)}, not a text."
    elif problem := text_problem(value):
        yield f"{field} holds {problem}; remove that character."


def _function(field: str, value: object) -> Iterator[str]:
    if not callable(value) or inspect.iscoroutinefunction(value):
        yield f"{field} is {_shown(value)}, not a function without `async`."


def _shown(value: object) -> str:
    return excerpt(repr(value), _VALUE_CHARACTERS)


_LISTS: Mapping[str, type] = {
    "services": Service,
    "credentials": CredentialNeed,
    "models": ModelNeed,
    "post_conditions": PostCondition,
}
