"""Every error that vault-memory raises on purpose.

    VaultMemoryError            exit 1, HTTP 500    something failed at run time
    ├── UsageError              exit 2, HTTP 400    the call itself is wrong: fix it and call again
    │   ├── InvalidId           exit 2, HTTP 400    a user id that cannot be a folder name
    │   ├── ConfigError         exit 2, HTTP 500    vault-memory.toml or an environment variable is wrong
    │   └── NotAVault           exit 2, HTTP 404    the path is no vault
    ├── Unauthenticated         exit 1, HTTP 401    no token, or one that is not valid
    ├── Forbidden               exit 1, HTTP 403    the token is valid, and not for this
    ├── NotFound                exit 1, HTTP 404    a user, key, commit or file that is not there
    ├── Busy                    exit 1, HTTP 503    somebody else holds it: a lock, a second daemon
    ├── Changed                 exit 1, HTTP 409    the file is no longer what the writer read
    ├── Stale                   exit 1, HTTP 412    a caller named the version it means to replace, and it is past
    ├── Unwritable              exit 1, HTTP 507    a file cannot be written: disk full, read-only, no permission
    ├── HistoryError            exit 1, HTTP 500    git refused; what was to be committed waits
    ├── IndexUnusable            exit 1, HTTP 500    the derived index cannot be used
    ├── Unsupervised            exit 1, HTTP 500    the system's supervisor of programs is missing or refuses
    └── EndpointError           exit 1, HTTP 502    an outside endpoint failed, timed out or answered nonsense
        └── EndpointSlow        exit 1, HTTP 504    it kept silent for too long

The exit code and the HTTP status stand on the class, so that each door maps errors once. A message names the thing and
the next step; it never holds a secret.
"""

from __future__ import annotations


class VaultMemoryError(Exception):
    """Root of the tree: `exit_code` for the command line, `http_status` for the HTTP doors."""

    exit_code = 1
    http_status = 500


class UsageError(VaultMemoryError):
    """The call is wrong; nothing was done."""

    exit_code = 2
    http_status = 400


class InvalidId(UsageError):
    """A user id outside `[A-Za-z0-9._-]{1,64}`, or one that differs from an existing id only in case."""


class ConfigError(UsageError):
    """One or more settings are wrong; the message lists them all."""

    http_status = 500


class NotAVault(UsageError):
    """There is no vault at the path."""

    http_status = 404


class Unauthenticated(VaultMemoryError):
    """The caller did not say who it is, or nobody is known by that token."""

    http_status = 401


class Forbidden(VaultMemoryError):
    """The caller is known, and this is not the caller's; the message is the same whether the thing exists or not."""

    http_status = 403


class NotFound(VaultMemoryError):
    """The thing asked for does not exist."""

    http_status = 404


class Busy(VaultMemoryError):
    """Another process holds what is needed; try again later."""

    http_status = 503


class Changed(VaultMemoryError):
    """A compare-and-swap write found other bytes than the writer had read; read again and redo.

    `found` holds the bytes that are in the file (None: there is no file).
    """

    http_status = 409

    def __init__(self, message: str, found: bytes | None = None) -> None:
        super().__init__(message)
        self.found = found


class Stale(VaultMemoryError):
    """A caller named the version that it means to replace, and there is another one by now."""

    http_status = 412


class Unwritable(VaultMemoryError):
    """A file could not be written; the old one is untouched."""

    http_status = 507


class HistoryError(VaultMemoryError):
    """Git refused or could not be run; the content is on disk and its commit waits."""


class IndexUnusable(VaultMemoryError):
    """The derived index is corrupt, locked or unreadable; `vault-memory reindex` makes it anew."""


class Unsupervised(VaultMemoryError):
    """systemd or launchd is not there, or would not do what it was asked."""


class EndpointError(VaultMemoryError):
    """An embedding, chat or store endpoint failed."""

    http_status = 502


class EndpointSlow(EndpointError):
    """An endpoint kept silent for longer than it may."""

    http_status = 504
