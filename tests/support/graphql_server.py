"""A GraphQL server of canned answers, for the command line's client: real HTTP, real sockets, real shutdown."""

import asyncio
import json
import re
import threading
from collections import defaultdict

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from app.server import run_app
from app.settings.server import Settings

_NAME = re.compile(r"(?:query|mutation|subscription)\s+(\w+)")


class CannedServer:
    """Answers each operation by its name.

    Attributes:
        answers: By operation name, the `data`, or a function of the variables that gives it; an exception is sent as
            an error. A list is used up one by one.
        streams: By operation name, for each connection in turn, the messages to send and how to end: `complete`, a
            close code, or `drop`.
        asked: Variables of each operation asked, in order.
        tokens: Accepted bearer tokens; None accepts all.
    """

    def __init__(self, data_dir):
        self.reset()
        self._settings = Settings.load({"data_dir": data_dir, "port": 0, "shutdown_grace_seconds": 1})
        self._app = Starlette(
            routes=[
                Route("/graphql", self._execute, methods=["POST"]),
                WebSocketRoute("/graphql", self._subscribe),
                Route("/artifacts/{id}", self._file),
                Route("/login/links", self._link, methods=["POST"]),
            ]
        )

    def reset(self):
        """Forgets all answers and questions."""
        self.answers = {}
        self.streams = defaultdict(list)
        self.files = {}
        self.asked = []
        self.tokens = None

    def __enter__(self):
        started = threading.Event()

        async def announce(url):
            self.url = url
            started.set()

        async def serve():
            self._stop = asyncio.Event()
            self._loop = asyncio.get_running_loop()
            await run_app(self._app, self._settings, announce=announce, stop=self._stop)

        self._thread = threading.Thread(target=asyncio.run, args=(serve(),))
        self._thread.start()
        assert started.wait(60)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def asked_for(self, name):
        return [variables for asked, variables in self.asked if asked == name]

    def _refused(self, headers):
        token = headers.get("authorization", "").removeprefix("Bearer ")
        return self.tokens is not None and token not in self.tokens

    async def _execute(self, request):
        if self._refused(request.headers):
            return JSONResponse({"errors": [{"message": "no"}]}, 401)
        body = await request.json()
        name = _NAME.search(body["query"])[1]
        self.asked.append((name, body["variables"]))
        answer = self.answers[name]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(body["variables"])
        if isinstance(answer, Exception):
            return JSONResponse({"errors": [{"message": str(answer), "extensions": {"code": "INTERNAL", "id": "e1"}}]})
        return JSONResponse({"data": answer})

    async def _subscribe(self, socket):
        if self._refused(socket.headers):
            await socket.send_denial_response(PlainTextResponse("no", 401))
            return
        await socket.accept("graphql-transport-ws")
        try:
            assert (await socket.receive_json())["type"] == "connection_init"
            await socket.send_json({"type": "connection_ack"})
            asked = await socket.receive_json()
            name = _NAME.search(asked["payload"]["query"])[1]
            self.asked.append((name, asked["payload"]["variables"]))
            messages, ending = self.streams[name].pop(0)
            for message in messages:
                await socket.send_text(json.dumps({"id": asked["id"], "type": "next", "payload": {"data": message}}))
            if ending == "complete":
                await socket.send_json({"id": asked["id"], "type": "complete"})
                await socket.close()
            else:
                await socket.close(1001 if ending == "drop" else ending)
        except WebSocketDisconnect:
            pass

    async def _file(self, request):
        content = self.files.get(request.path_params["id"])
        return PlainTextResponse("gone", 410) if content is None else PlainTextResponse(content)

    async def _link(self, request):
        if self._refused(request.headers):
            return PlainTextResponse("no", 401)
        return JSONResponse({"url": f"{self.url}/login#pkl_x", "expires_at": "2026-11-21T00:00:00+00:00"}, 201)
