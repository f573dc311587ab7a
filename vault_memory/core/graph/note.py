"""The note of an entity: flat front matter, which Obsidian can edit, `## Observations` and `## Relations`.

A person may write anything into such a note, and all of it stays: what is added is put at the end of its section. A
bullet of the relations that has one of the types is a relation; any other link in the note is a mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vault_memory.core import reading
from vault_memory.core.graph.entity import (
    MENTION,
    RELATION_TYPES,
    TYPES,
    Entity,
    Line,
    NewEntity,
    NewRelation,
    stored_time,
)
from vault_memory.core.graph.links import MAX_LINK_CHARS, links_in
from vault_memory.core.graph.names import is_stem_of, name_key, spaced
from vault_memory.core.notes import note
from vault_memory.core.text import fold, one_line

OBSERVATIONS, RELATIONS = "Observations", "Relations"
PROPERTIES = ("id", "name", "type", "tags", "aliases", "created_at")
"""In the order in which a note has them."""

_SECTIONS = {
    **dict.fromkeys(map(fold, ("observations", "觀察", "观察")), OBSERVATIONS),
    **dict.fromkeys(map(fold, ("relations", "關係", "关系")), RELATIONS),
}
_HEADING = re.compile(r" {0,3}(#{1,2})[ \t]+(.*?)[ \t#]*$")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?=\S)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RELATION = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z _-]{0,30}?)[ \t]*[:：]?[ \t]*"
    rf"\[\[(?P<link>[^\[\]\n]{{1,{MAX_LINK_CHARS}}})\]\](?P<rest>.*)",
    re.DOTALL,
)
_COMMENT = re.compile(r"%%([^%]*)%%\s*$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\S*)?")
_MILLISECONDS = re.compile(r"[A-Za-z]\w*_(\d{12,14})_\w+")
_DASH = re.compile(r"\s*[—–:：-]+\s*")
_PERCENT, _WRITTEN_PERCENT = re.compile(r"%(\\*)(?=%)"), re.compile(r"%\\(\\*)(?=%)")
"""`%%` opens a comment: of a text's own a backslash stands between."""


@dataclass(frozen=True)
class _Item:
    """A bullet of a section: its lines in the body, `end` excluded, and its text."""

    section: str
    first: int
    end: int
    text: str


def decode(text: str, source: str) -> Entity:
    """The entity in a note; `source` is its file, whose name is the entity's unless the note has another one that the
    file was made for."""
    parsed = note.parse(text)
    problems = [*parsed.problems, *note.conflict_problems(text)]
    stem = source.rpartition("/")[2].removesuffix(".md")
    meta = parsed.meta

    stored_name = meta.get("name")
    named = spaced(str(stored_name)) if isinstance(stored_name, (str, int, float)) else ""
    is_own = bool(named) and is_stem_of(stem, named)
    name = named if is_own else stem
    aliases = _names(meta.get("aliases", meta.get("alias")))
    others = dict.fromkeys([*aliases, *([named] if named else [])])
    kind = meta.get("type")
    if kind not in (None, "", *TYPES):
        problems.append(f"type: {str(kind)[:40]!r} is not one of {', '.join(TYPES)}")
    made = meta.get("created_at")
    at = note.moment(made) if made else None
    if made and at is None:
        problems.append(f"created_at: {str(made)[:40]!r} is not a time")

    marks = note.conflict_marks(parsed.body)
    lines = ["" if at in marks else line for at, line in enumerate(_lines(parsed.body), 1)]
    items, rest = _outline(lines)
    observations = [_read(item.text) for item in items if item.section == OBSERVATIONS]
    found: list[Line] = []
    mentions: dict[str, Line] = {}
    for item in items:
        relation = _relation(item) if item.section == RELATIONS else None
        if relation is not None:
            found.append(relation)
            _mention(mentions, relation.description)
        else:
            _mention(mentions, item.text)
    _mention(mentions, "\n".join(rest))
    for key, value in meta.items():
        if key not in PROPERTIES:
            for each in value if isinstance(value, list) else [value]:
                _mention(mentions, each if isinstance(each, str) else "")
    return Entity(
        name=name,
        source=source,
        id=_text(meta.get("id")),
        type=kind if kind in TYPES else None,
        observations=tuple(filter(None, observations)),
        tags=parsed.tags,
        aliases=tuple(aliases),
        stored_name=named,
        other_names=tuple(each for each in others if name_key(each) != name_key(name)),
        created_at=at,
        lines=(*found, *mentions.values()),
        metadata={key: value for key, value in meta.items() if key not in PROPERTIES},
        problems=tuple(problems),
    )


