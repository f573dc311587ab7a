"""Merging journals: every entry is there once, whatever was merged with what before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.diary import daily
from vault_memory.core.merging import carry_over
from vault_memory.core.merging.journal_merge import merge_journal
from vault_memory.core.notes import note
from vault_memory.core.notes.entries import appended, conversation_in, request_in

TITLE = daily.title(date(2026, 1, 30))
DAILY = PurePosixPath("memory/alice/daily/2026-01-30.md")
TEN = datetime(2026, 1, 30, 10, tzinfo=UTC)


def entry(request: str, *learned: str, minute: int = 0) -> str:
    """An entry as older versions wrote it, and as a person may: one request, a line for each fact."""
    facts = [("請求", request), ("萃取偏好", "；".join(learned))]
    lines = [f"- {label}：{fact}\n" for label, fact in facts if fact]
    return "".join([f"## {TEN + timedelta(minutes=minute):%H:%M}\n", *lines])


def log(*entries: str) -> str:
    text = TITLE
    for each in entries:
        text = appended(text, TITLE, each)
    return text


TALKS = ("1a2b3c4d", "5e6f7a8b")


def requests(text: str) -> list[str]:
    return re.findall(r"(?m)^- 請求：(.*)$", text)


# Any number of machines ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Commit:
    """A state of the log in the history of all machines, with all that it follows."""

    text: str
    parents: tuple[Commit, ...] = ()
    before: frozenset[Commit] = frozenset()

    def then(self, text: str, *others: Commit) -> Commit:
        parents = (self, *others)
        return Commit(text, parents, frozenset(parents).union(*(each.before for each in parents)))

    def has(self, other: Commit) -> bool:
        return self is other or other in self.before


@dataclass
class Machines:
    """Machines that write a log and take each other's commits in, as git knows them."""

    data: st.DataObject
    heads: list[Commit]
    count: int = 0
    minute: int = 0
    remarks: list[str] = field(default_factory=list)
    asked: dict[int, list[daily.Request]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def append(self, at: int) -> None:
        self.minute += self.data.draw(st.sampled_from([0, 0, 0, 1]))
        self.count += 1
        learned = ["tools += Vim"] * self.data.draw(st.integers(0, 1))
        said = entry(f"n{99 - self.count}", *learned, minute=self.minute)  # by their text they sort against the time
        text = appended(self.heads[at].text, TITLE, said)
        self.heads[at] = self.heads[at].then(text)

    def ask(self, at: int) -> None:
        """Each machine counts the lines of its own record."""
        self.minute += self.data.draw(st.sampled_from([0, 0, 1, 40]))
        self.count += 1
        own = self.asked.setdefault(at, [])
        place, talk = f"conversations/2026-01-30.jsonl:{len(own) + 1}", self.data.draw(st.sampled_from(["", *TALKS]))
        said = daily.Request(TEN + timedelta(minutes=self.minute), f"r{99 - self.count} · x → y", place, talk)
        own.append(said)
        self.heads[at] = self.heads[at].then(daily.with_request(self.heads[at].text, said, "zh-TW"))

    def answer(self, at: int) -> None:
        waiting = [each for each in self.asked.get(at, []) if each.words not in self.answered]
        if waiting:
            reply = replace(self.data.draw(st.sampled_from(waiting)), came="成功", learned=("tools += Vim",))
            self.answered.add(reply.words)
            self.heads[at] = self.heads[at].then(daily.with_reply(self.heads[at].text, reply, "zh-TW"))

    def remark(self, at: int) -> None:
        """The person of this machine writes a line below one of the entries."""
        lines = self.heads[at].text.split("\n")
        self.remarks.append(f"remark {len(self.remarks)}")
        lines.insert(self.data.draw(st.integers(1, len(lines))), self.remarks[-1])
        self.heads[at] = self.heads[at].then("\n".join(lines))

    def take_in(self, at: int, other: int) -> None:
        ours, theirs = self.heads[at], self.heads[other]
        if ours.has(theirs):
            return
        if theirs.has(ours):
            self.heads[at] = theirs
            return
        shared = [each for each in ours.before if theirs.has(each)]
        bases = [each for each in shared if not any(each in other.before for other in shared)]
        base = self.data.draw(st.sampled_from(sorted(bases, key=lambda each: each.text)))
        merged = merge_journal(base.text, ours.text, theirs.text)
        assert not merged.conflicts and not note.conflicts_in(merged.text)
        self.heads[at] = ours.then(merged.text, theirs)


def history_of(data: st.DataObject, kinds: list[str]) -> Machines:
    machines = Machines(data, [Commit(log(entry("n99")))] * data.draw(st.integers(2, 3)))
    machine = st.integers(0, len(machines.heads) - 1)
    for kind in data.draw(st.lists(st.sampled_from(kinds), max_size=40)):
        at = data.draw(machine)
        if kind == "append":
            machines.append(at)
        elif kind in ("remark", "ask", "answer"):
            getattr(machines, kind)(at)
        else:
            machines.take_in(at, data.draw(machine))
    last = len(machines.heads) - 1
    for at in range(last):
        machines.take_in(at + 1, at)
    for at in range(last):
        machines.take_in(at, last)
    assert len({head.text for head in machines.heads}) == 1
    return machines


@settings(deadline=None)
@given(st.data())
def test_appended_entries_are_there_once_however_often_they_are_merged(data: st.DataObject) -> None:
    """Also where two machines merged the same commits, so that a merge has several bases."""
    machines = history_of(data, ["append", "append", "append", "take in"])
    text = machines.heads[0].text
    assert sorted(requests(text)) == sorted(f"n{n}" for n in range(99 - machines.count, 100))
    times = re.findall(r"(?m)^## (.*)$", text)
    assert times == sorted(times) and text == log(*re.findall(r"(?m)^## .*\n(?:- .*\n)*", text))


@settings(deadline=None)
@given(st.data())
def test_what_a_person_wrote_between_the_entries_is_not_lost(data: st.DataObject) -> None:
    machines = history_of(data, ["append", "append", "remark", "take in"])
    lines = machines.heads[0].text.split("\n")
    assert {f"- 請求：n{n}" for n in range(99 - machines.count, 100)} <= {*lines}
    assert {*machines.remarks} <= {*lines}


def told(text: str) -> dict[str, tuple[str, str, str]]:
    """By what was asked: the conversation of the entry, the time, and the whole line."""
    found: dict[str, tuple[str, str, str]] = {}
    conversation = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            conversation = conversation_in(line)
        elif request := request_in(line):
            assert request.words not in found, "it is there once"
            found[request.words] = (conversation, request.time, line)
    return found


@settings(deadline=None)
@given(st.data())
def test_a_conversation_that_goes_on_on_two_machines_is_whole(data: st.DataObject) -> None:
    """A3: each request once, in its conversation, in order of time, with what came of it; no marks."""
    machines = history_of(data, ["append", "ask", "ask", "ask", "answer", "take in"])
    text = machines.heads[0].text
    asked = {each.words.partition(" ")[0]: each for own in machines.asked.values() for each in own}
    lines = told(text)
    assert lines.keys() == asked.keys()
    for words, (conversation, time, line) in lines.items():
        assert (conversation, time) == (asked[words].conversation, f"{asked[words].at:%H:%M}")
        answer = " → 成功 · 萃取偏好：tools += Vim" if asked[words].words in machines.answered else ""
        assert line == f"- {time} {asked[words].words}{answer} · {asked[words].source}"
    for entry in re.split(r"(?m)^(?=## )", text)[1:]:
        times = re.findall(r"(?m)^- (\d\d:\d\d)", entry)
        assert times == sorted(times) and "\n\n- " not in entry


@settings(deadline=None)
@given(st.data())
def test_what_a_person_wrote_between_the_requests_is_not_lost(data: st.DataObject) -> None:
    machines = history_of(data, ["ask", "ask", "answer", "remark", "take in"])
    text = machines.heads[0].text
    words = {each.words.partition(" ")[0] for own in machines.asked.values() for each in own}
    assert words <= {*re.findall(r"(?m)^- \d\d:\d\d (\w+)", text)} and {*machines.remarks} <= {*text.split("\n")}


# Three states -------------------------------------------------------------------------------------------------------


def test_an_entry_that_a_merge_has_moved_is_the_same_entry() -> None:
    """A merge by line took it for removed here and new there: three marks, or the entry twice."""
    first, second, new = entry("n9", "languages = Kotlin (strong)"), entry("n13"), entry("n16")
    base, ours, theirs = log(first, second), log(first, second, new), log(second, first)
    for one, other in ((ours, theirs), (theirs, ours)):
        merged = merge_journal(base, one, other)
        assert sorted(requests(merged.text)) == ["n13", "n16", "n9"] and not merged.conflicts


def test_entries_of_one_minute_keep_the_order_in_which_they_were_said() -> None:
    base, mine, yours = log(entry("n0")), [entry(f"m{n}") for n in (9, 10, 1)], [entry(f"k{n}") for n in (2, 1)]
    merged = merge_journal(base, log(entry("n0"), *mine), log(entry("n0"), *yours))
    for said in (["m9", "m10", "m1"], ["k2", "k1"]):
        assert [each for each in requests(merged.text) if each in said] == said
    assert merge_journal(base, log(entry("n0"), *yours), log(entry("n0"), *mine)) == merged, "on both machines"


def test_without_a_common_ancestor_what_both_have_is_there_once() -> None:
    shared, mine, yours = (entry(text, minute=at) for text, at in (("both", 0), ("mine", 1), ("yours", 2)))
    remark = shared + "my remark\n"
    assert merge_journal(None, log(remark, mine), log(shared, yours)).text == log(remark, mine, yours)
    assert merge_journal(None, log(shared, yours), log(remark, mine)).text == log(remark, mine, yours)


def test_the_same_words_with_another_outcome_are_another_entry() -> None:
    base = log(entry("n0"))
    mine, yours = entry("好"), entry("好", "tools += Vim")
    merged = merge_journal(base, base + "\n" + mine + "\n" + mine, base + "\n" + mine + "\n" + yours)
    assert merged.text.count(mine + "\n" + mine) == 1 and merged.text.count(yours) == 1


def test_both_sides_remarks_on_one_entry_stay_without_a_mark() -> None:
    first, last = entry("n0"), entry("n1", minute=5)
    ours, theirs = log(first + "my remark\n", last), log(first + "your remark\n", last, entry("n2", minute=6))
    merged = merge_journal(log(first, last), ours, theirs)
    assert merged.text == log(first + "my remark\nyour remark\n", last, entry("n2", minute=6)) and not merged.conflicts


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("A", "B"), ("", "B"), ("## 10:00\nA\n", "## 10:00\nB\n"), ("## 早\nA\n", "## 晚\nB\n")],
    ids=["a line", "gone here", "the request", "the heading"],
)
def test_what_both_people_changed_by_hand_is_theirs_to_decide(ours: str, theirs: str) -> None:
    """The block stays one block, in the merges that follow too."""
    before, after, new = entry("n0"), entry("n2", minute=2), entry("n3", minute=1)
    touched = entry("n1", "tools += Vim")

    def by(hand: str) -> str:
        return hand if hand.startswith("##") or not hand else touched.replace("n1", hand)

    base = log(before, touched, after)
    mine, yours = (log(*[each for each in (before, by(hand), after) if each]) for hand in (ours, theirs))
    merged = merge_journal(base, mine, yours)
    assert merged.conflicts == 1
    ((first, last),) = note.conflicts_in(merged.text)
    block = merged.text.split("\n")[first - 1 : last]
    later = merge_journal(merged.text, appended(merged.text, TITLE, new), merged.text + "\nsaid by hand\n")
    ((first, last),) = note.conflicts_in(later.text)
    assert later.text.split("\n")[first - 1 : last] == block and not later.conflicts
    assert "n3" in requests(later.text) and "said by hand" in later.text


