"""Open a vault: the one place where adapters are made and handed to the services."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from vault_memory.adapters import files
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.errors import InvalidId, NotAVault, NotFound, UsageError

if TYPE_CHECKING:
    from vault_memory.adapters.embedding.base import Embedder
    from vault_memory.adapters.history import History
    from vault_memory.adapters.index.base import Index
    from vault_memory.core.extraction.lexicon import Lexicon
    from vault_memory.core.ranking.fusion import Trust

ENV_VAULT = "VAULT_MEMORY_VAULT"
OPEN_INDEXES = 64
LOCK_TIMEOUT_S = 30.0
"""How long a writer waits for another one of the same user before it gives up."""


def _local_now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True)
class Vault:
    """An open vault: its root, its settings and the outside things that the services use. Safe to share by threads.

    Each outside thing is made when it is first asked for, so that a search does not pay for git.
    """

    root: Path
    config: Config
    now: Callable[[], datetime] = _local_now
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    given_embedder: Embedder | None = field(default=None, repr=False)
    flags: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _indexes: dict[str, Index] = field(default_factory=dict, init=False, repr=False, compare=False)
    _former: dict[str, Embedder] = field(default_factory=dict, init=False, repr=False, compare=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def history(self) -> History:
        """The vault's git history. Raises `HistoryError` where there is none."""
        from vault_memory.adapters.history import History

        config = self.config
        return History(
            self.root,
            person_name=config.git_person_name,
            person_email=config.git_person_email,
            sign=config.git_sign,
            now=self.now,
        )

    @cached_property
    def embedder(self) -> Embedder:
        """What makes vectors here: the one that was given, else the configured one."""
        return self.given_embedder or self._embedder_of(self.config)

    @cached_property
    def trust(self) -> Trust:
        """How far this process has come to trust each model's vectors."""
        from vault_memory.core.ranking.fusion import Trust

        return Trust()

    def former_embedder(self, space: str) -> Embedder | None:
        """What made the vectors of a space before the settings changed; None when that is forgotten."""
        from vault_memory.adapters.embedding import embedding_record

        if space not in self._former:
            config = embedding_record.recall(self.root, space, self.config)
            if config is None:
                return None
            self._former[space] = self._embedder_of(config)
        return self._former[space]

    def _embedder_of(self, config: Config) -> Embedder:
        if config.embedding_kind == "http":
            from vault_memory.adapters.embedding.http import Endpoint, HttpEmbedder

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
            from vault_memory.adapters.embedding.local import LocalEmbedder

            return LocalEmbedder(
                config.embedding_model,
                query_prefix=config.embedding_query_prefix,
                document_prefix=config.embedding_document_prefix,
            )
        from vault_memory.adapters.embedding.offline import OfflineEmbedder

        return OfflineEmbedder()

    def settings_now(self) -> Config:
        """The settings as they would be if the vault were opened now. Raises `ConfigError`."""
        return Config.load(self.root / layout.SETTINGS_FILE, self.environ, **self.flags)

    def exists(self) -> bool:
        """Whether the vault is still where it was when it was opened."""
        return (self.root / layout.SETTINGS_FILE).is_file()

    def user_ids(self) -> list[str]:
        """Ids of the users who have a folder, sorted."""
        try:
            with os.scandir(self.root / layout.MEMORY_DIR) as entries:
                return sorted(e.name for e in entries if not e.is_symlink() and layout.is_user_id(e.name))
        except FileNotFoundError:
            return []

    def scopes(self) -> list[str]:
        """Every scope of the vault: the shared one first, then the users."""
        return [layout.SHARED, *self.user_ids()]

    def known_user(self, user_id: str) -> str:
        """The id, if that user has a folder. Raises `InvalidId` or `NotFound`."""
        folder = self._user_root(layout.check_user_id(user_id))
        # By its listed name, for some systems find `Alice` under `alice`.
        if not folder.exists() or folder.is_symlink() or user_id not in os.listdir(folder.parent):
            raise NotFound(f"user {user_id!r} is not in this vault: `vault-memory user list` shows who is")
        return user_id

    def new_user(self, user_id: str) -> str:
        """The id, if it may write: a known user, or a new one whose folder no other user's would be on another system."""
        layout.check_user_id(user_id)
        try:
            names = os.listdir(self.root / layout.MEMORY_DIR)
        except FileNotFoundError:
            return user_id
        if user_id not in names:
            twin = next((name for name in names if name.casefold() == user_id.casefold()), None)
            if twin:
                raise InvalidId(f"user id {user_id!r} differs from the existing {twin!r} only in case: use {twin!r}")
        return user_id

    def path(self, scope: str, source: str) -> Path:
        """Where a source lies on disk; raises `UsageError` if that is outside the vault or, by a link, in another scope."""
        path = files.contained(self.root, layout.scope_dir(scope) / source)
        if scope and not path.is_relative_to(self.root / layout.user_dir(scope)):
            raise UsageError(
                f"{source!r} of user {scope!r} is a link out of that user's folder: put the file itself there"
            )
        users = layout.MEMORY_DIR
        if not scope and path.is_relative_to(self.root / users) and PurePosixPath(source).parts[0] != users:
            raise UsageError(f"{source!r} is a link into a user's folder, which is not for everybody: put a file there")
        return path

    @contextmanager
    def lock(self, user_id: str) -> Iterator[None]:
        """Hold the user's write lock: read, change and commit a user's files only inside it. Raises `Busy`."""
        name = layout.check_user_id(user_id).casefold()
        with files.lock(self.root / layout.STATE_DIR / "locks" / f"{name}.lock", LOCK_TIMEOUT_S):
            yield

    @contextmanager
    def writing(self, user_id: str) -> Iterator[None]:
        """The lock of a user who may be new. Raises `InvalidId` too: of two ids that differ only in case one can be first."""
        with self.lock(user_id):
            self.new_user(user_id)
            yield

    def index(self, scope: str) -> Index:
        """The index of a scope, made on first use; the latest `OPEN_INDEXES` stay open. Raises `IndexUnusable`."""
        from vault_memory.adapters.index.sqlite import SqliteIndex

        with self._opening:
            path = self.index_path(scope)  # also of one that is open: it opens its file anew when that is another one
            index = self._indexes.pop(scope, None) or SqliteIndex(path)
            self._indexes[scope] = index
            if len(self._indexes) > OPEN_INDEXES:
                # Only let go, not closed: another thread may be reading it. It closes with its last user.
                del self._indexes[next(iter(self._indexes))]
        return index

    def index_path(self, scope: str) -> Path:
        """The database of a scope: beside the user's notes, or in the folder that `index_dir` names."""
        if self.config.index_dir:
            folder = self.root / Path(self.config.index_dir).expanduser()
            return folder / f"{scope or '.shared'}.db"  # no user id begins with a dot
        if scope == layout.SHARED:
            return self.root / layout.STATE_DIR / layout.INDEX_FILE
        path = self._user_root(scope) / layout.INDEX_FILE
        if path.is_symlink() or path.parent.is_symlink():
            raise UsageError(f"{path.relative_to(self.root)} is a link, which may lead to another user: delete it")
        return path

    def lexicon(self) -> Lexicon:
        """The words that preferences are recognised by: ours and the vault's own."""
        from vault_memory.core.extraction import load_lexicon

        return load_lexicon(self.config.lexicon)

    def _user_root(self, user_id: str) -> Path:
        return self.root / layout.user_dir(user_id)


