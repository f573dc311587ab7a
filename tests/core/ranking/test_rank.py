from __future__ import annotations

import json

from vault_memory.core.notes.document import read
from vault_memory.core.ranking import passage, rank
from vault_memory.core.ranking.candidate import Candidate, Candidates
from vault_memory.core.text import synonyms, tokens


def candidates(question: str, notes: dict[str, str], kinds: dict[str, str] | None = None) -> Candidates:
    """What an index would hand over for a small set of notes."""
    asked = synonyms.query_terms(question)
    chunks = []
    for source, text in sorted(notes.items()):
        found = read(source, (kinds or {}).get(source, "note"), text.encode())
        head = tokens.stems(found.title)
        for position, c in enumerate(found.chunks):
            stems = [tokens.stems(c.text[segment.start : segment.end]) for segment in c.segments]
            chunks.append(
                Candidate(
                    len(chunks),
                    source,
                    found.kind,
                    str(found.day or ""),
                    position,
                    c.text,
                    c.segments,
                    stems,
                    head + tokens.stems(c.heading),
                    1.0,
                    None,
                    [(first, tokens.stems(heading)) for first, heading in c.sections],
                )
            )
    frequency = {
        term: sum(
            term in tokens.expand(" ".join([*c.stems, c.head, *(words for _, words in c.sections)])).split()
            for c in chunks
        )
        for term in (
            *asked.search_terms,
            *asked.ranking_terms,
            *(word for each in asked.synonyms for word in each.others),
        )
    }
    return Candidates(chunks, frequency, 10 * len(chunks))


def scored(question: str, notes: dict[str, str], kinds: dict[str, str] | None = None) -> list[rank.ScoredSegment]:
    found = rank.score_segments(question, synonyms.query_terms(question), candidates(question, notes, kinds))
    for segment in found:
        segment.score = segment.keyword
    return found


def best(question: str, notes: dict[str, str]) -> str:
    return max(scored(question, notes), key=lambda segment: segment.score).text


def test_the_line_that_holds_the_words_wins() -> None:
    assert best("green tea", {"a.md": "Red wine.\n\nGreen tea.\n\nBlack coffee.\n"}) == "Green tea."


def test_a_title_counts_for_all_its_lines() -> None:
    notes = {"a.md": "# Oolong\n\nThe temperature is 90.\n", "b.md": "# Rum\n\nThe temperature is 10.\n"}
    assert best("oolong temperature", notes) == "The temperature is 90."


def test_a_heading_counts_for_its_own_lines_alone() -> None:
    text = "# House\n\n## Boiler\n\n2 bar\n\n## Wi-Fi\n\nhunter2\n\nopen at night\n\n## Roof\n\ntiles\n"
    by_line = {segment.line: segment.score for segment in scored("wi-fi", {"a.md": text})}
    assert by_line[9] == by_line[11] > by_line[5] == by_line[15] == 0


def test_what_a_note_is_about_stands_in_its_first_lines() -> None:
    assert best("oolong", {"a.md": "# Oolong\n\n" + "".join(f"Word {n}.\n\n" for n in range(9))}) == "Word 0."


def test_a_long_name_counts_as_one_word_and_not_as_its_pairs() -> None:
    notes = {"a.md": "玻里尼西亞的歷史。\n\n首府與港口。\n" + "\n無關的話。\n" * 9}
    asked = tokens.query_terms("玻里尼西亞的首府與港口")
    found = candidates("玻里尼西亞的首府與港口", notes)
    weights = rank.term_weights(asked.search_terms, found)
    name = [term for term in weights if term in tokens.fold("玻里尼西亞") and len(term) == 2]
    once = rank.discount_repeats(weights, found)
    assert len(name) == 4 and sum(once[term] for term in name) < 0.8 * sum(weights[term] for term in name)
    assert once[name[0]] == weights[name[0]]


def test_the_line_after_a_question_is_its_answer() -> None:
    text = "- Ann: Filler words here.\n- Bob: Where is the harbour?\n- Ann: Behind the mill.\n- Bob: Fine weather.\n"
    by_line = {segment.line: segment.score for segment in scored("harbour", {"a.md": text})}
    assert by_line[3] > by_line[1] > 0 and by_line[3] > by_line[4]


def test_a_question_for_a_time_prefers_lines_with_one() -> None:
    notes = {"a.md": "The store opened slowly.\n\n" + "filler\n\n" * 9 + "The store opened in 1998.\n"}
    assert best("When was the store opened?", notes) == "The store opened in 1998."


def test_passages_are_whole_units_within_their_bounds() -> None:
    text = "\n".join(f"tea leaf number {n} of the harvest, with some more words to fill the line" for n in range(60))
    segments = scored("tea leaf", {"a.md": text})
    found = passage.build(segments, 5)
    taken = [n for p in found for n in range(p.first, p.last + 1)]
    assert len(taken) == len(set(taken)) and found
    assert all(sum(segments[n].length for n in range(p.first, p.last + 1)) <= 900 for p in found)


def test_a_passage_does_not_reach_over_a_row_of_empty_fields() -> None:
    fields = "\n".join(f"- Field {n}:" for n in range(6))
    segments = scored("theme dark", {"USER.md": f"# User\n\n- Theme: dark\n{fields}\n- Theme: also dark\n"})
    first = passage.build(segments, 1)[0]
    assert first.first == first.last


