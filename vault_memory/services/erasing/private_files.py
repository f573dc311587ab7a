"""What git does not hold: conversation records, archives of months, state. Lines and days stay in their places, for
`Vault-Source` and the archive name them by these."""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.erasing import files_of, ignored_files, named_in
from vault_memory.adapters.git import Repository
from vault_memory.adapters.records import month_files, rewrite_month
from vault_memory.adapters.state import POSTGRES_USED, REDIS_USED
from vault_memory.core import layout, reading
from vault_memory.core.erasing import Erasure
from vault_memory.errors import Changed, VaultMemoryError
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

_STATE = PurePosixPath(layout.STATE_DIR)
JOURNAL = _STATE / "erasing"
"""What is being erased, until all of it is."""
UNREACHED = _STATE / "erasing-unreached"
"""What is to be erased in a store, until that answers."""
_OF_STORES = (UNREACHED, _STATE / REDIS_USED, _STATE / POSTGRES_USED)
DONE = b" "
"""What such a file begins with once all that it says is done."""
_OF_USERS = re.compile(
    r"(?:tokens|deletions|forgetting|erasures|recalls|redactions|injected|locks/(?:users|records|ending|forgetting))/"
)
"""Where state has files that are called like a user."""
_WAITING = ("forgetting", "erasures")
"""Where state has the codes with which a person confirms texts, each with a hash of what was shown."""
_RENAMINGS = _STATE / "renamings"
_BEGINNING_BYTES = 1 << 16
_DATABASES = re.compile(r"(?:short-term|outbox|index)\.db(?:-wal|-shm|-journal)?")


def holding_files(vault: Vault, wanted: Wanted) -> list[PurePosixPath]:
    """The files that `clear_private_files` would change or delete."""
    found = [path for path, _ in _changes(vault, wanted)]
    if (erasure := wanted.erasure()) is not None:
        found += [path for path in _months(vault, wanted) if _rewritten(vault, path, erasure, only_look=True)]
    return found


def clear_private_files(vault: Vault, wanted: Wanted) -> list[PurePosixPath]:
    """Take what is wanted out of the files that git does not hold, and delete those of an erased user; which files
    these were. The caller holds the locks of users and records. Raises `VaultMemoryError` for an archive that cannot be
    read."""
    done: list[PurePosixPath] = []
    for path, made in _changes(vault, wanted):
        if made is None:
            (vault.root / path).unlink(missing_ok=True)
        else:
            _write(vault.root / path, made, vault.root)
        done.append(path)
    if (erasure := wanted.erasure()) is not None:
        done += [path for path in _months(vault, wanted) if _rewritten(vault, path, erasure)]
    for folder in (vault.root / _STATE / name for name in _WAITING):
        for name in files.names(folder):
            if name.endswith(".json"):  # a hash tells a guess whether it is right
                files.remove_private(folder / name, vault.root)
    for user_id in wanted.users:
        _remove_folder(vault.root / layout.user_dir(user_id))
        _remove_folder(vault.root / _STATE / "injected" / user_id)
    return done


def forget_file(path: Path, root: Path, noted: Callable[[], None] = lambda: None) -> None:
    """Delete a private file that says what was to be erased, with other bytes in its place first; `noted` is called
    when they are durable. A kill leaves the file whole, or as one that is done (`DONE`)."""
    with files.opened(path, follow=False) as stored:
        size = os.fstat(stored.fileno()).st_size
    number = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        for blanks in (DONE, DONE * size):
            os.lseek(number, 0, os.SEEK_SET)
            files.write_all(number, blanks)
            os.fsync(number)
            noted()
    finally:
        os.close(number)
    files.remove_private(path, root)
    files.sync_folder(path.parent)


def files_without_text(vault: Vault) -> list[PurePosixPath]:
    """Files in the vault whose bytes are no text in UTF-8: packed, encrypted, pictures, another encoding. What is in
    them is found only where its bytes stand in them as they are."""
    months = [path for user in vault.user_ids() for _, path in _of_user(vault, user)]
    own = {PurePosixPath(path.relative_to(vault.root).as_posix()) for path in months}
    listed = dict.fromkeys(files_of(Repository(vault.history.root)))
    return sorted(each for each in listed if each not in own and _is_no_text(vault.root / each, each))


def _is_no_text(place: Path, path: PurePosixPath) -> bool:
    if layout.is_state(path) or place.is_symlink() or not place.is_file():
        return False
    try:
        with files.opened(place) as file:
            begin = file.read(_BEGINNING_BYTES)
    except (OSError, VaultMemoryError):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin)  # a letter may be cut at its end
    except UnicodeDecodeError:
        return True
    return b"\0" in begin


