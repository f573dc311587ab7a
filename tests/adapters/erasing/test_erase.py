"""A text is erased from a real repository, and a scan of its own finds it nowhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import USER, Vault
from tests.adapters.erasing.leftovers import leftovers
from vault_memory.adapters.erasing import Request, look_for
from vault_memory.adapters.git import Repository
from vault_memory.adapters.history import History
from vault_memory.errors import HistoryError, NotFound, UsageError

SECRET = "the codeword is Zanzibar 七號"
NOTE = PurePosixPath("memory/alice/notes/plan.md")
BOB = PurePosixPath("memory/bob/USER.md")


def planted(vault: Vault) -> dict[str, str]:
    """A vault with the text in every place that git has, and old ids by name."""
    vault.add(b"before")
    clean = vault.git("rev-parse", "HEAD").strip()
    vault.write(f"one\n{SECRET}\nthree\n".encode(), NOTE)
    slug = NOTE.with_name("-".join(SECRET.lower().split()) + ".md")
    vault.write(json.dumps({"said": SECRET}).encode() + b"\n", slug)
    vault.write(b"> the codeword is\n> Zanzibar " + "七號\n".encode(), NOTE.with_name("quoted.md"))
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", f"notes: {SECRET}", GIT_AUTHOR_DATE="2026-01-30T09:12:00+0800")
    held = vault.git("rev-parse", "HEAD").strip()
    vault.git("tag", "-a", "v1", "-m", f"about {SECRET}")
    vault.git("notes", "add", "-m", SECRET, held)
    vault.git("branch", "the-codeword-is-zanzibar-七號")
    vault.write(f"stashed {SECRET}\n".encode(), USER)
    vault.git("stash", "-q")
    vault.git("checkout", "-q", "-b", "other")
    vault.write(SECRET.encode(), NOTE.with_name("dropped.md"))
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", "dropped")
    vault.git("reset", "-q", "--hard", "HEAD~1")
    vault.git("checkout", "-q", "main")
    vault.git("branch", "-D", "other")
    vault.write(SECRET.encode(), NOTE.with_name("loose.md"))
    vault.git("hash-object", "-w", str(NOTE.with_name("loose.md")))
    (vault.root / NOTE.with_name("loose.md")).unlink()
    vault.git("gc", "-q")
    vault.git("repack", "-q", "--cruft", "-d", ok=False)
    vault.git("multi-pack-index", "write")
    vault.git("commit-graph", "write", "--reachable")
    for pack in (vault.history.git_dir / "objects/pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()
    vault.write(b"after\n", NOTE.with_name("after.md"))
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", f"Reason: as {held} and {held[:10]} say")
    vault.git("config", "branch.main.description", SECRET)
    return {"clean": clean, "held": held, "last": vault.git("rev-parse", "HEAD").strip()}


def test_g5_a_text_is_in_no_object_name_message_log_or_file(vault: Vault) -> None:
    """G5: git's history, with all that git keeps beside it, holds nothing of an erased text."""
    old = planted(vault)
    facts = vault.git("log", "--format=%an %ae %at %cn %ce %ct")
    assert len(leftovers(vault.root, SECRET).places) > 12
    erased = vault.history.erase(Request((SECRET,)))
    found = leftovers(vault.root, SECRET)
    assert found.places == [] and found.objects > 10
    assert erased.commits and erased.refs
    vault.assert_clean()
    assert vault.git("log", "--format=%an %ae %at %cn %ce %ct") == facts
    assert vault.read(NOTE) == b"one\n(erased)\nthree\n"
    assert (vault.root / NOTE.with_name("(erased).md")).read_bytes() == b'{"said": "(erased)"}\n'
    assert vault.read(NOTE.with_name("quoted.md")) == b"> (erased)\n\n"
    assert vault.git("rev-parse", "HEAD~2").strip() == old["clean"], "what is below the text stays as it is"
    assert vault.git("branch", "--format=%(refname:short)").split() == ["(erased)", "main"]
    assert "stashed (erased)" in vault.git("stash", "show", "-p")
    assert not (Path(vault.history.git_dir) / "vault-memory/erasing").exists()
    vault.add(b"goes on")
    vault.assert_clean()


