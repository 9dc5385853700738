"""Runs packs in their authors' tests, without a server, database or network.

    from packline.testing import PackEnvironment, load_pack

    shorten = load_pack("my-packs/packs/text/shorten.py")

    def test_shorten(tmp_path):
        environment = PackEnvironment(tmp_path)
        assert environment.run(shorten, {"text": "One. Two.", "sentences": 1}) == {"text": "One."}

Input, output, post-conditions, time-out, artifacts and masking are checked by the code that runs steps on a server.
Retries, limits of callers, and what the machine must have (`services` of `@pack`, except for addresses) are a
server's: they are not checked here.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from collections import deque
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from runner.excerpts import in_force
from runner.failures import FailureCode, JSONValue, PackError
from runner.packs.context import AgentAnswer, ArtifactFile, ArtifactRef, PackSession
from runner.packs.models import ImageAnswer, SpeechAnswer, StructuredAnswer, TextAnswer
from runner.packs.needs import Missing
from runner.packs.registry import load_pack
from runner.packs.services import AttemptServices
from runner.processes.processes import run_in_process
from runner.running.attempt_context import check_content, checked_name, quarantine_warning
from runner.running.executor import Attempt
from runner.running.resources import RunLimits
from runner.secrets.credential_kinds import GENERIC, KINDS
from runner.secrets.forms import MIN_SECRET_LENGTH
from runner.secrets.quarantine import known_secret_in
from runner.secrets.redaction import Redactor
from runner.secrets.vault import CredentialRequester, OpenCredential, Vault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from runner.packs.context import LogLevel
    from runner.packs.memory import CallerMemory
    from runner.packs.models import Models
    from runner.packs.pack import Pack
    from runner.packs.routing import CallerCatalog

__all__ = ["PackEnvironment", "ScriptedModels", "TestContext", "load_pack"]

_Result = TypeVar("_Result")
_Model = TypeVar("_Model", bound=BaseModel)
_CALLER = "tester"


@dataclass
class PackEnvironment:
    """The surroundings of a pack, and what the pack did to them.

    Attributes:
        folder: Keeps artifacts and sessions; a test's `tmp_path`.
        credentials: The credentials that the pack is granted: key to fields.
        models: Answers the pack's calls of models; None for a server without any.
        services: Configured services, name to URL, as `PACKLINE_SERVICE_<NAME>_URL` would give.
        http: Answers requests: a client, which its maker closes, or a function from request to response.
        network: Whether requests reach the network, if `http` is None.
        allow: What they may reach besides the public internet, written as in `PACKLINE_EGRESS_ALLOW`.
        agent: Answers `ask_agent`, given the prompt and the session.
        session: The session that the next pack finds, such as the last of `sessions`.
        artifacts: Everything saved or added, by id, in order.
        warnings: Arguments of `ctx.warn`.
        logs: Lines given to `ctx.log`, as (level, text).
        progress: Arguments of `ctx.progress`.
        sessions: Sessions that packs started.
        cache: Values of `ctx.cached`: key to (monotonic expiry, value).
        limits: Limits of a server.
    """

    folder: Path
    credentials: dict[str, dict[str, str]] = field(default_factory=dict)
    models: Models | None = None
    services: dict[str, str] = field(default_factory=dict)
    http: httpx2.AsyncClient | Callable[[httpx2.Request], httpx2.Response] | None = None
    network: bool = False
    allow: str = ""
    agent: Callable[[str, PackSession], str] | None = None
    session: PackSession | None = None
    artifacts: dict[str, ArtifactFile] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    logs: list[tuple[str, str]] = field(default_factory=list)
    progress: list[tuple[float | None, str]] = field(default_factory=list)
    sessions: list[PackSession] = field(default_factory=list)
    cache: dict[str, tuple[float, JSONValue]] = field(default_factory=dict)
    limits: RunLimits = field(default_factory=RunLimits)

    def run(self, pack: Pack, input: Mapping[str, JSONValue]) -> dict[str, Any]:
        """Run a pack like `call`, from a test that is no coroutine."""
        return asyncio.run(self.call(pack, input))

    async def call(self, pack: Pack, input: Mapping[str, JSONValue]) -> dict[str, Any]:
        """Run a pack once like an attempt of a step, and return its output as the next step would get it.

        Raises:
            PackError: The failure of the attempt: the pack's own, `invalid_input`, `invalid_output`, `timeout`, or
                `handler_failed` for any other exception, which is its `__cause__`.
        """
        causes: list[BaseException] = []

        @wraps(pack.handler)
        async def handler(ctx: Any, model: Any) -> BaseModel:  # noqa: ANN401 - as the pack declares it
            try:
                return await pack.handler(ctx, model)
            except BaseException as error:
                causes.append(error)
                raise

        limit = pack.timeout_seconds or self.limits.step_timeout_seconds
        redactor = self._redactor(pack)
        async with AsyncExitStack() as stack:
            stack.enter_context(in_force(redactor))
            context = self.context(pack, redactor=redactor)
            context.http = await self._client(stack, context.services)
            attempt = Attempt(
                pack=replace(pack, handler=handler),
                context=context,
                input=dict(input),
                timeout_seconds=limit,
                past_deadline=False,
                limits=self.limits,
                redactor=redactor,
            )
            outcome = await attempt.execute()
        if outcome.failure is not None:
            failed = PackError(outcome.failure.code, outcome.failure.message)
            failed.failure = outcome.failure
            raise failed from (causes[0] if causes else None)
        assert isinstance(outcome.output, dict), "a model is an object"
        return outcome.output

    def context(
        self, pack: Pack | None = None, *, http: httpx2.AsyncClient | None = None, redactor: Redactor | None = None
    ) -> TestContext:
        """Make the context of an attempt, for tests that call the functions of a pack themselves.

        Args:
            pack: The pack, whose declarations are then enforced.
            http: Its client; None for one that refuses everything.
            redactor: Knows the secrets.
        """
        return TestContext(self, pack, http or _client(_refuse), redactor or self._redactor(pack))

    def add_artifact(self, name: str, content: bytes, media_type: str = "application/octet-stream") -> ArtifactRef:
        """Store a file, as an upload or an earlier step would; the pack gets its `artifact_id` in its input."""
        return self.store_artifact(name, content, media_type).ref

    def read_artifact(self, artifact_id: str) -> bytes:
        """Read the content of an artifact."""
        return self.artifacts[artifact_id].path.read_bytes()

    def store_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactFile:
        """Store a file without any check."""
        artifact_id = f"art_{len(self.artifacts) + 1:026d}"
        path = self.folder / "artifacts" / artifact_id
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_bytes(content)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        ref = ArtifactRef(
            artifact_id=artifact_id, name=name, media_type=media_type, size_bytes=path.stat().st_size, digest=digest
        )
        self.artifacts[artifact_id] = ArtifactFile(ref, path)
        return self.artifacts[artifact_id]

    def start_session(self) -> PackSession:
        """Make a session, as an earlier step would; set `session` for the pack to find it."""
        session_id = f"sess_{len(self.sessions) + 1:026d}"
        path = self.folder / "sessions" / session_id
        path.mkdir(parents=True)
        self.sessions.append(PackSession(session_id, path))
        return self.sessions[-1]

    async def _client(self, stack: AsyncExitStack, services: AttemptServices) -> httpx2.AsyncClient:
        if isinstance(self.http, httpx2.AsyncClient):
            return self.http
        if self.http is None and self.network:
            egress = Egress(EgressPolicy.parse(self.allow))
            stack.push_async_callback(egress.aclose)
            return await stack.enter_async_context(egress.client(services))
        return await stack.enter_async_context(_client(self.http or _refuse))

    def _redactor(self, pack: Pack | None) -> Redactor:
        """Make a redactor that knows the secret fields of the credentials, by the kinds that the pack declares."""
        kinds = {} if pack is None else {need.key: need.kind for need in pack.credentials}
        secrets: dict[str, str] = {}
        for key, fields in self.credentials.items():
            secrets |= KINDS.get(kinds.get(key, GENERIC), KINDS[GENERIC]).secrets(key, fields)
        return Redactor({name: value for name, value in secrets.items() if len(value) >= MIN_SECRET_LENGTH})


class TestContext:
    """The `PackContext` of an attempt in a `PackEnvironment`."""

    __test__ = False  # pytest collects classes by their names
    caller = _CALLER
    run_id = "run_01J00000000000000000000000"

    def __init__(
        self,
        environment: PackEnvironment,
        pack: Pack | None,
        http: httpx2.AsyncClient,
        redactor: Redactor,
        *,
        step_key: str = "step",
        attempt_number: int = 1,
    ) -> None:
        self.http = http
        self.step_key = step_key
        self.attempt_number = attempt_number
        self.idempotency_key = f"{self.run_id}/{step_key}"
        self.session = environment.session if pack is None or pack.uses_session else None
        self.files: list[ArtifactFile] = []
        self.environment = environment
        self.services = AttemptServices(pack, environment.services)
        self._pack = pack
        self._redactor = redactor

    @property
    def models(self) -> Models:
        """Answers of models."""
        models = self.environment.models
        if models is None:
            return ScriptedModels().of(self._pack)
        return models.of(self._pack) if isinstance(models, ScriptedModels) else models

    @property
    def memory(self) -> CallerMemory:
        """Not available."""
        raise LookupError("Tests have no audit memory: test this pack on a server.")

    @property
    def catalog(self) -> CallerCatalog:
        """Not available."""
        raise LookupError("Tests have no catalog: test this pack on a server.")

    async def credential(self, key: str) -> Mapping[str, str]:
        """Return a credential of the environment, if the pack declares it."""
        if self._pack is None:
            return self.environment.credentials[key]
        vault, needs = Vault(), {need.key: need for need in self._pack.credentials}
        vault.fill(
            OpenCredential(
                one, one, needs[one].kind if one in needs else "", fields, None, frozenset([self._pack.name])
            )
            for one, fields in self.environment.credentials.items()
        )
        return dict(vault.take(self._pack, key, CredentialRequester(_CALLER)).fields or {})

    async def find_credential(self, key: str) -> Mapping[str, str] | None:
        """Return a credential of the environment; None where `credential` raises."""
        try:
            return await self.credential(key)
        except (PackError, KeyError):
            return None

    def progress(self, fraction: float | None, message: str) -> None:
        """Keep a report of progress."""
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"The progress {fraction} is not between 0 and 1.")
        self.environment.progress.append((fraction, self._redactor.text(message)))

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Keep a line of the log."""
        self.environment.logs.append((level, self._redactor.text(message)))

    def warn(self, message: str) -> None:
        """Keep a warning."""
        self.environment.warnings.append(self._redactor.text(message))

    async def save_artifact(self, name: str, content: bytes | Path, media_type: str) -> ArtifactRef:
        """Store a file; it cannot be opened if it contains a secret."""
        plain = checked_name(name, media_type, self._redactor)
        check_content(plain, content)
        file = await asyncio.to_thread(self.environment.store_artifact, plain, content, media_type)
        if (secret := await known_secret_in(self._redactor, file.path)) is not None:
            self.warn(quarantine_warning(plain, secret))
        self.files.append(file)
        return file.ref

    async def open_artifact(self, artifact_id: str) -> ArtifactFile:
        """Open an artifact of the environment."""
        if artifact_id not in self.environment.artifacts:
            raise PackError(
                FailureCode.ARTIFACT_FAILED, f"There is no artifact {artifact_id} that this caller may read."
            )
        return self.environment.artifacts[artifact_id]

    async def start_session(self) -> PackSession:
        """Start a session, if the pack declares that it leaves one."""
        self._declared("preserves_session", "starts a session")
        return self.environment.start_session()

    async def ask_agent(
        self, prompt: str, *, agent: str | None = None, model: str | None = None, may_spawn: bool = False
    ) -> AgentAnswer:
        """Ask the environment's agent, if the pack declares that it uses one."""
        self._declared("uses_agent", "asks an agent")
        if self.session is None:
            raise PackError(FailureCode.SESSION_UNAVAILABLE, "An agent works in a session, and this step has none.")
        if self.environment.agent is None:
            raise PackError(FailureCode.INVALID_INPUT, "This test has no agent.", hint="Set `agent` to a function.")
        return AgentAnswer(self.environment.agent(prompt, self.session), agent or "scripted")

    async def cached(self, key: str, ttl_seconds: float, make: Callable[[], Awaitable[JSONValue]]) -> JSONValue:
        """Return a value from the environment's cache, or make it."""
        kept = self.environment.cache.get(key)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        value = await make()
        self.environment.cache[key] = (time.monotonic() + ttl_seconds, value)
        return value

    async def run_in_process(
        self, function: Callable[..., _Result], /, *args: object, timeout_seconds: float | None = None
    ) -> _Result:
        """Run a function in a worker process, like a server."""
        return await run_in_process(function, *args, timeout_seconds=timeout_seconds)

    async def permitted_address(self, host: str, port: int) -> str:
        """Return an IP address of a server that the environment may reach; for programs that connect by themselves."""
        if not self.environment.network:
            raise PackError(FailureCode.POLICY_DENIED, f"This test reaches no network, so not `{host}` either.")
        return (await Egress(EgressPolicy.parse(self.environment.allow)).check_server(host, port))[0]

    def service_url(self, name: str) -> str | None:
        """Return the address of a service of the environment; a declared one must be there."""
        return self.services.url(name)

    def _declared(self, flag: str, what: str) -> None:
        if self._pack is not None and not getattr(self._pack, flag):
            message = f"The pack {self._pack.name} {what} but does not declare {flag}."
            raise PackError(FailureCode.HANDLER_FAILED, message)


