"""What was learned from a part of an erased text goes along."""

from __future__ import annotations

import json

from tests.adapters.erasing.leftovers import leftovers
from vault_memory.services.erasing import erase, of_texts, preview
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.memories import remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

TEXT = "I work at Initech as a welder. I have a daughter named Odile. I prefer Vim over Emacs."


def test_memories_of_single_clauses_go_with_the_text(vault: Vault) -> None:
    record_turn(vault, "alice", TEXT, "ok")
    remember(vault, "alice", "I prefer Vim in the evening")
    assert leftovers(vault.root, "welder").places
    wanted = of_texts(vault, "alice", [TEXT])
    assert Wanted.of(json.loads(json.dumps(wanted.as_dict()))) == wanted
    shown = preview(vault, wanted)
    assert {*shown.clauses} == {"I work at Initech as a welder", "I prefer Vim over Emacs"}
    done = erase(vault, wanted)
    assert done.left == () and done.clauses == shown.clauses
    for said in ("Odile", "Initech", "initech", "over Emacs", "over-emacs"):
        assert leftovers(vault.root, said).places == []
    assert leftovers(vault.root, "Vim in the evening").places, "that stands in no part of the text"
    record_turn(vault, "alice", "I prefer Vim over Emacs", "ok")  # it may be said again


def test_nothing_goes_along_of_another_turn(vault: Vault) -> None:
    record_turn(vault, "alice", "I prefer Vim over Emacs", "ok")
    assert of_texts(vault, "alice", [TEXT]).clauses == ()