def test_a_former_commit_leads_to_the_one_made_anew(vault: Vault) -> None:
    """Ids in messages, notes and a person's own files are those of before."""
    old = planted(vault)
    vault.history.erase(Request((SECRET,)))
    now = vault.git("rev-parse", "HEAD~1").strip()
    assert now != old["held"]
    assert vault.history.commit_named(old["held"]) == vault.history.commit_named(old["held"][:9]) == now
    assert vault.git("log", "-1", "--format=%s").strip() == f"Reason: as {now} and {now[:10]} say"
    assert vault.git("notes", "show", now).strip() == "(erased)"
    vault.history.erase(Request(("Reason: as",)))
    vault.history.erase(Request(("before",)))
    assert vault.history.commit_named(old["last"]) == vault.git("rev-parse", "HEAD").strip()
    with pytest.raises(NotFound):
        vault.history.commit_named("0" * 40)


def test_folders_and_links_are_called_otherwise_on_the_disk_as_in_git(vault: Vault) -> None:
    """Tracked, untracked, ignored and empty ones; and what git has noted of folders that it does not track."""
    notes = NOTE.parent
    vault.git("config", "core.untrackedCache", "true")
    vault.write(b".trash/\n", PurePosixPath(".gitignore"))
    vault.write(b"1\n", notes / SECRET / "deep" / SECRET / "tracked.md")
    vault.write(b"2\n", notes / "kept" / "tracked.md")
    os.symlink(SECRET, vault.root / notes / "link")
    os.symlink("link", vault.root / notes / f"{SECRET}.link")
    os.symlink("kept", vault.root / notes / "goes")
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", "folders")
    vault.write(b"3\n", notes / f"untracked {SECRET}" / "a.txt")
    vault.write(b"4\n", PurePosixPath(".trash") / SECRET / "ignored.txt")
    vault.write(b"5\n", PurePosixPath(".trash") / f"{SECRET}.txt")
    vault.write(b"6\n", PurePosixPath(".trash/(erased).txt"))
    os.symlink(SECRET, vault.root / ".trash/link")
    (vault.root / notes / f"empty {SECRET}").mkdir()
    vault.git("update-index", "--untracked-cache")
    vault.git("status")
    assert len(leftovers(vault.root, SECRET).places) > 12
    assert b"untracked the codeword" in (vault.root / ".git/index").read_bytes(), "git has noted the folder"
    seen = {each.name for each in look_for(Repository(vault.root), Request((SECRET,))).files}
    assert {"link", f"{SECRET}.link", SECRET, f"empty {SECRET}", f"{SECRET}.txt"} <= seen
    vault.history.erase(Request((SECRET,)))
    assert leftovers(vault.root, SECRET).places == []
    assert look_for(Repository(vault.root), Request((SECRET,))).files == ()
    assert vault.git("status", "--porcelain") == f'?? "{notes}/untracked (erased)/"\n'
    assert vault.read(notes / "(erased)/deep/(erased)/tracked.md") == b"1\n"
    assert (vault.root / notes / "link/deep").is_dir(), "a link still leads where it led"
    assert (vault.root / notes / "empty (erased)").is_dir()
    assert vault.read(PurePosixPath(".trash/(erased)/ignored.txt")) == b"4\n"
    vault.history.erase(Request(gone=(notes / "goes",)))
    assert not os.path.lexists(vault.root / notes / "goes") and (vault.root / notes / "kept").is_dir()
    trashed = [vault.read(PurePosixPath(".trash") / name) for name in ("(erased).txt", "(erased) 2.txt")]
    assert trashed == [b"6\n", b"5\n"], "what is called so already stays"


def test_what_a_person_has_staged_and_edited_stays_so(vault: Vault) -> None:
    planted(vault)
    vault.write(f"one\nstaged {SECRET}\n".encode(), NOTE)
    vault.git("add", "-A")
    vault.write(f"one\nstaged {SECRET}\nedited\n".encode(), NOTE)
    vault.write(b"new\n", NOTE.with_name("new.md"))
    os.chmod(vault.root / NOTE, 0o640)
    before = vault.git("status", "--porcelain")
    vault.history.erase(Request((SECRET,)))
    assert leftovers(vault.root, SECRET).places == []
    assert vault.git("status", "--porcelain") == before
    assert vault.git("show", f":{NOTE}") == "one\nstaged (erased)\n"
    assert vault.read(NOTE) == b"one\nstaged (erased)\nedited\n"
    assert (vault.root / NOTE).stat().st_mode & 0o777 == 0o640


def test_files_and_folders_go_and_other_files_stay(vault: Vault) -> None:
    planted(vault)
    vault.add(b"stays", BOB)
    vault.history.erase(Request(gone=(PurePosixPath("memory/alice/notes"),)))
    assert vault.git("log", "--all", "--format=%s", "--", "memory/alice/notes") == ""
    assert not (vault.root / NOTE).exists() and vault.read(BOB) == b"stays\n"
    assert vault.read() == b"before\n"
    vault.assert_clean()


