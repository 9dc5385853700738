"""Credentials in a running product, in few words.

stored = await put(it, "github", "github", {"token": SECRET}, grants=["test.reader"])
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from packline import CredentialNeed, Pack, PackContext, PackError, pack
from tests.support.front_door import refusals
from tests.support.whole_schema import parameters, root_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.product import Product

#: No pattern knows its shape: only the vault can tell that it is a secret.
SECRET = "correct horse/battery?staple"
CREDENTIAL = """id key kind description fieldsSet fingerprint readable createdAt updatedAt expiresAt lastUsedAt
    grants { __typename id } neededBy { name } lastTest { at accepted message }"""


async def put(
    it: Product, key: str, kind: str, fields: dict[str, Any] | None = None, token: str | None = None, **more: Any
) -> dict[str, Any]:
    """What `setCredential` answers: the credential, or the problem."""
    given = {"key": key, "kind": kind, **({} if fields is None else {"fields": fields}), **more}
    return await said(it, "setCredential", given, token)


async def tried(it: Product, credential_id: str) -> dict[str, Any]:
    """What `testCredential` answers."""
    return await said(it, "testCredential", {"id": credential_id})


async def said(it: Product, field: str, given: Mapping[str, object], token: str | None = None) -> dict[str, Any]:
    """What a command on credentials answers."""
    declared, passed = parameters(root_fields("Mutation")[field], given)
    answer = await it.mutate(
        f"mutation {declared} {{ {field}{passed} {{ __typename"
        f" ... on CredentialSuccess {{ credential {{ {CREDENTIAL} }} }} {refusals(field)} }} }}",
        given,
        token=token,
    )
    credential: dict[str, Any] = answer.get("credential", answer)
    return credential


async def credentials(it: Product) -> dict[str, dict[str, Any]]:
    """Every credential by key."""
    data = await it.query(f"{{ credentials(first: 100) {{ nodes {{ {CREDENTIAL} }} }} }}")
    return {node["key"]: node for node in data["credentials"]["nodes"]}


class Asked(BaseModel):
    """Which credential to ask for, how often, and how."""

    key: str = Field(default="key", description="Handle.")
    times: int = Field(default=1, description="How often.")
    optional: bool = Field(default=False, description="Whether it can do without.")


class Given(BaseModel):
    """What it got, told so that nothing masks it."""

    names: list[str] | None = Field(description="Names of the fields; none without a credential.")
    matches: bool = Field(description="Whether the value is the expected one.")


def reader(*, required: bool = True, key: str = "key", name: str = "test.reader") -> Pack:
    """A pack that asks for a credential and tells what it is, but not the value."""

    @pack(
        name,
        version="1.0.0",
        effects="none",
        repeatable=True,
        credentials=[CredentialNeed(key, "generic", required=required)],
    )
    async def read(ctx: PackContext, asked: Asked) -> Given:
        """Asks for a credential."""
        found = None
        for _ in range(asked.times):
            found = await (ctx.find_credential(asked.key) if asked.optional else ctx.credential(asked.key))
        if found is None:
            return Given(names=None, matches=False)
        return Given(names=sorted(found), matches=found.get("secret") == SECRET)

    return read


class File(BaseModel):
    """Which file."""

    artifact_id: str = Field(description="Id of the artifact.")


def opener() -> Pack:
    """A pack that opens an artifact."""

    @pack("test.opener", version="1.0.0", effects="none", repeatable=True)
    async def look(ctx: PackContext, file: File) -> File:
        """Opens it."""
        await ctx.open_artifact(file.artifact_id)
        return file

    return look


class Patient:
    """A pack that asks twice for its credential, and what it waits for in between."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """As for a first call."""
        self.first, self.go_on = asyncio.Event(), asyncio.Event()

    def pack(self) -> Pack:
        """The pack."""

        @pack(
            "test.patient",
            version="1.0.0",
            effects="none",
            repeatable=True,
            credentials=[CredentialNeed("key", "generic")],
        )
        async def wait(ctx: PackContext, asked: Asked) -> Given:
            """Asks, waits and asks again."""
            await ctx.credential("key")
            self.first.set()
            await self.go_on.wait()
            found = await ctx.credential("key")
            return Given(names=sorted(found), matches=True)

        return wait


class Way(BaseModel):
    """How to end."""

    way: str = Field(default="output", description="`output`, `fail` or `raise`.")


class Leaked(BaseModel):
    """The value."""

    texts: dict[str, str] = Field(description="The value, in every form, in keys too.")
    artifacts: list[str] = Field(description="Ids of artifacts that hold it.")


def leaker() -> Pack:
    """A pack that tells its credential wherever it can, and then does what `text` says."""

    @pack(
        "test.leaker",
        version="1.0.0",
        effects="none",
        repeatable=True,
        credentials=[CredentialNeed("key", "generic")],
    )
    async def leak(ctx: PackContext, how: Way) -> Leaked:
        """Tells."""
        import base64
        import json
        from urllib.parse import quote

        secret = (await ctx.credential("key"))["secret"]
        forms: list[str] = [
            secret,
            quote(secret, safe=""),
            json.dumps(secret),
            base64.b64encode(f"user:{secret}".encode()).decode(),
            secret.encode().hex(),
        ]
        ids = []
        for number, form in enumerate(forms):
            ctx.log(f"log {form}")
            ctx.progress(None, f"progress {form}")
            ctx.warn(f"warning {form}")
            content = b"\x00\xff" * 700_000 + form.encode() + b"\xfe"
            name = forms[1] if "/" in form else form
            saved = await ctx.save_artifact(f"{name}-{number}.bin", content, "text/plain")
            ids.append(saved.artifact_id)
        saved = await ctx.save_artifact("clean.txt", b"nothing to see", "text/plain")
        ids.append(saved.artifact_id)
        if how.way == "fail":
            raise PackError(
                "invalid_input", f"Not {secret}", hint=f"Not {forms[1]}", field=secret, detail={secret: list(forms)}
            )
        if how.way == "raise":
            raise RuntimeError(secret)
        return Leaked(texts={form: form for form in forms}, artifacts=ids)

    return leak
