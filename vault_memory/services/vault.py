"""Open a vault: make its adapters (history, indexes, embedder) from its settings, for the services."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from vault_memory.adapters import files, private
from vault_memory.adapters.machine import MachineRecord, own_vaults
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.errors import (
    Busy,
    ConfigError,
    ForeignFile,
    HistoryError,
    InvalidId,
    NotAVault,
    NotFound,
    Unwritable,
    UsageError,
    VaultMemoryError,
    in_command,
)

if TYPE_CHECKING:
    from vault_memory.adapters.embedding import Embedder
    from vault_memory.adapters.git import Setting
    from vault_memory.adapters.history import History
    from vault_memory.adapters.index import Index
    from vault_memory.adapters.longterm import Outbox, PostgresStore
    from vault_memory.adapters.models import ChatModel
    from vault_memory.adapters.shortterm import ShortTermStore
    from vault_memory.adapters.state import StateFile
    from vault_memory.core.erasing import Tombstones
    from vault_memory.core.extraction import Lexicon

ENV_VAULT = "VAULT_MEMORY_VAULT"
ENV_REDIS = "REDIS_URL"
ENV_DATABASE = "SUPABASE_DB_URL"
NO_DATABASE = f"longterm.enabled is true, but there is no address: set {ENV_DATABASE} or longterm.url"
"""They may hold a password, and so are no settings."""
MAX_OPEN_INDEXES = 64
TOMBSTONES = "vault-memory-tombstones"
"""In git's folder: hashes of what was erased (`adapters.erasing`)."""
LOCK_TIMEOUT_S = 30.0
"""How long a writer waits for another writer of the same user."""
_MAX_NAMED = 3
REFUSED_FOR_S, MAX_REFUSED = 86_400, 20
"""How long `status` names an id that was refused, and how many."""
_RENAMINGS = "renamings"
"""A line for each renaming, `OLD NEW`: what was begun for an id is finished for the same person."""
CHAT_WAIT_S = 0.5
"""How long a piece of work that nobody waits for (learning from a turn, a commit of the daemon's) lets chats go first,
in all its steps together."""


_MEANT: ContextVar[tuple[str, int] | None] = ContextVar("_MEANT", default=None)
"""The id that a piece of work was begun for, and `Vault.renamings` then (`Vault.meaning`)."""


def _local_now() -> datetime:
    return datetime.now().astimezone()


class ChatsInProgress:
    """How many chats are being worked on here: a person waits for each, and all threads share one interpreter, so work
    that nobody waits for lets them go first. A piece of it waits no longer than `wait_s`, however many chats there are.
    Threads share it."""

    def __init__(self, wait_s: float = CHAT_WAIT_S) -> None:
        self._wait_s = wait_s
        self._changed = threading.Condition()
        self._count = 0
        self._of_thread = threading.local()

    def begin(self) -> None:
        """A chat begins to be worked on; `end` must follow."""
        with self._changed:
            self._count += 1

    def end(self) -> None:
        """It waits for the provider now, or for nothing."""
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    @contextmanager
    def one(self) -> Iterator[None]:
        """`begin`, and `end` when it is over."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def let_go_first(self) -> None:
        """Begin a piece of work that nobody waits for: wait until no chat is being worked on, at most `wait_s`."""
        self._of_thread.left_s = self._wait_s
        self.step_aside()

    def step_aside(self) -> None:
        """Wait between two steps of such a piece, as long as it may still wait. In a thread that never began one
        somebody waits for the work itself, and nothing is waited for."""
        left_s: float = getattr(self._of_thread, "left_s", 0.0)
        if not self._count or left_s <= 0:
            return
        began = time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: not self._count, left_s)
        self._of_thread.left_s = left_s - (time.monotonic() - began)


GIT_CONFIG = "git config "
"""The beginning of the name under which a setting of the repository waits for this machine's yes."""


