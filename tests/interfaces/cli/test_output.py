"""No control character of a note, a name, a path or an argument reaches the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Cli
from tests.vaults import write
from vault_memory.core.reading import escape_controls_in_json, show_controls
from vault_memory.interfaces.cli.daemon import print_event
from vault_memory.services.daemon import Event
from vault_memory.services.vault import open_vault

COPY = "\x1b]52;c;ZXZpbA==\x07"
"""What makes a terminal put text into the clipboard."""
HOSTILE = f"{COPY}\x9b31m\x7f\u202etxt\r"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x7f\r\n\t\u202e\u200f\u061c"))))
def test_control_characters_are_shown_and_all_others_stay(text: str) -> None:
    assert not OBEYED.search(show_controls(text)) and show_controls(text).count("\n") == text.count("\n")
    if not OBEYED.search(text):
        assert show_controls(text) == text
    said = escape_controls_in_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(said) == text and not OBEYED.search(said)


def test_they_are_shown_readably() -> None:
    assert show_controls("\x1b[1m\r\x7f\x9b\u202e") == "␛[1m␍␡\\x9b\\u202e"


def test_a_traceback_is_shown_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "vault_memory", "--debug", "--vault", str(tmp_path / f"x{COPY}"), "status"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1 and "Traceback" in result.stderr
    assert not OBEYED.search(result.stderr)


def test_a_name_with_a_line_end_forges_no_line(cli: Cli) -> None:
    """It made lines of its own in `status` and in the daemon's log: `unhealthy …`, or an event of somebody else."""
    write(
        open_vault(cli.folder), "alice", "notes/a\nunhealthy all is lost\n12:00:00  committed x.md", "---\n: [\n---\n"
    )
    cli("reindex")
    for words in (("status",), ("doctor",), ("heartbeat", "--now", "full-check")):
        ran = cli.run(*words)
        assert not re.search("^(unhealthy all|12:00:00)", ran.stdout + ran.stderr, re.MULTILINE), (words, ran.stdout)
    assert "a␊unhealthy all is lost␊" in cli.run("status").stdout


def test_an_event_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_event(Event(datetime(2026, 1, 30), "indexed", "memory/alice", "a\n12:00:00  committed x.md"))
    assert capsys.readouterr().out == "00:00:00  indexed   memory/alice: a␊12:00:00  committed x.md\n"


def test_every_command_prints_through_one_place() -> None:
    for file in (Path(__file__).parents[3] / "vault_memory" / "interfaces" / "cli").glob("*.py"):
        if file.name != "__init__.py":
            assert not re.search(r"click\.s?echo|(?<![\w.])print\(|\.show\(\)", file.read_text(encoding="utf-8")), file


def test_no_command_sends_them_to_the_terminal(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", f"我喜歡暗色主題 {HOSTILE}", "--reply", HOSTILE)
    vault = open_vault(cli.folder)
    write(vault, "alice", f"notes/tea{COPY}.md", f"# Tea {HOSTILE}\n\nGreen tea {HOSTILE} wants 80 degrees.\n")
    cli.git("add", "memory")
    eve = ("-c", f"user.name=Eve{COPY}", "-c", "user.email=e@x.org")
    cli.git(*eve, "commit", "--no-verify", "-m", f"subject {HOSTILE}")
    cli("reindex")
    path = f"memory/alice/notes/tea{COPY}.md"
    for words in (
        ("search", "--user", "alice", "green tea", "--explain"), ("search", "--user", "alice", "tea", "--json"),
        ("prompt", "--user", "alice", "How hot is the water for green tea?", "--explain"), ("status",), ("log",),
        ("prompt", "--user", "alice", "--json", f"green tea {HOSTILE}"), ("log", "--json"), ("doctor",),
        ("blame", path),
        ("diff", path), ("history", "--user", "alice"), ("user", "list"), ("pref", "list", "--user", "alice"),
        ("search", "--user", COPY, "x"), (COPY,), ("search", f"--{COPY}"),
        ("pref", "set", "--user", "alice", COPY, "x"),
        ("pref", "blame", "--user", "alice", COPY), ("restore", COPY, "--to", COPY), ("export", "--user", COPY, COPY),
    ):  # fmt: skip
        ran: subprocess.CompletedProcess[str] = cli.run(*words)
        assert not OBEYED.search(ran.stdout + ran.stderr), (words, ran.stdout, ran.stderr)
        if "--json" in words:
            assert json.loads(ran.stdout)
    assert "␛]52" in cli("log") and "␛]52" in cli("search", "--user", "alice", "green tea")
