"""Commit messages: a subject, and the trailers that make the history of preferences a table.

    memory(alice): theme = dark

    Reason: 「我喜歡暗色主題」
    Vault-User: alice
    Vault-Key: theme

Every value is brought to one line, so no text of a person can add a trailer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from vault_memory.core.privacy import redact
from vault_memory.core.profile import Change

_REASON = "Reason"
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*):(?: (.*))?")
# What some program reads as the end of a line, or drops: C0 and C1 controls (NUL would end the message), the Unicode
# separators, and lone surrogates, which UTF-8 cannot encode.
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True)
class Trailers:
    """The trailers of our commits, in the order in which they are written; None leaves one out. `entity` is the id of
    the entity of the graph whose note a commit changes.

    `user` to `strength` describe one change of one preference. `source` is the line of the turn that caused it. The
    next three are commits: `undoes` was taken back, `conflict` lost against the newer value, `restores` has the file's
    content. `renamed_from` is the user's former id. `turn` is the digest of the turn's line, which names one turn on
    every machine and under each id of its person; `source` does not, since each machine counts its own lines. `memory`
    is the id of the typed memory that a commit is about, `mistake` that of the recorded mistake.
    """

    user: str | None = None
    key: str | None = None
    op: str | None = None
    old: str | None = None
    new: str | None = None
    strength: str | None = None
    source: str | None = None
    undoes: str | None = None
    conflict: str | None = None
    restores: str | None = None
    renamed_from: str | None = None
    turn: str | None = None
    entity: str | None = None
    memory: str | None = None
    mistake: str | None = None

    @classmethod
    def of_change(cls, user_id: str, change: Change, source: str = "") -> Trailers:
        """The trailers for a change of a user's preference; `source` is the line of the turn, if a turn caused it."""
        return cls(
            user_id,
            change.key,
            change.op,
            change.old,
            change.new,
            change.strength,
            source=source or None,
            undoes=change.undoes or None,
        )

    @classmethod
    def read(cls, trailers: Mapping[str, str]) -> Trailers:
        """Our trailers among those of any commit."""
        return cls(**{name: trailers.get(key) for name, key in KEYS.items()})


KEYS = {row.name: f"Vault-{row.name.replace('_', '-').title()}" for row in fields(Trailers)}
"""Field of `Trailers` → its key in a commit: `renamed_from` → `Vault-Renamed-From`."""


_TURN = re.compile(rf"^{KEYS['turn']}: ([0-9a-f]{{8}})$", re.MULTILINE)
_MEMORY = re.compile(rf"^{KEYS['memory']}: (\S+)$", re.MULTILINE)
MAX_MEMORIES = 500
"""So many memories a message names at most: a job may count the recalls of thousands."""
_LOGS = re.compile(
    r"log\((?P<user>[^()\s]+)\): (?:\d+ turns, )?(?P<day>\d{4}-\d\d-\d\d) (?P<from>\d\d:\d\d)"
    r"(?: to (?:(?P<last_day>\d{4}-\d\d-\d\d) )?(?P<to>\d\d:\d\d))?\n"
)


@dataclass(frozen=True)
class Message:
    """A parsed commit message; `reason` is the quote without its brackets, `body` the text that is not a trailer."""

    subject: str
    reason: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


def single_line(text: str) -> str:
    """The text on one line: each run of blanks, line breaks and control characters becomes one blank."""
    return _BREAKS.sub(" ", text).strip()


def _shown(text: str) -> str:
    return redact(single_line(text)).text


def render(subject: str, reason: str = "", trailers: Trailers | None = None) -> str:
    """The message of a commit, each value on one line. Secrets are redacted: a person may have written one by hand, and
    taken it out again."""
    lines = [f"{_REASON}: 「{_shown(reason)}」"] if single_line(reason) else []
    for name, key in KEYS.items() if trailers else ():
        value = getattr(trailers, name)
        if value is not None:
            lines.append(f"{key}: {_shown(value) if name in ('old', 'new') else single_line(value)}".rstrip())
    head = _shown(subject) + "\n"
    return head + "\n" + "\n".join(lines) + "\n" if lines else head


def turns_of(message: str) -> list[str]:
    """The digests of the turns whose entries in logs a commit of ours holds."""
    return _TURN.findall(message)


def with_turns(message: str, turns: Iterable[str]) -> str:
    """A message of ours that names these turns, too, each once."""
    named = turns_of(message)
    return _with_lines(message, [f"{KEYS['turn']}: {turn}\n" for turn in dict.fromkeys(turns) if turn not in named])


def memories_of(message: str) -> list[str]:
    """The ids of the typed memories that a commit of ours names."""
    return _MEMORY.findall(message)


def with_memories(message: str, ids: Iterable[str]) -> str:
    """A message of ours that names these typed memories, too, each once; of very many the first `MAX_MEMORIES`."""
    named = memories_of(message)
    new = [each for each in dict.fromkeys(ids) if each not in named][: max(0, MAX_MEMORIES - len(named))]
    return _with_lines(message, [f"{KEYS['memory']}: {single_line(each)}\n" for each in new])


def _with_lines(message: str, lines: list[str]) -> str:
    text = message.rstrip("\n") + "\n"
    return text + ("" if parse(text).trailers or not lines else "\n") + "".join(lines)


def without_turns(message: str) -> str:
    """A message but for the turns that it names."""
    return _TURN.sub("", message).strip()


def logs_subject(user_id: str, first: str, last: str = "", count: int = 1) -> str:
    """The subject of a commit that holds the entries of one turn, or of `count` from the first to the last. Times are
    `2026-01-30 14:05`."""
    if count == 1:
        return f"log({user_id}): {first}"
    day = first[: first.index(" ") + 1]
    return f"log({user_id}): {count} turns, {first} to {last.removeprefix(day)}"


def joined_logs(earlier: str, later: str) -> str:
    """The message of one commit that holds the entries of two messages of `logs_subject`. Of which lines of the record
    they are the log itself says; `Vault-Turn` names each."""
    first, last = _LOGS.match(earlier), _LOGS.match(later)
    turns, memories = [*turns_of(earlier), *turns_of(later)], [*memories_of(earlier), *memories_of(later)]
    if not (first and last):
        return with_memories(with_turns(later, turns), memories)
    times = [f"{each['day']} {each['from']}" for each in (first, last)]
    times += [f"{each['last_day'] or each['day']} {each['to']}" for each in (first, last) if each["to"]]
    subject = logs_subject(last["user"], min(times), max(times), len(dict.fromkeys(turns)) or 1)
    return with_memories(with_turns(render(subject, "", Trailers(user=last["user"])), turns), memories)


def parse(message: str) -> Message:
    """Parse any commit message, ours or a person's. The trailers are the last paragraph, if it has nothing else.

    Of a repeated key the last value counts, as `git interpret-trailers` shows it last.
    """
    subject, _, rest = message.replace("\r\n", "\n").strip("\n").partition("\n")
    paragraphs = re.split(r"\n[ \t]*\n", rest.strip("\n")) if rest.strip() else []
    values: dict[str, str] = {}
    if paragraphs and rest.startswith("\n"):
        matches = [_TRAILER.fullmatch(line.rstrip()) for line in paragraphs[-1].split("\n")]
        if all(matches):
            values = {m[1]: m[2] or "" for m in matches if m}
            paragraphs.pop()
    reason = values.pop(_REASON, "")
    if reason.startswith("「") and reason.endswith("」"):
        reason = reason[1:-1]
    return Message(subject.strip(), reason, values, "\n\n".join(paragraphs))
