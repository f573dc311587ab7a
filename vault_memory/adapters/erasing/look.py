"""What an erasing would find, what history holds, and how its files were called before; nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.messages import Messages
from vault_memory.adapters.erasing.references import TIMEOUT_S, called, moves_of, rewrite_all
from vault_memory.adapters.erasing.request import Erased, Request, known_by
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.erasing.working_tree import ignored_files, in_working_tree, named_on_disk, with_names
from vault_memory.adapters.git import EMPTY_TREE, ObjectReader, Repository, object_id
from vault_memory.adapters.scan import walk
from vault_memory.core import layout, reading
from vault_memory.core.erasing import MASK, WHOLE, Literal, turn_of
from vault_memory.errors import HistoryError

_EMPTY = object_id("blob", b"")
_OF_STASH = b"index on "


def look_for(repository: Repository, request: Request) -> Erased:
    """What would be erased now: the commits that would be made anew, the references whose names or targets would be
    others, and the files on the disk, among those that git tracks or would, that would change. Nothing is written."""
    top = repository.top
    request = with_names(top, request)
    with ObjectReader(top) as reader:
        made: dict[str, tuple[str, bytes]] = {}

        def add(kind: str, body: bytes) -> str:
            name = object_id(kind, body)
            if kind == "tag":
                made[name] = (kind, body)
            return name

        def read(name: str) -> tuple[str, bytes]:
            return made[name] if name in made else reader.read(name)

        rewrite = Rewrite(read, add, request, {})
        rewrite_all(top, rewrite)
        moves = moves_of(top, rewrite)
    changed = [
        path
        for path in in_working_tree(top)
        if (top / path).is_file()
        and not (top / path).is_symlink()
        and (rewrite.path(path) != path or _is_changed(rewrite, path, top))
    ]
    changed = [*dict.fromkeys([*changed, *named_on_disk(top, rewrite)])]
    moved = sum(each.id_now != each.id or each.name_now != each.name for each in moves)
    tags = tuple(called(each.name) for each in moves if each.id in rewrite.emptied_tags)
    return Erased(rewrite.commits, moved, tuple(changed), rewrite.people, tags=tags)


def _is_changed(rewrite: Rewrite, path: PurePosixPath, top: Path) -> bool:
    old = files.read(top / path, None) or b""
    return rewrite.content(path, old) != old


def still_said(repository: Repository, request: Request, forms: Iterable[str]) -> list[str]:
    """Where one of these words still stands as it was written, in a line each: in a file on the disk or in a commit, a
    name or a message; and the parts in the files that have them. What is spared, packed or of the state is not
    looked at."""
    of_all = Literal(forms)
    of_files: dict[str, list[tuple[tuple[str, str, str], Literal]]] = {}
    for part in request.parts:
        of_files.setdefault(known_by(str(part.path)), []).append((part.turn, Literal(part.texts)))
    found: dict[str, None] = {}

    def look(where: str, data: bytes, path: PurePosixPath | None = None) -> None:
        own = of_files.get(known_by(path.name), of_files.get(str(path), ())) if path else ()
        if said := of_all.found(data) or next(filter(None, (_found_in(data, *each) for each in own)), ""):
            found[f"{where}: {said}"] = None

    def is_ours(path: PurePosixPath) -> bool:
        is_spared = any(path.is_relative_to(folder) for folder in request.spared)
        return not (is_spared or layout.is_state(path) or layout.is_index(path.name))

    for path in filter(is_ours, (*in_working_tree(repository.top), *ignored_files(repository))):
        place = repository.top / path
        look(f"the name {path}", os.fsencode(path), path)
        if place.is_file() and not place.is_symlink():
            look(str(path), files.read(place, None) or b"", path)
    held = [each for each in held_files(repository) if is_ours(each[0])]
    with ObjectReader(repository.top) as reader:
        for (path, _), (_, data) in zip(held, reader.read_all([blob for _, blob in held]), strict=True):
            look(f"{path} in a commit", os.fsencode(path) + b"\n" + data, path)
    told = git.run(repository.top, "log", "--all", "--format=%h%x00%B%x00", timeout_s=TIMEOUT_S).split(b"\0")
    for commit, message in zip(told[::2], told[1::2], strict=False):
        look(f"the message of {commit.decode().strip()}", message)
    return [*found]


def _found_in(data: bytes, turn: tuple[str, str, str], words: Literal) -> str:
    """The first of these words in the lines that are from a turn, or in all."""
    found = words.found(data)
    if not found or turn == WHOLE:
        return found
    return next(filter(None, (words.found(line) for line in reading.lines(data) if _is_of(line, turn))), "")


def _is_of(line: bytes, turn: tuple[str, str, str]) -> bool:
    """Whether a line is from a turn, also where it has lost words of that."""
    place, time, said = turn_of(line) or WHOLE
    return (place, time) == turn[:2] and (said == turn[2] or MASK.decode() in said)


def without_changes(repository: Repository, request: Request) -> list[str]:
    """The short ids of the commits that differ in no file from any commit before, and say more than the mark when the
    request is done: nobody can tell of which file they speak. Those that git makes for a stash are none."""
    args = ("log", "--exclude=refs/notes/*", "--all", "--reflog", "--format=%H %h %T %P%x00%B%x00")
    told = git.run(repository.top, *args, timeout_s=TIMEOUT_S).split(b"\0")
    rows = [(facts.decode().split(), message.strip()) for facts, message in zip(told[::2], told[1::2], strict=False)]
    messages = Messages(request, {})
    trees = {facts[0]: facts[2] for facts, _ in rows}
    return [
        short
        for (_, short, tree, *parents), message in rows
        if {trees.get(each, "") for each in parents} <= {tree}
        and (parents or tree == EMPTY_TREE)
        and message != MASK
        and not message.startswith(_OF_STASH)
        and not messages.is_named(message)
    ]


def tags_that_say(repository: Repository) -> list[str]:
    """The annotated tags that say more than the mark."""
    told = git.run(
        repository.top, "for-each-ref", "--format=%(objecttype)%00%(refname:lstrip=2)%00%(subject)", "refs/tags"
    )
    rows = (row.split("\0") for row in reading.lines(os.fsdecode(told)))
    return [name for kind, name, subject in rows if kind == "tag" and subject not in ("", MASK.decode())]


def held_files(repository: Repository) -> list[tuple[PurePosixPath, str]]:
    """(path, blob) of each file that a commit has changed, before and after; paths from the repository's top."""
    args = ("log", "--all", "--raw", "-m", "--root", "-z", "--no-abbrev", "--no-renames", "--format=")
    fields = iter(git.run(repository.top, *args, timeout_s=TIMEOUT_S).split(b"\0"))
    found: dict[tuple[PurePosixPath, str], None] = {}
    for facts, name in zip(fields, fields, strict=False):
        _, _, old, new, _ = facts.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        found |= {(path, blob): None for blob in (old, new) if blob.strip("0")}
    return [*found]


