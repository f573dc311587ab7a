"""A conversation as its person said it: without what we or a client put into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.chat import read_messages, without_injected
from vault_memory.core.extraction import llm, load_lexicon, takes_back_the_last
from vault_memory.core.memorable import Forget, to_forget
from vault_memory.core.text import lazily
from vault_memory.errors import UsageError

MAX_TURNS = 200
"""So many turns of a conversation are looked at, the newest ones."""
MAX_WORDS_CHARS = 20_000
"""So much of a message is looked at."""

_REQUEST = lazily(r"<user-request>\n(.*)\n</user-request>", re.DOTALL)
_FROM_MEMORY = lazily(
    r"^[ \t]*(?:\[[\w./ -]{1,200}\.(?:md|jsonl):\d+(?:-\d+)?(?:@[0-9a-f]{8})?\]"  # a recalled passage
    r"|(?:[-*] )?\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?[ \t]|[-*] (?:請求|请求|Request)[：:]"  # lines of logs
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|(?:Human|User|Assistant|AI|System|使用者|用戶|用户|助理|助手)[：:]).*$\n?",  # of a history
    re.MULTILINE,
)


@dataclass(frozen=True)
class Said:
    """A turn: the person's `words`, what was answered (`reply`), and its `source` ("": it is in no record)."""

    words: str
    reply: str = ""
    source: str = ""


def own_words(text: str) -> str:
    """The person's own words in a message: of a whole prompt the request, without our sections, recalled passages, and
    the lines of logs and of a history."""
    request = _REQUEST.search(text)
    bare = without_injected(request[1] if request else text[:MAX_WORDS_CHARS])
    return _FROM_MEMORY.sub("", bare).strip()[:MAX_WORDS_CHARS]


def said_in(messages: Sequence[Mapping[str, Any]], is_theirs: Callable[[str], bool] = lambda name: True) -> list[Said]:
    """The turns of a conversation that a program hands over, oldest first: as chat messages ({role, content}, with a
    `name` in a chat of several people, of which `is_theirs` tells whether it is the person's), or as turns
    ({user_message, assistant_message} or {user, assistant}). What is to stay unsaid is left out: a turn that is not to
    be remembered or is taken back, and one that gives orders to the system. Raises `UsageError` for another form."""
    if not isinstance(messages, (list, tuple)) or not all(isinstance(each, Mapping) for each in messages):
        raise UsageError("a conversation is a list of messages {role, content} or of turns {user_message, …}")
    is_chat = any("role" in each for each in messages)
    turns = _of_chat(messages, is_theirs) if is_chat else _of_turns(messages)
    return heard(turns[-MAX_TURNS:])


def heard(turns: Sequence[Said]) -> list[Said]:
    """The turns that may be distilled, with the person's own words; none that the next one takes back (當我沒說), nor
    what a later one asks to be forgotten."""
    said = [Said(own_words(each.words), without_injected(each.reply), each.source) for each in turns]
    lexicon = load_lexicon()
    kept: list[Said] = []
    is_taken_back = False
    forgotten: list[Forget] = []
    for each in reversed(said):
        takes_back, asked = takes_back_the_last(each.words, lexicon), to_forget(each.words, lexicon)
        is_gone = is_taken_back or bool(asked) or any(forget.means(each.words) for forget in forgotten)
        if not takes_back and not is_gone and llm.is_worth_asking(each.words):
            kept.append(each)
        is_taken_back = takes_back
        forgotten += asked
    return kept[::-1]


def _of_chat(messages: Sequence[Mapping[str, Any]], is_theirs: Callable[[str], bool]) -> list[Said]:
    read = read_messages({"messages": list(messages)})
    turns: list[Said] = []
    for message in read.messages if read else ():
        if message.role == "user" and message.text:
            turns.append(Said(message.text if not message.name or is_theirs(message.name) else ""))
        elif message.role == "assistant" and turns:
            turns[-1] = Said(turns[-1].words, f"{turns[-1].reply}\n{message.text}".strip())
    return turns


def _of_turns(messages: Sequence[Mapping[str, Any]]) -> list[Said]:
    return [
        Said(_text(each, "user_message", "user"), _text(each, "assistant_message", "assistant")) for each in messages
    ]


def _text(turn: Mapping[str, Any], *names: str) -> str:
    return next((turn[name] for name in names if isinstance(turn.get(name), str)), "")
