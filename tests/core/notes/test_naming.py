"""What a note is called and what it points at."""

from __future__ import annotations

import time

import pytest

from vault_memory.core.notes import document, naming


@pytest.mark.parametrize(
    ("name", "key"),
    [("Note  Composer", "note composer"), ("紅樓夢.md", "红楼梦"), ("ＭＯＣ", "moc"), ("x" * 401, ""), ("\ud83d", "?")],
)
def test_names_are_compared_without_case_width_and_script(name: str, key: str) -> None:
    assert naming.key(name) == key


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("I read #book today", ("book",)),
        ("#文學/小說 and（#讀書）", ("文學/小說", "讀書")),
        ("# Heading\n\n## Other\n", ()),
        ("issue #12, #2024/03 but #y2024", ("y2024",)),
        ("see page.html#part and a#b", ()),
        ("`#code` and\n```\n#fenced\n```\n#after", ("after",)),
        ("```\n#never closed", ()),
        ("#one #one #two-three_4", ("one", "two-three_4")),
    ],
)
def test_tags_in_the_text_are_those_that_obsidian_knows(body: str, tags: tuple[str, ...]) -> None:
    assert naming.inline_tags(body) == tags


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[Tea]] and [[Tea|that one]], [[notes/Green Tea#How]]", ("tea", "notes/green tea")),
        ("| [[Tea\\|that]] |", ("tea",)),
        ("![[Picture.png]] [[#here]] `[[code]]`", ("picture.png",)),
        ("[green](green%20tea.md) [up](../Other.md#part) [web](https://a.b/c.md)", ("notes/green tea", "other")),
        ("---\nrelated: '[[Tea]]'\n---\n", ("tea",)),
    ],
)
def test_links_are_the_names_and_places_of_notes(body: str, links: tuple[str, ...]) -> None:
    assert naming.links("notes/a.md", body) == links


def test_what_is_read_of_a_note() -> None:
    name = "notes/a.md"
    front = "aliases: [Doggo, 7]\nalias: Woofer\ntags: pets\ndescription: A friend\n"
    text = f"---\n{front}---\n# Dog\n\n#animal/pet [[Cat]]\n"
    read = document.read(name, "note", text.encode())
    assert read.tags == ("pets", "animal/pet") and read.links == ("cat",)
    assert naming.aliases(read.meta) == ("Doggo", "7", "Woofer")
    assert naming.own_names(name, read.meta) == ("", "a", "notes/a")
    assert naming.head(name, "note", read.title, read.meta) == ("Dog", "notes a", "Doggo 7 Woofer pets A friend")
    assert naming.head("memories/mem_1.md", "memory", "Dog", {})[1] == "", "an id is no name"


@pytest.mark.parametrize("text", ["[[" * 200_000, "](a " * 200_000, "#" * 400_000, "`" * 400_000, "```\n" * 100_000])
def test_hostile_texts_are_read_in_time(text: str) -> None:
    started = time.perf_counter()
    naming.links("a.md", text)
    naming.inline_tags(text)
    assert time.perf_counter() - started < 5