def test_the_notes_of_another_user_keep_the_text(vault: Vault) -> None:
    vault.add(SECRET.encode())
    vault.add(SECRET.encode(), BOB)
    vault.history.erase(Request((SECRET,), spared=(PurePosixPath("memory/bob"),)))
    assert vault.read() == b"(erased)\n" and vault.read(BOB) == SECRET.encode() + b"\n"
    assert vault.git("show", f"HEAD:{BOB}") == SECRET + "\n"
    vault.assert_clean()


@pytest.mark.parametrize("text", ["", " ", "a", "的", "...", "a-b", "erased"])
def test_a_short_text_is_refused(vault: Vault, text: str) -> None:
    vault.add(b"before")
    with pytest.raises(UsageError, match="erased"):
        vault.history.erase(Request((text,) if text else ()))


def test_a_state_in_which_not_all_can_be_made_anew_is_refused_by_name(vault: Vault, tmp_path: Path) -> None:
    vault.add(SECRET.encode())
    vault.add(b"second")
    vault.git("clone", "-q", "--depth=1", f"file://{vault.root}", str(tmp_path / "shallow"))
    with pytest.raises(HistoryError, match="--unshallow"):
        History(tmp_path / "shallow").erase(Request((SECRET,)))
    with pytest.raises(HistoryError, match="more than the vault"):
        History(vault.root / "memory").erase(Request((SECRET,)))
    vault.git("worktree", "add", "-q", str(tmp_path / "tree"))
    with pytest.raises(HistoryError, match="git worktree remove"):
        vault.history.erase(Request((SECRET,)))
    vault.git("worktree", "remove", str(tmp_path / "tree"))
    vault.git("checkout", "-q", "--detach")
    with pytest.raises(HistoryError, match="detached"):
        vault.history.erase(Request((SECRET,)))
    assert SECRET in vault.git("log", "-p")


def test_a_commit_of_the_persons_meanwhile_stays(vault: Vault) -> None:
    """Made while the objects were written: no reference moves then. The next change ends the erasing, for it too."""
    planted(vault)

    def step(reached: str) -> None:
        if reached == "map written":
            vault.write(f"mine, {SECRET}\n".encode(), NOTE.with_name("mine.md"))
            vault.git("add", "-A")
            vault.git("commit", "-q", "-m", "mine")

    with pytest.raises(HistoryError, match="cannot lock ref"):
        History(vault.root, step=step).erase(Request((SECRET,)))
    vault.history.flush()
    assert vault.subjects()[-1] == "mine"
    assert vault.read(NOTE.with_name("mine.md")) == b"mine, (erased)\n"
    assert leftovers(vault.root, SECRET).places == []
    vault.assert_clean()


def test_what_killed_programs_left_is_swept(vault: Vault) -> None:
    """Half a pack of git's, half an object, and half a file of ours, which nothing names; one that somebody still
    writes stays, and so does one of another user's."""
    planted(vault)
    dead = subprocess.Popen(["git", "--version"], stdout=subprocess.DEVNULL)
    dead.wait()
    folder = Path(vault.history.git_dir) / "objects/pack"
    (folder / ".tmp-1-pack-abc.pack").write_bytes(next(folder.glob("*.pack")).read_bytes())
    for name in ("pack/tmp_pack_x", "17/tmp_obj_x"):
        (folder.parent / name).parent.mkdir(exist_ok=True)
        (folder.parent / name).write_text(SECRET)
    (vault.root / ".git/info/exclude").write_text(".*.vault-memory.tmp\n")
    (vault.root / "memory/bob").mkdir()
    temporary = f".USER.md.{dead.pid}-2.vault-memory.tmp"
    left, of_git, of_bob = (vault.root / each / temporary for each in ("memory/alice", ".git", "memory/bob"))
    written = left.with_name(f".USER.md.{os.getpid()}-3.vault-memory.tmp")
    for each in (left, of_git, written):
        each.write_text(SECRET)
    of_bob.write_text("Bob's")
    (vault.root / "memory/alice/.a.1-1.vault-memory.tmp").mkdir()
    vault.history.erase(Request((SECRET,), spared=(PurePosixPath("memory/bob"),)))
    assert not left.exists() and not of_git.exists() and written.exists() and of_bob.exists()
    written.unlink()
    assert leftovers(vault.root, SECRET).places == []
    vault.assert_clean()


