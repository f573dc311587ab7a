"""A person who uses git in a vault beside the assistant, and the proof that nobody's words went where they must not.

Every line that somebody writes has a mark of its own: `tokp7z` is the person's, `tokb8z` that of their other machine,
`toka9z` the assistant's. After every step the marks on the disk and at the tips of all branches are compared with what
the step may have changed. The daemon is played by `look`, which does what it does, between and in the middle of steps.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.errors import Busy, Changed, HistoryError
from vault_memory.services.admin import create_vault
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.turns import learn_waiting, record_turn, turns_waiting
from vault_memory.services.vault import open_vault

MARK = re.compile(rb"tok[pab][0-9]+z")
USER = "alice"
NOTES = [f"notes/{name}.md" for name in "abcd"] + ["memory/alice/notes/diary.md", "memory/alice/USER.md"]
PERSON, OTHER = "Pat", "Pat elsewhere"
THEMES = ("dark", "light")
FAULTS = ("resurrected", "misplaced", "misattributed", "lost", "stuck")

_TIP, _COMMIT = "%(HEAD)%09%(objectname)%09%(refname:short)", "%H%x09%an%x09%cn%x09%P"

Marks = frozenset[str]


@dataclass(frozen=True)
class Seen:
    """The marks at each branch's tip and on the disk; `branch` is the one that is checked out."""

    branch: str
    tips: dict[str, Marks]
    disk: Marks

    @property
    def open(self) -> Marks:
        """On the disk, and in no commit of this branch."""
        return self.disk - self.tips.get(self.branch, frozenset())


@dataclass
class May:
    """What a step may change: marks that it brings to this branch, drops from the disk, or takes from branches."""

    brought: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


