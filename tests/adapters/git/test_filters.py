"""A file's blob is the one that git itself would make, with any attributes and settings."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import Vault
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange

NOTE = PurePosixPath("notes/tea.md")


@pytest.mark.parametrize(
    ("attributes", "settings", "content"),
    [
        ("", {}, b"plain\r\n"),
        ("* -text\n", {"core.autocrlf": "true"}, b"kept\r\n"),
        ("", {"core.autocrlf": "input"}, b"converted\r\n"),
        ("*.md text\n", {}, b"converted\r\n"),
        ("*.md text\n", {}, b"nothing to convert\n"),
        ("*.md filter=rot\n", {"filter.rot.clean": "tr a-z b-za", "filter.rot.smudge": "tr b-za a-z"}, b"secret\n"),
        ("*.md ident\n", {}, b"$Id: 0123$\n"),
        ("*.md working-tree-encoding=UTF-16\n", {}, "笔记\n".encode()),
        ("*.md working-tree-encoding=UTF-16LE\n", {}, "笔记\n".encode("utf-16-le")),
        ("# *.md filter=rot\n", {"filter.rot.clean": "tr a-z b-za"}, b"a comment\n"),
    ],
)
def test_what_is_committed_is_what_git_would_commit(
    vault: Vault, attributes: str, settings: dict[str, str], content: bytes
) -> None:
    (vault.root / ".gitattributes").write_text(attributes)
    for key, value in settings.items():
        vault.git("config", "--global", key, value)
    vault.history.commit([Draft("a note", ASSISTANT, (FileChange(NOTE, None, content),))])
    wanted = vault.git("hash-object", f"--path={NOTE}", NOTE.as_posix()).strip()
    assert vault.git("rev-parse", f"HEAD:{NOTE}").strip() == wanted
    assert vault.git("status", "--porcelain", "--", NOTE.as_posix()) == "", "git sees no change"


@pytest.mark.parametrize("kind", ["clean", "process"])
def test_a_file_whose_filter_fails_waits_alone_until_it_works(vault: Vault, kind: str) -> None:
    vault.write(b"notes/** filter=rot\n", PurePosixPath(".gitattributes"))
    vault.write(b"old\n", NOTE)
    vault.git("add", ".")
    vault.git("commit", "-qm", "plain")
    vault.git("config", "--global", "filter.rot.required", "true")
    vault.git("config", "--global", f"filter.rot.{kind}", "vault-memory-no-such-program")
    vault.write(b"by hand\n", NOTE)
    new = NOTE.with_name("new.md")
    vault.write(b"new\n", new)
    vault.write(b"mine\n", PurePosixPath("open.md"))
    assert [edit.path.name for edit in vault.history.uncommitted()] == ["open.md"]
    assert vault.history.uncommitted([NOTE, new]) == []
    assert vault.history.failing_filters() == {NOTE: "rot", new: "rot"}
    flushed = vault.history.commit([vault.draft(b"assistant's", NOTE), vault.draft(b"other")])
    assert flushed.waiting == 1 and len(flushed.commits) == 1 and "filter of notes" in (flushed.paused or "")
    assert vault.subjects() == ["plain", "add other"]
    vault.git("config", "--global", "--unset", f"filter.rot.{kind}")
    vault.git("config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    vault.git("config", "--global", "filter.rot.smudge", "tr a-z n-za-m")
    assert len(vault.history.flush().commits) == 1, "ours alone"
    assert vault.git("show", f"HEAD:{NOTE}") == "old\nnffvfgnag'f\n"
    assert vault.history.uncommitted([NOTE])[0].after == b"by hand\nassistant's\n"
    assert "by hand" not in vault.git("log", "-p", "--no-textconv", "--all")
    assert vault.history.failing_filters() == {}
