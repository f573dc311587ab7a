"""Two clones of a vault and the bare repository between them. Real git, real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.services.sync.conftest import USER, Machine, git
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.core.notes.entries import request_in
from vault_memory.core.notes.note import conflicts_in
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import HistoryError, UsageError
from vault_memory.services.admin.status import status
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.graph import create_entity, create_relation, get_entity
from vault_memory.services.indexing import spaces
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.profiles.preferences import set_preference
from vault_memory.services.sync.sync import Synced, sync
from vault_memory.services.turns import add_reply, learn_waiting, record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


def requests_in(log: str) -> list[str]:
    """What was asked, by a day's log."""
    return [request.words for line in log.split("\n") if (request := request_in(line))]


def test_what_each_learned_comes_together(one: Machine, two: Machine) -> None:
    """Different keys, one day's log, one memory log, evidence and a note: nobody has to decide anything."""
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好" * 120)
    record_turn(two.vault, "alice", "以後請叫我小安", "好" * 120)
    one.edit("memory/alice/notes/idea.md", "one", "ONE")
    two.edit("memory/alice/notes/idea.md", "three", "THREE")
    assert one.sync().sent > 0
    done = two.sync()
    assert done.received > 0 and done.sent > 0 and done.notes == ()
    assert status(two.vault, "alice").scopes[0].pending == (), "what came is indexed"
    again = one.sync()
    assert again.received > 0 and again.sent == 0, "a fast-forward: no merge of a merge"
    for machine in (one, two):
        machine.assert_clean()
        profile = Profile.parse(machine.read(USER))
        assert (profile.get("theme"), profile.get("display_name")) == ("dark", "小安")
        assert machine.read("memory/alice/notes/idea.md") == "# 想法\n\nONE\ntwo\nTHREE\n"
        for name in ("MEMORY.md", "feedback.jsonl"):
            text = machine.read(f"memory/alice/{name}")
            assert "<<<" not in text and text == one.read(f"memory/alice/{name}")
        (daily,) = (machine.root / "memory/alice/daily").iterdir()
        assert len(requests_in(daily.read_text())) == 3
    assert one.sync() == Synced("origin"), "nothing to do"
    assert git(one.root, "log", "--merges", "--format=%an %s").splitlines() == [
        f"vault-memory sync: merge {done.received} commits of the remote"
    ]


def test_entries_of_one_minute_are_there_once_however_often_both_sync(one: Machine, two: Machine, clock: Clock) -> None:
    """A sync sorted the other machine's entries among its own; that machine then found them gone from their places."""
    minute, said = clock.time, []
    for text in ("我習慣用 Vim", "你好嗎", "早安", "再見", "以後都用 Rust", "不客氣"):
        for machine in (two, one):
            for number in (9, 13):
                clock.time = minute
                said.append(f"{text}（{machine.root.name} {number}）")
                record_turn(machine.vault, "alice", said[-1])
            machine.sync()
    for machine in (two, one):
        machine.sync()
        machine.assert_clean()
    (daily,) = (one.root / "memory/alice/daily").iterdir()
    text = daily.read_text()
    assert text == two.read(str(daily.relative_to(one.root)))
    assert conflicts_in(text) == []
    assert sorted(requests_in(text)) == sorted(["你好", *said])


def test_a_conversation_that_goes_on_on_both_machines_is_one_entry(one: Machine, two: Machine, clock: Clock) -> None:
    """A3: united in the order of time, with what came of each request, and without conflict marks."""

    def say(machine: Machine, minute: int, words: str, reply: str | None = "好") -> str:
        at = clock.time.replace(minute=minute, second=0, microsecond=0)
        return record_turn(machine.vault, "alice", words, reply, conversation_id="web", created_at=at).source

    waiting = say(one, 10, "部署登入頁", None)
    one.sync()
    two.sync()
    add_reply(one.vault, "alice", waiting, "好了", 0)
    learn_waiting(one.vault, "alice")
    for machine, minute in ((one, 12), (two, 11), (one, 14), (two, 13)):
        say(machine, minute, f"第 {minute} 分")
    two.write("memory/alice/daily/2026-01-30.md", two.read("memory/alice/daily/2026-01-30.md") + "\n我的話\n")
    for machine in (one, two, one):
        machine.sync()
        machine.assert_clean()
    text = one.read("memory/alice/daily/2026-01-30.md")
    assert text == two.read("memory/alice/daily/2026-01-30.md") and text.count("%%") == 2 and "<<<" not in text
    entry = text.partition("%%\n")[2]
    assert requests_in(entry) == ["部署登入頁", *(f"第 {minute} 分" for minute in (11, 12, 13, 14))]
    assert entry.count(" → 成功 ") == 1 and entry.count(" → 完成 ") == 4 and "\n\n我的話\n" in entry


