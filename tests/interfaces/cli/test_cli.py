"""The command line itself: how it finds its vault, what it prints for wrong input, its exit codes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import Cli

pytestmark = pytest.mark.slow

ALICE = "memory/alice"


def test_the_vault_is_found_like_gits_repository(cli: Cli, tmp_path: Path) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    inside, outside = Cli(cli.folder / ALICE / "daily"), Cli(tmp_path)
    assert inside("user", "list") == "alice\n"
    assert outside("--vault", "my-vault", "user", "list") == "alice\n"
    assert outside("user", "list", VAULT_MEMORY_VAULT=str(cli.folder)) == "alice\n"
    assert "no vault here" in outside("user", "list", code=2)
    assert "is not a vault" in outside("--vault", str(tmp_path), "user", "list", code=2)
    assert "is not a vault" in outside("user", "list", code=2, VAULT_MEMORY_VAULT=str(tmp_path))


def test_init_is_idempotent_and_keeps_what_a_person_changed(cli: Cli) -> None:
    home = cli.folder / "Home.md"
    home.write_text("my own way in\n")
    (cli.folder / "skills/coding-agent/SKILL.md").unlink()
    before = cli.git("rev-parse", "HEAD")
    assert "already" in cli("init")
    assert home.read_text() == "my own way in\n"
    assert not (cli.folder / "skills/coding-agent/SKILL.md").exists()
    assert cli.git("rev-parse", "HEAD") == before


def test_a_question_finds_what_stands_in_the_other_language(cli: Cli) -> None:
    notes = cli.folder / ALICE / "notes"
    notes.mkdir(parents=True)
    (notes / "login.md").write_text("# Work\n\nDeploy the login page with blue-green.\n")
    (notes / "migration.md").write_text("# 工作\n\n資料庫遷移在週五。\n", encoding="utf-8")
    (notes / "falcon.md").write_text("# Names\n\nThe falcon ships in May.\n")

    def first(question: str) -> str:
        hits = cli.json("search", "--user", "alice", question)["hits"]
        return str(hits[0]["source"]) if hits else ""

    assert first("登入頁怎麼部署") == "notes/login.md"
    assert first("database migration") == "notes/migration.md"
    assert first("獵鷹計畫") == ""
    settings = cli.folder / "vault-memory.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("[search]", '[search]\nsynonyms = [["獵鷹計畫", "falcon"]]'), encoding="utf-8")
    assert first("獵鷹計畫") == "notes/falcon.md"


def test_init_refuses_a_folder_that_holds_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.md").write_text("my note\n")
    assert "--adopt" in Cli(tmp_path)("init", "notes", code=2)
    assert os.listdir(tmp_path / "notes") == ["mine.md"]
    (tmp_path / "file").write_text("x")
    assert "is a file" in Cli(tmp_path)("init", "file", code=2)


def test_an_adopted_vault_is_indexed_and_its_notes_are_left_alone(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "ideas").mkdir(parents=True)
    (notes / ".gitignore").write_text("*.pdf\n")
    texts = {"ideas/heron.md": "# Heron\r\n\r\nThe heron waits by the river.\r\n", "城市.md": "# 城市\n\n安靜的巷子\n"}
    for name, text in texts.items():
        (notes / name).write_bytes(text.encode())
    times = {name: (notes / name).stat().st_mtime_ns for name in texts}
    Cli(tmp_path)("init", "--adopt", "notes")
    for name, text in texts.items():
        assert (notes / name).read_bytes() == text.encode()
        assert (notes / name).stat().st_mtime_ns == times[name]
    assert "*.pdf" in (notes / ".gitignore").read_text()
    cli = Cli(notes)
    assert "?? " in cli.git("status", "--porcelain"), "adopting commits none of the person's notes"
    cli("turn", "--user", "alice", "--message", "你好")
    found = json.loads(cli("search", "--user", "alice", "--scope", "shared", "--json", "安静的巷子"))
    assert [hit["source"] for hit in found["hits"]][0] == "城市.md"
    assert found["hits"][0]["scope"] == "shared"
    assert json.loads(cli("search", "--user", "alice", "--json", "安静的巷子"))["hits"] == []
    assert json.loads(cli("search", "--user", "alice", "--scope", "all", "--json", "heron river"))["hits"]


def test_invalid_ids_are_refused_and_nothing_is_made(cli: Cli) -> None:
    """Each command refuses one, and one command refuses each (`tests/core/test_layout.py` has more of them)."""
    for words in (["turn", "--message", "hi"], ["search", "hi"], ["history"], ["export", "out"]):
        assert "user id" in cli(*words[:1], "--user", "../x", *words[1:], code=2)
    for user in ("", ".hidden", "a" * 65, "a/b", "con", "名字", "a b"):
        assert "user id" in cli("turn", "--user", user, "--message", "hi", code=2)
    assert not (cli.folder / "memory").exists()


def test_an_id_that_differs_only_in_case_is_refused(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "hi")
    assert "only in case" in cli("turn", "--user", "Alice", "--message", "hi", code=2)


def test_a_wrong_call_ends_with_2_and_says_what_to_do(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "hi")
    for words, message in (
        (["serach"], "Did you mean 'search'?"),
        (["search", "--user", "alice", "-k", "0", "x"], "1 to 100"),
        (["search", "--user", "alice", "-k", "10000", "x"], "1 to 100"),
        (["turn", "--user", "alice"], "--message"),
        (["turn", "--jsonl", "nowhere.jsonl"], "nowhere.jsonl"),
        (["history", "--user", "alice", "colour"], "'colour' is not a key of the profile"),
        (["restore", "nowhere.tar.gz", "x"], "nowhere.tar.gz"),
        (["restore", "vault-memory.toml", "x"], "not a complete backup"),
    ):
        assert message in cli(*words, code=2), words


def test_an_unknown_user_is_not_found(cli: Cli) -> None:
    assert "`vault-memory user list`" in cli("search", "--user", "bob", "x", code=1)
    assert not (cli.folder / "memory").exists()


def test_a_query_without_words_finds_nothing_and_is_not_an_error(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "hi")
    for query in ("", "   ", "!?。，…", "🦜🦜", '"', "* AND (", "?"):
        assert cli.json("search", "--user", "alice", query)["hits"] == [], query


def test_nothing_is_an_answer(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "hi")
    (cli.folder / ALICE / "notes").mkdir(exist_ok=True)
    (cli.folder / ALICE / "notes/pets.md").write_text("# Pets\n\nToby the dog is afraid of thunder.\n")
    question = "Who sold a dog to Melanie at the Lisbon harbour market?"
    ask = ("search", "--user", "alice", question)
    assert cli(*ask) == "nothing found: the nearest passages hold too little of it\n"
    assert cli.json(*ask)["hits"] == []
    assert "Toby the dog" in cli(*ask, "--mode", "keyword")
    assert "Toby the dog" in cli("search", "--user", "alice", "What is the dog afraid of?")
    assert "Toby the dog" in cli("search", "--user", "alice", "dog")
    assert cli("search", "--user", "alice", "zeppelin") == "nothing found\n"
    assert "<relevant-memories" not in cli("prompt", "--user", "alice", question)


def test_notes_that_cannot_be_read_whole_are_indexed_and_reported(cli: Cli, tmp_path: Path) -> None:
    cli("turn", "--user", "alice", "--message", "hi")
    home = cli.folder / ALICE
    (home / "latin.md").write_bytes(b"caf\xe9 heron\n")
    (home / "broken.md").write_text("---\ntitle: [unclosed\n---\n\npelican in the body\n")
    (tmp_path / "secret.md").write_text("cormorant outside\n")
    (home / "link.md").symlink_to(tmp_path / "secret.md")
    (home / "loop.md").symlink_to("loop.md")
    with (home / "huge.md").open("w") as big:
        big.write("flamingo at the start\n\n")
        for _ in range(52):
            big.write("pad " * 262_144)
    cli("reindex", "--user", "alice")

    def sources(query: str) -> list[str]:
        return [hit["source"] for hit in cli.json("search", "--user", "alice", query)["hits"]]

    assert "latin.md" in sources("heron")
    assert "broken.md" in sources("pelican")
    assert "huge.md" in sources("flamingo")
    assert sources("cormorant") == []
    assert (home / "latin.md").read_bytes() == b"caf\xe9 heron\n"
    told = cli.json("status")
    scope = next(s for s in told["scopes"] if s["scope"] == "alice")
    assert {"link.md"} <= scope["failed"].keys() and scope["warned"].keys() == {"latin.md", "broken.md", "huge.md"}
    assert not [line for line in told["unhealthy"] if ".md" in line and "huge.md" not in line]


def test_turns_are_replayed_from_a_file_or_not_at_all(cli: Cli) -> None:
    rows = [
        {
            "user_id": "alice",
            "user_message": "我喜歡暗色主題",
            "assistant_message": "好",
            "created_at": "2026-01-05T09:00:00+08:00",
        },
        {
            "user_id": "bob",
            "timestamp": "2026-01-06T09:00:00+08:00",
            "user": "I use Docker at work",
            "assistant": "ok",
            "backend": "x",
        },
    ]
    (cli.folder.parent / "turns.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    assert "turns.jsonl:1 has the user_id 'alice'" in cli("turn", "--user", "bob", "--jsonl", "../turns.jsonl", code=2)
    assert "2 turns replayed" in cli("turn", "--jsonl", "../turns.jsonl")
    assert (cli.folder / ALICE / "daily/2026-01-05.md").exists()
    assert (cli.folder / "memory/bob/conversations/2026-01-06.jsonl").exists()
    assert "1 turn replayed" in cli("turn", "--user", "bob", "--jsonl", "-", stdin="\ufeff" + json.dumps(rows[1]))
    bad = json.dumps(rows[0]) + "\n{broken\n"
    assert "standard input:2" in cli("turn", "--jsonl", "-", stdin=bad, code=2)
    assert "standard input:1: exit_code" in cli(
        "turn", "--user", "a", "--jsonl", "-", stdin='{"exit_code": "x"}', code=2
    )
    assert "has no user_id" in cli("turn", "--jsonl", "-", stdin='{"user_message": "x"}', code=2)
    assert len((cli.folder / ALICE / "conversations/2026-01-05.jsonl").read_text().splitlines()) == 1


def test_off_the_record_leaves_no_trace(cli: Cli) -> None:
    before = {p: p.stat().st_mtime_ns for p in cli.folder.rglob("*") if ".git" not in p.parts}
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--off-record")
    assert {p: p.stat().st_mtime_ns for p in cli.folder.rglob("*") if ".git" not in p.parts} == before
    assert cli.git("log", "--oneline").count("\n") == 1


def test_settings_that_are_wrong_are_all_named_at_once(cli: Cli) -> None:
    (cli.folder / "vault-memory.toml").write_text('format = 1\nlocle = "en"\n[watch]\nsettle_ms = "soon"\n')
    printed = cli("user", "list", code=2)
    assert "vault-memory.toml:2: unknown setting 'locle'; did you mean 'locale'?" in printed
    assert "vault-memory.toml:4: watch.settle_ms must be a whole number" in printed


def test_a_vault_of_a_newer_format_is_refused(cli: Cli) -> None:
    (cli.folder / "vault-memory.toml").write_text("format = 99\n")
    assert "upgrade vault-memory" in cli("user", "list", code=2)


def test_debug_shows_the_traceback(cli: Cli) -> None:
    done = cli.run("--debug", "search", "--user", "bob", "x")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_status_and_doctor_find_nothing_wrong_in_a_fresh_vault(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    assert cli.json("status")["unhealthy"] == []
    assert "WRONG" not in cli("doctor")


def test_a_cold_search_imports_neither_numpy_nor_scikit_learn(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "vault_memory", "search", "--user", "alice", "暗色"],
        cwd=cli.folder, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "暗色" in done.stdout
    for heavy in ("numpy", "sklearn", "git", "rich", "yaml", "opencc"):
        assert f"| {heavy}\n" not in done.stderr.replace(" ", "").replace("|", "| "), heavy


def test_an_adopted_vault_can_be_asked_at_once(tmp_path: Path) -> None:
    """`init --adopt` ends with a search that works, and nobody need be named in it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/My heron.md").write_text("It waits.\n")
    told = Cli(tmp_path)("init", "--adopt", "notes")
    proposed = next(line for line in told.splitlines() if line.startswith("try: ")).removeprefix("try: ")
    assert proposed == f"vault-memory --vault {tmp_path / 'notes'} search 'My heron'"
    cli = Cli(tmp_path / "notes")
    assert cli("search", "My heron").startswith("My heron.md:1")
    assert cli("read", "my heron") == "It waits.\n"
    assert cli.json("related", "my heron") == {"notes": []}
    cli("turn", "--user", "alice", "--message", "The otter swims.")
    assert cli.json("search", "otter")["hits"][0]["scope"] == "alice"
    assert cli.json("search", "my heron")["hits"][0]["scope"] == "shared"
    cli("turn", "--user", "bob", "--message", "hi")
    assert "2 users (alice, bob)" in cli("search", "otter", code=2)
    assert "what they share is read with each" in cli("read", "otter", code=2), "it has no --scope"
    assert cli("search", "--scope", "shared", "heron").startswith("My heron.md:1")


