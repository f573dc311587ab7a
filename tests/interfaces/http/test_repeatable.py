"""The same index and question give the same answer in every process, and after whatever else was asked."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from typing import Any

import httpx
import pytest

from tests.conftest import Cli, wait_until
from tests.interfaces.http.conftest import address_of
from tests.scripted_http import Received, Reply, ScriptedServer

pytestmark = pytest.mark.slow

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rst"]
QUESTIONS = ["bar dis fot", "gut nes", "lor mus bet das", "天地玄黃", "bar 天地", "nothing of this is known"]
OTHERS = 1_000
ELSEWHERE = ("path", "obsidian", "backlinks", "more")
"""What a command tells of the place on this disk, and what HTTP names although nobody has asked for it."""
COMMIT = re.compile(rb'"commit":"[0-9a-f]*"')
"""A hit's: the server commits what a person has written, at its own time."""


def vector(text: str) -> list[float]:
    """A model that knows words as directions, in English alone."""
    rows = [random.Random(hashlib.sha256(word.encode()).digest()) for word in text.split() or [text]]
    sums = [sum(row.gauss(0, 1) for row in rows) for _ in range(48)]
    return [x / math.hypot(*sums) for x in sums]


def embeddings(request: Received) -> Reply:
    data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(request.fields["input"])]
    return Reply([json.dumps({"data": data}).encode()])


def test_a_question_has_one_answer_in_a_command_a_fresh_server_and_one_that_answered_a_thousand_others(
    cli: Cli,
) -> None:
    rng = random.Random(4)
    notes = cli.folder / "memory" / "alice" / "notes"
    notes.mkdir(parents=True)
    for n in range(120):
        lines = [
            f"- {' '.join(rng.choices(WORDS, k=12))}, {''.join(rng.choices('天地玄黃宇宙洪荒', k=9))}。"
            for _ in range(3)
        ]
        (notes / f"{n}.md").write_text(f"# {rng.choice(WORDS)}\n\n" + "\n".join(lines) + "\n")
    with ScriptedServer([embeddings]) as model:
        settings = cli.folder / "vault-memory.toml"
        endpoint = f'[embedding]\nkind = "http"\nmodel = "m"\nendpoints = [{{ url = "{model.url}/embeddings" }}]\n'
        endpoint += "query_timeout_ms = 10000\n"
        settings.write_text(settings.read_text().replace("[embedding]\n", endpoint))
        cli("trust", "--yes")
        cli("reindex")
        cli("heartbeat", "vectors")
        by_command = [asked(cli, question) for question in QUESTIONS]
        weights = {hit["explain"]["weight"] for answer in by_command for hit in answer["hits"]}
        assert len(weights) > 2 and {hit["explain"]["space"] for hit in by_command[0]["hits"]} == {"http:m"}
        fresh, fresh_bytes = by_server(cli, 0)
        later, later_bytes = by_server(cli, OTHERS)
        assert later_bytes == fresh_bytes
        assert [hits(answer) for answer in by_command] == [hits(answer) for answer in fresh]
        assert not any(answer["degraded"] for answer in [*by_command, *fresh])
        again = [asked(cli, question) for question in QUESTIONS]
        assert [hits(answer) for answer in again] == [hits(answer) for answer in by_command]


def asked(cli: Cli, question: str) -> Any:
    return cli.json("search", "--user", "alice", "--explain", question)


def by_server(cli: Cli, others: int) -> tuple[list[Any], list[bytes]]:
    """What a new server answers to the questions, after so many others."""
    process = cli.start("serve", "--port", "0")
    try:
        address = address_of(process)
        token = cli("token", "--user", "alice").strip()
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200, "the server is ready")
            rng = random.Random(9)
            for _ in range(others):
                search(client, " ".join(rng.choices(WORDS, k=rng.randint(1, 5))))
            answers = [search(client, question) for question in QUESTIONS]
        answers = [COMMIT.sub(b'"commit":""', answer) for answer in answers]
        return [json.loads(answer) for answer in answers], answers
    finally:
        process.terminate()
        process.communicate(timeout=60)


def search(client: httpx.Client, question: str) -> bytes:
    answer = client.post("/api/v1/memory/alice/search", json={"query": question})
    assert answer.status_code == 200, answer.text
    return answer.content


def hits(answer: Any) -> list[str]:
    """Each hit of an answer, to the last place of each number; without what only one of the two tells."""
    rows = [{key: value for key, value in hit.items() if key not in ELSEWHERE} for hit in answer["hits"]]
    for row in rows:
        told = [{key: value for key, value in each.items() if value} for each in row["passages"]]
        row |= {"commit": "", "passages": told}  # HTTP names what is empty, too
    return [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows]
