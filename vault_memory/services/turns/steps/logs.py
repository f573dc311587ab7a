"""What the daily log and MEMORY.md say of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, reading, trailers
from vault_memory.core.diary import daily, outcome, tasks
from vault_memory.core.extraction import asks_to_be_left_out
from vault_memory.core.notes import Turn, journal
from vault_memory.core.privacy import private, secrets
from vault_memory.core.profile import LANGUAGE, LOCALES, Change, Profile, labels_for, language_tag
from vault_memory.core.text import one_line, script_of_last
from vault_memory.core.trailers import Trailers
from vault_memory.services.memories import Kept
from vault_memory.services.redactor import LEFT_OUT
from vault_memory.services.turns.steps.before import TurnBefore, digest_of_conversation
from vault_memory.services.turns.steps.markers import Line
from vault_memory.services.vault import Vault

MAX_SEARCHED_CHARS = 20_000
"""This much of a message is searched for private facts; the logs quote its beginning."""


def with_logs(
    drafts: list[Draft],
    logs: Sequence[FileChange],
    user_id: str,
    at: datetime,
    line: Line,
    reinforced: Sequence[str],
    *,
    waits: bool,
) -> list[Draft]:
    """The commits of a turn, the last one for its logs and the memories that it has `reinforced` (ids): one that
    `waits` becomes part of that before it."""
    if not logs:
        return drafts
    subject = trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}")
    caused_by = Trailers(user=user_id, source=line.source, turn=line.digest)
    message = trailers.with_memories(trailers.render(subject, "", caused_by), reinforced)
    return [*drafts, Draft(message, ASSISTANT, tuple(logs), waits=waits)]


def log_entries(
    vault: Vault,
    turn: Turn,
    source: str,
    at: datetime,
    quote: str,
    changes: Sequence[Change],
    memories: Sequence[Kept],
    cache: ReadCache,
    labels: str,
    taken_back: TurnBefore | None = None,
    *,
    is_reply: bool,
) -> list[FileChange]:
    """The daily log with the turn's request, or with what came of it if the request is there already (`is_reply`);
    MEMORY.md with the task if the reply is long enough to be one. `labels` is the locale of their labels. Neither says
    any more what was said in the turn that is `taken_back`."""
    is_answered = turn.assistant_message or turn.exit_code is not None
    came = outcome(turn.exit_code, labels) if is_answered else ""
    remembered = [each.content for each in memories if each.became == "remembered"]
    skill = private.without_private(turn.skill or "")[0]
    shown_changes = [] if quote == private.PRIVATE else [change.summary() for change in changes]
    told = daily.Request(at, quote, source, digest_of_conversation(turn), skill, came, shown_changes)
    reflection = private.PRIVATE if turn.reflection and private.PRIVATE in quote else reflection_of(turn)[0]

    def in_log(text: str, kept: Callable[[str], str]) -> str:
        if taken_back:
            text = daily.without_words(text, taken_back.source, private.PRIVATE)
        tell = daily.with_reply if is_reply else daily.with_request
        shown = replace(told, words=kept(quote), reflection=kept(reflection), remembered=[*map(kept, remembered)])
        return tell(text, shown, labels)

    def in_memory(text: str, kept: Callable[[str], str]) -> str:
        if taken_back:
            said_at = taken_back.at.astimezone(at.tzinfo)
            text = tasks.without_words(text, said_at, taken_back.words, private.PRIVATE)
        is_task = len(turn.assistant_message or "") > tasks.MEMORY_REPLY_CHARS
        told = tasks.with_turn(text, at, kept(quote), skill, came, labels, is_reply=is_reply)
        return told if is_task else text

    def changed(source: str, edit: Callable[[str, Callable[[str], str]], str]) -> FileChange:
        path, before = layout.user_dir(turn.user_id) / source, cache.read(vault.path(turn.user_id, source))
        reading.check_utf_8(path, before or b"")
        text = (before or b"").decode("utf-8", "surrogateescape")
        after = b""
        for kept in (str, lambda said: secrets.redact(one_line(said)).text, lambda said: said and LEFT_OUT):
            after = edit(text, kept).encode("utf-8", "surrogateescape")
            if not secrets.secrets_added(path, [before], after):
                break  # words of several lines may be a secret on one: history would refuse the log
        return FileChange(path, before, after)

    is_quiet = turn.context is not None and not turn.user_message  # there is nothing to quote
    logs = [] if is_quiet else [changed(layout.daily_source(at.date()), in_log)]
    if taken_back or len(turn.assistant_message or "") > tasks.MEMORY_REPLY_CHARS:
        logs.append(changed(layout.MEMORY_LOG, in_memory))
    return [log for log in logs if log.after != (log.before or b"")]


def quote_of(vault: Vault, turn: Turn) -> tuple[str, Mapping[str, int]]:
    """The turn's message for the logs: without private facts, of which it gives the counts; and nothing of a message
    that is not to be remembered."""
    message = (turn.user_message or "")[:MAX_SEARCHED_CHARS]
    return (private.PRIVATE, {}) if asks_to_be_left_out(message, vault.lexicon()) else private.without_private(message)


def reflection_of(turn: Turn) -> tuple[str, Mapping[str, int]]:
    """The turn's reflection in a line without private facts, and how many of these were in it."""
    return private.without_private(journal.reflection_line(turn.reflection)[:MAX_SEARCHED_CHARS])


def labels_of(said: str, profile: Profile) -> str:
    """The locale of a log's labels in a vault that names none: that of the person's language, else of the script of
    what they said, else of their profile."""
    language = language_tag(str(profile.get(LANGUAGE) or ""))
    found = (labels_for(language), labels_for(script_of_last([said])), profile.locale, LOCALES[0])
    return next(labels for labels in found if labels and (language != "zh" or labels != "en"))
