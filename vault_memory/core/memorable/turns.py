"""A turn: what of it is worth a memory, cut to its clauses, without secrets and private facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby

from vault_memory.core.extraction import Clause, HeardTurn, Lexicon, load_lexicon, read_turn, unreal_spans
from vault_memory.core.memorable.asked.requests import asked_spans, asks_to_forget
from vault_memory.core.memorable.ending import is_second
from vault_memory.core.memorable.kinds import (
    Kind,
    announces,
    change_of,
    is_lesson,
    is_matter,
    kind_of,
    opening,
    stands_alone,
)
from vault_memory.core.memorable.parts import goes_on_with_list
from vault_memory.core.memorable.saying import change_in, goes_on, is_corrected, says_a_change
from vault_memory.core.privacy import is_private, names_a_contact, redact, secrets
from vault_memory.core.text import lazily, one_line

MAX_CONTENT_CHARS, MIN_CONTENT_CHARS = 200, 3
IMPORTANCE = {"preference": 0.5, "fact": 0.5, "decision": 0.6, "lesson": 0.6}
STRONG, ASKED = 0.1, 0.7
"""Added where it is said strongly («always», 最); the importance of what the person asks to have remembered."""
_REDACTED = "[redacted"
MAX_QUOTED_CHARS = 60
"""A longer quotation is not what the person likes or uses."""
_BRACKETS = {"「": "」", "『": "』", "《": "》", "“": "”", '"': '"', "'": "'", "`": "`"}
_MAKE = lazily(r"^(?P<of>i|we|我们?)(?: [a-z]{2,12}|(?<=[我们])[\u4e00-\u9fff]{2,4})$")
"""Somebody, and what they do in one word."""
_GERUND = lazily(r"^(?:[a-z]+ )?(?:[a-z]+ing|at|in|with|an?)(?![a-z])")
_ADDS = lazily(r"^ ?(?:and|or|nor)(?! (?:now|remember|please))(?![a-z])|^(?:和|跟|以及|还有|或)")
_ADVERB_ENDS = lazily("[也都]$")
_QUOTED = "〇"
"""Stands in a clause for what it quotes."""


@dataclass(frozen=True, kw_only=True)
class Memorable:
    """What a person said of himself or herself.

    `content` is the clause on one line, at most `MAX_CONTENT_CHARS` characters. `quote` is `user_msg[start:end]`.
    `importance` is between 0 and 1.
    """

    kind: Kind
    content: str
    quote: str
    start: int
    end: int
    importance: float
    is_only_a_change: bool = False
    """It is worth a memory only in the place of one that it ends: 我把本田賣了."""


def memorable(
    user_msg: str, assistant_msg: str = "", lexicon: Lexicon | None = None, *, with_changes: bool = False
) -> list[Memorable]:
    """What one turn says that is worth a memory, in the order of the message; each content once.

    `assistant_msg` is the reply before the message: context only, never a source. Pure and deterministic; the time is
    bounded for a message of any length. Nothing of a turn that asks not to be remembered or orders the system about;
    of one that works on a text or plays a role, what is said beside that. `with_changes`: with what is worth a memory
    only where there is one that it ends.
    """
    lexicon = lexicon or load_lexicon()
    turn = read_turn(user_msg, assistant_msg, {}, lexicon)
    if turn is None or turn.is_refused:
        return []
    found: dict[str, Memorable] = {}
    # Before it is cut into sentences: a password may hold what ends one.
    hidden = [(start, end) for start, end, _ in secrets.secret_spans(turn.message.written)]
    asked = asked_spans(turn)
    unreal = {start for start, _ in unreal_spans(turn.clauses, lexicon)}
    told = (replace(each, is_hypothetical=True) if each.start in unreal else each for each in turn.clauses)
    clauses = (_with_what_it_quotes(clause, turn) for clause in _with_their_verbs(told))
    sentences = _with_what_is_instead([list(group) for _, group in groupby(clauses, key=lambda each: each.sentence)])
    for sentence in _own(sentences, turn):
        if any(start <= sentence[-1].end and sentence[0].start <= end for start, end in hidden):
            continue
        for rest in _beside_requests(sentence, asked, lexicon):
            for each in _of_sentence(rest, user_msg, turn, with_changes=with_changes):
                found.setdefault(each.content, each)
    return list(found.values())


def _beside_requests(
    sentence: list[Clause], asked: Sequence[tuple[int, int]], lexicon: Lexicon
) -> Iterator[list[Clause]]:
    """What a sentence says before, between and behind its requests to forget, which are `asked` there: «I live in York
    now» behind «forget that I live in Leeds». What is before one that names nothing itself may all be meant by it; so
    may what goes on with it («…, have a dog, and I like tea»)."""
    rest: list[Clause] = []
    is_listing = False
    for clause in sentence:
        begun = [start for start, end in asked if start <= clause.start < end]
        is_request = asks_to_forget(clause, lexicon)
        if not (begun or is_request):
            is_more = is_listing and _ADDS.match(clause.text) and not says_a_change(clause.text)
            is_listing = is_listing and not clause.is_first_person
            rest = [] if is_more else [*rest, clause]
            continue
        if rest and is_request and clause.start in begun:
            yield rest
        rest, is_listing = [], True
    if rest:
        yield rest


def _own(sentences: list[list[Clause]], turn: HeardTurn) -> list[list[Clause]]:
    """The sentences that are not of a text to work on or of a role: where one asks for that, those before it, if the
    text follows (a quotation, a paste: what is no speech), and those from one on that says that the person goes on."""
    speech, written = turn.message.speech, turn.message.written
    ends = [*(sentence[0].start for sentence in sentences[1:]), len(speech)][: len(sentences)]
    own: list[list[Clause]] = []
    is_given = False
    for sentence, end in zip(sentences, ends, strict=True):
        start = sentence[0].start
        if turn.lexicon.words("memorable.own.given").search(speech[start:end]):
            has_text = len("".join(speech[start:end].split())) < len("".join(written[start:end].split()))
            own = own if is_given or has_text else []
            is_given = True
        elif is_given and turn.lexicon.words("voices.back.opens").match(sentence[0].text):
            is_given = False
        if not is_given:
            own.append(sentence)
    return own


def _with_what_is_instead(sentences: list[list[Clause]]) -> list[list[Clause]]:
    """The sentences; one that says what is so instead of what the one before ends is one with it."""
    joined: list[list[Clause]] = []
    for sentence in sentences:
        if joined and goes_on(sentence[0].text) and change_in(joined[-1][-1].text):
            joined[-1] = [*joined[-1], *sentence]
        else:
            joined.append(sentence)
    return joined


def _with_their_verbs(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """The clauses; one that ends with an adverb is one with that right behind it, which has the verb: 台南也 and 还有住
    are cut before what may be another thing."""
    held: Clause | None = None
    for clause in clauses:
        if held and held.end == clause.start:
            clause = replace(clause, text=held.text + clause.text, start=held.start, **_meant_as_both(held, clause))
        elif held:
            yield held
        held = clause if _ADVERB_ENDS.search(clause.text) else None
        if held is None:
            yield clause
    if held:
        yield held


def _meant_as_both(one: Clause, other: Clause) -> dict[str, bool]:
    """How a clause is meant of which two are parts: what is said of either is said of it."""
    flags = [each.name for each in fields(Clause) if isinstance(getattr(one, each.name), bool)]
    return {name: getattr(one, name) or getattr(other, name) for name in flags}


def _with_what_it_quotes(clause: Clause, turn: HeardTurn) -> Clause:
    """The clause, longer by the title, quotation or link right behind it, which is no speech: 我喜歡《小王子》."""
    message = turn.message
    written = message.written[clause.end : clause.end + MAX_QUOTED_CHARS]
    start = len(written) - len(written.lstrip(" "))
    if start == len(written) or written[start] == "\n" or message.speech[clause.end + start] != " ":
        return clause
    closing = _BRACKETS.get(written[start])
    blank = message.speech[clause.end : clause.end + MAX_QUOTED_CHARS]
    closed = written.find(closing, start + 1) + 1 if closing else 0
    end = closed or len(blank) - len(blank.lstrip(" "))
    if not 0 < end < MAX_QUOTED_CHARS:
        return clause
    return replace(clause, text=f"{clause.text} {_QUOTED}", end=clause.end + len(written[:end].rstrip()))


def _of_sentence(sentence: list[Clause], user_msg: str, turn: HeardTurn, *, with_changes: bool) -> Iterator[Memorable]:
    """What a sentence says; clauses of one kind that follow each other are one memory."""
    written = turn.message.written[sentence[0].start : sentence[-1].end]
    if _REDACTED in written or is_private(written) or names_a_contact(written) or redact(written).counts:
        return
    runs = [(*run, False) for run in _runs(sentence, turn)]
    if with_changes:
        runs += [(*change, True) for change in _changes(sentence, runs, turn.lexicon)]
    for kind, first, last, is_only_a_change in sorted(runs, key=lambda run: run[1].start):
        start = first.start + opening(first.text, turn.lexicon)
        if kind == "decision" and is_lesson(turn.message.speech[start : last.end], turn.lexicon):
            kind = "lesson"
        at, until = turn.message.place(start), turn.message.place(last.end)
        quote = user_msg[at:until].rstrip()
        content = one_line(quote)[:MAX_CONTENT_CHARS].strip()
        if len(content) >= MIN_CONTENT_CHARS:
            importance = _importance(kind, turn.message.speech[start : last.end], turn.lexicon)
            yield Memorable(
                kind=kind,
                content=content,
                quote=quote,
                start=at,
                end=at + len(quote),
                importance=importance,
                is_only_a_change=is_only_a_change,
            )


def _runs(sentence: list[Clause], turn: HeardTurn) -> Iterator[tuple[Kind, Clause, Clause]]:
    """(kind, first clause, last clause) of each memory in a sentence."""
    lexicon = turn.lexicon
    run: tuple[Kind, Clause, Clause] | None = None
    chain = sentence[0]  # where those of one make begin
    is_announced = False  # its matter is still to come
    for before, clause in zip([None, *sentence], sentence, strict=False):
        kind = kind_of(clause, run is not None, lexicon)
        led = before if before and run is None and _is_led_by(before, clause) else None
        if led and kind is None:
            kind = kind_of(_of_its_person(clause), False, lexicon)
        is_alone = kind is not None and stands_alone(clause, lexicon)
        is_behind_colon = before is not None and ":" in turn.message.speech[before.end : clause.start]
        is_held = (
            is_announced
            and run is not None
            and not clause.asks_to_know
            and is_matter(clause.text, run[2].text, lexicon, is_behind_colon=is_behind_colon)
        )
        is_next = is_held or (run is not None and kind == run[0])
        chain = chain if before and _is_of_one_make(before, clause, lexicon) else led or clause
        is_more = False
        if kind is None and run is not None and before is run[2]:
            is_more = _says_more(before, clause, lexicon) or _is_of_list(sentence, run, clause)
        if kind is None and run is not None and run[0] == "decision" and is_behind_colon and not is_announced:
            is_more = True
        if run and (is_next or is_more or (kind and not is_alone) or _continues(clause, kind, lexicon)):
            run, is_announced = (run[0], run[1], clause), False
            continue
        if run and not is_announced:
            yield run
        run = (kind, chain, clause) if kind and is_alone else None
        is_announced = kind == "decision" and announces(clause.text, lexicon)
    if run and not is_announced:
        yield run


def _is_led_by(before: Clause, clause: Clause) -> bool:
    """Whether a clause without a subject says what is so now, behind one that says what its person has changed:
    現在當老師 behind 我換工作了. It speaks of the same person."""
    is_told = before.is_first_person and before.is_meant and not before.asks_to_know and says_a_change(before.text)
    return is_told and not (clause.is_about_others or clause.is_first_person) and goes_on(clause.text)


def _of_its_person(clause: Clause) -> Clause:
    """The clause with its person as the subject."""
    subject = ("i am " if _GERUND.search(clause.text) else "i ") if clause.text.isascii() else "我"
    return replace(clause, text=f"{subject}{clause.text}", is_first_person=True)


def _changes(
    sentence: list[Clause], runs: list[tuple[Kind, Clause, Clause, bool]], lexicon: Lexicon
) -> Iterator[tuple[Kind, Clause, Clause]]:
    """The same of the clauses in no memory that may end one, with those behind it that say what is so instead."""
    change: tuple[Kind, Clause, Clause] | None = None
    for clause, following in zip(sentence, [*sentence[1:], None], strict=True):
        is_free = not any(first.start <= clause.start <= last.start for _, first, last, _ in runs)
        kind = change_of(clause, following, lexicon) if is_free else None
        is_told_with = goes_on(clause.text) or is_second(clause.text)
        is_instead = change is not None and (is_told_with or is_corrected(change[2].text, clause.text))
        if change and is_free and (kind or (is_instead and not clause.asks_to_know)):
            change = (change[0], change[1], clause)
            continue
        if change:
            yield change
        change = (kind, clause, clause) if kind else None
    if change:
        yield change


def _continues(clause: Clause, kind: Kind | None, lexicon: Lexicon) -> bool:
    """Whether a clause goes on with what the one before says: «named Biscuit», 因為團隊比較熟."""
    goes_on = lexicon.words("memorable.own.continues").match(clause.text)
    return goes_on is not None and kind is None and not clause.asks_to_know


def _says_more(before: Clause, clause: Clause, lexicon: Lexicon) -> bool:
    """Whether a clause says what is so instead of what the one before ends, or that this one is so beside something,
    or is of one make with it."""
    if clause.asks_to_know or clause.is_hypothetical or clause.is_past or clause.is_once:
        return False
    is_instead = change_in(before.text) is not None and goes_on(clause.text)
    return is_instead or is_second(clause.text) or _is_of_one_make(before, clause, lexicon)


def _is_of_list(sentence: list[Clause], run: tuple[Kind, Clause, Clause], clause: Clause) -> bool:
    """Whether a clause goes on with a list: «coffee and cocoa» behind «I like tea»."""
    begun = ", ".join(each.text for each in sentence if run[1].start <= each.start <= run[2].start)
    return not clause.asks_to_know and goes_on_with_list(begun, clause.text)


def _is_of_one_make(before: Clause, clause: Clause, lexicon: Lexicon) -> bool:
    """Whether two clauses each say in a word what the person does: «I dance, I cook, I sing», 我跳舞，我唱歌."""
    texts = [each.text.strip(" .!。") for each in (before, clause)]
    makes = [_MAKE.match(text) for text in texts if opening(text, lexicon) < len(text)]
    return len({make["of"] for make in makes if make}) == 1 and len(makes) == 2 and all(makes)


def _importance(kind: Kind, said: str, lexicon: Lexicon) -> float:
    if lexicon.words("subjects.remember.before").search(said):
        return ASKED
    strong = lexicon.words("memorable.own.strong").search(said)
    return round(IMPORTANCE[kind] + (STRONG if strong else 0), 2)