def paths_of(repository: Repository, path: PurePosixPath) -> tuple[set[PurePosixPath], set[PurePosixPath]]:
    """The paths that a file has and had, and former ones at which another file is now; from the repository's top.

    A renaming is one commit, or what no commit has yet, in which a file is gone and one with the same content, which is
    not empty, is new. A file that merely says the same is another file.
    """
    befores: dict[PurePosixPath, set[PurePosixPath]] = {}
    afters: dict[PurePosixPath, set[PurePosixPath]] = {}
    for old, new in (*_committed(repository), *_pending(repository)):
        befores.setdefault(new, set()).add(old)
        afters.setdefault(old, set()).add(new)
    there = {each for each in in_working_tree(repository.top) if os.path.lexists(repository.top / each)}
    found: set[PurePosixPath] = {path}
    others: set[PurePosixPath] = set()
    todo = [path]
    while todo and path not in there:  # a file that is not there any more: where it went
        later = afters.get(todo.pop(), set()) - found
        found |= later
        todo += later - there
    todo = [*found]
    while todo:
        earlier = befores.get(todo.pop(), set()) - found - others
        others |= earlier & there
        found |= earlier - there
        todo += earlier - there
    return found, others


def _committed(repository: Repository) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    args = ("log", "--all", "--raw", "-m", "--root", "-z", "--no-abbrev", "-M100%", "--diff-filter=R", "--format=")
    fields = iter(git.run(repository.top, *args, timeout_s=TIMEOUT_S).split(b"\0"))
    for facts, old, new in zip(fields, fields, fields, strict=False):
        if facts.split()[2].decode() != _EMPTY:
            yield PurePosixPath(os.fsdecode(old)), PurePosixPath(os.fsdecode(new))


def _pending(repository: Repository) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """Those of the working tree, of files that git does not know by the new name yet."""
    top = repository.top
    gone: dict[str, list[PurePosixPath]] = {}
    for row in filter(None, git.run(top, "ls-files", "--stage", "-z").split(b"\0")):
        facts, _, name = row.partition(b"\t")
        if not os.path.lexists(top / os.fsdecode(name)):
            gone.setdefault(facts.split()[1].decode(), []).append(PurePosixPath(os.fsdecode(name)))
    gone.pop(_EMPTY, None)
    if not gone:
        return
    for name in filter(None, git.run(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")):
        new = PurePosixPath(os.fsdecode(name))
        if (top / new).is_file() and not (top / new).is_symlink():
            for old in gone.get(object_id("blob", files.read(top / new, None) or b""), ()):
                yield old, new


# Repositories inside the vault: git looks into none of them, and their history cannot be made anew here --------------


def refuse_nested(repository: Repository, request: Request) -> None:
    """Raise `HistoryError` where a repository below this one holds what is to be erased."""
    erasure, top = request.erasure(), repository.top
    for folder in _nested(top):
        if any(folder.is_relative_to(gone) for gone in request.gone):
            is_held = (top / folder / ".git").is_file()  # the folder goes; its history is elsewhere
        elif any(folder.is_relative_to(spared) for spared in request.spared):
            is_held = False
        else:
            is_held = any(gone.is_relative_to(folder) for gone in request.gone)
            is_held = is_held or (erasure is not None and any(map(erasure.holds, _all_of(top, folder))))
        if is_held:
            raise HistoryError(
                f"nothing is erased: {folder} is a git repository of its own, which holds it, and can be made anew "
                "only by itself: move it out of the vault or delete it, then erase again; what it says of the text is "
                "for you to take out there"
            )


def _nested(top: Path) -> Iterator[PurePosixPath]:
    for folder, below, names in walk(top):
        if Path(folder) != top and ".git" in (*below, *names):
            yield PurePosixPath(Path(folder).relative_to(top))
        below[:] = [name for name in below if name != ".git"]


def _all_of(top: Path, nested: PurePosixPath) -> Iterator[bytes]:
    """The bytes of all names, files and objects of a repository."""
    for folder, below, names in walk(top / nested):
        for name in (*below, *names):
            place = Path(folder, name)
            yield os.fsencode(place.relative_to(top))
            if place.is_symlink():
                yield os.fsencode(os.readlink(place))
            elif place.is_file():
                yield files.read(place, None) or b""
    args = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    listed = git.run(top / nested, *args, timeout_s=TIMEOUT_S).decode().split()
    with ObjectReader(top / nested) as reader:
        for name in listed:
            yield reader.read(name)[1]
