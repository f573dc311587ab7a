"""The memory that requests may take at once: who would exceed it waits until others have given theirs back."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from dataclasses import dataclass


class Budget:
    """So many bytes for all callers together, and for each of them. Used on one event loop, so it needs no lock."""

    def __init__(self, total_bytes: int, caller_bytes: int) -> None:
        self._total_bytes, self._caller_bytes = total_bytes, caller_bytes
        self._held: Counter[str] = Counter()
        self._line: deque[tuple[Share, asyncio.Future[None]]] = deque()

    async def share(self, caller: str, size: int) -> Share:
        """`size` bytes for a caller, at most all that one caller may hold; waits for its turn in the line."""
        share = Share(self, caller, min(size, self._caller_bytes))
        granted = asyncio.get_running_loop().create_future()
        place = (share, granted)
        self._line.append(place)
        self.serve_line()
        try:
            await granted
        except BaseException:
            if granted.done() and not granted.cancelled():
                share.release()
            with contextlib.suppress(ValueError):  # it may have left the line already
                self._line.remove(place)
            raise
        return share

    def give_back(self, caller: str, size: int) -> None:
        """Take back what a caller has held."""
        self._held[caller] -= size
        if not self._held[caller]:
            del self._held[caller]
        self.serve_line()

    def serve_line(self) -> None:
        """Grant what fits, in order. A caller at its own limit is passed over; nobody is when all is taken."""
        for place in list(self._line):
            share, granted = place
            if self._held[share.caller] + share.size > self._caller_bytes:
                continue
            if self._held.total() + share.size > self._total_bytes:
                return
            self._line.remove(place)
            if not granted.done():
                self._held[share.caller] += share.size
                granted.set_result(None)


@dataclass(eq=False)
class Share:
    """The bytes that one request holds."""

    budget: Budget
    caller: str
    size: int

    def keep(self, size: int) -> None:
        """Give back all but `size` bytes."""
        freed, self.size = max(0, self.size - size), min(self.size, size)
        self.budget.give_back(self.caller, freed)

    def release(self) -> None:
        """Give back everything; a second time does nothing."""
        self.keep(0)
