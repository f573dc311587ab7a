"""The notes around a note."""

from __future__ import annotations

import pytest

from tests.vaults import write
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.indexing import embed, reconcile
from vault_memory.services.retrieval import related
from vault_memory.services.vault import Vault


@pytest.fixture
def notes(vault: Vault) -> Vault:
    write(vault, "", "Tea.md", "---\ntags: [drink, hot]\naliases: [茶]\n---\n[[Kettle]], [milk](dairy/Milk.md).\n")
    write(vault, "", "tools/Kettle.md", "Boils for [[tea]].\n")
    write(vault, "", "dairy/Milk.md", "From a cow.\n")
    write(vault, "", "Cocoa.md", "Chocolate. #Drink #hot\n")
    write(vault, "", "Juice.md", "Fruit. #drink/cold #drink\n")
    write(vault, "", "Diary.md", "今天喝了[[茶|一杯]]。\n")
    write(vault, "", "other/Kettle notes.md", "---\naliases: [Kettle]\n---\nIron.\n")
    write(vault, "", "far.md", "Nothing of it: `[[Tea]]`.\n")
    return vault


def test_links_both_ways_and_tags_tie_notes(notes: Vault) -> None:
    found = {each.source: each for each in related(notes, "", "tea", "shared")}
    assert {"tools/Kettle.md", "dairy/Milk.md", "Cocoa.md", "Juice.md", "Diary.md"} <= set(found)
    assert "far.md" not in found, "what stands in code is no link"
    alias = found.get("other/Kettle notes.md")
    assert alias is None or not alias.is_linked, "a file's name goes before an alias"
    kettle, cocoa, juice = found["tools/Kettle.md"], found["Cocoa.md"], found["Juice.md"]
    assert kettle.is_linked and kettle.links_back and kettle.why.startswith("linked, links back")
    assert kettle.score == pytest.approx((2 + kettle.nearness) / 4, abs=1e-4)
    assert found["dairy/Milk.md"].is_linked and not found["dairy/Milk.md"].links_back
    assert found["Diary.md"].links_back, "by an alias"
    assert cocoa.tags == ("drink", "hot") and cocoa.score == pytest.approx((1 + cocoa.nearness) / 4, abs=1e-4)
    assert juice.tags == ("drink",) and juice.score == pytest.approx((1 / 3 + juice.nearness) / 4, abs=1e-4)


def test_near_notes_are_found_by_their_vectors(notes: Vault) -> None:
    write(notes, "", "a.md", "The heron waits by the river in the morning.\n")
    write(notes, "", "b.md", "A heron waits by a river.\n")
    reconcile(notes, "")
    while embed(notes, ""):
        pass
    [near] = related(notes, "", "a", "shared")
    assert near.source == "b.md" and near.nearness > 0.3 and near.score == pytest.approx(near.nearness / 4, abs=1e-4)


def test_a_note_without_ties_has_none(notes: Vault) -> None:
    assert related(notes, "", "far", "shared") == []


def test_wrong_questions_say_what_to_do(notes: Vault) -> None:
    with pytest.raises(NotFound, match="vault-memory search"):
        related(notes, "", "nobody", "shared")
    with pytest.raises(UsageError, match="1 to 100"):
        related(notes, "", "tea", "shared", 0)


def test_ten_thousand_links_and_tags_are_looked_through_once(notes: Vault) -> None:
    many = " ".join(f"[[n{n}]] #t{n}" for n in range(10_000))
    write(notes, "", "many.md", f"{many}\n")
    write(notes, "", "more.md", f"[[many]] {many}\n")
    assert related(notes, "", "many", "shared")[0].source == "more.md"
