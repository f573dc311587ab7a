"""What each path of a vault is, and which user an id or an outside name means. Pure: it reads names, never the disk.

A vault has one *scope* per user, `memory/<user_id>/`, and one shared scope: the Markdown outside `memory/`. A *source*
is a file's path inside its scope, with forward slashes: `USER.md`, `daily/2026-01-30.md`; in the shared scope it is the
path inside the vault. A hit names its source, not its path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import PurePath, PurePosixPath

from vault_memory.core.record_kinds import KIND_OF_PATH
from vault_memory.errors import InvalidId

SETTINGS_FILE = "vault-memory.toml"
STATE_DIR = ".vault-memory"
INJECTED_DIR = "injected"
"""In the state: what went with the words of a chat, in a folder for each user."""
SCAN_REQUEST = PurePosixPath(STATE_DIR, "rescan")
SOUL, AGENTS = PurePosixPath("context/SOUL.md"), PurePosixPath("context/AGENTS.md")
SKILLS_DIR = "skills"
SKILL = "SKILL.md"
MEMORY_DIR = "memory"
CONVERSATIONS_DIR = "conversations"
ARCHIVE_DIR = "archive"
ARCHIVED_RECORDS = f"{ARCHIVE_DIR}/{CONVERSATIONS_DIR}"
INDEX_FILE = "index.db"
FORMAT = 1
MAX_DEPTH = 100
"""Names in the path of a file, its own and those of the folders above it. Deeper ones end other programs."""

PROFILE = "USER.md"
MEMORY_LOG = "MEMORY.md"
LEARNING = "LEARNING.md"
FEEDBACK = "feedback.jsonl"

OWN_SUFFIXES = (".md", ".jsonl", ".toml")

SHARED = ""
"""The scope of the Markdown outside `memory/`; every other scope is a user id."""

_USER_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def _or_short(name: str, letters: str) -> str:
    """A pattern of a name, or of a short name that Windows may give to it: some of its `letters`, or two of them and a
    hash, then a number (`VAULT-~1`, `VA1B2C~1`)."""
    cut = "|".join(letters[:length] for length in range(3, len(letters) + 1))
    return rf"(?:{name}|(?:{cut}|{letters[:2]}[0-9a-f]{{1,4}})~\d+)"


def _compiled_later(pattern: str) -> Callable[[], re.Pattern[str]]:
    """A search imports this module and asks for none of these: compiling all of them takes 5 ms."""
    return cache(partial(re.compile, pattern))


_GIT, _STATE = _or_short(r"\.git", "git"), _or_short(r"(?:[^/]* )?\.vault-memory[^/]*", "vault-")
_INDEX = _or_short(r"index\.db", "index") + "[^/]*"
_COPY_OF_STATE = (
    r"[^/]*vault-memory[^/]*/(?:.+/)?(?:(?:tokens|redactions)/[^/]+|(?:machine|request-key|withheld)\.json|token"
    r"|renamings|locks/.+\.lock)|injected/[^/]+/[0-9a-f]{32}\.json|logs/(?:proxy|daemon)\.jsonl(?:\.\d+)?"
)
"""Names that other programs may have too count only in a folder that is named after the state's."""
_GITS_OBJECTS = r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.[a-z]+)"
"""Of a repository whose folder has any name: `.git.bak`, `mirror.git`. They hold what was ever committed there."""
_CONVERSATIONS = r"memory/[^/]+/(?:archive/)?" + _or_short("conversations", "conver")
_PRIVATE = _compiled_later(
    rf"(?:^|/)(?:{_GIT}|{_STATE}|{_INDEX}|{_CONVERSATIONS})(?:/|$)|(?:^|/)(?:{_COPY_OF_STATE}|{_GITS_OBJECTS})$"
)
_STATE_OR_INDEX = _compiled_later(rf"(?:^|/)(?:{_STATE}(?:/|$)|{_INDEX}$)")
_TEMPORARY = _compiled_later(
    r"(?i:\..*|.*~|~.*|4913|index\.db.*|.*\.(?:sw[a-p]|tmp|temp|bak|part|icloud|crdownload|lock))"
)
_MAY_BE_PRIVATE = re.compile(r"git|vault|index|conver|chat|objects|injected|logs|\.\.|~|[^\x00-\x7f]", re.IGNORECASE)
_PROGRAM = _compiled_later(
    rf"(?:^|/){_or_short(r'[.][^/]+', 'obsidi')}/"
    rf"(?:{_or_short('plugins|themes|snippets', 'snippe')}(?:/|$)"
    rf"|{_or_short('community-plugins', 'commun')}[.]jso[^/]*$)"
)

