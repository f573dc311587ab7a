"""The note of an entity: read with what a person wrote into it, and changed without losing that."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import pace
from vault_memory.core import graph
from vault_memory.core.graph import NewEntity, NewRelation, decode, encode, link, with_additions, with_descriptions
from vault_memory.core.graph.links import links_in
from vault_memory.core.notes import note
from vault_memory.errors import UsageError

AT = datetime(2026, 1, 30, 9, 12, tzinfo=UTC)
REL = "rel_1769735520000_k3"

HAND_WRITTEN = """\
---
id: entity_1769735520000_ab
type: technology
tags: [cache, db]
aliases: KV
owner: "[[Bob]]"
color: red   # mine
---
Some words about [[Linux]], `[[Code]]`, %%[[Hidden]]%% and <!-- [[Hidden]] -->.

## 觀察
- fast
* two
  lines

  and a paragraph with [[Memory|RAM]]
not indented

```
- [[Fenced]]
## Relations
- uses [[Fenced]]
```

## Relations
- depends_on [[Linux]] — sessions live there %%rel_1769735520000_k3 2026-01-30%%
- Depends on: [[C#lang|C]]
- invented_by [[Salvatore]]
- see [[Docs]]

### Later
- uses [[jemalloc]]

## Mine
- uses [[Not a relation]]
"""


def test_what_a_person_wrote_is_read() -> None:
    entity = decode(HAND_WRITTEN, "entities/Redis.md")
    assert (entity.name, entity.id, entity.type) == ("Redis", "entity_1769735520000_ab", "technology")
    assert entity.tags == ("cache", "db") and entity.aliases == ("KV",) and entity.problems == ()
    assert entity.observations == ("fast", "two\nlines\n\nand a paragraph with [[Memory|RAM]]\nnot indented")
    told = [(line.type, line.target, line.description, line.id) for line in entity.lines if not line.is_mention]
    assert told == [
        ("depends_on", "Linux", "sessions live there", REL),
        ("depends_on", "C", "", ""),
        ("uses", "jemalloc", "", ""),
    ]
    assert entity.lines[0].created_at == datetime(2026, 1, 30, 1, 12, tzinfo=UTC)  # the id says when
    mentions = {line.target for line in entity.lines if line.is_mention}
    assert mentions == {"Memory", "Salvatore", "Docs", "Linux", "Not a relation", "Bob"}


def test_a_note_with_nothing_of_ours_is_an_entity() -> None:
    entity = decode("just words\n", "entities/Redis.md")
    assert entity.name == "Redis" and entity.is_stub and not entity.id and not entity.observations
    broken = decode("---\ntype: [\n---\n- x\n", "entities/Redis.md")
    assert "not valid YAML" in broken.problems[0]
    odd = decode("---\ntype: person\ncreated_at: soon\naliases: {a: 1}\n---\n", "entities/Redis.md")
    assert [problem.partition(":")[0] for problem in odd.problems] == ["type", "created_at"] and odd.is_stub


def test_the_true_name_is_the_notes_until_somebody_renames_the_file() -> None:
    text = encode(NewEntity("src/app.py", "file"), "src-app.py", "entity_1_a", AT)
    assert decode(text, "entities/src-app.py.md").name == "src/app.py"
    assert decode(text, "entities/src-app.py 2.md").name == "src/app.py"
    assert "aliases:\n- src/app.py\n" in text
    renamed = decode(text, "entities/Application.md")
    assert renamed.name == "Application" and "src/app.py" in renamed.other_names


def test_additions_leave_every_other_line() -> None:
    text = with_additions(HAND_WRITTEN, graph.OBSERVATIONS, ["third"])
    text = with_additions(text, graph.RELATIONS, [f"uses [[X]] %%{REL} 2026-01-30%%"])
    kept = text.splitlines()
    for line in (added := "- third", relation := f"- uses [[X]] %%{REL} 2026-01-30%%"):
        kept.remove(line)
    assert kept == HAND_WRITTEN.splitlines()
    assert text.index("not indented") < text.index(added) < text.index("## Relations\n- depends")
    assert text.index("jemalloc") < text.index(relation) < text.index("## Mine")
    assert decode(text, "entities/Redis.md").observations[-1] == "third"


def test_sections_are_made_where_there_are_none_and_line_ends_stay() -> None:
    assert with_additions("words", graph.OBSERVATIONS, ["a"]) == "words\n\n## Observations\n- a\n"
    assert with_additions("", graph.OBSERVATIONS, ["a"]) == "## Observations\n- a\n"
    text = with_additions("x\r\n## Observations\r\n- a\r\n", graph.OBSERVATIONS, ["b\n\nc"])
    assert text == "x\r\n## Observations\r\n- a\r\n- b\r\n\r\n  c\r\n"
    assert decode(text, "entities/x.md").observations == ("a", "b\n\nc")


def test_a_description_comes_to_a_relation_that_has_none() -> None:
    text = f"## Relations\n- uses [[X#part|Ex]] %%{REL} 2026-01-30%%\n- uses [[Y]]\n"
    first, second = decode(text, "entities/a.md").lines
    assert with_descriptions(text, {first: "why"}) == text.replace("Ex]]", "Ex]] — why")
    assert with_descriptions(text, {second: "50%% off"}) == text.replace("[[Y]]", "[[Y]] — 50%\\% off")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    [
        "%%",
        "%\\%",
        "%%%",
        "- x",
        "# h",
        "```\ncode\n```",
        "a\n\n\n  b",
        "---",
        "[[x]]",
        "1. y",
        "    code",
        "> q",
        "* * *",
    ]
)


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_what_is_written_is_read(observations: list[str], description: str) -> None:
    try:
        new = NewEntity("Redis", "technology", observations)
        relation = NewRelation("Redis", "Linux", "uses", description)
    except UsageError:
        return
    text = encode(new, "Redis", "entity_1769735520000_ab", AT)
    text = with_additions(text, graph.RELATIONS, [graph.relation_item(relation, link("Linux", "Linux"), REL, AT)])
    entity = decode(text, "entities/Redis.md")
    assert entity.observations == new.observations and entity.created_at == AT
    (line,) = [line for line in entity.lines if not line.is_mention]
    assert (line.type, line.target, line.id, line.description) == ("uses", "Linux", REL, relation.description)
    assert line.created_at == AT and entity.problems == ()
    more = with_additions(text, graph.OBSERVATIONS, list(map(graph.observation_item, new.observations)))
    assert decode(more, "entities/Redis.md").observations == new.observations * 2


def test_a_time_that_the_id_does_not_tell_stands_in_the_note() -> None:
    item = graph.relation_item(NewRelation("a", "b", "uses"), "[[b]]", "r1", AT)
    assert item == "uses [[b]] %%r1 2026-01-30T09:12:00+00:00%%"
    assert decode(f"## Relations\n- {item}\n", "entities/a.md").lines[0].created_at == AT


def test_links_that_obsidian_sees() -> None:
    text = "[[a]] [[b|B]] [[c#h|C]] ![[d]] [[#own]] `[[no]]` ``x ` [[no]]`` %%[[no]]%% <!--[[no]]--> [[]]"
    text += " \\[[no]] [[e\\|E]]"
    assert list(links_in(text)) == [("a", ""), ("b", "B"), ("c", "C"), ("d", ""), ("e", "E")]


@pytest.mark.parametrize(
    "piece", ["[[", "`", "`` ` ", "%%", "<!--", "[[a", "\\", "[[a]]", "- [[a", "%\\", "\n- x", "\n\n", "- "]
)
def test_a_note_is_read_in_time_whatever_is_written(piece: str) -> None:
    def work(size: int) -> None:
        decode("## Relations\n- uses [[x]] " + pace.repeated(piece, size), "entities/a.md")

    pace.assert_in_proportion(work, 200_000)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("<<<<<<< HEAD", ">>>>>>> origin/main"), (note.CONFLICT_OPEN, note.CONFLICT_CLOSE)],
)
def test_marks_of_a_conflict_are_nobodys_observation_and_are_told(opening: str, closing: str) -> None:
    text = f"## Observations\n- a\n{opening}\n- b\n=======\n- c\n{closing}\n- d\n"
    entity = decode(text, "entities/a.md")
    assert entity.observations == ("a", "b", "c", "d")
    assert entity.problems == ("conflict: lines 3-7 hold two texts: keep what is right and delete the three marks",)