def test_filters_alone_list_notes(cli: Cli) -> None:
    (cli.folder / "books").mkdir()
    for name in ("a", "b", "c"):
        (cli.folder / f"books/{name}.md").write_text(f"Book {name}. #read/{name}\n")
    done = cli.run("search", "--path", "books", "-k", "2")
    assert "books/a.md:1" in done.stdout and "(2 of 3 notes; -k shows more)" in done.stderr
    assert [hit["source"] for hit in cli.json("search", "--tag", "read/b")["hits"]] == ["books/b.md"]
    assert cli("search", "--path", "none").startswith("nothing found: no note is of that path")
    assert "list notes by --path" in cli("search", code=2)
    assert cli.json("search", '"book c"')["hits"][0]["source"] == "books/c.md"


def test_people_get_an_entry_for_each_note_and_programs_all_passages(cli: Cli) -> None:
    """Ten hits showed two notes where twenty match."""
    (cli.folder / "teas.md").write_text(("\n" * 6).join(f"Tea of {day}." for day in ("May", "June", "July", "August")))
    (cli.folder / "one.md").write_text("The tea of Mondays.\n")
    shown = cli("search", "tea")
    assert shown.count("teas.md:") == shown.count("one.md:") == 1 and shown.count("  +3 more passages\n") == 1
    assert cli("search", "tea", "--passages").count("teas.md:") == 4
    programs, notes = cli.json("search", "tea")["hits"], cli.json("search", "tea", "--notes")["hits"]
    assert len(programs) == 5 and "more" not in programs[0]
    assert {hit["source"]: hit["more"] for hit in notes} == {"teas.md": 3, "one.md": 0}
    assert all(hit["explain"]["terms"] == ["tea"] for hit in programs)
    assert len(cli.json("search", "tea", "--notes", "-k", "1")["hits"]) == 1


