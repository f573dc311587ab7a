"""What was learned from a part of an erased text goes along."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import pytest

from tests.adapters.erasing.leftovers import leftovers
from vault_memory.adapters import git
from vault_memory.adapters.erasing import Request, still_said
from vault_memory.adapters.git import Repository
from vault_memory.services.erasing import erase, of_texts, preview
from vault_memory.services.erasing.stores import clear_outbox
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.forgetting import forget, prepare_forgetting
from vault_memory.services.memories import (
    delete_memories,
    list_memories,
    memory_rows,
    prepare_deletion,
    remember,
    supersede,
)
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault

TEXT = "I work at Initech as a welder. I have a daughter named Odile. I prefer Vim over Emacs."


def test_memories_of_single_clauses_go_with_the_text(vault: Vault) -> None:
    record_turn(vault, "alice", TEXT, "ok")
    remember(vault, "alice", "I prefer Vim in the evening")
    assert leftovers(vault.root, "welder").places
    wanted = of_texts(vault, "alice", [TEXT])
    assert Wanted.of(json.loads(json.dumps(wanted.as_dict()))) == wanted
    shown = preview(vault, wanted)
    assert {*shown.clauses} >= {"I work at Initech as a welder", "I prefer Vim over Emacs"}
    done = erase(vault, wanted)
    assert done.left == () and done.clauses == shown.clauses
    for said in ("Odile", "Initech", "initech", "over Emacs", "over-emacs"):
        assert leftovers(vault.root, said).places == []
    assert leftovers(vault.root, "Vim in the evening").places, "that stands in no part of the text"
    record_turn(vault, "alice", "I prefer Vim over Emacs", "ok")  # it may be said again


def test_nothing_goes_along_of_another_turn(vault: Vault) -> None:
    record_turn(vault, "alice", "I prefer Vim over Emacs", "ok")
    assert of_texts(vault, "alice", [TEXT]).clauses == ()


@pytest.mark.parametrize(
    ("said", "text", "gone", "stays"),
    [
        (
            "I like tea because my aunt Petronella Vane taught me. She hides gold in the barn.",
            "my aunt Petronella Vane taught me. She hides gold in the barn",
            ["Petronella"],
            "I like tea because",
        ),
        (
            "She hides gold in the barn with Zeno. I like tea because my aunt Petronella Vane taught me so well.",
            "She hides gold in the barn with Zeno. I like tea because my aunt Petronella Vane",
            ["Petronella"],
            "taught me so well",
        ),
        (
            "我喜歡喝烏龍茶，因為阿姨蘇菲亞教過我。她把金子藏在穀倉裡。",
            "阿姨蘇菲亞教過我。她把金子藏在穀倉裡",
            ["蘇菲亞"],
            "我喜歡喝烏龍茶",
        ),
    ],
)
def test_of_a_clause_that_reaches_over_the_text_the_part_in_it_goes(
    vault: Vault, said: str, text: str, gone: list[str], stays: str
) -> None:
    record_turn(vault, "alice", said, "ok")
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert [place for each in gone for place in leftovers(vault.root, each).places] == []
    assert leftovers(vault.root, stays).places


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (
            "The plumber Zeno comes on Friday at noon. I have a daughter named Odile. We painted the barn door red.",
            ["plumber", "painted the barn"],
        ),
        ("水電工阿澤星期五中午來。我女兒叫王小蝸。我們把穀倉門漆成紅色。", ["阿澤", "穀倉"]),
        (
            "I have a daughter named Odile. We painted the old barn door red because the neighbour had asked us, and "
            "then the whole of the village came to look at it on a rainy Sunday in the early summer.",
            ["painted the old barn", "neighbour"],
        ),
    ],
)
def test_what_stands_on_both_sides_of_what_is_private_goes(vault: Vault, text: str, gone: list[str]) -> None:
    """The log has `[private]` in the middle of the text, and may be cut behind it."""
    record_turn(vault, "alice", text, "ok")
    assert any("[private]" in path.read_text() for path in vault.path("alice", "daily").glob("*.md"))
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert [place for each in gone for place in leftovers(vault.root, each).places] == []


def test_short_clauses_go_as_well(vault: Vault) -> None:
    text = "I hate snow. Call me Otto. My house is the third one behind the river bank."
    record_turn(vault, "alice", text, "ok")
    assert leftovers(vault.root, "Otto").places
    wanted = of_texts(vault, "alice", [text])
    assert {"I hate snow", "Call me Otto"} <= {*wanted.clauses}
    assert erase(vault, wanted).left == ()
    assert leftovers(vault.root, "hate snow").places == leftovers(vault.root, "Call me Otto").places == []


@pytest.mark.parametrize("is_undone", [False, True])
@pytest.mark.parametrize("rest", ["It rained here all day long.", "Please call me Otto."])
def test_a_clause_by_which_the_text_is_called_goes_as_any_other(vault: Vault, rest: str, is_undone: bool) -> None:
    """It is a title of the text as well, and stands where no title ends. A note of a person's own, which says no more
    of the text, stays and is named."""
    clause = "I always use Kotlin for the Marmaduke project"
    record_turn(vault, "alice", f"{clause}. {rest}", "ok")
    vault.path("alice", "notes/plan.md").parent.mkdir(exist_ok=True)
    vault.path("alice", "notes/plan.md").write_text(f"{clause} and whatever comes next\n")
    if is_undone:
        undo(vault, "alice")
    wanted = of_texts(vault, "alice", [f"{clause}. {rest}"])
    assert clause in wanted.clauses
    done = erase(vault, wanted)
    assert done.left == () and any("notes/plan.md" in line for line in done.kept)
    places = leftovers(vault.root, "Marmaduke").places
    assert "memory/alice/notes/plan.md" in places and not [each for each in places if "index" not in each][1:]


def test_a_second_look_reads_letter_by_letter(vault: Vault) -> None:
    """It tells each place by itself, whatever the first one has made of the text there; not where a line goes on."""
    clause = "I always use Kotlin for the Marmaduke project"
    record_turn(vault, "alice", f"{clause}. It rained here all day long.", "ok")
    record_turn(vault, "bob", f"{clause}. It rained.", "ok")
    notes = vault.path("alice", "notes")
    notes.mkdir(exist_ok=True)
    (notes / "plan.md").write_text(f"{clause} and another\n")
    spared = Request(("any text",), spared=(PurePosixPath("memory/bob"),))
    slug = "i-always-use-kotlin-for-the-marmaduke-pr"
    told = still_said(Repository(vault.root), spared, [clause, slug, "ok"])
    assert not any("bob" in line or "plan.md" in line for line in told)
    (memory,) = (path.relative_to(vault.root) for path in vault.path("alice", "memories").rglob("said_*.md"))
    log = "memory/alice/daily/"
    assert {f"{memory}: {clause}", f"the name {memory}: {slug}", f"{memory} in a commit: {slug}"} <= {*told}
    assert any(line.startswith(log) and line.endswith(f"in a commit: {clause}") for line in told)
    assert any("conversations" in line for line in told) and any("the message of" in line for line in told)


@pytest.mark.parametrize("how", ["delete", "undo", "forget"])
def test_memories_that_are_only_in_history_go_as_well(vault: Vault, how: str) -> None:
    record_turn(vault, "alice", TEXT, "ok")
    ids = [row.memory_id for row in memory_rows(vault, "alice")]
    if how == "delete":
        delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=ids).code)
    elif how == "undo":
        for _ in ids:
            undo(vault, "alice")
    else:
        forget(
            vault, "alice", prepare_forgetting(vault, "alice", text="I work at Initech").code, text="I work at Initech"
        )
    assert leftovers(vault.root, "welder").places
    erase(vault, of_texts(vault, "alice", [TEXT]))
    for said in ("Odile", "Initech", "initech", "over Emacs", "over-emacs"):
        assert leftovers(vault.root, said).places == []


def test_a_value_that_the_vault_needs_does_not_go_along(vault: Vault) -> None:
    text = "Please always give me detailed answers. I work at Initech as a welder"
    record_turn(vault, "alice", text, "ok")
    assert "response_style" in vault.path("alice", "feedback.jsonl").read_text()
    wanted = of_texts(vault, "alice", [text])
    assert "detailed" not in wanted.clauses and erase(vault, wanted).left == ()


def test_a_beginning_that_is_cut_is_no_text_of_its_own(vault: Vault) -> None:
    """It goes with the text; its words in other sentences stay."""
    text = "my codeword is Zanzibar " + "and then the long story of the seven seas " * 4 + "ends"
    record_turn(vault, "alice", text, "ok")
    record_turn(vault, "alice", "And my codeword is Zanzibar and then the winter came", "ok")
    assert any("…" in path.read_text() for path in vault.path("alice", "daily").glob("*.md"))
    wanted = of_texts(vault, "alice", [text])
    assert wanted.clauses == () and erase(vault, wanted).left == ()
    assert leftovers(vault.root, "Zanzibar and then the winter").places


@pytest.mark.parametrize(
    ("text", "then", "word", "half"),
    [
        ("I live in Leeds and teach maths at Ilkley Grammar.", "I moved to York last month.", "Ilkley", ""),
        ("I play the oboe for Cantilupe and keep three goldfish.", "forget that I play the oboe", "goldfish", ""),
        ("我喜歡吃壽司，討厭澎湖的橄欖。", "忘掉我喜歡吃壽司", "橄欖", ""),
        ("I live in Leeds and teach maths at Ilkley Grammar.", "I moved to York last month.", "Ilkley", "Grammar."),
    ],
)
@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_memory_that_was_split_off_another_goes_as_well(
    vault: Vault, text: str, then: str, word: str, half: str, is_deleted: bool
) -> None:
    """The program has put the subject in front, so its words stand in the text in no one place."""
    record_turn(vault, "alice", text, "ok")
    record_turn(vault, "alice", then, "ok")
    ids = [each.memory.id for each in list_memories(vault, "alice") if word in each.memory.content]
    assert ids and not any(text.startswith(each.memory.content) for each in list_memories(vault, "alice"))
    if is_deleted:
        delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=ids).code)
    assert erase(vault, of_texts(vault, "alice", [text.removesuffix(half).strip()])).left == ()
    assert leftovers(vault.root, word).places == []


def test_a_word_that_fills_a_field_stays_in_all_that_is_not_the_text(vault: Vault) -> None:
    """Other turns, shared notes, the messages of other users' commits; the receipt says what stays in the profile."""
    shared = vault.root / "README.md"
    shared.write_text("The server runs PostgreSQL 16, and TypeScript builds it.\n")
    record_turn(vault, "bob", "I use TypeScript", "ok")
    text = "I always use PostgreSQL and TypeScript for the Tollemache ledger. It rained all day."
    record_turn(vault, "alice", text, "ok")
    record_turn(vault, "alice", "How do I back up PostgreSQL to the heron bucket?", "ok")
    wanted = of_texts(vault, "alice", [text])
    assert not {"PostgreSQL", "TypeScript"} & {*wanted.clauses}
    assert Wanted.of(json.loads(json.dumps(wanted.as_dict()))) == wanted
    done = erase(vault, wanted)
    assert done.left == () and leftovers(vault.root, "Tollemache").places == []
    assert shared.read_text() == "The server runs PostgreSQL 16, and TypeScript builds it.\n"
    assert "TypeScript" in vault.path("bob", "USER.md").read_text()
    assert leftovers(vault.root, "back up PostgreSQL to the heron bucket").places
    assert leftovers(vault.root, "languages += TypeScript").places
    told = [line for line in done.kept if "pref unset --user alice" in line]
    assert any("TypeScript" in line for line in told), done.kept


