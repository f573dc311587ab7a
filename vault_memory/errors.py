"""Every error that vault-memory raises on purpose.

    VaultMemoryError            exit 1, HTTP 500    something failed at run time
    ├── UsageError              exit 2, HTTP 400    the call itself is wrong: fix it and call again
    │   ├── InvalidId           exit 2, HTTP 400    a user id that is not valid
    │   ├── TooLarge            exit 2, HTTP 413    a text or file is larger than this program reads
    │   ├── ConfigError         exit 2, HTTP 500    vault-memory.toml or an environment variable is wrong
    │   └── NotAVault           exit 2, HTTP 404    there is no vault at the path
    ├── Unauthenticated         exit 1, HTTP 401    no token, or an invalid one
    ├── Forbidden               exit 1, HTTP 403    the token is valid, but does not open this
    ├── NotFound                exit 1, HTTP 404    a user, key, commit or file does not exist
    ├── Busy                    exit 1, HTTP 503    in use: a lock, the daemon, a port, changing files
    ├── Changed                 exit 1, HTTP 409    the file changed after the writer read it
    ├── Stale                   exit 1, HTTP 412    the version that a caller wants to replace is not the present one
    ├── Unwritable              exit 1, HTTP 507    a file cannot be written: disk full, read-only, no permission
    │   └── DiskFull            exit 1, HTTP 507    the disk is full in the middle of what goes on when there is room
    ├── ForeignFile             exit 1, HTTP 500    a private file is a link or tracked by git: it came from elsewhere
    ├── HistoryError            exit 1, HTTP 500    git failed, or a remote is out of reach
    │   └── LargeObject         exit 1, HTTP 413    what git holds is larger than this program reads
    ├── IndexUnusable           exit 1, HTTP 500    the derived index cannot be used
    ├── Unsupervised            exit 1, HTTP 500    systemd or launchd is missing or refuses
    └── EndpointError           exit 1, HTTP 502    an outside endpoint failed or sent an invalid response
        └── EndpointSlow        exit 1, HTTP 504    it sent nothing for too long

Exit code and HTTP status are on the class, so each interface maps errors in one place. A message names the thing
and the next step; it never holds a secret. A name in a command that it proposes goes through `in_command`.
"""

from __future__ import annotations

from pathlib import PurePath


def in_command(name: str | PurePath) -> str:
    """A name or path as a command in a message has it, to be copied into a shell: others may have chosen it, and of
    `$(x).md` it runs nothing, of `-x.md` no program takes an option."""
    import shlex  # few calls of the program propose a command

    text = str(name)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


class VaultMemoryError(Exception):
    """Root of the tree: `exit_code` for the command line, `http_status` for HTTP."""

    exit_code = 1
    http_status = 500


class UsageError(VaultMemoryError):
    """The call itself is wrong; nothing was done."""

    exit_code = 2
    http_status = 400


class TooLarge(UsageError):
    """What is to be written or read is larger than this program reads."""

    http_status = 413


class InvalidId(UsageError):
    """A user id that is not valid, or that differs from an existing id only in case."""


class ConfigError(UsageError):
    """One or more settings are wrong; the message lists them all."""

    http_status = 500


class NotAVault(UsageError):
    """There is no vault at the path."""

    http_status = 404


class Unauthenticated(VaultMemoryError):
    """The caller has no token, or an invalid one."""

    http_status = 401


class Forbidden(VaultMemoryError):
    """The caller's token does not open this; the message is the same whether the thing exists or not."""

    http_status = 403


class NotFound(VaultMemoryError):
    """The requested thing does not exist."""

    http_status = 404


class Busy(VaultMemoryError):
    """A lock is held, or files keep changing; try again later."""

    http_status = 503


class Changed(VaultMemoryError):
    """A compare-and-swap write found other bytes than the writer had read: read again and retry.

    `found` holds the bytes in the file (None: there is no file).
    """

    http_status = 409

    def __init__(self, message: str, found: bytes | None = None) -> None:
        super().__init__(message)
        self.found = found


class Stale(VaultMemoryError):
    """The version that a caller wants to replace is no longer the present one."""

    http_status = 412


class Unwritable(VaultMemoryError):
    """A file could not be written; the old one is unchanged."""

    http_status = 507


class DiskFull(Unwritable):
    """The disk is full before all was done that belongs together; what is left to do is noted, if any was begun."""


class ForeignFile(VaultMemoryError):
    """Where a private file of ours should be there is a link, or a file that git tracks: it came from elsewhere."""


class HistoryError(VaultMemoryError):
    """Git failed, could not be run, or a remote is out of reach."""


class LargeObject(HistoryError):
    """An object of git's is larger than its reader takes; it was not read."""

    http_status = 413


class IndexUnusable(VaultMemoryError):
    """The search index is corrupt, locked or unreadable; `vault-memory reindex` rebuilds it."""


class Unsupervised(VaultMemoryError):
    """systemd or launchd is missing or refused a request."""


class EndpointError(VaultMemoryError):
    """An embedding or chat endpoint failed."""

    http_status = 502


class EndpointSlow(EndpointError):
    """An endpoint sent nothing for longer than its timeout."""

    http_status = 504
