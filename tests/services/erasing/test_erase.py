"""One sentence in every place that the program has; after one erasing a scan of its own finds it nowhere."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.erasing.leftovers import leftovers
from tests.conftest import Clock
from tests.services.erasing.planting import OLD_DAY, SECRET, git, planted
from vault_memory.adapters.records import archived_day
from vault_memory.core import layout
from vault_memory.errors import Busy, HistoryError, InvalidId, NotFound, UsageError
from vault_memory.services.erasing import erase, finish_erasing, of_note, of_texts, of_user, preview
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault


def test_g5_a_text_of_a_user_is_nowhere_any_more(vault: Vault) -> None:
    """G5, E8: files, conversations, archives, history, indexes, stores, state and logs; lines keep their numbers."""
    planted(vault)
    home = vault.root / "memory/alice"
    records = {path: path.read_bytes().count(b"\n") for path in (home / "conversations").glob("*.jsonl")}
    dates = git(vault.root, "log", "--format=%an %ae %at %ct")
    before = leftovers(vault.root, SECRET)
    assert len(before.places) > 25, before.places
    wanted = of_texts(vault, "alice", [SECRET])
    assert f"{SECRET[:24]}…" in "".join(path.read_text() for path in (home / "daily").glob("*.md"))
    shown = preview(vault, wanted)
    assert shown.git.commits > 2 and not shown.is_nothing
    # SQLite moves its log into the database when a connection is collected: that moment is nobody's.
    seen, had = (
        {each for each in found.places if "outbox.db" not in each} for found in (leftovers(vault.root, SECRET), before)
    )
    assert seen == had, "a look changes nothing"
    receipt = erase(vault, wanted)
    assert leftovers(vault.root, SECRET).places == []
    assert leftovers(vault.root, SECRET[:19]).places == [], "nor a quotation that was cut"
    assert receipt.left == () and receipt.problems == ()
    assert receipt.commits > 2 and receipt.files > 5 and receipt.entries >= 3
    assert {path: path.read_bytes().count(b"\n") for path in records} == records
    for path in records:
        assert all(json.loads(line)["user_id"] == "alice" for line in path.read_bytes().splitlines())
    old = archived_day(home, OLD_DAY, vault.root) or b""
    assert [json.loads(line)["user_message"] for line in old.splitlines()] == ["nothing", "(erased)"]
    assert git(vault.root, "log", "--format=%an %ae %at %ct") == dates
    assert git(vault.root, "status", "--porcelain") == "" and git(vault.root, "fsck", "--strict") == ""
    assert not (vault.root / ".vault-memory/erasing").exists()
    hits = search(vault, "alice", SearchQuery("Zanzibar codeword")).hits
    assert not [hit for hit in hits if "zanzibar" in hit.content.lower()]
    assert "dark" in (home / "USER.md").read_text(), "what was learned beside it stays"
    record_turn(vault, "alice", "I use Docker", "ok")
    assert git(vault.root, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("named", "said"),
    [("我的秘密电码 Zanzibar", "我的祕密電碼 Zanzibar"), ("後門鑰匙是 Zanzibar", "后门钥匙是 Zanzibar")],
)
def test_g5_the_other_chinese_script_is_the_same_text(vault: Vault, named: str, said: str) -> None:
    """A person whose vault is in one script names it in the other; the look says in which forms it stands here."""
    planted(vault, said)
    (vault.root / "memory/alice/notes/own.md").write_text(f"here as {named}\n")
    assert len(leftovers(vault.root, said).places) > 20
    shown = preview(vault, of_texts(vault, "alice", [named]))
    assert {named, said} <= {*shown.forms}
    assert any("in other words" in line for line in shown.kept)
    receipt = erase(vault, of_texts(vault, "alice", [named]))
    assert receipt.left == () and receipt.problems == ()
    assert leftovers(vault.root, said).places == leftovers(vault.root, named).places == []


def test_g5_a_user_is_gone_and_nobody_else(vault: Vault) -> None:
    """G5, B6: all that is theirs, under the former id too, and what messages of commits say of them."""
    from vault_memory.services.admin import rename_user

    planted(vault, user_id="yolanda")
    rename_user(vault, "yolanda", "zenobia")
    record_turn(vault, "zenobia", "I use Docker", "ok")
    record_turn(vault, "bob", "I like the light theme", "ok")
    (vault.root / "shared.md").write_text("no word\n")
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qam", "shared")
    bobs = (vault.root / "memory/bob/USER.md").read_bytes()
    commits = git(vault.root, "rev-list", "--count", "HEAD")
    receipt = erase(vault, of_user(vault, "zenobia"))
    assert receipt.left == ()
    assert not (vault.root / "memory/zenobia").exists()
    assert vault.user_ids() == ["bob"] and (vault.root / "memory/bob/USER.md").read_bytes() == bobs
    assert git(vault.root, "rev-list", "--count", "HEAD") == commits
    found = [*leftovers(vault.root, "zenobia").places, *leftovers(vault.root, "yolanda").places]
    assert found == [], "state, logs and history do not name them"
    assert "theme = light" in git(vault.root, "log", "--format=%s")
    assert "Docker" not in git(vault.root, "log", "-p", "--all")
    for user_id in ("zenobia", "Zenobia", "YOLANDA"):
        with pytest.raises(InvalidId, match="was erased"):
            record_turn(vault, user_id, "hello", "hi")
    again = erase(vault, of_user(vault, "zenobia"))  # a store may have something of them
    assert (again.commits, again.left) == (0, ()) and vault.user_ids() == ["bob"]
    with pytest.raises(NotFound):
        of_user(vault, "nobody")


@pytest.mark.parametrize("what", ["user", "note"])
def test_what_a_person_wrote_of_a_commit_goes_from_gits_logs_as_well(vault: Vault, what: str) -> None:
    """Of a commit of which nothing is left: logs of HEAD and of the branch, and the message that was written last."""
    (vault.root / "shared.md").write_text("no word\n")
    git(vault.root, "add", "-A")
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "The garden is shared")
    note = vault.path("alice", "notes/diary.md")
    note.parent.mkdir(parents=True)
    note.write_text("a test, positive, on Monday\n")
    git(vault.root, "add", "-A")
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "Alicia Kettleworth in June\n\nmore")
    met = vault.root / ".git/vault-memory/met"
    met.parent.mkdir(exist_ok=True)
    log = (vault.root / ".git/logs/HEAD").read_bytes()
    met.write_bytes(b"%d %s" % (len(log), log.splitlines(keepends=True)[-1]))
    wanted = of_user(vault, "alice") if what == "user" else of_note(vault, "memory/alice/notes/diary.md")
    assert erase(vault, wanted).left == ()
    assert leftovers(vault.root, "Kettleworth").places == []
    moves = git(vault.root, "reflog")
    assert "commit: (erased)" in moves and "commit: The garden is shared" in moves
    assert (vault.root / ".git/COMMIT_EDITMSG").read_text() == "(erased)\n"


def test_a_user_who_is_called_like_a_file_of_the_state_takes_only_their_own(vault: Vault) -> None:
    state = vault.root / ".vault-memory"
    record_turn(vault, "token", "my password is Tunes-2020-x9", "ok")
    (state / "tokens").mkdir(exist_ok=True)
    (state / "tokens/token").write_text("x")
    before = (state / "token").read_bytes()
    assert (state / "redactions/token.json").exists()
    assert erase(vault, of_user(vault, "token")).left == ()
    assert (state / "token").read_bytes() == before
    assert not (state / "redactions/token.json").exists() and not (state / "tokens/token").exists()


def test_g5_a_note_is_gone_under_all_its_paths(vault: Vault) -> None:
    """G5: what other files say of it stays, and so do files beside it."""
    root = vault.root
    note = root / "memory/alice/notes/idea.md"
    note.parent.mkdir(parents=True)
    note.write_text("An idea that nobody else must ever know of, it is called Quetzal\n")
    (note.parent / "other.md").write_text("stays\n")
    committed = ("-c", "user.name=A", "-c", "user.email=a@x")
    git(root, "add", "-A")
    git(root, *committed, "commit", "-qm", "edit idea (memory/alice/notes/idea.md)")
    git(root, "mv", "memory/alice/notes/idea.md", "memory/alice/notes/quiet.md")
    git(root, *committed, "commit", "-qm", "moved")
    vault.index("alice")
    receipt = erase(vault, of_note(vault, "memory/alice/notes/quiet.md"))
    assert receipt.left == ()
    assert leftovers(root, "Quetzal").places == [] and leftovers(root, "idea.md").places == []
    assert (note.parent / "other.md").read_text() == "stays\n" and not (note.parent / "quiet.md").exists()
    from vault_memory.services.notes import save_note

    with pytest.raises(UsageError, match="was erased"):
        save_note(vault, PurePosixPath("memory/alice/notes/idea.md"), None, b"An idea\n", "m", vault.history.person())


def test_a_note_is_known_by_its_path_and_not_by_what_others_say_as_well(vault: Vault) -> None:
    """Notes that were once empty, or made of one template, are other notes; and so is one at a former path."""
    root, committed = vault.root, ("-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "notes")
    notes = root / "memory/alice/notes"
    notes.mkdir(parents=True)
    template = "# Weekly plan\n\nWhat I want to do, and what I must not forget\n"
    for name in ("plan.md", "other.md", "third.md"):
        (notes / name).write_text("" if name == "third.md" else template)
    (notes / "empty.md").write_text("")
    git(root, "add", "-A")
    git(root, *committed)
    (notes / "plan.md").write_text("The secret plan is to buy a lighthouse on the coast\n")
    for name in ("other.md", "third.md"):
        (notes / name).write_text(f"a note that matters, {name}\n")
    git(root, "mv", "memory/alice/notes/empty.md", "memory/alice/notes/hollow.md")
    git(root, *committed, "-a")
    git(root, "mv", "memory/alice/notes/plan.md", "memory/alice/notes/moved.md")
    git(root, *committed)
    (notes / "plan.md").write_text("another plan, of another day\n")
    git(root, "add", "-A")
    git(root, *committed)
    os.rename(notes / "moved.md", notes / "last.md")  # and no commit of that
    wanted = of_note(vault, "memory/alice/notes/last.md")
    assert {each.name for each in wanted.request.gone} == {"last.md", "moved.md"}
    receipt = erase(vault, wanted)
    assert any(line.startswith("what memory/alice/notes/plan.md was") for line in receipt.kept)
    assert sorted(each.name for each in notes.iterdir()) == ["hollow.md", "other.md", "plan.md", "third.md"]
    assert git(root, "log", "--format=%s", "--", "memory/alice/notes/other.md").split() == ["notes", "notes"]
    assert of_note(vault, "memory/alice/notes/third.md").request.gone[1:] == ()
    from vault_memory.services.notes import save_note

    save_note(vault, PurePosixPath("memory/alice/notes/n.md"), None, template.encode(), "m", vault.history.person())


def test_notes_that_are_called_alike_then_are_found_still(vault: Vault) -> None:
    """Each is Markdown as before, and the receipt names them."""
    notes = vault.root / layout.user_dir("alice") / "notes"
    notes.mkdir(parents=True)
    said = {"Jo Fell.md": "the copper heron", "jo-fell.md": "the silver badger", "Jo  Fell.md": "the golden otter"}
    for name, words in said.items():
        (notes / name).write_text(f"{words}\n")
    git(vault.root, "add", "-A")
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "notes")
    receipt = erase(vault, of_texts(vault, "alice", ["Jo Fell"]))
    assert receipt.left == ()
    now = {f"memory/alice/notes/(erased){number}.md" for number in ("", " 2", " 3")}
    assert {*receipt.renamed} == now
    found = {PurePosixPath(search(vault, "alice", SearchQuery(words)).hits[0].source).name for words in said.values()}
    assert found == {PurePosixPath(name).name for name in now}


def test_commits_that_change_no_file_are_named_where_a_user_goes(vault: Vault) -> None:
    record_turn(vault, "alice", "I like mangos", "ok")
    vault.history.flush()
    command = ("-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "a plan of hers")
    git(vault.root, *command)
    named = git(vault.root, "rev-parse", "--short", "HEAD").strip()
    told = [line for line in preview(vault, of_user(vault, "alice")).kept if "change no file" in line]
    assert len(told) == 1 and f"({named})" in told[0]
    assert not [line for line in preview(vault, of_texts(vault, "alice", ["mangos"])).kept if "change no file" in line]


@pytest.mark.parametrize("is_note", [False, True])
def test_no_message_is_said_to_stay_that_goes(vault: Vault, is_note: bool) -> None:
    """A commit that changes no file, and whose message names what is erased."""
    plan = "memory/alice/plan.md"
    (vault.root / plan).parent.mkdir(parents=True)
    (vault.root / plan).write_text("# A plan for the summer\n")
    git(vault.root, "add", "--all")
    for message in (plan, "Plans\n\nVault-User: alice\nVault-Memory: plan", "a plan of hers"):
        git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", message)
    named = git(vault.root, "rev-parse", "--short", "HEAD").strip()
    wanted = of_note(vault, plan) if is_note else of_user(vault, "alice")
    (told,) = (line for line in preview(vault, wanted).kept if "change no file" in line)
    assert f"({named})" in told
    receipt = erase(vault, wanted)
    (told,) = (line for line in receipt.kept if "change no file" in line)
    assert f"({git(vault.root, 'rev-parse', '--short', 'HEAD').strip()})" in told
    assert git(vault.root, "log", "-3", "--format=%s").split("\n")[:3] == ["a plan of hers", "(erased)", "(erased)"]


def test_names_of_references_that_have_the_id_are_named_where_a_user_goes(vault: Vault) -> None:
    """As a word of its own, also of a branch at which only git's log has HEAD; in the look and in the receipt."""
    record_turn(vault, "al", "I like mangos", "ok")
    vault.history.flush()
    for name in ("final", "alpha", "al2", "al-work", "review/AL"):
        git(vault.root, "branch", name)
    for name in ("goal", "light-al", "al的標籤"):
        git(vault.root, "tag", name)
    git(vault.root, "update-ref", "refs/remotes/origin/al", "HEAD")
    git(vault.root, "checkout", "-q", "-b", "former_al")
    git(vault.root, "checkout", "-q", "main")
    git(vault.root, "branch", "-d", "former_al")
    assert not [line for line in preview(vault, of_texts(vault, "al", ["mangos"])).kept if "of branches" in line]
    shown, receipt = preview(vault, of_user(vault, "al")), erase(vault, of_user(vault, "al"))
    for kept in (shown.kept, receipt.kept):
        (told,) = (line for line in kept if "names of branches" in line)
        assert "(al-work, al的標籤, former_al, light-al, origin/al, review/AL)" in told and "git branch -m" in told


