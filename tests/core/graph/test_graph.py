"""Entities together: whom a name means, search, neighbourhoods, paths, and the graph as text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.graph import Entity, Graph, Line, decode, drawing

FOLDER = "memory/alice/entities"


def entity(stem: str, body: str = "", **meta: Any) -> Entity:
    front = "".join(f"{key}: {value}\n" for key, value in meta.items())
    return decode(f"---\n{front}---\n{body}", f"entities/{stem}.md")


def graph(*entities: Entity) -> Graph:
    return Graph(entities, FOLDER)


def to(target: str) -> Line:
    return Line("uses", target)


def relations(body: str) -> str:
    return "## Relations\n" + body


def told(found: Graph) -> list[tuple[str, str, str]]:
    return [(each.from_name, "mentions" if each.is_mention else each.type, each.to_name) for each in found.relations]


def test_a_name_means_one_entity() -> None:
    """By its name, then other names, then its id; of two with one name the older. A file is found by links alone."""
    redis = entity("Redis", aliases="[KV, Cache]", id="entity_1_a", created_at="2026-01-02")
    cache = entity("Cache", created_at="2026-01-03")
    slash = entity("a-b", name="a/b")
    plain = entity("a-b 2", name="a-b")
    twin = entity("redis", created_at="2026-01-01")
    found = graph(redis, cache, slash, plain)
    assert found.find("ＲＥＤＩＳ") is redis and found.find("kv") is redis and found.find("entity_1_a") is redis
    assert found.find("cache") is cache and found.find("nobody") is None
    assert found.find("a/b") is slash and found.find("a-b") is plain and found.linked(to("a-b")) is slash
    assert graph(slash).find("a-b") is None and graph(slash).linked(to("a-b")) is slash
    assert found.find("a-b 2") is None and found.linked(to("entities/a-b 2")) is plain
    both = graph(redis, twin)
    assert both.find("Redis") is twin and not both.problems and not found.twins
    assert both.twins[0].startswith(
        "entities/redis.md and entities/Redis.md have one name, 'Redis', which means the first"
    )


def test_links_lead_to_notes_of_this_user_alone() -> None:
    redis = entity("Redis", aliases="[KV]")
    found = graph(redis)
    for target in ("Redis", "redis", "Redis.md", "entities/Redis", "memory/alice/entities/Redis", "./Redis", "KV"):
        assert found.linked(to(target)) is redis, target
    for target in ("memory/bob/entities/Redis", "bob/entities/Redis", "ies/Redis", "notes/Redis", "/", ""):
        assert found.linked(to(target)) is None, target


def test_a_renamed_entity_keeps_its_relations() -> None:
    """Whether Obsidian has updated the link or not."""
    redis = entity("Valkey", name="Redis")
    one = entity("A", relations("- uses [[Redis]] — old link\n- depends_on [[Valkey]] — updated\n"))
    assert told(graph(redis, one)) == [("A", "uses", "Valkey"), ("A", "depends_on", "Valkey")]
    assert not any(each.is_dangling for each in graph(redis, one).relations)


def test_links_that_a_person_wrote_are_mentions() -> None:
    """Of entities, once each, and not beside a relation to the same one; links to other notes are nothing here."""
    a = entity("A", "see [[B]], [[b|again]], [[A]], [[Home]], [[C]]\n\n" + relations("- uses [[B]]\n"))
    assert told(graph(a, entity("B"), entity("C"))) == [("A", "uses", "B"), ("A", "mentions", "C")]


def test_an_entity_that_is_gone_stays_named() -> None:
    a = entity("A", relations("- uses [[gone|Gone Thing]]\n- uses [[memory/bob/entities/X]]\n"))
    found = graph(a)
    assert [(each.to_name, each.is_dangling) for each in found.relations] == [("Gone Thing", True), ("X", True)]
    assert [each.to_name for each in found.around(a).relations] == ["Gone Thing", "X"]


SEARCHED = [
    entity("auth"),
    entity("AuthService"),
    entity("login auth"),
    entity("oauth"),
    entity("Gate", aliases="[Authority]"),
    entity("T", tags="[auth]"),
    entity("U", tags="[x-auth-y]"),
    entity("O", "## Observations\n- Handles user Authentication\n"),
    entity("Words", "## Observations\n- the service is not for auth\n"),
    entity("None"),
]


def test_search_finds_every_place_and_orders_them() -> None:
    """B2: a substring in name, alias, tag or observation; "aut" finds "auth"."""
    found = graph(*SEARCHED)
    names = [each.name for each in found.search("AUTH")]
    assert names == ["auth", "AuthService", "login auth", "oauth", "Gate", "T", "U", "O", "Words"]
    assert {each.name for each in found.search("aut")} == {*names}
    assert [each.name for each in found.search("service auth")] == ["AuthService", "Words"]
    assert len(found.search("")) == len(SEARCHED) and found.search("zzz") == []


def test_search_knows_both_scripts_and_widths() -> None:
    found = graph(entity("資料庫"), entity("Ｒｅｄｉｓ"))
    assert found.search("资料")[0].name == "資料庫" and found.search("redi")[0].name == "Ｒｅｄｉｓ"
    for name, query in (
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("Café", "cafe"),
        ("カフェ", "ｶﾌｪ"),
        ("①②", "12"),
    ):
        assert [each.name for each in graph(entity(name)).search(query)] == [name]


@given(
    st.lists(st.text("aAbB ｂ資资é", min_size=1, max_size=8), min_size=1, max_size=6), st.text("aAbｂ资é", max_size=3)
)
def test_search_loses_nothing_that_the_substring_finds(texts: list[str], query: str) -> None:
    found = graph(
        *(
            Entity(name=text, source=f"entities/{n}.md", observations=(text[::-1],), tags=(text[1:],))
            for n, text in enumerate(texts)
        )
    )
    hits = {each.source for each in found.search(query)}
    for each in found.entities:
        if any(query.lower() in text.lower() for text in (each.name, *each.observations, *each.tags)):
            assert each.source in hits


CIRCLE = graph(
    entity("A", relations("- uses [[B]]\n- uses [[A]]\n- depends_on [[B]] — twice\n")),
    entity("B", relations("- uses [[C]]\n")),
    entity("C", relations("- extends [[A]]\n- uses [[D]]\n")),
    entity("D", relations("- uses [[Gone]]\n")),
    entity("Alone"),
)


def named(name: str) -> Entity:
    found = CIRCLE.find(name)
    assert found is not None
    return found


def test_neighbourhoods_go_along_and_against_relations() -> None:
    assert [each.name for each in CIRCLE.around(named("A")).entities] == ["A", "B", "C"]
    assert {each.name for each in CIRCLE.around(named("D"), 2).entities} == {"D", "C", "A", "B"}
    assert CIRCLE.around(named("Alone"), 20).entities == (named("Alone"),)
    assert [(r.from_name, r.to_name) for r in CIRCLE.around(named("D")).relations] == [("C", "D"), ("D", "Gone")]


def test_paths_through_circles() -> None:
    def way(begin: str, end: str) -> list[tuple[str, str, str]] | None:
        found = CIRCLE.path(named(begin), named(end))
        return None if found is None else [(each.from_name, each.type, each.to_name) for each in found]

    assert way("D", "B") == [("C", "uses", "D"), ("B", "uses", "C")]
    assert way("A", "B") == [("A", "uses", "B")]
    assert way("A", "A") == [] and way("A", "Alone") is None


HOSTILE = [
    'a"]; click n0 "javascript:alert(1)"',
    "x\\",
    "</b><script>",
    "資料庫",
    "a`b",
    "end",
    'n1["',
    "%%{init}%%",
    "#quot;",
]


def test_what_a_name_holds_cannot_break_the_drawing() -> None:
    entities = [Entity(name=name, source=f"entities/{n}.md", type="file") for n, name in enumerate(HOSTILE)]
    drawn = drawing.mermaid(graph(*entities).whole)
    lines = drawn.splitlines()
    assert lines[0] == "graph LR" and len(lines) == len(HOSTILE) + 1
    for line in lines[1:]:
        assert re.fullmatch(r'  n\d+\["(?:[^"<>\[\]`%\\;#]|#\d+;)*"\]', line), line
    dotted = drawing.dot(graph(*entities).whole)
    labels = [bytes(label, "utf-8").decode() for label in re.findall(r'\[label="((?:[^"\\]|\\.)*)"\]', dotted)]
    assert [re.sub(r"\\(.)", r"\1", label) for label in labels] == HOSTILE


def test_the_drawing_of_a_circle() -> None:
    assert drawing.mermaid(CIRCLE.around(named("D"))).splitlines() == [
        "graph LR",
        '  n0["D"]',
        '  n1["C"]',
        '  m0["Gone"]:::missing',
        "  n1 -->|uses| n0",
        "  n0 -->|uses| m0",
        "  classDef missing stroke-dasharray: 4",
    ]
    assert "n0 -> m0 [label=uses]" in drawing.dot(CIRCLE.around(named("D")))


def test_the_network_is_one_for_any_algorithm() -> None:
    assert networkx.number_strongly_connected_components(CIRCLE.network) == 4
    assert CIRCLE.network.number_of_edges() == len(CIRCLE.relations) == 7


@pytest.mark.parametrize("when", [None, datetime(2026, 1, 30, tzinfo=UTC)])
def test_json_of_an_entity(when: datetime | None) -> None:
    shown = Entity(name="A", source="entities/A.md", created_at=when).as_dict()
    assert shown["created_at"] == (when.isoformat() if when else None) and shown["type"] is None