_FOR_PROGRAMS = _compiled_later(
    r"(?:^|/)\.(?!git(?:ignore|attributes|modules|keep)$|obsidian(?:/|$))[^/]"
    r"|(?:^|/)[^/.~]{1,6}~\d{1,4}(?:/|$)"  # Windows' short name of a hidden one
    r"|(?:^|/)(?:(?:site|user)customize(?:\.[^/]+|/.+)|pyvenv\.cfg|[^/]*\._?pth)$|logseq/custom\.js$"
)


def _pattern_of(glob: str) -> str:
    return re.escape(glob).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")


_HOME = r"memory/[^/]+/(?:archive/)?"
_BELOW_A_FILE = _compiled_later(
    rf"(?:{re.escape('vault-memory.toml')}|\.gitignore|\.gitattributes"
    rf"|{_HOME}(?:{'|'.join(_pattern_of(glob.casefold()) for glob, _ in KIND_OF_PATH)}"
    r"|memory-\d{4}\.md|feedback-\d{4}\.jsonl))/"
)
_KINDS = [(_compiled_later(_pattern_of(glob)), kind) for glob, kind in KIND_OF_PATH]
_OWN_FOLDERS = (MEMORY_DIR, SKILLS_DIR, SOUL.parts[0])
_NO_VAULT = _compiled_later(rf"(?:{'|'.join(_OWN_FOLDERS)})/(?:.*/)?{_or_short('vault-memory', 'vault-')}\.toml?")
_FOLDERS_OF_HOME = "|".join(glob.partition("/")[0] for glob, _ in KIND_OF_PATH if "/" in glob)
_IS_A_FOLDER = _compiled_later(rf"memory/{_USER_ID.pattern}(?<!\.md)|{_HOME}(?:{_FOLDERS_OF_HOME})|{_HOME}archive")
_EXPORT = _compiled_later(r"(?i:conversations)(?:-\d+| ?\(\d+\)| copy)?(?i:\.json)")
_UPWARDS = re.compile(r"(?:^|/)\.\.[. ]*(?:/|$)")
# What a disk may ignore in a name: case; on macOS some invisible characters; on Windows dots and blanks at the end, and
# what follows a colon. Windows also takes a backslash for a slash, and knows a file by a short name with a `~`.
_IGNORED_IN_NAMES = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|:[^/]*|[. ]+(?=/|$)")
_TEXT_SUFFIX = re.compile(r"\.(?:base|canvas|cfg|conf|csv|env|html?|ini|json|log|te?xt|tsv|xml|ya?ml)", re.IGNORECASE)
_SOURCE_SUFFIX = re.compile(
    r"\.(?:pyi?|[cm]?[jt]s|[jt]sx|vue|svelte|java|kts?|scala|groovy|c|h|cc|cpp|hpp|cs|go|rs|rb|php|swift|m|mm|dart|lua|pl|pm|r|jl"
    r"|ex|exs|hs|clj|fs|vb|sol|zig|nim)",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?<![\w./:])/(?:[^\s/'\"`:]+/)+")
_DAY_FILE = re.compile(r"(?:daily|conversations)/(\d{4}-\d{2}-\d{2})\.(?:md|jsonl)")
_MONTH_FILE = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])\.jsonl(?:\.gz)?")
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")

# Windows cannot make folders of these names, with any ending; a vault must open on all three systems.
_WINDOWS_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}


@dataclass(frozen=True)
class Place:
    """A file of the vault: its scope (a user id, or `SHARED`) and its source inside that scope."""

    scope: str
    source: str


def is_private(path: PurePosixPath) -> bool:
    """Whether a vault-relative path is state, a search index or a conversation, or git's own. Nothing of this kind is
    committed, sent to a remote or taken from one, whatever `.gitignore` says."""
    if not _MAY_BE_PRIVATE.search(path.as_posix()):  # a vault has many thousand names; this takes a tenth of the time
        return False
    text = path.as_posix().replace("\\", "/")
    return _UPWARDS.search(text) is not None or _PRIVATE().search(_as_stored(path)) is not None


