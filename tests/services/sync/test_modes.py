"""A mode that a remote changed is merged as its text is: commit, git's index and disk agree afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.services.sync.conftest import USER, Machine, git, push

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no modes on Windows")]

NOTE, LOG = "memory/alice/notes/idea.md", "memory/alice/MEMORY.md"


def modes(machine: Machine, *names: str) -> set[str]:
    """The modes of files in HEAD, which the index and the disk have, too."""
    machine.assert_clean()
    found = {row.split()[0] for row in git(machine.root, "ls-tree", "HEAD", "--", *names).splitlines()}
    assert found == {"100755" if os.access(machine.root / name, os.X_OK) else "100644" for name in names}
    return found


def make(machine: Machine, mode: int, *names: str) -> None:
    for name in names:
        (machine.root / name).chmod(mode)
    git(machine.root, "commit", "-qam", "modes")


@pytest.mark.parametrize("is_behind", [True, False], ids=["fast-forward", "merge"])
def test_the_mode_of_a_remote_comes_in(one: Machine, remote: Machine, is_behind: bool) -> None:
    push(remote, **{"new.md": "new\n", "run.sh": "echo\n"})
    one.sync()
    (remote.root / "later.sh").write_text("echo\n")
    git(remote.root, "add", "later.sh")
    make(remote, 0o755, USER, NOTE, "new.md", "later.sh")
    git(remote.root, "push", "-q")
    if not is_behind:
        one.write("own.md", "own\n")
        one.edit(NOTE, "one", "ONE")
    one.sync()
    assert modes(one, USER, NOTE, "new.md", "later.sh") == {"100755"} and modes(one, "run.sh") == {"100644"}
    git(remote.root, "pull", "-q")
    assert modes(remote, USER, NOTE, "later.sh") == {"100755"}
    make(remote, 0o644, USER, "later.sh")
    git(remote.root, "push", "-q")
    one.sync()
    assert modes(one, USER, "later.sh") == {"100644"}, "and back again"


def test_a_mode_below_edits_and_of_both_sides(one: Machine, remote: Machine) -> None:
    """A file with edits that no commit takes gets the mode; of a file whose mode this side changed, too, ours stays."""
    push(remote, **{"ours.sh": "echo\n", "secret.md": "one\n"})
    one.sync()
    make(remote, 0o755, "secret.md", "ours.sh")
    make(remote, 0o644, "ours.sh")
    push(remote, **{"ours.sh": "echo two\n"})
    make(one, 0o755, "ours.sh")
    one.write("secret.md", "one\nghp_16C7e42F292c6912E7710c838347Ae178B4a\n")
    one.sync()
    assert git(one.root, "status", "--porcelain") == " M secret.md\n", "the text alone"
    assert git(one.root, "diff", "--summary") == ""
    assert git(one.root, "ls-tree", "HEAD", "secret.md").startswith("100755")
    one.write("secret.md", "one\n")
    assert modes(one, "secret.md", "ours.sh") == {"100755"} and one.read("ours.sh") == "echo two\n"


def test_a_disk_without_modes_keeps_its_own(one: Machine, remote: Machine, tmp_path: Path) -> None:
    git(one.root, "config", "core.fileMode", "false")
    make(remote, 0o755, USER)
    git(remote.root, "push", "-q")
    one.sync()
    one.assert_clean()
    assert git(one.root, "ls-tree", "HEAD", USER).startswith("100755") and not os.access(one.root / USER, os.X_OK)
