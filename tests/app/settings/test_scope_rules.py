import pytest

from app.settings.scope_rules import ScopeRule
from app.settings.server import Settings, SettingsError
from store.states import Scope

CLAIMS = {
    "groups": ["ops", "on call"],
    "realm_access": {"roles": ["dev"]},
    "https://pack.example/roles": ["admin:eu"],
    "resource.access": "plain",
    "scope": "openid packline.run",
    "name": "Ada manage",
    "email_verified": True,
    "level": 3,
}


@pytest.mark.parametrize(
    "text",
    [
        "groups=ops:read",
        " groups = on call : read , run ",
        "realm_access.roles=dev:read",
        "https://pack.example/roles=admin:eu:read",
        "resource.access=plain:read",
        "scope=packline.run:read",
        "name=Ada manage:read",
        "email_verified=true:read",
        "level=3:read",
        "*:read",
    ],
)
def test_a_rule_matches(text):
    rule = ScopeRule.parse(text)
    assert rule.matches(CLAIMS)
    assert Scope.READ in rule.scopes


@pytest.mark.parametrize(
    "text",
    [
        "groups=op:read",
        "groups=call:read",
        "name=manage:read",
        "realm_access.roles.dev=dev:read",
        "realm_access=dev:read",
        "missing=ops:read",
        "email_verified=1:read",
    ],
)
def test_a_rule_does_not_match(text):
    assert not ScopeRule.parse(text).matches(CLAIMS)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("groups=ops", "is not a rule"),
        ("ops:read", "is not a rule"),
        ("=ops:read", "is not a rule"),
        ("groups=:read", "is not a rule"),
        ("*=ops:", "names no scope"),
        ("groups=ops:admin", "names the scope `admin`; there are read, observe, run, write, manage"),
        ("groups=ops:read,,Run", "names the scope `Run`"),
        ("groups=ops: ,", "names no scope"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(text, why):
    with pytest.raises(SettingsError, match=why) as refused:
        Settings.load({"oidc_scopes": f"*:read; {text}"})
    assert "PACKLINE_OIDC_SCOPES" in str(refused.value) or "--oidc-scopes" in str(refused.value)


def test_a_provider_needs_more_than_its_address():
    given = {"oidc_issuer": "https://id.example/", "oidc_scopes": "*:read", "public_url": "https://pack.example"}
    assert Settings.load(given).oidc_issuer == "https://id.example/", "as its tokens spell it"
    with pytest.raises(SettingsError, match="needs PACKLINE_PUBLIC_URL"):
        Settings.load({**given, "public_url": None})
    with pytest.raises(SettingsError, match="needs PACKLINE_OIDC_SCOPES"):
        Settings.load({**given, "oidc_scopes": ""})


@pytest.mark.parametrize(
    "issuer", ["http://id.example", "id.example", "https://id.example?x=1", "https://a:b@id.example"]
)
def test_an_issuer_is_an_address_with_tls(issuer):
    with pytest.raises(SettingsError, match="oidc"):
        Settings.load({"oidc_issuer": issuer, "oidc_scopes": "*:read", "public_url": "https://pack.example"})


@pytest.mark.parametrize("name", ["oidc_client_id", "oidc_scopes", "oidc_login_hours"])
def test_what_has_no_effect_without_a_provider_is_refused(name):
    with pytest.raises(SettingsError, match=f"PACKLINE_{name.upper()} has no effect without PACKLINE_OIDC_ISSUER"):
        Settings.load({name: "*:read" if name == "oidc_scopes" else "12"})


@pytest.mark.parametrize(
    ("public", "is_warned"), [("http://pack.example", True), ("https://pack.example", False), ("http://[::1]", False)]
)
def test_signing_in_without_tls_is_warned_of(public, is_warned):
    given = {"oidc_issuer": "https://id.example", "oidc_scopes": "*:read", "public_url": public}
    assert any("begins with http://" in each for each in Settings.load(given).warnings) is is_warned
