"""What a profile has learned from sentences that are to be forgotten: it goes with them, unless something else is a
reason for it, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from vault_memory.core.profile import FIELDS, Row, Signal, Suggestion, newest_rows, subject
from vault_memory.core.text import same
from vault_memory.services.profiles.history import history
from vault_memory.services.profiles.profile_files import ProfileFiles

_LOOKED_BACK = 40
"""So many of a key's newest changes are looked at for the last one of a value."""


@dataclass(frozen=True)
class Unlearned:
    """What goes from a profile: `signals` that remove its values, and the suggestions that nobody needs to decide any
    more (`dismissed`). `stays` says in words which values stay all the same, and why; `learned_from` are the sentences
    from which those that go were learned."""

    signals: tuple[Signal, ...] = ()
    dismissed: tuple[Suggestion, ...] = ()
    stays: tuple[str, ...] = ()
    learned_from: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """What would go, in words: `timezone = America/New_York`, `tools += Docker`."""
        return tuple(value_in_words(each.key, each.value) for each in self.signals)

    def only(self, values: Sequence[str]) -> Unlearned:
        """Of what goes only these values, in words."""
        signals = tuple(each for each in self.signals if value_in_words(each.key, each.value) in values)
        return replace(self, signals=signals)


def value_in_words(key: str, value: str) -> str:
    """A value as commands and logs say it."""
    return f"{key} {'=' if FIELDS[key].form == 'scalar' else '+='} {value}"


def unlearned(
    state: ProfileFiles,
    is_forgotten: Callable[[Row], bool],
    quote: str = "",
    named: Sequence[Signal] = (),
    is_beside: Callable[[Row], bool] = lambda _: False,
    is_stated: Callable[[Row], bool] = lambda _: False,
) -> Unlearned:
    """What goes from a profile when the rows of evidence go that `is_forgotten` names. `quote` is the request, for the
    history; of what the request itself has `named` as a preference nothing is decided here. What stands `is_beside` in
    a sentence that goes, and is not meant, stays, and is told. Where no row of a value is meant by its words, those are
    whose value the request has stated (`is_stated`): «I use Figma», of «I draw with Figma».

    A value goes if each row that names it goes. It stays where the person has set it, by a command or by hand, or
    another turn says it, too. What a value was before does not come back: `undo` and `pref restore` do that.
    """
    signals: list[Signal] = []
    stays: list[str] = []
    learned_from: list[str] = []
    decided = {subject(each.key, each.cleaned()): each.op for each in named}
    for key in FIELDS:
        for item in state.profile.items(key):
            rows = [*_reasons(state, key, item.value)]
            heard = [row for row in rows if row.strength != "manual"]
            if op := decided.get(subject(key, item.value)):
                learned_from += [row.quote for row in heard if op == "remove"]
                continue
            unset = f"vault-memory pref unset --user {state.user_id} {key}"
            meant = [row for row in heard if is_forgotten(row)] or [row for row in heard if is_stated(row)]
            if not meant:
                if any(map(is_beside, heard)):
                    why = "it was said in the same breath, and not named"
                    stays.append(f"{value_in_words(key, item.value)} stays in USER.md: {why} (`{unset}` removes it)")
                continue
            others = [row for row in rows if row not in meant]
            if why := _why_it_stays(state, key, item.value, others):
                stays.append(f"{value_in_words(key, item.value)} stays in USER.md: {why} (`{unset}` removes it)")
            else:
                signals.append(Signal(key, "remove", item.value, "explicit", quote))
                learned_from += [row.quote for row in meant]
    asked = [each for each in state.open_suggestions() if _is_of_forgotten(state, each, is_forgotten)]
    dismissed = tuple(replace(each, suggestion="dismissed") for each in asked)
    return Unlearned(tuple(signals), dismissed, tuple(stays), tuple(filter(None, learned_from)))


def _reasons(state: ProfileFiles, key: str, value: str) -> Iterator[Row]:
    """The rows of evidence for a value that is in the profile, newest first, back to when it came there."""
    is_scalar = FIELDS[key].form == "scalar"
    for row in newest_rows(state.feedback, b'"' + key.encode() + b'"'):
        if row.key != key or row.suggestion:
            continue
        is_it = same(row.value, value)
        if row.applied and ((is_it and row.op == "remove") or (is_scalar and not is_it)):
            return
        if is_it and row.op != "remove":
            yield row


def _why_it_stays(state: ProfileFiles, key: str, value: str, others: list[Row]) -> str:
    """Why a value stays that is learned from what is forgotten, and from `others`; "" if it does not."""
    if any(row.strength == "manual" for row in others):
        return "you set it yourself"
    if others:
        return f"it is said in another turn, too: {others[0].quote or others[0].source}"
    changes = history(state.vault, state.user_id, key, limit=_LOOKED_BACK)
    if FIELDS[key].form != "scalar":
        changes = [each for each in changes if same(value, each.new or each.old)]
    return "you wrote it there yourself" if changes and not changes[0].source else ""


def _is_of_forgotten(state: ProfileFiles, suggestion: Suggestion, is_forgotten: Callable[[Row], bool]) -> bool:
    rows = newest_rows(state.feedback, b'"suggestion": "open"')
    mine = (row for row in rows if (row.key, row.value) == (suggestion.key, suggestion.value))
    return all(map(is_forgotten, mine))
