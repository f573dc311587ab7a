"""Whether a clause can be understood alone: «we use it every day» and 我每天都喝 do not say what is meant."""

from __future__ import annotations

from vault_memory.core.memorable.order import has_no_object
from vault_memory.core.text import lazily

_POINTING = r"(?:it|this|that|these|those|they|them)"
_IS_SUBJECT = lazily(
    rf"^(?:{_POINTING}(?:'s|'re|'ll"
    r"| (?:is|are|was|were|has|have|does|do|did|will|would|can|works?|suits?|fits?|helps?))(?![a-z])"
    r"|(?:这|那|它)们?(?:[个些样]|就|也|都|才|真的)*(?:是|叫|对|适合|让))"
)
"""«It is what we use», 这个是我的最爱."""
_IS_EXPLAINED = lazily(r"(?<![a-z])(?:to [a-z]+|when|that|how)(?![a-z])")
"""«It takes me an hour to get to work», «I love it when it rains»."""
_ADJUNCT = (
    r"(?:and|but|at|in|on|every|each|for|all|too|a lot|so|very|really|since|from|with|now|already|here|again|"
    r"daily|weekly|by|the most|most|together|twice|once|before|after|until|because|as|over|instead|everywhere)"
)
_IS_OBJECT = lazily(
    rf"(?<![a-z])(?:(?:it|them|there|(?:this|that) one|the same)(?=$| {_ADJUNCT}(?![a-z]))"
    r"|(?:this|that|these|those)"
    r"(?=$| (?:every|too|a lot|all the time|at work|at home|for (?:years|work|everything))(?![a-z])))"
    r"|(?<!都)[这那](?:一?[个些样种款家边里件位只本部]|么)?(?:事|做|用|办|吃|喝|写|选|弄|搞|过)?[的了啦]*$"
    r"|[住去来]在?[这那][里边儿]|^.{0,8}[它牠祂]们?(?:$|[了的做写来])"
)
"""What is done is done to something that only these words point at."""
_NAMED_BEFORE = lazily(
    r",|(?<![a-z])(?:and|but|so|because|which|then)(?![a-z])|.(?<![a-z])(?:an?|my|our|some|two|three)(?= )|[但而又且]"
)
_BARE_VERB = lazily(
    r"^(?:i|we)"
    r"(?: (?:really|always|usually|still|just|also|often|never|all|have|'ve|do not|don't|already|mostly|finally))*"
    r" (?:do|use|like|love|prefer|decided?|agreed?|know|want|need|hate|enjoy|make|chose|did)"
    r"(?: (?:every|each) [a-z]+| daily| too| a lot| at (?:work|home))?$"
)


def is_whole(text: str) -> bool:
    """Whether a folded clause, in the usual order of its words, names what it speaks of."""
    text = text.rstrip(" .!~。")
    if _BARE_VERB.match(text) or has_no_object(text):
        return False
    if _IS_SUBJECT.match(text):
        return bool(_IS_EXPLAINED.search(text))
    pointing = _IS_OBJECT.search(text)
    return not pointing or bool(_NAMED_BEFORE.search(text[: pointing.start()]))
