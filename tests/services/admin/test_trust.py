"""A settings file that came from elsewhere sends nothing anywhere before this machine said yes to each value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.scripted_http import EmbeddingServer, ScriptedServer
from tests.vaults import say_yes, write
from vault_memory.adapters import git
from vault_memory.adapters.git import is_on_this_machine
from vault_memory.adapters.machine import state_folder
from vault_memory.adapters.state import StateFile
from vault_memory.config import Waiting
from vault_memory.core import layout
from vault_memory.errors import HistoryError, UsageError
from vault_memory.services.admin import doctor, status, to_trust, trust
from vault_memory.services.daemon import heartbeat
from vault_memory.services.indexing import embed, reconcile
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, search
from vault_memory.services.sync import sync
from vault_memory.services.turns import record_turn, second_look
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

KEYS = {"AWS_SECRET_ACCESS_KEY": "sesame"}


@pytest.fixture
def vectors() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


def set_to(vault: Vault, text: str, clock: Clock | None = None) -> Vault:
    """The vault after its settings file came from elsewhere."""
    (vault.root / layout.SETTINGS_FILE).write_text(f"format = 1\n{text}")
    return open_vault(vault.root, environ=KEYS, now=clock)


def learning(chat: ScriptedServer) -> str:
    return f'[llm]\nenabled = true\nmodel = "m"\nbase_url = "{chat.url}"\nkey_env = "AWS_SECRET_ACCESS_KEY"\n'


def embedding(server: EmbeddingServer, key: str = "") -> str:
    endpoint = f'{{ url = "{server.url}/embeddings", key_env = "{key}" }}'
    return f'[embedding]\nkind = "http"\nmodel = "m"\nendpoints = [{endpoint}]\nquery_timeout_ms = 10_000\n'


def test_a_foreign_chat_endpoint_gets_neither_turn_nor_key(vault: Vault, chat: ScriptedServer, clock: Clock) -> None:
    chat.will_say([])
    vault = set_to(vault, learning(chat), clock)
    recorded = record_turn(vault, "alice", "我比較喜歡看圖表來理解事情")
    look = second_look(vault, "alice", recorded.source)
    assert chat.received == []
    for degraded in (recorded.degraded, look.degraded, status(vault).degraded):
        assert any("llm.base_url" in line and "`vault-memory trust`" in line for line in degraded)
    trust(vault, vault.config.waiting)
    vault = open_vault(vault.root, environ=KEYS, now=clock)
    assert second_look(vault, "alice", recorded.source).degraded == () and not vault.config.waits()
    [received] = chat.received
    assert received.header("authorization") == "Bearer sesame"


def test_a_foreign_embedding_endpoint_gets_neither_notes_nor_questions(
    vault: Vault, vectors: EmbeddingServer, clock: Clock
) -> None:
    vault = set_to(vault, embedding(vectors, "AWS_SECRET_ACCESS_KEY"), clock)
    record_turn(vault, "alice", "我喜歡暗色主題")
    while embed(vault, "alice"):
        pass
    found = search(vault, "alice", SearchQuery("暗色"))
    prompt = build_enhanced_prompt(vault, "alice", "暗色")
    assert found.hits and vectors.received == []
    for degraded in (found.degraded, prompt.degraded, status(vault).degraded):
        assert sum("embedding.endpoints" in line and "`vault-memory trust`" in line for line in degraded) == 1
    assert search(vault, "alice", SearchQuery("。")).degraded == found.degraded
    [finding] = [finding for finding in doctor(vault) if finding.name == "trust"]
    assert not finding.ok and "embedding.endpoints" in finding.message and "vault-memory trust" in finding.next_step
    say_yes(vault.root)
    again = open_vault(vault.root, environ=KEYS, now=clock)
    while embed(again, "alice"):
        pass
    assert search(again, "alice", SearchQuery("暗色")).degraded == [] and vectors.received
    assert next(finding for finding in doctor(again) if finding.name == "trust").ok


def test_a_value_that_a_sync_changes_waits_again(bare_vault: Vault, vectors: EmbeddingServer) -> None:
    with EmbeddingServer() as foreign:
        vault = set_to(bare_vault, embedding(vectors))
        say_yes(vault.root)
        changed = set_to(vault, embedding(foreign))
        assert [value.key for value in changed.config.waiting] == ["embedding.endpoints"]
        write(changed, "alice", "a.md", "cats\n")
        reconcile(changed, "alice")
        while embed(changed, "alice"):
            pass
        assert foreign.received == []
        assert set_to(vault, embedding(vectors)).config.waiting == ()


def test_only_what_was_seen_is_agreed_to(bare_vault: Vault, chat: ScriptedServer) -> None:
    """The file changes between the question and the answer."""
    shown = set_to(bare_vault, learning(chat))
    evil = set_to(bare_vault, learning(chat).replace(chat.url, "http://evil.example/v1"))
    trust(shown, shown.config.waiting)
    assert [value.key for value in open_vault(evil.root).config.waiting] == ["llm.base_url"]


def test_vectors_that_were_paid_for_are_kept_while_their_settings_wait(
    bare_vault: Vault, vectors: EmbeddingServer
) -> None:
    """A vault made before this machine kept a record: nothing is computed again after the one question."""
    vault = set_to(bare_vault, embedding(vectors))
    say_yes(vault.root)
    vault = open_vault(vault.root)
    write(vault, "alice", "a.md", "cats\n")
    reconcile(vault, "alice")
    while embed(vault, "alice"):
        pass
    (vault.root / ".vault-memory/machine.json").unlink()
    waiting = open_vault(vault.root)
    assert waiting.config.waiting and waiting.config.embedding_kind == "offline"
    write(waiting, "alice", "a.md", "cats and dogs\n")
    reconcile(waiting, "alice")
    while embed(waiting, "alice"):
        pass
    assert "http:m" in waiting.index("alice").spaces()


def test_a_planted_record_of_a_former_model_is_not_asked(bare_vault: Vault, vectors: EmbeddingServer) -> None:
    """`.vault-memory/embedding.json` and an index with vectors of a "former" model came along with the folder."""
    with EmbeddingServer() as foreign:
        vault = set_to(bare_vault, embedding(vectors).replace('"m"', '"new"'))
        say_yes(vault.root)
        vault = open_vault(vault.root)
        write(vault, "alice", "a.md", "cats\n")
        reconcile(vault, "alice")
        planted = {"kind": "http", "model": "old", "endpoints": [{"url": f"{foreign.url}/embeddings"}]}
        StateFile(vault.root, "embedding").write({"http:old": {**planted, "query_prefix": "", "document_prefix": ""}})
        assert vault.former_embedder("http:old") is None
        assert foreign.received == []


def test_a_foreign_remote_is_not_synced_with(vault: Vault, tmp_path: Path) -> None:
    vault = set_to(vault, f'[git]\nremote = "{tmp_path / "elsewhere.git"}"\n')
    hub = bare(tmp_path / "hub.git")
    git.run(vault.root, "remote", "add", "origin", str(hub))
    with pytest.raises(UsageError, match="git.remote(.|\n)*vault-memory trust"):
        sync(vault)
    assert refs(hub) == "", "no other remote takes its place"
    [outcome] = heartbeat(vault, "sync", force=True)
    assert outcome.ok and "git.remote" in outcome.said and "`vault-memory trust`" in outcome.said


def test_a_foreign_setting_signs_no_commit_and_holds_none_up(vault: Vault, clock: Clock) -> None:
    vault = set_to(vault, "[git]\nsign = true\n", clock)
    git.run(vault.root, "config", "user.signingkey", "of nobody")
    recorded = record_turn(vault, "alice", "我喜歡暗色主題")
    assert recorded.commits and any("git.sign" in line for line in recorded.degraded)
    assert any("git.sign" in line and "`vault-memory trust`" in line for line in status(vault).degraded)
    assert open_vault(vault.root, environ={"VAULT_MEMORY_GIT_SIGN": "1"}).config.git_sign, "the person's own word"
    trust(vault, to_trust(vault))
    vault = open_vault(vault.root, environ=KEYS, now=clock)
    assert not record_turn(vault, "alice", "我喜歡淺色主題").commits
    assert "signing failed" in (vault.history.flush().paused or "") and not vault.config.waits()


def bare(folder: Path) -> Path:
    git.run(folder.parent, "init", "-q", "--bare", "-b", "main", str(folder))
    return folder


def refs(hub: Path) -> str:
    return (git.run(hub.parent, "ls-remote", str(hub), asks_remote=True)).decode()


def waiting_for_remote(vault: Vault) -> list[Waiting]:
    return [each for each in to_trust(vault) if "remote" in each.key]


def test_a_yes_to_a_remote_is_for_its_addresses(vault: Vault, tmp_path: Path) -> None:
    hub, evil = bare(tmp_path / "hub.git"), bare(tmp_path / "evil.git")
    git.run(vault.root, "remote", "add", "origin", str(hub))
    vault = set_to(vault, '[git]\nremote = "origin"\n')
    say_yes(vault.root)
    vault = open_vault(vault.root)
    assert vault.config.git_remote == "origin" and not vault.config.waiting
    with pytest.raises(UsageError, match=f"{hub}(.|\n)*vault-memory trust"):
        sync(vault)  # the yes of an older version: nobody saw the address
    assert [(each.key, each.value) for each in waiting_for_remote(vault)] == [("git remote origin", [str(hub)])]
    trust(vault, to_trust(vault))
    assert sync(vault).sent > 0 and to_trust(vault) == ()
    git.run(vault.root, "remote", "set-url", "--add", "origin", str(evil))
    for problem in (status(vault).degraded, [f.message for f in doctor(vault) if f.name == "trust" and not f.ok]):
        assert any(str(evil) in line for line in problem)
    [outcome] = heartbeat(vault, "sync", force=True)
    assert not outcome.ok and "`vault-memory trust`" in outcome.said and refs(evil) == ""
    own_words = open_vault(vault.root, git_remote="origin")
    assert waiting_for_remote(own_words) == waiting_for_remote(vault), "the file says the same as the option"
    (vault.root / layout.SETTINGS_FILE).write_text("format = 1\n")
    with pytest.raises(UsageError, match=f"{evil}(.|\n)*vault-memory trust"):
        sync(open_vault(vault.root), "origin")  # the name is the person's word, its address came with the folder
    assert refs(evil) == "" and sync(open_vault(vault.root), str(evil)).sent > 0, "an address that the person types"


@pytest.mark.parametrize(
    "address",
    [
        *("notes/sub.git", "file://{root}/notes/%73ub.git"),
        *("/proc/self/cwd/notes/sub.git", "file:///proc/self/%63wd/notes/sub.git"),
    ],
)
def test_a_repository_that_came_with_the_folder_is_no_remote(vault: Vault, tmp_path: Path, address: str) -> None:
    """Its hooks would run here, whatever its address looks like, and whatever a person agrees to."""
    (vault.root / "notes").mkdir()
    hub = bare(vault.root / "notes/sub.git")
    (hub / "hooks/pre-receive").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hub / "hooks/pre-receive").chmod(0o755)
    git.run(vault.root, "remote", "add", "origin", address.format(root=vault.root))
    with pytest.raises(UsageError, match="vault-memory trust"):
        sync(vault)
    trust(vault, to_trust(vault))
    with pytest.raises(HistoryError, match="git would run"):
        sync(vault)
    assert not (tmp_path / "ran").exists()


def test_a_remote_on_this_machine_is_asked_about_once(vault: Vault, tmp_path: Path) -> None:
    """One that came beside the folder runs its hooks here too; one's own takes one yes."""
    hub = bare(vault.root.parent / "hub.git")
    git.run(vault.root, "remote", "add", "origin", "../hub.git")
    with pytest.raises(UsageError, match="../hub.git(.|\n)*vault-memory trust"):
        sync(vault, "origin")
    assert refs(hub) == "" and [each.value for each in waiting_for_remote(vault)] == [["../hub.git"]]
    trust(vault, to_trust(vault))
    assert sync(vault).sent > 0 and sync(open_vault(vault.root)).sent == 0 and to_trust(vault) == ()


