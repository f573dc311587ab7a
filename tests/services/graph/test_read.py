"""The graph as the notes have it now: renamed, edited and deleted by hand, and as Obsidian sees it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from obsidiantools.api import Vault as ObsidianVault

from tests.vaults import write
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.admin import doctor
from vault_memory.services.graph import (
    add_observation,
    create_entity,
    create_relation,
    draw_graph,
    find_path,
    get_entity,
    graph_of,
    graph_problems,
    left_out,
    list_entities,
    neighbours,
    search_entities,
)
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.vault import Vault


@pytest.fixture
def graph(vault: Vault) -> Vault:
    """Login uses Redis, which depends on Linux; alone stands Tea."""
    create_entity(vault, "alice", "Login", "component", ["Handles user authentication"], ["auth"])
    create_entity(vault, "alice", "Redis", "technology", ["Sessions live there"])
    create_relation(vault, "alice", "Login", "Redis", "uses", "sessions")
    create_relation(vault, "alice", "Redis", "Linux", "depends_on")
    create_entity(vault, "alice", "Tea", "pattern")
    return vault


def folder(vault: Vault) -> Path:
    return vault.root / "memory/alice/entities"


def told(vault: Vault, name: str) -> list[tuple[str, str, str]]:
    return [(each.from_name, each.type, each.to_name) for each in get_entity(vault, "alice", name).relations]


def test_an_entity_renamed_in_obsidian_keeps_its_relations(graph: Vault) -> None:
    """B2: with its links updated, as Obsidian does, and without; the old name still means it."""
    os.rename(folder(graph) / "Redis.md", folder(graph) / "Valkey.md")
    wanted = [("Login", "uses", "Valkey"), ("Valkey", "depends_on", "Linux")]
    assert told(graph, "Valkey") == wanted == told(graph, "redis")
    login = folder(graph) / "Login.md"
    login.write_text(login.read_text().replace("[[Redis]]", "[[Valkey]]"))
    assert told(graph, "Valkey") == wanted
    made = create_relation(graph, "alice", "Tea", "Redis", "related_to")
    assert made.relation and made.relation.to_name == "Valkey" and not made.stubs
    assert not (folder(graph) / "Redis.md").exists()
    made = create_entity(graph, "alice", "REDIS", "technology", ["by its old name"])
    assert made.entity and (made.entity.name, made.entity.aliases) == ("Valkey", ("Redis",))
    os.rename(folder(graph) / "Valkey.md", folder(graph) / "KeyDB.md")
    assert (
        get_entity(graph, "alice", "Redis").entity.name == "KeyDB" == get_entity(graph, "alice", "Valkey").entity.name
    )


def test_links_by_hand_and_aliases(graph: Vault) -> None:
    """B2: hand-written `[[links]]` between entities are seen, aliases resolve."""
    write(graph, "alice", "entities/Cache.md", "---\naliases: [KV store]\n---\nA kind of [[Redis]], not [[Home]].\n")
    path = folder(graph) / "Tea.md"
    path.write_text(path.read_text() + "- uses [[KV store]] — brewed\n- likes [[Login]]\n")
    view = get_entity(graph, "alice", "kv STORE")
    assert [(each.from_name, each.to_name, each.is_mention) for each in view.relations] == [
        ("Cache", "Redis", True),
        ("Tea", "Cache", False),
    ]
    found = find_path(graph, "alice", "Tea", "Login")
    assert found is not None and [(each.to_name, each.is_mention) for each in found] == [("Login", True)]


def test_a_deleted_entity_stays_named_by_others(graph: Vault) -> None:
    (folder(graph) / "Redis.md").unlink()
    (dangling,) = get_entity(graph, "alice", "Login").relations
    assert dangling.is_dangling and dangling.to_name == "Redis" and dangling.description == "sessions"
    assert ":::missing" in draw_graph(graph, "alice") and "style=dashed" in draw_graph(graph, "alice", "dot")
    with pytest.raises(NotFound, match="no entity 'Redis'"):
        get_entity(graph, "alice", "Redis")
    create_entity(graph, "alice", "redis", "technology")
    (again,) = get_entity(graph, "alice", "Redis").relations
    assert not again.is_dangling and again.from_name == "Login"


def test_a_relation_outlives_a_new_name_of_a_file_that_was_made_safe(graph: Vault) -> None:
    create_entity(graph, "alice", "a/b", "file")
    create_relation(graph, "alice", "Tool", "a/b", "uses")
    (folder(graph) / "a-b.md").rename(folder(graph) / "moved.md")
    (relation,) = get_entity(graph, "alice", "Tool").relations
    assert (relation.to_name, relation.is_dangling) == ("moved", False)


def test_two_notes_of_one_name(graph: Vault) -> None:
    write(graph, "alice", "entities/redis.md", "---\ntype: technology\n---\n## Observations\n- mine\n")
    assert len(search_entities(graph, "alice", "redis")) == 2
    (told,) = left_out(graph, "alice")
    assert "memory/alice: entities/Redis.md and entities/redis.md have one name, 'redis', which means the first" in told
    assert [told.partition(": ")[2]] == [*get_entity(graph, "alice", "redis").problems]
    assert graph_problems(graph, "alice") == [told] == search_entities(graph, "alice", "tea").degraded
    (finding,) = (each for each in doctor(graph) if each.name == "entities")
    assert not finding.ok and finding.message == told
    add_observation(graph, "alice", "Redis", "ours")
    assert "ours" in (folder(graph) / "Redis.md").read_text()


def test_every_edit_counts_at_once_and_unchanged_notes_are_kept(graph: Vault) -> None:
    first = graph_of(graph, "alice")
    assert graph_of(graph, "alice") is first
    path = folder(graph) / "Tea.md"
    path.write_text(path.read_text().replace("pattern", "feature"))
    second = graph_of(graph, "alice")
    assert second is not first and [each.name for each in list_entities(graph, "alice", "feature")] == ["Tea"]
    kept = [each for each in second.entities if any(each is other for other in first.entities)]
    assert len(kept) == len(first.entities) - 1


def test_what_is_no_note_of_an_entity(graph: Vault) -> None:
    """A folder, a link, a file that is too large, or not UTF-8: nothing fails, and what is left out is named."""
    (folder(graph) / "Sub.md").mkdir()
    os.symlink(folder(graph) / "Tea.md", folder(graph) / "Link.md")
    (folder(graph) / "Latin.md").write_bytes(b"---\ntype: file\n---\n## Observations\n- caf\xe9 [[Tea]]\n")
    (folder(graph) / "Long.md").write_text("## Observations\n- x\n" * 100_000)
    found = list_entities(graph, "alice")
    assert {each.name for each in found} == {"Latin", "Linux", "Login", "Long", "Redis", "Tea"}
    assert (
        len(found.degraded) == 1 and "memory/alice/entities/Link.md is left out: a symbolic link" in found.degraded[0]
    )
    assert left_out(graph, "alice") == found.degraded
    add_observation(graph, "alice", "Latin", "more")
    assert b"caf\xe9 [[Tea]]\n- more\n" in (folder(graph) / "Latin.md").read_bytes()


def test_a_folder_that_is_a_link_is_not_followed(graph: Vault) -> None:
    os.rename(folder(graph), graph.root / "elsewhere")
    os.symlink(graph.root / "elsewhere", folder(graph))
    assert list_entities(graph, "alice") == []


def test_an_entity_answers_a_search_by_its_name(graph: Vault) -> None:
    """Its title is its name, not the heading that all notes of entities have."""
    (hit, *_) = search(graph, "alice", SearchQuery("Redis sessions", 3)).hits
    assert hit.source == "entities/Redis.md" and hit.kind == "entity"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda v: search_entities(v, "alice", "x", 0),
        lambda v: list_entities(v, "alice", "person"),
        lambda v: neighbours(v, "alice", "Redis", 0),
        lambda v: neighbours(v, "alice", "Redis", 21),
        lambda v: draw_graph(v, "alice", "svg"),
        lambda v: draw_graph(v, "alice", "dot", "Redis", 99),
        lambda v: find_path(v, "alice", "Redis", "Nobody"),
        lambda v: neighbours(v, "nobody", "Redis"),
    ],
)
def test_wrong_questions_are_named(graph: Vault, wrong) -> None:
    with pytest.raises((UsageError, NotFound)):
        wrong(graph)


def test_a_name_that_is_nearly_right_is_told(graph: Vault) -> None:
    with pytest.raises(NotFound, match="Is it 'Redis'"):
        get_entity(graph, "alice", "Rediss")


def test_obsidian_sees_the_graph(graph: Vault) -> None:
    """The links are plain wikilinks: obsidiantools, which reads vaults as Obsidian does, finds each relation."""
    for name in ("src/app.py", "C#", "[[x]]", "👩‍💻 開發者", "a|b", "名" * 100):
        create_relation(graph, "alice", name, "Redis", "uses", "because [x] | #tag")
        create_relation(graph, "alice", "Redis", name, "extends")
    seen = ObsidianVault(folder(graph)).connect().graph
    ours = graph_of(graph, "alice")
    by_name = {each.name: each.stem for each in ours.entities}
    wanted = sorted((by_name[each.from_name], by_name[each.to_name]) for each in ours.relations)
    assert sorted((begin, end) for begin, end, *_ in seen.edges) == wanted and len(wanted) == 14
    assert set(seen.nodes) == set(by_name.values())
