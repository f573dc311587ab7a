"""What files and folders are called when words are taken out of their names. Those that stand in one folder stay apart,
by a number before the ending of the name: by its ending a note is known as one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

_ENDING = re.compile(rb"(?:\.[A-Za-z][A-Za-z0-9]{0,9})*\Z")
_OF_NOTES = re.compile(rb"\.(?:md|canvas|base)\Z")


class FileNames:
    """`masked` takes the words out of a name; `given` is what was decided before, by the former name.

    A name means the same in all of history, so that a file keeps its past. Two are called alike where no folder has
    both at one time: a note that was renamed is one note."""

    def __init__(self, masked: Callable[[bytes], bytes], given: Mapping[bytes, bytes]) -> None:
        self._masked = masked
        self._given = dict(given)
        self._plain: dict[bytes, bytes] = {}
        self._together: dict[bytes, set[frozenset[bytes]]] = {}

    def hear(self, folder: Iterable[bytes]) -> None:
        """Hear of all names that a folder has at one time, before any is asked for. Those heard first keep their
        names without a number."""
        alike: dict[bytes, list[bytes]] = {}
        for name in folder:
            alike.setdefault(self._without(name), []).append(name)
        for group in map(frozenset, alike.values()):
            for name in group if len(group) > 1 else ():
                self._together.setdefault(name, set()).add(group)

    def settled(self) -> dict[bytes, bytes]:
        """What each name is called that was heard of and has such words."""
        for name, plain in self._plain.items():
            if name != plain and name not in self._given:
                others = frozenset().union(*self._together.get(name, ())) - {name}
                # One of them that has no such words stays; one that has no name yet gets another than this one.
                self._give(name, {self._given.get(each, each) for each in others})
        return self._given

    def called(self, name: bytes) -> bytes:
        """What a name is now. One that was not heard of is called like no other."""
        if name not in self._given and self._without(name) != name:
            self._give(name, self._taken())
        return self._given.get(name, name)

    def _give(self, name: bytes, others: Collection[bytes]) -> None:
        free = plain = self._without(name)
        if free in others:
            free = numbered(plain, self._taken())
        self._given[name] = free

    def _taken(self) -> set[bytes]:
        return {*self._plain.values(), *self._given.values()}

    def _without(self, name: bytes) -> bytes:
        """A name without the words. Where these have the ending of a note, that stays."""
        if name not in self._plain:
            masked = self._masked(name)
            if masked != name and (ending := _OF_NOTES.search(name)) and not masked.endswith(ending[0]):
                whole = masked + ending[0]
                masked = whole if self._masked(whole) == whole else masked
            self._plain[name] = masked
        return self._plain[name]


def numbered(name: bytes, taken: Collection[bytes]) -> bytes:
    """The name with the first number before its ending with which it is not `taken`."""
    ending = _ENDING.search(name)
    at = ending.start() if ending else len(name)
    number = 2
    while (free := b"%s %d%s" % (name[:at], number, name[at:])) in taken:
        number += 1
    return free
