"""A student's long life with the assistant, replayed: USER.md ends as the truth, and git has every change."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.student import Said, life
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.profile.profile import Profile
from vault_memory.core.text import comparable
from vault_memory.services.profiles.history import history
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault

EVERYTHING = 1_000_000


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True, timeout=600).stdout


def blobs(root: Path, names: list[str]) -> Iterator[bytes]:
    """The contents of these files of commits, from one git."""
    asked = "".join(f"{name}\n" for name in names).encode()
    told = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=root, input=asked, check=True, capture_output=True, timeout=600
    ).stdout
    for _ in names:
        head, _, told = told.partition(b"\n")
        size = int(head.split()[-1])
        yield told[:size]
        told = told[size + 1 :]


def replay(vault: Vault, turns: list[Said]) -> list[str]:
    """Record the turns; the summary of every change that was made, in order."""
    made: list[str] = []
    for turn in turns:
        recorded = record_turn(vault, "alice", turn.message, turn.reply, created_at=turn.at)
        assert recorded.paused is None
        if turn.changed:
            assert turn.changed in {change.key for change in recorded.changes}, turn.message
        made += [change.summary() for change in recorded.changes]
    return made


@pytest.mark.parametrize(
    "turns",
    [pytest.param(300, marks=pytest.mark.slow), pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.soak])],
)
def test_after_a_long_life_the_profile_is_the_truth(vault: Vault, turns: int) -> None:
    """The profile equals the truth, lists are bounded, nothing is there twice, every change has its commit."""
    said, truth = life(turns)
    made = replay(vault, said)
    vault.history.flush()

    text = vault.path("alice", "USER.md").read_text()
    profile = Profile.parse(text)
    known = {key: value for key, value in profile.values().items() if key != "joined"}
    expected = truth.scalars | {key: names for key, names in truth.lists.items() if names}
    assert {k: sorted(v) if isinstance(v, list) else v for k, v in known.items() if k != "recent_topics"} == {
        k: sorted(v) if isinstance(v, list) else v for k, v in expected.items()
    }
    assert list(map(comparable, profile.get("recent_topics") or [])) == list(map(comparable, truth.topics))

    for key, row in FIELDS.items():
        values = [comparable(item.value) for item in profile.items(key)]
        assert len(values) == len(set(values)) <= (row.max_items or EVERYTHING)
    assert profile.problems() == []
    lines = [line for line in text.splitlines() if line.startswith(("#", "-"))]
    assert [line for line, count in Counter(lines).items() if count > 1] == []

    commits = history(vault, "alice", limit=EVERYTHING)[::-1]
    assert [_summary(c.op, c.key, c.old, c.new) for c in commits] == made
    assert {c.author for c in commits} == {"vault-memory"}
    subjects = git(vault.root, "log", "--format=%s").splitlines()
    assert git(vault.root, "log", "--format=%B").count("\nVault-Turn: ") == turns
    created = any(s == "memory(alice): create USER.md" for s in subjects)
    assert sum(s.startswith("memory(alice): ") for s in subjects) == len(made) + created
    assert sum(s.startswith("log(alice): ") for s in subjects) < turns / 2
    # Each commit changed its own key and nothing else; the last one left what stands.
    path = vault.path("alice", "USER.md").relative_to(vault.root.resolve())
    shown = commits[:: max(1, len(commits) // 200)]
    texts = blobs(vault.root, [f"{rev}:{path}" for each in shown for rev in (f"{each.commit}^", each.commit)])
    for change in shown:
        before, after = Profile.decode(next(texts)), Profile.decode(next(texts))
        assert {key for key in FIELDS if before.items(key) != after.items(key)} == {change.key}
    assert git(vault.root, "show", f"HEAD:{path}") == text
    assert git(vault.root, "status", "--porcelain") == ""
    assert not git(vault.root, "fsck", "--no-dangling", "--no-progress").strip()
    records = [
        line for day in vault.path("alice", "conversations").glob("*.jsonl") for line in day.read_bytes().splitlines()
    ]
    assert len(records) == turns


def _summary(op: str, key: str, old: str, new: str) -> str:
    match op:
        case "strengthen":
            return f"{key} = {new} (strong)"
        case "weaken":
            return f"{key} = {new} (no longer strong)"
        case "remove":
            return f"{key} -= {old}"
        case "add":
            return f"{key} += {new}"
    return f"{key} = {new}"


def test_the_life_is_the_same_every_time_and_has_everything_in_it() -> None:
    said, truth = life(10_000)
    assert (said, truth) == life(10_000)
    assert len({turn.at.date() for turn in said}) > 500
    assert {turn.changed for turn in said} >= {*truth.scalars, "tools", "languages"}
    assert len(truth.topics) == FIELDS["recent_topics"].max_items
