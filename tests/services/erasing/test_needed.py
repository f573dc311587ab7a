"""Texts that the vault itself needs are refused, and nothing is changed."""

from __future__ import annotations

import pytest

from tests.adapters.erasing.leftovers import leftovers
from tests.services.erasing.planting import SECRET, git, planted
from vault_memory.errors import UsageError
from vault_memory.services.erasing import erase, of_texts, preview
from vault_memory.services.memories import remember
from vault_memory.services.mistakes import record_mistake
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def contents(vault: Vault) -> tuple[str, dict[str, bytes]]:
    found = {
        str(path): path.read_bytes() for path in vault.root.rglob("*") if path.suffix in (".md", ".jsonl", ".toml")
    }
    return git(vault.root, "log", "--all", "--format=%H %B"), found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("true", "properties of its notes"),
        ("memory", "names of its files"),
        ("theme", "labels"),
        ("conversation", "names of its files"),
        ("Vault-Source", "messages of its commits"),
        ("filemode", "git's settings"),
        (".DS_Store", ".gitignore"),
        ("2026", "memory/alice"),
        ("user_message", "conversations/"),
        ("conv_", "the ids that it makes"),
        ("explicit", "profiles and evidence"),
        ("dark", "profiles and evidence"),
        ("depends_on", "profiles and evidence"),
        ("done", "the logs that turns write"),
        ("Remembered", "the logs that turns write"),
        ("main", "the name of its branch"),
        ("Alice", "erase --user alice"),
        ("Robert", "erase --user robert"),
    ],
)
def test_a_text_that_the_vault_needs_is_refused(vault: Vault, text: str, told: str) -> None:
    planted(vault)
    record_turn(vault, "robert", "I like the dark theme", "ok")
    before = contents(vault)
    for step in (preview, erase):
        with pytest.raises(UsageError, match=told):
            step(vault, of_texts(vault, "alice", ["another text", text]))
    assert contents(vault) == before and not (vault.root / ".vault-memory/erasing").exists()


def test_a_number_in_times_and_ids_of_commits_is_no_hindrance(vault: Vault) -> None:
    record_turn(vault, "alice", "I like the dark theme", "ok")
    number = git(vault.root, "log", "-1", "--format=%at")[2:6]
    note = vault.path("alice", "notes/room.md")
    note.parent.mkdir()
    note.write_text(f"the room is {number}\n")
    git(vault.root, "add", "-A")
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", f"room {number}")
    dates = git(vault.root, "log", "--format=%ad")
    assert erase(vault, of_texts(vault, "alice", [number])).left == ()
    assert note.read_text() == "the room is (erased)\n" and git(vault.root, "log", "--format=%ad") == dates
    assert git(vault.root, "fsck", "--strict") == ""


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("my cat's name is Miso, really (truly) & always: 7/8", ("Miso", "cat's name", "cat''s", "cat-s-name")),
        (
            "the red bicycle stands behind the old harbour in the second courtyard next to a green door",
            ("red bicycle", "red-bicycle", "old harbour"),
        ),
        ("我的貓叫米粒，今年三歲了", ("米粒", "今年三歲")),
        ('the plan: "blue whale" starts #soon \\ slash', ("blue whale", "blue-whale")),
        (
            "保險箱放在二樓臥室那幅老港口畫作的後面，鑰匙在書桌左邊第三個抽屜裡面的鐵盒子中，請不要告訴任何人這件事情，連家人也不可以說",
            ("保險箱放在", "老港口"),
        ),
    ],
)
def test_titles_and_names_that_the_program_has_made_go_along(vault: Vault, text: str, pieces: tuple[str, ...]) -> None:
    """From front matter, names of files, trees, messages, logs and indexes, where other words stand first, too."""
    record_turn(vault, "alice", f"Remember that {text}", "ok")
    record_turn(vault, "alice", f"I like the dark theme because {text}", "ok")
    remember(vault, "alice", text)
    remember(vault, "alice", f"A thing to keep: {text}")
    record_mistake(vault, "alice", action=text)
    assert any(leftovers(vault.root, piece).places for piece in pieces)
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert [place for piece in pieces for place in leftovers(vault.root, piece).places] == []


def test_the_look_shows_the_words_around(vault: Vault) -> None:
    planted(vault)
    (vault.root / "shared.md").write_text("there were seventeen Zanzibarians\n")
    shown = preview(vault, of_texts(vault, "alice", ["Zanzibar"]))
    assert any("seventeen Zanzibarians" in each for each in shown.places)
    assert any(SECRET in each for each in shown.places)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.json", '{"pin": 360055, "x": "romeo"}\n', "360055"),
        ("b.json", '["tachyon", 4711]\n', "4711"),
        ("c.canvas", '{"nodes":[{"id":"1","x":99112233}],"edges":[]}\n', "99112233"),
        ("d.md", "---\ntags: [xray, whisky]\nother: 1\n---\nbody\n", "whisky]"),
        ("e.md", "---\ntitle: 'hello zebra one'\n---\nbody\n", "zebra one'"),
        ("f.yml", "- 'quark lepton'\n- x\n", "lepton'"),
        ("g.base", "filters:\n  and:\n  - 'hotel == 1'\n", "filters"),
        ("h.base", "views:\n- type: list\n  name: juliett india\n", "name: juliett india"),
        ("SKILL.md", "---\nname: tidy\ndescription: how to tidy\n---\nbody\n", "description"),
    ],
)
def test_a_file_that_could_not_be_read_any_more_is_refused(vault: Vault, name: str, content: str, text: str) -> None:
    record_turn(vault, "alice", "hello there", "ok")
    note = vault.path("alice", "notes") / name
    note.parent.mkdir()
    note.write_text(content)
    with pytest.raises(UsageError, match=name):
        erase(vault, of_texts(vault, "alice", ["another text", text]))
    assert note.read_text() == content


@pytest.mark.parametrize(
    ("name", "content", "text", "left"),
    [
        ("a.json", '{"pin": 360055, "x": "romeo"}\n', "romeo", '{"pin": 360055, "x": "(erased)"}\n'),
        ("b.json", '{"x": "romeo"\n', "romeo", '{"x": "(erased)"\n'),
        ("c.md", "---\ntitle: hello zebra\n---\nbody\n", "hello zebra", "---\ntitle: (erased)\n---\nbody\n"),
    ],
)
def test_a_file_that_stays_readable_or_never_was_is_no_hindrance(
    vault: Vault, name: str, content: str, text: str, left: str
) -> None:
    record_turn(vault, "alice", "hello there", "ok")
    note = vault.path("alice", "notes") / name
    note.parent.mkdir()
    note.write_text(content)
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert note.read_text() == left
