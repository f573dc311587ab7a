"""The house of docs/architecture.md, held: imports never climb, no circles, doors apart, a pure core, names that say something.

Imports are read from the source, wherever they stand: at the top, inside a function, under `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vault_memory"

FLOORS = ["errors", "config", "core", "adapters", "services", "api", "aio", "", "interfaces", "__main__"]
"""Ground first; "" is the package itself (`vault_memory/__init__.py`), which exports services for Python callers."""

NOT_IN_CORE = {
    *("os", "io", "shutil", "tempfile", "glob", "fileinput", "mmap"),  # the disk
    *("time", "sched"),  # the clock
    *("subprocess", "multiprocessing", "threading", "asyncio", "signal", "git", "filelock", "watchdog"),  # processes
    *("socket", "ssl", "http", "urllib.request", "httpx", "requests"),  # the network
    *("sqlite3", "apsw", "sqlite_vec", "logging", "secrets"),
}
NO_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "handler", "handlers"}
IMPURE_CALLS = re.compile(
    r"open|(datetime\.)?(datetime|date)\.(now|utcnow|today)|(pathlib\.)?(Posix|Windows)?Path(\.\w+)?"
)
"""The disk and the clock by another road."""


class House:
    """The modules of a package folder and what each imports of the package and of the world."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = {self._name(path): path for path in sorted(root.rglob("*.py"))}
        self.trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in self.files.items()}
        self.imports = {name: sorted(set(self._imports(name))) for name in self.files}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.root.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _imports(self, name: str) -> Iterator[str]:
        for node in ast.walk(self.trees[name]):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    inside = name.split(".") + ([""] if self.files[name].name == "__init__.py" else [])
                    base = ".".join([*inside[: -node.level], *([base] if base else [])])
                for alias in node.names:  # `from package import module` names the module, not the package
                    full = f"{base}.{alias.name}"
                    yield full if full in self.files or not self._is_ours(base) else base

    def _is_ours(self, module: str) -> bool:
        return module.split(".")[0] == self.root.name

    def edges(self) -> Iterator[tuple[str, str]]:
        """(module, module of ours that it imports)"""
        for name, imported in self.imports.items():
            yield from ((name, other) for other in imported if self._is_ours(other) and other != name)

    def rooms(self, name: str) -> list[str]:
        """Parts of a module's name below the package; [""] for the package itself."""
        return name.split(".")[1:] or [""]


def climbing(house: House) -> list[str]:
    """Imports of a higher floor, and modules that stand on none."""
    known = [f"{name}: stands on no floor" for name in house.files if house.rooms(name)[0] not in FLOORS]
    return known or [
        f"{name} imports {other}"
        for name, other in house.edges()
        if FLOORS.index(house.rooms(name)[0]) < FLOORS.index(house.rooms(other)[0])
    ]


def circles(house: House) -> list[str]:
    """One line for each circle that a depth-first walk closes."""
    graph: dict[str, list[str]] = {name: [] for name in house.files}
    for name, other in house.edges():
        graph[name].append(other)
    found, done = [], set()

    def walk(name: str, path: list[str]) -> None:
        if name in path:
            found.append(" -> ".join([*path[path.index(name) :], name]))
        elif name not in done:
            for other in graph.get(name, []):
                walk(other, [*path, name])
            done.add(name)

    for name in graph:
        walk(name, [])
    return found


def doors_touching(house: House) -> list[str]:
    """Imports from one door (a file or package of interfaces/) into another."""
    return [
        f"{name} imports {other}"
        for name, other in house.edges()
        if (a := house.rooms(name))[0] == (b := house.rooms(other))[0] == "interfaces"
        and len(a) > 1
        and len(b) > 1
        and a[1] != b[1]
    ]


def impure(house: House) -> list[str]:
    """What in core/ reaches for the disk, the clock, a process or the network."""
    found = []
    for name in house.files:
        if house.rooms(name)[0] != "core":
            continue
        for other in house.imports[name]:
            prefixes = {other[: match.start()] for match in re.finditer(r"\.|$", other)}
            if prefixes & NOT_IN_CORE:
                found.append(f"{name} imports {other}")
        for node in ast.walk(house.trees[name]):
            if isinstance(node, ast.Call) and IMPURE_CALLS.fullmatch(ast.unparse(node.func)):
                found.append(f"{name}:{node.lineno} calls {ast.unparse(node.func)}")
    return found