def test_a_hit_names_the_commit_that_holds_it(cli: Cli) -> None:
    """As a prompt does: what is not in git so, a new edit or a conversation, has none."""
    cli("remember", "--user", "alice", "the heron waits")
    cli("turn", "--user", "alice", "--message", "where is the heron?")
    (cli.folder / "heron.md").write_text("A heron.\n")
    hits = cli.json("search", "--scope", "all", "--user", "alice", "heron")["hits"]
    found = {hit["kind"]: hit["commit"] for hit in hits}
    assert found.keys() >= {"memory", "conversation", "note"}
    assert (found["conversation"], found["note"]) == ("", "")
    assert "heron" in cli("log", "memory/alice/memories") and len(found["memory"]) == 40


def test_people_get_what_was_said_and_by_whom(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "where is the heron?", "--reply", "on the bank")
    shown = cli("search", "--user", "alice", "--kind", "conversation", "heron")
    assert "alice: where is the heron?\n  assistant: on the bank\n" in shown
    [hit] = cli.json("search", "--user", "alice", "--kind", "conversation", "heron")["hits"]
    [passage] = hit["passages"]
    assert [(each["role"], each["text"]) for each in passage["messages"]] == [
        ("user", "where is the heron?"),
        ("assistant", "on the bank"),
    ]
    assert passage["text"] == hit["content"] and passage["line_range"] == hit["line_range"]