def test_the_look_and_the_receipt_agree_on_what_tags_say(vault: Vault) -> None:
    """On a commit of which nothing is left it goes; elsewhere only a person can tell."""
    record_turn(vault, "bob", "I like tea", "ok")
    vault.history.flush()
    tag = ("-c", "user.name=A", "-c", "user.email=a@x", "tag", "-a", "-m")
    git(vault.root, *tag, "all of bob's", "both")
    git(vault.root, "branch", "both")  # git calls the tag `tags/both` then
    record_turn(vault, "alice", "I like mangos", "ok")
    vault.history.flush()
    git(vault.root, *tag, "she came", "v1")
    git(vault.root, *tag, "on the tag", "v2", "v1")
    shown, receipt = preview(vault, of_user(vault, "alice")), erase(vault, of_user(vault, "alice"))
    assert shown.git.tags == receipt.tags == ("v1", "v2")
    for kept in (shown.kept, receipt.kept):
        (told,) = (line for line in kept if "what tags say" in line)
        assert "(both)" in told
    assert git(vault.root, "tag", "-l", "--format=%(contents:subject)").split("\n")[:3] == [
        "all of bob's",
        "(erased)",
        "(erased)",
    ]
    assert preview(vault, of_user(vault, "alice")).git.tags == ()


