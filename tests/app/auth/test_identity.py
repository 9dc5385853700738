import asyncio
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.auth.gate import AttemptGate
from app.auth.hosts import HostGuard
from app.auth.identity import CLI_TOKEN_NAME, Authenticator
from app.http.login import link_url, login_routes
from app.settings.server import Settings
from store.access.callers import disable_caller, enable_caller, ensure_caller, find_caller_of
from store.access.tokens import TokenKind, create_token, revoke_token
from store.database.dialects import Sql
from store.database.engine import open_store
from store.database.errors import StoreError
from store.states import Scope

READ = frozenset({Scope.READ})


class Clock:
    """Both clocks of the authenticator, moved by hand alone."""

    def __init__(self):
        self.began = datetime.now(UTC)
        self.moved = 0.0

    def now(self):
        return self.began + timedelta(seconds=self.moved)

    def ticks(self):
        return self.moved


class House:
    """A server with a page that says who is calling."""

    def __init__(self, store, authenticator, clock):
        self.store = store
        self.authenticator = authenticator
        self.clock = clock

        async def who(request):
            header = request.headers.get("authorization")
            token = header.removeprefix("Bearer ") if header else None
            caller = await authenticator.authenticate(request, token)
            if caller is None:
                return JSONResponse({"who": None}, 401)
            return JSONResponse({"who": caller.subject, "scopes": sorted(caller.scopes)})

        routes = [Route("/who", who, methods=["GET", "POST"]), *login_routes(authenticator)]
        app = HostGuard(AttemptGate(Starlette(routes=routes), authenticator))
        self.http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app, client=("10.9.8.7", 1)), base_url="http://127.0.0.1:8420"
        )

    async def token(self, subject="ada", scopes=READ, seconds=None):
        caller = await self.store.write(ensure_caller, subject, subject.title())
        expires_at = None if seconds is None else self.clock.now() + timedelta(seconds=seconds)
        return await self.store.write(create_token, caller.id, name="t", scopes=scopes, expires_at=expires_at)

    async def who(self, plaintext):
        answer = await self.http.get("/who", headers={"authorization": f"Bearer {plaintext}"})
        return answer.json()["who"]

    async def audited(self):
        rows = await self.store.read(text("SELECT action, accepted FROM audit ORDER BY at, id"))
        return [(action, bool(accepted)) for action, accepted in rows]


@pytest.fixture
async def make_house(tmp_path):
    houses = []

    async def make(**settings):
        clock = Clock()
        store = await open_store("sqlite", tmp_path / "data", migrate=True)
        authenticator = Authenticator(
            store, Settings.load({"data_dir": tmp_path / "data", **settings}), clock=clock.now, ticks=clock.ticks
        )
        await authenticator.start()
        houses.append(House(store, authenticator, clock))
        return houses[-1]

    yield make
    for house in houses:
        await house.http.aclose()
        await house.authenticator.stop()
        await house.store.close()


@pytest.fixture
async def house(make_house):
    return await make_house()


async def test_a_token_is_its_caller_with_its_scopes(house):
    one = await house.token("ada", frozenset({Scope.READ, Scope.RUN}))
    other = await house.token("ada", READ)

    answer = await house.http.get("/who", headers={"authorization": f"Bearer {one.plaintext}"})

    assert answer.json() == {"who": "ada", "scopes": ["read", "run"]}
    assert await house.who(other.plaintext) == "ada"


@pytest.mark.parametrize("token", ["", "pkl_wrong", "x" * 100_000, "pkl_\x7f", "Bearer"])
async def test_wrong_tokens_are_nobody(house, token):
    assert await house.who(token) is None


async def test_nothing_at_all_is_nobody_and_counts_as_no_failure(house):
    for _ in range(50):
        assert (await house.http.get("/who")).status_code == 401
    assert house.authenticator.throttle.wait_seconds("10.9.8.7") == 0


async def test_an_expired_token_stops_at_its_second(house):
    token = await house.token(seconds=2)
    assert await house.who(token.plaintext) == "ada"
    house.clock.moved = 2.5
    assert await house.who(token.plaintext) is None


async def test_a_revoked_token_stops_at_once(house):
    token = await house.token()
    assert await house.who(token.plaintext) == "ada"
    await house.store.write(revoke_token, token.token.id)
    assert await house.who(token.plaintext) is None


async def test_a_token_revoked_elsewhere_stops_at_once(house):
    token = await house.token()
    assert await house.who(token.plaintext) == "ada"
    await house.store.write(revoke_quietly, token.token.id)
    assert await house.who(token.plaintext) is None


