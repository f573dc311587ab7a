"""The house of docs/architecture.md, held: imports never climb, no circles between files or rooms, rooms entered by
their public names, doors apart, a pure core, names that say something.

Imports are read from the source, wherever they stand: at the top, inside a function, under `if TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vault_memory"

FLOORS = ["errors", "lazy", "core", "config", "adapters", "services", "api", "aio", "", "interfaces", "__main__"]
"""Ground first; "" is the package itself (`vault_memory/__init__.py`), which exports services for Python callers."""

NOT_IN_CORE = {
    *("os", "io", "shutil", "tempfile", "glob", "fileinput", "mmap"),  # the disk
    *("time", "sched"),  # the clock
    *("subprocess", "multiprocessing", "threading", "asyncio", "signal", "git", "filelock", "watchdog"),  # processes
    *("socket", "ssl", "http", "urllib.request", "httpx", "requests"),  # the network
    *("sqlite3", "apsw", "sqlite_vec", "logging", "secrets"),
}
NO_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "handler", "handlers"}
WITH_ROOMS = ("core", "adapters", "services", "interfaces")
MOST_FILES = 12
"""In one room, its `__init__.py` included."""
MOST_FLAT_SERVICES = 5
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

    def froms(self, name: str) -> Iterator[tuple[str, str]]:
        """(module, name imported from it) of every `from … import …` of ours."""
        for node in ast.walk(self.trees[name]):
            if isinstance(node, ast.ImportFrom) and self._is_ours(node.module or ""):
                yield from ((node.module or "", alias.name) for alias in node.names)

    def exported(self, name: str) -> set[str]:
        """The names in a module's `__all__`."""
        for node in self.trees[name].body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return set(ast.literal_eval(node.value))
        return set()

    def lazily(self, name: str) -> dict[str, str]:
        """The table that a room hands to `lazy_exports`: name → file of the room."""
        for node in ast.walk(self.trees[name]):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_exports":
                return dict(ast.literal_eval(node.args[1]))
        return {}

    def edges(self) -> Iterator[tuple[str, str]]:
        """(module, module of ours that it imports)"""
        for name, imported in self.imports.items():
            yield from ((name, other) for other in imported if self._is_ours(other) and other != name)

    def parts(self, name: str) -> list[str]:
        """Parts of a module's name below the package; [""] for the package itself."""
        return name.split(".")[1:] or [""]

    def room(self, name: str) -> str:
        """`core.text` for all that lies in that folder; a flat file is a room of its own."""
        parts = self.parts(name)
        return ".".join(parts[:2] if parts[0] in WITH_ROOMS else parts[:1])

    def is_room(self, name: str) -> bool:
        """Whether a module is the `__init__.py` of a folder of files."""
        return self.files[name].name == "__init__.py" and len(self.parts(name)) == 2

    def flat_files(self, floor: str) -> list[str]:
        """The modules that stand on a floor without a room."""
        return [n for n in self.files if self.parts(n)[0] == floor and len(self.parts(n)) == 2 and not self.is_room(n)]


def climbing(house: House) -> list[str]:
    """Imports of a higher floor, and modules that stand on none."""
    known = [f"{name}: stands on no floor" for name in house.files if house.parts(name)[0] not in FLOORS]
    return known or [
        f"{name} imports {other}"
        for name, other in house.edges()
        if FLOORS.index(house.parts(name)[0]) < FLOORS.index(house.parts(other)[0])
    ]


def circles(house: House) -> list[str]:
    """One line for each circle that a depth-first walk closes."""
    graph: dict[str, list[str]] = {name: [] for name in house.files}
    for name, other in house.edges():
        if not house.is_room(name):
            graph[name].append(other)
    return _closed(graph)


def _closed(graph: dict[str, list[str]]) -> list[str]:
    found: list[str] = []
    done: set[str] = set()

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


def circles_of_rooms(house: House) -> list[str]:
    """The same between rooms; a room's own `__init__.py` names its files and counts for nothing."""
    graph: dict[str, list[str]] = {}
    for name, other in house.edges():
        if not house.is_room(name) and house.room(name) != house.room(other):
            graph.setdefault(house.room(name), []).append(house.room(other))
    return _closed(graph)


def by_the_window(house: House) -> list[str]:
    """Imports of a room's insides from outside it, and of names that it does not export."""
    found = []
    for name in house.files:
        for base, imported in house.froms(name):
            if base not in house.files or house.room(base) == house.room(name) or len(house.parts(base)) < 2:
                continue
            if not house.is_room(base):
                if len(house.parts(base)) > 2:
                    found.append(f"{name} imports {base}, which is inside {house.room(base)}")
            elif imported not in house.exported(base):
                found.append(f"{name} imports {imported}, which {base} does not export")
    return found


def unequal_exports(house: House) -> list[str]:
    """Rooms whose `__all__`, whose imports for type checkers and whose table of lazy exports differ."""
    found = []
    for name in filter(house.is_room, house.files):
        typed = {imported: base for base, imported in house.froms(name) if base.startswith(name)}
        lazy = {n: f"{name}.{home}" for n, home in house.lazily(name).items()}
        modules = {n for n, base in typed.items() if base == name}
        if house.room(name).startswith("interfaces") or (not typed and not house.exported(name)):
            continue
        if {n: base for n, base in typed.items() if n not in modules} != lazy or set(typed) != house.exported(name):
            found.append(f"{name}: {sorted({*typed} ^ house.exported(name)) or sorted({*lazy} ^ {*typed} - modules)}")
    return found