def is_private_packed(name: str) -> bool:
    """Whether a member of an archive is private by its name: an archive may begin at any folder of the vault, or inside
    one."""
    if not _MAY_BE_PRIVATE.search(name):
        return False
    path = PurePosixPath(name.replace("\\", "/"))  # as programs of Windows write it
    is_kept = is_export(name) or path.name.casefold() == "chat.html"
    return is_private(path) or is_kept or (path.suffix in (".jsonl", ".gz") and CONVERSATIONS_DIR in path.parts)


def is_export(member: str) -> bool:
    """Whether a member of an archive holds the conversations that a chat service has given out, by its name:
    `conversations.json`, `conversations-000.json`, `conversations (1).json`, in any folder but the one for what macOS
    keeps beside files."""
    path = PurePosixPath(member.replace("\\", "/"))  # as some programs on Windows write it
    return _EXPORT().fullmatch(path.name) is not None and "__MACOSX" not in path.parts


def is_program(path: PurePosixPath) -> bool:
    """Whether Obsidian runs this file or is told by it what to run: plugins, themes and snippets in its hidden folder,
    and the list of enabled plugins. Such a file travels between machines only when a person asks for it."""
    return _PROGRAM().search(_as_stored(path)) is not None


def is_for_programs(path: PurePosixPath) -> bool:
    """Whether Obsidian or another program runs this file, or does what it says: hidden files and folders (`.vscode`,
    `.claude`, `.envrc`, `.lfsconfig`, hooks in `.githooks`) but git's rules and Obsidian's own settings, and scripts
    that are run for their name. One that a remote sends is put on the disk only when a person asks for it."""
    return is_program(path) or _FOR_PROGRAMS().search(_as_stored(path)) is not None


def is_misplaced(path: PurePosixPath) -> bool:
    """Whether a file stands where the layout has a folder (`memory/bob`, `memory/bob/daily`), or below a folder that
    stands where it has a file (`memory/bob/USER.md/x`): a turn could not write there. Or it is the settings of a vault
    where there is none (`may_be_vault`), or deeper than `MAX_DEPTH`. Nothing of this kind is committed or taken from
    a remote. Markdown in `memory/` is no user's."""
    if len(path.parts) > MAX_DEPTH:
        return True
    stored = _as_stored(path)
    if not stored.startswith((*_OWN_FOLDERS, "vault-memory.toml/", ".git")):  # most are notes of the shared scope
        return False
    if _BELOW_A_FILE().match(stored):
        return True
    return any(pattern().fullmatch(stored) for pattern in (_IS_A_FOLDER, _NO_VAULT))


def may_be_vault(folder: PurePath) -> bool:
    """Whether a folder of a vault, relative to its root, is another vault if it holds settings: not one of the layout's
    own, or below it. There such a file is a file like any other: anybody may have put it there."""
    return not folder.parts or folder.parts[0].casefold() not in _OWN_FOLDERS


def is_written_by_turns(path: PurePosixPath) -> bool:
    """Whether turns of a user may write to this file: their profile, logs and records."""
    parts = path.parts
    if len(parts) < 3 or parts[0] != MEMORY_DIR or not is_user_id(parts[1]):
        return False
    return any(pattern().fullmatch("/".join(parts[2:])) for pattern, _ in _KINDS)


def is_own_kind(path: PurePosixPath) -> bool:
    """Whether a file is of a kind that the vault writes, and always in UTF-8: Markdown, logs and records, settings."""
    return path.suffix.casefold() in OWN_SUFFIXES


def is_text_kind(path: PurePosixPath) -> bool:
    """Whether a file is text by its name, whatever bytes it holds: of the vault's own kinds, or of Obsidian's and other
    programs' that a person writes by hand."""
    is_settings = path.name.casefold().startswith(".env")  # .env, .env.local
    return is_settings or is_own_kind(path) or _TEXT_SUFFIX.fullmatch(path.suffix) is not None


def is_source(path: PurePosixPath) -> bool:
    """Whether a file holds a program, by its name: in it a dot stands before an attribute."""
    return _SOURCE_SUFFIX.fullmatch(path.suffix) is not None


def is_of_no_user(path: PurePosixPath) -> bool:
    """Whether a file is below a folder of `memory/` that can be no user's, such as `memory/con`: it is not indexed."""
    parts = path.parts
    return len(parts) > 2 and parts[0] == MEMORY_DIR and parts[1][0] != "." and not is_user_id(parts[1])