async def test_tokens_are_stored_as_hashes_only(house, tmp_path):
    token = await house.token()
    link = await house.authenticator.first_link()
    cli = await house.authenticator.make_cli_token()
    await house.store.close()

    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file())
    for secret in (token.plaintext, link.plaintext, cli.plaintext):
        assert secret.encode() not in stored
        assert secret.removeprefix("pkl_").encode() not in stored


async def test_the_bootstrap_token_is_the_administrator_as_given(make_house):
    house = await make_house(bootstrap_token="just-a-word")
    answer = await house.http.get("/who", headers={"authorization": "Bearer just-a-word"})
    assert answer.json() == {"who": "admin", "scopes": sorted(Scope)}
    assert await house.who("just-a-wore") is None


async def test_a_bootstrap_token_taken_out_of_the_settings_is_nobody(make_house):
    house = await make_house(bootstrap_token="just-a-word")
    assert await house.who("just-a-word") == "admin"
    await house.store.close()
    house = await make_house()
    assert await house.who("just-a-word") is None


# ------------------------------------------------------------------------------------------------ browsers


async def signed_in(house):
    link = await house.authenticator.first_link()
    answer = await house.http.post("/login", data={"token": link.plaintext})
    assert answer.status_code == 303
    return answer


async def test_a_link_signs_in_once(house):
    link = await house.authenticator.first_link()
    assert link_url("http://h", link) == f"http://h/login#{link.plaintext}"

    first = await house.http.post("/login", data={"token": link.plaintext})
    cookie = first.headers["set-cookie"]
    assert first.status_code == 303
    assert first.headers["location"] == "/"
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Secure" not in cookie
    assert (await house.http.get("/who")).json()["who"] == "admin"

    house.http.cookies.clear()
    second = await house.http.post("/login", data={"token": link.plaintext})
    assert second.status_code == 400
    assert "used before" in second.text
    assert "set-cookie" not in second.headers
    assert await house.authenticator.first_link() is None, "somebody has signed in"
    assert await house.audited() == [("sign_in", True), ("sign_in", False)]


async def test_without_its_audit_row_nobody_signs_in_or_out(house):
    link = await house.authenticator.first_link()
    trigger = "CREATE TRIGGER no_row BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no row can be written'); END"
    await house.store.write(lambda conn: conn.run(Sql(trigger)))
    with pytest.raises(StoreError, match="no row"):
        await house.authenticator.sign_in(link.plaintext, "10.9.8.7")
    await house.store.write(lambda conn: conn.run(Sql("DROP TRIGGER no_row")))
    assert (await house.http.post("/login", data={"token": link.plaintext})).status_code == 303

    await house.store.write(lambda conn: conn.run(Sql(trigger)))
    with pytest.raises(StoreError, match="no row"):
        await house.http.post("/logout", headers={"origin": "http://127.0.0.1:8420"})
    await house.store.write(lambda conn: conn.run(Sql("DROP TRIGGER no_row")))
    assert (await house.http.get("/who")).json()["who"] == "admin"
    await house.http.post("/logout", headers={"origin": "http://127.0.0.1:8420"})
    assert await house.audited() == [("sign_in", True), ("sign_out", True)]


