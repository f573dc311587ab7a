"""The design's acceptance rows 5 and 6, by a caller that has only the address of `vault-memory serve` and a token."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import Cli, wait_until
from tests.interfaces.http.conftest import Caller

MEMORY = "/api/v1/memory/alice"
TURNS = [
    (
        "綠茶要怎麼泡才不苦？",
        "綠茶不要用滾水：八十度的水泡三分鐘，茶葉三公克配一百五十毫升；"
        "再沖第二泡時縮短成一分鐘，味道才不會澀，也可以先用熱水溫杯。"
        "綠茶不要用滾水：八十度的水泡三分鐘，茶葉三公克配一百五十毫升；"
        "再沖第二泡時縮短成一分鐘，味道才不會澀，也可以先用熱水溫杯。",
    ),
    ("我喜歡暗色主題", "好的"),
    ("以後請叫我小安", "好的，小安。"),
    (
        "How do I cancel a request when a React component unmounts?",
        "Create an AbortController inside the effect and abort it in the clean-up function that the effect returns. "
        "Create an AbortController inside the effect and abort it in the clean-up function that the effect returns. ",
    ),
    (
        "登录页部署到 Vercel 之后一直报 404",
        "单页应用的路由没有回退：在项目根目录放一个 vercel.json，"
        "用 rewrites 把所有路径指向 index.html，再重新部署。"
        "单页应用的路由没有回退：在项目根目录放一个 vercel.json，"
        "用 rewrites 把所有路径指向 index.html，再重新部署。",
    ),
    ("PostgreSQL 跟 MySQL 的索引差在哪裡", "PostgreSQL 有部分索引和 GIN，MySQL 的 InnoDB 以主鍵叢集存放整列。" * 4),
    ("今天天氣如何", "晴，二十六度。"),
    ("幫我寫一封請假信", "主旨：請假一天。內容：因身體不適，明日請假一天，工作已交代同事。"),
    ("我們團隊每週三下午三點開會", "記下了：每週三下午三點。"),
    ("what is the capital of Norway", "Oslo."),
]  # fmt: skip


@pytest.fixture
def alice(cli: Cli, served: tuple[subprocess.Popen[str], str]) -> Iterator[Caller]:
    """Alice's token, after ten turns; bob said the same things and more in the same vault."""
    _, address = served
    with httpx.Client(base_url=address, timeout=30) as client:
        bob = Caller(client, cli("token", "--user", "bob").strip())
        bob("POST", "/api/v1/memory/bob/turns", 201, json={"user_message": "我的綠茶祕方是加海鹽"})
        caller = Caller(client, cli("token", "--user", "alice").strip())
        for said, answered in TURNS:
            turn = {"user_message": said, "assistant_message": answered}
            caller("POST", f"{MEMORY}/turns", 201, json=turn)
        yield caller


def stands_there(cli: Cli, content: str, source: str, first: int, last: int) -> bool:
    """Whether a file holds the passage in these lines; a conversation record holds it as JSON."""
    lines = (cli.folder / "memory" / "alice" / source).read_text(encoding="utf-8").splitlines()[first - 1 : last]
    return source.endswith(".jsonl") or content == "\n".join(lines)


def test_row_5_the_prompt_holds_profile_and_memories(cli: Cli, alice: Caller) -> None:
    """A18 row 5 over HTTP, A10: `<user-profile>` and `<relevant-memories>` in order, each passage with its source."""
    built = alice("POST", f"{MEMORY}/prompt", json={"request": "绿茶要用几度的水？"})
    sections = dict(re.findall(r"^<([a-z-]+)>\n(.*?)\n</\1>$", built["text"], re.S | re.M))
    context = ["user-profile", "relevant-memories", "recent-activity"]
    assert list(sections) == [*context, "conversation-history", "user-request"]
    assert "- 主題偏好：dark" in sections["user-profile"] and "- 稱呼：小安" in sections["user-profile"]
    assert "八十度的水泡三分鐘" in sections["relevant-memories"], "said ten turns ago, asked for in the other script"
    assert "八十度" not in sections["conversation-history"] and "海鹽" not in built["text"]
    assert sections["user-request"] == "绿茶要用几度的水？"
    assert built["degraded"] == [] and built["cut"] == []

    memories = [passage for passage in built["passages"] if passage["section"] == "relevant-memories"]
    assert {passage["section"] for passage in built["passages"]} == set(sections) - {"user-request"}
    for passage in memories:
        assert f"[{passage['place']}]" in sections["relevant-memories"] and passage["score"] > 0
        assert re.fullmatch(r"[\w/.-]+:\d+(-\d+)?(@[0-9a-f]{7,40})?", passage["place"])
    first, *_, last = built["messages"]
    assert "主題偏好：dark" in first["content"] and first["role"] == "system"
    assert "八十度" in last["content"] and last["role"] == "user", "what changes comes last"


def test_row_5_a_note_written_by_hand_is_in_the_next_prompt(cli: Cli, alice: Caller) -> None:
    """A18 row 5 over HTTP: the server indexes what the person writes into the folder."""
    note = cli.folder / "memory" / "alice" / "notes" / "harbour.md"
    note.parent.mkdir()
    note.write_text("# Ferries\n\nThe heron ferry leaves the harbour at 06:40.\n", encoding="utf-8")
    asked = {"request": "When does the heron ferry leave?"}
    text = wait_until(
        lambda: (built := alice("POST", f"{MEMORY}/prompt", json=asked)) and "06:40" in built["text"] and built["text"],
        "the note is in the prompt",
    )
    assert re.search(r"<relevant-memories>.*\[notes/harbour\.md:\d.*06:40.*</relevant-memories>", text, re.S)


def test_row_6_search_returns_the_passages_that_answer(cli: Cli, alice: Caller) -> None:
    """A18 row 6 over HTTP, A4, A12: the right passage comes first, with content, source, score and line range."""
    answers = {
        "綠茶的水溫": "八十度",
        "绿茶要用几度的水": "八十度",
        "abort fetching on unmount": "AbortController",
        "登入頁為什麼找不到": "rewrites|登录页",
        "资料库的索引": "PostgreSQL",
        "團隊什麼時候開會": "每週三",
    }
    for mode, (query, words) in itertools.product(("hybrid", "keyword", "vector"), answers.items()):
        found = alice("POST", f"{MEMORY}/search", json={"query": query, "mode": mode, "top_k": 3})
        assert found["degraded"] == []
        hits = found["hits"]
        assert 1 <= len(hits) <= 3 and any(re.search(words, hit["content"]) for hit in hits), (mode, query, hits)
        assert mode != "hybrid" or re.search(words, hits[0]["content"]), (query, hits[0])
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
        for hit in hits:
            assert hit["scope"] == "alice" and 0 <= hit["score"] <= 1 and hit["explain"]
            assert stands_there(cli, hit["content"], hit["source"], *hit["line_range"])
            assert "海鹽" not in hit["content"], "bob's"
