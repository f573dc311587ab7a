"""A remote's rules of git, and its deletions, send nothing that is kept out of commits here, and garble nothing."""

from __future__ import annotations

import re

import pytest

from tests.services.sync.conftest import USER, Machine, git, push
from vault_memory.errors import HistoryError
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.sync.git_rules import may_match_own_kind
from vault_memory.services.turns import record_turn


@pytest.mark.parametrize(
    ("pattern", "may"),
    [
        ("*.md", True),
        ("*", True),
        ("memory/**", True),
        ("USER.md", True),
        ("*.[mM][dD]", True),
        ("daily/2031-*.M?", True),
        ("*l", True),
        ("[attr]x", True),
        ("*.[[:alpha:]]d", True),
        (r"*.m\d", True),
        ("*.png", False),
        ("*.[pP][nN][gG]", False),
        ("*.[^mM]d", False),
        ("pictures/*.tar.gz", False),
    ],
)
def test_which_patterns_may_match_files_that_the_vault_writes(pattern: str, may: bool) -> None:
    assert may_match_own_kind(f"{pattern} filter=lfs".encode()) is may


@pytest.mark.slow
def test_private_files_stay_ignored_for_plain_git_too(remote: Machine, one: Machine) -> None:
    """Nothing else is ignored here: the program sends none of these, but `git status` would show them as new."""
    record_turn(one.vault, "alice", "hello", "hi")
    one.sync()
    ours = one.read(".gitignore")
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{".gitignore": "# nothing\n", "note.md": "# n\n"})
    (line,) = one.sync().notes
    assert "memory/alice/index.db" in line and one.read(".gitignore") == ours and one.read("note.md") == "# n\n"
    assert git(one.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_is_ignored_here_stays_ignored_whatever_a_remote_sends(remote: Machine, one: Machine) -> None:
    deep, lines = "memory/.gitignore", "/memory/alice/private/\n*.key\n!public.key\n"
    one.write(".gitignore", one.read(".gitignore") + lines)
    one.write(".git/info/exclude", "diary.md\n")
    ignored = ("memory/alice/private/a.md", "deep/my.key", "diary.md", ".trash/old.md")
    one.sync()
    for name in ignored:
        one.write(name, "mine alone\n")
    ours = one.read(".gitignore")
    sent: list[tuple[dict[str, str], str]] = [
        ({".gitignore": ""}, r"no longer ignore \d+ files \("),
        ({".gitignore": ours + "!diary.md\n"}, r"no longer ignore 1 file \(diary.md\)"),
        ({deep: "!*\n"}, r"no longer ignore \d+ files? \("),
        ({".gitignore": ours.replace("*.key", "*.kez"), deep: "*.bak\n"}, r"no longer ignore 1 file \(deep/my.key\)"),
        ({".gitignore": "x\n" * 60_000}, "too large"),
    ]
    for files, why in sent:
        git(remote.root, "pull", "-q", "--no-rebase")
        push(remote, **files, **{"note.md": f"# {len(str(files))}\n"})
        notes = one.sync().notes
        assert all("cannot be used" in line or "too large" in line for line in notes) and len(notes) == len(files)
        assert re.search(why, notes[0]), notes
        assert one.read(".gitignore") == ours and not (one.root / deep).exists()
        assert one.read("note.md") == remote.read("note.md"), "everything else comes"
        one.assert_clean()
    git(remote.root, "pull", "-q", "--no-rebase")
    git(remote.root, "rm", "-q", ".gitignore")
    push(remote, **{"note.md": "# deleted\n"})
    (line,) = one.sync().notes
    assert "cannot be used" in line and one.read(".gitignore") == ours
    commit_person_edits(one.vault, None)
    one.sync()
    assert "mine alone" not in git(one.root, "log", "-p", "--all")
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{".gitignore": ours.replace("!public.key\n", "*.bak\n"), deep: "*.old\n"})
    assert one.sync().notes == () and "*.bak" in one.read(".gitignore") and one.read(deep) == "*.old\n"


@pytest.mark.slow
def test_a_deleted_file_whose_text_is_kept_out_of_commits_stays_tracked(remote: Machine, one: Machine) -> None:
    names = ("skipped.md", "assumed.md", "renamed.md", USER)
    for name in names[:3]:
        one.write(name, "base\n" * 9)
    one.write(".gitignore", one.read(".gitignore") + "secret.env\n")
    one.sync()
    for name, flag in zip(names, ("--skip-worktree", "--assume-unchanged") * 2, strict=True):
        git(one.root, "update-index", flag, name)
        one.write(name, one.read(name) + "mine alone\n")
    one.write("secret.env", "mine alone\n")
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{"secret.env": "theirs\n"})
    one.sync()
    flags = git(one.root, "ls-files", "-v", *names)
    git(remote.root, "rm", "-q", *names[:2], USER, "secret.env")
    git(remote.root, "mv", "renamed.md", "new.md")
    push(remote, **{".gitignore": remote.read(".gitignore").replace("secret.env\n", "")})
    notes = one.sync().notes
    assert any("4 files" in line and "skip-worktree or assume-unchanged" in line for line in notes), notes
    assert any("no longer ignore 1 file (secret.env)" in line for line in notes), notes
    assert git(one.root, "ls-files", "-v", *names) == flags and one.read("new.md") == "base\n" * 9
    commit_person_edits(one.vault, None)
    one.sync()
    one.assert_clean()
    assert "mine alone" not in git(one.root, "log", "-p", "--all") and "mine alone" in one.read("skipped.md")
    git(remote.root, "pull", "-q", "--no-rebase")
    git(remote.root, "rm", "-q", "skipped.md")
    push(remote, **{"skipped.md/.obsidian/plugins/x/main.js": "run()\n"})
    with pytest.raises(HistoryError, match=r"skipped\.md is a folder there and a file here"):
        one.sync()


@pytest.mark.slow
def test_a_filter_that_a_remote_newly_sets_for_the_vaults_own_files_is_not_taken_in(
    remote: Machine, one: Machine
) -> None:
    git(one.root, "config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    git(one.root, "config", "--global", "filter.rot.smudge", "tr a-z n-za-m")
    one.write(".gitattributes", one.read(".gitattributes") + "/attic/* filter=rot\n/attic/*.md -filter\n")
    one.write("attic/a.md", "# a\n")
    one.sync()
    ours = one.read(".gitattributes")
    for name, text in (
        (".gitattributes", ours + "*.md filter=rot\n"),
        (".gitattributes", ours + "[attr]x filter=rot\n"),
        ("memory/alice/.gitattributes", "daily/2031-* filter=rot\n"),
        (".gitattributes", ours.replace("/attic/*.md -filter\n", "")),
    ):
        git(remote.root, "pull", "-q", "--no-rebase")
        push(remote, **{name: text, "note.txt": text})
        (line,) = one.sync().notes
        assert "cannot be used" in line and "filter" in line, line
        assert one.read(".gitattributes") == ours and one.read("note.txt") == text
        one.assert_clean()
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{".gitattributes": ours + "*.png filter=rot\n"})
    assert one.sync().notes == () and "*.png" in one.read(".gitattributes")
    push(remote, **{".gitattributes": ours + "*.png filter=rot\n*.gif filter=rot\n", "a.gif": "pointer\n"})
    before = git(one.root, "rev-parse", "HEAD")
    with pytest.raises(HistoryError, match=r"a\.gif goes through the git filter rot"):
        one.sync()
    assert git(one.root, "rev-parse", "HEAD") == before and "*.gif" not in one.read(".gitattributes")
