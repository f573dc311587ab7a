"""A history is what its commits say: what makes plain git see another one stops no sync, or is named."""

from __future__ import annotations

import pytest

from tests.services.sync.conftest import Machine, git
from vault_memory.errors import HistoryError

pytestmark = pytest.mark.slow


def test_grafts_and_replaced_commits_are_not_followed(one: Machine, two: Machine) -> None:
    """Each makes a commit, that no remote has yet, one without parents for plain git."""

    def commit(name: str) -> str:
        two.write(f"memory/alice/notes/{name}", "here\n")
        git(two.root, "add", "memory")
        git(two.root, "commit", "-q", "-m", "mine")
        return git(two.root, "rev-parse", "HEAD")

    (two.root / ".git/info/grafts").write_text(commit("a.md"))
    assert two.sync().sent == 1
    (two.root / ".git/info/grafts").unlink()
    commit("b.md")
    git(two.root, "replace", "--graft", "HEAD")
    one.write("memory/alice/notes/c.md", "there\n")
    one.sync()
    assert two.sync().received and two.read("memory/alice/notes/c.md") == "there\n"
    one.sync()
    assert one.read("memory/alice/notes/b.md") == "here\n"
    one.assert_clean()


def test_garbage_in_shallow_is_named_with_the_next_step(one: Machine) -> None:
    (one.root / ".git/shallow").write_text("garbage\n")
    with pytest.raises(HistoryError, match=r"\.git/shallow is damaged(.|\n)*delete it"):
        one.sync()
