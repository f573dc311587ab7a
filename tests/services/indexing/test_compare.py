"""What counts as changed, young, gone, and gone in masses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.adapters.scan import RACY_NS, SourceStamp, stamp_to_record
from vault_memory.services.indexing.reconcile import compare, is_mass_deletion

STAMP = SourceStamp(size=10, mtime_ns=100, ctime_ns=100, inode=7)
stamps = st.builds(SourceStamp, *[st.integers(0, 3)] * 4)
files = st.dictionaries(st.sampled_from(["a.md", "b.md", "d/a.md", "d/b.md", "de.md"]), stamps)


@given(on_disk=files, known=files)
def test_every_file_is_in_one_place_and_applying_the_change_leaves_none(
    on_disk: dict[str, SourceStamp], known: dict[str, SourceStamp]
) -> None:
    change = compare(on_disk, known)
    assert len(change.added) + len(change.modified) + change.same == len(on_disk)
    assert {*change.added, *change.modified} | {s for s in known if known[s] == on_disk.get(s)} == on_disk.keys()
    assert set(change.removed) == known.keys() - on_disk.keys()
    assert compare(on_disk, dict(on_disk)) == type(change)((), (), (), len(on_disk))


@pytest.mark.parametrize("field", SourceStamp._fields)
def test_each_part_of_the_stamp_counts(field: str) -> None:
    assert compare({"a.md": STAMP._replace(**{field: 1})}, {"a.md": STAMP}).modified == ("a.md",)


@pytest.mark.parametrize(
    ("unseen", "removed"),
    [
        ([], ("a.md", "d/a.md", "de.md")),
        (["d"], ("a.md", "de.md")),
        (["a.md"], ("d/a.md", "de.md")),
        ([""], ()),
    ],
)
def test_what_could_not_be_looked_at_is_not_gone(unseen: list[str], removed: tuple[str, ...]) -> None:
    known = {"a.md": STAMP, "d/a.md": STAMP, "de.md": STAMP}
    assert compare({}, known, unseen).removed == removed


def test_a_young_file_is_read_again_and_an_old_one_is_not() -> None:
    """A save within the same tick of the clock that leaves the size as it was would otherwise never be seen."""
    old, young = STAMP, STAMP._replace(mtime_ns=RACY_NS * 2)
    assert stamp_to_record(old, RACY_NS * 3) == old
    assert stamp_to_record(young, RACY_NS * 3 - 1) != young
    assert compare({"a.md": young}, {"a.md": stamp_to_record(young, RACY_NS * 3 - 1)}).modified == ("a.md",)
    future = STAMP._replace(ctime_ns=10 * RACY_NS)
    assert stamp_to_record(future, RACY_NS) != future


@pytest.mark.parametrize(
    ("removed", "known", "mass"),
    [(1, 1, False), (4, 4, False), (5, 5, True), (5, 25, False), (6, 25, True), (50, 1000, False), (51, 1000, True)],
)
def test_what_is_a_mass_deletion(removed: int, known: int, mass: bool) -> None:
    assert is_mass_deletion(removed, known) is mass
