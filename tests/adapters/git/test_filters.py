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
