"""The files of commits that a remote lacks, and these commits without some of them. Real git."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import Vault
from vault_memory.adapters.git import EMPTY_TREE
from vault_memory.adapters.history import History
from vault_memory.adapters.unsent import Remade, unsent_files
from vault_memory.errors import HistoryError

ODD = [
    b"with space 'and\" quotes.md",
    b"-dash.md",
    b":!magic.md",
    b":(top)x.md",
    b"line\nend/two\nthree.md",
    b"tab\tand\\back.md",
    b"not-utf-8-\xff\xfe.md",
    "中文.md".encode(),
    b"*.md",
]


def commit(vault: Vault, message: str, **files: bytes | None) -> str:
    """Commit these files (None: gone) by plain git; the commit."""
    for name, content in files.items():
        path = PurePosixPath(name)
        if content is None:
            (vault.root / path).unlink()
        else:
            vault.write(content, path)
    vault.git("add", "-A", "--", *files)
    vault.git("commit", "-q", "-m", message)
    return tip(vault)


def tip(vault: Vault) -> str:
    return vault.git("rev-parse", "HEAD").strip()


def take_out(vault: Vault, since: str | None, *names: str) -> Remade | None:
    """Take out all versions of these files."""
    found: dict[PurePosixPath, set[str]] = {}
    for path, blob in unsent_files(vault.root, since, tip(vault)):
        if str(path) in names:
            found.setdefault(path, set()).add(blob)
    return vault.history.take_out(found, since, tip(vault))


def made(remade: Remade | None) -> Remade:
    assert remade is not None
    return remade


def names_ever(vault: Vault, since: str | None = None) -> set[str]:
    listed = vault.git("log", "-m", "--format=", "--name-only", "-z", f"{since}..HEAD" if since else "HEAD")
    return set(listed.split("\0")) - {""}


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_whole_paths_are_named_and_taken_out_whatever_bytes_are_in_them(vault: Vault, name: bytes) -> None:
    """A path with a line end was cut there, so a private file was none; one that begins with `:!` meant all others."""
    commit(vault, "first", **{"a.md": b"a"})
    path = os.fsdecode(name)
    commit(vault, "second", **{"b.md": b"b"})
    place = vault.root / path
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"private")
    vault.git("--literal-pathspecs", "add", "--", path)
    vault.git("commit", "-q", "-m", "third")
    blob = vault.git("rev-parse", "HEAD:" + path).strip()
    assert (PurePosixPath(path), blob) in list(unsent_files(vault.root, None, tip(vault)))
    remade = made(take_out(vault, None, path))
    assert (remade.commits, remade.paths) == (1, (PurePosixPath(path),))
    assert vault.git("ls-files", "-z").split("\0")[:-1] == ["a.md", "b.md"]
    assert names_ever(vault) == {"a.md", "b.md"} and place.read_bytes() == b"private"
    assert vault.git("fsck", "--strict", "--no-dangling") == ""


def test_what_a_push_sends_is_listed_and_what_the_remote_has_is_not(vault: Vault) -> None:
    base = commit(vault, "base", **{"a.md": b"a", "same.md": b"same"})
    commit(vault, "copies", **{"b.md": b"a", "deep/c.md": b"a"})
    vault.git("rm", "-q", "a.md")
    vault.git("commit", "-q", "-m", "gone")
    (vault.root / "link").symlink_to("same.md")
    vault.git("add", "link")
    vault.git("commit", "-q", "-m", "link")
    assert {str(path) for path, _ in unsent_files(vault.root, base, tip(vault))} == {"b.md", "deep/c.md", "link"}
    assert {str(path) for path, _ in unsent_files(vault.root, None, tip(vault))} >= {"a.md", "same.md"}
    assert list(unsent_files(vault.root, tip(vault), tip(vault))) == []


def test_a_merge_sends_what_none_of_its_parents_has(vault: Vault) -> None:
    base = commit(vault, "base", **{"a.md": b"one\n"})
    vault.git("checkout", "-q", "-b", "theirs")
    theirs = commit(vault, "theirs", **{"theirs.md": b"theirs"})
    vault.git("checkout", "-q", "-")
    ours = commit(vault, "ours", **{"ours.md": b"ours"})
    vault.git("merge", "-q", "--no-commit", "theirs")
    vault.write(b"in the merge", PurePosixPath("merged.md"))
    vault.git("add", "merged.md")
    vault.git("commit", "-q", "-m", "merge")
    assert {str(path) for path, _ in unsent_files(vault.root, theirs, tip(vault))} == {"ours.md", "merged.md"}
    remade = made(take_out(vault, theirs, "ours.md", "merged.md"))
    first, second = vault.git("log", "-1", "--format=%P").split()
    assert second == theirs and first != ours and vault.git("rev-parse", f"{first}~").strip() == base
    assert remade.commits == 2 and sorted(vault.git("ls-files").split()) == ["a.md", "theirs.md"]
    assert vault.git("log", "-1", "--format=%B").strip() == "merge"


def test_each_commit_keeps_its_bytes_but_for_tree_and_parents(vault: Vault) -> None:
    """Message, trailers, author, committer, times, encoding; a signature, which cannot hold, goes."""
    kept = commit(vault, "kept", **{"a.md": b"a"})
    tree = vault.git("rev-parse", "HEAD^{tree}").strip()
    with_secret = commit(vault, "x", **{"secret.txt": b"s"})
    secret_tree = vault.git("rev-parse", "HEAD^{tree}").strip()
    header = (
        b"author Zo\xe9 <z@x> 1100000000 -0330\ncommitter \xc9va <e@x> 1200000000 +0545\nencoding ISO-8859-1\n"
        b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQE=\n -----END PGP SIGNATURE-----\nx-own kept\n goes on\n"
    )
    message = b"\ntree subject \xe9\n\nparent of all\n\nVault-Key: theme\nVault-Source: a.jsonl:1\n\n\n"
    raw = f"tree {secret_tree}\nparent {kept}\n".encode() + header + message
    odd = vault.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw).strip()
    empty = f"tree {secret_tree}\nparent {odd}\nauthor a <a@x> 1 +0000\ncommitter a <a@x> 1 +0000\n\n".encode()
    last = vault.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=empty).strip()
    assert with_secret != odd
    vault.git("reset", "-q", "--hard", last)
    remade = made(take_out(vault, None, "secret.txt"))
    assert remade.commits == 2 and vault.git("rev-parse", "HEAD~2").strip() == kept
    unsigned = header[: header.index(b"gpgsig")] + header[header.index(b"x-own") :]
    new = vault.git("cat-file", "commit", "HEAD~1").encode("utf-8", "surrogateescape")
    assert new == f"tree {tree}\nparent {kept}\n".encode() + unsigned + message
    parent = vault.git("rev-parse", "HEAD~1").strip()
    assert vault.git("cat-file", "commit", "HEAD").encode() == empty.replace(
        secret_tree.encode(), tree.encode()
    ).replace(odd.encode(), parent.encode())
    assert vault.git("rev-parse", remade.before).strip() == last


def test_all_that_a_commit_held_may_go(vault: Vault) -> None:
    commit(vault, "first", **{"deep/er/secret.txt": b"s"})
    assert made(take_out(vault, None, "deep/er/secret.txt")).commits == 1
    assert vault.git("rev-parse", "HEAD^{tree}").strip() == EMPTY_TREE and vault.git("ls-files") == ""
    assert vault.read(PurePosixPath("deep/er/secret.txt")) == b"s"


def test_the_disk_and_all_else_that_is_staged_stay(vault: Vault) -> None:
    commit(vault, "first", **{"a.md": b"a", "b.md": b"b", "gone.md": b"x", "only.md": b"y"})
    commit(vault, "second", **{"secret.txt": b"s", "deep/secret.txt": b"s"})
    vault.write(b"edited", PurePosixPath("a.md"))
    vault.write(b"staged", PurePosixPath("b.md"))
    vault.write(b"new", PurePosixPath("deep/new.md"))
    vault.write(b"grown", PurePosixPath("secret.txt"))
    vault.git("add", "b.md", "deep/new.md", "secret.txt")
    vault.git("rm", "-q", "--cached", "gone.md")
    vault.git("update-index", "--skip-worktree", "only.md")
    (vault.root / "only.md").unlink()
    before = {path: path.stat().st_mtime_ns for path in vault.root.iterdir() if path.name != ".git"}
    assert made(take_out(vault, None, "secret.txt", "deep/secret.txt")).commits == 1
    assert sorted(vault.git("status", "--porcelain", "-uall").splitlines()) == sorted(
        [" M a.md", "M  b.md", "A  deep/new.md", "D  gone.md", "?? gone.md", "?? secret.txt", "?? deep/secret.txt"]
    )
    assert vault.git("ls-files", "-t", "only.md") == "S only.md\n"
    assert before == {path: path.stat().st_mtime_ns for path in vault.root.iterdir() if path.name != ".git"}


def test_an_index_that_only_git_reads_loses_these_entries_alone(vault: Vault) -> None:
    commit(vault, "first", **{"a.md": b"a", "secret.txt": b"s"})
    vault.git("update-index", "--index-version", "4")
    vault.write(b"new", PurePosixPath("b.md"))
    vault.git("add", "b.md")
    assert made(take_out(vault, None, "secret.txt"))
    assert vault.git("status", "--porcelain") == "A  b.md\n?? secret.txt\n"


def test_nothing_is_changed_where_the_branch_was_moved_or_the_person_is_busy(vault: Vault) -> None:
    commit(vault, "first", **{"a.md": b"a"})
    old = commit(vault, "second", **{"secret.txt": b"s"})
    found = {path: {blob} for path, blob in unsent_files(vault.root, None, old) if path.name == "secret.txt"}
    new = commit(vault, "meanwhile", **{"a.md": b"b"})
    with pytest.raises(HistoryError, match=r"moved meanwhile.*nothing was changed; run it again"):
        vault.history.take_out(found, None, old)
    vault.git("update-ref", "refs/heads/other", old)
    (vault.root / ".git/CHERRY_PICK_HEAD").write_text(old)
    with pytest.raises(HistoryError, match=r"cherry-pick.*nothing was changed"):
        vault.history.take_out(found, None, new)
    (vault.root / ".git/CHERRY_PICK_HEAD").unlink()
    (vault.root / ".git/index.lock").touch()
    with pytest.raises(HistoryError, match=r"index\.lock.*nothing was changed"):
        vault.history.take_out(found, None, new)
    (vault.root / ".git/index.lock").unlink()
    assert tip(vault) == new and vault.git("status", "--porcelain") == ""
    assert vault.git("for-each-ref", "refs/vault-memory") == "", "no ref stays of what was not done"


def test_the_ref_of_what_was_before_is_never_overwritten(vault: Vault) -> None:
    first = commit(vault, "first", **{"a.md": b"a"})
    old = commit(vault, "second", **{"secret.txt": b"s"})
    ref = f"refs/vault-memory/before/{old[:10]}"
    vault.git("update-ref", ref, first)
    with pytest.raises(HistoryError, match="already exists"):
        take_out(vault, None, "secret.txt")
    assert vault.git("rev-parse", ref).strip() == first and tip(vault) == old
    vault.git("update-ref", ref, old)
    vault.git("pack-refs", "--all")
    assert made(take_out(vault, None, "secret.txt")).before == ref
    assert vault.git("rev-parse", ref).strip() == old


def test_what_fails_after_the_branch_moved_keeps_the_ref_of_what_was_before(vault: Vault) -> None:
    old = commit(vault, "first", **{"a.md": b"a", "secret.txt": b"s"})
    found = {path: {blob} for path, blob in unsent_files(vault.root, None, old) if path.name == "secret.txt"}

    def step(reached: str) -> None:
        if reached == "branch moved":
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        History(vault.root, step=step).take_out(found, None, old)
    assert vault.git("rev-parse", f"refs/vault-memory/before/{old[:10]}").strip() == old != tip(vault)


def test_only_the_versions_that_go_are_taken_out(vault: Vault) -> None:
    """A file that was private for one commit, and is a note again, stays what it is now."""
    commit(vault, "first", **{"rows.jsonl": b"plain\n"})
    commit(vault, "second", **{"rows.jsonl": b"private\n"})
    blob = vault.git("rev-parse", "HEAD:rows.jsonl").strip()
    commit(vault, "third", **{"rows.jsonl": b"plain again\n"})
    remade = made(vault.history.take_out({PurePosixPath("rows.jsonl"): {blob}}, None, tip(vault)))
    assert remade.commits == 1 and vault.git("status", "--porcelain") == ""
    assert vault.git("show", "HEAD:rows.jsonl") == "plain again\n"


def test_what_no_commit_holds_changes_nothing(vault: Vault) -> None:
    old = commit(vault, "first", **{"a.md": b"a"})
    assert vault.history.take_out({PurePosixPath("b.md"): {"0" * 40}}, None, old) is None
    assert tip(vault) == old and vault.git("for-each-ref", "refs/vault-memory") == ""