def test_an_entry_is_known_by_its_first_request_also_below_a_persons_words() -> None:
    """Both people wrote below the heading, and the request got its reply on one machine."""
    asked = daily.Request(TEN, "r1 · x → y", "conversations/2026-01-30.jsonl:1", TALKS[0])
    base = daily.with_request(TITLE, asked, "zh-TW")
    heading = next(line for line in base.split("\n") if line.startswith("## "))
    replied = daily.with_reply(base, replace(asked, came="成功"), "zh-TW")
    mine, yours = (
        text.replace(heading, f"{heading}\n{remark}") for text, remark in ((replied, "mine"), (base, "yours"))
    )
    for one, other, remarks in ((mine, yours, "mine\nyours"), (yours, mine, "yours\nmine")):
        merged = merge_journal(base, one, other)
        assert merged.text == replied.replace(heading, f"{heading}\n{remarks}") and not merged.conflicts


def test_what_one_person_removed_moved_or_wrote_is_as_they_left_it() -> None:
    entries = [entry(f"n{n}", minute=n) for n in range(4)]
    new = entry("n9", minute=9)
    ours = log(entries[2], "## 我的話\n不是時間\n", entries[0], entries[3] + "\n\n\nmy remark\n")
    merged = merge_journal(log(*entries), ours, log(*entries, new))
    assert merged.text == ours + "\n" + new
    assert merge_journal(log(*entries), log(*entries, new), ours).text == ours + "\n" + new


