"""After turns full of planted secrets and private facts, every byte that the program left is searched for them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Cli, forget_the_machine
from tests.scripted_http import ScriptedServer, change
from tests.vaults import copied

# Invented, of the right form. Where a secret has parts that stand alone, each is looked for.
_DIGITS = "4111111111111111"
SECRETS = {
    "api-key": "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3dEf6hIj9kLm2n",
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws": "AKIA" + "J7Q2ZP5XN3WLT4RB",
    "password": "Tr0ub4dor&3horse",
    "card": " ".join(_DIGITS[at : at + 4] for at in range(0, 16, 4)),
    "id": "A" + "123456789",
    "key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7",
}
PRIVATE = {
    "health": "憂鬱症",
    "religion": "摩門教",
    "family": "爸媽離婚",
    "money": "月薪三萬八",
    "address": "信義路五段七號",
    "birthday": "1999年8月17日",
    "phone": "0912-345-678",
}
TURNS = [
    (f"我的密碼是 {SECRETS['password']}，key 是 {SECRETS['api-key']}。我喜歡暗色主題。", "好的"),
    (f"push 不上去，token: {SECRETS['github']}，{SECRETS['aws']} 也不行", f"你貼了 {SECRETS['github']}，請換掉。" * 9),
    (f"記住我的信用卡 {SECRETS['card']}，身分證 {SECRETS['id']}", "不記這個。"),
    (f"-----BEGIN PRIVATE KEY-----\n{SECRETS['key']}\n-----END PRIVATE KEY-----\n這是什麼格式", "是 PEM。"),
    (f"我有{PRIVATE['health']}，最近在吃藥。請改成亮色主題。", "祝你早日康復。"),
    (f"記住我信{PRIVATE['religion']}。我{PRIVATE['family']}了，我媽一個人住。", "好的。" + "謝謝你告訴我。" * 30),
    (
        f"我{PRIVATE['money']}，住在台北市{PRIVATE['address']}，生日是{PRIVATE['birthday']}，電話 {PRIVATE['phone']}",
        "知道了。",
    ),
    (f"記住我{PRIVATE['money']}所以用免費的工具。我有{PRIVATE['health']}。以後回答都簡短一點", "好"),
]


def sinks(folder: Path, chat: ScriptedServer) -> Iterator[tuple[str, bytes]]:
    """(where, bytes) of everything under the vault, git's objects unpacked, and of every request to the endpoint."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        yield path.relative_to(folder).as_posix(), path.read_bytes()
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=folder, check=True, capture_output=True, timeout=60
    ).stdout
    yield "git objects", objects
    for number, request in enumerate(chat.received):
        yield f"chat request {number}", request.raw + json.dumps(request.fields, ensure_ascii=False).encode()


def found(needles: dict[str, str], where: Iterator[tuple[str, bytes]]) -> set[tuple[str, str]]:
    """(needle, sink) of every hit, whatever the blanks and whether JSON escaped the characters."""
    forms = {
        kind: {value, value.replace(" ", ""), json.dumps(value)[1:-1]} for kind, value in needles.items()
    }  # fmt: skip
    return {
        (kind, name)
        for name, data in where
        for kind, values in forms.items()
        if any(value.encode() in data or value.encode("utf-16-le") in data for value in values)
    }


@pytest.fixture(scope="module")
def asked() -> Iterator[ScriptedServer]:
    """The model that looks at those turns."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def told(asked: ScriptedServer, new_vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A vault after those turns, each looked at by the model too, and after everything else that writes. The tests only
    read it."""
    with pytest.MonkeyPatch.context() as patch:
        forget_the_machine(patch, tmp_path_factory.mktemp("home"))
        return _told(Cli(copied(new_vault, tmp_path_factory.mktemp("told") / "my-vault")), asked)


