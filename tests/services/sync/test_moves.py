"""What one machine has moved into the archive, and another one has deleted or corrected meanwhile."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import TAIPEI, Clock
from tests.services.sync.conftest import Machine, Machines, git
from vault_memory.core.memories import Memory, decode, encode, source_of, with_properties
from vault_memory.services.archiving import archive_user
from vault_memory.services.graph import add_observation, create_entity, list_entities
from vault_memory.services.memories import edit_memory, memory_files, note_accesses, write_accesses
from vault_memory.services.memories.expire import expire_memories
from vault_memory.services.turns.record import record_turn

HOME = "memory/alice"
LOG, OLD_LOG = f"{HOME}/MEMORY.md", f"{HOME}/archive/MEMORY-2025.md"
DOCTOR = "## 2025-03-01 10:00 doctor\n\nI saw Dr. Weiss about the lump.\n\n"
BANK = "## 2025-03-02 10:00 bank\n\nThe bank closes at four.\n\n"
BOAT = "## 2026-01-02 10:00 boat\n\nThe boat is Nellie.\n"
ENDED = datetime(2026, 1, 20, 9, tzinfo=TAIPEI)


def archive(machine: Machine) -> None:
    list(archive_user(machine.vault, "alice"))


def until_quiet(*machines: Machine) -> None:
    for machine in (*machines, *machines):
        machine.sync()
    for machine in machines:
        machine.assert_clean()
    assert len({git(machine.root, "rev-parse", "HEAD^{tree}") for machine in machines}) == 1


def texts(machine: Machine) -> str:
    """All of alice's notes and evidence that are on the disk."""
    return "\n".join(f"{path}\n{path.read_text()}" for path in places(machine))


def places(machine: Machine) -> list[Path]:
    found = sorted((machine.root / HOME).rglob("*"))
    return [path for path in found if path.suffix in (".md", ".jsonl") and path.parent.name != "conversations"]


@pytest.fixture(params=["changed first", "archived first"])
def in_either_order(request: pytest.FixtureRequest) -> Callable[[Machine, Machine], None]:
    """The one who has changed something syncs before the one who has archived it, or after."""

    def synced(changed: Machine, moved: Machine) -> None:
        until_quiet(*((changed, moved) if request.param == "changed first" else (moved, changed)))

    return synced


def shared(one: Machine, two: Machine, name: str, text: str) -> None:
    one.write(name, text)
    one.sync()
    two.sync()


