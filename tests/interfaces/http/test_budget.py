"""The memory of all requests: who would exceed it waits in line, and nobody waits for another caller's greed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.interfaces.http.budget import Budget, Share


async def soon(work: Coroutine[Any, Any, Share]) -> asyncio.Task[Share]:
    """The work as a task that has had the time to be granted what is free."""
    task = asyncio.ensure_future(work)
    for _ in range(3):
        await asyncio.sleep(0)
    return task


def test_who_would_exceed_the_limit_waits_until_others_have_given_back() -> None:
    async def scene() -> None:
        budget = Budget(total_bytes=10, caller_bytes=6)
        first = await budget.share("alice", 4)
        second = await soon(budget.share("alice", 4))
        assert not second.done(), "alice is at her own limit"
        other = await soon(budget.share("bob", 6))
        assert other.done(), "bob does not wait for alice"
        third = await soon(budget.share("carol", 1))
        assert not third.done(), "all is taken"
        other.result().keep(3)
        assert (await third).size == 1 and not second.done(), "she does not hold up who comes after her"
        first.keep(1)
        assert (await second).size == 4
        for share in (first, first, second.result()):
            share.release()
        assert (await budget.share("dave", 100)).size == 6, "nobody waits for more than there is"

    asyncio.run(scene())


def test_who_leaves_the_line_holds_nothing() -> None:
    async def scene() -> None:
        budget = Budget(4, 4)
        first = await budget.share("alice", 4)
        gone = await soon(budget.share("bob", 4))
        gone.cancel()
        late = await soon(budget.share("carol", 4))
        first.release()
        assert (await late).size == 4 and gone.cancelled()

    asyncio.run(scene())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=30))
def test_the_limits_hold_and_everybody_is_served(wanted: list[tuple[str, int]]) -> None:
    async def scene() -> None:
        budget, held, served = Budget(12, 7), [], 0
        waiting = [await soon(budget.share(caller, size)) for caller, size in wanted]
        while waiting:
            granted = [task for task in waiting if task.done()]
            waiting = [task for task in waiting if not task.done()]
            held += [task.result() for task in granted]
            assert sum(share.size for share in held) <= 12
            assert all(sum(share.size for share in held if share.caller == name) <= 7 for name in "abc")
            assert held, "somebody is always served"
            held.pop(0).release()
            served += 1
            for _ in range(3):
                await asyncio.sleep(0)
        assert served + len(held) == len(wanted)

    asyncio.run(scene())