def test_a_setting_that_names_the_agreed_remote_takes_no_second_yes(vault: Vault, tmp_path: Path) -> None:
    """One's own second machine says yes to the clone's remote; then the first one's `git.remote` arrives."""
    hub, evil = bare(tmp_path / "hub.git"), bare(tmp_path / "evil.git")
    git.run(vault.root, "remote", "add", "origin", str(hub))
    git.run(vault.root, "remote", "add", "evil", str(evil))
    trust(vault, to_trust(vault))
    vault = set_to(vault, '[git]\nremote = "origin"\n')
    assert vault.config.git_remote == "origin" and to_trust(vault) == () and sync(vault).sent > 0
    git.run(vault.root, "remote", "set-url", "origin", str(evil))
    with pytest.raises(UsageError, match=f"{evil}(.|\n)*vault-memory trust"):
        sync(vault)
    assert [each.key for each in set_to(vault, '[git]\nremote = "evil"\n').config.waiting] == ["git.remote"]
    assert refs(evil) == ""


@pytest.mark.parametrize("address", ["../hub.git", "https://127.0.0.1:9/x.git"])
def test_an_address_that_gits_config_names_as_the_followed_remote_is_nobodys_word(
    vault: Vault, tmp_path: Path, address: str
) -> None:
    hub = tmp_path / "hub.git"
    git.run(tmp_path, "init", "--bare", str(hub))
    (hub / "hooks" / "pre-receive").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hub / "hooks" / "pre-receive").chmod(0o755)
    branch = vault.history.state().branch
    git.run(vault.root, "config", f"branch.{branch}.remote", address)
    git.run(vault.root, "config", f"branch.{branch}.merge", f"refs/heads/{branch}")
    with pytest.raises(UsageError, match="to which this machine has not said yes"):
        sync(vault)
    assert not (tmp_path / "ran").exists() and [each.value for each in waiting_for_remote(vault)] == [[address]]


