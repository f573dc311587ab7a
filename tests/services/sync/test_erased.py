"""A remote keeps what was sent: it does not come back from there, and is overwritten only with a yes and a lease."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.erasing.leftovers import leftovers
from tests.services.sync.conftest import Machine, git
from vault_memory.errors import HistoryError
from vault_memory.services.erasing import erase, of_texts, overwrite, prepare_overwrite
from vault_memory.services.turns import record_turn

SECRET = "my codeword is Zanzibar 七號"


def erased(machine: Machine) -> Machine:
    """A machine that has told the hub of the text, and has erased it since."""
    record_turn(machine.vault, "alice", f"Remember that {SECRET}", "ok")
    machine.sync()
    receipt = erase(machine.vault, of_texts(machine.vault, "alice", [SECRET]))
    assert receipt.left == () and any("erase --push origin" in line for line in receipt.out_of_reach)
    return machine


def test_g5_a_sync_does_not_bring_it_back_and_a_forced_push_is_leased(one: Machine, hub: Path) -> None:
    erased(one)
    with pytest.raises(HistoryError, match="from before an erasing"):
        one.sync()
    assert leftovers(one.root, SECRET).places == [], "nothing of what came stays in git's folder"
    planned = prepare_overwrite(one.vault)
    assert planned.needed and planned.branch == "main"
    overwrite(one.vault, planned)
    assert SECRET not in git(hub, "log", "-p", "main")
    assert one.sync().received == 0
    one.assert_clean()
    assert not prepare_overwrite(one.vault).needed


def test_what_only_the_remote_has_is_never_overwritten(one: Machine, two: Machine, hub: Path) -> None:
    """Two was at work between: before the look, and between the look and the push."""
    erased(one)
    planned = prepare_overwrite(one.vault)
    two.write("memory/alice/notes/idea.md", "mine\n")
    two.sync()
    before = git(hub, "rev-parse", "main")
    with pytest.raises(HistoryError, match="has moved since"):
        overwrite(one.vault, planned)
    with pytest.raises(HistoryError, match="were never here"):
        prepare_overwrite(one.vault)
    assert git(hub, "rev-parse", "main") == before


def test_a_text_that_another_machine_sends_anew_is_refused(one: Machine, two: Machine) -> None:
    """In a file of the user, in a shared one and in a message; other words of the same commits do not come either."""
    erase(one.vault, of_texts(one.vault, "alice", [SECRET]))
    for name, text in (("memory/alice/notes/new.md", SECRET.upper()), ("shared.md", SECRET.replace(" ", "\n"))):
        two.write(name, text)
        two.sync()
        head = git(one.root, "rev-parse", "HEAD")
        with pytest.raises(HistoryError, match="a text that was erased here"):
            one.sync()
        assert git(one.root, "rev-parse", "HEAD") == head and not (one.root / name).exists()
        assert leftovers(one.root, SECRET).places == []
        git(two.root, "reset", "-q", "--hard", "HEAD~1")
        git(two.root, "push", "-q", "-f", "origin", "main")
    two.write("memory/bob/notes/new.md", SECRET)
    two.sync()
    assert one.sync().received == 1, "another user may say the same"


def test_a_name_that_says_it_and_a_copy_of_what_is_here_are_refused(one: Machine, two: Machine) -> None:
    """The content of such a file may be here already, and so is in no object that comes."""
    one.write("memory/alice/notes/plain.md", "plain\n")
    one.write("memory/bob/notes/new.md", SECRET)
    one.sync()
    two.sync()
    erase(one.vault, of_texts(one.vault, "alice", [SECRET]))
    slug = "-".join(SECRET.lower().split())
    for name, text in (
        (f"memory/alice/notes/{slug}.md", "plain\n"),
        (f"{SECRET}/x.md", "plain\n"),
        ("memory/alice/notes/copy.md", SECRET),
    ):
        two.write(name, text)
        two.sync()
        with pytest.raises(HistoryError, match="a text that was erased here") as raised:
            one.sync()
        assert "Zanzibar" not in str(raised.value)
        assert not (one.root / name).exists()
        git(two.root, "reset", "-q", "--hard", "HEAD~1")
        git(two.root, "push", "-q", "-f", "origin", "main")
    one.write(f"memory/alice/notes/{slug}.md", "by the person\n")
    one.sync()
    two.sync()
    two.write("memory/alice/notes/more.md", "more\n")
    two.sync()
    assert one.sync().received == 1, "what the person has written here is theirs"


def test_times_headers_and_another_users_words_do_not_stop_a_sync(one: Machine, two: Machine) -> None:
    """A price is no day, a gate no time zone; who has made a commit is not said, and a message of bob's is his."""
    record_turn(one.vault, "alice", "The ring cost 12.25, at gate 0000; my sister is Odile Kern. I use Docker", "ok")
    record_turn(one.vault, "bob", "hello", "ok")
    one.sync()
    two.sync()
    erase(one.vault, of_texts(one.vault, "alice", ["12.25", "0000", "Odile Kern", "I use Rust", "add fact"]))
    overwrite(one.vault, prepare_overwrite(one.vault))
    git(two.root, "fetch", "-q", "origin")
    git(two.root, "reset", "-q", "--hard", "origin/main")
    git(two.root, "config", "user.name", "Odile Kern")
    two.write("memory/alice/daily/2026-12-25.md", "# 2026-12-25\n\n- 12:25 tea → done\n")
    git(two.root, "add", "-A")
    git(two.root, "commit", "-qm", "a day")
    record_turn(two.vault, "bob", "I use Rust", "ok")
    two.sync()
    assert one.sync().received > 1
    two.write("memory/alice/notes/ring.md", "the ring cost 12.25\n")
    two.sync()
    with pytest.raises(HistoryError, match="notes/ring.md"):
        one.sync()
