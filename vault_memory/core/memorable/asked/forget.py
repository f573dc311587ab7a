"""A request to forget: which memories it means, and what of them goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from vault_memory.core.memorable.asked.closer import members_of, says_closer
from vault_memory.core.memorable.asked.wanted import Wanted, asked_for, of_kind
from vault_memory.core.memorable.parts import Cut, may_say_more, statements, without
from vault_memory.core.memorable.saying import compared, is_all_about, is_near, says_as_much
from vault_memory.core.memorable.things import is_capital_otherwise, is_in_longer_name, is_named_in
from vault_memory.core.memorable.wording import DO, FAVOURITE, LIKE, LIVE, read_saying, says_something
from vault_memory.core.memories import categories
from vault_memory.core.text import is_carried, lazily, same

_WORDS = lazily("[A-Za-z]+")


@dataclass(frozen=True)
class Forget:
    """A request to forget: `what` it names, folded, and in the person's `words`; whether that is a statement about the
    person (`is_said`: «I like tea») or only a subject (coffee); `is_sure`: a memory is meant, and not only a subject
    dropped; `is_had`: only what its person has to do with it (我的狗), since its name is in other words (熱狗); to like
    it counts where it is not named as the person's. `is_own`: it is the person's («my job»). `is_everything`: all that
    is known of the person, which no sentence deletes."""

    what: str
    words: str = ""
    is_said: bool = False
    is_sure: bool = True
    is_everything: bool = False
    is_had: bool = False
    is_own: bool = False

    def fits(self, content: str) -> int:
        """How well a memory with this content is what is to be forgotten: 2 if it says just that, or a part of what is
        named, 1 if it says that and more, or is about it, 0 if it is something else."""
        named = [self, *(replace(self, what=each) for each in self._parts)]
        return 0 if self.is_everything else max(each._fits(content) for each in named)

    def cut(self, content: str) -> Cut:
        """What of a memory with this content goes, and what is left of it: the parts that fit, where others do not.
        Its `fit` is 0 where nothing of it is to be forgotten."""
        whole = 0 if self.is_everything else self.fits(content)
        if self.is_everything or same(content, self.what):
            return Cut(content, "", whole)
        named = [self.what, *self._parts] if self.is_said else []
        part = without(content, self.fits, named, self._is_less_than_part)
        return part if part and part.fit >= whole else Cut(content, "", whole, self._is_less_than(content, whole))

    @property
    def found_by(self) -> list[str]:
        """Texts with which the memories that may be meant share a word, or what they are about."""
        wanted = self._wanted
        about = [self.what if self.is_said else f"I like {self.what}"]
        named = members_of(self.what) if self.is_said else categories.load().spellings_of(self.what)
        return [*dict.fromkeys([self.what, *about, " ".join(named), *(wanted.found_by if wanted else ())])]

    def is_in_doubt(self, content: str) -> bool:
        """Whether a capital may make something else of what a memory with this content likes: Turkey, not turkey."""
        said = read_saying(self.what if self.is_said else f"i like {self.what}")
        named = _WORDS.findall(self.words)
        is_one = said is not None and said.relation == LIKE and len(said.thing.words) == 1
        return is_one and bool(named) and self.means(content) and is_capital_otherwise(named[-1], content)

    def is_said_in(self, content: str) -> bool:
        """Whether a memory with this content says what is to be forgotten, with more or in another way."""
        said = [content, *statements(content)]
        return any(self.means(each) or (self.is_said and is_near(each, self.what)) for each in said)

    def _is_less_than(self, content: str, fit: int) -> bool:
        """Whether a text that says what is named says something else besides."""
        if self.is_said and self._wanted:  # «where I live» shares no word with what answers it
            said = read_saying(content)
            is_had = said is not None and said.relation == "have" and bool(self._wanted.of)  # a dog, and its name
            return fit > 0 and (is_had or may_say_more(content) or (said is not None and says_something(said.more)))
        is_more = fit == 1 or may_say_more(content)
        return self.is_said and fit > 0 and is_more and not is_carried(content, self.what)

    def _is_less_than_part(self, statement: str, fit: int) -> bool:
        """Whether a part that could not be taken apart any more says something else besides; when and how often that is
        so is nothing else."""
        return may_say_more(statement) and self._is_less_than(statement, fit)

    @cached_property
    def _parts(self) -> list[str]:
        """The statements that are named, where there are several."""
        found = statements(self.what) if self.is_said else []
        return found if len(found) > 1 else []

    @cached_property
    def _wanted(self) -> Wanted | None:
        if self.is_said:
            return asked_for(self.what)
        return of_kind(self.what) if self.is_own or self.is_had else None

    def _fits(self, content: str) -> int:
        if self._wanted and (self.is_said or self._wanted.fits(content)):
            return int(self._wanted.fits(content))
        if self.is_said:
            if same(content, self.what) or compared(self.what, content) == "same":
                return 2
            if says_closer(content, self.what):
                return 1
            if is_in_longer_name(self.what, content):
                return 0
            asked = read_saying(self.what)
            is_read = (asked is not None and asked.relation == LIVE) or (
                is_statement(self.what) and is_statement(content)
            )
            return says_as_much(content, self.what) or int(not is_read and is_carried(self.what, content))
        if says_closer(content, f"i {self.what}" if self.what.isascii() else f"我{self.what}", is_act=True):
            return 1  # 看電影
        if self.is_had:
            return int(_has(content, self.what, is_liked=not self.is_own))
        if self.is_sure:
            return int(is_named_in(self.what, content) and not is_in_longer_name(self.what, content))
        return 2 if is_all_about(content, self.what) or _is_done_with(content, self.what) else 0

    def means(self, content: str) -> bool:
        """Whether a memory with this content is to be forgotten."""
        return self.fits(content) > 0


def _has(content: str, thing: str, *, is_liked: bool) -> bool:
    """Whether a text says that its person has to do with just this thing, and, unless `is_liked`, not only that he or
    she likes it."""
    said = read_saying(content)
    is_about = said is not None and (is_liked or (said.is_so and said.relation not in (LIKE, FAVOURITE)))
    return said is not None and is_about and any(thing in word for word in said.thing.words)


def _is_done_with(content: str, subject: str) -> bool:
    """Whether all that a text says is what its person does with a thing: 收集郵票."""
    said, of = read_saying(content), read_saying(f"i like {subject}")
    if said is None or of is None or said.relation != DO or len(said.thing.words) < 2:
        return False
    return replace(said.thing, words=said.thing.words[1:]).is_same(of.thing)


def is_statement(text: str) -> bool:
    """Whether a text says what its person has to do with a thing, in words that are known."""
    said = read_saying(text)
    return said is not None and said.relation != DO
