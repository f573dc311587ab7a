"""How often a turn opens a file, and that a stamp is never trusted where two contents can have the same one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.adapters.conftest import USER, Vault
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.errors import Changed

_opened: list[str] | None = None


def _note(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(args[0], (str, os.PathLike)):
        _opened.append(os.fspath(args[0]))


sys.addaudithook(_note)


@contextmanager
def opened(path: Path) -> Iterator[list[str]]:
    """The `open` calls of one file, by any thread."""
    global _opened
    mine: list[str] = []
    _opened = mine
    try:
        yield mine
    finally:
        _opened = None
        mine[:] = [name for name in mine if name in (str(path), path.name)]  # or in its folder, which is open


def same_size_and_times(place: Path, content: bytes) -> None:
    """Save a file in place within the tick of the clock in which it was written."""
    times = place.stat()
    assert len(content) == times.st_size
    place.write_bytes(content)
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def at_step(vault: Vault, name: str, act: Callable[[], object]) -> History:
    return History(vault.root, step=lambda reached: act() and None if reached == name else None)


def test_a_turn_opens_a_file_once_to_decide_and_once_to_write(vault: Vault) -> None:
    vault.add(b"one")
    cache, place = ReadCache(), vault.root / USER
    with opened(place) as opens:
        assert vault.history.uncommitted([USER], cache=cache) == []
        before = cache.read(place) or b""
        vault.history.commit([Draft("two", ASSISTANT, (FileChange(USER, before, before + b"two\n"),))], cache=cache)
    assert len(opens) == 2
    assert vault.read() == b"one\ntwo\n"
    assert int(vault.git("ls-files", "--debug", "--", str(USER)).partition("size: ")[2].split()[0]) == 8
    vault.assert_clean()


def test_a_save_that_the_stamp_does_not_show_is_found_by_the_swap(vault: Vault) -> None:
    vault.add(b"one")
    cache, place = ReadCache(), vault.root / USER
    before = cache.read(place)
    known = cache._files[place]
    same_size_and_times(place, b"1ne\n")
    cache._files[place] = (files_stamp(place), known[1])  # as on a file system whose clock had not ticked
    draft = Draft("two", ASSISTANT, (FileChange(USER, before, b"one\ntwo\n"),))
    with pytest.raises(Changed) as caught:
        vault.history.commit([draft], cache=cache)
    assert caught.value.found == b"1ne\n" and vault.read() == b"1ne\n"
    assert cache.read(place) == b"1ne\n", "the next attempt must not decide on the old bytes again"
    assert vault.history.state().waiting == 0


def files_stamp(place: Path) -> object:
    cache = ReadCache()
    cache.read(place)
    return cache._files[place][0]


@pytest.mark.parametrize("git_index_is", ["older", "younger"])
def test_a_save_in_the_tick_of_our_write_is_seen_by_git(vault: Vault, git_index_is: str) -> None:
    """Between our write and the new git index the person saves as many bytes, and the clock has not ticked."""
    vault.add(b"one")
    place, git_index = vault.root / USER, vault.history.git_dir / "index"

    def save() -> None:
        same_size_and_times(place, b"one\nTWO\n")
        if git_index_is == "younger":
            later = place.stat().st_mtime_ns + 2 * 10**9
            os.utime(git_index, ns=(later, later))

    history = at_step(vault, "objects written", save)
    flushed = history.commit([vault.draft(b"two")])
    assert len(flushed.commits) == 1
    assert vault.git("show", f"HEAD:{USER}") == "one\ntwo\n"
    assert vault.git("status", "--porcelain") == f" M {USER}\n"
    vault.git("update-index", "--refresh", ok=False)
    assert vault.git("status", "--porcelain") == f" M {USER}\n", "nor after git has written its index anew"
    assert [change.after for change in history.uncommitted()] == [b"one\nTWO\n"]
