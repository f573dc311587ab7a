"""Repositories that lie in a folder of notes: git must neither obey their config nor run their hooks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from vault_memory.adapters import git
from vault_memory.adapters.git import Remote, Repository
from vault_memory.errors import HistoryError
from vault_memory.services import starter

KEYS_OF_HOSTS = [
    *("http.cookieFile", "http.https://example.org/.saveCookies", "remote.origin.pushurl", "remote.b.promisor"),
    *("fetch.bundleURI", "extensions.partialClone", "promisor.acceptFromServer", "credential.protectProtocol"),
    "fetch.fsck.skipList",
]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with one commit."""
    root = tmp_path / "top"
    git_init(root)
    (root / "a.md").write_text("a\n")
    commands = (["add", "a.md"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"])
    for command in commands:
        subprocess.run(["git", *command], cwd=root, check=True, timeout=30)
    return root


def git_init(root: Path, *options: str) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", *options, str(root)], check=True, timeout=30)


def test_a_pointer_to_the_repository_of_another_folder_is_refused(top: Path, tmp_path: Path) -> None:
    """It may have come along: our commits would move that repository's branch. One's own worktrees point back."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / ".git").write_text(f"gitdir: {top}/.git\n")
    with pytest.raises(HistoryError, match="the repository of another folder"):
        Repository(foreign)
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "linked")], cwd=top, check=True, timeout=30)
    assert Repository(tmp_path / "linked").common_dir == top / ".git"
    (foreign / ".git").write_text((tmp_path / "linked/.git").read_text())
    with pytest.raises(HistoryError, match="git worktree repair"):
        Repository(foreign)
    forged = foreign / "x/wt"  # a worktree that points back, and that the repository does not know
    forged.mkdir(parents=True)
    for name, content in (("HEAD", "ref: refs/heads/main"), ("commondir", f"{top}/.git"), ("gitdir", "../../.git")):
        (forged / name).write_text(content + "\n")
    (foreign / ".git").write_text("gitdir: x/wt\n")
    with pytest.raises(HistoryError, match=f"leads to {top}/.git, the repository of another folder"):
        Repository(foreign)
    separate = tmp_path / "separate"
    git_init(separate, f"--separate-git-dir={tmp_path}/kept-elsewhere.git")
    assert Repository(separate).git_dir == tmp_path / "kept-elsewhere.git"
    (foreign / ".git").unlink()
    git_init(foreign)
    (foreign / ".git/commondir").write_text(f"{top}/.git\n")
    with pytest.raises(HistoryError, match="the repository of another folder"):
        Repository(foreign)


@pytest.mark.parametrize("content", [". \n", ".\t", " .", ".\0", ".\n.", "\n", "\r", "", ".\u3000\n"])
def test_a_pointer_that_git_would_read_in_another_way_is_refused(top: Path, content: str) -> None:
    """Git takes line ends off, and nothing else: `. ` names a folder that somebody planted beside `.`."""
    (top / ".git/. ").mkdir()
    (top / ".git/commondir").write_bytes(content.encode())
    for way in (Repository, git.settings_of, lambda root: git.run(root, "status"), starter_hooks):
        with pytest.raises(HistoryError, match=r"commondir holds .* which names no folder of git's"):
            way(top)
    (top / ".git/commondir").unlink()
    (top / ".git").rename(top / "g ")
    (top / ".git").write_bytes(b"gitdir: g" + content.replace(".", "").encode() + b" \n")
    with pytest.raises(HistoryError, match=r"\.git holds 'gitdir: g"):
        Repository(top)


def starter_hooks(root: Path) -> Path:
    return starter.hooks_folder(root / ".git")


@pytest.mark.parametrize(("content", "is_read"), [("gitdir: g\r\n\n", True), ("gitdir:g\n", False), ("g\n", False)])
def test_a_pointer_is_read_as_git_reads_it(top: Path, content: str, is_read: bool) -> None:
    (top / ".git").rename(top / "g")
    (top / ".git").write_bytes(content.encode())
    done = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], cwd=top, capture_output=True, timeout=30)
    assert (done.returncode == 0) == is_read
    if is_read:
        assert Repository(top).git_dir == Path(done.stdout.decode().strip()) == top / "g"
    else:
        with pytest.raises(HistoryError, match="names no folder"):
            Repository(top)


def test_the_branch_is_the_one_that_git_reads(top: Path) -> None:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=top, capture_output=True, timeout=30).stdout.decode()
    (top / ".git/refs/heads/main\u3000").write_text(f"{commit.strip().upper()} more\n")
    (top / ".git/HEAD").write_text("ref:  refs/heads/main\u3000 \n")
    (top / ".git/refs/heads/main").write_text("0" * 40)
    seen = subprocess.run(["git", "rev-parse", "HEAD"], cwd=top, capture_output=True, timeout=30).stdout.decode()
    head = Repository(top).head()
    assert head.ref == "refs/heads/main\u3000" and head.commit == seen.strip() == commit.strip()


def test_no_git_reaches_a_repository_above_the_one_that_we_see(top: Path) -> None:
    """A `.git` without `objects` is none to git, which would look further up."""
    inner = top / "inner"
    git_init(inner)
    (inner / ".git/objects").rename(inner / "aside")
    (inner / "sub").mkdir()
    (top / "link").symlink_to(inner / "sub")
    assert subprocess.run(["git", "rev-parse", "HEAD"], cwd=inner, capture_output=True, timeout=30).returncode == 0
    for folder in (inner, inner / "sub", top / "link"):
        with pytest.raises(HistoryError, match="not a git repository"):
            git.run(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize("has_git_above", [True, False])
def test_a_bare_repository_among_the_notes_is_not_obeyed(top: Path, tmp_path: Path, has_git_above: bool) -> None:
    vault = (top if has_git_above else tmp_path) / "vault"
    for name in ("objects", "refs/heads"):
        (vault / name).mkdir(parents=True)
    (vault / "HEAD").write_text("ref: refs/heads/main\n")
    program = f'"touch {tmp_path}/ran; false"'
    (vault / "config").write_text(f"[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = {program}\n")
    with pytest.raises(HistoryError, match="safe.bareRepository"):
        git.run(vault, "status", "--porcelain")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("address", ["./hub", "hub", "{top}/.git/hub", "file://{top}/hub"])
def test_a_remote_inside_the_vault_is_refused(top: Path, address: str, tmp_path: Path) -> None:
    """Git would run the hooks of that repository, which came with the folder."""
    for hub in (top / "hub", top / ".git" / "hub"):
        git_init(hub, "--bare")
        (hub / "hooks").mkdir(exist_ok=True)
        (hub / "hooks" / "pre-receive").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hub / "hooks" / "pre-receive").chmod(0o755)
    written = address.format(top=top)
    subprocess.run(["git", "remote", "add", "origin", written], cwd=top, check=True, timeout=30)
    for name in ("origin", written):
        with pytest.raises(HistoryError, match="inside the vault"):
            Remote(top, name).push("main", git.run(top, "rev-parse", "HEAD").decode().strip())
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("key", KEYS_OF_HOSTS)
def test_what_writes_a_file_or_pushes_elsewhere_waits_for_a_yes(top: Path, tmp_path: Path, key: str) -> None:
    git_init(tmp_path / "hub.git", "--bare")
    subprocess.run(["git", "remote", "add", "origin", str(tmp_path / "hub.git")], cwd=top, check=True, timeout=30)
    assert Remote(top, "origin").tip("main") is None
    subprocess.run(["git", "config", key, str(tmp_path / "x")], cwd=top, check=True, timeout=30)
    with pytest.raises(HistoryError, match="vault-memory trust"):
        Remote(top, "origin").tip("main")


@pytest.mark.parametrize(
    "ref",
    [
        *("refs/heads/../../../../victim", "refs/../../../victim", "../../victim", "refs/heads/../../hooks/pre-push"),
        *("refs/../config", "/tmp/victim", "refs/heads/.x", "refs/heads/a.lock", "refs/heads/a//b", "refs/heads/"),
    ],
)
def test_a_head_that_names_no_branch_is_refused(top: Path, ref: str) -> None:
    """A commit writes the file of the branch that HEAD names."""
    (top / ".git/HEAD").write_text(f"ref: {ref}\n")
    with pytest.raises(HistoryError, match="which is no branch"):
        Repository(top).head()
    with pytest.raises(HistoryError, match="which is no branch"):
        Repository(top).refuse_links()


@pytest.mark.parametrize("name", ["main", "feature/主題", "a.b", "user@work", "v1.0-rc"])
def test_the_names_of_branches_are_those_of_git(top: Path, name: str) -> None:
    subprocess.run(["git", "checkout", "-q", "-B", name], cwd=top, check=True, timeout=30)
    assert Repository(top).head().branch == name