def is_instruction(path: PurePosixPath) -> bool:
    """Whether a prompt shows this file to a model as what it is to do: who it is, how it works, its skills."""
    return path in (SOUL, AGENTS) or path.parts[0] == SKILLS_DIR


MAX_PROMPTED_BYTES = 250_000


def is_prompted(path: PurePosixPath) -> bool:
    """Whether a prompt reads all of a file, so that it must be no larger than `MAX_PROMPTED_BYTES`."""
    return path in (SOUL, AGENTS) or (path.parts[0] == SKILLS_DIR and path.name == SKILL)


def _as_stored(path: PurePosixPath) -> str:
    """The path in the one form that every spelling of it has, on a disk that tells few names apart."""
    return _IGNORED_IN_NAMES.sub("", path.as_posix().replace("\\", "/").casefold())


def is_temporary(name: str) -> bool:
    """Whether files of that name come and go while others are saved: hidden and temporary ones of vim, Emacs, VS Code,
    Office, Syncthing, iCloud, browsers and SQLite. Nothing of that name, or in such a folder, is watched; of these
    names are those that a vault's `.gitignore` hides."""
    return _TEMPORARY().fullmatch(name) is not None


def is_device(name: str) -> bool:
    """Whether Windows takes a file or folder of that name, with any ending, for a device."""
    return name.split(".")[0].strip().lower() in _WINDOWS_DEVICES


def is_index(name: str) -> bool:
    """Whether a file of that name in a user's folder is the index, or what SQLite keeps beside it."""
    return name.startswith(INDEX_FILE)


def check_user_id(user_id: str) -> str:
    """Return `user_id` unchanged if it can name a user's folder, else raise `InvalidId`."""
    if not isinstance(user_id, str) or not _USER_ID.fullmatch(user_id):
        raise InvalidId(
            f"user id {user_id!r} is not valid: use 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'"
        )
    if is_device(user_id) or user_id.endswith("."):
        raise InvalidId(f"user id {user_id!r} cannot be a folder name on Windows: choose another")
    if is_temporary(user_id) or is_private(PurePosixPath(MEMORY_DIR, user_id, PROFILE)):
        raise InvalidId(
            f"user id {user_id!r} is a name of temporary or private files, which no commit keeps: choose another"
        )
    return user_id


def is_user_id(name: str) -> bool:
    """Whether a folder of that name under `memory/` is a user's."""
    try:
        check_user_id(name)
    except InvalidId:
        return False
    return True


def resolve_user(identities: Mapping[str, str], name: str) -> str:
    """The user id of `name`: a name in the table `identities`, or a user id. Raises `InvalidId` for neither."""
    if ":" in str(name) and name not in identities:
        raise InvalidId(f"{name!r} is nobody here: map it to a user id under [identities] in {SETTINGS_FILE}")
    return check_user_id(identities.get(name, name))


def user_dir(user_id: str) -> PurePosixPath:
    """`memory/<user_id>`, relative to the vault, for a checked id."""
    return PurePosixPath(MEMORY_DIR, check_user_id(user_id))


def user_token(user_id: str) -> PurePosixPath:
    """The file with the digest of a user's token, relative to the vault."""
    return PurePosixPath(STATE_DIR, "tokens", check_user_id(user_id))


def scope_dir(scope: str) -> PurePosixPath:
    """The folder that holds a scope's sources, relative to the vault (`.` for the shared scope)."""
    return PurePosixPath(".") if scope == SHARED else user_dir(scope)


def label(scope: str) -> str:
    """The name of a scope in messages to people."""
    return "shared notes" if scope == SHARED else str(user_dir(scope))


def scope_of(path: PurePosixPath) -> str:
    """The scope whose folder holds a vault-relative path, for any kind of file."""
    parts = path.parts
    is_users = len(parts) > 2 and parts[0] == MEMORY_DIR and is_user_id(parts[1])
    return parts[1] if is_users else SHARED


def is_state(path: PurePosixPath) -> bool:
    """Whether a vault-relative path is an index or in a state folder: derived, never in git, never in a backup."""
    return _STATE_OR_INDEX().search(_as_stored(path)) is not None


def daily_source(day: date) -> str:
    """Source of a day's log."""
    return f"daily/{day.isoformat()}.md"


def conversation_source(day: date) -> str:
    """Source of a day's conversation record."""
    return f"{CONVERSATIONS_DIR}/{day.isoformat()}.jsonl"


