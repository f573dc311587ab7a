"""Whether what a clause tells is its person's: who has done it. Rules alone, behind the judge, who does not learn from
them; the words are in `gates.toml`, `[who]`.
"""

from __future__ import annotations

from vault_memory.core.extraction.lexicon import Lexicon

_BESIDE_CHARS = 2
"""Between «with» and who does something together with the person."""


def is_of_person(before: str, lexicon: Lexicon, others: str = "words.speaker.others") -> bool:
    """Whether the last subject before a verb is the person, or there is none: «my wife and I», 我跟太太, not 我同事.

    `before`: what its clause says before the verb. `others`: the list of those who are not the person.
    """
    own = [match.end() for match in lexicon.words("words.speaker.me").finditer(before)]
    at = own[-1] if own else 0
    return all(
        lexicon.words("gates.who.beside").ends(before[: at + found.start()], _BESIDE_CHARS)
        for found in lexicon.words(others).finditer(before[at:])
    )
