"""Lazy exports: a room imports a name on its first use. A search does not pay for git, `--help` not for a model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package whose exports are kept: importing the module `search.search` must not replace the function `search`."""

    _export_modules: Mapping[str, str]

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in self._export_modules and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def lazy_exports(room: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of the package `room`. `modules` maps each exported name to its module in the room."""
    package = sys.modules[room]
    package.__dict__["_export_modules"] = modules
    package.__class__ = _Room

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{room}.{modules[name]}"), name)
        setattr(package, name, value)
        return value

    return __getattr__