def sources_about(at: datetime) -> tuple[str, ...]:
    """Sources of the records in which a turn of this time may be, the likeliest first: its day depends on the zone that
    its person had then, and no zone is a day away from UTC."""
    day = at.astimezone(UTC).toordinal()
    near = (each for each in (day, day - 1, day + 1) if date.min.toordinal() <= each <= date.max.toordinal())
    return tuple(conversation_source(date.fromordinal(each)) for each in near)


def month_source(day: date) -> str:
    """Source of the file to which the record of an old day moves, with those of its month."""
    return f"{ARCHIVED_RECORDS}/{day.isoformat()[:7]}.jsonl.gz"


def month_of(name: str) -> date | None:
    """The first day of the month whose archived records a file of this name holds: `2026-01.jsonl.gz`, or the same
    without `.gz` where a person has unpacked it."""
    match = _MONTH_FILE.fullmatch(name)
    return date(int(match[1]), int(match[2]), 1) if match else None


def year_source(source: str, year: int) -> str:
    """Source of the file to which what a log holds of an old year moves: `archive/MEMORY-2025.md`."""
    stem, _, suffix = source.partition(".")
    return f"{ARCHIVE_DIR}/{stem}-{year:04}.{suffix}"


def year_of(source: str, name: str) -> int | None:
    """The year of the log `source` that a file of this `name` in the archive holds; None if it is none of that log."""
    stem, _, suffix = source.partition(".")
    match = re.fullmatch(rf"{re.escape(stem)}-([0-9]{{4}})\.{re.escape(suffix)}", name)
    return int(match[1]) if match else None


def is_archived(path: PurePosixPath) -> bool:
    """Whether a vault-relative path lies in a user's archive."""
    return scope_of(path) != SHARED and path.parts[2] == ARCHIVE_DIR


def is_feedback(path: PurePosixPath) -> bool:
    """Whether a vault-relative path is that of a user's evidence, or of an old year's."""
    if scope_of(path) == SHARED:
        return False
    source = path.parts[2:]
    return source == (FEEDBACK,) or (source[:-1] == (ARCHIVE_DIR,) and year_of(FEEDBACK, path.name) is not None)


def place_of(path: PurePosixPath) -> Place | None:
    """Scope and source of a vault-relative path that the index holds; None for a file that is never indexed.

    Never indexed: hidden files and folders, `feedback.jsonl` (evidence, not prose), anything that is neither Markdown
    nor a conversation record, and files in `memory/` outside a valid user folder.
    """
    parts = path.parts
    if not parts or any(part.startswith(".") for part in parts):
        return None
    if parts[0] != MEMORY_DIR:
        return Place(SHARED, path.as_posix()) if path.suffix == ".md" else None
    if len(parts) < 3 or not is_user_id(parts[1]):
        return None
    source = "/".join(parts[2:])
    is_conversation = parts[2] == CONVERSATIONS_DIR and path.suffix == ".jsonl"
    return Place(parts[1], source) if path.suffix == ".md" or is_conversation else None


def kind_of(place: Place) -> str:
    """The kind of a file: `profile`, `daily`, `memory`, … else `note`. Archived files keep the kind that they had."""
    if place.scope == SHARED:
        return "note"
    source = PurePosixPath(place.source)
    if source.parts[0] == ARCHIVE_DIR:
        source = source.relative_to(ARCHIVE_DIR)
        if year_of(MEMORY_LOG, source.as_posix()) is not None:
            return "memory-log"
    for pattern, kind in _KINDS:
        if pattern().fullmatch(source.as_posix()):
            return kind
    return "note"


def day_of(source: str) -> date | None:
    """The day in the name of a daily log or conversation record."""
    match = _DAY_FILE.fullmatch(source)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def recorded_day(source: str) -> date | None:
    """The day of a conversation record; None for any other source."""
    return day_of(source) if source.startswith(f"{CONVERSATIONS_DIR}/") else None


def turn_place(source: str) -> tuple[str, int] | None:
    """Record and line of a turn's source, `conversations/2026-01-30.jsonl:12`; None for any other text."""
    name, _, number = source.rpartition(":")
    if recorded_day(name) and _LINE_NUMBER.fullmatch(number):
        return name, int(number)
    return None


def without_folders(text: str, root: PurePath) -> str:
    """The text without folders of this machine: paths inside the vault stay relative, of others the name remains."""
    return _FOLDERS.sub("", text.replace(f"{root}/", "").replace(str(root), "the vault"))
