"""All that references name, in their images, and the references brought to these."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.git import Repository
from vault_memory.core import reading

TIMEOUT_S = 1800.0
_OF_A_KIND = re.compile("refs/(?:(?:heads|tags|remotes)/)?")
_CHANGED_BRANCH = re.compile(r"\tcheckout: moving from (\S+) to (\S+)$", re.MULTILINE)
Step = Callable[[str], None]


def trees_of(top: Path) -> list[str]:
    """The tree of each commit, the last ones first."""
    args = ("log", "--exclude=refs/notes/*", "--all", "--reflog", "--format=%T")
    return [*dict.fromkeys(git.run(top, *args, timeout_s=TIMEOUT_S).decode().split())]


def rewrite_all(top: Path, rewrite: Rewrite) -> None:
    notes = set(_listed(top, "--glob=refs/notes/*"))
    listed = _listed(top, "--all", "--reflog")
    for commit in listed:
        if commit not in notes:
            rewrite.look_at(commit)
    for commit in listed:
        if commit not in notes:
            rewrite.commit(commit)
    for commit in listed:
        if commit in notes:
            rewrite.commit(commit, is_note=True)


def called(name: str) -> str:
    """A reference as a person calls it: `main`, a tag `v1`."""
    return _OF_A_KIND.sub("", name, count=1)


def references_named(repository: Repository, words: Collection[str]) -> list[str]:
    """The names of references, and of branches at which git's log has HEAD, in which one of these ids of users stands,
    in upper or lower case, and not as a part of a longer word."""
    listed = os.fsdecode(git.run(repository.top, "for-each-ref", "--format=%(refname)"))
    logged = os.fsdecode(files.read(repository.git_dir / "logs/HEAD", None) or b"")
    head = os.fsdecode(files.read(repository.git_dir / "HEAD") or b"").removeprefix("ref: ").strip()
    names = (*reading.lines(listed), head, *(name for moved in _CHANGED_BRANCH.findall(logged) for name in moved))
    ways = "|".join(map(re.escape, words))
    word = re.compile(rf"(?<![^\W_])(?:{ways})(?![^\W_])", re.ASCII | re.IGNORECASE)  # Chinese may stand beside it
    return sorted({name for each in names if word.search(name := called(each))}) if words else []


def _listed(top: Path, *which: str) -> list[str]:
    return git.run(top, "rev-list", "--topo-order", "--reverse", *which, timeout_s=TIMEOUT_S).decode().split()


@dataclass(frozen=True)
class Move:
    """A reference: what it names, the one that it leads to ("" for none), and what both are now."""

    name: str
    id: str
    leads_to: str
    name_now: str
    id_now: str


def moves_of(top: Path, rewrite: Rewrite) -> list[Move]:
    listed = git.run(top, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)")
    refs = [row.split("\0") for row in reading.lines(os.fsdecode(listed))]
    now = {name: rewrite.tag(old) for name, old, _ in refs}
    given = dict(now)
    found: list[Move] = []
    for name, old, leads_to in refs:
        masked = called = os.fsdecode(rewrite.reference(os.fsencode(name)))
        number = 1
        while called != name and given.get(called, now[name]) != now[name]:  # else a killed run has made it
            number += 1
            called = f"{masked}-{number}"
        given[called] = now[name]
        found.append(Move(name, old, leads_to, called, now[name]))
    return found


def move_references(repository: Repository, moves: Collection[Move], rewrite: Rewrite, step: Step) -> int:
    """Bring all references to what they name now, at once, if nobody has moved one since; the number that moved."""
    top = repository.top
    names = {each.name: each.name_now for each in moves}
    plain = [each for each in moves if not each.leads_to]
    updates = [f"update {each.name} {each.id_now} {each.id}" for each in plain if each.id_now != each.id]
    new = {each.name_now: each.id_now for each in plain if each.name_now not in names}
    _update(top, [*updates, *(f"create {name} {commit}" for name, commit in new.items())])
    step("references moved")
    head = (files.read(repository.git_dir / "HEAD") or b"").decode().removeprefix("ref: ").strip()
    for link, target in [("HEAD", head), *((each.name, each.leads_to) for each in moves if each.leads_to)]:
        if (now := names.get(target, os.fsdecode(rewrite.reference(os.fsencode(target))))) != target:
            git.run(top, "symbolic-ref", link, now)
    step("head moved")
    _update(top, [f"delete {each.name} {each.id_now}" for each in plain if each.name_now != each.name])
    return len(updates)


def _update(top: Path, rows: Collection[str]) -> None:
    if rows:
        told = "".join(f"{row}\n" for row in ("start", *rows, "commit"))
        git.run(top, "update-ref", "--no-deref", "--stdin", stdin=os.fsencode(told), timeout_s=TIMEOUT_S)
