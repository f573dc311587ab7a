"""A memory in its parts, each of which may go alone: «I play the oboe and I keep three goldfish», 我喜歡壽司，討厭橄欖,
«I like tea, coffee and cocoa». What says nothing by itself, as a reason does, belongs to the part before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from vault_memory.core.extraction import load_lexicon, speaker
from vault_memory.core.memorable.ending import without_count
from vault_memory.core.memorable.wording import DO, LIKE, MAX_CHARS, Saying, read_saying, says_something
from vault_memory.core.text import fold, lazily

_SEPARATOR = re.compile(
    r"\s*(?:[,;，；、。!?！？]|[.](?=\s))\s*(?:(?:and|but|or)\s+)?(?:(?:also|too)\s+)?(?:而且|但是?|以及)?(?:[还還]有|也|[还還](?!是))?"
    r"|\s+(?:and|but|or|as well as|&)\s+(?:also\s+)?|\s*(?:以及|[还還]有|而且|但是|[和跟與与])\s*"
)
_JOINS_THINGS = re.compile("[和跟與与]")
_ADDS = re.compile("and|also|too|而且|以及|[还還]|也")
"""Says that a clause is about the one who speaks, as the one before: 我有一個弟弟，會彈琴 is not."""
_ASPECT = re.compile("[了过]")
_ENDS = re.compile(r"[\s.。!！]*$")
_PERSON = re.compile(r"^(?:(?:i|we)(?![a-z])|[我咱俺][們们]?)", re.IGNORECASE)
_GERUND = lazily("^[a-z]+ing(?![a-z])")
_OWN = lazily(r"^(?:(?:i|we)(?![a-z])|my |our |(?:我|咱|俺))")
_NO_MEMBER = lazily(
    r"^(?:it|he|she|they|you|this|that|these|those|there|which|who|because|since|as|so|when|if|not|to|for|with|in|on|at"
    r"|especially|particularly|mainly|mostly|including)(?![a-z])|^(?:尤其|特别|主要|还是|包括)|^[他她它你您這这那因所如當当只不]"
)
_BOUNDARY = re.compile(r"(?<=\s)(?=\S)|(?<=[\u3400-\u9fff])")
_OF_ANYTHING = (LIKE, DO)
"""Of these, things of any kind may stand in one list."""
_OF_LIST = ("subject", "relation", "is_so", "act")


@dataclass(frozen=True)
class Cut:
    """What of a text goes (`gone`), each part a statement of its own, and what is left of it: "" if it all goes. `fit`
    is how well that is what was meant, as `Forget.fits` has it."""

    gone: str
    left: str
    fit: int


@dataclass(frozen=True)
class _Part:
    """A part: its words, what stands between it and the one before, and with which words of that (`lead`: «I like ») it
    is a statement of its own."""

    text: str
    separator: str = ""
    lead: str = ""

    @property
    def statement(self) -> str:
        return self.lead + self.text


def statements(content: str) -> list[str]:
    """The parts of a text, each as a statement of its own: of «I like tea and coffee» also «I like coffee»."""
    return [part.statement for part in _parts(_without_end(content))]


def goes_on_with_list(before: str, text: str) -> bool:
    """Whether a clause is more of a list of known things that the one before begins: «coffee and cocoa» of «I like tea,
    coffee and cocoa»."""
    begun, listed = read_saying(before), statements(f"{before}, {text}")
    if begun is None or _OWN.match(fold(text)) or len(listed) <= len(statements(before)):
        return False
    said = [each for each in map(read_saying, listed) if each and each.thing.kinds]
    is_of_it = all((each.relation, each.is_so) == (begun.relation, begun.is_so) for each in said)
    return len(said) == len(listed) and is_of_it and all(len(without_count(each.thing.words)) == 1 for each in said)


def without(content: str, fits: Callable[[str], int]) -> Cut | None:
    """A text without the parts that fit best; None if no part does, or each of them does."""
    body = _without_end(content)
    parts = _parts(body)
    found = [fits(part.statement) for part in parts]
    best = max(found)
    going = [0 < best == fit for fit in found]
    if all(going) or not any(going):
        return None
    gone = [part.statement for part, goes in zip(parts, going, strict=True) if goes]
    left = [part for part, goes in zip(parts, going, strict=True) if not goes]
    if len(left) > 1 and going[-1]:  # «tea and coffee» of «tea, coffee and cocoa»
        left[-1] = replace(left[-1], separator=parts[-1].separator)
    return Cut("; ".join(gone), "".join(_written(left)) + content[len(body) :], best)


def _without_end(content: str) -> str:
    end = _ENDS.search(content)
    return content[: end.start()] if end else content


def _written(parts: list[_Part]) -> Iterator[str]:
    before = ""
    for part in parts:
        yield part.separator if before else ""
        yield part.text if before.startswith(part.lead) and before else part.statement
        before = part.statement


def _parts(content: str) -> list[_Part]:
    if len(content) > MAX_CHARS:  # it is read as one
        return [_Part(content)]
    parts: list[_Part] = []
    at, separator = 0, ""
    for found in [*_SEPARATOR.finditer(content), None]:
        text = content[at : found.start()] if found else content[at:]
        lead = _lead(text, separator, parts[-1].statement) if parts else ""
        is_first_read = len(parts) != 1 or read_saying(parts[0].text) is not None
        if parts and (lead is None or not is_first_read):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}{separator}{text}")
        else:
            parts.append(_Part(text, separator, lead or ""))
        if found:
            at, separator = found.end(), found[0]
    return parts


def _lead(text: str, separator: str, before: str) -> str | None:
    """With which first words of the statement before a text is one: none («I keep fish»), its person («keep fish»), or
    what is said of a thing (fish). None if it belongs to the one before."""
    folded = fold(text)
    if not folded or _NO_MEMBER.match(folded) or speaker(folded, load_lexicon()) == "others":
        return None
    if not _JOINS_THINGS.search(separator):  # 我老婆跟我開了一間店
        said, person = read_saying(text), _PERSON.match(before)
        if _OWN.match(folded):
            return "" if said else None
        lead = "" if person is None else f"{person[0]} " if person[0].isascii() else person[0]
        adds = _ADDS.search(separator)
        if lead and not adds and _is_of_family(before):  # 我有一個妹妹，住在台南
            return None
        own = said or (read_saying(lead + text) if adds else None)  # 還會彈吉他
        if lead and own and own.relation != DO and not _GERUND.match(folded) and _names_a_thing(own):
            return lead
    return next(_frames(text, before), None) if not says_something(folded) else None


def _frames(text: str, before: str) -> Iterator[str]:
    """The beginnings of a statement with which another thing of a list is one, the shortest first. Both things are
    known: «rock and roll» is one, and «tea and coffee» are two."""
    said, alone = read_saying(before), read_saying(f"{'I like ' if text.isascii() else '我喜歡'}{text}")
    if said is None or alone is None or not _is_one_known(alone) or not _is_one_known(said):
        return
    for found in _BOUNDARY.finditer(before):
        listed = read_saying(before[: found.start()] + text)
        if listed and listed.thing.is_same(alone.thing) and _is_of_list(listed, said):
            yield before[: found.start()]


def _is_one_known(said: Saying) -> bool:
    """Whether a statement is about one thing of a known kind."""
    return bool(said.thing.kinds) and len(without_count(said.thing.words)) == 1


def _is_of_list(listed: Saying, said: Saying) -> bool:
    """Whether two statements say the same of two things of one list: not «I play the oboe and swim»."""
    is_alike = all(getattr(listed, name) == getattr(said, name) for name in _OF_LIST)
    return is_alike and (said.relation in _OF_ANYTHING or bool(listed.thing.kinds & said.thing.kinds))


def _is_of_family(statement: str) -> bool:
    """Whether a statement says whom its person has: what follows may be said of them."""
    said = read_saying(statement)
    return said is not None and said.relation == "have" and "family" in said.thing.kinds


def _names_a_thing(said: Saying) -> bool:
    """Whether a statement says what it speaks of: not 用了七年."""
    words = without_count(said.thing.words)
    return bool(words) and not any(_ASPECT.match(name) for name in words[0])