def test_what_another_user_wrote_stays_theirs_and_is_said(vault: Vault) -> None:
    record_turn(vault, "bob", f"Remember that {SECRET}", "ok")
    record_turn(vault, "alice", f"Remember that {SECRET}", "ok")
    bobs = (vault.root / "memory/bob/USER.md").read_bytes()
    with pytest.raises(UsageError, match="--user"):
        of_texts(vault, "", [SECRET])
    receipt = erase(vault, of_texts(vault, "alice", [SECRET]))
    assert (vault.root / "memory/bob/USER.md").read_bytes() == bobs and SECRET.encode() in bobs
    assert any(line.startswith("memory/bob: ") for line in receipt.kept)
    assert not [place for place in leftovers(vault.root / "memory", SECRET).places if "alice" in place]
    assert [place for place in leftovers(vault.root / "memory", SECRET).places if "bob" in place]
    record_turn(vault, "bob", f"Again: {SECRET}", "ok")
    assert receipt.left == ()


def test_erased_words_do_not_come_back_by_a_turn_an_import_or_a_backup(
    vault: Vault, tmp_path: Path, clock: Clock
) -> None:
    """A replayed turn is refused, an imported one is left out and counted, a restore stops before anything is there."""
    from vault_memory.services.admin import backup, restore
    from vault_memory.services.importing import import_conversations

    planted(vault)
    backup(vault, tmp_path / "before.tar.gz")
    erase(vault, of_texts(vault, "alice", [SECRET]))
    for said in (SECRET, f"It is: {SECRET.upper()}!", SECRET.replace(" ", "\n")):
        with pytest.raises(UsageError, match="was erased from memory/alice"):
            record_turn(vault, "alice", said, "ok")
        with pytest.raises(UsageError, match="was erased"):
            record_turn(vault, "alice", "and?", f"so: {said}")
    record_turn(vault, "alice", "another word", "ok")
    turns = [
        {"uuid": f"t{number}", "sender": sender, "created_at": f"2026-01-0{number + 1}T00:00:00Z", "text": text}
        for number, (sender, text) in enumerate([("human", SECRET), ("assistant", "ok"), ("human", "plain words")])
    ]
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([{"uuid": "u", "name": "n", "chat_messages": turns}]))
    done = import_conversations(vault, "alice", "claude", [export])
    assert done.left_out["holds what was erased here"] == 1 and done.kept.added == 1
    with pytest.raises(UsageError, match="holds what was erased on this machine"):
        restore(tmp_path / "before.tar.gz", tmp_path / "again")
    assert not (tmp_path / "again").exists()
    backup(vault, tmp_path / "after.tar.gz")
    restore(tmp_path / "after.tar.gz", tmp_path / "again")
    assert leftovers(vault.root, SECRET).places == [] and leftovers(tmp_path / "again", SECRET).places == []
    (tmp_path / "again/vault-memory.toml").unlink()
    with pytest.raises(UsageError, match="was erased"):
        record_turn(open_vault(vault.root, now=clock), "alice", SECRET, "ok")


