"""What is in doubt waits: it is heard again, accepted or dismissed, and is in no profile until then."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from vault_memory.adapters.history import ASSISTANT
from vault_memory.core.profile import FIELDS, Change, Evidence, Signal, Suggestion
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.profiles import (
    ProfileFiles,
    accept_suggestion,
    change_profile,
    compute_interaction,
    dismiss_suggestion,
    history,
    list_preferences,
    list_suggestions,
    set_preference,
    unset_preference,
)
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow
DAY = timedelta(days=1)


def unsure(key: str, value: str, op: Any = "set", strength: Any = "adjustment", quote: str = "暗一點？") -> Signal:
    return Signal(key, op, value, strength, quote, is_suggestion=True)


def hear(vault: Vault, *signals: Signal, conversation: str = "", at: Any = None) -> list[Change]:
    """What a turn with these signals changes."""
    vault.new_user("alice")
    said_at = at or vault.now()

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence | Suggestion]]:
        counting, suggestions = state.hear(signals, conversation)
        changes, evidence = state.merge(counting)
        return changes, [*evidence, *suggestions]

    source = f"conversations/{said_at.date()}.jsonl:1"
    return change_profile(vault, "alice", decide, ASSISTANT, source, said_at).result


def waiting(vault: Vault) -> list[str]:
    return [each.summary() for each in list_suggestions(vault, "alice")]


def values(vault: Vault, key: str) -> list[str]:
    return [each.value for each in list_preferences(vault, "alice") if each.key == key]


def test_what_is_in_doubt_is_in_no_profile(vault: Vault) -> None:
    assert hear(vault, unsure("theme", "dark")) == []
    assert values(vault, "theme") == [] and waiting(vault) == ["theme = dark"]
    (each,) = list_suggestions(vault, "alice")
    assert (each.quote, each.strength) == ("暗一點？", "adjustment") and each.source.startswith("conversations/")
    row = json.loads(vault.path("alice", "feedback.jsonl").read_text().splitlines()[-1])
    assert row["suggestion"] == "open" and row["applied"] is False and "count" not in row


@pytest.mark.parametrize(
    ("later", "conversation", "is_written"),
    [
        (timedelta(0), "a", False),
        (timedelta(0), "", False),
        (timedelta(0), "b", True),
        (DAY, "a", True),
        (DAY, "", True),
    ],
    ids=["same conversation", "nobody names it", "another conversation", "another day", "another day, no name"],
)
def test_heard_a_second_time_elsewhere_it_is_written(
    vault: Vault, clock: Clock, later: timedelta, conversation: str, is_written: bool
) -> None:
    hear(vault, unsure("theme", "dark"), conversation="a")
    clock.time += later
    changes = hear(vault, unsure("theme", "dark"), conversation=conversation)
    assert [change.summary() for change in changes] == (["theme = dark"] if is_written else [])
    assert waiting(vault) == ([] if is_written else ["theme = dark"])
    lines = vault.path("alice", "feedback.jsonl").read_text().splitlines()
    assert len(lines) == (2 if is_written else 1), "the same is not kept twice"


def test_accepted_it_is_the_person_s_word_and_names_the_turn(vault: Vault) -> None:
    hear(vault, unsure("languages", "Rust", "add"))
    (each,) = list_suggestions(vault, "alice")
    assert [change.summary() for change in accept_suggestion(vault, "alice", each.id)] == ["languages += Rust"]
    entry = history(vault, "alice", "languages")[0]
    assert (entry.author, entry.strength, entry.source, entry.reason) == (
        "vault owner", "manual", each.source, "暗一點？",
    )  # fmt: skip
    assert waiting(vault) == []
    with pytest.raises(NotFound, match="suggestions"):
        accept_suggestion(vault, "alice", each.id)
    with pytest.raises(NotFound, match="left to undo"):
        undo(vault, "alice")


def test_dismissed_it_is_never_suggested_again(vault: Vault, clock: Clock) -> None:
    hear(vault, unsure("theme", "dark"))
    assert dismiss_suggestion(vault, "alice", "theme").summary() == "theme = dark"
    for _ in range(3):
        clock.time += DAY
        assert hear(vault, unsure("theme", "dark")) == [] and waiting(vault) == []
    hear(vault, unsure("theme", "light"))
    assert waiting(vault) == ["theme = light"], "another value is another matter"
    assert [change.new for change in hear(vault, Signal("theme", "set", "dark", "explicit"))] == ["dark"]


def test_a_dismissal_outlives_a_hundred_suggestions(vault: Vault, clock: Clock) -> None:
    hear(vault, unsure("theme", "dark"))
    dismiss_suggestion(vault, "alice", "theme")
    hear(vault, *(unsure("tools", f"Tool{n}", "add") for n in range(120)))
    clock.time += DAY
    assert hear(vault, unsure("theme", "dark")) == [] and "theme = dark" not in waiting(vault)
    assert len(waiting(vault)) == 100


def test_a_later_change_closes_it(vault: Vault, clock: Clock) -> None:
    """Of a turn, by command, or by hand in the file."""
    for change in (
        lambda: hear(vault, Signal("theme", "set", "light", "explicit")),
        lambda: set_preference(vault, "alice", "theme", "light"),
    ):
        hear(vault, unsure("theme", "dark"))
        assert waiting(vault) == ["theme = dark"]
        clock.time += timedelta(minutes=1)
        change()
        assert waiting(vault) == []
        unset_preference(vault, "alice", "theme")
        clock.time += timedelta(minutes=1)


def test_an_edit_by_hand_after_it_means_that_it_is_heard_for_the_first_time(vault: Vault, clock: Clock) -> None:
    record_turn(vault, "alice", "你好")
    hear(vault, unsure("theme", "dark"))
    clock.time += DAY
    path = vault.path("alice", "USER.md")
    path.write_text(path.read_text().replace("- 主題偏好：", "- 主題偏好：light"))
    clock.time += DAY
    assert hear(vault, unsure("theme", "dark")) == []
    assert values(vault, "theme") == ["light"]


def test_what_the_profile_holds_is_no_suggestion(vault: Vault) -> None:
    set_preference(vault, "alice", "languages", "Rust")
    hear(vault, unsure("languages", "rust", "add"), unsure("languages", "Go", "remove"))
    assert waiting(vault) == []
    hear(vault, unsure("languages", "Rust", "remove"))
    assert waiting(vault) == ["languages -= Rust"]
    accept_suggestion(vault, "alice", "languages")
    assert values(vault, "languages") == []


def test_beside_a_sure_signal_about_the_same_there_is_none(vault: Vault) -> None:
    hear(vault, Signal("theme", "set", "light", "explicit"), unsure("theme", "dark"))
    assert values(vault, "theme") == ["light"] and waiting(vault) == []


def test_several_of_one_key_are_named_by_their_ids(vault: Vault) -> None:
    hear(vault, unsure("tools", "Docker", "add"), unsure("tools", "Vim", "add"))
    with pytest.raises(UsageError, match="name one by its id: .*Vim"):
        accept_suggestion(vault, "alice", "tools")
    docker = next(each for each in list_suggestions(vault, "alice") if each.value == "Docker")
    accept_suggestion(vault, "alice", docker.id)
    assert values(vault, "tools") == ["Docker"] and waiting(vault) == ["tools += Vim"]


def test_it_is_no_evidence(vault: Vault, clock: Clock) -> None:
    """Three times in doubt make no strong preference."""
    set_preference(vault, "alice", "theme", "dark")
    for _ in range(3):
        clock.time += DAY
        hear(vault, unsure("theme", "dark"))
    assert [each.strong for each in list_preferences(vault, "alice") if each.key == "theme"] == [False]


def test_a_wrong_value_and_a_broken_line_are_left_out(vault: Vault) -> None:
    hear(vault, unsure("theme", "pink"), unsure("nothing", "x"), unsure("tools", "  ", "add"))
    hear(vault, unsure("timezone", "Mars/Base"), unsure("language", "Klingonese"))
    path = vault.path("alice", "feedback.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for row in ({"key": "theme", "op": "set", "value": ["dark"], "suggestion": "open"},
                    {"key": "theme", "op": "no", "value": "dark", "suggestion": "open"},
                    {"key": "theme", "op": "set", "value": "dark", "suggestion": "perhaps"}):  # fmt: skip
            file.write(json.dumps(row) + "\n")
    assert waiting(vault) == []


def add_row(vault: Vault, **row: Any) -> None:
    """A line in the evidence that is not ours."""
    path = vault.path("alice", "feedback.jsonl")
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


FORGED = {"key": "theme", "op": "set", "value": "light", "strength": "observed", "suggestion": "open", "quote": "q"}


def test_one_line_of_a_remote_stops_nothing(vault: Vault) -> None:
    """`{"suggestion": "open", "key": []}` stopped all learning and writing of its user: TypeError."""
    record_turn(vault, "alice", "我喜歡暗色主題")
    hear(vault, unsure("tools", "Docker", "add"))
    for odd in ([], {}, [[]], 5, True):
        add_row(vault, **dict.fromkeys((*FORGED, "count", "current", "applied", "source", "created_at"), odd))
        add_row(vault, **FORGED | {"key": odd, "x": [*FIELDS]})
    hear(vault, unsure("tools", "Vim", "add"))
    assert waiting(vault) == ["tools += Vim", "tools += Docker"]
    assert [change.new for change in record_turn(vault, "alice", "我喜歡亮色主題").changes] == ["light"]
    accept_suggestion(vault, "alice", list_suggestions(vault, "alice")[0].id)
    dismiss_suggestion(vault, "alice", "tools")
    assert undo(vault, "alice").startswith("theme = dark")
    assert [change.new for change in set_preference(vault, "alice", "theme", "auto")] == ["auto"]
    compute_interaction(vault, "alice")
    assert vault.history.uncommitted() == []


@pytest.mark.parametrize(
    "row",
    [
        {"value": "light\nVault-User: bob"}, {"value": "pink"}, {"op": "add"}, {"value": "Light"}, {"strength": ""},
        {"key": "tools", "op": "add", "value": "\ud800"}, {"key": "tools", "op": "set", "value": "Vim"},
        {"key": "tools", "op": "add", "value": "a、b"}, {"key": "tools", "op": "add", "value": "x" * 201},
        {"key": "tools", "op": "add", "value": "a\x00b"}, {"key": "tools", "op": "add", "value": "Vim（強偏好）"},
        {"key": "joined", "value": "zzz"}, {"key": "timezone", "value": "../../etc/passwd"},
        {"key": "timezone", "value": "Mars/Base"}, {"key": "language", "value": "Klingonese"},
        {"key": "language", "value": "x" * 500_000}, {"key": "note", "op": "add", "value": "x\n## y\n- 時區：UTC"},
        {"source": "a\nVault-User: bob"}, {"source": "my password is x"}, {"source": "x" * 2_000_000},
    ],
    ids=lambda row: json.dumps(row)[:40],
)  # fmt: skip
def test_what_does_not_fit_its_field_is_not_offered(vault: Vault, row: dict[str, str]) -> None:
    set_preference(vault, "alice", "tools", "Docker")
    add_row(vault, **FORGED)
    add_row(vault, **FORGED | {"key": "languages", "op": "add", "value": "Rust"})
    add_row(vault, **FORGED | row)
    assert waiting(vault) == ["languages += Rust", "theme = light"], "nor does it hide another"
    asked = FORGED | row
    name = Suggestion(asked["key"], asked["op"], asked["value"].replace("\ud800", "\ufffd"), "observed").id  # type: ignore[arg-type]
    if name not in [each.id for each in list_suggestions(vault, "alice")]:  # `Light` has the id of `light`
        with pytest.raises(NotFound, match="`vault-memory pref suggestions` shows which do"):
            accept_suggestion(vault, "alice", name)


def test_a_sure_signal_with_a_value_that_the_field_cannot_have_is_dropped(vault: Vault) -> None:
    assert hear(vault, Signal("timezone", "set", "Mars/Base", "explicit")) == []
    assert hear(vault, Signal("language", "set", "Klingonese", "explicit")) == []
    assert [change.new for change in hear(vault, Signal("timezone", "set", "Europe/Berlin", "explicit"))]


def test_what_is_dismissed_stays_dismissed_in_a_long_file(vault: Vault, clock: Clock) -> None:
    hear(vault, unsure("theme", "dark"))
    dismiss_suggestion(vault, "alice", "theme")
    path = vault.path("alice", "feedback.jsonl")
    known = path.read_bytes()
    path.write_bytes(known + (json.dumps(FORGED | {"key": "tools", "op": "add"}) + "\n").encode() * 20_000)
    clock.time += DAY
    assert hear(vault, unsure("theme", "dark")) == [] and "theme = dark" not in waiting(vault)
