"""The key of an endpoint: in an environment variable, or in a file outside every vault that its owner alone may read.

It is read when it is needed and kept nowhere, and no message holds it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from vault_memory.core.layout import SETTINGS_FILE
from vault_memory.errors import EndpointError, in_command

MAX_FILE_BYTES = 4_096
_FLAGS = os.O_RDONLY
for _name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
    _FLAGS |= getattr(os, _name, 0)


def key_of(key_env: str, key_file: str, environ: Mapping[str, str]) -> str:
    """The key in the variable `key_env`, else in the file `key_file`; "" where neither is named.

    Raises `EndpointError`, which names the variable or the file, for one that holds no key, and for a file that others
    may read, that lies in a vault (git would take it along) or is a link.
    """
    if not key_env and not key_file:
        return ""
    where = f"the environment variable {key_env}" if key_env else f"the file {key_file}"
    key = (environ.get(key_env, "") if key_env else _in_file(Path(key_file).expanduser())).strip()
    if not key:
        raise EndpointError(f"{where} holds no key: set it, or clear llm.{'key_env' if key_env else 'key_file'}")
    if not key.isascii() or not key.isprintable():
        raise EndpointError(f"the key in {where} must be printable ASCII")
    return key


def _in_file(path: Path) -> str:
    if not path.is_absolute():
        raise EndpointError(f"llm.key_file must be a whole path such as ~/.config/vault-memory/key, not {path}")
    if any((folder / SETTINGS_FILE).exists() for folder in path.resolve().parents):
        raise EndpointError(f"{path} lies in a vault, whose files go into git: move it out of there")
    try:
        number = os.open(path, _FLAGS)
    except OSError as error:
        raise EndpointError(f"the key cannot be read from {path}: {error.strerror}") from None
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise EndpointError(f"{path} is no file: llm.key_file must name one with the key in it")
        if os.name != "nt" and status.st_mode & 0o077:
            raise EndpointError(f"others may read {path}: `chmod 600 {in_command(str(path))}` keeps the key to you")
        return os.read(number, MAX_FILE_BYTES).decode("utf-8", "replace")
    finally:
        os.close(number)
