"""Git's rules that a remote sends, `.gitignore` and `.gitattributes`: which of them are not taken in, and why.

By them a remote could send what is ignored here (the files would count as new), and garble what turns write.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.git import ATTRIBUTES, IGNORE, FileDifference, Repository, is_rules
from vault_memory.core import layout
from vault_memory.errors import LargeObject
from vault_memory.services.vault import Vault

MAX_RULES_BYTES = 100_000
"""Of a `.gitattributes` or `.gitignore` that a remote sends: a vault's own has some hundred."""
_MAX_NAMED = 3
_MAX_SHOWN_CHARS = 100
_TOKEN = re.compile(r"\\.|\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]|.", re.DOTALL)
"""What matches one character in a pattern of git's, or `*`."""


def ignore_problem(vault: Vault, after: Mapping[PurePosixPath, bytes | None], leaving: Sequence[PurePosixPath]) -> str:
    """Why a remote's changes of `.gitignore` files are not taken in; "" if they are: files that lie here would be
    ignored no more, and the next commit of edits would take them for new ones.

    `after` has the changed ones as they would be, `leaving` files on the disk that git would track no more.
    """
    top = vault.history.root
    ignored = [*git.ignored_files(top), *vault.history.working_tree.ignoring(leaving)]
    asked = [path for path in ignored if not files.is_temporary(path.name)]
    with git.changed_rules(top, IGNORE, after) as rules:
        still = rules.ignored(asked)
    uncovered = [path for path in asked if path not in still]
    return f"git would no longer ignore {_shown(uncovered)}, which would be sent" if uncovered else ""


def filter_problem(vault: Vault, after: Mapping[PurePosixPath, bytes | None], known: Iterable[PurePosixPath]) -> str:
    """Why a remote's changes of `.gitattributes` files are not taken in; "" if they are: files of the vault's own
    kinds would go through a filter here, and through none before.

    `after` has the changed ones as they would be, `known` the files of the remote that are new.
    """
    profiles = [layout.user_dir(user_id) / layout.PROFILE for user_id in vault.user_ids()]
    own = list(filter(layout.is_own_kind, dict.fromkeys([*vault.history.working_tree.tracked(), *known, *profiles])))
    now = vault.history.working_tree.filtered(own)
    new = {path: name for path, name in filters_after(vault, after, own).items() if path not in now}
    return f"{_shown(list(new))} would go through the git filter {next(iter(new.values()))}" if new else ""


def filters_after(
    vault: Vault, after: Mapping[PurePosixPath, bytes | None], paths: Iterable[PurePosixPath]
) -> dict[PurePosixPath, str]:
    """Those of the paths that go through a filter with these `.gitattributes` files, and its name."""
    with git.changed_rules(vault.history.root, ATTRIBUTES, after) as rules:
        return rules.filters(paths)


def attributes_problem(vault: Vault, theirs: bytes, ours: bytes | None) -> str:
    """Why a remote's `.gitattributes` is not taken in; "" if it is: every git that heeds a false claim garbles text,
    and a filter of the person's (git-lfs) puts something else in the place of what turns write.

    Its lines are read because they count for files that are not there yet, too. `filter_problem` judges by git.
    """
    in_force = (vault.history.root / ATTRIBUTES, *git.shared_attributes(Repository(vault.history.root)))
    texts = [text for path in in_force if (text := files.read(path))]  # their macros count in each folder
    encodings = git.encoding_claims(theirs, *texts) - git.encoding_claims(ours or b"", *texts)
    if encodings:
        return f"it newly sets an encoding or `ident`, by which git would garble notes: {_lines(encodings)}"
    filters = git.filter_claims(theirs, *texts) - git.filter_claims(ours or b"", *texts)
    filters = frozenset(filter(may_match_own_kind, filters))
    if filters:
        return f"it newly puts files of the vault's own kinds through a git filter: {_lines(filters)}"
    return ""


def is_claiming(vault: Vault, difference: FileDifference) -> bool:
    """Whether a `.gitattributes` of the remote is not taken in (`attributes_problem`), or is too large to be read."""
    if not is_rules(difference.path, ATTRIBUTES):
        return False
    try:
        theirs = vault.history.stored(difference.new).read() if difference.new else b""
        return bool(attributes_problem(vault, theirs, vault.history.blob(difference.path)))
    except LargeObject:
        return True


def may_match_own_kind(line: bytes) -> bool:
    """Whether a line of attributes defines a macro, or its pattern may match a file of a kind that the vault writes:
    `*.md`, `memory/**`, `*`; not `*.png` or `*.[Pp][Nn][Gg]`."""
    pattern = line.split()[0].decode("utf-8", "surrogateescape")
    if pattern.startswith(("[attr]", '"')):
        return True
    tokens = _TOKEN.findall(pattern)
    tail = tokens[len(tokens) - tokens[::-1].index("*") :] if "*" in tokens else tokens
    return any(
        all(_may_be(token, letter) for token, letter in zip(reversed(tail), reversed(suffix), strict=False))
        for suffix in layout.OWN_SUFFIXES
    )


def _may_be(token: str, letter: str) -> bool:
    if "[:" in token:
        return True
    token = re.sub(r"^\[\^", "[!", token)
    token = token[1:] if token.startswith("\\") else token
    return any(fnmatch.fnmatchcase(each, token) for each in (letter, letter.upper()))


def _lines(lines: Iterable[bytes]) -> str:
    first, *others = sorted(lines)
    shown = first.decode("utf-8", "replace")
    return f"{shown[:_MAX_SHOWN_CHARS]}{'…' if others or len(shown) > _MAX_SHOWN_CHARS else ''}"


def _shown(paths: Sequence[PurePosixPath]) -> str:
    names = ", ".join(map(str, paths[:_MAX_NAMED]))
    return f"{len(paths):,} file{'' if len(paths) == 1 else 's'} ({names}{', …' if len(paths) > _MAX_NAMED else ''})"