async def test_two_who_follow_a_link_at_once_do_not_both_get_in(house):
    link = await house.authenticator.first_link()
    answers = await asyncio.gather(*(house.http.post("/login", data={"token": link.plaintext}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [303, 400, 400, 400, 400]


async def test_a_link_that_expired_does_not_sign_in(make_house):
    house = await make_house(login_link_minutes=0.00001)
    link = await house.authenticator.first_link()
    await asyncio.sleep(0.002)
    assert (await house.http.post("/login", data={"token": link.plaintext})).status_code == 400


async def test_secrets_serve_only_what_they_are_for(house):
    link = await house.authenticator.first_link()
    token = await house.token()
    assert await house.who(link.plaintext) is None, "a link is no bearer token"
    assert (await house.http.post("/login", data={"token": token.plaintext})).status_code == 400
    await signed_in(house)
    cookie = house.http.cookies[house.authenticator.cookie_name]
    house.http.cookies.clear()
    assert await house.who(cookie) is None, "a login is no bearer token"
    house.http.cookies.set(house.authenticator.cookie_name, token.plaintext)
    assert (await house.http.get("/who")).status_code == 401, "a bearer token is no cookie"


async def test_a_cookie_changes_things_only_from_our_own_pages(house):
    await signed_in(house)
    ours = {"origin": "http://127.0.0.1:8420"}
    theirs = {"origin": "http://evil.example"}

    assert (await house.http.post("/who", headers=ours)).status_code == 200
    assert (await house.http.post("/who", headers={"sec-fetch-site": "same-origin"})).status_code == 200
    assert (await house.http.post("/who", headers=theirs)).status_code == 403
    assert (await house.http.post("/who")).status_code == 401
    assert (await house.http.post("/who", headers={"sec-fetch-site": "cross-site"})).status_code == 401
    assert (await house.http.get("/who", headers={"sec-fetch-site": "cross-site"})).status_code == 401


async def test_a_socket_with_a_cookie_needs_an_origin(house):
    await signed_in(house)
    name = house.authenticator.cookie_name
    cookie = (b"cookie", f"{name}={house.http.cookies[name]}".encode())

    def opened(*headers):
        return HTTPConnection({"type": "websocket", "headers": [cookie, *headers], "client": ("10.0.0.1", 1)})

    assert await house.authenticator.authenticate(opened(), None) is None
    assert await house.authenticator.authenticate(opened((b"origin", b"http://127.0.0.1:8420")), None) is not None


async def test_signing_out_ends_the_login(house):
    await signed_in(house)
    cookie = house.http.cookies[house.authenticator.cookie_name]
    answer = await house.http.post("/logout", headers={"origin": "http://127.0.0.1:8420"})
    assert answer.status_code == 303
    house.http.cookies.set(house.authenticator.cookie_name, cookie)
    assert (await house.http.get("/who")).status_code == 401


async def test_the_cookie_is_secure_behind_tls(make_house):
    house = await make_house(public_url="https://pack.example")
    assert "Secure" in (await signed_in(house)).headers["set-cookie"]


async def test_a_link_that_was_used_leads_on_whoever_is_signed_in(house):
    link = await house.authenticator.first_link()
    ours = {"origin": "http://127.0.0.1:8420"}
    assert (await house.http.post("/login", data={"token": link.plaintext}, headers=ours)).status_code == 303
    again = await house.http.post("/login?next=/runs", data={"token": link.plaintext}, headers=ours)
    assert (again.status_code, again.headers["location"]) == (303, "/runs")
    assert "set-cookie" not in again.headers
    assert await house.audited() == [("sign_in", True), ("sign_in", False)]
    foreign = await house.http.post("/login?next=/runs", data={"token": link.plaintext})
    assert foreign.status_code == 400, "a page of others learns nothing"


async def test_a_whole_link_can_be_pasted(house):
    link = await house.authenticator.first_link()
    pasted = f" {link_url('http://127.0.0.1:8420', link)}\n"
    assert (await house.http.post("/login", data={"token": pasted})).status_code == 303


@pytest.mark.parametrize("onward", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\nb", "evil"])
async def test_signing_in_leads_nowhere_else(house, onward):
    link = await house.authenticator.first_link()
    answer = await house.http.post("/login", params={"next": onward}, data={"token": link.plaintext})
    assert answer.headers["location"] == "/"


async def test_signing_in_leads_back_to_the_page_that_was_wanted(house):
    page = await house.http.get("/login", params={"next": '/runs/run_1?tab=log&x="'})
    assert 'action="/login?next=%2Fruns%2Frun_1%3Ftab%3Dlog%26x%3D%22"' in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "script-src 'sha256-" in page.headers["content-security-policy"]


async def test_who_manages_can_make_links(house):
    admin = await house.authenticator.make_cli_token()
    made = await house.http.post("/login/links", headers={"authorization": f"Bearer {admin.plaintext}"})
    assert made.status_code == 201
    secret = made.json()["url"].partition("/login#")[2]
    assert (await house.http.post("/login", json={"token": secret})).status_code == 303

    house.http.cookies.clear()
    token = await house.token(scopes=READ)
    refused = await house.http.post("/login/links", headers={"authorization": f"Bearer {token.plaintext}"})
    assert refused.status_code == 403
    assert (await house.http.post("/login/links")).status_code == 401
    assert ("make_login_link", False) in await house.audited()


@pytest.mark.parametrize("body", [b"", b"token=", b"{", b'{"token": 1}', b"[]", b"\xff\xfe", b"token=" + b"x" * 10_000])
async def test_rubbish_does_not_sign_in(house, body):
    for kind in ("application/json", "application/x-www-form-urlencoded"):
        answer = await house.http.post("/login", content=body, headers={"content-type": kind})
        assert answer.status_code in (400, 429)


# ------------------------------------------------------------------------------------------------ limits


async def test_guessing_tokens_is_slowed_down_and_those_who_are_known_get_in(make_house):
    house = await make_house(login_attempts_per_minute=3)
    token = await house.token()
    guess = {"authorization": "Bearer guess"}
    answers = [await house.http.get("/who", headers=guess) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert int(answers[-1].headers["retry-after"]) == 20

    assert await house.who(token.plaintext) == "ada"
    assert (await house.http.get("/who")).status_code == 401, "who presents nothing guesses nothing"
    assert (await house.http.get("/login/provider")).status_code == 404, "there is none, but it can be asked for"
    await signed_in(house)
    assert (await house.http.get("/who")).status_code == 200, "neither logins nor signing in are held up"
    house.clock.moved = 21
    assert (await house.http.get("/who", headers=guess)).status_code == 401


async def test_guessing_login_links_is_slowed_down(make_house):
    house = await make_house(login_attempts_per_minute=3)
    token = await house.token()
    answers = [await house.http.post("/login", data={"token": "guess"}) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429, 429]
    assert await house.who(token.plaintext) == "ada"
    link = await house.authenticator.first_link()
    assert (await house.http.post("/login", data={"token": link.plaintext})).status_code == 429
    house.clock.moved = 21
    assert (await house.http.post("/login", data={"token": link.plaintext})).status_code == 303


async def test_a_page_left_open_after_its_login_ended_is_nobody_guessing(make_house):
    house = await make_house(login_attempts_per_minute=3)
    house.http.cookies.set(house.authenticator.cookie_name, "pkl_ended")
    for _ in range(10):
        assert (await house.http.get("/who")).status_code == 401


async def test_a_flood_of_wrong_tokens_leaves_one_audit_row(make_house):
    house = await make_house(login_attempts_per_minute=1000)
    for _ in range(20):
        await house.who("wrong")
    assert await house.audited() == [("authenticate", False)]


# ------------------------------------------------------------------------------------------------ streams


async def caller_of(house, token):
    scope = {"type": "http", "method": "GET", "headers": [], "client": ("10.0.0.1", 1)}
    caller = await house.authenticator.authenticate(HTTPConnection(scope), token.plaintext)
    assert caller is not None
    return caller


async def test_a_stream_ends_when_its_token_is_revoked(house, monkeypatch):
    monkeypatch.setattr("app.auth.identity.WATCH_SECONDS", 3600)  # so that nobody looks: it is told
    token = await house.token()
    watch = asyncio.create_task(house.authenticator.watch(await caller_of(house, token)))
    await asyncio.sleep(0)
    await house.store.write(revoke_token, token.token.id)
    await asyncio.wait_for(watch, 60)


async def test_a_stream_ends_when_its_token_is_revoked_elsewhere_or_loses_a_scope(house, monkeypatch):
    monkeypatch.setattr("app.auth.identity.WATCH_SECONDS", 0.01)
    revoked, narrowed = await house.token(), await house.token(scopes=frozenset({Scope.READ, Scope.RUN}))
    kept = await house.token()
    watches = {
        name: asyncio.create_task(house.authenticator.watch(await caller_of(house, token)))
        for name, token in {"revoked": revoked, "narrowed": narrowed, "kept": kept}.items()
    }
    await asyncio.sleep(0)
    await house.store.write(revoke_quietly, revoked.token.id)
    await house.store.write(narrow, narrowed.token.id)

    await asyncio.wait_for(asyncio.gather(watches["revoked"], watches["narrowed"]), 60)
    assert not watches["kept"].done()
    watches["kept"].cancel()


async def test_a_stream_ends_when_its_token_expires(house, monkeypatch):
    monkeypatch.setattr("app.auth.identity.WATCH_SECONDS", 3600)  # so that nobody looks: it has a timer
    token = await house.token(seconds=3600)
    caller = await caller_of(house, token)
    house.clock.moved = 3599.95
    await asyncio.wait_for(house.authenticator.watch(caller), 60)


async def test_a_stream_ends_when_its_token_expired_while_the_machine_slept(house, monkeypatch):
    """Timers stand still then, and the clock goes on; so it is when the clock is set."""
    monkeypatch.setattr("app.auth.identity.WATCH_SECONDS", 0.01)
    token = await house.token(seconds=3600)
    watch = asyncio.create_task(house.authenticator.watch(await caller_of(house, token)))
    await asyncio.sleep(0)
    house.clock.moved = 3601
    await asyncio.wait_for(watch, 60)


async def test_a_stream_of_the_bootstrap_token_goes_on(make_house):
    house = await make_house(bootstrap_token="word")
    scope = {"type": "http", "method": "GET", "headers": [], "client": None}
    caller = await house.authenticator.authenticate(HTTPConnection(scope), "word")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(house.authenticator.watch(caller), 0.01)


# ------------------------------------------------------------------------------------------------ set-up


async def test_the_command_lines_own_token_does_not_count_as_set_up(house):
    assert not await house.authenticator.is_set_up()
    cli = await house.authenticator.make_cli_token()
    assert cli.token.name == CLI_TOKEN_NAME
    assert not await house.authenticator.is_set_up()
    await house.token()
    assert await house.authenticator.is_set_up()


async def test_a_token_of_the_oldest_of_many_callers_counts_as_set_up(house):
    await house.token()

    def many(conn):
        for number in range(101):
            ensure_caller(conn, f"ada-{number}", "Ada")

    await house.store.write(many)
    assert await house.authenticator.is_set_up()


async def test_a_login_and_a_bootstrap_token_count_as_set_up(make_house):
    house = await make_house()
    await signed_in(house)
    assert await house.authenticator.is_set_up()
    await house.store.close()
    house = await make_house(bootstrap_token="word")
    assert await house.authenticator.is_set_up()


def revoke_quietly(conn, token_id):
    """Revokes as another process does: nobody here is woken."""
    conn.run(Sql("UPDATE token SET revoked_at = :now WHERE id = :id"), {"now": conn.now(), "id": token_id})


def narrow(conn, token_id):
    conn.run(Sql("""UPDATE token SET scopes = '["read"]' WHERE id = :id"""), {"id": token_id})


async def test_a_disabled_caller_is_refused_by_every_proof_it_has(house):
    tokens = [await house.token("ada", READ), await house.token("ada", READ)]
    ada = tokens[0].token.caller_id
    expires_at = house.clock.now() + timedelta(hours=1)
    agent, login = [
        await house.store.write(create_token, ada, name="t", scopes=READ, expires_at=expires_at, kind=kind)
        for kind in (TokenKind.AGENT, TokenKind.BROWSER)
    ]
    authenticator, request = house.authenticator, HTTPConnection({"type": "http", "headers": [], "method": "GET"})

    async def known():
        return [
            *[await house.who(token.plaintext) for token in tokens],
            await authenticator.authenticate(request, agent.plaintext, agents=True) is not None,
            await authenticator.knows_login(login.plaintext),
        ]

    assert await known() == ["ada", "ada", True, True]
    record = await find_caller_of(house.store, "ada")
    assert authenticator.admit(record, scopes=READ) is not None, "what proves itself without a token of ours"
    await house.store.write(disable_caller, ada)
    assert await known() == [None, None, False, False]
    record = await find_caller_of(house.store, "ada")
    assert authenticator.admit(record, scopes=READ) is None
    await house.store.write(enable_caller, ada)
    assert await known() == ["ada", "ada", True, True]


@pytest.mark.parametrize("is_heard", [True, False])
async def test_streams_of_a_disabled_caller_end_also_when_no_wake_up_comes(house, is_heard, monkeypatch):
    made = await house.token("ada", READ)
    authenticator = house.authenticator
    caller = await authenticator.authenticate(HTTPConnection({"type": "http", "headers": []}), made.plaintext)
    without_token = authenticator.admit(await find_caller_of(house.store, "ada"), scopes=READ)
    other = await authenticator.administrator()

    async def no_check():
        pass

    if is_heard:
        monkeypatch.setattr(authenticator, "_check_watched", no_check)
    streams = [asyncio.create_task(authenticator.watch(each)) for each in (caller, without_token, other)]
    await asyncio.sleep(0)

    if is_heard:
        await house.store.write(disable_caller, made.token.caller_id)
    else:
        quiet = Sql("UPDATE caller SET disabled_at = :now WHERE id = :id")
        await house.store.write(lambda conn: conn.run(quiet, {"id": made.token.caller_id, "now": conn.now()}))

    async with asyncio.timeout(5):
        await asyncio.gather(*streams[:2])
    assert not streams[2].done()
    streams[2].cancel()


async def test_the_use_of_a_proof_without_a_token_is_recorded_once_a_minute(make_house):
    house = await make_house(bootstrap_token="pkl_bootstrap_of_this_test")

    async def seen(subject):
        await asyncio.gather(*house.authenticator._background)
        return (await find_caller_of(house.store, subject)).last_seen_at

    assert await seen("admin") is None
    assert await house.who("pkl_bootstrap_of_this_test") == "admin"
    first = await seen("admin")
    assert first is not None
    assert await house.who("pkl_bootstrap_of_this_test") == "admin"
    assert await seen("admin") == first
    ada = await house.store.write(ensure_caller, "ada", "Ada")
    house.authenticator.admit(ada, scopes=READ)
    assert await seen("ada") is not None