def test_of_two_values_the_newer_stays_and_the_older_is_in_history_and_status(one: Machine, two: Machine) -> None:
    record_turn(two.vault, "alice", "我喜歡淺色主題")
    record_turn(one.vault, "alice", "我喜歡暗色主題")  # the clock of the test runs on: later
    one.sync()
    done = two.sync()
    one.sync()
    assert len(done.notes) == 1 and "theme = dark stays" in done.notes[0] and "light of 2026-01-30" in done.notes[0]
    for machine in (one, two):
        machine.assert_clean()
        assert machine.theme() == "dark"
        log = git(machine.root, "log", "--full-history", "--format=%s", "--", USER)
        assert "memory(alice): theme = light\n" in log and "memory(alice): theme = dark\n" in log
        (line,) = status(machine.vault).decided
        assert "theme = dark" in line and "`vault-memory pref set --user alice theme light`" in line
    from vault_memory.services.profiles.history import history

    newest = history(one.vault, "alice", "theme")[0]
    assert (newest.old, newest.new, newest.strength) == ("light", "dark", "explicit")
    set_preference(two.vault, "alice", "theme", "auto")
    assert status(two.vault).decided == (), "the person has decided"


def test_what_was_said_long_ago_is_older_whenever_it_is_learned(one: Machine, two: Machine, clock: Clock) -> None:
    record_turn(one.vault, "alice", "我喜歡淺色主題")
    record_turn(two.vault, "alice", "我喜歡暗色主題", created_at=clock() - timedelta(days=400))
    one.sync()
    two.sync()
    one.sync()
    assert one.theme() == two.theme() == "light"


def test_the_newer_may_be_on_the_side_that_syncs_last(one: Machine, two: Machine) -> None:
    set_preference(one.vault, "alice", "theme", "light")
    set_preference(two.vault, "alice", "theme", "dark")
    one.sync()
    two.sync()
    one.sync()
    assert one.theme() == two.theme() == "dark"
    assert git(two.root, "show", "HEAD^:" + USER).count("light") == 1, "the merge commit holds the older"


def test_the_same_lines_keep_both_texts_until_a_person_decides(one: Machine, two: Machine) -> None:
    note = "memory/alice/notes/idea.md"
    one.edit(note, "two", "from one")
    two.edit(note, "two", "from two")
    one.sync()
    done = two.sync()
    assert done.notes == (f"{note}: both sides changed the same lines; lines 4-8 hold both texts",)
    assert "from one\n" in two.read(note) and "from two\n" in two.read(note)
    for _ in range(2):
        found = status(two.vault)
        assert found.conflicts == (f"{note}: lines 4-8 hold two texts: keep what is right and delete the three marks",)
        assert f"conflict: {found.conflicts[0]}" in found.unhealthy
        reconcile(two.vault, "alice")
    text = two.read(note)
    (first, last) = conflicts_in(text)[0]
    lines = text.splitlines(keepends=True)
    two.write(note, "".join([*lines[: first - 1], "decided\n", *lines[last:]]))
    assert status(two.vault).conflicts == ()
    two.sync()
    one.sync()
    assert one.read(note) == "# 想法\n\none\ndecided\nthree\n"


def test_what_cannot_be_merged_is_kept_beside(one: Machine, two: Machine) -> None:
    one.write("notes/picture.png", b"\0one")
    one.sync()
    two.write("notes/picture.png", b"\0two")
    done = two.sync()
    (copy,) = two.root.glob("notes/picture (conflict *).png")
    assert {copy.read_bytes(), (two.root / "notes/picture.png").read_bytes()} == {b"\0one", b"\0two"}
    name = f"notes/{copy.name}"
    assert name in done.notes[0] and name in status(two.vault).conflicts[0]
    one.sync()
    assert (one.root / name).read_bytes() == copy.read_bytes()
    copy.unlink()
    assert status(two.vault).conflicts == ()


