"""The corpus of `secret_detection.py`: synthetic secrets in many kinds and wrappings, and ordinary lines.

The secrets are made from patterns and a seed, so that no file holds one and no scanner of a host reports it. The
ordinary lines are in `tests/data/secrets/`, written one by one. Items with an even number are the half that the rules
were developed on, those with an odd number the half they are measured on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from secret_kinds import ALNUM, KEYS, KNOWN, NAMED, Make, Maker
from secret_kinds_written import WRITTEN

ORDINARY = Path(__file__).resolve().parents[1] / "tests" / "data" / "secrets"
SEED = 20_261_122
WRAPPINGS_PER_KIND = 8


@dataclass(frozen=True)
class Item:
    """A text and the secrets in it as they are written there; no secrets: an ordinary line."""

    text: str
    secrets: tuple[str, ...]
    kind: str
    wrapping: str


# --- wrappings --------------------------------------------------------------------------------------------------------

Wrapped = tuple[str, str]
Wrap = Callable[[str, str, Maker], Wrapped | None]
"""A text, the secret in it and a maker → the wrapped text and the secret as it is written there; None: does not fit."""


def around(frame: str) -> Wrap:
    return lambda text, secret, m: (frame.replace("{}", text), secret)


def escaped(text: str, secret: str, m: Maker) -> Wrapped:
    return json.dumps({"log": f"line one\n{text}\nend"}), json.dumps(secret)[1:-1]


def escaped_twice(text: str, secret: str, m: Maker) -> Wrapped:
    return json.dumps(json.dumps({"body": f"{text}"})), json.dumps(json.dumps(secret)[1:-1])[1:-1]


def each_line(prefix: str) -> Wrap:
    def wrap(text: str, secret: str, m: Maker) -> Wrapped:
        return prefix + text.replace("\n", "\n" + prefix), secret.replace("\n", "\n" + prefix)

    return wrap


def zero_width(text: str, secret: str, m: Maker) -> Wrapped | None:
    char = m.random.choice("\u200b\u200c\u200d\u2060\ufeff\u00ad")
    cut = m.random.randrange(min(2, len(secret) - 2), len(secret) - 1)
    hidden = secret[:cut] + char + secret[cut:]
    if m.random.random() < 0.5:
        hidden = char.join(secret)
    return text.replace(secret, hidden), hidden


def line_end(text: str, secret: str, m: Maker) -> Wrapped | None:
    if len(secret) < 30 or "\n" in text or secret.startswith("http"):
        return None
    cut = len(secret) // 2
    hidden = secret[:cut] + m.random.choice(["\n", "\r\n", "\\\n", "\n    "]) + secret[cut:]
    return text.replace(secret, hidden), hidden


def blanks(text: str, secret: str, m: Maker) -> Wrapped | None:
    """Cards in groups, with no-break spaces, dots, hyphens; other texts with no-break spaces around the secret."""
    if secret.isdigit() and len(secret) == 16:
        grouped = m.random.choice(["\u00a0", ".", "-", "\u2009", "\u2011"]).join(
            secret[at : at + 4] for at in range(0, 16, 4)
        )
        return text.replace(secret, grouped), grouped
    return text.replace(" ", "\u00a0"), secret.replace(" ", "\u00a0")


def wide(text: str, secret: str, m: Maker) -> Wrapped | None:
    if not secret.isalnum():
        return None
    hidden = "".join(chr(ord(char) + 0xFEE0) for char in secret)
    return text.replace(secret, hidden), hidden


def concatenated(text: str, secret: str, m: Maker) -> Wrapped | None:
    if len(secret) < 30 or "\n" in text or secret.startswith("http"):
        return None
    cut = len(secret) // 2
    hidden = secret[:cut] + '" + "' + secret[cut:]
    return f'key = "{text.replace(secret, hidden)}"', hidden


WRAPPINGS: dict[str, Wrap] = {
    "plain": around("{}"),
    "prose": around("fyi, this is what they sent me: {} (please delete later)"),
    "prose-zh": around("他傳給我的是這個：{}，請先不要外傳"),
    "list": around("- first do the setup\n- {}\n- then restart"),
    "code-fence": around("run this:\n```sh\n{}\n```\n"),
    "blockquote": each_line("> "),
    "diff": each_line("+"),
    "comment": each_line("# "),
    "indented": each_line("    "),
    "log": around("2026-03-04T10:11:12Z INFO  [worker-3] request took 12 ms: {}"),
    "escaped-json": escaped,
    "escaped-twice": escaped_twice,
    "zero-width": zero_width,
    "line-end": line_end,
    "blanks": blanks,
    "wide": wide,
    "concatenated": concatenated,
    "html-page": around("<html><body><pre>{}</pre></body></html>"),
    "html-comment": around("text <!-- {} --> text"),
}
FOR_KNOWN: dict[str, Wrap] = {
    "quoted": around('"{}"'),
    "bold": around("the key: **{}**"),
    "inline-code": around("use `{}` for now"),
    "table": around("| name | value |\n|---|---|\n| main | {} |"),
    "assigned": around('const value = "{}";'),
    "url": around("https://x.example.org/v1/{}/send"),
    "corner-quotes": around("就是「{}」這串"),
}
FOR_NAMED: dict[str, Wrap] = {
    "crlf": around("# settings\r\n{}\r\nport=1\r\n"),
    "middle": around("first line\n{}\nlast line\n"),
}
FOR_PASSWORDS = (
    "**Password:** {}",
    "**Password**: {}",
    "| password | {} |",
    "password: `{}`",
    "- 密碼：**{}**",
    "*Password*: {}",
    "Password :\n{}",
    "<li><strong>Password</strong>: {}</li>",
    r"{\"password\":\"{}\"}",
    "密码（wifi）：{}",
    "password (temporary): {}",
    "| 使用者 | 密碼 |\n|---|---|\n| bob | {} |",
)
FOR_FIELDS = (
    '<input value="{}" type="password">',
    "<input id='p1' value='{}' name='db_password'>",
    "<input type=password value={}>",
    '<div class="row" data-password="{}"></div>',
    '<a href="https://deploy:{}@git.example.org/app">app</a>',
    "<form action='/login?user=bob&password={}'>",
    "[password]({})",
    "![my password]({})",
    "[WiFi password](<{}>)",
    '[password](https://nas.example.org "{}")',
    "[密碼]({})",
)
"""Passwords in the attributes of tags, in any order, and where a link leads."""
FOR_FIELDS_OF_KEYS = (
    '<meta name="api-key" content="{}">',
    '<meta content="{}" name="api-key">',
    "<script data-api-key='{}'></script>",
    "[API key]({})",
)
IN_ATTRIBUTES = (
    '<input value="{}">',
    "<img src='a.png' alt='{}'>",
    '<div data-note="{}"></div>',
    '[notes](https://a.example.org "{}")',
)
"""Around whatever announces its secret itself."""


def secret_items(seed: int = SEED) -> Iterator[Item]:
    """The labelled secrets: every kind in several wrappings."""
    maker = Maker(seed)
    for kind, make in KNOWN.items():
        yield from _wrapped(maker, kind, WRAPPINGS | FOR_KNOWN, make, ("{}",))
    for kind, make in KEYS.items():
        yield from _wrapped(maker, kind, WRAPPINGS, make, ("{}",))
    for kind, (make, frames) in NAMED.items():
        yield from _wrapped(maker, kind, WRAPPINGS | FOR_NAMED, make, frames)
    for frame in FOR_PASSWORDS:
        for _ in range(2):
            secret = maker.password() + "5"
            yield Item(frame.replace("{}", secret), (secret,), "password", "decorated")
    for fields, of in ((FOR_FIELDS, Maker.password), (FOR_FIELDS_OF_KEYS, lambda m: m.some(ALNUM, 24))):
        for frame in fields:
            for _ in range(2):
                secret = of(maker)
                yield Item(frame.replace("{}", secret), (secret,), "in-a-field", "field")
    for kind, (make, frames) in NAMED.items():
        secret, around_it = make(maker), maker.random.choice(IN_ATTRIBUTES)
        text = maker.random.choice(frames).replace("{}", secret).replace("{{", "{").replace("}}", "}")
        if not set(text) & set("\"'\n<>|"):
            yield Item(around_it.replace("{}", text), (secret,), kind, "attribute")

    for kind, (make, texts) in WRITTEN.items():
        for frame in texts:
            secret = make(maker)
            text = frame.replace("{}", secret).replace("{{", "{").replace("}}", "}")
            yield Item(text, (secret,), kind, "as written")
        yield from _wrapped(maker, kind, WRAPPINGS | FOR_NAMED, make, texts)


def _wrapped(maker: Maker, kind: str, wrappings: dict[str, Wrap], make: Make, frames: Sequence[str]) -> Iterator[Item]:
    """Secrets of one kind, each in the next of the frames and in another wrapping."""
    names = ["plain", *maker.random.sample([name for name in wrappings if name != "plain"], len(wrappings) - 1)]
    made = 0
    for name, frame in zip(names, cycle(frames), strict=False):
        if made == WRAPPINGS_PER_KIND:
            return
        if name in ("concatenated", "escaped-twice") and frame != "{}":
            continue
        secret = make(maker)
        text = frame.replace("{}", secret).replace("{{", "{").replace("}}", "}")
        if wrapped := wrappings[name](text, secret, maker):
            yield Item(wrapped[0], (wrapped[1],), kind, name)
            made += 1


def ordinary_items() -> Iterator[Item]:
    """The ordinary lines."""
    for path in sorted(ORDINARY.glob("ordinary-*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield Item(line, (), "ordinary", path.stem.removeprefix("ordinary-"))