class Person:
    """A vault below `folder`, its person, and the faults that were found (`faults`, with a line for each in `told`).

    A `template`, to which nothing has happened yet, is copied: that takes a tenth of the time of setting up."""

    def __init__(self, folder: Path, seed: int, template: Person | None = None) -> None:
        self.rng = random.Random(seed)
        self.folder, self.root = folder, folder / "vault"
        self.faults: Counter[str] = Counter()
        self.told: list[str] = []
        self.steps: list[str] = []
        self._count = 0
        self._discarded: set[str] = set()
        self._removed: set[str] = set()
        self._stashes: list[Marks] = []
        self._said: set[str] = set()
        self._with_their_branch: set[str] = set()
        self._known: set[str] = set()
        self._held: dict[str, Marks] = {}
        self._began, self._gate = folder / "began", folder / "gate"
        self._use_their_settings()
        if template is None:
            self._set_up()
        else:
            self._set_up_like(template)
        self._known = set(self._lines("rev-list", "--all"))
        self.seen = self.see()

    def _use_their_settings(self) -> None:
        script = self.folder / "smudge.py"
        script.write_text(
            "import os, sys, time\n"
            f"gate, began, end = {str(self._gate)!r}, {str(self._began)!r}, time.monotonic() + 30\n"
            "if os.path.exists(gate) and sys.argv[1].endswith(open(gate).read()):\n"
            "    open(began, 'w').close()\n"
            "    while os.path.exists(gate) and time.monotonic() < end: time.sleep(0.01)\n"
            "sys.stdout.buffer.write(sys.stdin.buffer.read())\n"
        )
        config = self.folder / "gitconfig"
        config.write_text(
            f"[user]\n\tname = {PERSON}\n\temail = pat@example.org\n[init]\n\tdefaultBranch = main\n"
            f'[filter "slow"]\n\tsmudge = {sys.executable} -S {script} %f\n\tclean = cat\n[gc]\n\tauto = 0\n'
            "[advice]\n\tdetachedHead = false\n"
        )
        os.environ["GIT_CONFIG_GLOBAL"] = str(config)  # who calls puts the former one back

    def _set_up_like(self, template: Person) -> None:
        self._count, self._said = template._count, set(template._said)
        self.rng.choice(THEMES)  # as setting up does: a seed stands for the same life either way
        for name in ("vault", "remote", "elsewhere"):
            shutil.copytree(template.folder / name, self.folder / name, symlinks=True)
        for name in ("vault", "elsewhere"):
            config = self.folder / name / ".git" / "config"
            config.write_text(config.read_text().replace(str(template.folder), str(self.folder)))
            self.git("update-index", "-q", "--refresh", at=self.folder / name)
        self.vault = open_vault(self.root)

    def _set_up(self) -> None:
        create_vault(self.root)
        self.vault = open_vault(self.root)
        self.turn()
        for note in NOTES[:-1]:
            self._write(note, f"# {note}\n\n{self._mark('p')}\n")
        with (self.root / ".gitattributes").open("a") as file:
            file.write("*.bin filter=slow\n")
        self.look()
        self.git("branch", "two")
        self.git("switch", "-q", "two")
        for video in ("m-video.bin", "notes/z-video.bin"):
            (self.root / video).write_text("movie\n")
        self.git("add", ".")
        self.git("commit", "-qm", "video")
        self.git("switch", "-q", "main")
        self.git("clone", "-q", "--bare", ".", str(self.folder / "remote"))
        self.git("remote", "add", "origin", str(self.folder / "remote"))
        self.git("fetch", "-q", "origin")
        self.git("branch", "-q", "--set-upstream-to=origin/main")
        self.git("clone", "-q", str(self.folder / "remote"), str(self.folder / "elsewhere"))

    # What the parties do -----------------------------------------------------------------------------------------

    def git(self, *words: str, at: Path | None = None) -> bool:
        """Run git as the person; whether it succeeded."""
        command = ["git", "-C", str(at or self.root), "-c", "core.editor=true", *words]
        return subprocess.run(command, capture_output=True, timeout=90).returncode == 0

    def look(self) -> None:
        """What the daemon does, in its order."""
        try:
            self.vault.history.flush()
            commit_person_edits(self.vault, None)
            learn_waiting(self.vault, USER)
        except (HistoryError, Changed, Busy):  # it tries again; at the end it must have succeeded
            pass

    def turn(self) -> None:
        mark = self._mark("a")
        self._said.add(mark)
        theme = self.rng.choice(THEMES)
        recorded = record_turn(self.vault, USER, f"{mark}: I prefer {theme} mode", "Noted.", index=False)
        assert recorded.source

    def meanwhile(self) -> None:
        """What may happen in the middle of a step."""
        for _ in range(self.rng.randrange(3)):
            self.rng.choice([self.look, self.look, self.turn])()

    # Steps: each ends with no operation of git's in progress ---------------------------------------------------------

    def edit(self, may: May) -> None:
        note = self.rng.choice(NOTES)
        path = self.root / note
        lines = path.read_text().split("\n") if path.exists() else [f"# {note}", "", ""]
        mark = self._mark("p")
        at = self.rng.choice([len(lines) - 1, min(2, len(lines) - 1)]) if not note.endswith("USER.md") else -1
        lines.insert(at, mark)
        self._write(note, "\n".join(lines))
        may.brought.add(mark)

    def new_note(self, may: May) -> None:
        mark = self._mark("p")
        self._write(f"notes/{mark}.md", f"# {mark}\n")
        may.brought.add(mark)

    def delete_note(self, may: May) -> None:
        path = self.root / self.rng.choice(NOTES[:4])
        if path.exists():
            gone = _marks(path.read_bytes())
            path.unlink()
            self._removed |= gone

    def rename_note(self, may: May) -> None:
        path = self.root / self.rng.choice(NOTES[:4])
        if path.exists():
            self._removed |= _marks(path.read_bytes())  # under its old name
            path.rename(path.with_name(f"{path.stem}-{self._count}.md"))

    def stage(self, may: May) -> None:
        self.git("add", self.rng.choice([".", *NOTES]))

    def unstage(self, may: May) -> None:
        self.git("restore", "--staged", ".")

    def commit(self, may: May) -> None:
        self.git("commit", "-qam", "mine")

    def stash(self, may: May) -> None:
        held = self.see().open
        words = ["-u"] if self.rng.random() < 0.5 else []
        before = self._lines("stash", "list")
        if self.git("stash", "push", "-q", *words) and len(self._lines("stash", "list")) > len(before):
            taken = held - self.see().disk
            self._stashes.append(frozenset(taken))
            may.dropped |= taken

    def stash_pop(self, may: May) -> None:
        if not self._stashes:
            return
        marks = self._stashes[-1]
        held = self.see().open
        if self.git("stash", "pop", "-q"):
            self._stashes.pop()
            may.brought |= marks
        elif self._lines("diff", "--name-only", "--diff-filter=U"):
            self.meanwhile()
            self.git("reset", "-q", "--hard")
            may.dropped |= held | marks
            self._discarded |= {mark for mark in held if mark[3] != "a"}

    def stash_drop(self, may: May) -> None:
        if self._stashes and self.git("stash", "drop", "-q"):
            self._discarded |= self._stashes.pop()

    def reset_hard(self, may: May) -> None:
        self._discard(may, "reset", "-q", "--hard")

    def checkout_file(self, may: May) -> None:
        self._discard(may, "checkout", "-q", "HEAD", "--", self.rng.choice(NOTES))

    def _discard(self, may: May, *words: str) -> None:
        held = self.see().open
        self.git(*words)
        gone = {mark for mark in held - self.see().disk if mark[3] != "a"}
        may.dropped |= held
        self._discarded |= gone

    def switch(self, may: May) -> None:
        self.git("switch", "-q", self._other())

    def slow_switch(self, may: May) -> None:
        with self._slowly():
            self.git("switch", "-q", self._other())

    def new_branch(self, may: May) -> None:
        if len(self.seen.tips) < 4:
            self.git("switch", "-qc", f"branch{self._count}")
            self._count += 1

    def delete_branch(self, may: May) -> None:
        other = self._other()
        if other not in ("main", "two") and self.git("branch", "-D", other):
            may.gone |= self.seen.tips[other]
            self._with_their_branch |= self.seen.tips[other]

    def merge(self, may: May) -> None:
        other = self._other()
        may.brought |= self.seen.tips[other]
        held = self.see().open
        if not self.git("merge", "-q", "--no-edit", other) and self._stopped():
            self.meanwhile()
            if self.rng.random() < 0.5:
                self.git("merge", "--abort")
                may.dropped |= {mark for mark in held if mark[3] != "a"} if held - self.see().disk else set()
            else:
                self._resolve()
                self.git("commit", "-q", "--no-edit")

    def rebase(self, may: May) -> None:
        other = self._other()
        may.brought |= self.seen.tips[other]
        self.git("rebase", "-q", other)
        self._through("rebase")

    def cherry_pick(self, may: May) -> None:
        other = self._other()
        may.brought |= self.seen.tips[other]
        self.git("cherry-pick", other)
        self._through("cherry-pick")

    def _through(self, what: str) -> None:
        """Look at what is stopped, then abort or go on."""
        abort = self.rng.random() < 0.4
        for _ in range(20):
            if not self._stopped():
                return
            self.meanwhile()
            if abort:
                break
            self._resolve()
            if self.git(what, "--continue") or self._lines("diff", "--name-only", "--diff-filter=U"):
                continue  # or the next commit is in conflict: to skip that would drop its words
            if not self.git(what, "--skip"):
                break
        self.git(what, "--abort")

    def pull(self, may: May) -> None:
        there = self.folder / "elsewhere"
        mark = self._mark("b")
        note = there / self.rng.choice(NOTES)
        self.git("pull", "-q", at=there)
        note.parent.mkdir(parents=True, exist_ok=True)
        with note.open("a") as file:
            file.write(mark + "\n")
        for name in ("a-video.bin", "z-video.bin"):  # git writes one before everything else, one after it
            (there / name).write_text(mark + "\n")
        self.git("add", ".", at=there)
        self.git("-c", f"user.name={OTHER}", "commit", "-qm", "from elsewhere", at=there)
        self.git("push", "-q", at=there)
        if self.seen.branch != "main":
            return
        may.brought |= _marks(
            subprocess.run(
                ["git", "-C", str(there), "grep", "-ahoE", "tok[pab][0-9]+z", "HEAD"], capture_output=True
            ).stdout
        )
        how = self.rng.choice(["--no-rebase", "--rebase"])
        with self._slowly():
            self.git("pull", "-q", "--no-edit", how)
        self._through("rebase" if how == "--rebase" else "merge")

    def detach(self, may: May) -> None:
        branch = self.seen.branch
        if self.git("switch", "-q", "--detach", "HEAD~1"):
            self.meanwhile()
            self.git("switch", "-q", branch)

    def bisect(self, may: May) -> None:
        if not self.see().open and self.git("bisect", "start", "HEAD", "HEAD~3"):
            self.meanwhile()
            self.git("bisect", "reset")

    def crashed_git(self, may: May) -> None:
        lock = self.root / ".git" / "index.lock"
        lock.touch()
        self.meanwhile()
        lock.unlink()

    def killed_switch(self, may: May) -> None:
        """`kill -9` of a git that fetches a video; the person deletes its locks, and later takes back what it left.

        Where it had only deleted or emptied files by then, nothing tells these from what the person does.
        """
        held, other, before = self.see().open, self._other(), self._lines("status", "--porcelain", "-uall")
        locks = [self.root / ".git" / name for name in ("index.lock", "HEAD.lock")]
        self._began.unlink(missing_ok=True)
        self._gate.write_text(self.rng.choice(["", "z-video.bin"]))
        words = ["git", "-C", str(self.root), "switch", "-q", other]
        with subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            end = time.monotonic() + self.rng.choice([0.005, 5])  # at once, or where the video is fetched
            while process.poll() is None and not self._began.exists() and time.monotonic() < end:
                time.sleep(0.001)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self._gate.unlink(missing_ok=True)
        after = self._lines("status", "--porcelain", "-uall")
        blank = [
            row for row in after if row[:2] == " D" or (row[:2] == " M" and not (self.root / row[3:]).stat().st_size)
        ]
        if all(row in blank for row in after if row not in before):
            for row in blank:
                self._removed |= _marks(self._bytes(f"HEAD:{row[3:]}"))
        self.meanwhile()
        for lock in locks:
            lock.unlink(missing_ok=True)
        tips = self.see().tips
        self.look()
        self.meanwhile()
        now = self.see()
        if self._lines("symbolic-ref", "--short", "HEAD") == [self.seen.branch]:
            for mark in now.tips[now.branch] - tips[now.branch] - held:
                if mark[3] != "a":
                    self._found("misplaced", f"{mark} on {now.branch} by a killed checkout")
            for mark in tips[now.branch] - now.tips[now.branch] - self._removed:
                self._found("lost", f"{mark} from {now.branch} by a killed checkout of {other}, which left {after}")
            self.seen = now  # what the person had open is committed here, and they may go elsewhere now
        words = ["switch", "-q", "-f", other] if self.rng.random() < 0.5 else ["reset", "-q", "--hard"]
        waited = self._waiting(self.see())
        may.dropped |= held | self.see().open
        self._discard(may, *words)
        if "-f" in words:  # nobody can tell it from a deletion by hand and a switch
            self._removed |= waited - self.see().disk
        self.git("clean", "-q", "-f", "-d")

    STEPS = (
        *(["edit"] * 5), "new_note", "delete_note", "rename_note", *(["stage"] * 2), "unstage", "commit", "stash",
        "stash_pop", "stash_pop", "stash_drop", "reset_hard", "checkout_file", *(["switch"] * 2), "slow_switch",
        "new_branch", "delete_branch", "merge", "rebase", "cherry_pick", "pull", "detach", "bisect", "crashed_git",
        "killed_switch",
    )  # fmt: skip

    def step(self, name: str) -> None:
        """One step, what the daemon and the assistant do after it, and the check."""
        self.steps.append(name)
        may = May()
        getattr(self, name)(may)
        if self.rng.random() < 0.6:
            self.look()
        if self.rng.random() < 0.3:
            self.turn()
        self.check(may)

    # The proof -------------------------------------------------------------------------------------------------------

    def see(self) -> Seen:
        rows = [row.split("\t") for row in self._lines("for-each-ref", f"--format={_TIP}", "refs/heads")]
        held = self._at(*(commit for _, commit, _ in rows))
        disk: set[str] = set()
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".git", ".vault-memory", "conversations")]
            for name in files:
                disk |= _marks(Path(folder, name).read_bytes()) if not name.startswith((".", "index.db")) else set()
        branch = next((name for is_here, _, name in rows if is_here == "*"), "")
        return Seen(branch, {name: held[commit] for _, commit, name in rows}, frozenset(disk))

    def check(self, may: May) -> None:
        before, now = self.seen, self.see()
        if now.branch not in now.tips:
            self._found("stuck", "no branch is checked out")
            for what in ("rebase", "cherry-pick", "merge"):
                self.git(what, "--abort")
            self.git("switch", "-q", before.branch)
            now = self.see()
        allowed = {*may.brought, *self._removed}
        for branch, marks in now.tips.items():
            was = before.tips.get(branch, before.tips.get(before.branch, frozenset()) | before.disk)
            new = marks - was - self._removed
            if branch == now.branch:
                new -= before.open | allowed
            for mark in new:
                if mark[3] == "a" and mark in self._waiting(before):
                    continue
                self._found("resurrected" if mark in self._hidden() else "misplaced", f"{mark} on {branch}")
            for mark in was - marks - may.gone - self._removed if branch in before.tips else ():
                self._found("lost", f"{mark} from {branch}")
        for mark in now.open - before.open - before.tips.get(now.branch, frozenset()) - allowed:
            if mark[3] != "a":
                self._found("resurrected" if mark in self._hidden() else "misplaced", f"{mark} on the disk")
        here = now.disk | now.tips[now.branch]
        for mark in before.open - here - may.dropped - self._removed:
            if mark[3] != "a":
                self._found("lost", f"{mark} from the disk")
        self._check_authors()
        self.seen = now

    def _hidden(self) -> set[str]:
        """What the person has put away: discarded, or in a stash."""
        return self._discarded.union(*self._stashes)

    def _waiting(self, seen: Seen) -> set[str]:
        """What the assistant was told and had not committed."""
        return self._said.difference(*seen.tips.values())

    def _check_authors(self) -> None:
        rows = [row.split("\t") for row in self._lines("log", f"--format={_COMMIT}", "--branches")]
        new = {
            commit: (author, parents.split())
            for commit, author, committer, parents in rows
            if commit not in self._known and committer == "vault-memory"
        }
        self._known.update(commit for commit, *_ in rows)
        if not new:
            return
        held = self._at(*new, *(parent for _, parents in new.values() for parent in parents))
        expected = {"p": PERSON, "b": OTHER, "a": "vault-memory"}
        for commit, (author, parents) in new.items():
            for mark in held[commit].difference(*(held[parent] for parent in parents)):
                if expected[mark[3]] != author and not (mark[3] == "b" and len(parents) > 1):
                    self._found("misattributed", f"{mark} to {author} in {commit[:8]}")
        for row in self._lines("grep", "-lE", "^(<{7}|>{7}) ", *new, "--"):
            self._found("misplaced", f"conflict marks in {row[:8]}")

    def finish(self) -> None:
        """Everything that waits is done when the person is done; then every turn is there, once."""
        self.git("switch", "-q", "main") or self.git("stash", "-q") and self.git("switch", "-q", "main")
        self.git("restore", "--staged", ".")
        for _ in range(3):
            self.look()
        state = self.vault.history.state()
        if state.waiting or turns_waiting(self.vault, USER):
            turns = turns_waiting(self.vault, USER)
            self._found("stuck", f"{state.waiting} commits and {turns} turns wait: {state.paused or state.lock}")
        if left := self._lines("status", "--porcelain"):
            self._found("stuck", f"left: {left[:5]}")
        for mark in sorted(self._said.difference(self._with_their_branch, self._removed, *self.see().tips.values())):
            self._found("lost", f"{mark}, which the assistant was told")

    def _found(self, fault: str, what: str) -> None:
        self.faults[fault] += 1
        self.told.append(f"{fault}: {what} after {' '.join(self.steps[-4:])} (step {len(self.steps)})")

    # Parts -----------------------------------------------------------------------------------------------------------

    def _mark(self, kind: str) -> str:
        self._count += 1
        return f"tok{kind}{self._count}z"

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _lines(self, *words: str) -> list[str]:
        command = ["git", "-C", str(self.root), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.split("\n")[:-1]

    def _bytes(self, name: str) -> bytes:
        return subprocess.run(["git", "-C", str(self.root), "show", name], capture_output=True).stdout

    def _at(self, *commits: str) -> dict[str, Marks]:
        """The marks in the files of each of these commits."""
        if new := {commit for commit in commits if commit not in self._held}:
            found: dict[str, set[str]] = {commit: set() for commit in new}
            command = ["git", "-C", str(self.root), "grep", "-aoE", "tok[pab][0-9]+z", *new, "--"]
            for row in subprocess.run(command, capture_output=True).stdout.split(b"\n")[:-1]:
                found[row.partition(b":")[0].decode()] |= _marks(row.rpartition(b":")[2])
            self._held |= {commit: frozenset(marks) for commit, marks in found.items()}
        return {commit: self._held[commit] for commit in commits}

    def _other(self) -> str:
        return self.rng.choice([name for name in self.seen.tips if name != self.seen.branch])

    def _stopped(self) -> bool:
        return self.vault.history.stopped() is not None and "detached" not in (self.vault.history.stopped() or "")

    def _resolve(self) -> None:
        """Keep both sides of each conflict."""
        for name in self._lines("-c", "core.quotePath=false", "diff", "--name-only", "--diff-filter=U"):
            path = self.root / name
            if path.exists():
                kept = re.sub(rb"(?m)^(<{7}|={7}|>{7}|\|{7}).*\n?", b"", path.read_bytes())
                path.write_bytes(kept)
                self.git("add", "--", name)
            else:
                self.git("rm", "-q", "--", name)

    @contextmanager
    def _slowly(self) -> Iterator[None]:
        """Hold up git where it fetches a video; meanwhile the daemon looks."""
        self._began.unlink(missing_ok=True)
        self._gate.touch()

        def meanwhile() -> None:
            end = time.monotonic() + 5
            while not self._began.exists() and time.monotonic() < end and not done.is_set():
                time.sleep(0.01)
            if self._began.exists():
                self.look()
                self.meanwhile()
                self.look()
            self._gate.unlink(missing_ok=True)

        done = threading.Event()
        thread = threading.Thread(target=meanwhile)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(60)


def _marks(data: bytes) -> set[str]:
    return {mark.decode() for mark in MARK.findall(data)}