def test_the_copy_of_a_file_with_a_long_name_has_a_name_that_fits(one: Machine, two: Machine) -> None:
    names = [f"{'圖' * 80}{letter}.canvas" for letter in "ab"]  # 248 bytes each, and no byte less in common
    for name in names:
        one.write(name, name + "one")
    one.sync()
    for name in names:
        two.write(name, name + "two")
    assert len(two.sync().notes) == 2
    copies = {path.read_text() for path in two.root.glob("圖* (conflict *).canvas")}
    kept = {(two.root / name).read_text() for name in names}
    assert copies | kept == {name + side for name in names for side in ("one", "two")}
    two.assert_clean()


def test_what_one_deleted_and_the_other_edited_is_kept(one: Machine, two: Machine) -> None:
    for name in ("a.md", "b.md"):
        one.write(name, "text\n")
    one.sync()
    two.sync()
    (one.root / "a.md").unlink()
    two.write("a.md", "edited\n")
    (two.root / "b.md").unlink()
    one.write("b.md", "edited\n")
    one.sync()
    assert len(two.sync().notes) == 2
    one.sync()
    for machine in (one, two):
        machine.assert_clean()
        assert machine.read("a.md") == machine.read("b.md") == "edited\n"


def test_both_made_the_same_user(one: Machine, two: Machine) -> None:
    record_turn(one.vault, "bob", "我喜歡暗色主題")
    record_turn(two.vault, "bob", "以後請叫我小寶")
    one.sync()
    two.sync()
    profile = Profile.parse(two.read("memory/bob/USER.md"))
    assert (profile.get("theme"), profile.get("display_name")) == ("dark", "小寶") and profile.problems() == []
    two.assert_clean()


def test_an_edit_not_yet_committed_is_the_persons_and_is_merged(one: Machine, two: Machine) -> None:
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    one.sync()
    two.write("memory/alice/notes/new.md", "# 新\n")
    two.edit(USER, "- 稱呼：", "- 稱呼：小安")
    two.sync()
    assert (two.theme(), Profile.parse(two.read(USER)).get("display_name")) == ("dark", "小安")
    subjects = git(two.root, "log", "--format=%an %s").splitlines()
    assert "vault owner USER.md: display_name = 小安" in subjects
    assert "vault owner add 新 (memory/alice/notes/new.md)" in subjects
    two.assert_clean()


def test_offline_is_told_and_the_heartbeat_tries_again(one: Machine, hub: Path, clock: Clock) -> None:
    vault = open_vault(one.root, now=clock, git_remote="origin")
    hub.rename(hub.with_name("gone.git"))
    record_turn(vault, "alice", "我喜歡暗色主題")
    with pytest.raises(HistoryError, match="hub.git"):
        sync(vault)
    (outcome,) = heartbeat(vault, "sync")
    assert not outcome.ok and vault.history.state().waiting == 0
    hub.with_name("gone.git").rename(hub)
    assert heartbeat(vault, "sync") == [], "not at once"
    clock.time += clock.time - clock.time.replace(hour=clock.time.hour - 1)
    (outcome,) = heartbeat(vault, "sync")
    assert outcome.ok and outcome.said.startswith("0 commits received, ")
    one.assert_clean()


def test_without_a_remote_nothing_is_scheduled_and_a_person_is_told(vault: Vault) -> None:
    with pytest.raises(UsageError, match="git remote add"):
        sync(vault)
    (outcome,) = heartbeat(vault, "sync")
    assert outcome.ok and outcome.said == "git.remote is not set"


def test_what_is_no_vault_is_not_merged(one: Machine, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "code")
    (tmp_path / "code/main.c").write_text("int main;\n")
    git(tmp_path / "code", "add", ".")
    git(tmp_path / "code", "commit", "-qm", "code")
    with pytest.raises(UsageError, match="no vault"):
        sync(one.vault, str(tmp_path / "code"))
    assert not (one.root / "main.c").exists()


def test_a_link_from_the_other_side_is_left_to_the_person(one: Machine, two: Machine) -> None:
    (one.root / "link.md").symlink_to("/etc/passwd")
    git(one.root, "add", "link.md")
    git(one.root, "commit", "-qm", "link")
    one.sync()
    with pytest.raises(HistoryError, match=r"link\.md is not a plain file"):
        two.sync()
    assert not os.path.lexists(two.root / "link.md")


