"""`--user` takes an outside name from `[identities]`, as the HTTP server does."""

from __future__ import annotations

import json

from tests.conftest import Cli


def test_an_outside_name_is_its_user_in_every_command(cli: Cli) -> None:
    """A15: what is said under `telegram:12345` is alice's; a name that nobody mapped is refused."""
    settings = cli.folder / "vault-memory.toml"
    text = settings.read_text(encoding="utf-8").replace("# [identities]", '[identities]\n"telegram:12345" = "alice"')
    settings.write_text(text, encoding="utf-8")
    who = ("--user", "telegram:12345")
    assert "kept in memory/alice/" in cli("turn", *who, "--message", "我喜歡暗色主題")
    assert "dark" in cli("pref", "list", *who)
    cli("pref", "set", *who, "design_style", "minimal")
    cli("undo", *who)
    for words in (("search", *who, "暗色主題"), ("prompt", *who, "做一個按鈕"), ("history", *who), ("status", *who)):
        assert cli(*words)
    assert cli("reindex", *who).startswith("memory/alice: ")
    assert cli("export", *who, "../copy") and (cli.folder.parent / "copy" / "USER.md").exists()
    assert cli("token", *who)
    rows = [{"user_id": "telegram:12345", "user_message": "hello"}, {"user_id": "alice", "user_message": "again"}]
    lines = "\n".join(map(json.dumps, rows))
    assert "2 turns replayed" in cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines)
    said = cli("turn", "--user", "telegram:9", "--message", "hello", code=2)
    assert "'telegram:9' is nobody here: map it to a user id under [identities] in vault-memory.toml" in said
    assert [path.name for path in (cli.folder / "memory").iterdir()] == ["alice"]
