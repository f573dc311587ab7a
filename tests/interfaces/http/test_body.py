"""The memory of all requests: it is taken as bytes arrive, and nobody waits for another caller's greed or silence."""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interfaces.http.test_bad_input import exchange, listening
from tests.scripted_http import ScriptedServer, completion
from vault_memory.interfaces.http.body import PATIENCE_S, Budget, Share, memory_of
from vault_memory.interfaces.http.server import BoundedHttpProtocol
from vault_memory.services.admin import new_user_token
from vault_memory.services.vault import Vault


async def soon(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """The work as a task that has had the time to be granted what is free."""
    task = asyncio.ensure_future(work)
    for _ in range(5):
        await asyncio.sleep(0)
    return task


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_caller_who_would_exceed_the_own_limit_waits_and_nobody_else() -> None:
    async def scene() -> None:
        budget = Budget(total_bytes=20, caller_bytes=6, free_bytes=0)
        first, second, small = (Share(budget, "alice") for _ in range(3))
        await budget.admit(first, 4)
        waiting = await soon(budget.admit(second, 4))
        assert not waiting.done(), "alice is at her own limit"
        await budget.admit(small, 2)
        await budget.admit(Share(budget, "bob"), 6)
        first.keep(1)
        await settle()
        assert not waiting.done(), "3 of 6 are taken"
        small.release()
        await waiting
        assert (first.claim, second.claim) == (1, 4)
        greedy = Share(budget, "dave")
        await budget.admit(greedy, 100)
        assert greedy.claim == 6, "nobody waits for more than there is"

    asyncio.run(scene())


def test_who_only_announces_holds_nothing_that_others_need() -> None:
    async def scene() -> None:
        budget = Budget(12, 6, free_bytes=0)
        for silent in ("mallory", "mallet", "malvolio"):
            await budget.admit(Share(budget, silent), 6)
        alice = Share(budget, "alice")
        await budget.admit(alice, 6)
        await budget.grow(alice, 6)
        assert alice.size == 6

    asyncio.run(scene())


@pytest.mark.slow
def test_the_largest_unfinished_body_of_who_holds_the_most_makes_room() -> None:
    async def scene() -> None:
        budget = Budget(12, 6, free_bytes=0)
        names = ("mallory", "mallory", "mallet", "alice")
        small, large, other, alice = shares = [Share(budget, name) for name in names]
        forgotten = []
        large.on_drop = lambda: forgotten.append("large")
        for share, size in zip(shares, (2, 4, 5, 4), strict=True):
            await budget.admit(share, size)
        for share, size in zip(shares[:3], (2, 4, 5), strict=True):
            await budget.grow(share, size)
        waiting = await soon(budget.grow(alice, 3))
        assert not waiting.done(), "all is taken"
        await asyncio.wait_for(waiting, 10 * PATIENCE_S)
        assert forgotten == ["large"]
        assert (large.is_dropped, small.size, large.size, other.size, alice.size) == (True, 2, 0, 5, 3)

    asyncio.run(scene())


@pytest.mark.slow
def test_a_whole_body_is_never_given_up() -> None:
    async def scene() -> None:
        budget = Budget(6, 6, free_bytes=0)
        whole, late = Share(budget, "alice"), Share(budget, "bob")
        await budget.admit(whole, 6)
        await budget.grow(whole, 6)
        budget.end_arrival(whole)
        await budget.admit(late, 3)
        waiting = asyncio.ensure_future(budget.grow(late, 3))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 1.5 * PATIENCE_S)
        assert (waiting.done(), whole.size, late.is_dropped) == (False, 6, False)
        whole.release()
        await waiting
        assert late.size == 3

    asyncio.run(scene())


def test_who_leaves_the_line_holds_nothing() -> None:
    async def scene() -> None:
        budget = Budget(8, 4, free_bytes=0)
        first, gone, late = (Share(budget, "alice") for _ in range(3))
        await budget.admit(first, 4)
        leaving = await soon(budget.admit(gone, 4))
        leaving.cancel()
        waiting = await soon(budget.admit(late, 4))
        first.release()
        await waiting
        assert late.claim == 4 and gone.claim == 0

    asyncio.run(scene())


def test_what_is_kept_for_a_turn_counts_until_it_is_recorded() -> None:
    async def scene() -> None:
        budget = Budget(12, 6, free_bytes=0)
        share = Share(budget, "alice")
        await budget.admit(share, 4)
        await budget.grow(share, 4)
        share.keep(1)
        assert share.try_to_hold(5) and not share.try_to_hold(7), "a response that does not fit is not kept"
        turn = share.hand_on()
        share.release()
        waiting = await soon(budget.admit(Share(budget, "alice"), 2))
        assert not waiting.done()
        turn.release()
        await waiting

    asyncio.run(scene())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=30))
def test_the_limits_hold_and_everybody_is_served(wanted: list[tuple[str, int]]) -> None:
    async def scene() -> None:
        budget = Budget(21, 7, free_bytes=0)
        shares = [Share(budget, caller) for caller, _ in wanted]

        async def take(share: Share, size: int) -> None:
            await budget.admit(share, size)
            await budget.grow(share, size)

        tasks = [await soon(take(share, size)) for share, (_, size) in zip(shares, wanted, strict=True)]
        for _ in wanted:
            assert sum(share.size for share in shares) <= 21
            assert all(sum(share.claim for share in shares if share.caller == name) <= 7 for name in "abc")
            done = next((n for n, task in enumerate(tasks) if task.done() and shares[n].claim), None)
            if done is not None:
                shares[done].release()
                await settle()
        assert all(task.done() for task in tasks) and budget._held == sum(share.size for share in shares)
        assert not any(share.is_dropped for share in shares)

    asyncio.run(scene())


def head(token: str, length: int) -> bytes:
    return (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Connection: close\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.slow
@pytest.mark.parametrize("sent_bytes", [0, 30_900_000])
def test_large_bodies_that_do_not_end_hold_up_no_other_user(
    proxied: Vault, chat: ScriptedServer, sent_bytes: int
) -> None:
    """Two users who announced 31 MB each and sent nothing made others wait for 30 s. Those who send it nearly all make
    room too: their connection stays, but the body is given up."""
    chat.will_say(completion("ok"))
    words = "How hot is it? " * 20_000
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": words}]}).encode()
    tokens = [new_user_token(proxied, name) for name in ("mallory", "mallet")]
    waiting = list[socket.socket]()
    with listening(proxied, BoundedHttpProtocol) as address, contextlib.ExitStack() as open_ones:
        for length in (31_000_000, 990_000):
            for token in tokens:
                waiting.append(open_ones.enter_context(socket.create_connection(address, timeout=30)))
                waiting[-1].sendall(head(token, length) + b" " * min(sent_bytes, length - 1))
        said = exchange(address, head(new_user_token(proxied, "alice"), len(body)) + body)
        assert said.startswith("HTTP/1.1 200") and "x-vault-memory: injected" in said
        assert not select.select(waiting, [], [], 0)[0], "it is served past those who wait: none of them was told to go"


def test_the_first_bytes_of_a_body_are_read_and_cost_more() -> None:
    assert memory_of(1_000) == 24_000 and memory_of(3_000_000) == 48_000_000 + 2_000_000
