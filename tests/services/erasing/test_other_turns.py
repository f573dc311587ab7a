"""What was made of other turns, also of another machine's at the same places, stays whole; and what was made of the
turn that says the text goes, whoever tells of it."""

from __future__ import annotations

import json

import pytest

from tests.adapters.erasing.leftovers import leftovers
from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.forgetting import forget, prepare_forgetting
from vault_memory.services.memories import memory_rows
from vault_memory.services.profiles.preferences import set_preference
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def as_on_another_machine(vault: Vault, said: str, at: str = "2026-01-30T03:04:05+00:00") -> None:
    """The line at which a turn of another machine is there is one of this machine here."""
    (record, *_) = sorted(vault.path("alice", "conversations").glob("*.jsonl"))
    first, *rest = record.read_text().splitlines(keepends=True)
    row = json.loads(first) | {"user_message": said, "created_at": at}
    record.write_text("".join([json.dumps(row) + "\n", *rest]))


def on_two_machines(vault: Vault, one: tuple[str, str], two: tuple[str, str], *, is_second: bool) -> None:
    """Two turns (what is said, and when) at the same place, each on a machine of its own; this is the second one, or
    the first."""
    sources = [record_turn(vault, "alice", one[0], "ok", created_at=one[1]).source]
    record = vault.path("alice", sources[0].partition(":")[0])
    of_first = record.read_bytes()
    record.unlink()
    sources.append(record_turn(vault, "alice", two[0], "ok", created_at=two[1]).source)
    assert sources[0] == sources[1]
    if not is_second:
        record.write_bytes(of_first)


def test_what_another_machine_has_made_is_known_where_its_turns_are_not(vault: Vault) -> None:
    record_turn(vault, "alice", "I live in Ripon and teach Latin.", "ok")
    record_turn(vault, "alice", "I moved to Selby last month.", "ok")
    as_on_another_machine(vault, "I like herons.")
    assert erase(vault, of_texts(vault, "alice", ["I live in Ripon and teach Latin."])).left == ()
    assert leftovers(vault.root, "teach Latin").places == []


def test_what_a_turn_of_another_machine_has_left_stays(vault: Vault) -> None:
    record_turn(vault, "alice", "I collect grey geese.", "ok")
    as_on_another_machine(vault, "I live in Ripon and collect grey geese.")
    wanted = of_texts(vault, "alice", ["I live in Ripon and collect grey geese."])
    assert wanted.clauses == ()
    erase(vault, wanted)
    assert [row.title for row in memory_rows(vault, "alice")] == ["I collect grey geese"]


@pytest.mark.parametrize("way", ["on another machine", "its record is deleted", "it was forgotten"])
@pytest.mark.parametrize(
    ("text", "moved", "part"),
    [
        ("I live in Ripon and teach Latin. The rain is endless here.", "I moved to Selby last month.", "teach Latin"),
        ("The rain is endless. I live in Ripon and teach Latin.", "I moved to Selby last month.", "teach Latin"),
        ("我讨厌下雨。我住在嘉兴，教德文。", "我搬到绍兴了", "教德文"),
    ],
)
def test_the_log_tells_what_a_turn_said_that_is_in_no_record(
    vault: Vault, text: str, moved: str, part: str, way: str
) -> None:
    source = record_turn(vault, "alice", text, "ok").source
    record_turn(vault, "alice", moved, "ok")
    assert leftovers(vault.root, part).places
    if way == "on another machine":
        as_on_another_machine(vault, "I collect brass sundials.")
    elif way == "its record is deleted":
        vault.path("alice", source.partition(":")[0]).unlink()
    else:
        forget(vault, "alice", prepare_forgetting(vault, "alice", turn=source).code, turn=source)
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert leftovers(vault.root, part).places == leftovers(vault.root, part.replace(" ", "-")).places == []