def vague(house: House) -> list[str]:
    """Modules named after nothing in particular."""
    return [name for name in house.files if NO_NAMES & set(re.split(r"[._]", name))]


CHECKS = [climbing, circles, doors_touching, impure, vague]


@pytest.fixture(scope="module")
def house() -> House:
    return House(PACKAGE)


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_stands(house: House, check) -> None:
    assert len(house.files) > 10
    assert check(house) == []


BROKEN = {
    "climbing": [
        ("core/a.py", "def f():\n    from vault_memory.adapters import files", "adapters/files.py"),
        ("core/a.py", "from ..services.vault import Vault", "services/vault.py"),
        (
            "adapters/a.py",
            "import typing\nif typing.TYPE_CHECKING:\n    import vault_memory.services.b",
            "services/b.py",
        ),
        ("services/a.py", "from vault_memory import record_turn", "__init__.py"),
        ("errors.py", "from vault_memory.config import Config", "config.py"),
        ("common/a.py", "", "errors.py"),
    ],
    "circles": [
        ("core/a.py", "from vault_memory.core.b import f", "core/b.py=def f():\n    from vault_memory.core import a"),
        ("core/a/__init__.py", "from . import b", "core/a/b.py=from . import c"),
        (
            "services/a.py",
            "from .b import f",
            "services/b.py=import typing\nif typing.TYPE_CHECKING:\n    from .a import g",
        ),
    ],
    "doors_touching": [
        ("interfaces/cli/show.py", "from vault_memory.interfaces.http import app", "interfaces/http/__init__.py"),
        ("interfaces/mcp.py", "from . import daemon", "interfaces/daemon.py"),
    ],
    "impure": [
        ("core/a.py", "import os.path", "errors.py"),
        ("core/a.py", "from urllib.request import urlopen", "errors.py"),
        ("core/a.py", "def f():\n    import time", "errors.py"),
        ("core/a.py", "def f(p):\n    return open(p).read()", "errors.py"),
        ("core/a.py", "import datetime\nx = datetime.datetime.now()", "errors.py"),
        ("core/a.py", "from datetime import date\nx = date.today()", "errors.py"),
        ("core/a.py", "from pathlib import Path\nx = Path('a').exists()", "errors.py"),
    ],
    "vague": [
        ("core/text_utils.py", "", "errors.py"),
        ("services/helpers/__init__.py", "", "errors.py"),
        ("adapters/index_manager.py", "", "errors.py"),
    ],
}


@pytest.mark.parametrize(
    ("check", "path", "source", "other"),
    [(check, *case) for check in CHECKS for case in BROKEN[check.__name__]],
)
def test_each_check_can_fail(tmp_path: Path, check, path: str, source: str, other: str) -> None:
    other, _, other_source = other.partition("=")
    for name, text in ((other, other_source), (path, source)):
        file = tmp_path / "vault_memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if source == "from . import b":  # a longer circle, through a package's own door
        (tmp_path / "vault_memory/core/a/c.py").write_text("import vault_memory.core.a", encoding="utf-8")
    assert len(check(House(tmp_path / "vault_memory"))) >= 1


def test_a_sound_house_passes(tmp_path: Path) -> None:
    sound = {
        "__init__.py": "from vault_memory.services.search import search",
        "errors.py": "",
        "config.py": "import os\nfrom pathlib import Path\nfrom vault_memory.errors import E\nx = Path('a')",
        "core/a.py": "from importlib import resources\nfrom pathlib import PurePosixPath\nfrom urllib.parse import quote\n"
        "x = PurePosixPath('a')\ny = resources.files('a').joinpath('b').read_text()",
        "core/b/__init__.py": "from vault_memory.core.b.c import f",
        "core/b/c.py": "from vault_memory.core import a",
        "adapters/files.py": "import os\nfrom vault_memory.core.a import x",
        "services/search.py": "from vault_memory.adapters import files",
        "interfaces/cli/__init__.py": "from vault_memory import __version__\nfrom vault_memory.interfaces.cli import show",
        "interfaces/cli/show.py": "from vault_memory.services import search",
        "__main__.py": "from vault_memory.interfaces.cli import main",
    }
    for name, text in sound.items():
        file = tmp_path / "vault_memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    house = House(tmp_path / "vault_memory")
    assert {check.__name__: check(house) for check in CHECKS} == {check.__name__: [] for check in CHECKS}