def test_an_entry_that_both_moved_and_named_anew_is_there_once() -> None:
    """It is known by its lines: neither its name nor the entry before it is the same."""
    first, second = entry("好"), entry("好", "tools += Vim", minute=5)
    renamed, worded = re.sub("^## .*", "## 早", second), second.replace("請求：好", "請求：好的")
    for one, other in ((renamed, worded), (worded, renamed)):
        merged = merge_journal(log(first, second), log(one, first), log(other, first))
        assert merged.text == log(renamed.replace("請求：好", "請求：好的"), first) and not merged.conflicts


@st.composite
def arranged(draw: st.DrawFn, entries: list[str], side: str) -> str:
    """What a person makes of a log by hand: entries named anew, moved, with remarks, and new ones between them."""
    now = list(entries)
    for number, edit in enumerate(draw(st.lists(st.sampled_from("nmra"), max_size=5))):
        at = draw(st.integers(0, len(now) - 1))
        if edit == "n":
            now[at] = re.sub("^## .*", f"## {side}{number}", now[at])
        elif edit == "m":
            now.insert(draw(st.integers(0, len(now) - 1)), now.pop(at))
        elif edit == "r":
            lines = now[at].split("\n")
            lines.insert(draw(st.integers(1, len(lines) - 1)), f"remark {side}{number}")
            now[at] = "\n".join(lines)
        else:
            now.insert(at, entry(f"{side}{number}", minute=draw(st.integers(0, 3))))
    return log(*now)


