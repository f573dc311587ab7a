"""B2: adding entities, relations and observations: a note and a commit each."""

from __future__ import annotations

import os
import re
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from tests.conftest import wait_until_inside
from tests.vaults import write
from vault_memory.adapters import files
from vault_memory.core.graph import NewEntity, NewObservations, NewRelation, decode
from vault_memory.errors import InvalidId, NotFound, UsageError
from vault_memory.services.graph import (
    Added,
    add_observation,
    add_to_graph,
    create_entity,
    create_relation,
    get_entity,
    list_entities,
    search_entities,
)
from vault_memory.services.vault import Vault, open_vault


def notes(vault: Vault, user_id: str = "alice") -> dict[str, str]:
    folder = vault.root / "memory" / user_id / "entities"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*"))} if folder.exists() else {}


def commits(vault: Vault) -> list[str]:
    return [entry.subject for entry in vault.history.log(limit=50)]


def is_clean(vault: Vault) -> bool:
    return not [*vault.history.uncommitted()]


def test_an_entity_is_a_note_and_a_commit(vault: Vault) -> None:
    """B2: type, observations and tags; the commit names it."""
    made = create_entity(vault, "alice", "Redis", "technology", ["Sessions live there"], ["cache"], aliases=["KV"])
    assert made.is_new and made.entity and re.fullmatch(r"entity_\d{13}_[0-9a-f]{8}", made.entity.id)
    assert notes(vault)["Redis.md"] == (
        f"---\nid: {made.entity.id}\nname: Redis\ntype: technology\ntags:\n- cache\naliases:\n- KV\n"
        "created_at: '2026-01-30T14:05:01+08:00'\n---\n"
        "## Observations\n- Sessions live there\n\n## Relations\n"
    )
    (entry, *_) = vault.history.log(limit=5)
    assert (entry.subject, entry.author) == ("graph(alice): add Redis", "vault-memory") and made.commits
    assert entry.trailers == {"Vault-User": "alice", "Vault-Entity": made.entity.id} and is_clean(vault)


def test_a_relation_is_a_wikilink_in_the_note_where_it_begins(vault: Vault) -> None:
    create_entity(vault, "alice", "Login", "component")
    create_entity(vault, "alice", "Redis", "technology")
    made = create_relation(vault, "alice", "login", "REDIS", "depends_on", "sessions live there")
    assert made.relation and (made.relation.from_name, made.relation.to_name) == ("Login", "Redis") and not made.stubs
    assert notes(vault)["Login.md"].endswith(
        f"- depends_on [[Redis]] — sessions live there %%{made.relation.id} 2026-01-30%%\n"
    )
    assert commits(vault)[0] == "graph(alice): login depends_on REDIS"
    (seen,) = get_entity(vault, "alice", "Redis").relations
    assert (seen.from_name, seen.id, seen.description) == ("Login", made.relation.id, "sessions live there")


def test_said_again_nothing_is_new(vault: Vault) -> None:
    """The same entity in another case or width, the same observation, the same relation: no commit."""
    create_entity(vault, "alice", "Redis", "technology", ["fast"], ["a"])
    create_relation(vault, "alice", "Redis", "Linux", "uses", "runs there")
    before = commits(vault)
    for again in (
        create_entity(vault, "alice", "ｒｅｄｉｓ", "technology", ["FAST"], ["a"], aliases=["redis"]),
        add_observation(vault, "alice", "REDIS", "fast"),
        create_relation(vault, "alice", "redis", "linux", "uses", "runs there"),
        create_relation(vault, "alice", "redis", "linux", "uses"),
    ):
        assert again.entity and again.entity.name == "Redis" and not again.is_new and not again.commits
    assert commits(vault) == before and len(notes(vault)) == 2


def test_an_entity_that_is_there_gets_what_is_new(vault: Vault) -> None:
    first = create_entity(vault, "alice", "Redis", "technology", ["fast"], ["a"]).entity
    made = create_entity(vault, "alice", "redis", "technology", ["fast", "small"], ["a", "b"], aliases=["KV"]).entity
    assert made and first and (made.id, made.observations, made.tags) == (first.id, ("fast", "small"), ("a", "b"))
    assert (
        create_entity(vault, "alice", "kv", "technology", ["by alias"]).entity
        == get_entity(vault, "alice", "Redis").entity
    )
    with pytest.raises(UsageError, match="it is a technology"):
        create_entity(vault, "alice", "Redis", "component", ["lost?"])
    assert "lost?" not in notes(vault)["Redis.md"] and is_clean(vault)