def test_an_address_that_is_typed_goes_nowhere_else(vault: Vault) -> None:
    typed = "git@127.0.0.1:me/notes.git"
    git.run(vault.root, "config", f"remote.{typed}.url", "git@127.0.0.2:theirs.git")
    with pytest.raises(UsageError, match=r"git's config makes .* into git@127\.0\.0\.2:theirs\.git"):
        sync(vault, typed)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        *((address, False) for address in ("me@host:notes.git", "https://host/x", "ssh://host/x", "host.example:x")),
        *((address, True) for address in ("/srv/x.git", "../x", "file:///x", "./a:b", "C:\\x", "ext::sh -c x", "x")),
    ],
)
def test_which_addresses_are_on_this_machine(address: str, here: bool) -> None:
    assert is_on_this_machine(address) == here


def test_a_file_in_the_state_folder_of_another_vault_changes_nothing(vault: Vault, chat: ScriptedServer) -> None:
    """The vault brings a record of its own along."""
    record = {str(vault.root): {"id": "x", "values": {"llm.base_url": chat.url}}}
    (vault.root / ".vault-memory").mkdir(exist_ok=True)
    (vault.root / ".vault-memory/trust.json").write_text(json.dumps(record))
    (vault.root / ".vault-memory/machine.json").write_text('{"id": "x"}')
    assert set_to(vault, learning(chat)).config.waiting


