"""B3 by the command line: mistakes are recorded, listed, told by their patterns, and shown where one is repeated."""

from __future__ import annotations

import json
import re

from tests.conftest import Cli

ADD = ("mistake", "add", "--user", "alice")


def test_a_mistake_from_recording_to_preventing(cli: Cli) -> None:
    """B3: `get_mistake_patterns` with counts and the latest prevention; the prompt of a like request has it."""
    first = cli(*ADD, "沒有跑測試就部署到正式環境", "--type", "deployment-error", "--prevention", "看 CI 燈號").strip()
    assert re.fullmatch(r"mistake_\d{13}_[0-9a-f]{8}", first)
    message = cli.git("log", "-1", "--format=%an%n%B")
    assert f"Vault-Mistake: {first}" in message and not message.startswith("vault-memory")
    second = cli.json(
        *(*ADD, "没跑测试，又直接部署到正式环境", "--type", "Deployment Error", "--correction", "先测试"),
        *("--correct", "staging 先測", "--impact", "網站停了", "--prevention", "部署要兩個人看", "--rule", "deploy"),
    )
    cli(*ADD, "簡報每一頁都塞滿文字")

    rows = cli.json("mistake", "list", "--user", "alice", "--type", "deployment_error")
    assert [row["id"] for row in rows] == [second["id"], first] and rows[0]["related_rule"] == "deploy"
    shown = cli("mistake", "list", "--user", "alice", "-n", "2")
    assert "  Impact: 網站停了" in shown and "  Rule: deploy" in shown and first not in shown
    assert "簡報" not in cli("mistake", "list", "--user", "alice", "--like", "deploy the site")

    found = cli.json("mistake", "patterns", "--user", "alice")
    assert (found["total"], found["by_type"][0]["count"]) == (3, 2)
    assert found["by_type"][0]["prevention_method"] == "部署要兩個人看"
    assert [each["ids"] for each in found["similar"]] == [[second["id"], first]]
    told = cli("mistake", "patterns", "--user", "alice")
    assert "3 mistakes" in told and "2 × Deployment Error  (rising, last 20" in told and "made more than once" in told
    assert cli.json("mistake", "patterns", "--user", "alice", "--like", "做簡報")["total"] == 1
    assert cli.json("mistake", "patterns", "--user", "alice", "--type", "other")["total"] == 1

    prompt = cli("prompt", "--user", "alice", "Please deploy the new version")
    assert "<past-mistakes>" in prompt and "部署要兩個人看" in prompt
    assert "<past-mistakes>" not in cli("prompt", "--user", "alice", "寫一首詩")
    assert cli.json("memory", "stats", "--user", "alice")["mistakes"] == 3
    assert cli.git("status", "--porcelain") == ""


def test_what_is_wrong_or_left_out_is_said(cli: Cli) -> None:
    assert "action of a mistake is empty" in cli(*ADD, " ", code=2)
    assert "error_type" in cli(*ADD, "x", "--type", "a\nb", code=2)
    assert "20,000 characters" in cli(*ADD, "x" * 20_001, code=2)
    done = cli.run(*ADD, "Put AKIAIOSFODNN7EXAMPLE into the public channel")
    assert done.returncode == 0 and "left out: api-key 1" in done.stderr
    assert "no mistakes" in cli("mistake", "list", "--user", "alice", "--type", "nothing")
    assert "Traceback" not in cli("mistake", "patterns", "--user", "nobody", code=1)
    note = next((cli.folder / "memory/alice/mistakes").rglob("*.md"))
    note.write_text("---\ncreated_at: maybe\n---\n推錯\x1b[31m分支\n", encoding="utf-8")
    done = cli.run("mistake", "list", "--user", "alice")
    assert "not understood: created_at" in done.stderr and "\x1b" not in done.stdout
    assert "created_at" in json.dumps(cli.json("mistake", "list", "--user", "alice")[0]["problems"])