def test_relations_of_one_kind_with_two_descriptions_are_two(vault: Vault) -> None:
    create_relation(vault, "alice", "A", "B", "uses")
    first = create_relation(vault, "alice", "A", "B", "uses", "for tests")
    create_relation(vault, "alice", "A", "B", "uses", "for deploys")
    lines = notes(vault)["A.md"].splitlines()
    assert [line.partition(" %%")[0] for line in lines if "[[" in line] == [
        "- uses [[B]] — for tests",
        "- uses [[B]] — for deploys",
    ]
    assert first.is_new and is_clean(vault)


def test_a_missing_entity_is_made_or_refused_as_configured(vault: Vault) -> None:
    made = create_relation(vault, "alice", "A", "B", "uses")
    assert made.stubs == ("A", "B") and get_entity(vault, "alice", "B").entity.is_stub
    assert create_entity(vault, "alice", "b", "file").entity == get_entity(vault, "alice", "B").entity
    strict = open_vault(vault.root, now=vault.now, graph_missing_entity="refuse")
    before = notes(vault)
    for begin, end in (("A", "Nobody"), ("Nobody", "A")):
        with pytest.raises(NotFound, match="no entity 'Nobody'"):
            create_relation(strict, "alice", begin, end, "uses")
    with pytest.raises(NotFound, match="no entity 'Nobody'"):
        add_observation(vault, "alice", "Nobody", "x")
    assert notes(vault) == before and is_clean(vault)


def test_circles_and_relations_to_itself(vault: Vault) -> None:
    for begin, end in (("A", "B"), ("B", "C"), ("C", "A"), ("A", "A")):
        assert create_relation(vault, "alice", begin, end, "extends").is_new
    assert [(each.from_name, each.to_name) for each in get_entity(vault, "alice", "A").relations] == [
        ("A", "B"),
        ("A", "A"),
        ("C", "A"),
    ]


ODD = [
    "src/app.py",
    "src|app.py",
    "[[Redis]]",
    "C#",
    "a|b",
    "👩‍💻 開發者",
    "名" * 100,
    "x" * 300,
    ".env",
    "index.db",
    "CON",
    "100%% sure",
    "../../bob/entities/X",
    '"quoted": yes',
    "- item",
    "depends_on [[Y]]",
    "%%",
]


def test_odd_names_are_kept_and_found(vault: Vault) -> None:
    """`/`, `[[`, `|`, `#`, emoji, 300 bytes: a file that is safe, the true name in it, relations that hold."""
    for name in ODD:
        made = create_entity(vault, "alice", name, "file")
        assert made.entity and made.entity.name == name and made.commits, name
        assert create_relation(vault, "alice", "Hub", name, "uses").entity
    fresh = open_vault(vault.root)
    assert {each.name for each in list_entities(fresh, "alice")} == {*ODD, "Hub"}
    told = [each for each in get_entity(fresh, "alice", "Hub").relations if not each.is_mention]
    assert [each.to_name for each in told] == ODD and not any(each.is_dangling for each in told)
    assert all(search_entities(fresh, "alice", name)[0].name == name for name in ODD)
    assert is_clean(vault) and not (vault.root / "memory/bob").exists()
    assert {path.parent.name for path in (vault.root / "memory").rglob("*.md")} == {"entities"}
    assert all(len(name.encode()) < 130 for name in notes(vault))


def test_secrets_and_private_facts_are_kept_out(vault: Vault) -> None:
    key = "sk-proj-" + "a8Kd93jfLs02mXvQ" * 3
    made = create_entity(
        vault, "alice", "API", "component", [f"its key is {key}", "fast", "my sister has diabetes, it is slow"]
    )
    assert sum(made.redactions.values()) >= 2 and made.entity and len(made.entity.observations) == 2
    create_relation(vault, "alice", "API", "Redis", "uses", f"with {key}")
    text = "".join(notes(vault).values()) + "".join(map(str, vault.history.log(limit=9)))
    assert key not in text and "diabetes" not in text
    for wrong in (
        lambda: create_entity(vault, "alice", key, "file"),
        lambda: create_entity(vault, "alice", "x", "file", tags=[key]),
        lambda: create_relation(vault, "alice", "API", f"key {key}", "uses"),
        lambda: add_observation(vault, "alice", "API", key),
    ):
        with pytest.raises(UsageError):
            wrong()
    assert is_clean(vault)