def test_passages_are_printed_each_at_its_place(cli: Cli) -> None:
    (cli.folder / "diary.md").write_text("## 2026-01-30\n\nHeron tea.\n\n## 2026-01-31\n\nMore heron tea.\n")
    shown = cli("search", "heron tea", "--passages")
    assert "diary.md:3  1.000\n  ## 2026-01-30\n  Heron tea.\n" in shown
    assert "diary.md:5-7  1.000\n  ## 2026-01-31\n" in shown
    assert "+1 more passage\n" in cli("search", "heron tea")
    [hit] = cli.json("search", "heron tea")["hits"]
    assert hit["line_range"] == [3, 7] and [each["line_range"] for each in hit["passages"]] == [[3, 3], [5, 7]]


def test_hits_name_their_backlinks_where_asked(cli: Cli) -> None:
    (cli.folder / "heron.md").write_text("A bird.\n")
    (cli.folder / "bank.md").write_text("Of the [[heron]].\n")
    assert "  linked from bank.md\n" in cli("search", "heron", "--backlinks")
    assert cli.json("search", "heron", "--backlinks")["hits"][0]["backlinks"] == ["bank.md"]
    assert "backlinks" not in cli.json("search", "heron")["hits"][0]


def test_nothing_found_says_whether_the_filters_let_a_note_through(cli: Cli) -> None:
    (cli.folder / "heron.md").write_text("---\ntags: [bird]\n---\nA bird.\n")
    assert cli("search", "heron", "--tag", "fish") == "nothing found: no note is of that path, tag, kind and day\n"
    assert cli("search", "xylophone", "--tag", "bird") == "nothing found in 1 note of that path, tag, kind and day\n"
    assert cli("search", "--tag", "fish") == "nothing found: no note is of that path, tag, kind and day\n"
    assert cli("search", "xylophone") == "nothing found\n"