def test_a_short_passage_takes_its_neighbour_with_it() -> None:
    long = (
        "A line of many words that says enough by itself, for it goes on until nobody wants to read any further of it"
    )
    by_length = {}
    for seed in ("The harbour.", f"The harbour. {long}, {long.lower()}."):
        segments = scored("harbour", {"a.md": f"{seed}\n\nIt lies behind the mill.\n"})
        by_length[len(seed)] = passage.build(segments, 1)[0]
    short, alone = (found.last - found.first + 1 for _, found in sorted(by_length.items()))
    assert (short, alone) == (2, 1)


def test_of_what_a_log_and_a_record_say_the_record_is_shown_with_the_answer() -> None:
    notes = {
        "conversations/2026-01-30.jsonl": '{"user_message": "I drink oolong at noon", "assistant_message": "A lot"}\n',
        "daily/2026-01-30.md": "# 2026-01-30\n\n## 12:00\n"
        "- 12:00 I drink oolong at noon → done · conversations/2026-01-30.jsonl:1\n",
    }
    kinds = {"conversations/2026-01-30.jsonl": "conversation", "daily/2026-01-30.md": "daily"}
    segments = scored("oolong noon", notes, kinds)
    found = passage.build(segments, 5)
    assert [p.seed.candidate.source for p in found] == ["conversations/2026-01-30.jsonl"]
    assert segments[found[0].last].text == "A lot" and found[0].repeated_at == ["daily/2026-01-30.md:4"]


def test_what_a_person_has_noted_of_a_conversation_is_shown_and_not_its_record() -> None:
    """A log that holds all that was said, as another program writes it: a note is what a person reads."""
    notes = {
        "conversations/2026-01-30.jsonl": '{"user_message": "I drink oolong at noon", "assistant_message": "ok"}\n',
        "daily/2026-01-30.md": "# 2026-01-30\n\n- user: I drink oolong at noon\n- assistant: ok\n",
    }
    kinds = {"conversations/2026-01-30.jsonl": "conversation", "daily/2026-01-30.md": "daily"}
    found = passage.build(scored("oolong noon", notes, kinds), 5)
    assert [p.seed.candidate.source for p in found] == ["daily/2026-01-30.md"]
    assert found[0].repeated_at == ["conversations/2026-01-30.jsonl:1"]


def test_of_a_record_one_turn_is_shown_and_nothing_of_those_beside_it() -> None:
    said = [("where is the spare key", "Under the pot."), ("when is the train to Leeds", "At 9:40."), ("who?", "Me.")]
    rows = [json.dumps({"user_message": asked, "assistant_message": told}) for asked, told in said]
    notes = {"conversations/2026-01-30.jsonl": "\n".join(rows) + "\n"}
    segments = scored("train Leeds", notes, {"conversations/2026-01-30.jsonl": "conversation"})
    found = passage.build(segments, 1)[0]
    assert [each.text for each in segments[found.first : found.last + 1]] == ["when is the train to Leeds", "At 9:40."]


def test_an_answer_in_a_line_of_its_own_is_shown_too() -> None:
    lines = ['{"user_message": "which wine"}', '{"assistant_message": "Soave"}', '{"user_message": "thanks"}']
    whole = '{"user_message": "which wine", "assistant_message": "Soave"}'
    for said in (lines, [whole, *lines[2:]]):
        assert shown("\n".join(said) + "\n") == ["which wine", "Soave"]


def shown(record: str) -> list[str]:
    """The best passage for «wine» of a record."""
    notes = {"conversations/2026-01-30.jsonl": record}
    segments = scored("wine", notes, {"conversations/2026-01-30.jsonl": "conversation"})
    found = passage.build(segments, 1)[0]
    return [each.text for each in segments[found.first : found.last + 1]]


def test_the_same_words_on_another_day_are_another_thing() -> None:
    notes = {f"daily/2026-01-{day}.md": "- user: I drink oolong at noon\n" for day in (29, 30)}
    assert len(passage.build(scored("oolong noon", notes), 5)) == 2


def test_without_common_words_nothing_is_scored() -> None:
    assert passage.build(scored("zeppelin", {"a.md": "Green tea.\n"}), 5) == []


def test_a_synonym_counts_as_the_word_that_was_asked_for_and_for_less() -> None:
    notes = {"a.md": "Deploy on Monday.\n", "b.md": "週一部署。\n", "c.md": "週一部署, deploy.\n", "d.md": "Nothing.\n"}
    found = {segment.candidate.source: segment for segment in scored("deploy", notes)}
    assert found["a.md"].own_terms.keys() == found["b.md"].own_terms.keys() == {"deploi"}
    assert found["a.md"].score > found["b.md"].score > found["d.md"].score == 0
    assert found["c.md"].own_terms == {"deploi": max(found["c.md"].own_terms.values())}, "both count once"


def test_a_chinese_word_weighs_no_more_in_english_for_its_many_pairs() -> None:
    notes = {"a.md": "The kindergarten.\n", "b.md": "The teacher.\n"}
    assert len({round(segment.score, 9) for segment in scored("幼稚園老師", notes)}) == 1