def test_nothing_is_merged_while_the_person_is_in_the_middle_of_something(one: Machine, two: Machine) -> None:
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    one.sync()
    git(two.root, "checkout", "-q", "--detach")
    with pytest.raises(HistoryError, match="detached"):
        two.sync()
    git(two.root, "checkout", "-q", "main")
    two.sync()
    assert two.theme() == "dark"


def test_files_gone_by_the_dozen_stay_until_the_person_has_said_so(one: Machine, two: Machine) -> None:
    for number in range(40):
        one.write(f"memory/alice/notes/{number}.md", f"{number}\n")
    one.sync()
    reconcile(one.vault, "alice")
    for number in range(40):
        (one.root / f"memory/alice/notes/{number}.md").unlink()
    with pytest.raises(HistoryError, match="40 files of memory/alice are gone"):
        one.sync()
    reconcile(one.vault, "alice", confirm_deletions=True)
    one.sync()
    two.sync()
    assert not (two.root / "memory/alice/notes/7.md").exists()


@pytest.mark.slow
def test_two_machines_that_sync_and_write_at_the_same_time_lose_nothing(one: Machine, two: Machine) -> None:
    """Pushes that cross are merged and tried again; every line of both is on both in the end."""
    two.sync()
    script = """
import sys
from pathlib import Path
from vault_memory.services.sync import sync
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import open_vault
vault, name = open_vault(sys.argv[1]), sys.argv[2]
for number in range(5):
    record_turn(vault, "alice", f"{name} 說了 {number}")
    note = Path(sys.argv[1], "memory/alice/notes", name + ".md")
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"{name} {number}\\n" + (note.read_text() if note.exists() else ""))
    sync(vault)
"""
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(machine.root), name], stderr=subprocess.PIPE, text=True)
        for machine, name in ((one, "one"), (two, "two"))
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    one.sync()
    two.sync()
    one.sync()
    for machine in (one, two):
        machine.assert_clean()
        said = "".join(path.read_text() for path in (machine.root / "memory/alice/daily").iterdir())
        for name in ("one", "two"):
            assert all(f" {name} 說了 {number} · " in said for number in range(5))
            assert machine.read(f"memory/alice/notes/{name}.md") == "".join(f"{name} {n}\n" for n in range(4, -1, -1))
    assert "force" not in git(one.root, "reflog")


def test_a_save_in_the_middle_of_a_merge_is_taken_in(one: Machine, two: Machine) -> None:
    """The step between the check and the write: an editor saves the very note that is being merged."""
    note = "memory/alice/notes/idea.md"
    one.edit(note, "one", "ONE")
    one.sync()
    saved = []

    def step(name: str) -> None:
        if name == "intent written" and not saved:
            saved.append(name)
            two.edit(note, "three", "THREE")

    from vault_memory.adapters.history import History

    two.vault.__dict__["history"] = History(two.root, step=step)
    two.sync()
    assert saved and two.read(note) == "# 想法\n\nONE\ntwo\nTHREE\n"
    two.assert_clean()


def test_a_killed_writers_turn_is_learned_from_though_another_machine_has_a_turn_on_that_line(
    one: Machine, two: Machine
) -> None:
    """Each machine counts the lines of its own record: the first machine's commit named this turn's line, too."""
    record_turn(two.vault, "alice", "我喜歡暗色主題", learn=False)
    (kept,) = two.vault.unlearned("alice").glob("*.kept")
    kept.unlink()  # as after a kill, right after the line
    assert learn_waiting(two.vault, "alice") == 0
    assert two.theme() == "dark"


def test_what_a_sync_brings_has_its_offline_vectors(one: Machine, two: Machine) -> None:
    one.write("memory/alice/tea.md", "# Tea\n\nGreen.\n")
    one.sync()
    two.sync()
    index = two.vault.index("alice")
    assert "tea.md" in index.files() and spaces.lacking(index, OfflineEmbedder.space) == 0