@settings(deadline=None)
@given(st.data())
def test_however_people_arrange_a_log_each_entry_is_there_once(data: st.DataObject) -> None:
    entries = [entry(f"n{n}", minute=data.draw(st.integers(0, 3))) for n in range(data.draw(st.integers(1, 4)))]
    ours, theirs = (data.draw(arranged(entries, side)) for side in "ot")
    merged = merge_journal(log(*entries), ours, theirs)
    for request in requests(ours + theirs):
        count = requests(merged.text).count(request)
        assert count == 1 or (merged.conflicts and 0 < count <= 2)
    assert {line for line in (ours + theirs).split("\n") if "remark" in line} <= {*merged.text.split("\n")}


def test_a_change_is_carried_by_entry() -> None:
    """What was made on the file before others' entries came between, and is there already, is not made twice."""
    n0, n1, n2, other = (entry(f"n{n}", minute=n // 2) for n in range(4))
    before, after = log(n0), log(n0, n1, n2)

    def carried(onto: str) -> str:
        return carry_over(DAILY, before.encode(), after.encode(), onto.encode()).decode()

    assert carried(log(n0, n1, other, n2)) == log(n0, n1, other, n2)
    assert carried(log(other, n0)) == log(other, n0, n1, n2)
    assert carried(log(n0 + "a remark\n", other)).count("a remark\n") == 1


def talk(*requests: tuple[int, str], came: str = "", text: str = "") -> str:
    for minute, words in requests:
        said = daily.Request(
            TEN + timedelta(minutes=minute), words, f"conversations/2026-01-30.jsonl:{minute}", TALKS[0]
        )
        text = daily.with_request(text, replace(said, came=came), "zh-TW")
    return text


def test_what_was_asked_after_a_person_took_the_entry_out_has_its_heading() -> None:
    """Else it would stand in the conversation before it."""
    base = log(entry("n0")) + talk((1, "a"), (2, "b")).removeprefix(TITLE)
    for merged in (
        merge_journal(base, log(entry("n0")), talk((3, "c"), text=base)),
        merge_journal(base, talk((3, "c"), text=base), log(entry("n0"))),
    ):
        assert not merged.conflicts
        assert merged.text == log(
            entry("n0"), f"## 10:01 %%{TALKS[0]}%%\n- 10:03 c · conversations/2026-01-30.jsonl:3\n"
        )


def test_a_waiting_request_is_carried_into_its_conversation_or_one_begun_anew() -> None:
    before = talk((1, "a"), (2, "b"))
    after = talk((4, "c"), text=before)

    def carried(onto: str) -> str:
        return carry_over(DAILY, before.encode(), after.encode(), onto.encode()).decode()

    other = talk((3, "x"), text=before)
    assert carried(other) == talk((1, "a"), (2, "b"), (3, "x"), (4, "c"))
    assert carried(after) == after and carried(talk((1, "a"))) == talk((1, "a"), (4, "c"))
    elsewhere = log(entry("n0"))
    new = f"## 10:01 %%{TALKS[0]}%%\n- 10:04 c · conversations/2026-01-30.jsonl:4\n"
    assert carried(elsewhere) == log(entry("n0"), new)


def test_an_entry_whose_only_request_is_completed_goes_on() -> None:
    base = talk((1, "a"))
    ended = base.replace("a ·", "a → 成功 ·")
    both = talk((2, "b"), text=ended)
    for one, other in ((ended, talk((2, "b"), text=base)), (talk((2, "b"), text=base), ended)):
        assert merge_journal(base, one, other).text == both


def test_two_requests_of_one_place_are_told_apart_by_their_words() -> None:
    """Each machine counts the lines of its own record. Both sides have the file anew."""
    first = talk((0, "first"))
    mine, yours = (daily.Request(TEN, words, "conversations/2026-01-30.jsonl:1", TALKS[0]) for words in ("m", "y"))
    theirs = daily.with_request(first, yours, "en")
    ours = daily.with_request(daily.with_request(first, mine, "en"), yours, "en")
    ended = daily.with_reply(ours, replace(yours, came="done"), "en")
    assert merge_journal(None, ended, theirs).text == ended == merge_journal(None, theirs, ended).text


def test_a_remark_on_a_request_and_what_came_of_it_meet() -> None:
    base = talk((1, "a"), (2, "b"))
    remark, ended = base.replace("jsonl:1\n", "jsonl:1\n  - mine\n"), base.replace("a ·", "a → 成功 ·")
    both = ended.replace("jsonl:1\n", "jsonl:1\n  - mine\n")
    assert merge_journal(base, remark, ended).text == both == merge_journal(base, ended, remark).text


def test_both_peoples_words_for_one_request_are_theirs_to_decide() -> None:
    base = talk((1, "a"), (2, "b"))
    merged = merge_journal(base, base.replace("a ·", "A ·"), talk((3, "c"), text=base.replace("a ·", "B ·")))
    ((first, last),) = note.conflicts_in(merged.text)
    assert merged.conflicts == 1 and "- 10:03 c" in merged.text
    later = merge_journal(merged.text, talk((9, "d"), text=merged.text), merged.text.replace("b ·", "b → 成功 ·"))
    assert later.text.split("\n")[first - 1 : last] == merged.text.split("\n")[first - 1 : last] and not later.conflicts
    assert "- 10:09 d" in later.text and "b → 成功 ·" in later.text
    later = merge_journal(base, merged.text, base.replace("a ·", "a → 成功 ·"))
    assert (
        len(note.conflicts_in(later.text)) == 2 and "\n".join(merged.text.split("\n")[first - 1 : last]) in later.text
    )
    merged = merge_journal(base, base.replace("a ·", "A ·"), base.replace("b ·", "b → 成功 ·"))
    assert merged.text == base.replace("a ·", "A ·").replace("b ·", "b → 成功 ·") and not merged.conflicts


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["## 10:00\n", "## 10:00\n- {}\n", "## {}\n"], ids=["equal", "one time", "no time"])
def test_a_long_journal_is_merged_in_proportion(shape: str) -> None:
    def merge(size: int) -> None:
        lines = [shape.format(n) for n in range(size)]
        base, ours, theirs = ("\n".join(part) for part in (lines[::2], lines[::-1], lines[1::3]))
        merge_journal(base, ours, theirs)
        merge_journal(None, ours, theirs)

    assert_in_proportion(merge, 4_000)


def test_an_entry_whose_only_request_both_sides_word_anew_is_one_with_marks() -> None:
    """It was two whole entries, without marks."""
    line = "- 10:00 walked{} → done · conversations/2026-01-30.jsonl:1"
    text = f"{TITLE}\n## 10:00\n{line}\n"
    merged = merge_journal(text.format(""), text.format(" (home)"), text.format(" (office)")).text
    assert merged.count("## 10:00") == 1 and note.conflicts_in(merged) == [(4, 8)]
    assert all(merged.count(line.format(words)) == 1 for words in (" (home)", " (office)"))