def test_what_another_turn_says_stays_in_its_memory_its_evidence_and_its_line_of_the_log(vault: Vault) -> None:
    """On the same day, so in the same files."""
    text, other = (
        "I prefer Vim over Emacs and I live in Ripon with Orla.",
        "I prefer Vim over Emacs, as my cousin does.",
    )
    record_turn(vault, "alice", text, "ok")
    record_turn(vault, "alice", other, "ok")
    (log,) = vault.path("alice", "daily").iterdir()
    done = erase(vault, of_texts(vault, "alice", [text]))
    assert done.left == () and leftovers(vault.root, "Orla").places == []
    first, second = (line for line in log.read_text().splitlines() if line.startswith("- "))
    assert "Vim over" not in first and other in second
    quotes = [json.loads(line)["quote"] for line in vault.path("alice", "feedback.jsonl").read_text().splitlines()]
    assert "Vim over" not in quotes[0] and "(erased)" in quotes[0] and "I prefer Vim over" in quotes[-1]
    assert any(log.name in line for line in done.kept), "it says a part still, and is named"


@pytest.mark.parametrize("is_here", [True, False])
def test_what_was_made_of_a_turn_of_another_machine_at_the_same_place_stays(vault: Vault, is_here: bool) -> None:
    """They were in the same minute, and only the seconds in ids and evidence tell them apart."""
    text, other = "I live in Ripon and teach Latin.", "I teach Latin to the Hull rowers."
    first = record_turn(vault, "alice", text, "ok", created_at="2026-01-30T09:00:02+00:00").source
    record_turn(vault, "alice", "I moved to Selby last month.", "ok", created_at="2026-01-30T09:00:20+00:00")
    third = record_turn(vault, "alice", other, "ok", created_at="2026-01-30T09:00:40+00:00").source
    for path in vault.path("alice", ".").rglob("*.*"):
        if path.suffix in (".md", ".jsonl") and "conversations" not in path.parts and third in path.read_text():
            path.write_text(path.read_text().replace(third, first))
    if not is_here:
        as_on_another_machine(vault, other, "2026-01-30T09:00:40+00:00")
    done = erase(vault, of_texts(vault, "alice", [text]))
    assert done.left == ()
    assert [row.title for row in memory_rows(vault, "alice") if "Latin" in row.title] == [other.rstrip(".")]
    (log,) = vault.path("alice", "daily").iterdir()
    assert other in log.read_text() and text not in log.read_text()
    assert leftovers(vault.root, "i-teach-latin.md").places == []


@pytest.mark.parametrize("is_here", [True, False])
@pytest.mark.parametrize(
    ("other", "text", "made"),
    [
        ("I live in Hull.", "I live in Goole. I collect copper lanterns in Snaith.", "I live in Goole"),
        ("我住在嘉義。", "我住在花蓮，在太魯閣種高山茶。", "我住在花蓮"),
    ],
)
def test_a_memory_that_takes_the_place_of_another_machines_is_of_its_own_turn(
    vault: Vault, other: str, text: str, made: str, is_here: bool
) -> None:
    """Both turns were on the same line of the same day."""
    on_two_machines(vault, (other, "2026-01-30T00:05:10+00:00"), (text, "2026-01-30T05:12:40+00:00"), is_second=is_here)
    erased, stays = (text, other) if is_here else (other, text)
    assert erase(vault, of_texts(vault, "alice", [erased])).left == ()
    if is_here:
        assert leftovers(vault.root, made).places == []
        (log,) = vault.path("alice", "daily").iterdir()
        assert stays in log.read_text()
    else:
        assert made in [row.title for row in memory_rows(vault, "alice")]
        assert erase(vault, of_texts(vault, "alice", [text])).left == ()
        assert leftovers(vault.root, made).places == []


