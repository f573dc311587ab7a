"""A text that the vault itself needs is refused before anything is changed: its files could not be read any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing import files_of
from vault_memory.adapters.git import Repository
from vault_memory.core import layout, reading
from vault_memory.core.erasing import Erasure, is_read, words_of_every_vault, words_of_file, words_of_git, words_of_name
from vault_memory.errors import UsageError
from vault_memory.services import starter
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

_READ_SUFFIXES = (".json", ".canvas", ".base", ".yaml", ".yml")
"""Of other programs, which would not read a file any more that has lost a quote or a number."""
_RULES = (".gitignore", ".gitattributes")


def refuse_needed(vault: Vault, wanted: Wanted) -> None:
    """Raise `UsageError` for a text that stands in an id of a user, in a name, key or label, or in a time, id or number
    by which a file is read; it names where, and the next step."""
    if (erasure := wanted.erasure()) is None:
        return
    for user_id in [*vault.user_ids(), *wanted.former_ids]:
        if erasure.holds(user_id.encode()):
            raise UsageError(
                f"{_named(wanted, user_id)} stands in the id of a user, {user_id}: `vault-memory erase --user "
                f"{user_id}` takes all of this user; name more of the text to take it alone"
            )
    for where, word in _words(vault):
        if erasure.holds(word.encode("utf-8", "surrogatepass")):
            raise _refused(wanted, word, where)
    for path in files_of(Repository(vault.history.root)):
        is_spared = any(path.is_relative_to(folder) for folder in wanted.request.spared)
        if (
            not is_spared
            and not path.is_relative_to(layout.STATE_DIR)
            and (word := _lost(vault, path, wanted, erasure))
        ):
            raise _refused(wanted, word, str(path))


def _refused(wanted: Wanted, word: str, where: str) -> UsageError:
    return UsageError(
        f"{_named(wanted, word)} stands in {word!r}, which the vault needs in {where}: name more of the text, so that "
        "it stands in nothing else"
    )


def _named(wanted: Wanted, word: str) -> str:
    """The text that stands in a word."""
    data = word.encode("utf-8", "surrogatepass")
    return repr(next((each for each in wanted.request.texts if Erasure([each]).holds(data)), wanted.request.texts[0]))


def _words(vault: Vault) -> Iterator[tuple[str, str]]:
    """(where, word) of all that every vault needs, and git."""
    yield from ((where, word) for word, where in words_of_every_vault().items())
    told = git.run(vault.history.root, "config", "--local", "--list", "-z").decode("utf-8", "replace")
    rows = (row.partition("\n") for row in told.split("\0") if row)
    yield from (("git's settings", word) for word in words_of_git((name, value) for name, _, value in rows))
    for name, hook in starter.hooks().items():
        yield from ((f"git's hook {name}", line.decode("utf-8", "replace")) for line in reading.lines(hook))
    for name in _RULES:
        shipped = {line for text in starter.starter_texts(name) for line in reading.lines(text)}
        lines = reading.lines(files.read(vault.root / name) or b"")
        yield from ((name, line.decode()) for line in lines if line in shipped and not line.startswith(b"#"))


def _lost(vault: Vault, path: PurePosixPath, wanted: Wanted, erasure: Erasure) -> str:
    """What a file and its name would lose of that by which they are read; "" for nothing. Raises `UsageError` for
    one that could not be read any more."""
    for word in words_of_name(path):
        if erasure.holds(word.encode()):
            return word
    place = vault.root / path
    if path.suffix not in (*layout.OWN_SUFFIXES, *_READ_SUFFIXES) or place.is_symlink() or not place.is_file():
        return ""
    with suppress(FileNotFoundError):
        old = files.read(place, None) or b""
        if (new := erasure.masked(old)) != old:
            kept = words_of_file(path, new)
            lost = (word or "the front matter" for word in words_of_file(path, old) if word != next(kept, None))
            if word := next(lost, ""):
                return word
            if is_read(path, old) and not is_read(path, new):
                raise UsageError(
                    f"{path} could not be read any more without {_breaking(wanted, path, old)}: name only words "
                    "between the signs that divide its values, or change this file first"
                )
    return ""


def _breaking(wanted: Wanted, path: PurePosixPath, old: bytes) -> str:
    """The text without which a file cannot be read."""
    broken = (each for each in wanted.request.texts if not is_read(path, Erasure([each]).masked(old)))
    return repr(next(broken, wanted.request.texts[0]))