def test_the_ids_in_a_note_are_no_secrets(vault: Vault) -> None:
    """A description may end with «token», which announces one: the id behind it is ours."""
    for n, word in enumerate(("tokens", "the password", "密碼", "API key")):
        assert create_relation(vault, "alice", f"A{n}", word, "uses", word).is_new
    write(vault, "alice", "entities/Mine.md", notes(vault)["A0.md"].replace("A0", "Mine"))
    add_observation(vault, "alice", "Mine", "x")
    assert is_clean(vault)


def test_of_a_user_who_is_off_the_record_nothing_is_kept(vault: Vault) -> None:
    quiet = open_vault(vault.root, off_record=["alice"])
    assert create_entity(quiet, "alice", "Redis", "technology") == Added()
    assert create_relation(quiet, "alice", "A", "B", "uses") == Added() and notes(vault) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda v: create_entity(v, "alice", "", "file"),
        lambda v: create_entity(v, "alice", "x", "person"),
        lambda v: create_entity(v, "alice", "x", None),
        lambda v: create_entity(v, "alice", "x", "file", "not a list"),
        lambda v: create_entity(v, "alice", "x", "file", [5]),
        lambda v: create_entity(v, "alice", "x", "file", tags=[None]),
        lambda v: create_relation(v, "alice", "a", "b", "likes"),
        lambda v: create_relation(v, "alice", "a", " ", "uses"),
        lambda v: create_relation(v, "alice", "a", "b", "uses", "x" * 20_001),
        lambda v: add_observation(v, "alice", "a", " "),
        lambda v: add_observation(v, "alice", "a", []),
        lambda v: create_entity(v, "../bob", "x", "file"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_written(vault: Vault, wrong) -> None:
    with pytest.raises((UsageError, InvalidId)):
        wrong(vault)
    assert not (vault.root / "memory").exists() or not [*(vault.root / "memory").iterdir()]


def test_users_have_graphs_of_their_own(vault: Vault) -> None:
    create_entity(vault, "alice", "Redis", "technology")
    create_relation(vault, "bob", "App", "Redis", "uses")
    assert get_entity(vault, "bob", "Redis").entity.is_stub and len(list_entities(vault, "alice")) == 1
    write(vault, "alice", "entities/A.md", "[[memory/bob/entities/App]] [[App]]\n")
    assert get_entity(vault, "alice", "A").relations == ()
    with pytest.raises(NotFound):
        search_entities(vault, "carol", "x")


def test_what_a_person_wrote_is_committed_as_theirs_first(vault: Vault) -> None:
    create_entity(vault, "alice", "Redis", "technology")
    path = vault.path("alice", "entities/Redis.md")
    path.write_text(path.read_text() + "\nmy own words\n")
    create_relation(vault, "alice", "Redis", "Linux", "uses")
    (ours, theirs, *_) = vault.history.log(limit=5)
    assert ours.author == "vault-memory" and theirs.author != "vault-memory"
    assert "my own words" in path.read_text() and is_clean(vault)


def test_a_note_that_cannot_be_read_is_never_rewritten(vault: Vault) -> None:
    broken = "---\ntype: [\n---\n## Observations\n"
    path = write(vault, "alice", "entities/Redis.md", broken)
    with pytest.raises(UsageError, match="cannot be read, so nothing is added"):
        add_observation(vault, "alice", "Redis", "x")
    assert path.read_text() == broken
    os.symlink("/etc/passwd", path.parent / "Link.md")
    made = create_entity(vault, "alice", "Link", "file")
    assert made.entity and made.entity.source == "entities/Link 2.md"
    assert any("Link.md is left out" in each for each in list_entities(vault, "alice").degraded)


def test_many_additions_are_one_commit_and_the_refused_ones_are_told(vault: Vault) -> None:
    at = datetime(2024, 2, 3, 4, 5, 6, 789000, tzinfo=UTC)
    batch = add_to_graph(
        vault,
        "alice",
        [
            NewEntity("A", "file", ["x"], id="entity_1_a", created_at=at),
            NewEntity("a", "component"),
            NewRelation("A", "B", "uses", id="rel_1706933106789_b", created_at=at),
            NewRelation("A", "B", "uses", id="rel_1706933106789_b", created_at=at),
            NewObservations("Nobody", ["x"]),
            NewEntity("B", "file"),
        ],
        "graph(alice): import",
    )
    a, refused, relation, again, unknown, b = batch.outcomes
    assert isinstance(a, Added) and a.entity and (a.entity.id, a.entity.created_at) == ("entity_1_a", at)
    assert isinstance(refused, UsageError) and isinstance(unknown, NotFound)
    assert isinstance(relation, Added) and relation.relation and relation.relation.created_at == at
    assert isinstance(again, Added) and not again.is_new and isinstance(b, Added) and b.entity and not b.entity.is_stub
    assert len(batch.commits) == 1 and commits(vault)[0] == "graph(alice): import"
    assert decode(notes(vault)["A.md"], "entities/A.md").lines[0].created_at == at


def add_some(root: Path, number: int) -> None:
    vault = open_vault(root)
    for each in range(6):
        create_relation(vault, "alice", "Hub", f"Leaf {each}", "uses", f"by {number}")


@pytest.mark.slow
def test_processes_that_add_at_once_lose_nothing(vault: Vault) -> None:
    with ProcessPoolExecutor(4) as processes:
        assert list(processes.map(add_some, [vault.root] * 4, range(4))) == [None] * 4
    relations = get_entity(vault, "alice", "Hub").relations
    assert len({(each.to_name, each.description) for each in relations}) == len(relations) == 24
    assert len(notes(vault)) == 7 and is_clean(vault)


def test_a_file_that_is_renamed_while_a_relation_is_written(vault: Vault) -> None:
    """The writer has read the graph and waits for the lock: under it the relation is put into the renamed note."""
    create_entity(vault, "alice", "Redis", "technology", ["kept"])
    folder = vault.path("alice", "entities/Redis.md").parent
    racing = open_vault(vault.root, now=vault.now)
    added: list[Added] = []
    adding = Thread(target=lambda: added.append(create_relation(racing, "alice", "Redis", "Linux", "uses")))
    with vault.lock("alice"):
        adding.start()
        wait_until_inside(adding, files.lock)
        os.rename(folder / "Redis.md", folder / "Valkey.md")
    adding.join(60)
    (made,) = added
    assert made.entity and made.relation
    assert (made.entity.name, made.relation.from_name, made.stubs) == ("Valkey", "Valkey", ("Linux",))
    text = (folder / "Valkey.md").read_text()
    assert not (folder / "Redis.md").exists() and "- kept" in text and "- uses [[Linux]]" in text
    assert "name: Valkey\n" in text and "aliases:\n- Redis\n" in text


@pytest.mark.parametrize("names", [("src/app.py", "src-app.py"), ("C#", "C-"), ("x" * 200, "x" * 120), ("a|b", "a-b")])
@pytest.mark.parametrize("is_turned", [False, True])
def test_the_safe_name_of_a_file_is_no_name_of_its_entity(
    vault: Vault, names: tuple[str, str], is_turned: bool
) -> None:
    """Two entities of any types, each with its observations and relations, whichever was first."""
    one, other = reversed(names) if is_turned else names
    first = create_entity(vault, "alice", one, "file", ["of the first"])
    assert create_relation(vault, "alice", "App", one, "uses").is_new
    with pytest.raises(NotFound, match="no entity"):
        get_entity(vault, "alice", other)
    with pytest.raises(NotFound, match="to observe"):
        add_observation(vault, "alice", other, "x")
    second = create_entity(vault, "alice", other, "component", ["of the second"])
    assert second.is_made and first.entity and second.entity and first.entity.id != second.entity.id
    for name, said in ((one, "of the first"), (other, "of the second")):
        assert get_entity(vault, "alice", name).entity.observations == (said,)
    assert create_relation(vault, "alice", "App", other, "uses").is_made
    assert not create_relation(vault, "alice", "App", other, "uses").is_new
    assert not create_relation(vault, "alice", "App", one, "uses").is_new
    told = [each.to_name for each in get_entity(open_vault(vault.root), "alice", "App").relations]
    assert told == [one, other] and len(notes(vault)) == 3


def test_many_that_share_a_safe_name_are_told_apart_in_one_commit(vault: Vault) -> None:
    names = ["a/b", "a-b", "a|b", "a-b 2", "a?b", "README", "README.md", "README-md"]
    entities = [NewEntity(name, "file", [f"of {name}"]) for name in names]
    relations = [NewRelation("Hub", name, "uses") for name in names]
    add_to_graph(vault, "alice", [*relations, *entities, *relations], "graph(alice): import")
    hub = get_entity(vault, "alice", "Hub").relations
    assert [each.to_name for each in hub] == names and not any(each.is_dangling for each in hub)
    assert {each.name: each.observations for each in list_entities(vault, "alice") if each.name != "Hub"} == {
        name: (f"of {name}",) for name in names
    }


def test_the_name_of_a_file_is_told_where_it_is_asked_for(vault: Vault) -> None:
    create_entity(vault, "alice", "C#", "technology")
    with pytest.raises(NotFound, match="Is it 'C#'"):
        get_entity(vault, "alice", "C-")
