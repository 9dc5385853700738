from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

from store.access.callers import (
    CallerFilter,
    count_callers,
    disable_caller,
    enable_caller,
    ensure_caller,
    find_callers,
    list_callers,
)
from store.access.tokens import (
    TokenKind,
    create_token,
    find_holder,
    find_tokens,
    hash_secret,
    list_tokens,
    revoke_token,
    scopes_of,
    sweep_tokens,
    tokens_for_others,
    touch_token,
    use_login_link,
)
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.states import Scope
from tests.support.heard import Heard
from tests.support.rows import caller

if TYPE_CHECKING:
    from store.database.engine import Store


async def test_all_who_come_at_once_with_one_subject_are_one_caller(store: Store):
    found = await asyncio.gather(*(store.write(ensure_caller, "ada", f"Ada {n}") for n in range(8)))
    assert len({each.id for each in found}) == 1
    slots = await store.write(lambda conn: conn.all(Sql("SELECT caller_id FROM caller_slot")))
    assert slots == [(found[0].id,)]
    assert await find_callers(store, [found[0].id, "call_x"]) == {found[0].id: found[0]}


async def test_a_token_is_found_by_its_hash_with_its_caller_and_nothing_keeps_the_secret(store: Store):
    ada = await caller(store)
    made = await store.write(create_token, ada.id, name="laptop", scopes=[Scope.READ, Scope.RUN], expires_at=None)
    assert made.plaintext.startswith("pkl_")
    assert made.plaintext.startswith(made.token.beginning)
    holder = await find_holder(store, hash_secret(made.plaintext))
    assert await find_holder(store, hash_secret("pkl_other")) is None
    assert (await find_tokens(store, [made.token.id]))[made.token.id] == made.token
    raw = (await store.read(text("SELECT * FROM token"))).all()
    assert holder is not None
    assert holder.caller == ada
    assert holder.scopes == {Scope.READ, Scope.RUN}
    assert holder.valid_at(made.token.created_at)
    assert made.plaintext not in repr(raw)


async def test_only_bearer_tokens_count_as_made_for_others(store: Store):
    maker, other = await caller(store, "maker"), await caller(store, "other")
    ends = other.created_at + timedelta(hours=1)
    for kind in TokenKind:
        await store.write(create_token, other.id, name="t", scopes=[], expires_at=ends, kind=kind, made_by=maker.id)
    found = await tokens_for_others(store, maker.id, other.created_at, limit=9)
    assert [token.kind for token in found] == [TokenKind.TOKEN]


async def test_a_token_ends_by_time_and_by_revocation_which_wakes_its_streams(store: Store):
    ada = await caller(store)
    now = ada.created_at
    short = await store.write(create_token, ada.id, name="t", scopes=[Scope.READ], expires_at=now + timedelta(hours=1))
    heard = Heard(store)
    assert await store.write(revoke_token, short.token.id)
    assert not await store.write(revoke_token, short.token.id)
    await heard.until((Topic.TOKEN_REVOKED, short.token.id))
    holder = await find_holder(store, hash_secret(short.plaintext))
    assert await scopes_of(store, ada.id, now) == frozenset()
    assert holder is not None
    assert not holder.valid_at(now)

    long = await store.write(create_token, ada.id, name="t", scopes=[Scope.WRITE], expires_at=now + timedelta(hours=1))
    holder = await find_holder(store, hash_secret(long.plaintext))
    assert await scopes_of(store, ada.id, now) == {Scope.WRITE}
    assert await scopes_of(store, ada.id, now + timedelta(hours=1)) == frozenset()
    assert holder is not None
    assert holder.valid_at(now)
    assert not holder.valid_at(now + timedelta(hours=1))


async def test_a_login_link_works_once_even_for_two_at_the_same_time(store: Store):
    ada = await caller(store)
    link = await store.write(
        create_token,
        ada.id,
        name="Firefox",
        scopes=[Scope.MANAGE],
        expires_at=ada.created_at + timedelta(minutes=10),
        kind=TokenKind.LOGIN_LINK,
    )
    answers = await asyncio.gather(
        *(store.write(use_login_link, hash_secret(link.plaintext), browser_days=30) for _ in range(4))
    )
    logins = [answer for answer in answers if answer is not None]
    assert len(logins) == 1
    assert logins[0].token.kind is TokenKind.BROWSER
    assert logins[0].token.scopes == {Scope.MANAGE}
    assert await store.write(use_login_link, hash_secret(logins[0].plaintext), browser_days=30) is None


async def test_an_expired_login_link_does_not_count(store: Store):
    ada = await caller(store)
    link = await store.write(
        create_token, ada.id, name="x", scopes=[], expires_at=ada.created_at, kind=TokenKind.LOGIN_LINK
    )
    assert await store.write(use_login_link, hash_secret(link.plaintext), browser_days=30) is None
    assert await store.write(sweep_tokens, keep_days=0) == 1


async def test_use_is_noted_at_most_once_a_minute(store: Store):
    ada = await caller(store)
    made = await store.write(create_token, ada.id, name="t", scopes=[], expires_at=None)
    await store.write(touch_token, made.token.id, ada.id)
    first = (await find_tokens(store, [made.token.id]))[made.token.id].last_used_at
    await store.write(touch_token, made.token.id, ada.id)
    assert (await find_tokens(store, [made.token.id]))[made.token.id].last_used_at == first
    seen = (await find_callers(store, [ada.id]))[ada.id].last_seen_at
    assert first is not None
    assert seen == first


async def test_lists_are_newest_first_and_page_both_ways(store: Store):
    ada = await caller(store)
    made = [(await store.write(create_token, ada.id, name=f"t{n}", scopes=[], expires_at=None)).token for n in range(5)]
    expected = sorted((token.id for token in made), reverse=True)
    front = [t.id for t in await list_tokens(store, ada.id, PageWindow(limit=2))]
    rest = [t.id for t in await list_tokens(store, ada.id, PageWindow(after=(front[1],), limit=9))]
    back = [t.id for t in await list_tokens(store, ada.id, PageWindow(limit=2, reverse=True))]
    between = PageWindow(after=(expected[0],), before=(expected[4],), limit=9)
    middle = [t.id for t in await list_tokens(store, ada.id, between)]
    callers = await list_callers(store, CallerFilter(), PageWindow())
    assert front == expected[:3], "one more than asked for"
    assert rest == expected[2:]
    assert back == expected[-3:], "in the order of the list, the extra row first"
    assert middle == expected[1:4]
    assert [each.subject for each in callers] == ["ada"]


async def test_a_disabled_caller_is_found_as_such_and_its_login_links_are_void(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    link = await store.write(create_token, ada.id, name="x", scopes=[], expires_at=None, kind=TokenKind.LOGIN_LINK)
    heard = Heard(store)
    await store.write(disable_caller, ada.id)
    await store.write(disable_caller, ada.id)
    await heard.until((Topic.CALLER_DISABLED, ada.id))
    holder = await find_holder(store, hash_secret(link.plaintext))
    assert holder is not None
    assert holder.caller.disabled_at is not None
    assert await store.write(use_login_link, hash_secret(link.plaintext), browser_days=30) is None
    assert [each.id for each in await list_callers(store, CallerFilter(disabled=True), PageWindow())] == [ada.id]
    assert [each.id for each in await list_callers(store, CallerFilter(disabled=False), PageWindow())] == [bob.id]
    assert await count_callers(store, CallerFilter(text="ada", disabled=False)) == 0

    await store.write(enable_caller, ada.id)
    await store.write(enable_caller, ada.id)
    assert await store.write(use_login_link, hash_secret(link.plaintext), browser_days=30) is not None
