"""What git's rules of a working tree, `.gitignore` and `.gitattributes`, would say if some of them were other ones, or
of files under another name.

Git itself decides, in a working tree that holds these files alone: no pattern is read here. The repository's own
`info/exclude` and `info/attributes`, and the person's global rules, are in force there, too. Of files that come later
git says nothing: for them the lines of attributes themselves are read (`encoding_claims`, `filter_claims`).
"""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.repository import BYTES_ATTRIBUTES, CLAIMS, Repository, shared_attributes
from vault_memory.errors import ForeignFile, TooLarge

IGNORE, ATTRIBUTES = ".gitignore", ".gitattributes"
_TIMEOUT_S = 120.0
_CLAIMING = frozenset(map(str.encode, (*CLAIMS, "-working-tree-encoding")))  # without the encoding, git gives up
_MACRO = b"[attr]"


def is_rules(path: PurePosixPath, name: str) -> bool:
    """Whether git reads a file of this path for the rules that are called `name`, on a disk that ignores case, too."""
    return path.name.casefold() == name


def ignored_files(top: Path) -> list[PurePosixPath]:
    """Every untracked file that git ignores here, also in ignored folders; not those of other repositories inside."""
    command = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    listed = os.fsdecode(git.run(top, *command, timeout_s=_TIMEOUT_S)).split("\0")
    return [PurePosixPath(name) for name in listed if name and not name.endswith("/")]


@contextmanager
def changed_rules(top: Path, name: str, after: Mapping[PurePosixPath, bytes | None]) -> Iterator[ChangedRules]:
    """The rules called `name` of the repository at `top`, with some files of them changed: path → text, None for gone.

    The working tree that holds them is in git's own folder: the disk there takes names as it does among the notes.
    """
    repository = Repository(top)
    with tempfile.TemporaryDirectory(prefix="vault-memory-", dir=repository.git_dir) as folder:
        tree = Path(folder, "tree")
        tree.mkdir()
        for path, text in (_in_force(top, name) | dict(after)).items():
            if text is not None and files.can_write(tree, path):
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(text)
        yield ChangedRules(repository, tree, Path(folder, "index"))


