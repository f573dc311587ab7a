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
        ("*.md ident\n", {}, b"no text: \xff $Id: 0123$\n"),
        ("*.md working-tree-encoding=ISO-8859-1\n", {}, b"caf\xe9\n"),
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
    assert vault.history.obstacles.failing_filters() == {NOTE: "rot", new: "rot"}
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
    assert vault.history.obstacles.failing_filters() == {}


ENCODED = "\u6211\u559c\u6b61 $Id: Bob, 3rd floor$\n".encode()


@pytest.mark.parametrize(
    ("attributes", "content", "held"),
    [
        ("*.md working-tree-encoding=ISO-8859-1\n", ENCODED, ENCODED),
        ("*.md ident\n", ENCODED, ENCODED),
        ("[attr]old working-tree-encoding=ISO-8859-1\n*.md old\n", ENCODED, ENCODED),
        ("*.md text eol=crlf ident working-tree-encoding=ISO-8859-1\n", b"a\xc3\xa9\r\nb\r\n", b"a\xc3\xa9\nb\n"),
        ("*.md working-tree-encoding=UTF-16LE-BOM\n", b"even", b"even"),
    ],
)
@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
def test_a_claim_garbles_no_text_in_utf_8(
    vault: Vault, place: str, attributes: str, content: bytes, held: bytes
) -> None:
    vault.write(attributes.encode(), PurePosixPath(place))
    vault.history.commit([Draft("a note", ASSISTANT, (FileChange(NOTE, None, content),))])
    assert vault.history.blob(NOTE) == held
    tree = vault.history.working_tree
    assert tree.as_in_git(NOTE, content) == held and tree.as_on_disk(NOTE, held) == content
    vault.write(content + content, NOTE)
    edits = vault.history.uncommitted()
    vault.history.commit_edits([Draft("mine", ASSISTANT, tuple(each for each in edits if each.path == NOTE))])
    assert vault.history.blob(NOTE) == held + held
    (vault.root / NOTE).touch()  # git looks again, and may list the file from now on
    assert NOTE not in [each.path for each in vault.history.uncommitted()]
    assert (vault.root / NOTE).read_bytes() == content + content


def test_a_filter_with_a_claim_waits(vault: Vault) -> None:
    vault.write(b"*.md filter=rot working-tree-encoding=ISO-8859-1\n", PurePosixPath(".gitattributes"))
    vault.git("config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    vault.write(ENCODED, NOTE)
    assert vault.history.uncommitted([NOTE]) == [] and vault.history.obstacles.failing_filters() == {NOTE: "rot"}
    flushed = vault.history.commit([vault.draft(b"more", NOTE)])
    assert flushed.waiting == 1
    vault.write(b"*.md filter=rot\n", PurePosixPath(".gitattributes"))
    assert vault.history.flush().waiting == 0
