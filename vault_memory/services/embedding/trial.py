"""Try a model before it is used: what it has to do in a vault, what of that goes where, and how well and fast it
answers."""

from __future__ import annotations

import operator
import time
from collections.abc import Mapping
from dataclasses import dataclass

from vault_memory.adapters.embedding import HTTP, LOCAL, Embedder, OfflineEmbedder, Vector, outgoing
from vault_memory.core.chat import prompt
from vault_memory.errors import EndpointError
from vault_memory.services.embedding.status import Reached, ask_each, changed_dimension
from vault_memory.services.indexing import spaces
from vault_memory.services.retrieval import refresh
from vault_memory.services.vault import Vault

SAMPLE_PASSAGES = 10
SAME_MODEL_COSINE = 0.98
"""Two endpoints that give less for the same text serve different models; a quantised build of one model gives more."""
_NO_SPACE = ""
"""No space has this name, so every passage is without a vector in it."""

_SENTENCES = {
    "English": (
        ("I drink coffee every morning", "He starts his day with a latte", "The hard disk of this computer broke"),
        ("We meet tomorrow afternoon", "There is a discussion at two o'clock", "Cats like lying in the sun"),
        ("This program runs too slowly", "Software with poor performance", "Today's sunset is beautiful"),
        ("A puppy is playing in the park", "The young dog runs around outdoors", "Please translate that document"),
        ("The forecast says it will rain", "Remember to take an umbrella", "Our database needs a backup"),
        ("I want to learn the guitar", "She began to practise an instrument", "Every train ticket is sold out"),
    ),
    "Chinese": (
        ("我每天早上喝咖啡", "他習慣起床後來一杯拿鐵", "電腦硬碟壞了"),
        ("明天下午要開會", "隔日兩點有場討論", "貓咪喜歡曬太陽"),
        ("這個程式跑得太慢", "軟體效能不佳", "夕陽真是美麗"),
        ("小狗在公園玩耍", "幼犬於戶外奔跑", "請把文件翻譯成英文"),
        ("天氣預報說會下雨", "出門記得帶傘", "資料庫需要備份"),
        ("我想學彈吉他", "她開始練習樂器", "火車票已經賣完"),
    ),
}
"""A sentence, another that means about the same in other words, and one about something else."""
PAIRS = len(_SENTENCES["English"])
KNOWN_PAIRS, MARGIN = 5, 0.05
"""Of `PAIRS`, this many or more are told apart, by so much of the cosine, by a model that knows the language. Measured:
all-MiniLM-L6-v2, which knows English alone, tells 6 apart there (by .25 to .55), and 2 in Chinese."""


@dataclass(frozen=True)
class Work:
    """What a model has to do in a vault: how many passages there are, how many have no vector of it, and their tokens
    (estimated; before secrets and private sentences are taken out). `sample` are some passages as they are sent.

    `dimensions` are those of the vectors that are there already, `dropped` how many vectors of other models go when its
    own are complete, by space.
    """

    passages: int
    waiting: int
    tokens: int
    sample: tuple[str, ...]
    dimensions: frozenset[int]
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Trial:
    """How a model did: its dimension, how many passages it took in a second, how many pairs of sentences it told apart
    (of `PAIRS`, by language), and why a question gets no vector in time ("": it does)."""

    dimension: int
    passages_per_s: float
    pairs: Mapping[str, int]
    question_problem: str
    reached: tuple[Reached, ...]


def work(vault: Vault) -> Work:
    """What the vault's configured model has to do, in indexes that are up to date; nothing is asked or sent."""
    space = vault.embedder.space
    refresh(vault, vault.scopes())
    is_sent = space.startswith(HTTP)
    kept = {space, OfflineEmbedder.space}
    passages = waiting = tokens = 0
    sample: list[str] = []
    dropped: dict[str, int] = {}
    for scope in reversed(vault.scopes()):  # the users' first
        index = vault.index(scope)
        texts = index.waiting(space)
        passages += index.stats().chunks
        waiting += len(texts)
        tokens += sum(map(prompt.tokens, texts))
        if len(sample) < SAMPLE_PASSAGES:
            some = index.waiting(_NO_SPACE, SAMPLE_PASSAGES - len(sample), is_sent=is_sent)
            sample += [outgoing(text) if is_sent else text for text in some]
        for name, held in index.spaces().items():
            if name not in kept and not (is_sent and name.startswith(LOCAL)):
                dropped[name] = dropped.get(name, 0) + held.vectors
    return Work(passages, waiting, tokens, tuple(sample), frozenset(spaces.dimensions(vault, space)), dropped)


def greet(vault: Vault, work: Work) -> tuple[Reached, ...]:
    """Ask each endpoint of the vault's configured model, or the model on this machine, for one vector; nothing of the
    vault's is sent.

    Raises `EndpointError` when they do not serve one model, or one of another dimension than the vectors that are
    there.
    """
    asked = ask_each(vault)
    _check_same_model([(reached, vector) for reached, vector in asked if vector is not None])
    for held in sorted(work.dimensions):
        for reached, _ in asked:
            if problem := changed_dimension(vault.embedder.space, reached, held):
                raise EndpointError(problem)
    return tuple(reached for reached, _ in asked)


def try_model(vault: Vault, work: Work) -> Trial:
    """Ask the vault's configured model for vectors of sentences of our own, of the sample, and of a question.

    Raises `EndpointError` when it cannot be asked, answers with what are no vectors, and what `greet` raises.
    """
    reached = greet(vault, work)
    embedder = vault.embedder
    pairs = {language: _told_apart(embedder, language) for language in _SENTENCES}
    sample = list(work.sample) or [sentence for sentence, _, _ in _SENTENCES["English"]]
    began = time.perf_counter()
    embedder.embed(sample)
    seconds = time.perf_counter() - began
    problem = ""
    try:
        embedder.embed([_SENTENCES["English"][0][0]], "query")
    except EndpointError as error:
        problem = str(error)
    return Trial(embedder.dimension, len(sample) / max(seconds, 1e-6), pairs, problem, reached)


def _told_apart(embedder: Embedder, language: str) -> int:
    """In how many triples the second sentence is clearly nearer to the first than the third is."""
    triples = _SENTENCES[language]
    vectors = embedder.embed([sentence for triple in triples for sentence in triple])
    count = 0
    for at in range(0, len(vectors), 3):
        first, same, other = vectors[at : at + 3]
        count += _cosine(first, same) > _cosine(first, other) + MARGIN
    return count


def _cosine(a: Vector, b: Vector) -> float:
    """Of two vectors of unit length."""
    return float(sum(map(operator.mul, a, b)))


def _check_same_model(answers: list[tuple[Reached, Vector]]) -> None:
    for reached, vector in answers[1:]:
        first, expected = answers[0]
        if len(vector) != len(expected) or _cosine(vector, expected) < SAME_MODEL_COSINE:
            raise EndpointError(
                f"{first.where} and {reached.where} give different vectors for one text: they do not serve the same "
                "model, so name only one of them"
            )