def test_words_of_another_sentence_that_are_by_chance_those_of_the_text_stay(vault: Vault) -> None:
    text = "I swim on Monday morning."
    record_turn(vault, "alice", f"{text} I like reading on Monday morning.", "ok")
    wanted = of_texts(vault, "alice", [text])
    erase(vault, wanted)
    assert leftovers(vault.root, "I like reading on Monday morning").places


@pytest.mark.parametrize(
    ("said", "then", "text", "gone", "stays"),
    [
        ("I live in Ripon and teach Latin.", "I moved to Selby last month.", "", ["teach Latin", "each-latin"], ""),
        (
            "I live in Ripon and teach Latin at Masham Abbey.",
            "I moved to Selby last month.",
            "I live in Ripon and teach Latin",
            ["teach Latin", "each-latin"],
            "at Masham Abbey",
        ),
        (
            "I live in Leeds and teach maths at Ilkley Grammar.",
            "I moved to York last month.",
            "in Leeds and teach maths at",
            ["teach maths", "teach-maths"],
            "Ilkley Grammar",
        ),
        (
            "I live in Ripon and teach chemistry.",
            "I moved to Selby last month.",
            "Ripon and teach chemistry",
            ["chemistry"],
            "",
        ),
        ("I play the oboe and sail.", "forget that I play the oboe", "", ["I sail", "i-sail"], ""),
        ("我喜歡彈古琴，也喜歡釣魚。", "忘掉我喜歡彈古琴", "", ["釣魚"], ""),
    ],
)
def test_what_a_memory_has_of_the_text_is_known_by_its_turn_however_short(
    vault: Vault, said: str, then: str, text: str, gone: list[str], stays: str
) -> None:
    record_turn(vault, "alice", said, "ok")
    record_turn(vault, "alice", then, "ok")
    assert [each for each in list_memories(vault, "alice") if gone[0] in each.memory.content]
    done = erase(vault, of_texts(vault, "alice", [text or said]))
    assert done.left == ()
    assert [place for each in gone for place in leftovers(vault.root, each).places] == []
    assert not stays or any(stays in each.memory.content for each in list_memories(vault, "alice"))


