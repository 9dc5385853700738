"""The command line's own GraphQL client: requests over HTTP, live events over a socket.

Errors that end the command are `CliError`s, with the exit status of the process.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from app.cli.base.exits import EXIT_UNREACHABLE, CliError
from app.cli.base.output import JSON, accept, hint_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import httpx2
    from websockets.frames import Close

    from app.cli.base.target import Target

#: How long the watch tries to reconnect, and the pauses between tries, in seconds.
RECONNECT_SECONDS = 120.0
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
#: Close codes after which a retry is useless: 4400 malformed, 4401 not signed in, 4403 signed out or forbidden.
_FATAL_CLOSES = frozenset({4400, 4401, 4403})

#: Close code of a stopping server, as uvicorn sends it.
_RESTART = 1012
_SCOPES = "query CliScopes { viewer { scopes } }"
#: The commands that list what the caller may see.
_LISTS = {"run": "`packline runs` lists runs", "artifact": "`packline artifact list` lists artifacts"}


class ConnectionLostError(Exception):
    """The socket broke; a retry may help."""


class Client:
    """A GraphQL client of one server."""

    def __init__(self, target: Target, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.target = target
        self._clock = clock
        self._http: httpx2.Client | None = None
        self._missed: dict[str, tuple[str, str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.close()

    def execute(self, document: str, variables: Mapping[str, object] | None = None) -> JSON:
        """The `data` of a query or mutation.

        Raises:
            CliError: the server cannot be reached, does not know the caller, or answered with an error.
        """
        answer = self.request(
            "POST",
            "/graphql",
            json={"query": document, "variables": dict(variables or {})},
            headers={"accept": "application/graphql-response+json, application/json"},
        )
        try:
            body = answer.json()
        except ValueError:
            raise CliError(
                f"{self.target.url} answered {answer.status_code} without GraphQL. Is it a Packline server?",
                EXIT_UNREACHABLE,
            ) from None
        errors = body.get("errors")
        if errors:
            lines = [_error_line(error) for error in errors]
            if errors[0].get("extensions", {}).get("code") == "BODY_TOO_LARGE":
                lines += _large_input(variables or {})
            raise CliError("\n".join(lines))
        data: JSON = body["data"]
        misses = body.get("extensions", {}).get("notFound", ())
        self._missed.update({miss["ref"]: (miss["message"], hint_words(miss)) for miss in misses})
        return data

    def missed(self, kind: str, ref: str, otherwise: str = "") -> str:
        """The server's message for a name it did not find, with its hint or else `otherwise`."""
        message, hint = self._missed.get(ref, (f"There is no {kind} `{ref}`.", ""))
        return f"{message} {hint or otherwise}".rstrip()

    def refuse_missed(self, kind: str, asked: Iterable[str], otherwise: str) -> None:
        """Refuse names that the server did not find.

        Raises:
            CliError: one was not found; the message names each, with the server's hint or `otherwise`.
        """
        missed = [self.missed(kind, ref, otherwise) for ref in asked if ref in self._missed]
        if missed:
            raise CliError("\n".join(missed))

    def unknown(self, kind: str, ref: str) -> CliError:
        """The error for an unknown run or artifact; without the scope OBSERVE, other callers may have one."""
        scopes = self.execute(_SCOPES)["viewer"]["scopes"]
        seen = "" if "OBSERVE" in scopes else " that your token may see"
        others = "" if kind != "run" or ref.startswith("run_") else ", `packline pipelines` pipelines"
        return CliError(f"There is no {kind} `{ref}`{seen}. {_LISTS[kind]}{others}.")

    def accept(self, result: JSON, kind: str, refs: Iterable[str]) -> JSON:
        """The success of a mutation on runs or artifacts.

        Raises:
            CliError: the server refused it; a run or artifact that was not found is reported by `unknown`.
        """
        if result["__typename"] == "NotFoundProblem" and result["ref"] in refs:
            raise self.unknown(kind, result["ref"])
        return accept(result)

    def pages(
        self, document: str, field: str, variables: Mapping[str, object], *, limit: int | None, page_size: int = 50
    ) -> Iterator[JSON]:
        """The nodes of a connection, page by page, at most `limit`.

        Nodes with lists need a smaller page, because the server multiplies page sizes and limits the product.
        """
        left = limit
        after: str | None = None
        while left is None or left > 0:
            size = page_size if left is None else min(left, page_size)
            page = self.execute(document, {**variables, "first": size, "after": after})[field]
            yield from page["nodes"]
            if left is not None:
                left -= len(page["nodes"])
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return

    def request(
        self, method: str, path: str, *, json: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send an HTTP request with the token.

        Raises:
            CliError: the server cannot be reached, or answered with 401 or 429.
        """
        import httpx2

        try:
            answer = self._session().request(method, path, json=json, headers=headers)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        except UnicodeEncodeError as error:  # Python passes bytes of other encodings on as lone surrogates
            given = next((word for word in sys.argv if any("\ud800" <= part <= "\udfff" for part in word)), "")
            raise CliError(f"The argument {given[:80]!a} is not UTF-8. Write it in UTF-8.") from error
        self._require_welcome(answer)
        return answer

    def upload(self, file: Path) -> JSON:
        """Upload a file, and return its artifact.

        Raises:
            CliError: the file cannot be read, or the server cannot be reached or refuses it.
        """
        import httpx2

        headers = {"content-type": "application/octet-stream"}
        try:
            with file.open("rb") as content:
                answer = self._session().post(
                    "/artifacts", params={"name": file.name}, content=content, headers=headers
                )
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        except OSError as error:
            raise CliError(f"The file {file} cannot be read: {error.strerror or error}.") from error
        if answer.status_code == 401:
            raise CliError(self._unknown())
        body: JSON = answer.json() if answer.headers.get("content-type") == "application/json" else {}
        if answer.status_code != 201:
            problem = body.get("problem") or {"message": f"The server answered {answer.status_code}.", "hint": None}
            raise CliError(" ".join(part for part in (problem["message"], problem["hint"]) if part))
        artifact: JSON = body["artifact"]
        return artifact

    def download(self, path: str, target: Path) -> int:
        """Save an artifact as `target`, and return its size in bytes; a failure leaves no file.

        Raises:
            CliError: the server cannot be reached or refuses.
        """
        import httpx2

        partial = target.with_name(f".{target.name}.part")
        try:
            with self._session().stream("GET", path) as answer, partial.open("wb") as file:
                if answer.status_code != 200:
                    answer.read()
                    self._require_welcome(answer)
                    raise CliError(f"{target.name} cannot be downloaded: {answer.text.strip() or answer.status_code}")
                for chunk in answer.iter_bytes():
                    file.write(chunk)
                size = file.tell()
            partial.replace(target)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        finally:
            partial.unlink(missing_ok=True)
        return size

    def _session(self) -> httpx2.Client:
        import httpx2

        if self._http is None:
            headers = {"x-packline-client": "packline CLI"}
            if self.target.token:
                headers["authorization"] = f"Bearer {self.target.token}"
            self._http = httpx2.Client(
                base_url=self.target.url,
                headers=headers,
                # The server may wait up to 50 s for a run, but should accept connections soon.
                timeout=httpx2.Timeout(90, connect=5),
                trust_env=False,
                # Without TLS there is nothing to verify, and reading the system's certificates takes 20 ms or more.
                verify=not self.target.url.startswith("http://"),
            )
        return self._http

    def _require_welcome(self, answer: httpx2.Response) -> None:
        if answer.status_code == 401:
            raise CliError(self._unknown())
        if answer.status_code == 429:
            raise CliError(f"{answer.text.strip()} Try again in {answer.headers.get('retry-after', 'some')} seconds.")

    def subscribe(self, document: str, variables: Mapping[str, object]) -> Iterator[JSON]:
        """The `data` of each message of a subscription, over one connection, until the server completes it.

        Raises:
            ConnectionLostError: the connection broke; subscribe again after the last cursor.
            CliError: a retry would not help.
        """
        import json

        from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
        from websockets.sync.client import connect

        headers = {"Authorization": f"Bearer {self.target.token}"} if self.target.token else {}
        address = "ws" + self.target.url.removeprefix("http") + "/graphql"
        try:
            with connect(
                address,
                subprotocols=["graphql-transport-ws"],  # type: ignore[list-item]  # a NewType of str
                additional_headers=headers,
                open_timeout=10,
                max_size=16 << 20,
                proxy=None,
                compression=None,
            ) as socket:
                socket.send(json.dumps({"type": "connection_init", "payload": {}}))
                for text in socket:
                    message = json.loads(text)
                    match message["type"]:
                        case "connection_ack":
                            payload = {"query": document, "variables": dict(variables)}
                            socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
                        case "ping":
                            socket.send(json.dumps({"type": "pong"}))
                        case "next":
                            if message["payload"].get("errors"):
                                raise CliError("\n".join(_error_line(one) for one in message["payload"]["errors"]))
                            yield message["payload"]["data"]
                        case "error":
                            raise CliError("\n".join(_error_line(one) for one in message["payload"]))
                        case "complete":
                            return
                raise ConnectionLostError("the server closed it")
        except InvalidStatus as error:
            if error.response.status_code == 401:
                raise CliError(self._unknown()) from error
            if error.response.status_code in (400, 403, 404):
                raise CliError(
                    f"{address} refused the connection: {error.response.body.decode(errors='replace').strip()}"
                ) from error
            raise ConnectionLostError(f"the server answered {error.response.status_code}") from error
        except ConnectionClosed as error:
            received = error.rcvd
            if received is not None and received.code in _FATAL_CLOSES:
                raise CliError(f"The server ended the watch: {received.reason or 'signed out'}.") from error
            raise ConnectionLostError(_why_closed(received)) from error
        except (OSError, InvalidHandshake, TimeoutError) as error:
            raise ConnectionLostError(_why_unreachable(error)) from error

    def follow(
        self,
        document: str,
        field: str,
        variables: Mapping[str, object],
        *,
        after: str | None,
        on_lost: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Iterator[JSON]:
        """The messages of a subscription with a cursor; it reconnects after a lost connection.

        Args:
            document: A subscription with the variable `$after`.
            field: Its one field; each message has a `cursor`.
            variables: Its other variables.
            after: The cursor to begin after.
            on_lost: Called with the reason each time the connection is lost.
            sleep: Pauses between tries.

        Raises:
            CliError: the server was unreachable for `RECONNECT_SECONDS`, or a retry would not help.
        """
        lost_at: float | None = None
        tries = 0
        while True:
            try:
                for data in self.subscribe(document, {**variables, "after": after}):
                    lost_at, tries = None, 0
                    message: JSON = data[field]
                    after = message.get("cursor") or after
                    yield message
            except ConnectionLostError as error:
                now = self._clock()
                lost_at = now if lost_at is None else lost_at
                if now - lost_at > RECONNECT_SECONDS:
                    unreachable = self._unreachable(error)
                    continues = f"{unreachable} A run that was in progress continues once the server runs again."
                    raise CliError(continues, unreachable.status) from error
                on_lost(str(error))
                sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                tries += 1
            else:
                return

    def _unreachable(self, error: Exception) -> CliError:
        return CliError(
            f"No server answers at {self.target.url} ({_why_unreachable(error)}). Start one with `packline up`, or "
            "name another with --server (PACKLINE_SERVER).",
            EXIT_UNREACHABLE,
        )

    def _unknown(self) -> str:
        if self.target.token is None:
            return (
                f"{self.target.url} requires a token. Set PACKLINE_TOKEN; on the server's machine, you can also run "
                "the command as the server's user with the same PACKLINE_DATA_DIR."
            )
        return (
            f"{self.target.url} does not accept the token of {self.target.token_source}: it is wrong, expired or "
            "revoked. Set PACKLINE_TOKEN to a valid one; `packline token create` creates one."
        )


def _why_closed(received: Close | None) -> str:
    """Why a socket was closed, in words instead of a close code."""
    if received is None:
        return "the network or the server broke the connection"
    if received.code == _RESTART:
        return "the server is stopping or restarting"
    return received.reason or f"the server closed it with code {received.code}"


def _why_unreachable(error: BaseException) -> str:
    """The system's reason for a failed connection, without the error number."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror[:1].lower() + cause.strerror[1:]
        cause = cause.__cause__ or cause.__context__
    return str(error)


def _large_input(variables: Mapping[str, object]) -> list[str]:
    """What to do about a request that is too large because of a run's inputs."""
    import json

    given = variables.get("inputs") or variables.get("input")
    if not isinstance(given, dict) or not given:
        return []
    sizes = {name: len(json.dumps(value, ensure_ascii=False).encode()) for name, value in given.items()}
    name = max(sizes, key=sizes.__getitem__)
    return [
        f"  The input `{name}` has {sizes[name]:,} bytes. Send large content as a file, with --upload NAME=FILE for an "
        "input that takes an artifact."
    ]


def _error_line(error: JSON) -> str:
    extensions = error.get("extensions") or {}
    notes = ", ".join(str(extensions[key]) for key in ("code", "id") if extensions.get(key))
    message = error.get("message", "Unknown error")
    return " ".join(part for part in (message, notes and f"({notes})", hint_words(extensions)) if part)