def encode(new: NewEntity, stem: str, entity_id: str, at: datetime) -> str:
    """The note of a new entity in a file of that name. `with_additions` adds to one that is there."""
    aliases = list(new.aliases)
    if new.name != stem:
        aliases.insert(0, new.name)
    meta: dict[str, Any] = {"id": entity_id, "name": new.name}
    meta |= {"type": new.type} if new.type else {}
    meta |= {"tags": list(new.tags)} if new.tags else {}
    meta |= {"aliases": aliases} if aliases else {}
    meta["created_at"] = stored_time(at)
    bare = note.render(meta, f"## {OBSERVATIONS}\n\n## {RELATIONS}\n")
    return with_additions(bare, OBSERVATIONS, list(map(observation_item, new.observations)))


def observation_item(text: str) -> str:
    """An observation as the text of a bullet."""
    return _written(text)


def relation_item(new: NewRelation, link: str, relation_id: str, at: datetime) -> str:
    """A relation as the text of a bullet. The id says when it was made, to the millisecond, or the time stands
    there."""
    found = _MILLISECONDS.fullmatch(relation_id)
    is_in_id = found is not None and int(found[1]) == int(at.timestamp() * 1000)
    when = at.date().isoformat() if is_in_id else stored_time(at)
    why = f" — {_written(new.description)}" if new.description else ""
    return f"{new.type} {link}{why} %%{relation_id} {when}%%"


def described(bullet: str, description: str) -> str:
    """The text of a relation that has no description with one."""
    comment = _COMMENT.search(bullet)
    at = comment.start() if comment else len(bullet.rstrip())
    return bullet[:at].rstrip() + f" — {_written(description)}" + (" " if comment else "") + bullet[at:]


def with_descriptions(text: str, descriptions: Mapping[Line, str]) -> str:
    """The note with descriptions for relations that have none."""
    if not descriptions:
        return text
    body = note.parse(text).body
    lines = _lines(body, keep_ends=True)
    for line in sorted(descriptions, key=lambda each: -each.first):
        lines[line.first : line.end] = [described("".join(lines[line.first : line.end]), descriptions[line])]
    return text[: len(text) - len(body)] + "".join(lines)


def with_properties(text: str, changes: Mapping[str, Any]) -> str:
    """The note with other values of some properties; all other lines stay. Raises `ValueError` with the reason for
    front matter that is broken."""
    return note.with_meta(text, changes) if changes else text


def with_additions(text: str, section: str, items: Sequence[str]) -> str:
    """The note with further bullets at the end of a section, which is made where there is none."""
    if not items:
        return text
    parsed = note.parse(text)
    head, lines = text[: len(text) - len(parsed.body)], _lines(parsed.body, keep_ends=True)
    end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    new = [end.join(f"  {line}" if line else "" for line in f"- {item}".split("\n"))[2:] + end for item in items]
    bounds = _bounds([line.rstrip("\r\n") for line in lines], section)
    if bounds is None:
        gap = [end] if lines and lines[-1].strip() else []
        return head + "".join([*lines, *gap, f"## {section}{end}", *new])
    first, last = bounds
    while last > first and not lines[last - 1].strip():
        last -= 1
    return head + "".join([*lines[:last], *new, *lines[last:]])


def are_two(one: str, other: str) -> bool:
    """Whether two notes in one file are of two entities: `a/b` and `a-b` have the same safe name."""
    names = [name_in_note(text) for text in (one, other)]
    return all(names) and len({*map(name_key, names)}) == 2


def name_in_note(text: str) -> str:
    """The true name that the note of an entity holds, "" for none."""
    name = note.parse(text).meta.get("name")
    return name if isinstance(name, str) else ""


def without_twins(text: str, *sides: str) -> str:
    """The note, merged of several, with each observation and relation as often as the side has it that has it more
    often: two that say the same are one, whenever each was made. The first ones stay."""
    most = Counter[object]()
    for side in sides:
        most |= Counter(key for _, key in _told(side))
    told = Counter[object]()
    lines = _lines(text, keep_ends=True)
    above = len(lines) - len(_lines(note.parse(text).body))
    for item, key in _told(text):
        told[key] += 1
        if told[key] > most[key] > 0:  # what stands in neither side is nobody's twin
            lines[above + item.first : above + item.end] = [""] * (item.end - item.first)
    return "".join(lines)


def _told(text: str) -> Iterator[tuple[_Item, object]]:
    """The bullets of a note's two sections, and what each says."""
    items, _ = _outline(_lines(note.parse(text).body))
    for item in items:
        line = _relation(item) if item.section == RELATIONS else None
        yield item, (line.type, line.key, line.description) if line else (item.section, name_key(_read(item.text)))