@pytest.mark.parametrize("is_here", [True, False])
def test_two_turns_of_one_minute_that_share_words_are_told_apart_by_their_logs(vault: Vault, is_here: bool) -> None:
    other = "I have a parrot and I am a locksmith in Thirsk."
    text = "I have a parrot and I am a locksmith in Whitby. I like gin. I sing bass."
    on_two_machines(vault, (other, "2026-01-30T10:00:10+00:00"), (text, "2026-01-30T10:00:50+00:00"), is_second=is_here)
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    log = vault.path("alice", "daily/2026-01-30.md").read_text()
    assert other in log and "Whitby" not in log
    titles = [row.title for row in memory_rows(vault, "alice")]
    assert any("parrot" in title for title in titles) and not any("gin" in title or "bass" in title for title in titles)
    assert leftovers(vault.root, "I like gin").places == leftovers(vault.root, "i-sing-bass").places == []
    assert erase(vault, of_texts(vault, "alice", [other])).left == ()
    assert leftovers(vault.root, "parrot").places == []


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_a_zone_that_is_set_later_makes_no_other_turn_of_the_one_here(vault: Vault, zone: str) -> None:
    """By it the day of the turn is another than that of its record."""
    text = "I prefer Helix and I like the light theme. I use Docker every day."
    other = "I like the dark theme and I prefer Vim over Emacs."
    one, two = (other, "2026-01-30T10:50:50+00:00"), (text, "2026-01-30T10:20:30+00:00")
    on_two_machines(vault, one, two, is_second=True)
    set_preference(vault, "alice", "timezone", zone)
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert other in vault.path("alice", "daily/2026-01-30.md").read_text()
    assert "I like the dark theme" in vault.path("alice", "feedback.jsonl").read_text()
    assert leftovers(vault.root, "I use Docker").places == []


def test_a_turn_of_another_machine_that_says_a_part_of_the_text_as_well_is_left_alone(vault: Vault) -> None:
    """Its evidence quotes only what stands in the text; its log tells that it says more."""
    text, other = "I prefer Vim over Emacs and my aunt is Orla.", "I prefer Vim over Emacs and I like red kites."
    record_turn(vault, "alice", other, "ok", created_at="2026-01-30T03:00:40+00:00")
    as_on_another_machine(vault, text, "2026-01-30T03:00:02+00:00")
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert other in vault.path("alice", "daily/2026-01-30.md").read_text()
    assert "I prefer Vim over Emacs" in vault.path("alice", "feedback.jsonl").read_text()
    assert [row.title for row in memory_rows(vault, "alice")] == [other.rstrip(".")]


def test_evidence_of_a_turn_whose_clock_is_ahead_loses_its_part(vault: Vault) -> None:
    text = "My aunt Petronella hides gold in the barn. Call me Al."
    record_turn(vault, "alice", text, "ok", created_at="2026-01-30T09:00:02+00:00")
    (first, *_) = vault.path("alice", "feedback.jsonl").read_text().splitlines()
    assert "09:00" not in first and "17:00" not in first
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    evidence = vault.path("alice", "feedback.jsonl").read_text()
    assert "Call me" not in evidence


@pytest.mark.parametrize(("zone", "minute"), [("", "08:15"), ("America/Caracas", "20:15")])
def test_the_log_of_another_machine_is_told_by_its_time_where_both_say_the_same(
    vault: Vault, zone: str, minute: str
) -> None:
    """What a change of mind has left of the text says as much as the other turn. The profile may name a zone."""
    if zone:
        set_preference(vault, "alice", "timezone", zone)
    text, other = "I live in Ripon and teach Latin.", "I teach Latin."
    first = record_turn(vault, "alice", text, "ok", created_at="2026-01-30T02:45:01+00:00").source
    record_turn(vault, "alice", "I moved to Selby last month.", "ok", created_at="2026-01-30T02:50:01+00:00")
    (log,) = vault.path("alice", "daily").iterdir()
    line = f"- {minute} {other} → done · {first}"
    log.write_text(f"{log.read_text()}{line}\n")
    path = vault.path("alice", "memories/2026-01/said_1769732102000_1d9840fc-i-teach-latin.md")
    path.write_text(f"---\nid: said_1769732102000_1d9840fc\ntype: fact\nsource: {first}\n---\nI teach Latin\n")
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert line in log.read_text() and path.read_text().endswith("\nI teach Latin\n")


