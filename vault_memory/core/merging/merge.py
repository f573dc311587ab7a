"""Merge three states of a file: what both sides began with, ours, and theirs. Nobody's words are lost.

Where the sides changed different things there is nothing to decide: a profile is merged by key (`profile_merge`), a
journal by entry (`journal_merge`), a learner's profile by topic (`learning_merge`), a note by property and line
(`property_merge`), all other files by line (`line_merge`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from pathlib import PurePosixPath

from vault_memory.core import graph, layout
from vault_memory.core.merging import property_merge
from vault_memory.core.merging.journal_merge import carry_entries, lead_of, merge_journal
from vault_memory.core.merging.learning_merge import merge_learning
from vault_memory.core.merging.line_merge import (
    Merged,
    Newer,
    carried_lines,
    common_lines,
    merge_jsonl,
    split_lines,
)
from vault_memory.core.merging.matching import matches
from vault_memory.core.merging.profile_merge import carry_values, merge_profile
from vault_memory.core.notes import entries

RECORDS = ("memory", "entity", "mistake")
"""The kinds of note that the product writes, with properties of its own."""


def merge_file(
    path: PurePosixPath, base: bytes | None, ours: bytes | None, theirs: bytes | None, newer: Newer | None = None
) -> Merged | None:
    """Merge a file by its kind (`path` is vault-relative); None if it cannot be merged, so that both must be kept.

    `base` is None when both sides made the file; two entities whose names make one file are both kept then. A side that
    has deleted it (None) has deleted all entries of a log, and what the other has new is left, or no text. A record
    that the other has only used (`property_merge.USES`) is gone, too: no text; of any other file the outcome is None.
    `newer` decides between two values of one key; without it they become a conflict. Bytes that are not UTF-8 pass
    through (`surrogateescape`).
    """
    old, one, other = (
        None if data is None else data.decode("utf-8", "surrogateescape") for data in (base, ours, theirs)
    )
    place = layout.place_of(path)
    kind = place and layout.kind_of(place)
    if one is None or other is None:
        is_journal = kind in entries.KINDS
        left = other if one is None else one
        if old is not None and left is not None and kind in RECORDS and property_merge.is_mere_use(old, left):
            return Merged("")
        if old is None or not (is_journal or layout.is_feedback(path)):
            return None
        emptied = lead_of(old) if is_journal else ""
        one, other = (emptied if text is None else text for text in (one, other))
        merged = merge_journal(old, one, other) if is_journal else merge_jsonl(old, one, other)
        return Merged("") if merged.text.strip() == emptied.strip() else merged
    if path.suffix == ".jsonl":
        return merge_jsonl(old, one, other)
    if path.suffix != ".md" or place is None:
        return None
    if kind == "profile":
        return merge_profile(old, one, other, newer)
    if kind in entries.KINDS:
        return merge_journal(old, one, other)
    if kind == "learning":
        return merge_learning(old, one, other, newer)
    if old is None and kind == "entity" and graph.are_two(one, other):
        return None
    merged = property_merge.merge_note(old, one, other, newer, has_uses=kind in RECORDS)
    if kind == "entity" and not merged.conflicts:  # between marks each side's lines stay as they are
        return replace(merged, text=graph.without_twins(merged.text, one, other))
    return merged


def is_of_two_entities(path: PurePosixPath, ours: bytes, theirs: bytes) -> bool:
    """Whether a file holds one entity on our side and another one on theirs."""
    place = layout.place_of(path)
    one, other = (data.decode("utf-8", "surrogateescape") for data in (ours, theirs))
    return place is not None and layout.kind_of(place) == "entity" and graph.are_two(one, other)


def with_entries_of(other: bytes, text: bytes) -> bytes:
    """A journal with those entries of another one that it lacks, in the order of time; both keep all they have. Doing
    it twice adds nothing."""
    one, new = (data.decode("utf-8", "surrogateescape") for data in (text, other))
    merged = carry_entries("", new, one)
    is_new = merged.rstrip("\n") != one.rstrip("\n")
    return merged.encode("utf-8", "surrogateescape") if is_new else text


def without_replaced(before: bytes, after: bytes, kept: Set[bytes]) -> bytes:
    """`after`, but as `before` is where lines of that were replaced which are not among the `kept` ones."""
    old, new = (data.decode("utf-8", "surrogateescape").split("\n") for data in (before, after))
    held = {line.decode("utf-8", "surrogateescape") for line in kept}
    found: list[str] = []
    at, twin = 0, 0
    for start, other, size in [*matches(old, new), (len(old), len(new), 0)]:
        gone, come = old[at:start], new[twin:other]
        found += [*gone, *come[len(gone) :]] if not held.issuperset(gone) else come
        found += old[start : start + size]
        at, twin = start + size, other + size
    return "\n".join(found).encode("utf-8", "surrogateescape")


def carry_over(path: PurePosixPath, before: bytes | None, after: bytes, onto: bytes, *, yields: bool = False) -> bytes:
    """`onto` with the change that leads from `before` to `after`, and with nothing else of the two.

    A merge may keep lines that only `before` and `after` have; here they stay out. They are somebody's who has not
    committed them. A profile is changed by key, a journal by entry, everything else by line; for what is not text the
    result is `after`. A change that is there already is not made twice. With `yields` a field of a profile that `onto`
    has changed as well stays as it is there: it is newer than the change.
    """
    if onto in (before, after) or b"\0" in after or b"\0" in onto:
        return after
    old, new, text = ("" if data is None else data.decode("utf-8", "surrogateescape") for data in (before, after, onto))
    if before is None:
        old = "".join(common_lines(split_lines(new), split_lines(text)))
    place = layout.place_of(path)
    kind = place and layout.kind_of(place)
    if kind == "profile":
        return carry_values(old, new, text, yields=yields).encode("utf-8", "surrogateescape")
    if kind in entries.KINDS:
        return carry_entries(old, new, text).encode("utf-8", "surrogateescape")
    return "".join(carried_lines(*(split_lines(each) for each in (old, new, text)))).encode("utf-8", "surrogateescape")
