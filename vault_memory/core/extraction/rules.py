"""Rule extraction: from a message to what it says about its person. docs/extraction.md names the stages.

Here clauses become signals: what is said of a document is dropped, stored values are taken back, «remember …» is kept
as a note where no other key took it, and contradictions are resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from types import MappingProxyType

from vault_memory.core.extraction import language, person, skills, speech, styles, topics
from vault_memory.core.extraction.clauses import Clause, clauses
from vault_memory.core.extraction.lexicon import Lexicon, Technology, default_lexicon
from vault_memory.core.privacy import is_private, redact
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold, lazily

MAX_QUOTE_CHARS = 120
"""Most of a clause that is kept as the reason."""
_FREE_TEXT = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")
INCIDENTAL = ("recent_topics", *skills.TECHNOLOGY_LISTS)
"""A note may name one of these and stay a note."""
CONCLUDED = ("timezone", "level")
"""They follow from a fact about the person, and do not tell it: where one lives, what one does."""
NOTHING_STORED: Mapping[str, str | list[str]] = MappingProxyType({})


@dataclass(frozen=True)
class HeardTurn:
    """What the rules know of a turn. `reply`: the one before the message, context only."""

    message: speech.Message
    clauses: list[Clause]
    existing: Mapping[str, str | list[str]]
    reply: str
    lexicon: Lexicon

    @property
    def has_reply(self) -> bool:
        return bool(self.reply.strip())

    @cached_property
    def is_refused(self) -> bool:
        """Whether the person asks that nothing of it be remembered."""
        return _refuses(self.clauses, self.lexicon)

    def allowed(self, signals: list[Signal]) -> list[Signal]:
        """Those of the signals that may be learned: of a turn that is not to be remembered, what it takes back."""
        return [signal for signal in signals if signal.op == "remove"] if self.is_refused else signals

    def quote(self, start: int, end: int) -> str:
        """A stretch of the message as the reason of a signal, without secrets; empty if it is private."""
        written = self.message.written[start:end].strip()
        return "" if is_private(written) else redact(written).text[:MAX_QUOTE_CHARS]


def read_turn(user_msg: str, reply: str, existing: Mapping[str, str | list[str]], lexicon: Lexicon) -> HeardTurn | None:
    """The turn cut into clauses; None if nothing may be learned from it."""
    if not user_msg.strip() or speech.gives_orders_to_the_system(user_msg):
        return None
    message = speech.read(user_msg, lexicon)
    return HeardTurn(message, clauses(message, lexicon), existing, reply, lexicon)


def asks_to_be_left_out(user_msg: str, lexicon: Lexicon) -> bool:
    """Whether the person asks that nothing of a message be remembered."""
    return _refuses(clauses(speech.read(user_msg, lexicon), lexicon), lexicon)


def _refuses(heard: list[Clause], lexicon: Lexicon) -> bool:
    return any(topics.refuses_to_be_remembered(clause.text, lexicon) for clause in heard)


def extract_by_rules(
    user_msg: str,
    assistant_msg: str = "",
    existing: Mapping[str, str | list[str]] = NOTHING_STORED,
    lexicon: Lexicon | None = None,
) -> list[Signal]:
    """The preferences that the rules find in one turn, in the order of the message; see `judge.hearing.extract`."""
    turn = read_turn(user_msg, assistant_msg, existing, lexicon or default_lexicon())
    return turn.allowed(signals_of(turn)) if turn else []


def signals_of(turn: HeardTurn) -> list[Signal]:
    """What the rules find in a turn."""
    lexicon, message = turn.lexicon, turn.message
    after_a_text = turn.has_reply and styles.shows_a_text(turn.reply)
    result: list[Signal] = []
    previous = ""
    unheard: list[Clause] = []
    for _, group in groupby(turn.clauses, key=lambda clause: clause.sentence):
        sentence = list(group)
        start, end = sentence[0].start, sentence[-1].end
        signals = list(_of_sentence(sentence, previous, turn))
        if after_a_text:  # «make it shorter» is about the letter that the reply shows
            signals = [s for s in signals if s.key not in styles.STYLES or s.strength != "adjustment"]
        if turn.existing and (removals := list(_retractions(sentence, previous, turn))):
            removed = {signal.key: signal.value for signal in removals}
            signals = [s for s in signals if not _names_what_goes(s, removed, sentence, lexicon)] + removals
        previous = message.written[start : end + 1]
        incidental = all(signal.strength == "observed" and signal.key in INCIDENTAL for signal in signals)
        note = topics.note(sentence, message, lexicon, has_signals=bool(signals)) if incidental else None
        if not signals and not note and topics.only_asks_to_remember(sentence[-1].text, lexicon):
            if len(sentence) == 1:
                sentence, unheard = unheard, []  # «Our port is 6380. Keep that in mind.»
            note = topics.fact(sentence, message, lexicon) if sentence else None
        if note:
            signals = [replace(note, quote=turn.quote(sentence[0].start, sentence[-1].end))]
        elif incidental and topics.asks_to_remember(message.speech[start:end], lexicon):
            signals = [replace(each, strength="explicit") for each in signals]  # 記住我用 Python
        unheard = [] if signals else sentence
        result.extend(signals)
    for clause, signal in styles.echoes(turn.clauses, lexicon):
        if not any(signal.key == other.key for other in result):
            result.append(replace(signal, quote=turn.quote(clause.start, clause.end)))
    return _resolved(result)


def _of_sentence(sentence: list[Clause], previous: str, turn: HeardTurn) -> Iterator[Signal]:
    """The signals of one sentence; `previous` is the sentence before it, as written."""
    has_person = any(_MY.search(clause.text) for clause in sentence if not clause.is_about_others)
    start, end = sentence[0].start, sentence[-1].end
    speech = turn.message.speech
    for clause in sentence:
        is_about_person = has_person and not clause.is_about_others
        signals = _of_clause(clause, speech[clause.end : end], is_about_person, turn)
        before, whole = speech[start : clause.start], speech[start:end]
        if not signals or (not clause.is_lasting and styles.orders_a_text(before + clause.text, turn.lexicon)):
            continue  # «write a post announcing that I now work with Rust»
        if _IT.search(clause.text):
            before = f"{fold(previous)} {before}"
        quote = turn.quote(clause.start, clause.end)
        for signal in signals:
            if signal.key not in styles.STYLES or not styles.is_of_a_document(
                signal, clause, before, whole, turn.lexicon, turn.has_reply
            ):
                yield replace(signal, quote=quote)


def _of_clause(clause: Clause, following: str, is_about_person: bool, turn: HeardTurn) -> list[Signal]:
    """All signals of one clause, without quotes; `is_about_person`: the sentence is about the person."""
    message, lexicon, existing = turn.message, turn.lexicon, turn.existing
    named = [item for item in message.technologies if clause.start <= item.start < clause.end]
    names_a_language = lexicon.words("people.language").search(clause.text)
    signals = [
        *styles.wishes(clause, named, lexicon, existing, turn.has_reply),
        *person.statements(clause, message, lexicon, existing),
        *(language.reply_language(clause, message, lexicon) if names_a_language else ()),
        *skills.roles(clause, named, lexicon, existing, is_about_person),
    ]
    if not (clause.is_hypothetical or clause.is_sarcastic):
        free_text = [
            *skills.abilities(clause, named, message, lexicon),
            *topics.subjects(clause, following, named, message, lexicon),
        ]
        if free_text and not is_private(message.written[clause.start : clause.end]):
            signals += free_text
    return signals


def _resolved(signals: list[Signal]) -> list[Signal]:
    """Each value once; of a scalar key the last value; nothing that is both added and removed."""
    last = {signal.key: signal for signal in signals if signal.op == "set"}
    removed = {(signal.key, fold(signal.value)) for signal in signals if signal.op == "remove"}
    result: dict[tuple[str, str], Signal] = {}
    for signal in signals:
        value = (signal.key, fold(signal.value))
        gone = {"set": last.get(signal.key) != signal, "remove": signal.key in last, "add": value in removed}
        if not gone[signal.op]:
            result.setdefault(value, signal)
    return list(result.values())


_MY = lazily(r"我|咱|(?<![a-z])(?:my|our|i|we|i'm|i've)(?![a-z])")
_IT = lazily(r"(?<![a-z])(?:it|them)(?![a-z])|它")
"""What the sentence before named: «The intro drags. Cut it down.»"""

# --- retraction -------------------------------------------------------------------------------------------------------


def _retractions(sentence: list[Clause], previous: str, turn: HeardTurn) -> Iterator[Signal]:
    """The stored values that a sentence takes back: «delete that», 那條清掉, «forget the no-examples thing».

    The value itself, or the name of its field, stands in the sentence or in the one before (`previous`).
    """
    start, end = sentence[0].start, sentence[-1].end
    takes_back = turn.lexicon.words("words.negation.takes_back")
    said = (takes_back.search(clause.text) and not clause.asks_to_know for clause in sentence)
    if sentence[0].is_hypothetical or not any(said):
        return
    first = start - len(previous)
    named = [item for item in turn.message.technologies if first <= item.start < end]
    text = fold(turn.message.written[max(0, first) : end])
    for key, stored in turn.existing.items():
        for value in [stored] if isinstance(stored, str) else stored:
            if _is_named(key, value, text, named, turn.lexicon):
                yield Signal(key, "remove", value, "explicit", turn.quote(start, end))


def takes_back_the_last(said: str, lexicon: Lexicon) -> bool:
    """Whether a message says that the one before it does not count, or is not to be remembered: «scratch that»,
    當我沒說, «please don't remember that», 剛剛那個不要記.

    It says nothing else; or its first sentence says nothing else, and names what was before («that», 剛剛).
    """
    text = fold(said)
    listed = lexicon.words("words.negation.takes_back_the_last")
    if not (listed.search(text) or lexicon.words("subjects.refused.near").search(text)):
        return False
    if lexicon.words("words.negation.insisting").search(text):
        return False
    heard = clauses(speech.read(said, lexicon), lexicon)
    if topics.says_no_more(text, lexicon):
        return _takes_back(heard, lexicon)
    sentences = [list(group) for _, group in groupby(heard, key=lambda clause: clause.sentence)]
    first, then = next((pair for pair in pairwise([*sentences, []]) if not _is_courtesy(pair[0], lexicon)), ([], []))
    if not then or not any(lexicon.words("subjects.refused.back").search(clause.text) for clause in first):
        return False
    if not _refuses(first, lexicon):
        return False  # «Scratch that. Start with the goose instead.»
    return topics.says_no_more(fold(said[: then[0].start]), lexicon) and _takes_back(first, lexicon)


def _takes_back(heard: list[Clause], lexicon: Lexicon) -> bool:
    """Whether clauses ask that what was said is not remembered, or does not count."""
    listed = lexicon.words("words.negation.takes_back_the_last")
    return any(
        listed.search(each.text) or topics.refuses_to_be_remembered(each.text, lexicon) for each in heard
    ) and not any(
        lexicon.words("subjects.refused.ahead").search(each.text) or lexicon.shape(_NOT_TO_FORGET).search(each.text)
        for each in heard
    )


_NOT_TO_FORGET = r"(?:{subjects.refused.orders}|{subjects.refused.unwanted}(?: to)?)\s?{subjects.refused.forgets}"
"""«don't forget that», «I don't want to forget that», 別忘了剛剛那個."""


def _is_courtesy(sentence: list[Clause], lexicon: Lexicon) -> bool:
    """Whether a sentence says nothing: «oh wait», 抱歉."""
    polite = lexicon.words("words.negation.polite")
    return all(not re.search(r"[^\W_]", polite.sub(" ", each.text)) for each in sentence)


def _is_named(key: str, value: str, text: str, named: list[Technology], lexicon: Lexicon) -> bool:
    """Whether a text names a stored value, or the profile together with the field of the value."""
    if key in _FREE_TEXT:
        return shared_words(fold(value), text) is not None
    if key in skills.TECHNOLOGY_LISTS:
        known = lexicon.names.get(fold(value), (value, ""))[0]
        return any(fold(item.name) == fold(known) for item in named)
    if fold(value) in text and key in ("display_name", "timezone"):
        return True
    label = lexicon.words(f"words.labels.{key}").search(text)
    return bool(label) and bool(lexicon.words("words.labels.profile").search(text))


def shared_words(value: str, text: str) -> tuple[int, int] | None:
    """Where a text contains a Latin word of the value (five letters or more), all of a Latin value, or two adjacent Han
    characters of it (three, if it has more than five); None where it does not. Both are folded."""
    words = re.findall(r"[a-z]{5,}", value)
    if value.isascii() and (whole := re.search(rf"(?<![a-z0-9]){re.escape(value)}(?![a-z0-9+#])", text)):
        return whole.span()
    han = re.sub(r"[^\u3400-\u9fff]", "", value)
    width = 2 if len(han) <= 5 else 3
    for part in (*words, *(han[at : at + width] for at in range(len(han) - width + 1))):
        if (at := text.find(part)) >= 0:
            return at, at + len(part)
    return None


def _names_what_goes(signal: Signal, removed: Mapping[str, str], sentence: list[Clause], lexicon: Lexicon) -> bool:
    """Whether a signal only names what the sentence takes back: «the no-examples rule can go» wishes for nothing."""
    if signal.key in styles.STYLES and signal.key in removed:
        named = any(styles.names(signal.key, signal.value, clause.text, lexicon) for clause in sentence)
        return removed[signal.key] == signal.value or not named
    return signal.key in _FREE_TEXT or removed.get(signal.key) == signal.value
