"""The second looks of a server whose model does not answer: few at once, few that wait, nobody waits for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.conftest import Clock, wait_until
from tests.scripted_http import Reply, ScriptedServer, change, completion
from vault_memory.services.admin.status import status
from vault_memory.services.profiles.preferences import list_preferences
from vault_memory.services.turns.record import record_turn
from vault_memory.services.turns.second_look import tally
from vault_memory.services.turns.second_looks import AT_ONCE, MAX_WAITING, MAX_WAITING_PER_USER, SecondLooks
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

BRIGHT = "這畫面亮到可以當手電筒"
LATE = replace(completion([change("theme", "dark", BRIGHT, strength="adjustment")]), wait_s=60)


@pytest.fixture
def vault(vault: Vault, clock: Clock, chat: ScriptedServer) -> Vault:
    """The vault of the test, with a model that answers when the test lets it."""
    chat.will_say(LATE)
    return open_vault(
        vault.root, now=clock, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=120.0
    )


def submitted(vault: Vault, looks: SecondLooks, user_id: str) -> str:
    recorded = record_turn(vault, user_id, BRIGHT)
    return looks.submit(recorded.user_id, recorded.source, recorded.as_of)


def theme(vault: Vault, user_id: str) -> str | None:
    return next((p.value for p in list_preferences(vault, user_id) if p.key == "theme"), None)


def test_one_users_turns_leave_room_for_others_and_what_does_not_fit_is_told(
    vault: Vault, chat: ScriptedServer
) -> None:
    looks = SecondLooks(vault)
    assert submitted(vault, looks, "alice") == ""
    wait_until(lambda: len(chat.received) == 1, "the model is asked")
    assert [submitted(vault, looks, "alice") for _ in range(MAX_WAITING_PER_USER)] == [""] * MAX_WAITING_PER_USER
    assert "8 turns of alice wait" in submitted(vault, looks, "alice")
    assert tally(vault).skipped == 1
    assert any("1 turn of 2026-" in line and "no second look" in line for line in status(vault).degraded)
    assert submitted(vault, looks, "bob") == ""
    wait_until(lambda: len(chat.received) == AT_ONCE, "the model is asked for bob, too, and for alice once")
    chat.released.set()
    wait_until(lambda: tally(vault).asked == MAX_WAITING_PER_USER + 2, "all that fitted were looked at")
    assert (theme(vault, "alice"), theme(vault, "bob")) == ("dark", "dark")
    looks.close()
    assert tally(vault).skipped == 1


def test_all_users_together_have_a_limit(vault: Vault, chat: ScriptedServer) -> None:
    looks = SecondLooks(vault)
    for user_id in ("alice", "bob"):
        assert submitted(vault, looks, user_id) == ""
    wait_until(lambda: len(chat.received) == AT_ONCE, "the model is asked for both")
    for number in range(MAX_WAITING):
        assert looks.submit(f"u{number}", "conversations/2026-01-30.jsonl:1", 0) == ""
    assert "too many turns wait" in looks.submit("late", "conversations/2026-01-30.jsonl:1", 0)
    looks.close()
    assert tally(vault).skipped == 1 + MAX_WAITING + AT_ONCE


def test_a_stop_waits_for_no_model_and_nothing_is_lost_in_silence(vault: Vault, chat: ScriptedServer) -> None:
    looks = SecondLooks(vault)
    for user_id in ("alice", "alice", "bob"):
        assert submitted(vault, looks, user_id) == ""
    wait_until(lambda: len(chat.received) == AT_ONCE, "the model is asked for both")
    looks.close()
    assert chat.answered == 0
    assert (tally(vault).skipped, tally(vault).skipped_why) == (3, "the server was stopped")
    assert "the server was stopped" in submitted(vault, looks, "alice")
    chat.released.set()
    wait_until(lambda: not looks._under_way, "the model has answered")
    assert theme(vault, "alice") is None and theme(vault, "bob") is None, "nothing is written after the stop"
    assert len(chat.received) == AT_ONCE


def test_what_was_left_out_is_told_until_the_day_after(vault: Vault, clock: Clock) -> None:
    looks = SecondLooks(vault)
    looks.close()
    submitted(vault, looks, "alice")
    for days, skipped in ((1, 1), (1, 0)):
        clock.time += timedelta(days=days)
        assert tally(vault).skipped == skipped


def test_one_that_fails_holds_up_none_of_those_that_wait(vault: Vault, chat: ScriptedServer) -> None:
    chat.will_say(Reply(status=400))
    looks = SecondLooks(vault)
    looks.submit("alice", "conversations/2020-01-01.jsonl:1", 0)  # no such turn
    assert submitted(vault, looks, "alice") == ""
    wait_until(lambda: tally(vault).failed == 2, "both have failed, visibly")
    assert any("second looks failed" in line for line in status(vault).degraded)
    looks.close()


def test_nothing_is_asked_where_it_is_off_or_off_the_record(vault: Vault, chat: ScriptedServer) -> None:
    looks = SecondLooks(open_vault(vault.root))
    assert submitted(vault, looks, "alice") == "" and not looks._waiting
    on = SecondLooks(vault)
    assert on.submit("alice", "", 0) == "" and not on._waiting and chat.received == []