@dataclass(frozen=True)
class ChangedRules:
    """Rules as they would be: those in `tree`, with an index that has no entry."""

    repository: Repository
    tree: Path
    index: Path

    def ignored(self, paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths of files that git would ignore, if they were untracked, and the line: `.gitignore:3:*`."""
        fields = self._ask(paths, "check-ignore", "--no-index", "--verbose", "-z", "--stdin")
        rows = zip(fields[0:-1:4], fields[1::4], fields[2::4], fields[3::4], strict=True)
        return {PurePosixPath(row[3]): ":".join(row[:3]) for row in rows if not row[2].startswith("!")}

    def attributes(self, paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, dict[str, str]]:
        """What the attributes say of each path that decide which bytes git holds: attribute → value in git's words."""
        fields = self._ask(paths, "check-attr", "-z", "--stdin", *BYTES_ATTRIBUTES)
        found: dict[PurePosixPath, dict[str, str]] = {}
        for name, attribute, value in zip(fields[0:-1:3], fields[1::3], fields[2::3], strict=True):
            found.setdefault(PurePosixPath(name), {})[attribute] = value
        return found

    def filters(self, paths: Iterable[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths that would go through a filter which git's settings define, and its name."""
        defined = self.repository.filters()
        fields = self._ask(paths, "check-attr", "-z", "--stdin", "filter") if defined else []
        rows = zip(fields[0:-1:3], fields[2::3], strict=True)
        return {PurePosixPath(name): driver for name, driver in rows if driver in defined}

    def _ask(self, paths: Iterable[PurePosixPath], *command: str) -> list[str]:
        """What git says of these paths, split where it puts NUL bytes."""
        names = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)  # a leading colon is no magic then
        if not names:
            return []
        extra = {
            "GIT_DIR": str(self.repository.git_dir),
            "GIT_WORK_TREE": str(self.tree),
            "GIT_INDEX_FILE": str(self.index),
            "GIT_LITERAL_PATHSPECS": "0",  # `check-ignore` refuses it
        }
        options = [option for key in _NAMED_FILES for option in self._named(key)]
        top = self.repository.top
        out = git.run(top, *options, *command, stdin=names, extra=extra, ok=(0, 1), timeout_s=_TIMEOUT_S)
        return os.fsdecode(out).split("\0")

    def _named(self, key: str) -> Sequence[str]:
        """Options that name a file of rules from the top of the repository, where a setting of git's names one."""
        named = self.repository.settings().get(key)
        return ("-c", f"{key}={self.repository.top / os.path.expanduser(named)}") if named else ()


_NAMED_FILES = ("core.excludesfile", "core.attributesfile")


@dataclass(frozen=True)
class OtherRule:
    """A file of which git's rules say something else under its new name: what they say, and would say then.

    `rules` are the lines to look at: the one that ignores the file, or those that set such attributes.
    """

    path: PurePosixPath
    now: str
    then: str
    rules: tuple[str, ...]


def other_rules(
    root: Path,
    old: PurePosixPath,
    new: PurePosixPath,
    paths: Collection[PurePosixPath],
    tracked: Collection[PurePosixPath],
) -> Iterator[OtherRule]:
    """Those of the files in a folder that git would ignore no more, or hold in other bytes, if it had another name.

    The folder, `old`, its name then, `new`, and the files are from `root`, a folder of the repository. Rules in the
    folder move along. What is `tracked` stays so, whatever is ignored.
    """
    repository = Repository(root)
    top, prefix = repository.top, repository.prefix
    old, new = prefix / old, prefix / new
    renamed = {prefix / path: new / (prefix / path).relative_to(old) for path in paths}
    untracked = [path for path in renamed if path.relative_to(prefix) not in tracked]
    with changed_rules(top, IGNORE, {}) as now, changed_rules(top, IGNORE, _moved(top, IGNORE, old, new)) as then:
        ignored = now.ignored(untracked)
        still = then.ignored(renamed[path] for path in ignored)
    for path, line in ignored.items():
        if renamed[path] not in still:
            yield OtherRule(path.relative_to(prefix), "ignored", "not ignored", (line,))
    moved = _moved(top, ATTRIBUTES, old, new)
    with changed_rules(top, ATTRIBUTES, {}) as now, changed_rules(top, ATTRIBUTES, moved) as then:
        before, after = now.attributes(renamed), then.attributes(renamed.values())
    for path, to in renamed.items():
        if names := [name for name in BYTES_ATTRIBUTES if before[path][name] != after[to][name]]:
            yield OtherRule(
                path.relative_to(prefix),
                ", ".join(_shown(name, before[path][name]) for name in names),
                ", ".join(_shown(name, after[to][name]) for name in names),
                tuple(_lines(repository, path, names, (old.name, new.name))),
            )


def _moved(top: Path, name: str, old: PurePosixPath, new: PurePosixPath) -> dict[PurePosixPath, bytes | None]:
    """What becomes of the files of rules called `name` in a folder that is moved."""
    moved = {path: text for path, text in _in_force(top, name).items() if path.is_relative_to(old)}
    return dict.fromkeys(moved) | {new / path.relative_to(old): text for path, text in moved.items()}


def _shown(name: str, value: str) -> str:
    """An attribute as a line of attributes has it."""
    return {"unspecified": f"no {name}", "unset": f"-{name}", "set": name}.get(value, f"{name}={value}")


def _lines(repository: Repository, path: PurePosixPath, names: Collection[str], words: Collection[str]) -> list[str]:
    """The lines that may set these attributes of a path, also by a macro: those that hold one of the words, if any do.

    Git tells no line of an attribute; this is to find it, and nothing is decided by it.
    """
    sources = [repository.top / folder / ATTRIBUTES for folder in path.parents][::-1]
    found: list[tuple[str, list[str]]] = []
    for source in (*shared_attributes(repository), *sources):
        with contextlib.suppress(OSError, TooLarge, ForeignFile):
            text = (files.read(source) or b"").decode("utf-8", "surrogateescape")
            shown = source.relative_to(repository.top) if source.is_relative_to(repository.top) else source
            found += [
                (f"{shown}:{number}:{line}", line.split())
                for number, line in enumerate(text.split("\n"), 1)
                if line.split()
            ]
    names_one = _MACRO.decode()
    macros = {said[0].removeprefix(names_one) for _, said in found if said[0].startswith(names_one)} | {"binary"}
    setting = [
        line
        for line, said in found
        if any(each.lstrip("-!").partition("=")[0] in macros.union(names) for each in said[1:])
    ]
    return [line for line in setting if any(word in line for word in words)] or setting


def _in_force(top: Path, name: str) -> dict[PurePosixPath, bytes | None]:
    """Each file of rules called `name`, tracked or not: path → text. Of one that is not on the disk git reads what its
    index has; a link is not followed."""
    command = ("ls-files", "--cached", "--others", "-z", "--", f":(glob,icase)**/{name}")
    listed = git.run(top, *command, extra={"GIT_LITERAL_PATHSPECS": "0"}, timeout_s=_TIMEOUT_S)
    found: dict[PurePosixPath, bytes | None] = {}
    for path in (PurePosixPath(each) for each in os.fsdecode(listed).split("\0") if each):
        try:
            is_file = stat.S_ISREG((top / path).lstat().st_mode)
        except OSError:
            found[path] = git.run(top, "cat-file", "blob", f":{path}", ok=(0, 128))
        else:
            found[path] = files.read(top / path) if is_file else None
    return found


def encoding_claims(attributes: bytes, *others: bytes) -> frozenset[bytes]:
    """The lines of a text of attributes that claim another encoding than UTF-8 or expand `$Id$`, also by a macro.

    Where one macro does, of this text or of `others`, each counts as one that does: they may name each other.
    """
    return _claims(_CLAIMING, attributes, *others)


def filter_claims(attributes: bytes, *others: bytes) -> frozenset[bytes]:
    """The lines of a text of attributes that put files through a filter, likewise."""
    return _claims(frozenset([b"filter"]), attributes, *others)


def _claims(names: frozenset[bytes], *texts: bytes) -> frozenset[bytes]:
    """The lines of the first text that set one of these attributes, also by a macro of any of the texts."""
    texts = tuple(text.removeprefix(codecs.BOM_UTF8) for text in texts)
    if any(_macro(line) for text in texts for line in _claiming(text, names)):
        names |= set(filter(None, (_macro(line) for text in texts for line in text.split(b"\n"))))
    return frozenset(_claiming(texts[0], names))


def _macro(line: bytes) -> bytes:
    """The name of the macro that a line of attributes defines, or b""."""
    pattern = (line.split() or [b""])[0].strip(b'"')
    return pattern.removeprefix(_MACRO) if pattern.startswith(_MACRO) else b""


def _claiming(attributes: bytes, names: Collection[bytes]) -> Iterator[bytes]:
    for line in attributes.split(b"\n"):
        _, *said = line.split() or [b"#"]
        if any(each.partition(b"=")[0] in names for each in said) and not line.lstrip().startswith(b"#"):
            yield line.strip()
