"""A repository's own config names programs: none of them is started; the person's own settings stay in force."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import USER, Vault
from vault_memory.adapters import git
from vault_memory.adapters.git import Remote, Setting, allow, blame, diff, followed_remote, settings_of
from vault_memory.adapters.history import History
from vault_memory.errors import HistoryError

NOTE = PurePosixPath("notes/secret.md")
PROGRAMS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.editor",
    "core.pager",
    "core.alternateRefsCommand",
    "sequence.editor",
    "pager.log",
    "pager.status",
    "diff.external",
    "diff.evil.textconv",
    "diff.evil.command",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "filter..clean",  # `[filter ""]`, which `* filter=` names
    "filter..smudge",
    "filter..process",
    "merge.evil.driver",
    "merge.vault-memory-profile.driver",
    "credential.helper",
    "credential.https://example.org.helper",
    "credential..helper",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "alias.status",
    "alias.log",
)


def evil(vault: Vault, key: str) -> str:
    """A program that leaves a mark when it is started, and then passes its input on."""
    script = vault.root.parent / "evil.sh"
    script.write_text('#!/bin/sh\ntouch "$(dirname "$0")/ran-$1"\ncat\n')
    script.chmod(0o755)
    return f"{'!' if key.startswith(('alias', 'credential')) else ''}{script} {key.replace('/', '_')}"


def ran(vault: Vault) -> list[str]:
    return sorted(path.name for path in vault.root.parent.glob("ran-*"))


@pytest.fixture
def hostile(vault: Vault, tmp_path: Path) -> Vault:
    """A repository with a note and a remote, whose config then names a program in every place."""
    vault.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    vault.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    vault.add(b"one")
    vault.git("push", "-q", "origin", "main")
    vault.write(b"*.md diff=evil merge=evil\n*.txt filter=evil\n*.csv filter=\n", PurePosixPath(".gitattributes"))
    for key in PROGRAMS:
        vault.git("config", key, evil(vault, key))
    for key in ("log.showSignature", "push.gpgSign", "filter.evil.required", "submodule.recurse"):
        vault.git("config", key, "true")
    vault.git("config", "protocol.ext.allow", "always")
    for mark in vault.root.parent.glob("ran-*"):
        mark.unlink()
    return vault


def everything(vault: Vault, history: History) -> None:
    """What a vault does with git, in one go."""
    vault.add(b"two")
    vault.write(b"one\ntwo\nthree\n")
    for name in ("big.txt", "big.csv"):
        vault.write(b"raw\n", PurePosixPath(name))
    history.uncommitted()
    history.log([USER])
    history.working_tree.is_ignored(NOTE)
    history.working_tree.tracked()
    blame(vault.root, USER)
    diff(vault.root, USER, "HEAD", None)
    git.changed_files(vault.root, None, "HEAD")
    git.write_commit_graph(vault.root)
    git.pack_objects(vault.root, git.Growth(0, 3_000, 50))
    assert followed_remote(vault.root, "main") == "origin"
    for remote in ("origin", f"ext::{evil(vault, 'ext')}", "ssh://example.invalid/x", "git://example.invalid/x"):
        with pytest.raises(HistoryError, match="trust"):
            Remote(vault.root, remote).tip("main")
    History(vault.root, sign=True).commit([vault.draft(b"signed")])


@pytest.mark.slow
def test_nothing_that_the_repository_names_is_started(hostile: Vault) -> None:
    everything(hostile, hostile.history)
    assert ran(hostile) == []
    assert {each.key for each in settings_of(hostile.root).programs} >= {
        key if key.startswith("credential.h") else key.lower() for key in PROGRAMS if not key.startswith("uploadpack")
    }


@pytest.mark.parametrize("how", ["include", "worktree", "includeIf", "linked"])
def test_a_config_that_is_included_or_shared_counts_as_the_repositorys(vault: Vault, tmp_path: Path, how: str) -> None:
    vault.add(b"one")
    root, config = vault.root, tmp_path / "more.config"
    if how == "include":
        vault.git("config", "include.path", str(config))
        vault.history.uncommitted()
    elif how == "includeIf":
        vault.git("config", f"includeIf.gitdir:{vault.root}/.path", str(config))
    elif how == "worktree":
        vault.git("config", "extensions.worktreeConfig", "true")
        config = vault.history.git_dir / "config.worktree"
    else:
        vault.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        root, config = tmp_path / "side", vault.history.git_dir / "config"
    with config.open("a") as file:
        file.write(f"[core]\n\tfsmonitor = {evil(vault, 'core.fsmonitor')}\n")
    (root / "new.md").write_text("new\n")
    assert [each.path.name for each in History(root).uncommitted()] == ["new.md"]
    assert ran(vault) == []
    vault.git("-C", str(root), "status")
    assert ran(vault) == ["ran-core.fsmonitor"], "plain git starts it: the test would see it"


@pytest.mark.parametrize("name", ["rot", ""])
def test_a_file_whose_filter_is_refused_waits_and_blocks_no_other(vault: Vault, name: str) -> None:
    vault.git("config", f"filter.{name}.clean", "tr a-z n-za-m")
    vault.git("config", f"filter.{name}.smudge", "tr a-z n-za-m")
    vault.git("config", f"filter.{name}.required", "true")
    vault.write(f"notes/** filter={name}\n".encode(), PurePosixPath(".gitattributes"))
    vault.write(b"by hand\n", NOTE)
    vault.write(b"mine\n", PurePosixPath("open.md"))
    assert [edit.path.name for edit in vault.history.uncommitted()] == [".gitattributes", "open.md"]
    assert vault.history.uncommitted([NOTE]) == []
    assert vault.history.obstacles.waiting_for_filter() == {NOTE: name}
    flushed = vault.history.commit([vault.draft(b"assistant's", NOTE), vault.draft(b"other")])
    assert flushed.waiting == 1 and len(flushed.commits) == 1 and f"filter {name!r}" in (flushed.paused or "")
    assert vault.subjects() == ["add other"]
    allowed = settings_of(vault.root).refused
    assert {each.key for each in allowed} == {f"filter.{name}.clean", f"filter.{name}.smudge"}
    trusting = History(vault.root, allowed_settings=lambda: allowed)
    assert trusting.refused_settings() == () and len(trusting.flush().commits) == 1, "ours alone"
    assert vault.git("show", f"HEAD:{NOTE}") == "nffvfgnag'f\n"
    assert trusting.uncommitted([NOTE])[0].after == b"by hand\nassistant's\n"
    assert "by hand" not in vault.git("log", "-p", "--no-textconv", "--all")


def test_a_commit_starts_no_process_for_the_settings(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.add(b"one")
    real = shutil.which("git")
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/started\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent), prepend=os.pathsep)
    vault.history.commit([vault.draft(b"two")])
    assert not (tmp_path / "started").exists()
    vault.history.working_tree.is_ignored(NOTE)
    assert (tmp_path / "started").read_text().count("check-ignore") == 1, "the test sees what is started"


def test_what_was_allowed_is_that_value_and_no_other(vault: Vault) -> None:
    vault.git("config", "core.fsmonitor", "/first")
    allow(vault.root, lambda: [Setting("core.fsmonitor", "/first")])
    assert settings_of(vault.root).refused == ()
    vault.git("config", "core.fsmonitor", "/second")
    assert settings_of(vault.root).refused == (Setting("core.fsmonitor", "/second"),)


def test_what_is_allowed_is_asked_only_when_something_waits_for_it(vault: Vault) -> None:
    asked: list[str] = []

    def allowed() -> list[Setting]:
        asked.append("now")
        return []

    for key in ("merge.vault-memory-profile.driver", "core.pager", "alias.log"):
        vault.git("config", key, "!anything")
    allow(vault.root, allowed)
    assert len(settings_of(vault.root).programs) == 3 and asked == []
    vault.git("config", "core.fsmonitor", "/first")
    assert settings_of(vault.root).refused and asked == ["now"]
    allow(vault.root, lambda: [Setting("core.fsmonitor", "/first")])
    assert settings_of(vault.root).refused == (), "a new answer counts at once"


def test_no_git_but_one_that_asks_a_remote_reaches_another_repository(vault: Vault, tmp_path: Path) -> None:
    vault.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    vault.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    with pytest.raises(HistoryError, match="transport 'file' not allowed"):
        git.run(vault.root, "ls-remote", "origin")
    assert Remote(vault.root, "origin").tip("main") is None


def test_the_persons_global_settings_stay_in_force(vault: Vault) -> None:
    """git-lfs and the like, as `git lfs install` sets them up: for the person, not for the repository."""
    vault.git("config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    vault.git("config", "filter.rot.clean", evil(vault, "filter.rot.clean"))
    vault.write(b"notes/** filter=rot\n", PurePosixPath(".gitattributes"))
    vault.add(b"hello", NOTE)
    assert vault.git("show", f"HEAD:{NOTE}") == "uryyb\n" and ran(vault) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "true"),
        ("pager.log", "false"),
        ("alias.st", "status"),
        ("submodule.x.update", "rebase"),
        ("http.postBuffer", "524288000"),
        ("protocol.version", "2"),
        ("merge.x.name", "a name"),
        ("filter.lfs.required", "true"),
    ],
)
def test_ordinary_settings_are_not_asked_about(vault: Vault, key: str, value: str) -> None:
    vault.git("config", key, value)
    assert settings_of(vault.root).programs == ()


def test_a_driver_whose_name_git_cannot_be_told_is_refused_in_words(vault: Vault) -> None:
    vault.git("config", "filter.a=b.clean", evil(vault, "x"))
    assert vault.history.uncommitted() == []
    problem = vault.history.state().problem or ""
    assert "cannot be switched off" in problem and problem.endswith("`git config --remove-section filter.a=b`")


def test_hooks_in_a_config_are_named_and_off_for_every_git_of_ours(vault: Vault) -> None:
    """Git 2.54 and newer run them beside the files in `hooks`, which `core.hooksPath` does not switch off."""
    vault.git("config", "hook.Evil one.command", "touch ran")
    vault.git("config", "hook.Evil one.event", "reference-transaction")
    vault.git("config", "hook.Evil one.enabled", "true")
    vault.git("config", "--global", "hook.mine.command", "touch ran")
    found = settings_of(vault.root)
    assert found.programs == (Setting("hook.Evil one.command", "touch ran"),) and found.refused == ()
    for name in ("Evil one", "mine"):
        assert git.run(vault.root, "config", "--get", f"hook.{name}.enabled") == b"false\n"
    vault.git("config", "hook.a=b.command", "touch ran")
    with pytest.raises(HistoryError, match=r"hook\.a=b.*cannot be switched off.*--remove-section hook\.a=b`"):
        git.run(vault.root, "status")


@pytest.mark.parametrize("line", ["\\#a.md filter=rot", '"#a.md" filter=rot', "[#]a.md filter=rot"])
def test_a_number_sign_in_a_pattern_does_not_hide_its_filter(vault: Vault, line: str) -> None:
    vault.git("config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    vault.write(line.encode() + b"\n", PurePosixPath(".gitattributes"))
    vault.add(b"hello", PurePosixPath("#a.md"))
    assert vault.git("show", "HEAD:#a.md") == "uryyb\n"
