"""What is packed can be unpacked, also when files change while they are packed."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_memory.adapters.archive import check, pack, unpack
from vault_memory.errors import UsageError


class _Disk(FileIO):
    """An archive's file; something happens in the vault once its first bytes are written."""

    def __init__(self, path: Path, happens: Callable[[], object]) -> None:
        super().__init__(path, "w")
        self._happens: Callable[[], object] | None = happens

    def write(self, data: object) -> int:
        happens, self._happens = self._happens, None
        if happens:
            happens()
        return super().write(data)  # type: ignore[arg-type]


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize(
    ("happens", "kept"), [(lambda path: os.truncate(path, 4_500_000), 4_500_000), (_grow, 6 << 20)]
)
def test_a_file_that_changes_while_it_is_packed_is_named_and_the_archive_is_whole(
    tmp_path: Path, happens: Callable[[Path], None], kept: int
) -> None:
    large, archive = tmp_path / "large.bin", tmp_path / "a.tar.gz"
    content = os.urandom(6 << 20)
    large.write_bytes(content)
    (tmp_path / "next.md").write_text("next\n")
    with _Disk(archive, lambda: happens(large)) as out, pack(out, leave_out=_nothing) as packing:
        for name in ("large.bin", "next.md"):
            assert packing.add(tmp_path / name, PurePosixPath(name))
    [line] = packing.problems
    assert line.startswith("changed while it was copied") and line.endswith(": large.bin")
    check(archive, _nothing)
    (tmp_path / "again").mkdir()
    unpack(archive, tmp_path / "again")
    assert (tmp_path / "again" / "large.bin").read_bytes() == content[:kept].ljust(6 << 20, b"\0")
    assert (tmp_path / "again" / "next.md").read_text() == "next\n"


def test_a_file_that_is_gone_is_not_there(tmp_path: Path) -> None:
    with (tmp_path / "a.tar.gz").open("wb") as out, pack(out, leave_out=_nothing) as packing:
        assert not packing.add(tmp_path / "gone.md", PurePosixPath("gone.md"))
    check(tmp_path / "a.tar.gz", _nothing)


def test_links_that_lead_out_by_way_of_others_are_left_out(tmp_path: Path) -> None:
    links = {"sub/deep": "../a/b", "a/b/x": "../../../a", "out": "sub/deep/../../../x", "good": "a/b"}
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    archive = tmp_path / "a.tar.gz"
    with archive.open("wb") as out, pack(out, leave_out=_nothing) as packing:
        for name, target in links.items():
            (tmp_path / name).symlink_to(target)
            assert packing.add(tmp_path / name, PurePosixPath(name))
    assert {line.split(": ")[1] for line in packing.problems} == {"a/b/x", "out"}
    check(archive, _nothing)


def _nothing(name: PurePosixPath, is_link: bool) -> bool:
    return False


@pytest.mark.slow
def test_a_damaged_archive_is_read_or_refused_in_words(tmp_path: Path) -> None:
    """Some bytes of the headers of a real archive are others: it passes, or a person is told what is wrong."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as made:
        for name, kind in (("a", tarfile.DIRTYPE), ("a/名" + "x" * 120, tarfile.REGTYPE), ("l", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, "a" if kind == tarfile.SYMTYPE else "", 0
            made.addfile(member)
    archive = tmp_path / "a.tar.gz"

    @settings(max_examples=150, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(st.integers(0, plain.tell() - 1), st.binary(max_size=9)), min_size=1, max_size=4))
    def anything(changes: list[tuple[int, bytes]]) -> None:
        data = bytearray(plain.getvalue())
        for place, other in changes:
            data[place : place + len(other)] = other
        for start in range(0, len(data) - 511, 512):  # a header whose checksum is wrong would be the end of each try
            block = data[start : start + 512]
            block[148:156] = b" " * 8
            data[start + 148 : start + 156] = b"%06o\0 " % sum(block)
        archive.write_bytes(gzip.compress(bytes(data), 1))
        with suppress(UsageError):
            check(archive, lambda name, is_link: False)

    anything()