def kept_by_others(vault: Vault, wanted: Wanted) -> dict[str, int]:
    """How many files of each other user hold a text: they stay."""
    erasure = wanted.erasure()
    counts: dict[str, int] = {}
    if erasure is None:
        return counts
    for folder in wanted.request.spared:
        for path in (vault.root / folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and not layout.is_index(path.name):
                with suppress(OSError, VaultMemoryError):
                    counts[folder.name] = counts.get(folder.name, 0) + erasure.holds(files.read(path, None) or b"")
    return {name: count for name, count in counts.items() if count}


def own_with_parts(vault: Vault, wanted: Wanted) -> list[PurePosixPath]:
    """The notes and logs of the user's own and the shared ones that say a part of a text of which something was made,
    or are called so, and stay so."""
    erasure, parts = wanted.erasure(), wanted.request.known_parts
    if erasure is None or parts is None:
        return []
    found = list[PurePosixPath]()
    for path in files_of(Repository(vault.history.root)):
        place, own = vault.root / path, wanted.request.parts_in(str(path))
        if path.suffix != ".md" or layout.is_state(path) or not place.is_file() or place.is_symlink():
            continue
        if layout.scope_of(path) not in (wanted.user_id, layout.SHARED):
            continue
        data, name = files.read(place, None) or b"", b"" if own else os.fsencode(path)
        if parts.holds(data) or parts.holds(name):
            left = erasure.masked(data)
            if parts.holds(own.masked(left, data) if own else left) or parts.holds(erasure.masked(name)):
                found.append(path)
    return found


def _changes(vault: Vault, wanted: Wanted) -> Iterator[tuple[PurePosixPath, bytes | Callable[[bytes], bytes] | None]]:
    """(path, what makes its new bytes of the old ones) of each file that changes; None for one that goes."""
    erasure, parts = wanted.erasure(), wanted.request.parts_of_all
    spared, ids = wanted.request.spared, {each.casefold() for each in wanted.users}
    of_them = [layout.user_dir(each) for each in wanted.users]
    names = names_of(wanted)
    for path in ignored_files(Repository(vault.history.root)):
        place = vault.root / path
        is_spared = any(path.is_relative_to(folder) for folder in spared)
        if path in (JOURNAL, *_OF_STORES) or place.is_symlink() or not place.is_file() or is_spared:
            continue
        if any(path.is_relative_to(folder) for folder in of_them) or path in wanted.request.gone:
            yield path, None
            continue
        is_state = path.is_relative_to(_STATE)
        if is_state and _OF_USERS.match("/".join(path.parts[1:])) and ids & _parts(path):
            yield path, None
            continue
        if _is_handled(path):
            continue

        def made(old: bytes, path: PurePosixPath = path, is_state: bool = is_state) -> bytes:
            new = erasure.masked(old) if erasure else old
            new = parts.masked(new) if parts and is_state else new
            return _without(new, names, path) if is_state and names else new

        with suppress(FileNotFoundError):
            old = files.read(place, None) or b""
            if made(old) != old:
                yield path, made


def _parts(path: PurePosixPath) -> set[str]:
    named = [part.casefold() for part in path.parts[1:]]
    return {*named, *(part.removesuffix(path.suffix) for part in named)}


def _write(place: Path, made: Any, root: Path) -> None:
    while True:
        old = files.read(place, None)
        if old is None:
            return
        try:
            files.replace(place, made(old), old, root)
            return
        except Changed:
            continue


def names_of(wanted: Wanted) -> re.Pattern[bytes] | None:
    """By what state and stores name an erased user or note; None where only texts go."""
    words = {*wanted.users, *map(str, map(layout.user_dir, wanted.users))}
    if not wanted.is_user:
        for path in wanted.request.gone:
            words |= {str(path), "/".join(path.parts[2:]), path.stem.split("-")[0] if "_" in path.stem else str(path)}
    return named_in({word for word in words if word})


def _without(text: bytes, names: re.Pattern[bytes], path: PurePosixPath) -> bytes:
    """A file of the state without what it says of an erased user or note: of JSON without the entries that name it, of
    a log without the lines. The log of renamings is read by its length, so there as many signs stand for the name."""
    if path == _RENAMINGS:
        return names.sub(lambda found: b"_" * len(found[0]), text)
    if path.suffix == ".json":
        try:
            told = json.loads(text)
        except ValueError:
            return text
        pruned = _pruned(told, names)
        return text if pruned == told else json.dumps(pruned, ensure_ascii=False, indent=1).encode() + b"\n"
    return b"".join(line for line in reading.lines(text, keep_ends=True) if not names.search(line))


def _pruned(value: Any, names: re.Pattern[bytes]) -> Any:
    def is_named(each: Any) -> bool:
        return isinstance(each, str) and names.search(each.encode("utf-8", "surrogatepass")) is not None

    if isinstance(value, dict):
        return {name: _pruned(each, names) for name, each in value.items() if not (is_named(name) or is_named(each))}
    if isinstance(value, list):
        return [_pruned(each, names) for each in value if not is_named(each)]
    return value


def _is_handled(path: PurePosixPath) -> bool:
    """Whether a file is no text, and is seen to elsewhere."""
    return path.suffix == ".lock" or _DATABASES.fullmatch(path.name) is not None or path.suffix == ".gz"


def _of_user(vault: Vault, user_id: str) -> list[tuple[Any, Path]]:
    return [each for each in month_files(vault.root / layout.user_dir(user_id)) if each[1].suffix == ".gz"]


def _months(vault: Vault, wanted: Wanted) -> list[PurePosixPath]:
    others = {folder.name for folder in wanted.request.spared}
    return [
        PurePosixPath(path.relative_to(vault.root))
        for user_id in vault.user_ids()
        if user_id not in others
        for _, path in _of_user(vault, user_id)
    ]


def _rewritten(vault: Vault, path: PurePosixPath, erasure: Erasure, *, only_look: bool = False) -> bool:
    found = False

    def masked(lines: bytes) -> bytes:
        nonlocal found
        masked = erasure.masked(lines)
        found |= masked != lines
        return lines if only_look else masked

    rewrite_month(vault.root / path, masked, vault.root)
    return found


def _remove_folder(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)
        files.sync_folder(folder.parent)
    elif os.path.lexists(folder):
        folder.unlink()
