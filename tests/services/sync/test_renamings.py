"""Users who got another id on one machine: tokens, conversations and notes stay with their person on all of them."""

from __future__ import annotations

import re

import pytest

from tests.services.sync.conftest import Machine, git
from vault_memory.errors import HistoryError, Unauthenticated
from vault_memory.services.admin import status
from vault_memory.services.admin.access import caller_of, new_user_token
from vault_memory.services.admin.users import rename_user
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.profiles.history import history, profile_at
from vault_memory.services.profiles.preferences import list_preferences, set_preference
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import open_vault

IDEA = "memory/alice/notes/idea.md"
PRIVATE = "我的手術約在星期五，先別告訴同事"
STOP = r"`vault-memory user rename alice carol` here, then sync again"


def said(machine: Machine, user_id: str) -> str:
    files = sorted((machine.root / "memory" / user_id / "conversations").glob("*.jsonl"))
    return "".join(file.read_text("utf-8") for file in files)


def found(machine: Machine, user_id: str, query: str) -> str:
    return "\n".join(hit.content for hit in search(machine.vault, user_id, SearchQuery(query)).hits)


def give_alices_id_on(machine: Machine) -> None:
    """Alice is carol now, and another person is alice."""
    rename_user(machine.vault, "alice", "carol")
    machine.edit("memory/carol/notes/idea.md", "three", "three of one")
    record_turn(machine.vault, "alice", "我喜歡淺色主題", "好")
    machine.write("memory/alice/wu.md", "the next alice: zebra\n")
    (machine.root / "memory/alice/notes").mkdir()
    machine.write("memory/alice/notes/same.md", "the same words\n")


def assert_each_has_their_own(machine: Machine) -> None:
    assert "three of one" in machine.read("memory/carol/notes/idea.md")
    assert "one of two" in machine.read("memory/carol/notes/idea.md")
    assert not (machine.root / IDEA).exists()
    assert machine.read("memory/alice/wu.md") == "the next alice: zebra\n"
    assert machine.read("memory/alice/notes/same.md") == "the same words\n"
    assert machine.theme() == "light"
    assert "concise" in machine.read("memory/carol/USER.md") and "concise" not in machine.read("memory/alice/USER.md")
    assert "zebra" in found(machine, "alice", "zebra") and "zebra" not in found(machine, "carol", "zebra")
    assert "手術" not in found(machine, "alice", "手術約在星期五")


