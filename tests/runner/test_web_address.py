from __future__ import annotations

import pytest

from runner.web_address import has_account, read_web_address


@pytest.mark.parametrize(
    "text",
    ["http://a", "https://host.example/v1?x=1", "http://127.0.0.1:8420", "https://[::1]:443/", "HTTPS://A.EXAMPLE"],
)
def test_addresses_of_servers_are_read(text: str) -> None:
    address = read_web_address(text)
    assert address is not None
    assert not has_account(address)


@pytest.mark.parametrize(
    "text",
    ["", "host.example", "ftp://host", "https://", "http:///path", "http://[::1", "http://a:0", "http://a:99999"],
)
def test_what_names_no_server_is_none(text: str) -> None:
    assert read_web_address(text) is None


@pytest.mark.parametrize("text", ["http://ada@host", "http://ada:secret@host", "http://:secret@host"])
def test_accounts_are_noticed(text: str) -> None:
    address = read_web_address(text)
    assert address is not None
    assert has_account(address)
