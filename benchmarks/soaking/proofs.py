"""What must be true of a vault after the soak. Each proof returns what is wrong, in words."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from vault_memory.adapters import files
from vault_memory.core.profile.profile import Profile
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.vault import Vault, open_vault

NOTED_S = 1.0
"""A writer may take so long from a save to its note of the time."""


class Ledgers:
    """What the writers wrote down: turns and preferences that were begun, and those that they were told are done."""

    def __init__(self, folder: Path) -> None:
        self.rows = [row for path in sorted(folder.glob("*.jsonl")) for row in _lines(path)]

    def __len__(self) -> int:
        return sum(row["state"] in ("done", "refused") for row in self.rows)

    def is_in_a_merge_given_up(self, moment: float) -> bool:
        """Whether git was in a merge then that it did not finish: what others save meanwhile may be in no object of
        git's."""
        return any(row["began"] <= moment <= row["ended"] + NOTED_S for row in self.rows if row["kind"] == "merge")

    def ids(self, kind: str, state: str) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self.rows if row["kind"] == kind and row["state"] == state}


def lost_and_duplicated(vault: Vault, ledgers: Ledgers) -> tuple[list[str], list[str], list[str]]:
    """Turns in the conversation records and preferences in profiles and commits, against what the writers know.

    (lost, twice, lost to git): the last are lines written by hand that git put aside for a merge that it gave up,
    and did not
    bring back, or that were saved while it did so. docs/reliability.md shows it with git alone.
    """
    lost: list[str] = []
    twice: list[str] = []
    to_git: list[str] = []

    def check(what: str, count: int, *, is_done: bool) -> None:
        if count > 1:
            twice.append(f"{what}: {count} times")
        elif is_done and not count:
            lost.append(what)

    records = Counter(row.get("conversation_id") for row in conversations(vault))
    done = ledgers.ids("turn", "done")
    for name in ledgers.ids("turn", "begun"):
        check(f"turn {name}", records[name], is_done=name in done)

    notes = {user: Counter(Profile.decode(_profile(vault, user)).get("note") or []) for user in vault.user_ids()}
    commits = Counter(preference_commits(vault))
    for row in done.values():
        for key, value in row["changes"]:
            check(f"{key} = {value} of {row['user']} in USER.md", notes[row["user"]][value], is_done=True)
            check(f"the commit of {key} = {value} of {row['user']}", commits[row["user"], key, value], is_done=True)
    aside = put_aside(vault)
    hand, by_hand = ledgers.ids("hand", "done"), Counter(bullets_added(vault))
    for name, row in ledgers.ids("hand", "begun").items():
        value = f"手寫 {name}"
        is_nowhere = not notes[row["user"]][value] and not by_hand[value]
        if name in hand and is_nowhere and (value in aside or ledgers.is_in_a_merge_given_up(hand[name]["at"])):
            to_git.append(f"note = {value} in USER.md")
            continue
        check(f"note = {value} in USER.md", notes[row["user"]][value], is_done=name in hand)
        check(f"the commit of {value}", by_hand[value], is_done=name in hand)
    return lost, twice, to_git


def put_aside(vault: Vault) -> set[str]:
    """Every bullet of a profile in what git put aside for a merge, and forgot."""
    forgotten = [
        line.split()[2]
        for line in _git(vault, "fsck", "--unreachable", "--no-progress").splitlines()
        if " commit " in line
    ]
    found: set[str] = set()
    for commit in forgotten:
        if _git(vault, "log", "-1", "--format=%s", commit, "--").startswith("WIP on "):
            for user in vault.user_ids():
                text = _git(vault, "show", f"{commit}:memory/{user}/USER.md")
                found.update(line[2:] for line in text.splitlines() if line.startswith("- "))
    return found


def conversations(vault: Vault) -> Iterator[dict[str, Any]]:
    for path in vault.root.glob("memory/*/conversations/*.jsonl"):
        yield from _lines(path)


