"""A part of a graph as text that other programs draw: Mermaid, which Obsidian and code hosts show, and DOT."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.graph.graph import Part
from vault_memory.core.graph.names import name_key

FORMATS = ("mermaid", "dot", "json")
_PLAIN = re.compile(r"[\w .,()+/=!?—–，。、（）：:-]")


def mermaid(part: Part) -> str:
    """The part as a Mermaid flowchart. A mention is a dotted line; what is no entity has a dashed border."""
    nodes, missing = _nodes(part)
    lines = ["graph LR"]
    lines += [f'  {node}["{_for_mermaid(label)}"]' for node, label in nodes.values()]
    lines += [f'  {node}["{_for_mermaid(label)}"]:::missing' for node, label in missing.values()]
    for begin, end, relation in _edges(part, nodes | missing):
        if relation.is_mention:
            lines.append(f"  {begin} -.-> {end}")
        else:
            lines.append(f"  {begin} -->|{relation.type}| {end}")
    if missing:
        lines.append("  classDef missing stroke-dasharray: 4")
    return "\n".join(lines) + "\n"


def dot(part: Part) -> str:
    """The part in the language of Graphviz."""
    nodes, missing = _nodes(part)
    lines = ["digraph {", "  rankdir=LR", "  node [shape=box]"]
    lines += [f"  {node} [label={_for_dot(label)}]" for node, label in nodes.values()]
    lines += [f"  {node} [label={_for_dot(label)} style=dashed]" for node, label in missing.values()]
    for begin, end, relation in _edges(part, nodes | missing):
        look = "[style=dotted]" if relation.is_mention else f"[label={relation.type}]"
        lines.append(f"  {begin} -> {end} {look}")
    return "\n".join([*lines, "}"]) + "\n"


def _nodes(part: Part) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """Node and label of each entity, and of each name that is none's, by the key of its name."""
    nodes: dict[str, tuple[str, str]] = {}
    for entity in part.entities:
        nodes.setdefault(name_key(entity.name), (f"n{len(nodes)}", entity.name))
    missing: dict[str, tuple[str, str]] = {}
    for relation in part.relations:
        key = name_key(relation.to_name)
        if key not in nodes:
            missing.setdefault(key, (f"m{len(missing)}", relation.to_name))
    return nodes, missing


def _edges(part: Part, nodes: dict[str, tuple[str, str]]) -> Iterator[tuple]:  # type: ignore[type-arg]
    for relation in part.relations:
        begin, end = (nodes.get(name_key(name)) for name in (relation.from_name, relation.to_name))
        if begin and end:
            yield begin[0], end[0], relation


def _for_mermaid(label: str) -> str:
    """The label in quotes: what Mermaid or HTML could read as its own is written as a number."""
    return "".join(char if _PLAIN.match(char) else f"#{ord(char)};" for char in label)


def _for_dot(label: str) -> str:
    escaped = label.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
