"""Negation: whether what a clause names is wished, refused or only weakened, and whether it is taken back."""

from __future__ import annotations

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.text.phrases import lazily


def polarity(text: str, start: int, end: int, lexicon: Lexicon, breaks: list[int], within: bool = False) -> int:
    """+1 wished, -1 negated, 0 only weakened. Two negations make a demand; «not too long» means the same as «too long»."""
    if complains(text[start:end]):
        return 1
    since = max([start - 28, 0, *(stop for stop in breaks if stop <= start)])
    before = lexicon.words("words.negation.neutral").sub(lambda found: " " * len(found[0]), text[since:start])
    if lexicon.words("words.negation.weakening").search(text[since:end]):
        return 0
    inside = text[start:end]
    if within and not _WITHOUT_IT.search(inside):  # «要忘記加註解»: the verb's own gap may hold a negation
        before += lexicon.words("words.negation.neutral").sub("", inside)
    negations = sum(1 for _ in lexicon.words("words.negation.before").finditer(before))
    after = lexicon.words("words.negation.neutral").sub(lambda found: "~" * len(found[0]), text[end : end + 14])
    tail = lexicon.words("words.negation.after").search(after)
    if tail and tail.start() <= 4:
        negations += 1
    return 1 if negations % 2 == 0 else -1


def insists(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Whether what looks like a refusal refuses a lack: «don't forget the comments»."""
    return any(
        found.start() < end and start < found.end()
        for found in lexicon.words("words.negation.insisting").finditer(text)
    )


def taken_back(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause takes back what is stored."""
    return bool(lexicon.words("words.negation.retracts").search(clause.text))


def complains(phrase: str) -> bool:
    """Whether a phrase says «too much»: «too long» and «not too long» wish the same."""
    return bool(_COMPLAINT.match(phrase))


def too_many(text: str) -> bool:
    """Whether a text ends with too many comments or examples: «the code you give me has too many comments»."""
    return bool(_TOO_MANY.search(text))


_TOO_MANY = lazily(r"(?:太多|过多|一堆|too many|so many|too much)的? ?(?:注[解释]|例子|范例|示例|comments?|examples?)$")
_WITHOUT_IT = lazily(r"不懂|看不|听不|难|抽象|学不|无法|唔明|消化不")
_COMPLAINT = lazily(
    r"一(?:大)?[堆串坨]|注[解释]多过|太|有点|过于|好(?=[长短刺亮暗光])|too |a bit |kinda |kind of |way too|so (?=long|short)|不够|唔够|讲得不够"
)