def preference_commits(vault: Vault) -> Iterator[tuple[str, str, str]]:
    """(user, key, new value) of every commit that changed a preference."""
    trailers = "%x00".join(
        f"%(trailers:key={key},valueonly,separator=%x0a)" for key in ("Vault-User", "Vault-Key", "Vault-New")
    )
    for line in _git(vault, "log", f"--format=%x01{trailers}").split("\x01")[1:]:
        user, key, value = line.rstrip("\n").split("\x00")
        if key:
            yield user, key, value


def bullets_added(vault: Vault) -> Iterator[str]:
    """Every bullet of a profile, once for each commit that added it.

    One that a commit removes and adds was moved: of an edit with several new values each gets a commit, with the value
    at the end of its list, and only the last commit has the lines in the order of the file.
    """
    log = _git(vault, "log", "--first-parent", "-p", "-U0", "--format=%x01", "--", "memory/*/USER.md")
    for commit in log.split("\x01"):
        lines = Counter(line[:1] + line[3:] for line in commit.splitlines() if line[:3] in ("+- ", "-- "))
        for line in lines:
            if line.startswith("+"):
                yield from [line[1:]] * (lines[line] - lines["-" + line[1:]])


def index_differs(vault: Vault, scratch: Path) -> list[str]:
    """Each index against one made anew from the same files, row by row, vectors too."""
    fresh = open_vault(vault.root, embedder=vault.given_embedder, index_dir=str(scratch))
    wrong = []
    for scope in vault.scopes():
        for each in (vault, fresh):
            reconcile(each, scope) if each is fresh else None
            while embed(each, scope):
                pass
        ours, theirs = _dump(vault.index_path(scope)), _dump(fresh.index_path(scope))
        if ours != theirs:
            some = sorted(row[0] for row in set(ours) ^ set(theirs))[:3]
            wrong.append(f"the index of {scope or 'the shared notes'} differs from a rebuilt one: {', '.join(some)}")
    return wrong


def git_is_sound(vault: Vault) -> list[str]:
    wrong = []
    if said := _git(vault, "fsck", "--full", "--strict", "--no-dangling", "--no-progress").strip():
        wrong.append(f"git fsck: {said[:300]}")
    if said := _git(vault, "status", "--porcelain").strip():
        wrong.append(f"not committed: {said[:300]}")
    state = vault.history.state()
    if state.waiting:
        wrong.append(f"{state.waiting} commits wait: {state.paused}")
    return wrong


def leftovers(vault: Vault) -> list[str]:
    """Locks that somebody holds, lock files of git, temporary files."""
    wrong = []
    for folder, _, names in os.walk(vault.root):
        for name in names:
            path = Path(folder, name)
            if files.is_temporary(name) or (
                ".git" in path.parts and name.endswith(".lock") and "vault-memory" not in path.parts
            ):
                wrong.append(f"left behind: {path.relative_to(vault.root)}")
    for path in (vault.root / ".vault-memory" / "locks").rglob("*.lock"):
        try:
            with files.lock(path, 0):
                pass
        except Exception as error:
            wrong.append(str(error))
    return wrong


def growth(samples: list[tuple[float, float]]) -> float:
    """How much a process grew in MB from the first to the last third of what was measured: (time, MB) each."""
    third = max(1, len(samples) // 3)
    first, last = (sorted(mb for _, mb in part)[third // 2] for part in (samples[:third], samples[-third:]))
    return last - first


def _dump(path: Path) -> list[tuple[Any, ...]]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    return db.execute(
        "SELECT source, kind, title, day, tags, content_hash, problem, position, line_start, line_end, "
        "heading, text, units,"
        " head, stems, c.identity, embedding FROM files f LEFT JOIN chunks c USING(file_id)"
        " LEFT JOIN vectors v USING(chunk_id) ORDER BY source, position"
    ).fetchall()


def _profile(vault: Vault, user: str) -> bytes:
    return files.read(vault.path(user, "USER.md")) or b""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue  # a writer was killed in the middle of it


def _git(vault: Vault, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(vault.root), *words], capture_output=True, text=True)
    return done.stdout + done.stderr
