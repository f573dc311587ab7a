"""B2: what is to be added to a graph's notes is gathered, and each note is made once."""

from __future__ import annotations

from datetime import UTC, datetime

from tests import pace
from vault_memory.core.graph import Entity, Graph, NewEntity, NewObservations, NewRelation, decode
from vault_memory.services.graph.sheet import Outcome, Sheet

AT = datetime(2026, 1, 30, tzinfo=UTC)
HUB = (
    b"---\nid: entity_1_a\nname: Hub\n---\n"
    b"## Observations\n- old\n\n## Relations\n- uses [[N0]]\n- uses [[Gone]]\n\n## More\n"
)


def sheet_of(count: int) -> Sheet:
    """A sheet on a graph of a hub and so many others; only the hub has a note that can be read."""
    others = [Entity(f"N{number}", f"entities/N{number}.md", id=f"entity_{number}_b") for number in range(count)]
    known = Graph((decode(HUB.decode(), "entities/Hub.md"), *others))
    return Sheet(
        known, lambda source: HUB if source == "entities/Hub.md" else None, AT, lambda kind, what: f"{kind}_1_a"
    )


def test_relations_of_a_hub_take_a_time_in_proportion_to_their_number() -> None:
    def work(count: int) -> None:
        sheet = sheet_of(count)
        for number in range(count):
            sheet.add(number, NewRelation("Hub", f"N{number}", "uses", f"for {number}"), makes_stubs=True)
            sheet.add(count + number, NewObservations("Hub", [f"seen {number}"]), makes_stubs=True)
        outcomes = sheet.outcomes()
        assert all(isinstance(outcomes[number], Outcome) for number in range(2 * count))
        (after,) = (new for _, new in sheet.changes.values())
        made = decode(after.decode(), "entities/Hub.md")
        assert len(made.observations) == count + 1 and len(made.lines) == count + 1

    pace.assert_in_proportion(work, 1_200)


def test_a_relation_that_is_planned_is_known_to_the_next_one() -> None:
    """Without a description it gets one; said again nothing is new; one to what was deleted is no second one."""
    sheet = sheet_of(3)
    additions = [
        NewRelation("Hub", "N1", "uses"),
        NewRelation("hub", "n1", "uses", "for tests"),
        NewRelation("Hub", "N1", "uses", "for tests"),
        NewRelation("Hub", "N1", "extends"),
        NewRelation("Hub", "N0", "uses", "first"),
        NewRelation("Hub", "Gone", "uses"),
        NewRelation("Hub", "Gone", "uses", "then"),
        NewEntity("Hub", None, ["old", "new"], ["tag"]),
    ]
    for number, each in enumerate(additions):
        sheet.add(number, each, makes_stubs=True)
    outcomes = [each for each in sheet.outcomes().values() if isinstance(each, Outcome)]
    assert [each.is_new for each in outcomes] == [True, True, False, True, True, True, True, True]
    assert [each.stubs for each in outcomes if each.stubs] == [("Gone",)]
    assert all(each.entity == outcomes[0].entity for each in outcomes), "as it is with all of them"
    text = sheet.changes["entities/Hub.md"][1].decode()
    assert text.endswith(
        "## Observations\n- old\n- new\n\n## Relations\n- uses [[N0]] — first\n- uses [[Gone]] — then\n"
        "- uses [[N1]] — for tests %%rel_1_a 2026-01-30T00:00:00+00:00%%\n"
        "- extends [[N1]] %%rel_1_a 2026-01-30T00:00:00+00:00%%\n\n## More\n"
    )


def test_a_link_leads_to_a_file_that_is_planned_before_it_leads_to_a_name() -> None:
    """`C#` gets the file `C-`, which is an alias of another entity: a relation to each is new."""
    clang = Entity("Clang", "entities/Clang.md", id="entity_1_c", aliases=("C-",), other_names=("C-",))
    sheet = Sheet(
        Graph((decode(HUB.decode(), "entities/Hub.md"), clang)), lambda _: HUB, AT, lambda kind, what: f"{kind}_1_a"
    )
    for number, name in enumerate(("C#", "C-", "C#", "Clang")):
        sheet.add(number, NewRelation("Hub", name, "uses"), makes_stubs=True)
    outcomes = [each for each in sheet.outcomes().values() if isinstance(each, Outcome)]
    assert [each.is_new for each in outcomes] == [True, True, False, False]
    assert [each.relation and each.relation.to_name for each in outcomes] == ["C#", "Clang", "C#", "Clang"]