class ScriptedModels:
    """Models with answers that the test gives, by role; `ScriptedModels(writer=["Hello"])`.

    An answer is a text; for `structured` a dictionary or a model; an `ImageAnswer` or `SpeechAnswer`; or a `PackError`
    to raise. A role has a list of answers, used up in order, or a function from the prompt to an answer.

    Attributes:
        calls: The calls so far, as (role, prompt).
    """

    def __init__(self, **answers: Sequence[object] | Callable[[str], object]) -> None:
        self.calls: list[tuple[str, str]] = []
        self._answers = {role: given if callable(given) else deque(given) for role, given in answers.items()}
        self._pack: Pack | None = None

    def of(self, pack: Pack | None) -> ScriptedModels:
        """Return these models for a pack, which may ask the roles it declares."""
        self._pack = pack
        return self

    def missing(self, role: str) -> Missing | None:
        """Return why a role has no model; None if the test gives answers for it."""
        self._check(role)
        if role in self._answers:
            return None
        return Missing(f"No model is configured for the role `{role}`.", f"Give answers: ScriptedModels({role}=[…]).")

    async def text(self, role: str, prompt: str, **_: object) -> TextAnswer:
        """Answer with a text."""
        return TextAnswer(str(self._next(role, prompt)), f"scripted:{role}")

    async def structured(self, role: str, output: type[_Model], prompt: str, **_: object) -> StructuredAnswer[_Model]:
        """Answer with a filled model; an answer that does not fit fails like one of a model that repaired nothing."""
        answer = self._next(role, prompt)
        try:
            value = output.model_validate(answer.model_dump() if isinstance(answer, BaseModel) else answer)
        except ValidationError as error:
            message = f"The answer of the role `{role}` does not fit {output.__name__}: {error.errors()[0]['msg']}."
            raise PackError(FailureCode.INVALID_OUTPUT, message) from error
        return StructuredAnswer(value, f"scripted:{role}")

    async def image(
        self, prompt: str, *, width: int, height: int, role: str = "image", model: str | None = None
    ) -> ImageAnswer:
        """Answer with a picture."""
        answer = self._next(role, prompt)
        assert isinstance(answer, ImageAnswer), f"the answer for {role} must be an ImageAnswer"
        return answer

    async def speak(self, text: str, *, voice: str | None = None, role: str = "voice") -> SpeechAnswer:
        """Answer with speech."""
        answer = self._next(role, text)
        assert isinstance(answer, SpeechAnswer), f"the answer for {role} must be a SpeechAnswer"
        return answer

    async def speak_all(
        self, texts: Sequence[str], *, voice: str | None = None, role: str = "voice"
    ) -> list[SpeechAnswer]:
        """Answer with speech for each text."""
        return [await self.speak(text, voice=voice, role=role) for text in texts]

    def other_voice(self, voice: str, *, role: str = "voice") -> str | None:
        """Find no other voice."""
        return None

    def _check(self, role: str) -> None:
        if self._pack is not None and role not in {need.role for need in self._pack.models}:
            message = f"The pack {self._pack.name} asks the role `{role}`, which it does not declare."
            raise PackError(FailureCode.HANDLER_FAILED, message, hint=f'Add `models=[ModelNeed("{role}")]` to it.')

    def _next(self, role: str, prompt: str) -> object:
        missing = self.missing(role)
        if missing is not None:
            raise PackError(FailureCode.INVALID_INPUT, missing.message, hint=missing.hint)
        self.calls.append((role, prompt))
        given = self._answers[role]
        if isinstance(given, deque):
            if not given:
                raise AssertionError(f"The test has no more answers for the role `{role}`.")
            answer = given.popleft()
        else:
            answer = given(prompt)
        if isinstance(answer, PackError):
            raise answer
        return answer


def _client(answer: Callable[[httpx2.Request], httpx2.Response]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer), trust_env=False)


def _refuse(request: httpx2.Request) -> httpx2.Response:
    raise PackError(
        FailureCode.POLICY_DENIED,
        f"This test has no network, and the pack requests {request.url}.",
        hint="Give the environment `http`, a function that answers requests, or `network=True`.",
    )
