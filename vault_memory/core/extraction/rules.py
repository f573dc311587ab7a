"""Rule extraction, stage by stage: from a message to what it says about its person.

1. `masking`: cap the length, refuse orders to the system, blank code, pastes and quotations (offsets are kept);
2. `clauses`: cut into clauses, each with its speaker, mood, time and wish;
3. `styles`, `person`, `language`, `technology`, `abilities`, `topics`: what each clause says, key by key;
4. here: later words win over earlier ones, doubles go, and «remember …» becomes a note (`notes`) where no key took it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType

from vault_memory.core.extraction import (
    abilities,
    artefacts,
    language,
    masking,
    notes,
    person,
    retraction,
    styles,
    technology,
    topics,
)
from vault_memory.core.extraction.clauses import Clause, clauses
from vault_memory.core.extraction.lexicon import Lexicon, default_lexicon
from vault_memory.core.extraction.wished import speaks_of_reply, speaks_of_wording
from vault_memory.core.privacy.private import is_private
from vault_memory.core.privacy.secrets import redact
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.fold import fold
from vault_memory.core.text.phrases import lazily

_OWN_PART = lazily(r"我(?:负责|是|自己|都|就|只|用|写)")
_MY = lazily(r"我|咱|(?<![a-z])(?:my|our|i|we|i'm|i've)(?![a-z])")
_IT = lazily(r"(?<![a-z])(?:it|them)(?![a-z])|它")
"""What stood in the sentence before: «The intro drags. Cut it down.»"""
_COMMENTS = lazily(r"注[释解]|(?<![a-z])comments?(?![a-z])")
_TAUGHT = lazily(
    r"教|解释|讲|说明|介绍|科普|什么|怎么|如何|为什么|啥|咩|乜|点解|点样|差|区别|(?<![a-z])(?:teach|explain|what|what's|how|why|difference|differ|compare|describe|define|walk|understand|intro|eli5|tell)(?![a-z])"
)
"""A wish to be taught: what is to be explained is a topic and nothing else, 教我 React 的 useEffect."""
STYLES = ("theme", "response_style", "code_style", "examples", "design_style")
STYLES_OF_TEXT = ("theme", "response_style", "design_style", "examples")
_BY_THE_WAY = ("recent_topics", *technology.LISTS)
"""What may stand in a note without being its content."""
QUOTE = 120
"""Characters of the clause kept as the reason."""
_NOTHING: Mapping[str, str | list[str]] = MappingProxyType({})


def extract(
    user_msg: str,
    assistant_msg: str = "",
    existing: Mapping[str, str | list[str]] = _NOTHING,
    lexicon: Lexicon | None = None,
) -> list[Signal]:
    """The preferences heard in one turn, in the order of the message.

    `assistant_msg` is the reply the person reacts to: context only, never a source. `existing` is the profile before the
    turn; it decides what can be removed. Pure and deterministic; the time is bounded whatever the length of the message.
    """
    words = lexicon or default_lexicon()
    if not user_msg.strip() or masking.gives_orders_to_the_system(user_msg):
        return []
    message = masking.read(user_msg, words)
    heard: list[Signal] = []
    before = ""
    shown = artefacts.shows_a_text(assistant_msg)
    spoken = clauses(message, words)
    for _, group in groupby(spoken, key=lambda clause: clause.sentence):
        sentence = list(group)
        found = list(_of_sentence(sentence, message, words, existing, bool(assistant_msg.strip()), fold(before)))
        if shown:  # «make it shorter» is said of the letter that was written
            found = [signal for signal in found if signal.key not in STYLES_OF_TEXT or signal.strength != "adjustment"]
        if existing:
            taken = list(_taken_back(sentence, before, message, words, existing))
            if taken:
                gone = {signal.key: signal.value for signal in taken}
                found = [signal for signal in found if not _is_what_goes(signal, gone, sentence, words)] + taken
        before = message.written[sentence[0].start : sentence[-1].end + 1]
        incidental = all(signal.strength == "observed" and signal.key in _BY_THE_WAY for signal in found)
        if incidental and (kept := notes.note(sentence, message, words, told=bool(found))):
            found = [replace(kept, quote=_quote(message, sentence[0].start, sentence[-1].end))]
        heard.extend(found)
    for clause, signal in styles.echoes(spoken, words):
        if not any(signal.key == other.key for other in heard):
            heard.append(replace(signal, quote=_quote(message, clause.start, clause.end)))
    return _resolved(heard)


def _is_what_goes(signal: Signal, gone: Mapping[str, str], sentence: list[Clause], lexicon: Lexicon) -> bool:
    """Whether a signal was only the naming of what is taken back: «the no-examples rule can go» wishes for neither."""
    if signal.key in ("code_style", "examples"):
        return signal.key in gone
    if signal.key in ("theme", "response_style", "design_style") and signal.key in gone:
        named = any(styles.names(signal.key, signal.value, clause.text, lexicon) for clause in sentence)
        return gone[signal.key] == signal.value or not named
    return signal.key in topics.KEYS or gone.get(signal.key) == signal.value


def _of_sentence(
    sentence: list[Clause],
    message: masking.Message,
    lexicon: Lexicon,
    existing: Mapping[str, str | list[str]],
    in_reply: bool,
    previous: str,
) -> Iterator[Signal]:
    mine = any(_MY.search(clause.text) for clause in sentence) and not any(clause.others for clause in sentence)
    end = sentence[-1].end
    whole = message.said[sentence[0].start : end]
    about_work = False
    for clause in sentence:
        if clause.others:
            mine = bool(_OWN_PART.search(clause.text))
        mine = mine or bool(_MY.search(clause.text) and not clause.others)
        named = [item for item in message.technologies if clause.start <= item.start < clause.end]
        following = message.said[clause.end : end]
        heard = [
            *styles.wishes(clause, named, lexicon, existing, in_reply),
            *person.statements(clause, message, lexicon, existing),
            *language.reply_language(clause, message, lexicon),
            *technology.roles(clause, named, lexicon, existing, mine),
        ]
        if not (clause.hypothetical or clause.sarcastic):
            told = [
                *abilities.judged(clause, named, message, lexicon),
                *topics.subjects(clause, following, named, message, lexicon),
            ]
            if told and not is_private(message.written[clause.start : clause.end]):
                heard += told
        if any(signal.key == "recent_topics" for signal in heard) and _TAUGHT.search(clause.text):
            heard = [
                signal for signal in heard if not (signal.key in technology.LISTS and signal.strength == "observed")
            ]
        before = message.said[sentence[0].start : clause.start]
        if not heard or (not clause.standing and artefacts.orders_a_text(before + clause.text)):
            continue  # «write a post announcing that I now work with Rust»
        about_work = about_work or artefacts.is_task(whole) or bool(_COMMENTS.search(before))
        about_work = about_work or any(signal.key in ("code_style", "examples", "design_style") for signal in heard)
        made, product = artefacts.is_made(whole), artefacts.is_product(whole)
        quote = _quote(message, clause.start, clause.end)
        for signal in heard:
            if signal.key in STYLES:
                so_far = before
                if signal.value in ("concise", "detailed") and _IT.search(clause.text):
                    so_far = f"{previous} {before}"
                if artefacts.is_spoken_of(signal, clause, so_far, whole, lexicon, in_reply):
                    continue
            if signal.key in ("theme", "design_style") and made and not (clause.standing or clause.likes):
                continue  # «make a dark landing page for the bakery» tells how one page shall be
            if signal.key in ("examples", "response_style") and product and not (clause.standing or clause.likes):
                continue
            if signal.key == "response_style" and _is_of_work(clause, about_work, message):
                continue
            yield replace(signal, quote=quote)


def _is_of_work(clause: Clause, about_work: bool, message: masking.Message) -> bool:
    """Whether a length is not the answers': «too many comments, shorter please», «one sentence each: …»."""
    if clause.wish != "explicit" and message.said[clause.end : clause.end + 1] == ":":
        return True
    return about_work and not (speaks_of_reply(clause.text) or speaks_of_wording(clause.text))


