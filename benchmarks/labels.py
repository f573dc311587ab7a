"""The meaning of labelled turns: when a heard preference satisfies a label, and when it counts as wrong.

A label is `{key, op, value}`; `|` in its value separates accepted spellings, `*` accepts any. Values of free-text keys
match when they contain the label's. Optional labels, repeats of a match, surplus topics beside an accepted one and the
removal of the replaced scalar value are neither rewarded nor punished.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vault_memory.core.profile import Signal

FREE = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")
LISTS = ("languages", "frameworks", "preferred_frameworks", "tools")
SHORT_FORMS = {
    "js": "javascript", "ts": "typescript", "golang": "go", "cpp": "c++", "csharp": "c#", "py": "python",
    "python3": "python",
    "tailwind": "tailwindcss", "tailwind css": "tailwindcss", "nextjs": "next.js", "next": "next.js", "nuxt.js": "nuxt",
    "vue.js": "vue", "vue 3": "vue", "vue3": "vue", "react.js": "react", "reactjs": "react", "express.js": "express",
    "spring": "spring boot", "springboot": "spring boot", "node": "node.js", "nodejs": "node.js", "fast api": "fastapi",
    "vscode": "vs code", "visual studio code": "vs code", "nvim": "neovim", "k8s": "kubernetes",
    "postgres": "postgresql",
    "mongo": "mongodb", "docker compose": "docker", "docker-compose": "docker", "gitlab ci": "gitlab",
    "intellij": "intellij idea", "idea": "intellij idea", "sublime": "sublime text", "rlang": "r",
}  # fmt: skip


@dataclass
class Score:
    """Counts over turns; `none` are the turns in which nothing is expected."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    none: int = 0
    none_wrong: int = 0
    exact: int = 0
    problems: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: Score) -> Score:
        return Score(
            self.right + other.right,
            self.wrong + other.wrong,
            self.missed + other.missed,
            self.none + other.none,
            self.none_wrong + other.none_wrong,
            self.exact + other.exact,
        )

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    @property
    def none_fp(self) -> float:
        return self.none_wrong / max(1, self.none)


def score(turn: dict[str, Any], heard: Sequence[Signal]) -> Score:
    """The counts of one turn."""
    left = list(heard)
    matched: list[tuple[dict[str, str], Signal]] = []
    missed = []
    for label in turn["expect"]:
        hit = next((signal for signal in left if satisfies(label, signal)), None)
        if hit is None:
            missed.append(label)
        else:
            left.remove(hit)
            matched.append((label, hit))
    wrong = [signal for signal in left if not _ignored(signal, turn, matched, heard)]
    none = not turn["expect"]
    problems = [("missed", f"{label['op']} {label['key']} = {label['value']}") for label in missed]
    problems += [("wrong", f"{signal.op} {signal.key} = {signal.value}") for signal in wrong]
    return Score(
        len(matched),
        len(wrong),
        len(missed),
        int(none),
        int(none and bool(wrong)),
        int(not wrong and not missed),
        tuple(problems),
    )


def satisfies(label: dict[str, str], signal: Signal) -> bool:
    """Whether a signal is what a label asks for."""
    if label["key"] != signal.key or (label["op"] == "remove") != (signal.op == "remove"):
        return False
    if label["value"] == "*":
        return True
    accepted = label["value"].split("|")
    if signal.key in FREE:
        return any(_squeezed(value) in _squeezed(signal.value) for value in accepted)
    return _canonical(signal.key, signal.value) in {_canonical(signal.key, value) for value in accepted}


def _ignored(
    signal: Signal, turn: dict[str, Any], matched: list[tuple[dict[str, str], Signal]], heard: Sequence[Signal]
) -> bool:
    if any(_same(signal, hit) for _, hit in matched) or any(satisfies(label, signal) for label in turn["optional"]):
        return True
    if signal.key in FREE and any(satisfies(label, signal) for label, _ in matched):
        return True
    if signal.op == "remove" and isinstance(turn["existing"].get(signal.key), str):
        return any(label["key"] == signal.key for label, _ in matched) and _canonical(
            signal.key, signal.value
        ) == _canonical(signal.key, turn["existing"][signal.key])
    topics = [label for label in turn["optional"] if label["key"] == "recent_topics"]
    topic_heard = any(label["key"] == "recent_topics" for label, _ in matched) or any(
        satisfies(label, other) for label in topics for other in heard
    )
    return signal.key == "recent_topics" and signal.op != "remove" and topic_heard


def _same(one: Signal, other: Signal) -> bool:
    return (one.key, one.op == "remove", _canonical(one.key, one.value)) == (
        other.key,
        other.op == "remove",
        _canonical(other.key, other.value),
    )


def _canonical(key: str, value: str) -> str:
    plain = _plain(value)
    if key in LISTS:
        return SHORT_FORMS.get(plain, plain)
    if key == "language":
        tag = {"zh-hant": "zh-tw", "zh-hans": "zh-cn", "english": "en"}.get(plain.replace("_", "-"), plain)
        return tag if tag.startswith("zh") else tag.split("-")[0]
    return plain


def _plain(value: str) -> str:
    folded = unicodedata.normalize("NFKC", value).casefold()
    return re.sub(r"\s+", " ", folded).strip(" \t\n.,;:!?\"'`()[]<>，。；：！？「」『』、～~")


def _squeezed(value: str) -> str:
    return re.sub(r"[\s_]+", "", _plain(value))