def test_other_turns_users_and_notes_keep_the_same_words(vault: Vault) -> None:
    """A part goes only where the program wrote it for this turn; what stays of a person's own is named."""
    record_turn(vault, "bob", "I teach Latin", "ok")
    shared = vault.root / "school.md"
    shared.write_text("Some of us say: I teach Latin.\n")
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    record_turn(vault, "alice", "My aunt said I teach Latin in the barn", "ok")
    wanted = of_texts(vault, "alice", ["I live in Ripon and teach Latin."])
    assert Wanted.of(json.loads(json.dumps(wanted.as_dict()))) == wanted
    done = erase(vault, wanted)
    assert done.left == () and done.clauses == ("I teach Latin",)
    assert shared.read_text() == "Some of us say: I teach Latin.\n"
    assert any("school.md" in line and "goes along" in line for line in done.kept)
    assert any(
        "said I teach Latin in the barn" in each.read_text() for each in vault.path("alice", "conversations").glob("*")
    )
    assert leftovers(vault.root, "memories(bob): add fact I teach Latin").places
    assert [row.title for row in memory_rows(vault, "bob")] == ["I teach Latin"]
    assert not [row for row in memory_rows(vault, "alice") if row.title == "I teach Latin"]


def test_a_memory_of_one_word_of_the_program_is_none(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach chemistry.", "ok")
    erase(vault, of_texts(vault, "alice", ["live in Ripon and teach chemistry"]))
    assert list_memories(vault, "alice") == []


@pytest.mark.parametrize("called", [["work.md"], ["I teach Latin.md"], ["I teach Latin.md", "work.md"]])
def test_a_memory_goes_wherever_a_person_has_put_it_and_their_own_words_stay(vault: Vault, called: list[str]) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    (path,) = vault.path("alice", "memories").rglob("*-i-teach-latin.md")
    notes = vault.path("alice", "notes")
    notes.mkdir(exist_ok=True)
    own = notes / "book.md"
    own.write_text("---\nsource: a book\n---\nI teach Latin, it says.\n")
    for name in called:
        path = path.rename(notes / name)
        path.write_text(f"{path.read_text()}\nA pelican helps me.\n")
        git.run(vault.root, "add", "-A")
        git.run(vault.root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "mine")
    git.run(vault.root, "branch", "i-teach-latin")
    done = erase(vault, of_texts(vault, "alice", ["I live in Ripon and teach Latin."]))
    assert done.left == ()
    (moved,) = {*notes.iterdir()} - {own}
    assert moved.name == called[-1].replace("I teach Latin", "(erased)")
    assert "A pelican helps me." in moved.read_text() and "teach" not in moved.read_text()
    assert "I teach Latin, it says." in own.read_text() and any("book.md" in line for line in done.kept)
    for said in ("title: I teach Latin", "I teach Latin.md", "i-teach-latin"):
        assert [each for each in leftovers(vault.root, said).places if "index.db" not in each] == []


def test_a_reply_that_says_it_again_keeps_nothing(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "So you teach Latin, says the heron.")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    assert erase(vault, of_texts(vault, "alice", ["I live in Ripon and teach Latin."])).left == ()
    assert not [row.title for row in memory_rows(vault, "alice") if "Latin" in row.title]
    assert leftovers(vault.root, "fact I teach Latin").places == leftovers(vault.root, "i-teach-latin").places == []
    assert leftovers(vault.root, "says the heron").places


@pytest.mark.parametrize("text", ["I live in Ripon and teach Latin at Masham.", "I live in Ripon and teach Latin"])
def test_of_a_turn_that_was_forgotten_what_was_made_of_it_tells_what_it_said(vault: Vault, text: str) -> None:
    source = record_turn(vault, "alice", "I live in Ripon and teach Latin at Masham.", "ok").source
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    record_turn(vault, "alice", "I heard that Latin and Ripon are old", "ok")
    forget(vault, "alice", prepare_forgetting(vault, "alice", turn=source).code, turn=source)
    assert leftovers(vault.root, "I teach Latin").places
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert leftovers(vault.root, "teach Latin").places == leftovers(vault.root, "teach-latin").places == []
    assert leftovers(vault.root, "Latin and Ripon are old").places


def test_the_name_of_a_memory_that_is_cut_within_the_text_loses_what_it_has_of_it(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon as the lodger of Ann Oakroyd.", "ok")
    assert leftovers(vault.root, "ann-oak").places
    assert erase(vault, of_texts(vault, "alice", ["Ann Oakroyd"])).left == ()
    assert leftovers(vault.root, "ann-oak").places == leftovers(vault.root, "Ann Oak").places == []
    assert leftovers(vault.root, "as the lodger of").places


def test_a_memory_tells_what_its_turn_said_that_a_person_has_edited(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    (record, *_) = sorted(vault.path("alice", "conversations").glob("*.jsonl"))
    record.write_text(record.read_text().replace("I live in Ripon and teach Latin.", "I live in York."))
    assert erase(vault, of_texts(vault, "alice", ["I live in Ripon and teach Latin"])).left == ()
    assert not [row.title for row in memory_rows(vault, "alice") if "Latin" in row.title]


def test_a_memory_that_waits_for_the_long_term_store_goes_with_its_part(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    (row,) = [row for row in memory_rows(vault, "alice") if row.title == "I teach Latin"]
    waiting = [
        {"conversation_id": each, "user_id": "alice", "created_at": "2026-01-30T10:00:00+00:00"}
        for each in (row.memory_id, "conv_1")
    ]
    vault.outbox.put(waiting)
    assert clear_outbox(vault, of_texts(vault, "alice", ["I live in Ripon and teach Latin."])) == 1


def test_the_name_of_an_edited_memory_that_is_cut_within_a_part_loses_what_it_has_of_it(vault: Vault) -> None:
    text = "I see her every Thursday at Wharfedale clinic in Otley."
    record_turn(vault, "alice", text, "ok")
    (made,) = memory_rows(vault, "alice")
    edited = "Dr. Pemberton meets me Friday at Wharfedale clinic in Otley"
    supersede(vault, "alice", made.memory_id, edited)
    assert leftovers(vault.root, "friday-at-wharfeda").places
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert leftovers(vault.root, "wharfeda").places == leftovers(vault.root, "Otley").places == []
    assert leftovers(vault.root, "pemberton-meets-me-friday").places


def test_a_note_in_which_the_text_itself_goes_is_not_told_to_stay(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin at Masham Abbey.", "ok")
    vault.path("alice", "notes").mkdir()
    vault.path("alice", "notes/boat.md").write_text("Teach Latin at Masham Abbey.\n")
    shown = preview(vault, of_texts(vault, "alice", ["teach Latin at Masham Abbey"]))
    assert any("boat.md" in str(path) for path in shown.git.files)
    assert not [line for line in shown.kept if "boat.md" in line]


def test_a_value_that_was_replaced_is_told_to_stay_too(vault: Vault) -> None:
    text = "我叫林小雨，住在台南東區。"
    record_turn(vault, "alice", text, "ok")
    record_turn(vault, "alice", "叫我阿雨就好。", "ok")
    assert [each for each in of_texts(vault, "alice", [text]).values if "林小雨" in each]