def _relation(item: _Item) -> Line | None:
    """The relation of a bullet; None if it is none of the types."""
    found = _RELATION.fullmatch(item.text)
    kind = "_".join(re.split(r"[\s_-]+", found["type"].strip().lower())) if found else ""
    if found is None or kind not in RELATION_TYPES:
        return None
    target, _, shown = found["link"].partition("|")
    target = target.partition("#")[0].strip()
    if not target:
        return None
    rest = found["rest"].rstrip()
    comment = _COMMENT.search(rest)
    relation_id, at = _of_comment(comment[1]) if comment else ("", None)
    described = rest[: comment.start()] if comment else rest
    dash = _DASH.match(described)
    description = _read(described[dash.end() if dash else 0 :]).strip()
    return Line(kind, target, shown.strip(), spaced(description), relation_id, at, first=item.first, end=item.end)


def _of_comment(comment: str) -> tuple[str, datetime | None]:
    """Id and time in the comment of a relation."""
    words = comment.split()
    dates = [word for word in words if _DATE.fullmatch(word)]
    ids = [word for word in words if word not in dates]
    relation_id, at = ids[0] if ids else "", note.moment(dates[0]) if dates else None
    if at is not None and len(dates[0]) == 10 and (found := _MILLISECONDS.fullmatch(relation_id)):
        exact = moment_of(int(found[1]))
        at = exact if exact is not None else at
    return relation_id, at


def moment_of(milliseconds: int) -> datetime | None:
    """The time so many milliseconds after 1970, in this system's zone; None if there is none."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _mention(mentions: dict[str, Line], text: str) -> None:
    for target, shown in links_in(text) if "[[" in text else ():
        mentions.setdefault(name_key(target), Line(MENTION, target, shown, is_mention=True))


def _outline(lines: Sequence[str]) -> tuple[list[_Item], list[str]]:
    """The bullets of the two sections, and all other lines but those of fenced code."""
    items: list[_Item] = []
    rest: list[str] = []
    section = ""
    for at, end, is_bullet in _walk(lines):
        if is_bullet and section:
            items.append(_Item(section, at, end, _item_text(lines[at:end])))
            continue
        if heading := _HEADING.match(lines[at]):
            section = _section_of(heading[2])
        rest.extend(lines[at:end])
    return items, rest


def _walk(lines: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """The lines outside fenced code, each as a range, `end` excluded; all of a bullet are one range."""
    at, fence = 0, ""
    while at < len(lines):
        line = lines[at]
        mark = _FENCE.match(line)
        end, is_bullet = at + 1, False
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            if is_bullet := _BULLET.match(line) is not None:
                end = _end_of_item(lines, at)
            yield at, end, is_bullet
        at = end


def _end_of_item(lines: Sequence[str], first: int) -> int:
    """Where a bullet ends: it goes on over indented lines, over blank ones that such a line follows, and over text that
    follows without a blank line."""
    end = at = first + 1
    is_after_blank = False
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            is_after_blank = True
        elif line.startswith(("  ", "\t")):
            is_after_blank, end = False, at + 1
        elif is_after_blank or _BULLET.match(line) or _HEADING.match(line) or _FENCE.match(line):
            break
        else:
            end = at + 1
        at += 1
    return end


def _item_text(lines: Sequence[str]) -> str:
    first = lines[0][len(_BULLET.match(lines[0])[0]) :]  # type: ignore[index]  # it is a bullet
    others = (line[2:] if line.startswith("  ") else line.removeprefix("\t") for line in lines[1:])
    return "\n".join(line.rstrip() for line in (first, *others))


def _bounds(lines: Sequence[str], section: str) -> tuple[int, int] | None:
    """The lines of the first section of that name, below its heading; `end` excluded."""
    first = None
    for at, _, is_bullet in _walk(lines):
        if not is_bullet and (heading := _HEADING.match(lines[at])):
            if first is not None:
                return first, at
            if _section_of(heading[2]) == section:
                first = at + 1
    return None if first is None else (first, len(lines))


def _section_of(heading: str) -> str:
    return _SECTIONS.get(fold(heading.strip()), "")


def _written(text: str) -> str:
    return _PERCENT.sub(r"%\1\\", text)


def _read(text: str) -> str:
    return _WRITTEN_PERCENT.sub(r"%\1", text)


def _lines(body: str, *, keep_ends: bool = False) -> list[str]:
    return reading.lines(body, keep_ends=keep_ends)


def _names(stored: Any) -> list[str]:
    values = stored if isinstance(stored, list) else [stored] if isinstance(stored, (str, int, float)) else []
    return list(dict.fromkeys(filter(None, (spaced(str(each)) for each in values if not isinstance(each, dict)))))


def _text(stored: Any) -> str:
    return one_line(str(stored)) if isinstance(stored, (str, int, float)) else ""