@dataclass(frozen=True)
class Vault:
    """An open vault: its root, its settings and the adapters that the services use. Threads may share it.

    Each adapter is made on first use, so a search does not pay for git.
    """

    root: Path
    config: Config
    now: Callable[[], datetime] = _local_now
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    given_embedder: Embedder | None = field(default=None, repr=False)
    flags: Mapping[str, Any] = field(default_factory=dict, repr=False)
    chats: ChatsInProgress = field(default_factory=ChatsInProgress, init=False, repr=False, compare=False)
    recalled: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `services.retrieval` has recalled for prompts lately."""
    graphs: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The graphs that `services.graph` has read, by user."""
    _indexes: dict[str, Index] = field(default_factory=dict, init=False, repr=False, compare=False)
    _former_embedders: dict[str, Embedder] = field(default_factory=dict, init=False, repr=False, compare=False)
    _indexing: WeakValueDictionary[str, threading.Lock] = field(
        default_factory=WeakValueDictionary, init=False, repr=False, compare=False
    )
    _index_lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def history(self) -> History:
        """The vault's git history. Raises `HistoryError` if there is none."""
        from vault_memory.adapters.history import History

        root, config = self.root, self.config
        return History(
            root,
            person_name=config.git_person_name,
            person_email=config.git_person_email,
            sign=config.git_sign,
            allowed_settings=lambda: _allowed_git_settings(root),
            now=self.now,
            pause=self.chats.step_aside,
        )

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder: the given one, else the configured one."""
        return self.given_embedder or self._embedder_of(self.config)

    def former_embedder(self, space: str) -> Embedder | None:
        """The embedder that made the vectors of a space before the settings changed; None when it is not known."""
        from vault_memory.adapters.embedding import config_of_space

        if space not in self._former_embedders:
            config = config_of_space(self.root, space, self.config)
            if config is None:
                return None
            self._former_embedders[space] = self._embedder_of(config)
        return self._former_embedders[space]

    def _embedder_of(self, config: Config) -> Embedder:
        if config.embedding_kind == "http":
            from vault_memory.adapters.embedding import Endpoint, HttpEmbedder

            return HttpEmbedder(
                config.embedding_model,
                [Endpoint(**endpoint) for endpoint in config.embedding_endpoints],
                query_prefix=config.embedding_query_prefix,
                document_prefix=config.embedding_document_prefix,
                timeout_s=config.embedding_timeout_s,
                query_timeout_s=config.embedding_query_timeout_ms / 1000,
                environ=self.environ,
            )
        if config.embedding_kind == "local":
            from vault_memory.adapters.embedding import LocalEmbedder

            return LocalEmbedder(
                config.embedding_model,
                query_prefix=config.embedding_query_prefix,
                document_prefix=config.embedding_document_prefix,
            )
        from vault_memory.adapters.embedding import OfflineEmbedder

        return OfflineEmbedder()

    @cached_property
    def short_term(self) -> ShortTermStore:
        """The short-term store: in Redis, at REDIS_URL or else where the settings say, and embedded."""
        from vault_memory.adapters.shortterm import EmbeddedStore, MirroredStore, RedisStore
        from vault_memory.adapters.state import REDIS_USED, Place, UsedStores
        from vault_memory.core.recent import is_ours, later_value

        def later(key: str, there: str | None, ours: str) -> str:
            return later_value(key, there, ours, self.now().timestamp())

        local = EmbeddedStore(self.root, lambda: self.now().timestamp())
        if not self.redis_url:
            return local
        shared = RedisStore(self.redis_url, is_ours)
        used, place = UsedStores(self.root, REDIS_USED), Place(shared.address)
        note = None if used.has(place) else partial(used.note, place)
        return MirroredStore(shared, local, later, used=note)

    @property
    def redis_url(self) -> str:
        """Where Redis is, by REDIS_URL, else by the settings; "" for none."""
        return self.environ.get(ENV_REDIS) or self.config.shortterm_redis_url

    @cached_property
    def outbox(self) -> Outbox:
        """The turns that wait for the long-term store."""
        from vault_memory.adapters.longterm import Outbox

        return Outbox(self.root)

    @property
    def database_url(self) -> str:
        """Where the long-term store is, by SUPABASE_DB_URL, else by the settings; "" for none."""
        return self.environ.get(ENV_DATABASE) or self.config.longterm_url

    @property
    def database_address(self) -> str:
        """Which database that is, without the password. Raises `ConfigError`; the server is not asked."""
        with self.long_term() as store:
            return store.address

    def long_term(self) -> PostgresStore:
        """The long-term store at SUPABASE_DB_URL, or else where the settings say; it is to be closed. Raises
        `ConfigError`."""
        from vault_memory.adapters.longterm import PostgresStore
        from vault_memory.adapters.state import POSTGRES_USED, UsedStores

        if not self.database_url:
            raise ConfigError(NO_DATABASE)
        return PostgresStore(self.database_url, used=UsedStores(self.root, POSTGRES_USED).note)

    def chat_model(self, temperature: float = 0.0) -> ChatModel | None:
        """The language model of `[llm]`, which is asked at that temperature; None while it is off."""
        config = self.config
        if not config.llm_enabled:
            return None
        from vault_memory.adapters.models import ChatModel

        return ChatModel(
            config.llm_address(),
            config.llm_model,
            config.llm_key_env,
            config.llm_key_file,
            timeout_s=config.llm_timeout_s,
            max_tokens=config.llm_max_tokens,
            temperature=temperature,
            environ=self.environ,
        )

    def settings_now(self) -> Config:
        """The settings that the vault would have if it were opened now. Raises `ConfigError` or `ForeignFile`."""
        return _settings(self.root, self.environ, self.flags)

    def exists(self) -> bool:
        """Whether the vault is still at its root."""
        return (self.root / layout.SETTINGS_FILE).is_file()

    def is_mounted_for_reading(self) -> bool:
        """Whether the vault is on a disk that is mounted for reading. Windows does not say."""
        with suppress(OSError):  # it is gone
            return os.name != "nt" and bool(os.statvfs(self.root).f_flag & os.ST_RDONLY)
        return False

    def user_ids(self) -> list[str]:
        """Ids of the users, sorted: those who have a folder with something of theirs in it."""
        return [name for name in self._folders_of_users() if self._is_home(name)]

    def left_overs(self) -> list[str]:
        """Names of folders in the place of a user's that hold nothing, or only an index of nothing; sorted."""
        return [name for name in self._folders_of_users() if not self._is_home(name)]

    def is_user(self, user_id: str) -> bool:
        """Whether a user has exactly this id: the listing decides, because some systems find `Alice` under `alice`."""
        if not layout.is_user_id(user_id) or self._user_root(user_id).is_symlink():
            return False
        return user_id in files.names(self.root / layout.MEMORY_DIR) and self._is_home(user_id)

    def _folders_of_users(self) -> list[str]:
        try:
            with os.scandir(self.root / layout.MEMORY_DIR) as entries:
                return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and layout.is_user_id(e.name))
        except FileNotFoundError:
            return []

    def no_users(self) -> list[str]:
        """A line about the folders of `memory/` that are no user's, if there are any: others may have sent them."""
        names = [
            path.name
            for path in (self.root / layout.MEMORY_DIR).glob("*/")
            if layout.is_of_no_user(PurePosixPath(layout.MEMORY_DIR, path.name, "x"))
        ]
        if not names:
            return []
        shown = ", ".join(sorted(names)[:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")
        return [
            f"{layout.MEMORY_DIR}/ has {len(names)} folder{'s' * (len(names) > 1)} whose name is no user id ({shown}): "
            "what is there is no user's and is not searched: give it another name, or move it out of there"
        ]

    def _is_home(self, name: str) -> bool:
        """Whether a folder is a user's: it holds more than an index, or did when that was made (all files of a user
        that are gone at once are no user who is gone)."""
        try:
            if not all(map(layout.is_index, files.names(self._user_root(name)))):
                return True
            return self.index_path(name).exists() and bool(self.index(name).stamps())
        except (VaultMemoryError, OSError):  # it cannot be read, which `status` says of a user
            return True

    def scopes(self) -> list[str]:
        """Every scope of the vault: the shared one first, then the users."""
        return [layout.SHARED, *self.user_ids()]

    def user_of(self, name: str) -> str:
        """The id of a name from `identities`, or of an id; a user's id comes first: a remote may send the table."""
        return name if self.is_user(name) else layout.resolve_user(self.config.identities, name)

    def known_user(self, user_id: str) -> str:
        """The id, if that is a user's. Raises `InvalidId` or `NotFound`."""
        if not self.is_user(layout.check_user_id(user_id)):
            raise NotFound(f"user {user_id!r} is not in this vault: `vault-memory user list` shows who is")
        return user_id

    @contextmanager
    def reading(self, user_id: str) -> Iterator[None]:
        """Read the files of a known user, who may be given another id meanwhile: then some of them were not found.

        Raises `InvalidId`, and `NotFound` also where the user is gone at the end, whatever went wrong because of that.
        """
        self.known_user(user_id)
        try:
            yield
        finally:
            if not self._user_root(user_id).exists():
                self.known_user(user_id)

    def new_user(self, user_id: str) -> str:
        """The id of a known or new user. Raises `InvalidId`, also for an id that differs from a user's only in case,
        unless this one has a profile, too, and for a new one that looks like a secret: no commit would take its files.
        """
        if twin := self._twin(layout.check_user_id(user_id)):
            with suppress(Busy, Unwritable, ForeignFile):  # who asked is told all the same
                self._refused().update(lambda ids: _latest({**ids, user_id: self.now().timestamp()}))
            raise InvalidId(self._refusal(user_id, twin))
        if not self._user_root(user_id).exists():
            self.refuse_secret_id(user_id)
            self.refuse_erased_id(user_id)
        return user_id

    def was_erased(self, user_id: str) -> bool:
        """Whether a user of this id was erased from the vault."""
        return bool((stones := self.tombstones()) and stones.has_user(user_id))

    def refuse_erased_id(self, user_id: str) -> None:
        """Raise `InvalidId` for the id of a user who was erased, unless a user has it."""
        if not self.is_user(user_id) and self.was_erased(user_id):
            raise InvalidId(
                f"user {user_id!r} was erased from this vault, and nothing is taken for that id, so that nothing old "
                "comes back: choose another id"
            )

    def tombstones(self) -> Tombstones | None:
        """By what it is known again that was erased here; None where nothing was."""
        from vault_memory.adapters.erasing import read_tombstones
        from vault_memory.adapters.git import Repository

        with suppress(HistoryError):  # there is no repository
            return read_tombstones(Repository(self.root).common_dir)
        return None

    def refuse_erased(self, scope: str, texts: Callable[[], Collection[str]], what: str) -> None:
        """Raise `UsageError` where a text that was erased from this scope stands in one of these again; `texts` is only
        called where something was erased."""
        if (stones := self.tombstones()) and stones.are_in(scope, texts()):
            raise UsageError(
                f"{what} holds a text that was erased from {layout.label(scope)}, so it is not taken: leave the text "
                f"out; or, if it is to be said again, delete {self.root / '.git' / TOMBSTONES}"
            )

    def refuse_secret_id(self, user_id: str) -> None:
        """Raise `InvalidId` for an id that looks like a secret: no commit would take the user's files."""
        from vault_memory.core.privacy import shown_path

        if (shown := shown_path(layout.user_dir(user_id))) != layout.user_dir(user_id).as_posix():
            raise InvalidId(f"{shown} would be in no commit, for the user id looks like a secret: choose another id")

    def refused_users(self) -> list[str]:
        """A line about each id that was refused within a day, and still would be: its turns are not kept."""
        ids, since = _latest(self._refused().read()), self.now().timestamp() - REFUSED_FOR_S
        known = [user_id for user_id, when in ids.items() if when > since and layout.is_user_id(user_id)]
        return [self._refusal(user_id, twin) for user_id in known if (twin := self._twin(user_id))]

    def _refusal(self, user_id: str, twin: str) -> str:
        is_left = user_id in files.names(self.root / layout.MEMORY_DIR)
        left = f" and move there what is left in {layout.user_dir(user_id)}" if is_left else ""
        return (
            f"user id {user_id!r} differs from the existing {twin!r} only in case: use {twin!r}{left}, or, if nobody "
            f"has it, `vault-memory user rename {in_command(twin)} NEW`"
        )

    def twins(self) -> list[str]:
        """A line about the users whose ids differ only in case, if there are any, with the next step."""
        ids = self.user_ids()
        folded = [user_id.casefold() for user_id in ids]
        if len(set(folded)) == len(ids):
            return []
        alike = [user_id for user_id, name in zip(ids, folded, strict=True) if folded.count(name) > 1]
        return [f"users {', '.join(alike)} differ only in case: move the notes of one into the folder of the other"]

    def _refused(self) -> StateFile:
        from vault_memory.adapters.state import StateFile

        return StateFile(self.root, "refused-users")

    def _twin(self, user_id: str) -> str | None:
        """What stands in the folder of the users under a name that differs from this one only in case, if no profile of
        this user's does: a remote that gives a user another id leaves records and an index behind in the old folder."""
        names = files.names(self.root / layout.MEMORY_DIR)
        same = [name for name in names if name.casefold() == user_id.casefold() and name != user_id]
        is_known = user_id in names and (self._user_root(user_id) / layout.PROFILE).exists()
        return same[0] if same and not is_known else None

    def folder(self, scope: str) -> Path:
        """The folder of a scope, whether or not it is there."""
        return self.root / layout.scope_dir(scope)

    def path(self, scope: str, source: str) -> Path:
        """The path of a source. Raises `UsageError` if it is outside the vault, or by a link in another scope, in git's
        folder, in the state or in a record."""
        given = layout.scope_dir(scope) / source
        path = files.contained(self.root, given)
        if layout.is_private(PurePosixPath(path.relative_to(self.root))) and not layout.is_private(given):
            raise UsageError(f"{source!r} is a link to {path}, which is private: put the file itself there")
        if scope and not path.is_relative_to(self.root / layout.user_dir(scope)):
            raise UsageError(
                f"{source!r} of user {scope!r} is a link out of that user's folder: put the file itself there"
            )
        users = layout.MEMORY_DIR
        if not scope and path.is_relative_to(self.root / users) and PurePosixPath(source).parts[0] != users:
            raise UsageError(
                f"{source!r} is a link into a user's folder, and a shared note must not show it: put a file there"
            )
        return path

    def renamings(self) -> int:
        """How far the log of renamings goes, in bytes. A user id means a person as of that: `id_now` follows it."""
        try:
            return os.lstat(self.root / layout.STATE_DIR / _RENAMINGS).st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def id_now(self, user_id: str, as_of: int, until: int | None = None) -> tuple[str, int]:
        """The id, and `renamings`, of the person who had `user_id` when the log of renamings went as far as `as_of`;
        the id that they had as of `until`, if that is given.

        Raises `NotFound` where another user has been given the id of somebody who had no folder yet.
        """
        end = self.renamings() if until is None else until
        if end <= as_of:
            return user_id, end
        log = files.read_private(self.root / layout.STATE_DIR / _RENAMINGS, self.root) or b""
        for line in log[as_of:end].decode("ascii", "replace").split("\n"):
            old, _, new = line.partition(" ")
            if old.casefold() == user_id.casefold() and layout.is_user_id(new):
                user_id = new
            elif new.casefold() == user_id.casefold():
                raise NotFound(f"user {old!r} has got the id {user_id!r} meanwhile: this was said by somebody else")
        return user_id, end

    def had_since(self, user_id: str) -> int:
        """How far the log of renamings went when the id was last given up or given: with this it is a person's alone. 0
        if no renaming names it."""
        log = files.read_private(self.root / layout.STATE_DIR / _RENAMINGS, self.root) or b""
        lines = log.decode("ascii", "replace").casefold().split("\n")
        last = max((number for number, line in enumerate(lines, 1) if user_id.casefold() in line.split(" ")), default=0)
        return sum(len(line) + 1 for line in lines[:last])

    def renamed(self) -> list[tuple[str, str]]:
        """Each id that a user had on this machine, and the one that the user has now."""
        log = files.read_private(self.root / layout.STATE_DIR / _RENAMINGS, self.root) or b""
        found: list[tuple[str, str]] = []
        for line in log.decode("ascii", "replace").split("\n"):
            old, _, new = line.partition(" ")
            if layout.is_user_id(new):
                found = [(former, new if now == old else now) for former, now in found] + [(old, new)]
        return found

    def refuse_former(self, user_id: str, as_of: int | None = None) -> None:
        """Raise `NotFound` for an id that a user of this machine had before, while nobody has it: an assistant that is
        still connected for it would begin another user. Also for one that the person who had it `as_of` then has no
        more, whoever has it now."""
        now = user_id if as_of is None else self.id_now(user_id, as_of)[0]
        if now == user_id and not self.is_user(user_id):
            now = dict(self.renamed()).get(user_id, user_id)
        if now != user_id:
            raise NotFound(
                f"user {user_id!r} has the id {now!r} now: connect the assistant again (`vault-memory install CLIENT "
                f"--user {in_command(now)} --write`)"
            )

    def log_renaming(self, old: str, new: str) -> None:
        """Add to the log of renamings. The caller holds the locks of both ids, and has ended the tokens of both."""
        files.append_line(self.root / layout.STATE_DIR / _RENAMINGS, f"{old} {new}".encode(), below=self.root)

    @contextmanager
    def lock(self, user_id: str, wait_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
        """Hold the user's write lock. A writer reads, changes and commits a user's files inside it.

        Raises `Busy`, also when the user got another id meanwhile, or, inside `meaning`, since that was begun."""
        name, as_of = layout.check_user_id(user_id).casefold(), self.renamings()
        meant = _MEANT.get()
        if meant is not None and meant[0] == name:
            as_of = meant[1]
        with files.lock(self.root / layout.STATE_DIR / "locks" / "users" / f"{name}.lock", wait_s, self.root):
            self.refuse_renamed(user_id, as_of)
            yield

    def refuse_renamed(self, user_id: str, as_of: int) -> None:
        """Raise `Busy` when the person who had this id as of that has another one now."""
        now, _ = self.id_now(user_id, as_of)
        if now.casefold() != user_id.casefold():
            raise Busy(f"user {user_id!r} has just got the id {now!r}: try again with that one")

    @contextmanager
    def meaning(self, user_id: str, as_of: int) -> Iterator[None]:
        """Work for the person who had this id as of that, whatever time passes: this thread writes nothing once it
        is another person's. Raises `Busy` then, at the beginning, under the lock of a writer, and at the end."""
        self.refuse_renamed(user_id, as_of)
        begun = _MEANT.set((user_id.casefold(), as_of))
        try:
            yield
        finally:
            _MEANT.reset(begun)
        self.refuse_renamed(user_id, as_of)

    def saved_at(self, path: PurePosixPath) -> datetime | None:
        """When a file (vault-relative) was last written; a time in the future counts as now. None: there is no file."""
        try:
            saved = datetime.fromtimestamp((self.root / path).stat().st_mtime).astimezone()
        except (OSError, OverflowError, ValueError):
            return None
        return min(saved, self.now())

    def unlearned(self, user_id: str) -> Path:
        """The folder with a file for each of the user's turns that nothing was learned from yet (`services.turns`).

        It lies with the records of these turns: unlike `.vault-memory/`, nobody may delete it.
        """
        return self.root / layout.user_dir(user_id) / layout.CONVERSATIONS_DIR / ".unlearned"

    @contextmanager
    def record_lock(self, user_id: str) -> Iterator[None]:
        """Hold the lock of the user's conversation records, so that a turn is kept although somebody holds `lock` for
        long. Who takes both takes `lock` first. Raises `Busy`."""
        name = layout.check_user_id(user_id).casefold()
        with files.lock(self.root / layout.STATE_DIR / "locks" / "records" / f"{name}.lock", LOCK_TIMEOUT_S, self.root):
            yield

    @contextmanager
    def lock_all(self) -> Iterator[None]:
        """Hold every user's write lock. Ids that differ only in case, which another machine may bring, share one."""
        with ExitStack() as held:
            for user_id in {user_id.casefold(): user_id for user_id in self.user_ids()}.values():
                held.enter_context(self.lock(user_id))
            yield

    @contextmanager
    def writing(self, user_id: str, wait_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
        """`lock` for a user who may be new. Raises `InvalidId` too, as `new_user` does, once the lock is held."""
        with self.lock(user_id, wait_s):
            self.new_user(user_id)
            yield

    def indexing(self, scope: str) -> threading.Lock:
        """The lock for indexing some files of a scope. A look at all files does not take it: a turn must not wait."""
        with self._index_lock:
            return self._indexing.setdefault(scope, threading.Lock())

    def index(self, scope: str) -> Index:
        """The index of a scope, made on first use; the last `MAX_OPEN_INDEXES` stay open. Raises `IndexUnusable`."""
        from vault_memory.adapters.index import SqliteIndex

        with self._index_lock:
            path = self.index_path(scope)  # an open index is checked, too: its file may have been replaced
            within = self.root if scope and not self.config.index_dir else None  # no reader makes a user's folder
            index = self._indexes.pop(scope, None) or SqliteIndex(
                path, self._trusted_above(path), self._refuse_tracked, within
            )
            self._indexes[scope] = index
            if len(self._indexes) > MAX_OPEN_INDEXES:
                # Not closed here, since another thread may be reading it: it closes when nobody uses it any more.
                del self._indexes[next(iter(self._indexes))]
        return index

    def index_path(self, scope: str) -> Path:
        """The path of a scope's index: in the user's folder, or in the folder that `index_dir` names."""
        if self.config.index_dir:
            folder = self.root / Path(self.config.index_dir).expanduser()
            return folder / f"{scope or '.shared'}.db"  # no user id begins with a dot
        if scope == layout.SHARED:
            return self.root / layout.STATE_DIR / layout.INDEX_FILE
        path = self._user_root(scope) / layout.INDEX_FILE
        if path.is_symlink() or path.parent.is_symlink():
            raise UsageError(f"{path.relative_to(self.root)} is a link, which could lead to another user: delete it")
        return path

    def _trusted_above(self, index: Path) -> Path | None:
        """The folder of an index whose mode is the person's; what lies below it is private. None: its own, of
        `index_dir`, which is made if it is missing."""
        if self.config.index_dir:
            return None
        return self.root if index.parent == self.root / layout.STATE_DIR else index.parent

    def _refuse_tracked(self, index: Path) -> None:
        """Raise `ForeignFile` for an index that git tracks: it may be another person's."""
        from vault_memory.adapters.git import refuse_tracked

        if index.is_relative_to(self.root):
            refuse_tracked(self.root, index)

    def lexicon(self) -> Lexicon:
        """The words by which preferences are recognised: the built-in ones and the vault's."""
        from vault_memory.core.extraction import load_lexicon

        return load_lexicon(self.config.lexicon)

    def _user_root(self, user_id: str) -> Path:
        return self.root / layout.user_dir(user_id)


def _latest(ids: Mapping[str, Any]) -> dict[str, float]:
    """The latest of the refused ids, each with its time."""
    times = {user_id: when for user_id, when in ids.items() if isinstance(when, (int, float))}
    return {user_id: times[user_id] for user_id in sorted(times, key=times.__getitem__)[-MAX_REFUSED:]}


def find_vault(
    start: Path | None = None,
    *,
    given: str | None = None,
    environ: Mapping[str, str] = os.environ,
    or_only: bool = False,
) -> Path:
    """The vault's root: `given` if there is one; else the folder `start` or the nearest parent that is
    a vault, as git finds a repository; else the one in the environment; else, with `or_only`, the only one that this
    machine has made. Raises `NotAVault`.

    In the folders of a vault's own (`memory/`) there is no other, whatever lies there (`layout.may_be_vault`). Another
    system user reads what is said in a vault of theirs, so theirs is not found: the one in the environment is taken;
    without one `ForeignFile` is raised.
    """
    if given:
        return _checked(Path(given))
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / layout.SETTINGS_FILE).is_file() and vault_around(folder) is None:
            if not _is_of_other(folder):
                return folder
            if not environ.get(ENV_VAULT):
                raise ForeignFile(
                    f"{folder} is a vault of the user {private.user_name(folder.stat().st_uid)}, who can read what is "
                    f"kept in it: if you mean that one, name it with --vault or {ENV_VAULT}"
                )
            break
    if environ.get(ENV_VAULT):
        return _checked(Path(environ[ENV_VAULT]), f", which {ENV_VAULT} names,")
    if or_only:
        made = [root for root in own_vaults() if (root / layout.SETTINGS_FILE).is_file() and not _is_of_other(root)]
        if len(made) == 1:
            return made[0]
        if made:
            raise NotAVault(
                f"no vault here, and this machine has made several: {', '.join(map(str, made))}. Name one with --vault"
            )
    raise NotAVault(
        f"no vault here: {here} and its parents hold no {layout.SETTINGS_FILE}. Run `vault-memory init DIR` "
        f"to make one, or name one with --vault (in Python `open_vault(DIR)`) or {ENV_VAULT}"
    )


def _is_of_other(folder: Path) -> bool:
    """Whether a folder is another system user's, as git asks (`safe.directory`). Root has no part in theirs, either."""
    return os.name != "nt" and folder.stat().st_uid != os.geteuid()


def vault_around(folder: Path) -> Path | None:
    """The vault that a resolved folder belongs to because it is one of that vault's own, such as `memory/`, or below
    one; None for any other folder."""
    for outer in reversed(folder.parents):
        if not layout.may_be_vault(folder.relative_to(outer)) and (outer / layout.SETTINGS_FILE).is_file():
            return outer
    return None


def open_vault(
    path: str | Path | None = None,
    *,
    now: Callable[[], datetime] | None = None,
    environ: Mapping[str, str] = os.environ,
    embedder: Embedder | None = None,
    **flags: Any,
) -> Vault:
    """Open the vault at `path`, or the one that `find_vault` finds. `flags` override settings by their field name.

    Raises `NotAVault`, `ForeignFile` (the users' folder is a link) or `ConfigError`. Only the settings are read;
    nothing is written.
    """
    root = find_vault(given=str(path) if path is not None else None, environ=environ)
    config = _settings(root, environ, flags)
    return Vault(root, config, now or _local_now, environ, embedder, flags)


def refuse_linked_users(root: Path) -> None:
    """Raise `ForeignFile` when the folder of the users is a link: what lies where it leads is not this vault's."""
    folder = root / layout.MEMORY_DIR
    if folder.is_symlink():
        raise ForeignFile(
            f"{folder} is a link to {os.readlink(folder)}, and vault-memory works on the folder itself: move it here, "
            "or delete the link"
        )


def _settings(root: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    def doubts(values: Mapping[str, Any]) -> Mapping[str, str]:
        return MachineRecord(root).doubts(values)

    refuse_linked_users(root)
    return Config.load(root / layout.SETTINGS_FILE, environ, doubts, **flags)


def _allowed_git_settings(root: Path) -> tuple[Setting, ...]:
    """Those settings of the repository's own config that this machine has said yes to (see `trust`)."""
    from vault_memory.adapters.git import Setting

    agreed = MachineRecord(root).agreed(GIT_CONFIG)
    return tuple(Setting(key, value) for key, values in agreed.items() for value in values)


def _checked(path: Path, named_by: str = "") -> Path:
    root = path.expanduser().resolve()
    if outer := vault_around(root):
        raise NotAVault(f"{root}{named_by} is a folder of the vault {outer}: name that one")
    if not (root / layout.SETTINGS_FILE).is_file():
        raise NotAVault(
            f"{root}{named_by} is not a vault (it holds no {layout.SETTINGS_FILE}): `vault-memory init "
            f"{in_command(root)}` makes it one"
        )
    return root