def _told(cli: Cli, chat: ScriptedServer) -> Cli:
    claims = [change("theme", "dark", value) for value in (*SECRETS.values(), *PRIVATE.values())]
    chat.will_say([*claims, change("current_projects", PRIVATE["health"], f"我有{PRIVATE['health']}")])
    (message, reply), *others = TURNS
    printed = cli("turn", "--user", "alice", "--message", message, "--reply", reply, **chat.chat_settings())
    replayed = [{"user_id": "alice", "user_message": said, "assistant_message": reply} for said, reply in others]
    lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in replayed)
    printed += cli("turn", "--jsonl", "-", stdin=lines, **chat.chat_settings())
    turn = {
        "user_id": "alice",
        "user_message": "你好",
        "skill": SECRETS["api-key"],
        "conversation_id": SECRETS["aws"],
        "reflection": {"summary": f"貼了 {SECRETS['github']}", "causes": [f"密碼是 {SECRETS['password']}"]},
    }
    cli("turn", "--jsonl", "-", stdin=json.dumps(turn, ensure_ascii=False) + "\n")
    for value in ("dark", "light"):
        cli("pref", "set", "--user", "alice", "theme", value)
    cli("undo", "--user", "alice")
    cli("heartbeat", "--now")
    cli("reindex", "--user", "alice")
    cli("status")
    assert not any(value in printed for value in SECRETS.values())
    return cli


@pytest.mark.slow
def test_no_secret_is_anywhere_and_no_private_fact_outside_the_own_record(told: Cli, asked: ScriptedServer) -> None:
    """G7, law 8: JSONL, daily log, MEMORY.md, USER.md, feedback.jsonl, git objects, messages and reflog, index, state,
    and what is sent to the chat endpoint."""
    everything = list(sinks(told.folder, asked))
    names = {name for name, _ in everything}
    own_files = {f"memory/alice/{name}" for name in ("USER.md", "MEMORY.md", "feedback.jsonl", "index.db")}
    others = {".git/logs/HEAD", "git objects", ".vault-memory/redactions/alice.json", "chat request 0"}
    assert own_files | others <= names
    assert found(SECRETS, iter(everything)) == set()
    # The index is made from the record, and the short-term store holds the last turn of each conversation for two days:
    # git does not track them, and deleting them is safe.
    own = ("memory/alice/conversations/", "memory/alice/index.db", ".vault-memory/short-term.db")
    assert {hit for hit in found(PRIVATE, iter(everything)) if not hit[1].startswith(own)} == set()
    (record,) = (told.folder / "memory/alice/conversations").glob("*.jsonl")
    text = record.read_text()
    assert text.count("[redacted: ") >= len(SECRETS)
    assert all(value in text for value in PRIVATE.values()), "the person's own record keeps what was said"
    assert not any(path.startswith(own) for path in told.git("ls-files").splitlines())


@pytest.mark.slow
def test_the_preference_beside_a_secret_or_a_private_fact_is_learned(told: Cli) -> None:
    shown = told.json("history", "--user", "alice", "theme")
    assert {"dark", "light"} <= {entry["new"] for entry in shown if entry["author"] == "vault-memory"}


@pytest.mark.slow
def test_status_tells_how_much_was_redacted_and_never_what(told: Cli) -> None:
    status = told.json("status")
    (alice,) = (scope for scope in status["scopes"] if scope["scope"] == "alice")
    assert {"api-key", "password", "card", "id-number", "private-key", "health", "religion", "money"} <= set(
        alice["redactions"]
    )
    assert "redacted: " in told("status")
    counts = json.loads((told.folder / ".vault-memory/redactions/alice.json").read_text())
    assert counts == alice["redactions"] and all(isinstance(count, int) for count in counts.values())


def picture(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("settings", ["", 'off_record = ["alice"]\n'])
def test_off_the_record_leaves_no_trace_at_all(cli: Cli, chat: ScriptedServer, settings: str) -> None:
    """Item 4: per turn (--off-record) and per user (off_record): every byte under the vault, .git too, is as before."""
    cli("turn", "--user", "bob", "--message", "我喜歡暗色主題")
    toml = cli.folder / "vault-memory.toml"
    toml.write_text(settings + toml.read_text())
    before = picture(cli.folder)
    flags = [] if settings else ["--off-record"]
    for user in ("alice", "alice" if settings else "bob"):
        turn = ["--message", "我喜歡亮色主題，密碼是 Tr0ub4dor&3", "--reply", "好" * 200, *flags]
        said = cli("turn", "--user", user, *turn, **chat.chat_settings())
        assert said == "off the record: nothing was kept\n"
    replayed = json.dumps({"user_id": "alice", "user_message": "我喜歡亮色主題"})
    cli("turn", "--jsonl", "-", *flags, stdin=replayed, **chat.chat_settings())
    assert picture(cli.folder) == before
    assert chat.received == []