def test_status_says_what_waits_as_json_too(vault: Vault, chat: ScriptedServer) -> None:
    assert "llm.base_url" in json.dumps(asdict(status(set_to(vault, learning(chat))))["degraded"])


def test_a_damaged_record_does_not_matter_to_a_file_without_sensitive_values(
    bare_vault: Vault, chat: ScriptedServer
) -> None:
    set_to(bare_vault, learning(chat))
    say_yes(bare_vault.root)
    (state_folder() / "trust.json").write_text("damaged")
    assert "damaged" in str(open_vault(bare_vault.root).config.waiting)
    assert not set_to(bare_vault, "").config.waiting


def test_a_password_in_an_address_is_not_shown_and_the_yes_is_for_it(vault: Vault) -> None:
    address = "https://alice:{}@127.0.0.1:1/x.git?private_token={}"
    git.run(vault.root, "remote", "add", "origin", address.format("Sup3r-One", "Sup3r-Two"))
    with pytest.raises(UsageError, match=r"is https://alice:\*\*\*@127.0.0.1:1/x.git\?private_token=\*\*\*, to which"):
        sync(vault)
    shown = set_to(vault, '[git]\nremote = "origin"\n')
    say_yes(shown.root)
    said = [*status(open_vault(shown.root)).degraded, *(str(check) for check in doctor(open_vault(shown.root)))]
    assert any("no sync with https://alice:***@" in line for line in said) and "Sup3r" not in "".join(said)
    trust(vault, waiting_for_remote(vault))
    for name in ("", address.format("Sup3r-One", "Sup3r-Two")):
        with pytest.raises(HistoryError, match="unable to access") as error:
            sync(vault, name)
        assert "Sup3r" not in str(error.value)
    git.run(vault.root, "remote", "set-url", "origin", address.format("Sup3r-One", "Sup3r-Three"))
    assert waiting_for_remote(vault), "the yes is for the address, not for what is shown of it"
    git.run(vault.root, "config", "http.proxy", "http://alice:Sup3r-One@127.0.0.1:1")
    with pytest.raises(HistoryError, match=r"http.proxy = http://alice:\*\*\*@127.0.0.1:1"):
        sync(vault, "https://127.0.0.1:1/x.git")