def test_a_match_is_shown_on_a_terminal_alone(cli: Cli) -> None:
    (cli.folder / "tea.md").write_text("Green teas.\n")
    plain = "tea.md:1  1.000\n  Green teas.\n"
    assert cli("search", "tea") == plain
    assert "Green \x1b[31m\x1b[1mteas\x1b[0m." in on_a_terminal(cli, "search", "tea")
    assert on_a_terminal(cli, "search", "tea", NO_COLOR="1") == plain


def on_a_terminal(cli: Cli, *words: str, **more: str) -> str:
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "vault_memory", *words]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | more
    subprocess.run(command, cwd=cli.folder, env=environment, stdout=theirs, stderr=theirs, check=True, timeout=60)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux tells the end of a terminal so
        while piece := os.read(ours, 4_096):
            shown += piece
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_new_user_is_made_and_said_so(cli: Cli) -> None:
    assert "alice is a new user" in cli.run("remember", "--user", "alice", "tea is nice").stderr
    assert cli.run("remember", "--user", "alice", "milk is nice").stderr == ""
    told = cli.run("turn", "--user", "alcie", "--message", "hi").stderr
    assert "alcie is a new user of this vault (there is also alice)" in told
    assert "new user" not in cli.run("pref", "set", "--user", "carol", "no-such-key", "x").stderr
