"""What a person asks to be forgotten of what was said: «forget that I like coffee», 忘掉我喜歡咖啡這件事."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.core.extraction import Clause, Lexicon, load_lexicon, read_turn
from vault_memory.core.memorable.kinds import opening
from vault_memory.core.text import fold, is_carried, lazily, tokens

_FORGET = r"(?:{memorable.own.forget})"
_ABOUT = r"(?:{memorable.own.forget_about})"
_REST = r"(?:[\s,:~]|{memorable.own.forget_rest}|{subjects.matter.polite})*$"
_THAT = r"(?: that| the fact that)? ?"
_OWN = lazily(r"(?:i(?:'m|'ve)?|my|we|our)(?![a-z])|我|咱|俺")
_LATIN = lazily(r"[a-z0-9]")
MIN_HAN_CHARS, MIN_LATIN_CHARS = 2, 3
"""Less says nothing of what is meant."""


@dataclass(frozen=True)
class Forget:
    """A request to forget: its `words`, folded; the `subject`, where it names only what was spoken about; and what it
    says of the person itself (`matter`)."""

    words: str
    subject: str = ""
    matter: str = ""

    def means(self, content: str) -> bool:
        """Whether a memory with this content is to be forgotten: all of it stands in the request; or all of the
        request's matter in it, and it denies no more and no less than that; or the subject."""
        said = fold(content)
        if said in self.words or (self.subject and _holds(said, self.subject)):
            return True
        return bool(self.matter) and is_carried(self.matter, content)


def asks_to_forget(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether a clause asks that something said before be forgotten."""
    rest = clause.text[opening(clause.text, lexicon) :]
    return bool(lexicon.shape(_FORGET).match(rest)) and not clause.asks_to_know and not clause.is_hypothetical


def to_forget(user_msg: str, lexicon: Lexicon | None = None) -> list[Forget]:
    """What a message asks to be forgotten. Nothing of one that orders the system about."""
    lexicon = lexicon or load_lexicon()
    if not lexicon.words("memorable.own.forget").search(fold(user_msg)):
        return []
    turn = read_turn(user_msg, "", {}, lexicon)
    found = []
    for clause in turn.clauses if turn else ():
        if asks_to_forget(clause, lexicon):
            rest = clause.text[opening(clause.text, lexicon) :]
            about = lexicon.shape(_ABOUT).match(rest)
            subject = lexicon.shape(_REST).sub("", rest[about.end() :]).strip() if about else ""
            least = MIN_LATIN_CHARS if _LATIN.search(subject) else MIN_HAN_CHARS
            matter = (
                "" if about else lexicon.shape(_REST).sub("", lexicon.shape(_FORGET + _THAT).sub("", rest, count=1))
            )
            found.append(Forget(clause.text, subject if len(subject) >= least else "", _of_a_person(matter)))
    return found


def _of_a_person(matter: str) -> str:
    """What is to be forgotten, if it is a statement about oneself in several words; else ""."""
    is_own = _OWN.match(matter.strip())
    return matter.strip() if is_own and len(tokens.query_terms(matter[is_own.end() :]).search_terms) > 1 else ""


def _holds(text: str, words: str) -> bool:
    """Whether words stand in a text; Latin ones whole."""
    at = text.find(words)
    while at >= 0:
        around = text[at - 1 : at] + words[:1], words[-1:] + text[at + len(words) : at + len(words) + 1]
        if not any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in around):
            return True
        at = text.find(words, at + 1)
    return False