def test_a_deletion_and_a_correction_follow_an_entry_into_the_archive(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    """A9: also where the person has written into the archive's file on the machine that made it."""
    shared(one, two, LOG, "# MEMORY\n\n" + DOCTOR + BANK + BOAT)
    one.write(LOG, "# MEMORY\n\n" + BANK.replace("four", "five") + BOAT + "\nShe leaks.\n")
    archive(two)
    two.edit(OLD_LOG, "# MEMORY 2025\n", "# MEMORY 2025\n\nA year of banks.\n")
    in_either_order(one, two)
    for machine in (one, two):
        assert machine.read(LOG) == "# MEMORY\n\n" + BOAT + "\nShe leaks.\n"
        assert (
            machine.read(OLD_LOG)
            == "# MEMORY 2025\n\nA year of banks.\n\n" + BANK.replace("four", "five").rstrip() + "\n"
        )


def test_both_have_archived_the_entry_that_one_of_them_has_deleted(one: Machine, two: Machine) -> None:
    shared(one, two, LOG, "# MEMORY\n\n" + DOCTOR + BANK + BOAT)
    one.write(LOG, "# MEMORY\n\n" + BANK.replace("four", "five") + BOAT)
    archive(one)
    archive(two)
    until_quiet(one, two)
    assert "lump" not in texts(two) and "four" not in texts(two) and two.read(OLD_LOG).count("five") == 1


def test_evidence_that_was_deleted_stays_deleted(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    rows = [f'{{"key": "k{at}", "created_at": "2025-03-0{at}T10:00:00+08:00"}}\n' for at in range(1, 5)]
    new = '{"key": "new", "created_at": "2026-01-20T10:00:00+08:00"}\n'
    shared(one, two, f"{HOME}/feedback.jsonl", "".join(rows))
    one.write(f"{HOME}/feedback.jsonl", "".join([*rows[:1], *rows[2:], new]))
    archive(two)
    assert not (two.root / HOME / "feedback.jsonl").exists()
    in_either_order(one, two)
    for machine in (one, two):
        assert machine.read(f"{HOME}/archive/feedback-2025.jsonl") == "".join([*rows[:1], *rows[2:]])
        assert machine.read(f"{HOME}/feedback.jsonl") == new


def test_an_archive_that_a_person_begins_while_the_year_lasts_moves_nothing(one: Machine, two: Machine) -> None:
    shared(one, two, LOG, "# MEMORY\n\n" + BOAT)
    two.write(f"{HOME}/archive/MEMORY-2026.md", "# MEMORY 2026\n\n## 2026-01-01 09:00 mine\n\nA walk.\n")
    one.write(LOG, "# MEMORY\n\n" + BOAT.replace("Nellie", "Bess"))
    until_quiet(one, two)
    assert two.read(LOG) == "# MEMORY\n\n" + BOAT.replace("Nellie", "Bess")


def test_edits_that_are_withheld_stay_below_what_is_moved(one: Machine, two: Machine) -> None:
    """The deletion and the move reach the commits and the disk; the secret stays on the disk alone."""
    shared(one, two, LOG, "# MEMORY\n\n" + DOCTOR + BANK + BOAT)
    one.write(LOG, "# MEMORY\n\n" + BANK + BOAT + "\npassword: Tiger-pencil-2024\n")
    archive(two)
    two.write(OLD_LOG, two.read(OLD_LOG).replace(DOCTOR, ""))
    two.sync()
    one.sync()
    two.sync()
    assert "lump" not in texts(two) and "Tiger" not in texts(two)
    assert one.read(LOG) == "# MEMORY\n\n" + BOAT + "\npassword: Tiger-pencil-2024\n"
    assert one.read(OLD_LOG) == two.read(OLD_LOG) == "# MEMORY 2025\n\n" + BANK.rstrip() + "\n"
    assert git(one.root, "rev-parse", "HEAD^{tree}") == git(two.root, "rev-parse", "HEAD^{tree}")
    assert git(one.root, "status", "--porcelain") == f" M {LOG}\n"


# A log that one side has deleted ------------------------------------------------------------------------------------


def test_of_a_log_that_one_side_has_deleted_what_the_other_has_new_stays(
    one: Machine, two: Machine, clock: Clock, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    (day,) = (one.root / HOME / "daily").glob("*.md")
    name = str(day.relative_to(one.root))
    day.unlink()
    (one.root / HOME / "MEMORY.md").unlink(missing_ok=True)
    clock.time += timedelta(minutes=5)
    record_turn(two.vault, "alice", "The harbour opens at six", "ok", created_at=clock.time)
    in_either_order(one, two)
    assert "harbour" in one.read(name) and "你好" not in one.read(name) and one.read(name).startswith("# ")
    assert one.read(name).count("\n## ") == 1


def test_a_log_that_both_have_emptied_is_gone(one: Machine, two: Machine) -> None:
    shared(one, two, LOG, "# MEMORY\n\n" + DOCTOR + BOAT)
    (one.root / LOG).unlink()
    two.write(LOG, "# MEMORY\n\n" + BOAT)
    until_quiet(one, two)
    assert not (one.root / LOG).exists() and not (two.root / LOG).exists()


# Typed memories -----------------------------------------------------------------------------------------------------


def memory(number: int, content: str = "", ends: datetime | None = ENDED) -> Memory:
    made = datetime(2026, 1, 10, 9, tzinfo=TAIPEI)
    content = content or f"memory {number} about the garage"
    name = f"mem_17680000000{number:02}_ab{number:02}cdef"
    return Memory(id=name, content=content, title="garage", created_at=made, expires_at=ends)


def memories_in(machine: Machine) -> list[Path]:
    """The notes of memories that are not archived."""
    return [path for path in places(machine) if "memories" in path.parts and "archive" not in path.parts]


def notes(machine: Machine, number: int) -> list[Path]:
    return sorted((machine.root / HOME).rglob(f"{memory(number).id}*.md"))


def test_a_memory_that_one_has_archived_follows_what_the_other_did(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    """One is deleted, one corrected, one made permanent, which counts: it was not to expire."""
    for number in range(3):
        one.write(f"{HOME}/{source_of(memory(number))}", encode(memory(number)))
    one.sync()
    two.sync()
    deleted, corrected, permanent = (notes(one, number)[0] for number in range(3))
    deleted.unlink()
    corrected.write_text(corrected.read_text().replace("the garage", "the shed"))
    edit_memory(one.vault, "alice", memory(2).id, is_permanent=True)
    assert permanent.exists() and len(expire_memories(two.vault, "alice")) == 3
    in_either_order(one, two)
    for machine in (one, two):
        assert not notes(machine, 0)
        (note,) = notes(machine, 1)
        assert "archive" in note.parts and note.read_text().count("shed") == 1
        (note,) = notes(machine, 2)
        assert "archive" not in note.parts
        (file,) = memory_files(machine.vault, "alice", [memory(2).id])
        assert file.memory.expires_at is None
        assert expire_memories(machine.vault, "alice") == ()


def test_a_memory_that_was_archived_for_want_of_room_follows_too(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    """It expires then: its note is another one in the archive."""
    for number in range(2):
        made = memory(number, ends=None)
        one.write(f"{HOME}/{source_of(made)}", encode(made))
    one.sync()
    two.sync()
    notes(one, 0)[0].unlink()
    edit_memory(one.vault, "alice", memory(1).id, ttl_days=30)
    for number in range(2):
        note = notes(two, number)[0]
        before = memory(number, ends=None)
        moved = with_properties(note.read_text(), before, replace(before, expires_at=two.vault.now()))
        two.write(f"{HOME}/archive/memories/{note.name}", moved)
        note.unlink()
    in_either_order(one, two)
    for machine in (one, two):
        assert not notes(machine, 0)
        (note,) = notes(machine, 1)
        assert "archive" not in note.parts and "<<<" not in note.read_text()
        (file,) = memory_files(machine.vault, "alice", [memory(1).id])
        assert file.memory.expires_at and file.memory.expires_at > machine.vault.now()


def used(machine: Machine, number: int, times: int) -> None:
    """Recalled so many times, which the notes have in a commit."""
    for _ in range(times):
        note_accesses(machine.vault, "alice", [memory(number).id])
    assert write_accesses(machine.vault, "alice") == 1


def test_what_two_machines_used_is_counted_and_can_be_read(one: Machine, two: Machine) -> None:
    """E2, E7: no mark of a conflict stands among the properties, and the memory is still one."""
    shared(one, two, f"{HOME}/{source_of(memory(0))}", encode(memory(0)))
    used(one, 0, 2)
    used(two, 0, 3)
    until_quiet(one, two)
    for machine in (one, two):
        (file,) = memory_files(machine.vault, "alice", [memory(0).id])
        assert file.memory.access_count == 5 and not file.memory.problems and "<<<" not in file.text


def test_what_is_deleted_on_one_machine_does_not_come_back_because_another_used_it(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    """B6, E8."""
    for number in range(2):
        one.write(f"{HOME}/{source_of(memory(number))}", encode(memory(number)))
    one.sync()
    two.sync()
    notes(one, 0)[0].unlink()
    notes(one, 1)[0].unlink()
    used(two, 0, 1)
    note = notes(two, 1)[0]
    note.write_text(note.read_text() + "\nand its code\n")
    in_either_order(one, two)
    for machine in (one, two):
        assert not notes(machine, 0)
        assert "and its code" in notes(machine, 1)[0].read_text(), "what a person wrote is kept"


def test_what_a_person_has_renamed_is_the_same_memory(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    for number in range(2):
        one.write(f"{HOME}/{source_of(memory(number))}", encode(memory(number)))
    one.sync()
    two.sync()
    for number in range(2):
        note = notes(two, number)[0]
        note.rename(note.with_name(f"車庫 {number}.md"))
    notes(one, 0)[0].unlink()
    used(one, 1, 1)
    in_either_order(one, two)
    for machine in (one, two):
        (note,) = memories_in(machine)
        assert note.name == "車庫 1.md" and decode(note.read_text()).access_count == 1


def test_an_entity_that_one_has_renamed_gets_what_the_other_has_added(
    one: Machine, two: Machine, in_either_order: Callable[[Machine, Machine], None]
) -> None:
    """B2: renamed in Obsidian, and told more about on another machine."""
    create_entity(one.vault, "alice", "Redis", "technology", ["runs on port 6379"])
    one.sync()
    two.sync()
    note = two.root / HOME / "entities" / "Redis.md"
    note.rename(note.with_name("快取.md"))
    add_observation(one.vault, "alice", "Redis", "sessions live there")
    in_either_order(one, two)
    for machine in (one, two):
        (found,) = list_entities(machine.vault, "alice")
        assert found.name == "快取" and "sessions live there" in found.observations and len(found.observations) == 2


# Any order ----------------------------------------------------------------------------------------------------------


@dataclass
class Talk:
    """What two machines did, and what has to be there in the end: each thing under its number, and how often it was
    corrected. Each thing is changed by one of them only, so nobody has to choose."""

    machines: tuple[Machine, Machine]
    there: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def name(self, kind: str) -> str:
        name = f"{kind}{next(self.numbers)}x"
        self.there[name] = 0
        return name

    def add(self, at: int, year: int) -> None:
        machine, day = self.machines[at], f"{year}-01-{10 + len(self.there) % 3}"
        log = machine.read(LOG) if (machine.root / LOG).exists() else "# MEMORY\n"
        machine.write(LOG, f"{log}\n## {day} 10:00\n- note {self.name('e')}v0.\n- of the garden\n")
        rows = machine.root / HOME / "feedback.jsonl"
        text = rows.read_text() if rows.exists() else ""
        row = {"key": f"{self.name('r')}v0.", "created_at": f"{day}T10:00:00+08:00"}
        rows.write_text(text + json.dumps(row) + "\n")

    def remember(self, at: int) -> None:
        name = self.name("m")
        made = memory(int(name[1:-1]), f"{name}v0.")
        self.machines[at].write(f"{HOME}/{source_of(made)}", encode(made))

    def change(self, at: int, choice: int, *, is_deletion: bool) -> None:
        """Delete or correct one of the things that this machine has and that are its to change."""
        here = texts(self.machines[at])
        own = [name for name in self.there if name not in self.gone and int(name[1:-1]) // 3 % 2 == at]
        own = [name for name in own if f"{name}v{self.there[name]}." in here]
        if not own:
            return
        name = own[choice % len(own)]
        old, new = f"{name}v{self.there[name]}.", f"{name}v{self.there[name] + 1}."
        (place,) = (path for path in places(self.machines[at]) if old in path.read_text())
        text = place.read_text()
        if not is_deletion:
            self.there[name] += 1
            place.write_text(text.replace(old, new))
            return
        self.gone.add(name)
        pieces = [text] if name.startswith("m") else re.split(r"(?m)^(?=## |\{)", text)
        if left := "".join(piece for piece in pieces if old not in piece):
            place.write_text(left)
        else:  # a file that was emptied just now is no edit yet
            place.unlink()

    def use(self, at: int, choice: int) -> None:
        """Recall one of the memories, whose ever it is; that is no change which anybody has to choose."""
        machine = self.machines[at]
        if found := memories_in(machine):
            note_accesses(machine.vault, "alice", [decode(found[choice % len(found)].read_text()).id])
            write_accesses(machine.vault, "alice")

    def rename(self, at: int, choice: int) -> None:
        """Give the note of one of the memories that are this machine's to change a name of the person's own."""
        found = memories_in(self.machines[at])
        own = [each for each in found if int(decode(each.read_text()).content[1:].partition("x")[0]) // 3 % 2 == at]
        if own:
            old = own[choice % len(own)]
            old.rename(old.with_name(f"{next(self.numbers)} 筆記.md"))


STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(
            ["add", "add old", "remember", "delete", "delete", "correct", "correct", "archive", "archive", "sync"]
            + ["use", "use", "rename"]
        ),
        st.integers(0, 50),
    ),
    max_size=14,
)


@settings(
    deadline=None,
    derandomize=True,
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[*HealthCheck],
)
@given(steps=STEPS)
def test_nothing_comes_back_is_lost_or_doubled_in_any_order(
    steps: list[tuple[int, str, int]], tmp_path: Path, machines: Machines
) -> None:
    """A9, H: a deleted entry, row or memory is in no file of either machine, a correction stands once."""
    folder, clock = tmp_path / str(len(list(tmp_path.iterdir()))), Clock()
    git(tmp_path, "clone", "-q", "--bare", str(machines.folder / "hub.git"), str(folder / "hub.git"))
    one, two = (machines.copy(name, folder, clock) for name in ("one", "two"))
    talk = Talk((one, two))
    for year in (2024, 2025, 2025, 2026):
        talk.add(0, year)
        talk.remember(0)
    one.sync()
    two.sync()
    for at, what, choice in steps:
        machine = talk.machines[at]
        if what.startswith("add"):
            talk.add(at, 2025 if what == "add old" else 2026)
        elif what == "remember":
            talk.remember(at)
        elif what == "use":
            talk.use(at, choice)
        elif what == "rename":
            talk.rename(at, choice)
        elif what in ("delete", "correct"):
            talk.change(at, choice, is_deletion=what == "delete")
        elif what == "archive":
            archive(machine)
            expire_memories(machine.vault, "alice")
        else:
            machine.sync()
    until_quiet(*talk.machines)
    for machine in talk.machines:
        found = texts(machine)
        assert "<<<<" not in found
        seen = sorted(re.findall(r"([erm]\d+xv\d+)\.", found))
        wanted = sorted(f"{name}v{count}" for name, count in talk.there.items() if name not in talk.gone)
        assert seen == wanted