def test_git_at_work_is_waited_for_by_the_next_change(vault: Vault) -> None:
    """The lock is the person's: it is named and not removed. The next change, of whoever, ends the erasing."""
    planted(vault)
    lock = Path(vault.history.git_dir) / "index.lock"
    lock.touch()
    with pytest.raises(HistoryError, match="git is at work"):
        vault.history.erase(Request((SECRET,)))
    assert lock.exists()
    lock.unlink()
    History(vault.root).flush()
    assert leftovers(vault.root, SECRET).places == []
    vault.assert_clean()


def test_a_number_takes_no_time_and_no_id_with_it(vault: Vault) -> None:
    """Digits of the time of a commit, of its id, and of a longer number are no text; in a name they are one."""
    vault.add(b"the room is 1795")
    before = vault.git("rev-parse", "HEAD").strip()
    number = next(each for each in before if each.isdigit())
    word = next(before[at : at + 4] for at in range(20, 36) if not before[at : at + 4].isdigit())
    vault.write(f"{word} {number}\n".encode(), NOTE)
    vault.git("add", "-A")
    message = f"as {before} says, {word}\n\nVault-Turn: {word}{word}"
    when = {f"GIT_{each}_DATE": "1795270627 +0000" for each in ("AUTHOR", "COMMITTER")}
    vault.git("commit", "-q", "-m", message, GIT_AUTHOR_NAME="Al 1795", **when)
    vault.git("tag", "-a", "v1795", "-m", "of 1795", **when)
    vault.history.erase(Request(("1795", "commit", word)))
    assert vault.git("log", "-1", "--format=%an %at %ct").strip() == "Al (erased) 1795270627 1795270627"
    assert "tagger" in vault.git("cat-file", "tag", "v(erased)") and "1795270627 +0000" in vault.git(
        "cat-file", "tag", "v(erased)"
    )
    now = vault.git("rev-parse", "HEAD~1").strip()
    assert vault.git("log", "-1", "--format=%B").strip() == f"as {now} says, (erased)\n\nVault-Turn: {word}{word}"
    assert "1795270627" in (Path(vault.history.git_dir) / "logs/HEAD").read_text()
    vault.assert_clean()


def test_a_message_in_an_encoding_of_its_own_is_read(vault: Vault) -> None:
    vault.add(b"before")
    said = "舊地址是幸福路三十七號"
    plain = vault.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x").strip()
    body = vault.git("cat-file", "commit", plain).encode().rpartition(b"\n\n")[0]
    for told in ("another", said):
        data = body + b"\nencoding big5\n\n" + f"{told} 號\n".encode("big5")
        made = subprocess.run(
            ["git", "hash-object", "-w", "-t", "commit", "--stdin"], cwd=vault.root, input=data, capture_output=True
        )
        vault.git("branch", f"b{len(told)}", made.stdout.decode().strip())
    other = vault.git("rev-parse", "b7")
    vault.history.erase(Request(("幸福路三十七號",)))
    assert vault.git("log", "-1", "--format=%B", "b11").strip() == "舊地址是(erased) 號"
    assert vault.git("rev-parse", "b7") == other, "one without the text stays as it is"
    vault.assert_clean()


@pytest.mark.parametrize("text", ["refs", "heads", "remotes", "refs/heads"])
def test_gits_words_in_the_names_of_references_stay(vault: Vault, text: str) -> None:
    """HEAD, branches, and the line by which a remote is fetched: what a person calls a branch goes, and stays apart."""
    vault.add(b"before")
    vault.write(f"the {text} of state\n".encode(), NOTE)
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", f"the {text} of state")
    vault.git("branch", text.replace("/", "-"))
    vault.git("branch", text.upper().replace("/", "_"), "HEAD~1")
    vault.git("config", "remote.home.fetch", "+refs/heads/*:refs/remotes/home/*")
    vault.git("update-ref", "refs/remotes/home/main", "HEAD")
    vault.history.erase(Request((text,)))
    assert vault.read(NOTE) == b"the (erased) of state\n"
    assert vault.git("log", "-1", "--format=%s", "refs/remotes/home/main").strip() == "the (erased) of state"
    assert vault.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert vault.git("config", "remote.home.fetch").strip() == "+refs/heads/*:refs/remotes/home/*"
    branches = vault.git("branch", "--format=%(refname:short)").split()
    assert branches == ["(erased)", "(erased)-2", "main"]
    vault.add(b"goes on")
    vault.assert_clean()