@pytest.mark.parametrize("is_sent_first", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_id_that_is_given_again_elsewhere_opens_nothing_of_either_person(
    one: Machine, two: Machine, is_sent_first: bool
) -> None:
    """Walls: what this machine alone has of alice stays with her, in whichever order the machines sync."""
    one.write("memory/alice/notes/same.md", "the same words\n")
    one.sync()
    two.sync()
    token = new_user_token(two.vault, "alice")
    record_turn(two.vault, "alice", PRIVATE, "好")
    set_preference(two.vault, "alice", "response_style", "concise")
    two.edit(IDEA, "one", "one of two")
    if is_sent_first:
        two.sync()
    give_alices_id_on(one)
    one.sync()
    assert not (one.root / IDEA).exists() and "concise" not in one.read("memory/alice/USER.md")
    head = git(two.root, "rev-parse", "HEAD").strip()
    for _ in range(2):
        with pytest.raises(HistoryError, match=STOP):
            two.sync()
    assert not (two.root / "memory/carol").exists() and caller_of(two.vault, token).user_id == "alice"
    assert is_sent_first or git(two.root, "log", "--format=%s", f"{head}..HEAD").startswith("edit")
    rename_user(two.vault, "alice", "carol")
    two.sync()
    for machine in (two, one, two):
        machine.sync()
        machine.assert_clean()
        assert_each_has_their_own(machine)
        assert {each.new for each in history(machine.vault, "carol")} == {"concise"}
        assert {each.new for each in history(machine.vault, "alice")} == {"light"}
        assert profile_at(machine.vault, "alice", head) is None and b"concise" in (
            profile_at(machine.vault, "carol", head) or b""
        )
    assert PRIVATE in said(two, "carol") and not said(two, "alice") and "淺色" in said(one, "alice")
    with pytest.raises(Unauthenticated):
        caller_of(two.vault, token)


@pytest.mark.slow
def test_several_renamings_are_made_in_their_order(one: Machine, two: Machine) -> None:
    record_turn(one.vault, "bob", "我喜歡暗色主題", "好")
    one.sync()
    two.sync()
    record_turn(two.vault, "bob", PRIVATE, "好")
    for old, new in (("alice", "carol"), ("bob", "alice"), ("carol", "dora")):
        rename_user(one.vault, old, new)
    one.sync()
    for old, new in (("alice", "carol"), ("bob", "alice")):
        with pytest.raises(HistoryError, match=f"`vault-memory user rename {old} {new}` here"):
            two.sync()
        rename_user(two.vault, old, new)
    with pytest.raises(HistoryError, match="`vault-memory user rename carol dora` here"):
        two.sync()
    rename_user(two.vault, "carol", "dora")
    for machine in (two, one, two):
        machine.sync()
        machine.assert_clean()
        assert machine.vault.user_ids() == ["alice", "dora"] and machine.theme() == "dark"
    assert PRIVATE in said(two, "alice")


def test_a_machine_that_has_nothing_of_the_user_alone_goes_on(one: Machine, two: Machine) -> None:
    two.sync()
    assert "two" in found(two, "alice", "two")
    rename_user(one.vault, "alice", "carol")
    one.sync()
    two.write("memory/bob/x.md", "of two\n")
    two.sync()
    assert two.vault.user_ids() == ["bob", "carol"] and not (two.root / "memory/alice").exists()
    assert "two" in found(two, "carol", "two")
    record_turn(one.vault, "alice", "我喜歡淺色主題", "好")
    for machine in (one, two):
        machine.sync()
        machine.assert_clean()
    assert "idea" not in found(two, "alice", "two") and two.theme() == "light"


def test_the_newer_value_stays_whatever_id_it_was_set_under(one: Machine, two: Machine) -> None:
    set_preference(two.vault, "alice", "theme", "light")
    set_preference(one.vault, "alice", "code_style", "minimal_comments")
    rename_user(one.vault, "alice", "carol")
    set_preference(one.vault, "carol", "theme", "dark")
    one.sync()
    set_preference(two.vault, "alice", "code_style", "with_comments")
    with pytest.raises(HistoryError, match=STOP):
        two.sync()
    rename_user(two.vault, "alice", "carol")
    two.sync()
    one.sync()
    assert one.read("memory/carol/USER.md") == two.read("memory/carol/USER.md")
    kept = {each.key: each.value for each in list_preferences(one.vault, "carol")}
    assert (kept["theme"], kept["code_style"]) == ("dark", "with_comments")


def test_an_id_that_two_people_got_on_two_machines_is_named(one: Machine, two: Machine) -> None:
    record_turn(two.vault, "carol", "我喜歡淺色主題", "好")
    two.edit(IDEA, "one", "one of two")
    two.sync()
    rename_user(one.vault, "alice", "carol")
    with pytest.raises(HistoryError, match="`vault-memory user rename carol NEW`"):
        one.sync()
    rename_user(one.vault, "carol", "cara")
    one.sync()
    new_user_token(two.vault, "alice")
    with pytest.raises(HistoryError, match="`vault-memory user rename alice cara` here"):
        two.sync()  # carol is another person here
    rename_user(two.vault, "alice", "cara")
    for machine in (two, one):
        machine.sync()
        machine.assert_clean()
        assert machine.vault.user_ids() == ["cara", "carol"]
        assert "one of two" in machine.read("memory/cara/notes/idea.md")


def test_what_one_machine_has_alone_stops_the_sync(one: Machine, two: Machine) -> None:
    rename_user(one.vault, "alice", "carol")
    one.sync()
    two.write(".git/info/exclude", "diary.md\n")
    for name, text in {"diary.md": "ignored\n", "conversations/2026-01-30.jsonl": "{}\n"}.items():
        two.write(f"memory/alice/{name}", text)
        with pytest.raises(HistoryError, match=STOP):
            two.sync()
        (two.root / "memory/alice" / name).unlink()
    for flag in ("assume-unchanged", "skip-worktree"):  # git keeps such a file under its name
        git(two.root, "update-index", f"--{flag}", IDEA)
        with pytest.raises(HistoryError, match=STOP):
            two.sync()
        git(two.root, "update-index", f"--no-{flag}", IDEA)
    new_user_token(two.vault, "alice")
    with pytest.raises(HistoryError, match=STOP):
        two.sync()


@pytest.mark.parametrize("key", ["i18n.logOutputEncoding", "i18n.commitEncoding"])
def test_no_encoding_of_gits_output_hides_a_renaming(one: Machine, two: Machine, key: str) -> None:
    """A line in `.git/config` of a folder that was sent: the sync merged, and alice's token opened another's notes."""
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好")
    one.sync()
    two.sync()
    new_user_token(two.vault, "alice")
    give_alices_id_on(one)
    one.sync()
    changes = history(two.vault, "alice")
    git(two.root, "config", key, "UTF-16")
    with pytest.raises(HistoryError, match=STOP):
        two.sync()
    assert changes and history(two.vault, "alice") == changes


def test_a_forged_renaming_stops_syncs_and_no_more(one: Machine, remote: Machine) -> None:
    """A remote's word moves no conversation to an id whose token somebody else holds; the message tells the way out,
    and `status` says the same of the daemon's syncs."""
    token = new_user_token(one.vault, "alice")
    record_turn(one.vault, "alice", PRIVATE, "好")
    one.sync()
    git(remote.root, "pull", "-q")
    for user, old in (("-h", "alice"), ("../x", "alice"), ("x", "no\x1b[2Jid")):
        trailers = f"Vault-User: {user}\nVault-Renamed-From: {old}"
        git(remote.root, "commit", "-q", "--allow-empty", "-m", "user: renamed", "-m", trailers)
    git(remote.root, "push", "-q")
    with pytest.raises(HistoryError, match="`vault-memory user rename -- alice -h` here") as stopped:
        one.sync()
    daemons = Machine(open_vault(one.root, now=one.vault.now, git_remote="origin"))
    assert [outcome.ok for outcome in heartbeat(daemons.vault, "sync", force=True)] == [False]
    assert f"job sync: HistoryError: {stopped.value}" in status(one.vault).unhealthy
    (commit,) = re.findall("git show ([0-9a-f]+)", str(stopped.value))
    assert "Vault-User: -h" in git(one.root, "show", commit)
    assert caller_of(one.vault, token).user_id == "alice" and PRIVATE in said(one, "alice")
    git(one.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    one.sync()
    one.assert_clean()
    assert caller_of(one.vault, token).user_id == "alice" and PRIVATE in said(one, "alice")