@pytest.mark.parametrize("is_theirs", [True, False])
@pytest.mark.parametrize(
    ("other_at", "at"), [("00:15:02", "00:15:40"), ("00:15:40", "00:15:02"), ("00:15:02", "03:30:01")]
)
@pytest.mark.parametrize(
    ("other", "text"),
    [
        ("I prefer Vim over Emacs.", "I prefer Vim over Emacs, and call me Clementine please."),
        ("I teach Latin.", "I live in Ripon and teach Latin."),
        ("我喜歡在阿里山種高山茶。", "我喜歡在阿里山種高山茶，請叫我阿海。"),
    ],
)
def test_of_two_machines_only_what_the_text_was_said_on_loses_it(
    vault: Vault, other: str, text: str, other_at: str, at: str, is_theirs: bool
) -> None:
    """Both turns are at the same place, in the same minute or in another of the same quarters; and the text is erased
    where the record has it, or where it has the other turn."""
    ours = record_turn(vault, "alice", other, "ok", created_at=f"2026-01-30T{other_at}+00:00").source
    theirs = record_turn(vault, "alice", text, "ok", created_at=f"2026-01-30T{at}+00:00").source
    for path in vault.path("alice", ".").rglob("*.*"):
        if path.suffix in (".md", ".jsonl") and "conversations" not in path.parts:
            path.write_text(path.read_text().replace(theirs, ours))
    (record, *_) = sorted(vault.path("alice", "conversations").glob("*.jsonl"))
    first, second = record.read_text().splitlines()
    record.write_text(f"{second if is_theirs else first}\n")
    evidence = vault.path("alice", "feedback.jsonl")
    evidence.touch()
    kept = [line for line in evidence.read_text().splitlines() if other_at[3:] in line]
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    (log,) = vault.path("alice", "daily").iterdir()
    lines = [line for line in log.read_text().splitlines() if line.startswith("- ")]
    said = other.rstrip(".。")
    assert [line for line in lines if other in line] and len([line for line in lines if said in line]) == 1
    assert [row.title for row in memory_rows(vault, "alice") if "(erased)" not in row.title] == [said]
    assert [line for line in evidence.read_text().splitlines() if other_at[3:] in line] == kept
    assert text.rpartition(" ")[2] not in evidence.read_text()


@pytest.mark.parametrize("begin", ["Step one → step two.", "Tea · coffee.", "Step one → done."])
def test_a_log_tells_also_what_stands_behind_an_arrow_of_the_message(vault: Vault, begin: str) -> None:
    record_turn(vault, "alice", f"{begin}\n\nI live in Ripon\nand teach Latin.", "ok")
    as_on_another_machine(vault, "Hello.")
    assert erase(vault, of_texts(vault, "alice", ["I live in Ripon\nand teach Latin."])).left == ()
    for said in ("live in Ripon", "teach Latin", "live-in-ripon"):
        assert leftovers(vault.root, said).places == []


def test_a_turn_of_the_future_is_looked_up_in_its_record(vault: Vault) -> None:
    text = "I am a nurse\nand live in Rye."
    long = "The weather in the hills was not what we had been told. " * 12
    record_turn(vault, "alice", f"{long}{text} I keep bees.", "ok", created_at="2027-03-01T08:00:00+00:00")
    assert leftovers(vault.root, "I am a nurse").places
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert leftovers(vault.root, "I am a nurse").places == []
    assert leftovers(vault.root, "I keep bees").places


@pytest.mark.parametrize("before", [" ", "\ufeff"])
def test_lines_that_an_editor_has_moved_or_marked_lose_their_parts(vault: Vault, before: str) -> None:
    text = "I prefer Vim over Emacs, and call me Clementine please."
    record_turn(vault, "alice", text, "ok")
    evidence = vault.path("alice", "feedback.jsonl")
    evidence.write_text("".join(f"{before}{line}" for line in evidence.read_text().splitlines(keepends=True)))
    assert erase(vault, of_texts(vault, "alice", [text])).left == ()
    assert "over Emacs" not in evidence.read_text() and "Clementine please" not in evidence.read_text()