def find_vault(start: Path | None = None, *, given: str | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The vault's root, found as git finds a repository: `start` and its parents, else `given`, else the environment.

    `given` is a path that the caller was told (`--vault`); it wins, since somebody said it. Raises `NotAVault`.
    """
    if given:
        return _checked(Path(given), "--vault")
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / layout.SETTINGS_FILE).is_file():
            return folder
    if environ.get(ENV_VAULT):
        return _checked(Path(environ[ENV_VAULT]), ENV_VAULT)
    raise NotAVault(
        f"no vault here: {here} and its parents hold no {layout.SETTINGS_FILE}. Run `vault-memory init DIR` to make one, "
        f"or name one with --vault or {ENV_VAULT}"
    )


def open_vault(
    path: str | Path | None = None,
    *,
    now: Callable[[], datetime] | None = None,
    environ: Mapping[str, str] = os.environ,
    embedder: Embedder | None = None,
    **flags: Any,
) -> Vault:
    """Open the vault at `path`, or the one that `find_vault` finds. `flags` override settings by their field name.

    Raises `NotAVault` or `ConfigError`. Nothing is written or read but the settings.
    """
    root = find_vault(given=str(path) if path is not None else None, environ=environ)
    config = Config.load(root / layout.SETTINGS_FILE, environ, **flags)
    return Vault(root, config, now or _local_now, environ, embedder, flags)


def _checked(path: Path, told_by: str) -> Path:
    root = path.expanduser().resolve()
    if not (root / layout.SETTINGS_FILE).is_file():
        raise NotAVault(
            f"{told_by} names {root}, which is no vault (it holds no {layout.SETTINGS_FILE}): `vault-memory init {root}` "
            "makes it one"
        )
    return root