def test_two_entities_with_one_file_stay_two(one: Machine, two: Machine) -> None:
    """B2: `a/b` of one machine and `a-b` of the other are written to `a-b.md` by both."""
    create_entity(one.vault, "alice", "a/b", "file", ["with a slash"])
    create_relation(one.vault, "alice", "Tool", "a/b", "uses")
    create_entity(two.vault, "alice", "a-b", "file", ["with a dash"])
    create_relation(two.vault, "alice", "Hammer", "a-b", "uses")
    notes = [note for machine in (one, two, one) for note in machine.sync().notes]
    assert any("two entities have this name of a file; one is in a-b 2.md now" in note for note in notes)
    for machine in (one, two):
        assert "name: a/b" in machine.read("memory/alice/entities/a-b 2.md")
        assert status(machine.vault).degraded == ()
        for user, used in (("Tool", "a/b"), ("Hammer", "a-b")):
            (relation,) = get_entity(machine.vault, "alice", user).relations
            assert (relation.to_name, relation.is_dangling) == (used, False)
        for name, observation in (("a/b", "with a slash"), ("a-b", "with a dash")):
            assert get_entity(machine.vault, "alice", name).entity.observations == (observation,)


def test_two_notes_of_one_name_are_told(one: Machine, two: Machine) -> None:
    """B2: two machines made an entity, with names of another case."""
    create_entity(one.vault, "alice", "Kafka", "technology", ["fast"])
    create_entity(two.vault, "alice", "kafka", "component", ["ours"])
    one.sync()
    assert any("entities/Kafka.md and entities/kafka.md have one name" in note for note in two.sync().notes)


def test_a_relation_of_one_side_stays_in_its_section(one: Machine, two: Machine) -> None:
    """B2: the other side begins a section behind it."""
    create_entity(one.vault, "alice", "Hub", "component", ["first"])
    create_relation(one.vault, "alice", "Hub", "Old", "uses")
    one.sync()
    two.sync()
    create_relation(one.vault, "alice", "Hub", "New", "uses", "why")
    hub = "memory/alice/entities/Hub.md"
    two.write(hub, two.read(hub) + "\n## Notes of mine\n\n```\n# no heading\n```\n- a line\n")
    for machine in (one, two, one):
        machine.sync()
    for machine in (one, two):
        kept = get_entity(machine.vault, "alice", "Hub").relations
        assert [(each.to_name, each.is_mention) for each in kept] == [("Old", False), ("New", False)]
        assert machine.read(hub).endswith("## Notes of mine\n\n```\n# no heading\n```\n- a line\n")


def test_renamed_files_are_not_gone(one: Machine, two: Machine) -> None:
    for number in range(30):
        one.write(f"memory/alice/n{number}.md", f"note {number}\n")
    one.sync()
    for number in range(25):
        (one.root / f"memory/alice/n{number}.md").rename(one.root / f"memory/alice/renamed {number}.md")
    assert one.sync().sent and two.sync().received
    assert two.read("memory/alice/renamed 3.md") == "note 3\n"


def test_an_entity_that_both_made_is_one_with_the_older_id(one: Machine, two: Machine, clock: Clock) -> None:
    """B2: what both observed is there, without conflict marks, and relations lead to it."""
    first = create_entity(one.vault, "alice", "Redis", "technology", ["fast", "small"], ["cache"])
    create_relation(one.vault, "alice", "Redis", "Linux", "uses")
    second = create_entity(two.vault, "alice", "Redis", "technology", ["small", "restarted each night"], ["db"])
    create_relation(two.vault, "alice", "Login", "Redis", "depends_on")
    create_relation(two.vault, "alice", "Redis", "Linux", "uses")
    two.sync()
    one.sync()
    two.sync()
    assert one.read("memory/alice/entities/Redis.md") == two.read("memory/alice/entities/Redis.md")
    for machine in (one, two):
        view = get_entity(machine.vault, "alice", "Redis")
        assert first.entity and second.entity and view.entity.id == first.entity.id != second.entity.id
        assert set(view.entity.observations) == {"fast", "small", "restarted each night"} and not view.problems
        assert len(view.entity.observations) == 3 and set(view.entity.tags) == {"cache", "db"}
        assert sorted((each.from_name, each.to_name) for each in view.relations) == [
            ("Login", "Redis"),
            ("Redis", "Linux"),
        ]
        assert "<<<<<<<" not in machine.read("memory/alice/entities/Redis.md")
        machine.assert_clean()
