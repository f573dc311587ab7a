"""What is shipped is found: in a wheel, in an installed wheel, in an editable install."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow

LAY_OUT = """
import pathlib, sys
from vault_memory.services import starter
target = pathlib.Path(sys.argv[1])
(target / "hooks").mkdir(parents=True)
starter.lay_out(target)
(target.parent / "new-en").mkdir()
starter.lay_out(target.parent / "new-en", locale="en")
starter.install_hooks(target)
print(starter.shipped("vault"))
"""


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def shipped_files() -> set[str]:
    return {
        f"{top}/{path.relative_to(ROOT / top).as_posix()}"
        for top in ("vault", "hooks", "locales")
        for path in (ROOT / top).rglob("*")
        if path.is_file()
    }


def pip(*arguments: object, cwd: Path) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments, "--no-deps", "--quiet", cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout, built with the tools at hand (no network)."""
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", ROOT, "--no-build-isolation", "--wheel-dir", folder, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def laid_out(python: Path, folder: Path) -> tuple[Path, set[str]]:
    """Lay a vault out with some environment's Python; where it took the files from, and which came."""
    source = run(python, "-c", LAY_OUT, folder / "new", cwd=folder)
    files = {p.relative_to(folder / "new").as_posix() for p in (folder / "new").rglob("*") if p.is_file()}
    return Path(source), {name if name.startswith("hooks/") else f"vault/{name}" for name in files}


def test_the_wheel_holds_the_starter_vault_and_the_hooks(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
    prefix = "vault_memory/shipped/"
    assert {name.removeprefix(prefix) for name in names if name.startswith(prefix)} == shipped_files()
    package = (p.relative_to(ROOT).as_posix() for p in (ROOT / "vault_memory").rglob("*") if p.is_file())
    assert {name for name in package if "__pycache__" not in name} <= set(names), "data files too"
    tops = {name.split("/")[0] for name in names}
    assert tops == {"vault_memory", next(t for t in tops if t.endswith(".dist-info"))}, "neither tests nor docs"
    assert "License-Expression: MIT" in metadata and "Requires-Python: >=3.11" in metadata


@pytest.mark.parametrize("how", ["wheel", "editable"])
def test_an_installed_copy_lays_out_a_vault(how: str, wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, which borrows only the dependencies of this one."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = next(p for p in (tmp_path / "venv/bin/python", tmp_path / "venv/Scripts/python.exe") if p.exists())
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path))
    here = Path(run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path))
    (site / "zz_borrowed.pth").write_text(f"{here}\n", encoding="utf-8")
    what = [wheel] if how == "wheel" else ["--no-build-isolation", "--editable", ROOT]
    run(sys.executable, "-m", "pip", "--python", python, "install", *what, "--no-deps", "--quiet", cwd=tmp_path)

    source, files = laid_out(python, tmp_path)
    assert source == (site / "vault_memory/shipped/vault" if how == "wheel" else ROOT / "vault")
    assert files == {name for name in shipped_files() if not name.startswith("locales/")}
    english = (tmp_path / "new-en/Home.md").read_text(encoding="utf-8")
    assert english == (ROOT / "locales/en/Home.md").read_text(encoding="utf-8")
    command = python.with_name("vault-memory")
    assert run(command, "--version", cwd=tmp_path) == "vault-memory, version 0.1.0"
    assert serves(command, tmp_path / "vault")


def serves(command: Path, folder: Path) -> bool:
    """Whether an installed `vault-memory serve` answers for a new vault."""
    run(command, "init", folder, cwd=folder.parent)
    process = subprocess.Popen(
        [command, "serve", "--port", "0"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert process.stdout is not None
        shown = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in process.stdout)
        address = next(found[0] for found in shown if found)
        return httpx.get(f"{address}/healthz", timeout=30).json() == {"alive": True}
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_extras_hold_one_another() -> None:
    """`all` and `dev` bring what `serve` needs, so that `make setup` does."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras["all"] == [f"vault-memory[{','.join(sorted(extras.keys() - {'all', 'dev'}))}]"]
    assert {*extras["local"], *extras["serve"]} <= set(extras["dev"])