@pytest.mark.parametrize("state", ["rebase", "shallow", "subfolder", "waiting"])
def test_a_state_in_which_it_cannot_be_done_changes_nothing(vault: Vault, tmp_path: Path, state: str) -> None:
    """A stopped rebase, a shallow clone, a vault inside a larger repository, a commit that waits."""
    record_turn(vault, "alice", f"Remember that {SECRET}", "ok")
    record_turn(vault, "alice", "I use Docker", "ok")
    root = vault.root
    if state == "rebase":
        (root / ".git/rebase-merge").mkdir()
    elif state == "waiting":
        (root / "memory/alice/USER.md").write_text("mine\n")
        git(root, "add", "-A")
        record_turn(vault, "alice", "I like the dark theme", "ok")
    elif state == "shallow":
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{root}", tmp_path / "clone"], check=True)
        root = tmp_path / "clone"
    else:
        shutil.move(root, tmp_path / "big-vault")
        (tmp_path / "big").mkdir()
        git(tmp_path / "big", "init", "-q")
        root = tmp_path / "big/vault"
        shutil.move(tmp_path / "big-vault", root)
        shutil.rmtree(root / ".git")
        git(tmp_path / "big", "add", "-A")
        git(tmp_path / "big", "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "all")
    other = open_vault(root, now=vault.now)
    with pytest.raises(HistoryError, match=r"nothing (is|can be) erased"):
        erase(other, of_texts(other, "alice", [SECRET]))
    assert not (root / ".vault-memory/erasing").exists()
    assert finish_erasing(other) is None
    assert leftovers(root, SECRET).places


@pytest.mark.parametrize("held", ["file", "history", "name"])
def test_a_repository_inside_the_vault_that_holds_it_is_named_and_nothing_is_changed(vault: Vault, held: str) -> None:
    """Its notes are indexed, and its history cannot be made anew from here."""
    record_turn(vault, "alice", f"Remember that {SECRET}", "ok")
    record_turn(vault, "bob", "hello", "hi")
    nested = vault.root / "work/nested"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    committed = ("-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "x")
    note = nested / (f"{SECRET}.md" if held == "name" else "a.md")
    note.write_text(SECRET if held != "name" else "plain")
    if held == "history":
        git(nested, "add", "-A")
        git(nested, *committed)
        note.write_text("plain")
        git(nested, *committed, "-a")
    with pytest.raises(HistoryError, match="work/nested is a git repository of its own"):
        preview(vault, of_texts(vault, "alice", [SECRET]))
    with pytest.raises(HistoryError, match="work/nested"):
        erase(vault, of_texts(vault, "alice", [SECRET]))
    assert not (vault.root / ".vault-memory/erasing").exists()
    assert SECRET in git(vault.root, "log", "-p")
    with pytest.raises(HistoryError, match="work/nested"):
        erase(vault, of_note(vault, "work/nested/a.md" if held != "name" else f"work/nested/{SECRET}.md"))
    erase(vault, of_texts(vault, "alice", ["another text"]))
    shutil.move(nested, vault.root / "memory/bob/nested")
    assert erase(vault, of_texts(vault, "alice", [SECRET])).left == ()
    erase(vault, of_user(vault, "bob"))
    assert leftovers(vault.root, SECRET).places == []


def test_files_that_are_no_text_are_named_whatever_they_are_called(vault: Vault) -> None:
    """Packed, in another encoding, a picture; tracked, untracked and ignored ones."""
    record_turn(vault, "alice", f"Remember that {SECRET}", "ok")
    root = vault.root
    (root / "docs").mkdir()
    with zipfile.ZipFile(root / "docs/letter.docx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("w.xml", SECRET * 50)
    (root / "un.gz").write_bytes(gzip.compress(SECRET.encode()))
    (root / "other.md").write_bytes(SECRET.encode("utf-16-le"))
    git(root, "add", "un.gz")
    (root / ".git/info/exclude").write_text("hidden\n")
    (root / "hidden").write_bytes(gzip.compress(SECRET.encode()))
    (root / "plain.md").write_text(("號" * 40_000)[1:])
    kept = preview(vault, of_texts(vault, "alice", [SECRET])).kept
    (line,) = (line for line in kept if "are no text" in line)
    assert line.partition(": ")[2].split(", ") == ["docs/letter.docx", "hidden", "other.md", "un.gz"]


def test_a_text_of_few_letters_and_a_file_that_turns_write_are_refused(vault: Vault) -> None:
    record_turn(vault, "alice", "hello", "hi")
    for text in ("a", "七", " . "):
        with pytest.raises(UsageError, match="too short"):
            of_texts(vault, "alice", [text])
    for path in ("memory/alice/USER.md", "vault-memory.toml", "memory/alice/index.db"):
        with pytest.raises(UsageError, match="--text"):
            of_note(vault, path)
    with pytest.raises(NotFound):
        of_note(vault, "memory/alice/notes/none.md")
    with pytest.raises(UsageError):
        of_note(vault, "../x.md")


def test_a_writer_meanwhile_waits_and_fails_clearly(vault: Vault) -> None:
    """Another user's lock is held by a step of the erasing: who writes then is told."""
    record_turn(vault, "alice", f"Remember that {SECRET}", "ok")
    seen: list[str] = []

    def step(reached: str) -> None:
        if reached == "history made anew":
            other = open_vault(vault.root, now=vault.now)
            with pytest.raises(Busy), other.lock("alice", 0.1):
                pass
            with pytest.raises(Busy, match="another command is erasing"):
                finish_erasing(other, wait_s=0.1)
            seen.append(reached)

    erase(vault, of_texts(vault, "alice", [SECRET]), step)
    assert seen and leftovers(vault.root, SECRET).places == []
    assert layout.user_dir("alice")


def test_the_receipt_says_where_a_text_was_who_made_a_commit(vault: Vault) -> None:
    """In the line of the author, and in git's settings: the vault's own, and those of the person."""
    root = vault.root
    git(root, "config", "user.name", "Hepzibah Crale")
    git(root, "config", "user.email", "hc@x")
    (root / "shared.md").write_text("no word\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "shared")
    record_turn(vault, "alice", "I use Docker", "ok")
    wanted = of_texts(vault, "alice", ["Hepzibah Crale"])
    shown = preview(vault, wanted)
    assert shown.git.people == 1
    receipt = erase(vault, wanted)
    assert git(root, "log", "--format=%an %ae").count("(erased) hc@x") == 1
    for told in (shown, receipt):
        assert any("who made 1 of them" in line for line in told.kept), told.kept
        assert any("`git config user.name …`" in line for line in told.out_of_reach), told.out_of_reach
    other = erase(vault, of_texts(vault, "alice", ["another text"]))
    assert not any("who made" in line for line in other.kept)
