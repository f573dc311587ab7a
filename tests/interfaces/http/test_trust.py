"""A server whose settings file came from elsewhere: no chat and no key leaves before a yes, and answers tell it."""

from __future__ import annotations

import httpx
import pytest

from tests.interfaces.http.proxied import Proxy, proxying
from tests.scripted_http import ScriptedServer, completion
from tests.vaults import say_yes
from vault_memory.core import layout
from vault_memory.services.admin import new_user_token, own_token
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

CHAT = {"model": "m", "messages": [{"role": "user", "content": "我喜歡什麼主題？"}]}


def test_chats_and_keys_stay_here_until_the_yes(vault: Vault, chat: ScriptedServer) -> None:
    chat.will_say(completion("暗色"))
    record_turn(vault, "alice", "我喜歡暗色主題")
    text = f'format = 1\n[upstream]\nbase_url = "{chat.url}"\nkey_env = "AWS_SECRET_ACCESS_KEY"\n'
    (vault.root / layout.SETTINGS_FILE).write_text(text)
    token = new_user_token(vault, "alice")

    def opened() -> Vault:
        return open_vault(vault.root, now=vault.now, environ={"AWS_SECRET_ACCESS_KEY": "sesame"})

    with proxying(opened()) as url:
        proxy = Proxy(url, vault, token, chat)
        refused = proxy.post("/v1/chat/completions", CHAT)
        assert refused.status_code == 502 and "vault-memory trust" in refused.json()["error"]["message"]
        for path, body in (
            ("turns", {"user_message": "我喜歡亮色主題"}),
            ("search", {"query": "主題"}),
            ("prompt", {"request": "主題"}),
        ):
            [told] = proxy.post(f"/api/v1/memory/alice/{path}", body, Content_Type="application/json").json()[
                "degraded"
            ]
            assert "upstream.base_url, upstream.key_env" in told and "`vault-memory trust`" in told
            assert str(vault.root) not in told and "/state/" not in told, "a user is told no folder"
        admin = {"Authorization": f"Bearer {own_token(vault.root)}"}
        assert "vault-memory trust" in httpx.get(f"{url}/api/v1/status", headers=admin, timeout=30).text
    assert chat.received == []
    say_yes(vault.root)
    with proxying(opened()) as url:
        answer = Proxy(url, vault, token, chat).post("/v1/chat/completions", CHAT)
        assert answer.status_code == 200 and answer.headers["X-Vault-Memory"].startswith("injected")
    [received] = chat.received
    assert received.header("authorization") == "Bearer sesame"
