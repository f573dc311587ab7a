"""What files are called without a text: apart in one folder, alike over time, and known by their endings still."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.erasing import Erasure
from vault_memory.core.graph import FileNames, numbered

NAMES = st.sampled_from(
    [b"Jo Fell.md", b"jo-fell.md", b"Jo  Fell.md", b"(erased).md", b"(erased) 2.md", b"Jo Fell 2.md", b"Jo Fell.md 2"]
)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("(erased).md", "(erased) 2.md"),
        ("(erased)", "(erased) 2"),
        ("(erased).tar.gz", "(erased) 2.tar.gz"),
        ("v1.2 (erased)", "v1.2 (erased) 2"),
        ("Dr. (erased)", "Dr. (erased) 2"),
        ("said_1_a-(erased) 3.md", "said_1_a-(erased) 3 2.md"),
    ],
)
def test_a_number_goes_before_the_ending(name: str, wanted: str) -> None:
    assert numbered(name.encode(), ()).decode() == wanted
    assert numbered(name.encode(), {wanted.encode()}).decode() == wanted.replace(" 2", " 3")


@given(st.lists(st.frozensets(NAMES, min_size=1), min_size=1, max_size=5))
def test_names_in_one_folder_stay_as_many(folders: list[frozenset[bytes]]) -> None:
    """Whatever stood beside what, when; also of a name that is asked for without being heard of, and for who goes on
    with what was decided before."""
    erasure = Erasure(["Jo Fell"])
    names = FileNames(erasure.masked, {})
    for folder in folders:
        names.hear(sorted(folder))
    decided = dict(names.settled())
    for folder in (*folders, *(folder | {b"JO FELL.md"} for folder in folders)):
        called = {names.called(name) for name in folder}
        assert len(called) == len(folder)
        assert not any(map(erasure.holds, called))
    again = FileNames(erasure.masked, decided)
    again.hear(sorted({*folders[0], *map(names.called, folders[0])}))
    assert {name: again.settled()[name] for name in decided} == decided


def test_one_that_stood_beside_no_other_has_no_number() -> None:
    names = FileNames(Erasure(["Jo Fell"]).masked, {})
    for folder in ([b"Jo Fell.md"], [b"jo-fell.md"], [b"(erased).md"]):
        names.hear(folder)
    assert set(names.settled().values()) == {b"(erased).md"}