def overfull(house: House) -> list[str]:
    """Rooms with more files than one finds one's way in, and too many files outside any."""
    sizes: dict[str, int] = {}
    for path in house.files.values():
        sizes[path.parent.relative_to(house.root).as_posix()] = (
            sizes.get(path.parent.relative_to(house.root).as_posix(), 0) + 1
        )
    found = [f"{room}: {size} files" for room, size in sizes.items() if size > MOST_FILES and room != "services"]
    flat = house.flat_files("services")
    return found + ([f"services: {len(flat)} flat files"] if len(flat) > MOST_FLAT_SERVICES else [])


def doors_reaching_down(house: House) -> list[str]:
    """Imports of adapters by a door: it calls services."""
    return [
        f"{name} imports {other}"
        for name, other in house.edges()
        if house.parts(name)[0] == "interfaces" and house.parts(other)[0] == "adapters"
    ]


def doors_touching(house: House) -> list[str]:
    """Imports from one door (a file or package of interfaces/) into another."""
    return [
        f"{name} imports {other}"
        for name, other in house.edges()
        if (a := house.parts(name))[0] == (b := house.parts(other))[0] == "interfaces"
        and len(a) > 1
        and len(b) > 1
        and a[1] != b[1]
    ]


def impure(house: House) -> list[str]:
    """What in core/ reaches for the disk, the clock, a process or the network."""
    found = []
    for name in house.files:
        if house.parts(name)[0] != "core":
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


CHECKS = [
    climbing,
    circles,
    circles_of_rooms,
    by_the_window,
    unequal_exports,
    overfull,
    doors_reaching_down,
    doors_touching,
    impure,
    vague,
]


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
        ("core/a.py", "from vault_memory.config import Config", "config.py"),
        ("common/a.py", "", "errors.py"),
    ],
    "circles": [
        ("core/a.py", "from vault_memory.core.b import f", "core/b.py=def f():\n    from vault_memory.core import a"),
        ("core/a.py", "from vault_memory.core import b", "core/b.py=from vault_memory.core import a"),
        (
            "services/a.py",
            "from .b import f",
            "services/b.py=import typing\nif typing.TYPE_CHECKING:\n    from .a import g",
        ),
    ],
    "circles_of_rooms": [
        ("core/a/x.py", "from vault_memory.core.b import y", "core/b/z.py=from vault_memory.core.a import w"),
        ("core/a/x.py", "from vault_memory.core import b", "core/b.py=from vault_memory.core.a import w"),
    ],
    "by_the_window": [
        ("services/a/x.py", "from vault_memory.core.b.c import f", "core/b/c.py"),
        ("services/x.py", "def f():\n    from vault_memory.core.b import g", "core/b/__init__.py=__all__ = ['f']"),
    ],
    "unequal_exports": [
        ("core/a/__init__.py", "from vault_memory.core.a.b import f", "core/a/b.py"),
        ("core/a/__init__.py", "__all__ = ['f']", "core/a/b.py"),
        (
            "core/a/__init__.py",
            "from vault_memory.core.a.b import f\n__all__ = ['f']\nx = lazy_exports(__name__, {'f': 'c'})",
            "core/a/b.py",
        ),
    ],
    "overfull": [(f"services/a{MOST_FLAT_SERVICES}.py", "", "services/a.py")],
    "doors_reaching_down": [
        ("interfaces/cli/show.py", "from vault_memory.adapters import files", "adapters/files.py"),
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
    if check is overfull:
        for number in range(MOST_FLAT_SERVICES):
            (tmp_path / f"vault_memory/services/a{number}.py").touch()
    assert len(check(House(tmp_path / "vault_memory"))) >= 1


def test_a_sound_house_passes(tmp_path: Path) -> None:
    sound = {
        "__init__.py": "from vault_memory.services.search import search",
        "errors.py": "",
        "config.py": "import os\nfrom pathlib import Path\nfrom vault_memory.errors import E\nx = Path('a')",
        "core/a.py": "from importlib import resources\nfrom pathlib import PurePosixPath\n"
        "from urllib.parse import quote\n"
        "x = PurePosixPath('a')\ny = resources.files('a').joinpath('b').read_text()",
        "core/b/__init__.py": "from vault_memory.core.b import d\nfrom vault_memory.core.b.c import f\n"
        "__all__ = ['d', 'f']\n__getattr__ = lazy_exports(__name__, {'f': 'c'})",
        "core/b/c.py": "from vault_memory.core import a\nfrom vault_memory.core.b import d",
        "core/b/d.py": "",
        "adapters/files.py": "import os\nfrom vault_memory.core.a import x",
        "services/search.py": "from vault_memory.adapters import files\nfrom vault_memory.core.b import d, f",
        "interfaces/cli/__init__.py": "from vault_memory import __version__\n"
        "from vault_memory.interfaces.cli import show\n"
        "__all__ = ['main']",
        "interfaces/cli/show.py": "from vault_memory.services import search",
        "__main__.py": "from vault_memory.interfaces.cli import main",
    }
    for name, text in sound.items():
        file = tmp_path / "vault_memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    house = House(tmp_path / "vault_memory")
    assert {check.__name__: check(house) for check in CHECKS} == {check.__name__: [] for check in CHECKS}
