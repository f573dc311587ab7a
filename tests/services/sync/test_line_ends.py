"""Where git converts the ends of lines, a sync and a restore compare and merge what git holds, and write what a disk
holds."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.services.sync.conftest import Machine, git
from vault_memory.services.notes import restore_file

pytestmark = pytest.mark.slow

NOTE = "notes/plan.md"
LINES = "".join(f"line {number}\n" for number in range(9))


@pytest.fixture
def windows(one: Machine, two: Machine) -> Machine:
    """The second machine has the ends of lines of Windows, as git for Windows sets it up."""
    git(two.root, "config", "core.autocrlf", "true")
    one.write("notes/.gitattributes", "* text\n")
    one.sync()
    two.sync()
    one.write(NOTE, LINES)
    one.sync()
    two.sync()
    assert two.read(NOTE) == LINES and (two.root / NOTE).read_bytes() == LINES.replace("\n", "\r\n").encode()
    return two


def test_changes_of_both_sides_are_merged_by_line(one: Machine, windows: Machine) -> None:
    one.edit(NOTE, "line 1\n", "line 1, of one\n")
    one.sync()
    path = windows.root / NOTE
    path.write_bytes(path.read_bytes().replace(b"line 7\r\n", b"line 7, of two\r\n"))
    assert windows.sync().notes == ()
    merged = LINES.replace("line 1\n", "line 1, of one\n").replace("line 7\n", "line 7, of two\n")
    assert path.read_bytes() == merged.replace("\n", "\r\n").encode()
    one.sync()
    assert one.read(NOTE) == merged
    windows.assert_clean()


def test_what_only_the_other_side_changed_is_taken(one: Machine, windows: Machine) -> None:
    one.edit(NOTE, "line 1\n", "line 1, of one\n")
    one.sync()
    assert windows.sync().notes == ()
    assert b"line 1, of one\r\n" in (windows.root / NOTE).read_bytes()
    windows.assert_clean()


def test_a_restored_note_has_the_ends_of_lines_of_this_disk(one: Machine, windows: Machine) -> None:
    then = git(windows.root, "rev-parse", "HEAD").strip()
    path = windows.root / NOTE
    old = path.read_bytes()
    path.write_bytes(b"other\r\n")
    assert restore_file(windows.vault, PurePosixPath(NOTE), then)
    assert path.read_bytes() == old and not restore_file(windows.vault, PurePosixPath(NOTE), then)
    assert git(windows.root, "status", "--porcelain") == ""