def _taken_back(
    sentence: list[Clause],
    before: str,
    message: masking.Message,
    lexicon: Lexicon,
    existing: Mapping[str, str | list[str]],
) -> Iterator[Signal]:
    start, end = sentence[0].start, sentence[-1].end
    named = [item for item in message.technologies if start - len(before) <= item.start < end]
    for signal in retraction.retractions(sentence, before, named, message, existing, lexicon):
        yield replace(signal, quote=_quote(message, start, end))


def _quote(message: masking.Message, start: int, end: int) -> str:
    written = message.written[start:end].strip()
    return "" if is_private(written) else redact(written).text[:QUOTE]


def _resolved(heard: list[Signal]) -> list[Signal]:
    """Each value once; of several values of a scalar key the last one; nothing both added and removed."""
    last: dict[str, Signal] = {}
    for signal in heard:
        if signal.op == "set":
            last[signal.key] = signal
    removed = {(signal.key, fold(signal.value)) for signal in heard if signal.op == "remove"}
    result: list[Signal] = []
    seen: set[tuple[str, str]] = set()
    for signal in heard:
        identity = (signal.key, fold(signal.value))
        if identity in seen:
            continue
        if signal.op == "set" and last[signal.key] != signal:
            continue
        if signal.op == "remove" and signal.key in last:
            continue
        if signal.op == "add" and identity in removed:
            continue
        seen.add(identity)
        result.append(signal)
    return result
