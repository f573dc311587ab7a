"""The record of what this machine trusts: outside the vault, private, exact, and nothing when it is broken."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vault_memory.adapters.machine import NO_YES, MachineRecord, own_vaults, state_folder
from vault_memory.errors import Unwritable

URL = {"llm.base_url": "http://a.example/v1"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def record() -> Path:
    return state_folder() / "trust.json"


def test_only_the_exact_value_is_trusted(root: Path) -> None:
    machine = MachineRecord(root)
    assert machine.doubts(URL) == {"llm.base_url": NO_YES}
    machine.say_yes(URL)
    assert machine.doubts(URL) == {}
    assert machine.doubts({"llm.base_url": "http://a.example/v2"}) == {"llm.base_url": NO_YES}
    assert machine.doubts({"llm.key_env": "http://a.example/v1"}) == {"llm.key_env": NO_YES}
    machine.say_yes({"llm.base_url": "http://b.example"})
    assert machine.doubts(URL) == {"llm.base_url": NO_YES}, "the last yes counts, not every one"


def test_a_moved_vault_and_another_folder_at_its_path_are_not_known(root: Path, tmp_path: Path) -> None:
    MachineRecord(root).say_yes(URL)
    MachineRecord(root).note_own_tokens()
    moved = root.rename(tmp_path / "moved")
    root.mkdir()
    for folder in (moved, root):
        assert MachineRecord(folder).doubts(URL) and not MachineRecord(folder).has_own_tokens()
    shutil.rmtree(root)
    moved.rename(root)
    assert not MachineRecord(root).doubts(URL), "it came back"
    shutil.copytree(root, moved)
    assert MachineRecord(moved).doubts(URL)
    MachineRecord(moved).say_yes({"x": 1})
    ids = {(folder / ".vault-memory/machine.json").read_text() for folder in (root, moved)}
    assert len(ids) == 2, "an id that came along is not taken over"
    assert not MachineRecord(root).doubts(URL)


def test_a_link_to_the_vault_is_the_vault(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    MachineRecord(tmp_path / "link").say_yes(URL)
    assert not MachineRecord(root).doubts(URL)


@pytest.mark.parametrize("text", ["{", "[]", "", "null", '{"x": ' * 100_000, "\x00", "\xff"])
def test_a_broken_record_trusts_nothing_and_says_so(root: Path, text: str) -> None:
    machine = MachineRecord(root)
    machine.say_yes(URL)
    record().write_bytes(text.encode("latin-1"))
    assert "damaged" in machine.doubts(URL)["llm.base_url"] and not machine.has_own_tokens()
    machine.say_yes(URL)
    assert not machine.doubts(URL), "a new yes repairs it"


@pytest.mark.parametrize("entry", [None, 1, [], {}, {"id": None}, {"id": "x", "values": 1}, {"values": {**URL}}])
def test_an_entry_of_another_form_trusts_nothing(root: Path, entry: object) -> None:
    machine = MachineRecord(root)
    machine.say_yes({"other": 1})
    record().write_text(json.dumps({str(root.resolve()): entry}))
    assert machine.doubts(URL)
    machine.say_yes(URL)
    assert not machine.doubts(URL)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such rights")
def test_a_folder_in_its_place_is_told(root: Path) -> None:
    record().mkdir(parents=True)
    machine = MachineRecord(root)
    assert "is no file: take away what is there (trust.json)" in machine.doubts(URL)["llm.base_url"]
    assert not machine.has_own_tokens() and machine.agreed("x") == {} and own_vaults() == []
    with pytest.raises(Unwritable, match=r"trust\.json"):
        machine.say_yes(URL)


def test_nobody_else_may_read_or_write_it(root: Path) -> None:
    state_folder().mkdir(parents=True)
    state_folder().chmod(0o755)
    machine = MachineRecord(root)
    machine.say_yes(URL)
    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700
    assert stat.S_IMODE(record().stat().st_mode) == 0o600
    record().chmod(0o620)
    assert "others may have written" in machine.doubts(URL)["llm.base_url"]


def test_without_a_place_for_the_record_nothing_is_trusted(root: Path) -> None:
    state_folder().parent.mkdir(parents=True)
    state_folder().write_text("a file")
    assert "cannot be read" in MachineRecord(root).doubts(URL)["llm.base_url"]


@pytest.mark.slow
def test_two_processes_lose_no_yes(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from vault_memory.adapters.machine import MachineRecord\n"
        "for n in range(20): MachineRecord(Path(sys.argv[1])).say_yes({sys.argv[2] + str(n): n})"
    )
    shared, other = tmp_path / "shared", tmp_path / "other"
    shared.mkdir(), other.mkdir()
    pairs = [(shared, "a"), (shared, "b"), (other, "a")]
    running = [subprocess.Popen([sys.executable, "-c", code, str(root), name]) for root, name in pairs]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    for root, name in pairs:
        assert not MachineRecord(root).doubts({f"{name}{n}": n for n in range(20)})
