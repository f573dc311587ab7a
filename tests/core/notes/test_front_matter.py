"""Front matter is looked through before it is built: nothing that a person or a peer writes there harms the process."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from vault_memory.core.notes import document, note

DEEP = "[" * 60_000
ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(f"b{n}: &b{n}\n  <<: [{', '.join(['*a'] * 9)}]\n" for n in range(20))
HOSTILE = {
    "deep": f"x: {DEEP}",
    "deep mappings": "{a: " * 15_000,
    "deep blocks": "- " * 30_000,
    "deep keys": "? " * 30_000,
    "aliases": ALIASES,
    "merges": MERGES,
    "an endless alias": "a: &a [*a]",
    "many values": "x: [" + "1," * 25_000 + "]",
    "a long number": "title: 0x" + "f" * 60_000,
    "a number in base sixty": "title: 1" + ":1" * 30_000,
    "an object": "x: !!python/object/apply:os.system ['true']",
    "bytes": "x: !!binary aGk=",
    "two documents": "a: 1\n--- b\n",
    "a day that is none": "date: 2026-13-45",
    "a control character": "title: a\x01b",
    "a list as a key": "[a]: b",
    "a lone surrogate": "title: \ud800",
}


@pytest.mark.parametrize("yaml", HOSTILE.values(), ids=HOSTILE)
def test_hostile_front_matter_is_told_and_the_body_read(yaml: str) -> None:
    read = note.parse(f"---\n{yaml}\n---\nbody\n")
    assert read.body == "body\n" and not any(name in read.meta for name in ("x", "title", "date", "h", "b1"))
    assert "front matter" in read.problems[0] and len(read.problems[0]) < 300


@pytest.mark.parametrize("yaml", [DEEP, "- " * 30_000, ALIASES], ids=["deep", "blocks", "aliases"])
def test_it_takes_the_reader_neither_down_nor_long(yaml: str) -> None:
    """In a process of its own: a fault of the library would end this one."""
    program = "import sys; from vault_memory.core.notes import note; print(note.parse(sys.stdin.read()).problems)"
    done = subprocess.run(
        [sys.executable, "-c", program], input=f"---\nx: {yaml}\n---\n", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "front matter" in done.stdout, done.stderr


def test_ordinary_front_matter() -> None:
    values = note.load_yaml(
        "title: 2026-01-30\ndate: 2026-01-30\nat: 2026-01-30T14:05:00+08:00\ntags: [a, '#b', 3]\n"
        "aliases:\n  - x\n  - y\nrating: 4.5\ndone: yes\nempty:\nid: 0x1f\nnested: {a: {b: 2026-01-01}}\n"
        f"sha: {'0123456789abcdef' * 8}\nquoted: '{'1' * 200}'\nkind: !!str 12\n"
    )
    assert values == {
        "title": "2026-01-30",
        "date": "2026-01-30",
        "at": "2026-01-30 14:05:00+08:00",
        "tags": ["a", "#b", 3],
        "aliases": ["x", "y"],
        "rating": 4.5,
        "done": True,
        "empty": None,
        "id": 31,
        "nested": {"a": {"b": "2026-01-01"}},
        "sha": "0123456789abcdef" * 8,
        "quoted": "1" * 200,
        "kind": "12",
    }


def test_front_matter_ends_at_a_line_of_its_own() -> None:
    assert note.split_front_matter("---\na: b\u2028---\u2028c\n---\r\nbody") == ("a: b\u2028---\u2028c\n", "body")
    long = "---\n" + "x" * note.MAX_FRONT_MATTER_CHARS
    assert note.split_front_matter(f"{long}\n---\n") is None
    for cut in range(5):  # the bound lies inside the closing line
        text = f"---\n{'x' * (note.MAX_FRONT_MATTER_CHARS - cut)}\n---tail\n"
        assert note.split_front_matter(text) is None


def test_the_day_of_a_note_is_read_from_it() -> None:
    read = document.read("notes/a.md", "note", b"---\ndate: 2026-01-30 14:05:00\n---\ntext\n")
    assert read.day is not None and read.day.isoformat() == "2026-01-30"


@pytest.mark.parametrize(
    ("yaml", "meta", "lost"),
    [
        ("author:\n  - @kepano\n  - b\ntags: [a]", {"author": ["@kepano", "b"], "tags": ["a"]}, "read all the same"),
        ("aliases:\n- @a\n- `b`\n# c\ntags: x", {"aliases": ["@a", "`b`"], "tags": "x"}, "read all the same"),
        ("title: Part 2: the end\ntags:\n\t- x", {"title": "Part 2: the end", "tags": ["x"]}, "read all the same"),
        ("title: it's: 'x'\nurl: http://x.y", {"title": "it's: 'x'", "url": "http://x.y"}, "read all the same"),
        ('title: "open\naliases: [Tea, 茶]', {"aliases": ["Tea", "茶"]}, "read without title"),
        ("tags: [x, y\nsummary: s", {"summary": "s"}, "read without tags"),
        ("x: *a\ny: &b 1\nz: ok", {"y": 1, "z": "ok"}, "read without x"),
        ("a: x: [\n{{title}}: x\nb: 1", {"a": "x: [", "b": 1}, "read without {{title}}"),
    ],
)
def test_what_can_be_read_of_broken_front_matter_is(yaml: str, meta: dict[str, object], lost: str) -> None:
    read = note.parse(f"---\n{yaml}\n---\n# Heading\n")
    assert read.meta == meta and read.body == "# Heading\n"
    (problem,) = read.problems
    assert problem.endswith(lost) and "unicode string" not in problem


def test_the_title_is_the_headings_where_that_of_the_front_matter_cannot_be_read() -> None:
    read = document.read("a.md", "note", b'---\ntitle: "open\ntags: [x]\n---\n# Heading\n')
    assert (read.title, read.tags, len(read.problems)) == ("Heading", ("x",), 1)


def test_ten_thousand_aliases_are_read() -> None:
    names = [f"alias number {n}" for n in range(10_000)]
    assert note.parse("---\naliases: [" + ", ".join(names) + "]\n---\n").meta == {"aliases": names}
    listed = "".join(f"  - {name}\n" for name in names)
    assert note.parse(f"---\naliases:\n{listed}---\n").meta == {"aliases": names}


@pytest.mark.parametrize("line", ["a:\n", "a: @x\n", "- @x\n", "k: [\n", "x: *a\n", "a: b: c:\n", '"\n', "? [\n"])
def test_many_broken_lines_do_not_take_long(line: str) -> None:
    begun = time.process_time()
    text = "---\n" + line * (note.MAX_FRONT_MATTER_CHARS // len(line) - 3) + "---\n"
    assert note.parse(text).problems
    assert time.process_time() - begun < 3


def test_front_matter_that_is_too_long_is_told() -> None:
    text = "---\n" + "a: b\n" * 100_000 + "---\ntail\n"
    assert document.read("a.md", "note", text.encode()).problems == (
        "front matter of more than 400,000 characters is read as text: shorten it",
    )
