"""Whether notes are found by what they are called and tagged, and how long a filter takes.

    python benchmarks/names.py [--notes 100 500 2000] [--asked 100]

Makes a vault of each size in English, Traditional and Simplified Chinese. A third of the notes is called by the file's
name, a third by `title`, a third by a heading; each has an alias of its own, each tenth also the title of another note
as an alias. Tags are nested, half of them in the text, some with blanks. Each note names five others, by title and by
alias, as real notes do: so words alone lead astray. Asked are titles and aliases (`…_first`: the note is the first
hit), all tags and their parents (`tag_recall`: the share of their notes that is listed, up to a hundred a tag), and
words within a tag and a folder (`filter_ms_p50`). `floor_…` is plain BM25 over the notes' texts, front matter and all,
and for the time the same words without a filter, in the same run. Prints a line for each vault, and as the last one
JSON: the worst vault of each figure.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.core.text import tokens
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.indexing import reconcile
from vault_memory.services.retrieval import SearchQuery, SearchResult, search
from vault_memory.services.vault import Vault, open_vault

WORDS = {
    "en": "river garden ledger copper window harvest signal marble lantern orchard "
    "compass velvet anchor meadow thunder parcel ribbon granite saddle willow "
    "canyon pepper mirror quartz pencil bridge falcon timber basket helmet "
    "island jacket kettle ladder museum needle oyster pillow rocket sponge "
    "tunnel violin walnut zipper ",
    "zh-TW": "河流 花園 帳本 銅器 窗戶 收穫 訊號 大理石 燈籠 果園 羅盤 絲絨 船錨 草原 "
    "雷聲 包裹 緞帶 花崗岩 馬鞍 柳樹 峽谷 胡椒 鏡子 石英 鉛筆 橋樑 獵鷹 木材 "
    "籃子 頭盔 島嶼 夾克 水壺 梯子 博物館 縫針 牡蠣 枕頭 火箭 海綿 隧道 提琴 "
    "核桃 拉鍊 ",
    "zh-CN": "河流 花园 账本 铜器 窗户 收获 信号 大理石 灯笼 果园 罗盘 丝绒 船锚 草原 "
    "雷声 包裹 缎带 花岗岩 马鞍 柳树 峡谷 胡椒 镜子 石英 铅笔 桥梁 猎鹰 木材 "
    "篮子 头盔 岛屿 夹克 水壶 梯子 博物馆 缝针 牡蛎 枕头 火箭 海绵 隧道 提琴 "
    "核桃 拉链 ",
}
BOUNDS = {"title_first": 0.98, "alias_first": 0.98, "tag_recall": 0.99}
MAX_LISTED = 100
TRAP_EVERY = 10
BM25_K1, BM25_B = 1.2, 0.75


@dataclass
class Note:
    """A generated note: where it is, what it is called, and its tags without their parents."""

    path: str
    title: str
    alias: str
    tags: tuple[str, ...]
    text: str = ""
    other_title: str = ""


@dataclass
class Shelf:
    """The notes of a vault, and which have a tag or one below it."""

    notes: list[Note]
    tagged: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def names(words: Sequence[str], made: random.Random, is_english: bool) -> Iterator[str]:
    """Names of three words, each once."""
    seen = set()
    while True:
        name = (" " if is_english else "").join(made.sample(words, 3))
        if name not in seen:
            seen.add(name)
            yield name


def shelf(language: str, size: int, made: random.Random) -> Shelf:
    """As many notes as wanted, written."""
    words, is_english = WORDS[language].split(), language == "en"
    called = names(words, made, is_english)
    notes = []
    for number in range(size):
        title, alias = next(called), next(called)
        top, below = made.sample(words[:12], 2)
        tags = (
            f"{top}/{below}",
            f"{made.choice(words[12:20])}{' ' if number % 7 == 0 else '-'}{made.choice(words[20:24])}",
        )
        file = title if number % 3 == 0 else f"{made.choice(words)} {number}"
        notes.append(Note(f"{made.choice(words[:8])}/{made.choice(words[8:16])}/{file}.md", title, alias, tags))
    found = Shelf(notes)
    for number, note in enumerate(notes):
        if number % TRAP_EVERY == 1:
            note.other_title = made.choice(notes).title
        note.text = written(note, number, notes, words, made)
        for tag in note.tags:
            for depth in range(tag.count("/") + 1):
                found.tagged["/".join(tag.split("/")[: depth + 1])].add(note.path)
    return found


def written(note: Note, number: int, notes: Sequence[Note], words: Sequence[str], made: random.Random) -> str:
    """The text of a note."""
    in_text, in_front = (note.tags[:1], note.tags[1:]) if number % 2 else ((), note.tags)
    aliases = [note.alias, *([note.other_title] if note.other_title else [])]
    lines = ["---", f"aliases: {json.dumps(aliases, ensure_ascii=False)}"]
    lines += [f"tags: {json.dumps(in_front, ensure_ascii=False)}"]
    lines += [f"title: {note.title}"] if number % 3 == 1 else []
    lines += ["---", *([f"# {note.title}", ""] if number % 3 == 2 else [])]
    for other in made.sample(notes, min(5, len(notes))):
        lines.append(f"{' '.join(made.choices(words, k=6))} [[{other.title}]] {other.alias}")
    lines += [" ".join(made.choices(words, k=12)) for _ in range(made.randrange(3, 12))]
    return "\n".join([*lines, *(f"#{tag}" for tag in in_text), ""])


class Bm25:
    """Plain BM25 over whole texts, with the terms that the index has: what a search without names would be."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._counts = {note.path: Counter(tokens.expand(tokens.stems(note.text)).split()) for note in notes}
        self._mean = statistics.mean(map(Counter.total, self._counts.values()))
        self._with: dict[str, list[str]] = defaultdict(list)
        for path, counts in self._counts.items():
            for term in counts:
                self._with[term].append(path)

    def best(self, query: str, limit: int) -> list[str]:
        """The paths of the best texts."""
        scores: Counter[str] = Counter()
        for term in {piece for word in tokens.query_terms(query).search_terms for piece in tokens.pieces(word)}:
            holding = self._with.get(term, [])
            rarity = math.log(1 + (len(self._counts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for path in holding:
                counts = self._counts[path]
                norm = BM25_K1 * (1 - BM25_B + BM25_B * counts.total() / self._mean)
                scores[path] += rarity * counts[term] * (BM25_K1 + 1) / (counts[term] + norm)  # type: ignore[assignment]
        return [path for path, _ in scores.most_common(limit)]


def ask(vault: Vault, query: str, top_k: int = 5, tags: tuple[str, ...] = (), path: str = "") -> SearchResult:
    """The shared notes that a person's query finds."""
    return search(vault, "", SearchQuery(query, top_k, scope="shared", tags=tags, path=path, is_typed=True))


def measured(vault: Vault, found: Shelf, asked: int, made: random.Random) -> dict[str, float]:
    """All figures of one vault."""
    floor = Bm25(found.notes)
    some = made.sample(found.notes, min(asked, len(found.notes)))
    figures: dict[str, float] = {}
    for name, wanted in (("title_first", [n.title for n in some]), ("alias_first", [n.alias for n in some])):
        hits = [ask(vault, query).hits[:1] for query in wanted]
        figures[name] = share(bool(hit) and hit[0].source == n.path for hit, n in zip(hits, some, strict=True))
        plain = [floor.best(query, 1) for query in wanted]
        figures[f"floor_{name}"] = share(paths == [n.path] for paths, n in zip(plain, some, strict=True))
    recalls, plain_recalls = [], []
    for tag, paths in found.tagged.items():
        result = ask(vault, "", MAX_LISTED, tags=(tag,))
        most = min(len(paths), MAX_LISTED)
        is_right = result.listed == len(paths)
        recalls.append(len(paths & {hit.source for hit in result.hits}) / most if is_right else 0.0)
        plain_recalls.append(len(paths & set(floor.best(tag, most))) / most)
    figures |= {"tag_recall": statistics.mean(recalls), "floor_tag_recall": statistics.mean(plain_recalls)}
    filtered: list[float] = []
    unfiltered: list[float] = []
    for note in some:
        query, folder = note.text.rpartition("\n#")[0][-20:] or note.title, note.path.partition("/")[0]
        began = time.perf_counter()
        ask(vault, query, tags=note.tags[:1], path=folder)
        between = time.perf_counter()
        ask(vault, query)
        filtered.append((between - began) * 1000)
        unfiltered.append((time.perf_counter() - between) * 1000)
    return figures | {
        "filter_ms_p50": statistics.median(filtered),
        "floor_filter_ms_p50": statistics.median(unfiltered),
    }


def share(good: Iterator[bool]) -> float:
    """The share of what is true."""
    return statistics.mean(map(float, good))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[100, 500, 2_000])
    parser.add_argument("--asked", type=int, default=100)
    given = parser.parse_args()
    worst: dict[str, float] = {}
    for language in WORDS:
        for size in given.notes:
            made = random.Random(f"{language} {size}")
            found = shelf(language, size, made)
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder) / "vault"
                create_vault(root)
                for note in found.notes:
                    (root / note.path).parent.mkdir(parents=True, exist_ok=True)
                    (root / note.path).write_text(note.text, encoding="utf-8")
                vault = open_vault(root)
                reconcile(vault, "")
                figures = measured(vault, found, given.asked, made)
            print(f"{language} {size}: " + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))
            for name, value in figures.items():
                least_or_most = max if "_ms_" in name else min
                worst[name] = least_or_most(worst.get(name, value), value)
    print(json.dumps({name: round(value, 3) for name, value in worst.items()}))
    if missed := [f"{name} {worst[name]:.3f} < {bound}" for name, bound in BOUNDS.items() if worst[name] < bound]:
        sys.exit(f"below its bound: {', '.join(missed)}")


if __name__ == "__main__":
    main()
