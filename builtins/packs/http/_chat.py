"""Messages for people, in the form that the webhooks of Slack, Discord and Teams take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from packline import excerpt

if TYPE_CHECKING:
    from packline import WebAddress

#: `auto` goes by the host; `plain` is JSON with `title`, `text` and `link`.
Form: TypeAlias = Literal["auto", "slack", "discord", "teams", "plain"]
#: Longest content that Discord takes (discord.com/developers/docs/resources/webhook).
_DISCORD_CHARACTERS = 2_000
_DISCORD = ("discord.com", "discordapp.com")
#: Connectors of Office 365, and flows of Power Automate.
_TEAMS = (".webhook.office.com", ".logic.azure.com", ".api.powerplatform.com")


def message_for(address: WebAddress, form: Form, title: str, text: str, link: str) -> dict[str, Any]:
    """Return the body of a message."""
    lines = [line for line in (text.strip(), link) if line]
    match _form_of(address.host.lower()) if form == "auto" else form:
        case "slack":
            return {"text": "\n".join([f"*{_for_slack(title)}*", *map(_for_slack, lines)])}
        case "discord":
            content = excerpt("\n".join([f"**{title}**", *lines]), _DISCORD_CHARACTERS)
            # Text from elsewhere must not notify a whole channel.
            return {"content": content, "allowed_mentions": {"parse": []}}
        case "teams":
            return _card(title, lines)
        case _:
            return {"title": title, "text": text, "link": link}


def _form_of(host: str) -> Form:
    if host == "hooks.slack.com":
        return "slack"
    if host in _DISCORD or host.endswith(tuple(f".{name}" for name in _DISCORD)):
        return "discord"
    return "teams" if host.endswith(_TEAMS) else "plain"


def _for_slack(text: str) -> str:
    """Escape what Slack reads as control characters (docs.slack.dev, Formatting message text)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(title: str, lines: list[str]) -> dict[str, Any]:
    blocks = [{"type": "TextBlock", "text": title, "weight": "Bolder", "wrap": True}]
    blocks += [{"type": "TextBlock", "text": line, "wrap": True} for line in lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}
