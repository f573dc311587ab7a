"""What the operating system says about a vault's files, by way of watchdog. A hint says *look there*, never what changed.

The traps of this trade, each answered here: an exception in a handler ends watchdog's thread (ours only puts a path into
a queue); the kernel's queue overflows (watchdog logs it; we listen, and hint at everything); there are fewer watches
than folders because of `fs.inotify.max_user_watches` (we compare what the kernel lists with the folders there are, and
poll as well); network drives tell nothing (we poll); a folder is deleted and made anew (`tend` notices).
Polling is a hint at everything every few seconds: the scan that follows is as cheap as any poller's snapshot.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from vault_memory.core import layout

EVERYTHING = PurePosixPath(".")
"""The hint that anything may have changed."""

_REMOTE = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "fuse.sshfs",
    "fuse.rclone",
    "vboxsf",
    "prl_fs",
    "drvfs",
}


class Watcher:
    """Watches the content folders of the vault at `root` (never hidden ones) and puts vault-relative paths into `hints`.

    A hint is a file that may have changed, a folder below which anything may have, or `EVERYTHING`. `polling` is empty
    while the system's events can be trusted, else it says why somebody should also look every few seconds.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hints: queue.SimpleQueue[PurePosixPath] = queue.SimpleQueue()
        self.polling = ""

    def start(self) -> None:
        """Set the watches; when this returns, whatever changes from now on is hinted at."""
        raise NotImplementedError

    def tend(self) -> None:
        """Mend what broke (call it about once a second, and when a hint is `EVERYTHING`): dead threads, new folders."""
        raise NotImplementedError

    def stop(self) -> None:
        """Take the watches away. Ends within a second."""
        raise NotImplementedError
