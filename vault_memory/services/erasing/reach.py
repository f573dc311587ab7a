"""What holds an erased text and cannot be reached from here, in words, with the next step."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vault_memory.adapters import files, git
from vault_memory.adapters.git import Repository
from vault_memory.core import layout
from vault_memory.core.erasing import MASK
from vault_memory.core.privacy import shown_address
from vault_memory.errors import in_command
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault


def out_of_reach(vault: Vault, wanted: Wanted, *, after: bool = False) -> tuple[str, ...]:
    """A line for each such place; `after` the erasing."""
    return tuple(_lines(vault, wanted, after=after))


def _lines(vault: Vault, wanted: Wanted, *, after: bool) -> Iterator[str]:
    config = vault.config
    for name in os.fsdecode(git.run(vault.history.root, "remote")).split("\n"):
        if name:
            yield (
                f"the remote {shown_address(name)} keeps what was sent there: `vault-memory erase --push "
                f"{in_command(name)}` writes the new history over it, with your yes"
            )
    yield from _settings(vault, wanted)
    yield "clones, forks and other machines that share this vault: erase there, too, or delete and clone anew"
    if files.names(modules := Repository(vault.history.root).common_dir / "modules"):
        yield f"the histories of submodules, also of former ones: {modules}"
    yield "backups, exports, snapshots and synced folders that were made before: delete those"
    if config.longterm_enabled and not wanted.long_term:
        yield f"rows of the long-term store stay: {_step(wanted) if after else 'add --long-term to delete them'}"
    elif config.longterm_enabled:
        yield "backups and logs of the PostgreSQL server"
    if vault.redis_url:
        yield "Redis's own files on its disk, until it writes them anew (`redis-cli bgrewriteaof`, `redis-cli bgsave`)"
    asked = [
        name
        for name, is_on in (
            ("the language model", config.llm_enabled),
            ("the embedding model", config.embedding_kind == "http"),
            ("the proxy's provider", bool(config.upstream_base_url)),
        )
        if is_on
    ]
    if asked:
        yield f"what was sent to {' and '.join(asked)}: ask the provider"
    if after and files.is_locked(vault.root / layout.STATE_DIR / "locks" / "daemon.lock"):
        yield "a server or daemon is running and may have it in memory: restart it"
    yield "the history of your shell, if the text was typed there; terminals that show it"
    yield "what a disk keeps of deleted files below the file system"


def _settings(vault: Vault, wanted: Wanted) -> Iterator[str]:
    """Git's settings of who makes commits, where a text stands in one: those of this repository it is taken out of."""
    if not (erasure := wanted.erasure()):
        return
    args = ("config", "--null", "--show-scope", "--get-regexp", r"^user\.(name|email)$")
    fields = os.fsdecode(git.run(vault.history.root, *args, ok=(0, 1))).split("\0")
    for scope, setting in zip(fields[::2], fields[1::2], strict=False):
        name, _, value = setting.partition("\n")
        if scope == "local" and (MASK.decode() in value or erasure.holds(os.fsencode(value))):
            yield f"git's {name} of this vault is {MASK.decode()} then: `git config {name} …` sets it anew"
        elif erasure.holds(os.fsencode(value)):
            yield f"git's {name} says it, and so would new commits: `git config --{scope} {name} …` sets it anew"


def _step(wanted: Wanted) -> str:
    """What deletes rows when all else is erased: an erased note is known by nothing but its words."""
    if wanted.is_user:
        commands = ", ".join(f"`vault-memory erase --user {each} --long-term`" for each in wanted.users)
        return f"{commands} deletes them, also from now on"
    whose = f" --user {wanted.user_id}" if wanted.user_id != layout.SHARED else " --user ID"
    return f"`vault-memory erase{whose} --text TEXT --long-term` deletes those that say it, also from now on"
