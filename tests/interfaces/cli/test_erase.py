"""`erase` as a person uses it: a look, a yes in words, and what it says."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.erasing.leftovers import leftovers
from tests.conftest import Cli
from tests.services.erasing.planting import SECRET, planted
from vault_memory.services.vault import open_vault

WORDS = "erase the text of alice\n"


def test_g5_one_command_and_it_is_unfindable(cli: Cli) -> None:
    """G5, E8: by `grep -r`, by git over all objects, by the bytes of every file, and by a search."""
    planted(open_vault(cli.folder))
    said = cli("erase", "--user", "alice", "--text", SECRET, stdin=WORDS)
    assert "a second look through history and files found nothing" in said
    assert "no backup is made: it would hold what is to be gone" in said
    assert "cannot be reached from here: clones" in said
    assert "is called now: memory/alice/notes/(erased).md" in said
    assert leftovers(cli.folder, SECRET).places == []
    assert "Zanzibar" not in cli("search", "--user", "alice", "Zanzibar codeword")
    refused = cli("turn", "--user", "alice", "--message", f"so {SECRET}", "--reply", "ok", code=2)
    assert "was erased from memory/alice" in refused
    for command in (
        ("memory", "add", SECRET),
        ("mistake", "add", SECRET),
        ("graph", "add", SECRET, "--type", "decision"),
    ):
        refused = cli(*command, "--user", "alice", code=2)
        assert "was erased from memory/alice" in refused
        assert "zanzibar" not in refused.lower(), "nor is it said again"


def _places(cli: Cli) -> set[str]:
    """Where the text is; SQLite may have moved it from its log to its database."""
    return {place.removesuffix("-wal") for place in leftovers(cli.folder, SECRET).places}


def test_nothing_goes_without_the_words_and_a_backup_only_where_it_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    planted(open_vault(cli.folder))
    before = _places(cli)
    for typed in ("", "y\n", "erase\n"):
        for options in ([], ["--backup", str(tmp_path / "b.tar.gz")]):
            assert "nothing was erased" in cli("erase", "--text", SECRET, *options, code=1, stdin=typed)
    assert _places(cli) == before and not [*tmp_path.glob("*.gz")]
    said = cli("erase", "--text", SECRET, "--backup", str(tmp_path / "b.tar.gz"), stdin=WORDS)
    assert "b.tar.gz holds all of it" in said and (tmp_path / "b.tar.gz").exists()
    assert leftovers(cli.folder, SECRET).places == []


def test_g5_a_user_goes_and_a_wrong_call_is_told(cli: Cli) -> None:
    """G5: the id is typed; then it is nobody's."""
    cli("turn", "--user", "zenobia", "--message", f"Remember that {SECRET}", "--reply", "ok")
    cli("turn", "--user", "bob", "--message", "I like the dark theme", "--reply", "ok")
    assert "say what to erase" in cli("erase", code=2)
    assert "say what to erase" in cli("erase", "--text", "x", "--note", "y", code=2)
    assert "whose text is it" in cli("erase", "--text", SECRET, code=2)
    assert "not in this vault" in cli("erase", "--user", "nobody", code=1)
    assert "too short" in cli("erase", "--user", "bob", "--text", "a", code=2)
    cli("erase", "--user", "zenobia", stdin="erase zenobia\n")
    assert cli("user", "list").split() == ["bob"]
    assert leftovers(cli.folder, "zenobia").places == []
    assert "no commit holds it" in cli("erase", "--user", "zenobia", stdin="erase zenobia\n")
    assert "was erased" in cli("turn", "--user", "zenobia", "--message", "hello", "--reply", "hi", code=2)


def test_each_id_that_memory_list_shows_names_its_note(cli: Cli) -> None:
    """Of a memory that a turn has left behind, of one with a prefix or an id of its own, and of a past one."""
    cli("turn", "--user", "bob", "--message", "I like the dark theme", "--reply", "ok")
    cli("turn", "--user", "alice", "--message", "I live in Leeds.", "--reply", "ok")
    own = cli.folder / "memory/alice/memories/own.md"
    own.write_text("---\nid: plans/the garden\ntype: fact\n---\n\nThe garden has a pond\n")
    past = own.with_name("past.md")
    past.write_text("---\ntype: fact\nexpires_at: 2020-01-01T00:00:00+08:00\n---\n\nIt had none\n")
    ids = [each["id"] for each in cli.json("memory", "list", "--user", "alice", "--history")]
    assert sorted(each.partition("_")[0] for each in ids) == ["past", "plans/the garden", "said"]
    twin = own.with_name("twin.md")
    twin.write_text(own.read_text())
    told = cli("erase", "--note", "plans/the garden", code=2)
    assert "memory/alice/memories/own.md, memory/alice/memories/twin.md" in told
    twin.unlink()
    for each in ids:
        (path,) = cli.folder.glob(f"memory/alice/memories/**/{'own' if '/' in each else each}*.md")
        cli("erase", "--note", each, stdin=f"erase {path.relative_to(cli.folder)}\n")
    assert cli.json("memory", "list", "--user", "alice", "--history") == []
    assert "no memory has this id" in cli("erase", "--note", ids[0], code=1)
