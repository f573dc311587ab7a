"""Technologies: what the person does with each one named. Prefers, chooses, uses, owns, has left, never knew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import CATEGORIES, Lexicon, Technology
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.fold import fold
from vault_memory.core.text.phrases import lazily

LISTS = (*CATEGORIES, "preferred_frameworks")
_NEVER_A_LANGUAGE = frozenset({"SQL", "CSS", "HTML", "GraphQL", "LaTeX", "Sass"})


def roles(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], mine: bool
) -> Iterator[Signal]:
    """The technology signals of one clause. `named` are those standing in it; `mine`: the sentence speaks of the person."""
    past_it = 0
    for group in _groups(named, clause):
        before = clause.text[max(0, group[0].start - clause.start - 60) : group[0].start - clause.start]
        said_of_it = clause.text[max(past_it, group[0].start - clause.start - 60) : group[0].start - clause.start]
        after = clause.text[group[-1].end - clause.start :][:40]
        for technology in group:
            yield from _signals(technology, before, said_of_it, after, clause, lexicon, existing, mine)
        past_it = group[-1].end - clause.start


def _signals(
    technology: Technology,
    before: str,
    said_of_it: str,
    after: str,
    clause: Clause,
    lexicon: Lexicon,
    existing: Mapping[str, object],
    mine: bool,
) -> Iterator[Signal]:
    if clause.others or clause.hypothetical and not clause.happened or clause.sarcastic:
        return
    left = _follows(lexicon, "drop", before) or _precedes(lexicon, "drop", after)
    if (left or clause.past) and not clause.asks_to_know:
        if left:
            yield from _removals(technology, existing, lexicon)
        return
    if _from_to(before, after):
        yield from _removals(technology, existing, lexicon)
        return
    if clause.past or _follows(lexicon, "compared", before, 6) or _precedes(lexicon, "compared", after):
        return
    if _follows(lexicon, "never", before) or _precedes(lexicon, "never", after):
        return
    if (
        technology.name in _NEVER_A_LANGUAGE
        or _SIMILE.search(before)
        or _is_somebody_elses(said_of_it)
        or _DECIDED.fullmatch(before)
        or (said_of_it != before and _EITHER.fullmatch(said_of_it))
        or (_CALLED.search(before) and not _USED_IN.search(before))
    ):
        return
    about = bool(lexicon.words("roles.about.sentence").search(clause.text))
    in_trouble = not about and bool(lexicon.words("roles.trouble.sentence").search(clause.text))
    key = technology.category
    preferred = _follows(lexicon, "prefer", said_of_it) or _precedes(lexicon, "prefer", after)
    preferred = preferred or (
        clause.standing
        and clause.asks
        and not clause.asks_to_know
        and not in_trouble
        and _USED.search(before) is not None
    )
    if preferred and not clause.asks_to_know and not clause.once and not _OPINION.search(before):
        if key != "frameworks":
            yield Signal(key, "add", technology.name, "explicit")
            return
        yield Signal("preferred_frameworks", "add", technology.name, "explicit")
    if _follows(lexicon, "own", before, 2) and not _NOT_OWN.search(before):
        yield Signal(key, "add", technology.name, "observed")
        return
    at_work = mine and not about and bool(lexicon.words("roles.work.sentence").search(clause.text))
    if clause.asks_to_know:
        if mine and in_trouble:
            yield Signal(key, "add", technology.name, "observed")
        return
    if _REQUEST.search(before):
        return
    chosen = _follows(lexicon, "choice", before, 6) or _precedes(lexicon, "choice", after)
    used = _follows(lexicon, "use", before, 6) or _STACK.match(after) is not None or _precedes(lexicon, "use", after)
    used = used and not about
    if (
        chosen
        or at_work
        or ((used or in_trouble) and (mine or _HAN.search(clause.text) or _ELLIPTIC.match(clause.text)))
    ):
        yield Signal(key, "add", technology.name, "observed")


def _is_somebody_elses(before: str) -> bool:
    """Whether the person named last before it is a third one: «I was told that they only use Scala»."""
    named = list(_PERSON.finditer(before))
    return bool(named) and not named[-1]["me"]


def _removals(technology: Technology, existing: Mapping[str, object], lexicon: Lexicon) -> Iterator[Signal]:
    """The stored names of a technology, under whatever alias they stand in the profile."""
    for key in LISTS:
        stored = existing.get(key)
        for item in stored if isinstance(stored, (list, tuple)) else ():
            known = lexicon.names.get(fold(str(item)), (str(item), ""))[0]
            if fold(known) == fold(technology.name):
                yield Signal(key, "remove", str(item), "explicit")


def _groups(named: list[Technology], clause: Clause) -> Iterator[list[Technology]]:
    """Technologies joined by «and», 和, commas share what is said of them."""
    group: list[Technology] = []
    for technology in named:
        if group and not _JOINT.fullmatch(clause.text[group[-1].end - clause.start : technology.start - clause.start]):
            yield group
            group = []
        group.append(technology)
    if group:
        yield group


_JOINT = lazily(r" ?(?:、|,|/|\+|&|and|with|plus|跟|和|与|同|加|配|搭|搭配|,? ?and|还有|以及)* ?")


def _follows(lexicon: Lexicon, role: str, before: str, gap: int = 10) -> bool:
    return lexicon.words(f"roles.{role}.before").ends(before, gap)


def _precedes(lexicon: Lexicon, role: str, after: str) -> bool:
    found = lexicon.words(f"roles.{role}.after").search(after)
    return bool(found and _SUBJECT.fullmatch(after[: found.start()]))


_SUBJECT = lazily(
    r"(?:[ 的是就,了都]|我哋|我们?|咱们?|俺|(?:我们?)?(?:组|团队|这边|这组|实验室|公司|专题|那边)|team|已经|早就|老早|最近|终于|现在|全部|全|整个|后来|we|i|(?<![a-z])(?:have|has|already|just|finally|had|was|got)(?![a-z]))*"
)


def _from_to(before: str, after: str) -> bool:
    return bool(_FROM.search(before) and _TO.match(after))


_ELLIPTIC = lazily(
    r"(?:so |and |also |ok |been |just |currently |still |finally |mostly |mainly )*(?:been|made|built|wrote|coded|shipped|using|writing|coding|building|hacking|working|learning|running|started|starting|switched|switching|moved|moving|migrated|migrating|deployed|deploying|trying|stuck|got|rewrote|rewriting|ported|porting)(?![a-z])"
)
_PERSON = lazily(
    r"(?<![a-z'])(?P<me>i|we|i'm|i've|i'd|we're|we've|my|our|us|me)(?![a-z])|(?<![a-z'])(?:he|she|they|he's|she's|they're|his|their)(?![a-z])"
)
_EITHER = lazily(r" ?(?:比较)?(?:好|强|香|快)? ?(?:还是|或者?|or|定|抑或) ?")
"""Between two names: a choice not made yet."""
_DECIDED = lazily(r"[^我咱]{2,}(?:定|选|决定|挑|指定|规定)的(?:是|就是)? ?")
"""Somebody chose it: 最後還是老大一個人定的 Oracle."""
_HAN = lazily(r"[\u3400-\u9fff]")
_SIMILE = lazily(
    r"(?:^|, ?)(?:just |a bit |kind of )?(?:like|as) (?:an?|the|some|my) $"
    r"|(?<![a-z])(?:is|are|was|feels?|looks?|sounds?|reads?|be|being|seems?)(?: (?:just|a bit|kind of|a lot|so much|basically))? like (?:an? |the )?$|(?:就像|好像|很像|像是|像|如同) ?$"
)
_CALLED = lazily(
    r"(?:叫(?:做|作)?|名叫|取名(?:叫|为)?|命名为|念作|读作|called|named|nicknamed|name is|names? of)[ \"']*$"
)
_USED_IN = lazily(r"用|写|(?<![a-z])(?:use|using|framework|library|tool|language|editor)(?![a-z])")
_FROM = lazily(r"(?:从|由|from|off|away from|把|ditched|dropped|left|replaced|swapped|traded)(?: my)? ?$")
_TO = lazily(
    r" ?(?:全部|整个|全|都|一次|慢慢)?(?:换|转|改|搬|移|跳|迁|migrate|switch|move|port|to |for |with |onto |over to |→|->|跳槽)"
)
_USED = lazily(r"(?:用|换|给我|都给|写|以|走|in|use|using|with|to) ?(?:vanilla |plain |pure )?$")
_OPINION = lazily(
    r"(?:喜欢|like|love|enjoy) ?(?:how|that|what|the way|the idea|when|to know|的是)|would (?:like|love) to (?:know|learn|understand)|like to (?:know|learn|ask|understand)"
)
_NOT_OWN = lazily(
    r"(?:my|our) (?:professor|teacher|friend|classmate|roommate|teammate|boss|class|school|course|brother|sister|question)"
)
_REQUEST = lazily(
    r"(?:帮我|给我|帮忙|write me|give me|show me|make me|can you|could you|translate|convert|rewrite this|请).{0,16}$|把(?:这|那|下面|以下|上面|我?这)(?:段|个|份|篇|支)[^,]{0,16}$|^(?:写|生成|来)(?:一)?(?:个|段|份|支)[^,]{0,12}$"
)
_STACK = lazily(
    r" ?(?:on the (?:back|front)|for the (?:back|front)|backend|frontend|后端|前端|做后端|做前端|当后端|当前端)"
)
