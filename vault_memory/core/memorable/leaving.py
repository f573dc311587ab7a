"""What a text says that its person has left behind: Vim of «I switched from Vim to Emacs», 本田 of 我把本田賣了."""

from __future__ import annotations

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.things import Thing, read_thing
from vault_memory.core.text import fold, lazily

_THING = r" ?(?P<thing>[^,;:。!?\n我]{1,28}?) ?"
_END = r"(?:(?: ?{sayings.left.since})*(?:[了啦吧. ]*)(?=$|[,;:。!?\n]| (?:and|but|because|for|as|to|onto)(?![a-z])))"
_FORMS = (
    r"{sayings.left.from}" + _THING + r"{sayings.left.to}",
    r"{sayings.left.drops}" + _THING + _END,
    r"(?:^|[,;。!?]|我们?|咱们?|已经) ?(?:的|把|将|从)?" + _THING + r"{sayings.left.dropped}" + _END,
)
_INSTEAD = r"(?:{sayings.left.instead}|(?<=, )not|(?<=,)not)" + _THING + _END
_OF = lazily(r"^(?:(?:my|our|the)(?![a-z])|我们?的|那(?:台|只|辆|个|家)|(?:old|position|job) (?:at |as )?)+ ?")
_WORK = lazily(r"(?:的?(?:那份|那个)?(?:工作|职位|职务)| job)$")
_ARTICLES = ("a", "an", "the", "some", "any", "my", "our", "old")


def left_behind(text: str, *, is_new: bool) -> list[Thing]:
    """The things that a text says are no more what its person has, does or uses. `is_new`: it says that something else
    is so from now on; then what it is instead of is left behind, too."""
    lexicon, folded = load_lexicon(), fold(text).replace("’", "'")
    forms = (*_FORMS, _INSTEAD) if is_new else _FORMS
    return [
        thing
        for form in forms
        for found in lexicon.shape(form).finditer(folded)
        if not lexicon.words("sayings.left.unreal").search(folded[: found.start()])
        and (thing := read_thing(_WORK.sub("", _OF.sub("", found["thing"].strip())), _ARTICLES))
    ]


def begins_with_leaving(text: str) -> bool:
    """Whether a folded text says at its beginning what is left behind, and not who leaves it: 不用 MySQL 了."""
    return any(load_lexicon().shape(form).match(text) for form in _FORMS[1:])


def is_beside(text: str) -> bool:
    """Whether a text says that something is so beside what was before."""
    return load_lexicon().words("sayings.left.beside").search(fold(text)) is not None
