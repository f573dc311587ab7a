"""The examples for HTTP, the chat proxy and the library in our pages work as pasted, and so does `make run`.

Only the values that a page can give as examples are replaced: port 8765 by a free one, the addresses of OpenAI,
Anthropic and Ollama by a scripted provider, `vault_alice_…` by a real token; and `make` is told that .venv is ready.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, wait_until
from tests.scripted_http import ScriptedServer, completion, message

ROOT = Path(__file__).parents[3]
PROVIDERS = ("http://localhost:11434/v1", "https://api.openai.com/v1", "https://api.anthropic.com/v1")
pytestmark = pytest.mark.slow


@pytest.fixture
def port() -> int:
    """A free port below those that the system gives out."""
    for number in random.sample(range(12_000, 30_000), 100):
        try:
            socket.create_server(("127.0.0.1", number)).close()
        except OSError:
            continue
        return number
    raise AssertionError("a hundred ports are taken")


def shown(page: str) -> list[str]:
    """The page's blocks of code that use HTTP, by curl or by an SDK."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)
    return [block for block in blocks if re.search(r"\bcurl |\bOpenAI\(|\bAnthropic\(", block)]


def settings(page: str, begin: str) -> str:
    """The page's block of settings or of a command that begins with this text."""
    found = re.search(rf"^```\w+\n({re.escape(begin)}.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)
    assert found, f"{page} shows no {begin}"
    return found[1]


def pasted(block: str, port: int, provider: ScriptedServer | None = None, token: str = "") -> str:
    """A block with the reader's own values in it: see the top of this file."""
    block = block.replace("8765", str(port))
    for address in PROVIDERS if provider else ():
        block = block.replace(address, provider.url if provider else "")
    return block.replace("vault_alice_…", token) if token else block


def environ(**more: str) -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"} | more


def shell(script: str, folder: Path, **more: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environ(**more), text=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Terminal:
    """A terminal in which something runs until Ctrl-C."""

    def __init__(self, script: str, folder: Path, **more: str) -> None:
        self._shown = folder / "shown.txt"
        with self._shown.open("wb") as screen:
            self._process = subprocess.Popen(
                ["bash", "-c", script],
                cwd=folder, env=environ(**more), start_new_session=True, stdout=screen, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.ctrl_c()

    def text(self) -> str:
        return self._shown.read_text(encoding="utf-8")

    def shows(self, pattern: str) -> re.Match[str]:
        """Wait for a line that the pattern fits as a whole."""

        def look() -> re.Match[str] | None:
            found = re.search(rf"^{pattern}$", self.text(), re.M)
            assert found or self._process.poll() is None, self.text()
            return found

        match = wait_until(look, f"the terminal shows {pattern}", 120)
        assert isinstance(match, re.Match)
        return match

    def ctrl_c(self) -> None:
        os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise

    def ended(self) -> int:
        return self._process.wait(120)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone whose .venv is ready."""
    for name in ("Makefile", "docs", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def test_make_run_serves_and_the_readmes_tour_works_by_curl_and_with_the_openai_sdk(
    clone: Path, port: int, chat: ScriptedServer
) -> None:
    """Done-when: two terminals, as README.md has them."""
    by_curl, by_sdk = shown("README.md")
    start = settings("README.md", "VAULT_MEMORY_UPSTREAM")
    chat.will_say(completion("先看 rewrites。"))
    as_new = f"--no-print-directory --assume-old=.venv/.ready PORT={port}"
    with Terminal(pasted(start, port, chat).replace("make run", f"make {as_new} run"), clone) as first:
        address = f"http://127\\.0\\.0\\.1:{port}"
        first.shows(rf"serving {re.escape(str(clone))}/my-vault at {address}; Ctrl-C stops it")
        to_try = first.shows(rf"  (curl .*/my-vault/\.vault-memory/token.* {address}/api/v1/user/alice)")
        assert "主題偏好：dark" in json.loads(shell(to_try[1], clone.parent))["content"]

        told = shell(pasted(by_curl, port), clone)
        assert len(told.encode()) < 10_000, "it is read at a terminal"
        turn, search, *rest = told.splitlines()
        at = next(number for number, line in enumerate(rest) if line.startswith("HTTP/"))
        prompt, profile = "\n".join(rest[:at]), rest[at:]
        assert json.loads(turn)["changes"] == ["languages += Rust"]
        assert "rewrites" in json.dumps(json.loads(search)["hits"])
        assert "<user-request>" in prompt and "登入頁" in prompt
        assert re.match(r"HTTP/1.1 200", profile[0])
        assert any(re.match(r'(?i)etag: "\w+"$', line) for line in profile)
        assert json.loads(profile[-1])["preferences"]["theme"] == "dark"

        assert shell(pasted(by_sdk, port), clone / "my-vault") == "先看 rewrites。\n"
        (asked,) = chat.received
        assert "主題偏好：dark" in asked.fields["messages"][0]["content"]
        said = Cli(clone / "my-vault")
        wait_until(
            lambda: "先看 rewrites" in said("search", "--user", "alice", "先看 rewrites"), "the turn is found", 60
        )
        first.ctrl_c()
    wait_until(lambda: "stopped   daemon" in first.text(), "the server ends")
    assert "Traceback" not in first.text()


def test_the_error_for_a_taken_port_names_the_next_step(clone: Path, port: int) -> None:
    """A person's second vault."""
    with socket.create_server(("127.0.0.1", port)):
        second = Terminal(f"make --assume-old=.venv/.ready PORT={port} run", clone)
        assert second.ended() != 0
    assert f"port {port}: Address already in use; choose another port with --port" in second.text()
    assert "make run PORT=8766" in second.text()


def test_serve_without_its_extra_says_what_to_install(cli: Cli, tmp_path: Path) -> None:
    """As after `pip install -e .`: everything but `serve` works."""
    hidden = "import sys; sys.modules['fastapi'] = None; from vault_memory.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hidden, "serve"], cwd=cli.folder, text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'vault-memory[serve]'") and "Traceback" not in done.stderr


def test_every_page_with_curl_or_an_sdk_is_tested_here() -> None:
    """A page that newly shows curl or an SDK needs a test below."""
    pages = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
    assert [page for page in pages if shown(page)] == ["README.md", "docs/http.md", "docs/proxy.md"]


def test_the_page_of_the_http_server(cli: Cli, port: int) -> None:
    """docs/http.md: the server is started, a turn recorded and found, a profile changed by its ETag."""
    script = "".join(pasted(block, port) for block in shown("docs/http.md"))
    lines = shell(f"trap 'kill %1; wait' EXIT\n{script}", cli.folder, VAULT_MEMORY_SERVE_PORT=str(port))
    assert '{"alive":true}' in lines and '"changes":["theme = dark"]' in lines
    assert "我喜歡暗色主題" in lines.partition('"hits":[')[2]
    assert '"theme":"light"' in lines.rpartition('"user_id":"alice"')[2]


def test_the_page_of_the_chat_proxy(cli: Cli, port: int, chat: ScriptedServer) -> None:
    """docs/proxy.md: its settings, and its OpenAI and Anthropic clients."""
    by_openai, by_anthropic = shown("docs/proxy.md")
    file = cli.folder / "vault-memory.toml"
    file.write_text(
        file.read_text().replace("[upstream]\n", pasted(settings("docs/proxy.md", "[upstream]"), port, chat))
    )
    cli("trust", "--yes")
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    token = cli("token", "--user", "alice").strip()
    keys = {"OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic"}
    ask: dict[str, str] = {
        by_openai: "client.chat.completions.create(model='m', messages=said).choices[0].message.content",
        by_anthropic: "client.messages.create(model='m', max_tokens=9, messages=said).content[0].text",
    }
    with Terminal(f"vault-memory serve --port {port}", cli.folder, **keys) as terminal:
        terminal.shows("serving .*")
        for block, call in ask.items():
            chat.will_say(completion("好的") if block == by_openai else message("好的"))
            messages = "said = [{'role': 'user', 'content': '做一個按鈕'}]"
            script = f"{pasted(block, port, token=token)}\n{messages}\nprint({call})"
            done = subprocess.run(
                [sys.executable, "-c", script], env=environ(), text=True, capture_output=True, timeout=60
            )
            assert done.stdout == "好的\n", done.stderr
    for asked, key in zip(chat.received, ("Bearer sk-openai", "sk-anthropic"), strict=True):
        assert key in (asked.header("authorization"), asked.header("x-api-key"))
        assert "主題偏好：dark" in asked.fields["messages"][0]["content"]


@pytest.mark.parametrize(
    ("token", "says"),
    [("real", "set upstream.base_url in vault-memory.toml"), ("vault_alice_00", "`vault-memory token`"), ("", "401")],
)
def test_the_clients_own_error_explains_the_first_mistakes(cli: Cli, port: int, token: str, says: str) -> None:
    """No provider behind the proxy yet; a wrong key, of a provider: the SDK's message names the next step."""
    import openai

    if token == "real":
        token = cli("token", "--user", "alice").strip()
    with Terminal(f"vault-memory serve --port {port}", cli.folder) as terminal:
        terminal.shows("serving .*")
        client = openai.OpenAI(base_url=f"http://localhost:{port}/v1", api_key=token or "sk-old", max_retries=0)
        with pytest.raises(openai.APIStatusError, match=re.escape(says)):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
