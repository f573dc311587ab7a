"""Settings: one table, three places, all errors at once."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import system_zone
from vault_memory.config import Config, describe
from vault_memory.errors import ConfigError


def load(tmp_path: Path, text: str, environ: dict[str, str] | None = None, **flags: object) -> Config:
    file = tmp_path / "vault-memory.toml"
    file.write_text(text, encoding="utf-8")
    return Config.load(file, environ or {}, **flags)


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path: Path) -> None:
    text, environ = "[watch]\nsettle_ms = 1\n", {"VAULT_MEMORY_WATCH_SETTLE_MS": "2"}
    assert load(tmp_path, "").watch_settle_ms == 400
    assert load(tmp_path, text).watch_settle_ms == 1
    assert load(tmp_path, text, environ).watch_settle_ms == 2
    assert load(tmp_path, text, environ, watch_settle_ms=3).watch_settle_ms == 3
    assert load(tmp_path, text, environ, watch_settle_ms=None).watch_settle_ms == 2


def test_a_missing_file_gives_the_defaults(tmp_path: Path) -> None:
    assert Config.load(tmp_path / "nowhere.toml", {}) == Config()


def test_one_error_lists_all_problems_with_their_lines(tmp_path: Path) -> None:
    text = 'locle = "en"\n[watch]\n# settle_ms = 5\nsettle_ms = true\ncap_ms = 3\n'
    text += '[search]\nweight = "heavy"\n[odd]\nx = 1\n'
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, {"VAULT_MEMORY_TIMEZONE": "Mars/Base"})
    lines = str(caught.value).splitlines()
    assert [re.split(r": ", line)[0] for line in lines] == [
        "vault-memory.toml:1",
        "vault-memory.toml:4",
        "vault-memory.toml:5",
        "vault-memory.toml:7",
        "vault-memory.toml:8",
        "environment variable VAULT_MEMORY_TIMEZONE",
    ]
    assert "did you mean 'locale'?" in lines[0]


@pytest.mark.parametrize("text", ["locale = ", "a = 1\na = 2\n"])
def test_a_file_that_is_not_toml_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"vault-memory\.toml is not valid TOML"):
        load(tmp_path, text)


def test_a_section_pasted_below_the_file_is_told_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="upstream.* twice .*: the section stands further up already"):
        load(tmp_path, '[upstream]\n# base_url = ""\n\n[upstream]\nbase_url = "https://api.openai.com/v1"\n')


def test_bytes_that_are_not_text_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "vault-memory.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load(tmp_path / "vault-memory.toml", {})


@pytest.mark.parametrize(("text", "value"), [("1", True), ("yes", True), ("false", False)])
def test_values_of_the_environment_are_read_from_text(tmp_path: Path, text: str, value: bool) -> None:
    assert load(tmp_path, "", {"VAULT_MEMORY_GIT_SIGN": text}).git_sign is value


NONSENSE = ("", "nonsense", "../etc", "Asia", "x" * 300, "\0", None)


def test_the_zone_of_a_person_who_wrote_nonsense_is_the_vaults(tmp_path: Path) -> None:
    config = load(tmp_path, 'timezone = "Asia/Tokyo"')
    for name in NONSENSE:
        assert str(config.zone(name)) == "Asia/Tokyo"
    assert str(config.zone("America/New_York")) == "America/New_York"


@pytest.mark.parametrize("zone", ["Asia/Taipei", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_the_zone_of_a_vault_that_names_none_is_the_systems(tmp_path: Path, zone: str) -> None:
    """With its summer time: every hour of a year is told as by the zone's own table, and so is its wall clock."""
    config = load(tmp_path, "")
    assert (config.locale, config.timezone) == ("", "")
    with system_zone(zone):
        for half_hour in range(366 * 48):
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=30 * half_hour)
            here, there = at.astimezone(config.zone("nonsense")), at.astimezone(ZoneInfo(zone))
            assert (here.isoformat(), here.fold) == (there.isoformat(), there.fold)
            assert here.replace(fold=0).astimezone(UTC) == there.replace(fold=0).astimezone(UTC)
        for at in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)):
            assert at.astimezone(config.zone()).astimezone(UTC) == at


def test_the_starter_vault_shows_every_setting(tmp_path: Path) -> None:
    starter = (Path(__file__).parents[1] / "vault/vault-memory.toml").read_text(encoding="utf-8")
    for key, _, _ in describe():
        assert re.search(rf"^#?\s*\[?{re.escape(key.rpartition('.')[2])}\b", starter, re.MULTILINE), key
    uncommented = re.sub(r"^# (\w+ = )", r"\1", starter, flags=re.MULTILINE)
    load(tmp_path, uncommented)


def test_the_error_says_what_is_wrong_with_each_endpoint_and_quotes_no_password(tmp_path: Path) -> None:
    """All problems of the embedding settings at once, at open, in words."""
    text = """[embedding]
kind = "http"
endpoints = [
  { url = "ftp://x/v1/embeddings" }, { url = "http://me:sesame@x/v1/embeddings" }, { url = "http://x/v1" },
  { url = "http://x/v1/embeddings", key_env = "sk-live-sesame" }, { url = "http://[x/v1/embeddings", key = "sesame" },
  { url = "http://x:99999/api/embed" }, { url = "http://x/api/embed", key_env = "MY_KEY" }]
query_timeout_ms = 1
"""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    for number, word in enumerate(["http://", "password", "whole address", "NAME", "not key", "http://"], 1):
        assert re.search(rf"endpoint {number} [^;]*{word}", message), (number, message)
    assert "endpoint 7" not in message and "query_timeout_ms" in message and "sesame" not in message


def test_a_model_behind_http_needs_a_name_and_an_endpoint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.model must be set(.|\n)*embedding\.endpoints must be set"):
        load(tmp_path, "", {"VAULT_MEMORY_EMBEDDING_KIND": "http"})
    assert load(tmp_path, "", {"VAULT_MEMORY_EMBEDDING_KIND": "local"}).embedding_model == ""


def test_a_list_of_endpoints_may_come_from_the_environment(tmp_path: Path) -> None:
    environ = {
        "VAULT_MEMORY_EMBEDDING_KIND": "http",
        "VAULT_MEMORY_EMBEDDING_MODEL": "bge-m3",
        "VAULT_MEMORY_EMBEDDING_ENDPOINTS": '[{ url = "http://gpu:11434/api/embed" }]',
    }
    assert load(tmp_path, "", environ).embedding_endpoints == [{"url": "http://gpu:11434/api/embed"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('locale = "fr"', r"locale must be one of zh-TW, zh-CN, en, not 'fr'"),
        ('timezone = "Mars/Base"', r"timezone must be an IANA time zone .* not 'Mars/Base'"),
        ('[schedule]\nsync = "25:00"', r"schedule of sync: a schedule is a time .* not '25:00'"),
        ('[identities]\n"telegram:1" = "a b"', r"identities of 'telegram:1': user id 'a b' is not valid"),
        ('[git]\nperson_email = "Vault-Memory@localhost"', r"person_email must not be the assistant's own"),
        ('[identities]\n" " = "alice"', r"identities must not map an empty name"),
        ('[serve]\nhosts = ["a.example:80"]', r"serve\.hosts must be host names .* not 'a\.example:80'"),
        *(
            (f'[serve]\norigins = ["{wrong}"]', r"serve\.origins must be origins")
            for wrong in ("null", "*", "https://*", "app://a/", "https://a.example/x", "a.example", "http://[", "")
        ),
        ('[upstream]\nbase_url = "ftp://a.example"', r"upstream\.base_url needs a url that begins with http"),
        ('[upstream]\nbase_url = "http://me:sesame@a.example"', r"upstream\.base_url must not have a password"),
        (
            '[upstream]\nbase_url = "http://a.example/v1?key=1"',
            r"upstream\.base_url must be an address without a query",
        ),
        *(
            (f"[{table}]\n{key} = {number}", rf"{table}\.{key} must have numbers that are finite")
            for table, key in (("search", "vector_weight"), ("llm", "timeout_s"), ("watch", "cap_ms"))
            for number in ("nan", "-inf", "0x" + "f" * 9_000)
        ),
        ("[lexicon]\nx = [[{ y = nan }]]", r"lexicon must have numbers that are finite"),
        ("[watch]\ncommit_quiet_ms = 9_000_000_000", r"commit_quiet_ms must be between 0 and 86400000"),
        ('[search]\nsynonyms = [["a", "x"], ["alone"]]', r"search\.synonyms is wrong: group 1 has 'a', which search"),
        ('[search]\nsynonyms = [["k8s", "kubernetes"], ["alone"]]', r"search\.synonyms is wrong: group 2 has 1 words"),
        ('[search]\nsynonyms = [["k8s", 8]]', r"search\.synonyms is wrong: group 1 has 8, which is not text"),
        ('[search]\nsynonyms = ["k8s"]', r"search\.synonyms must be list\[list\[str\]\]"),
        ('[proxy]\nhousekeeping = ["("]', r"proxy\.housekeeping must be regular expressions: '\(' is not one"),
    ],
)
def test_a_value_that_its_setting_refuses(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, text)
    assert "sesame" not in str(caught.value)


def test_importing_the_settings_loads_no_heavy_module() -> None:
    """Start-up time: a search in a shell reads the settings first."""
    code = "import sys, vault_memory.config; print(*sorted(n for n in sys.modules if n.startswith('vault_memory.')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {"vault_memory.config", "vault_memory.core", "vault_memory.core.layout", "vault_memory.core.setting_checks"}
    ours |= {"vault_memory.core.reading", "vault_memory.core.record_kinds", "vault_memory.errors", "vault_memory.lazy"}
    assert set(run.stdout.split()) == ours


def test_a_setting_of_an_earlier_version_is_ignored(tmp_path: Path) -> None:
    text = '[git]\nconversations = "never"\nperson_name = "Alice"\n'
    assert load(tmp_path, text).git_person_name == "Alice"


SENSITIVE = """index_dir = "/elsewhere"
[git]
sign = true
remote = "origin"
[llm]
enabled = true
base_url = "http://chat.example/v1"
key_env = "AWS_SECRET_ACCESS_KEY"
key_file = "/home/me/key"
provider = "openai"
[embedding]
kind = "http"
model = "m"
endpoints = [{ url = "http://vectors.example/v1/embeddings", key_env = "AWS_SECRET_ACCESS_KEY" }]
[upstream]
base_url = "http://up.example/v1"
key_env = "A"
anthropic_url = "http://anthropic.example/v1"
anthropic_key_env = "B"
[proxy]
housekeeping = ["^(a|a)*$"]
[serve]
hosts = ["notes.example"]
origins = ["app://obsidian.md"]
"""
"""Every value of a file that sends, runs or writes somewhere; a new sensitive setting gets a line."""


def test_no_sensitive_value_of_the_file_is_in_force_before_a_yes(tmp_path: Path) -> None:
    config = load(tmp_path, SENSITIVE)
    assert [value.key for value in config.waiting] == [
        *("index_dir", "git.sign", "git.remote", "llm.provider", "llm.base_url", "llm.key_env", "llm.key_file"),
        *("embedding.kind", "embedding.model", "embedding.endpoints"),
        "serve.hosts",
        "serve.origins",
        *("upstream.base_url", "upstream.key_env", "upstream.anthropic_url", "upstream.anthropic_key_env"),
        "proxy.housekeeping",
    ]
    bare = Config()
    assert {**vars(config), "waiting": ()} == {**vars(bare)}, "as if the file had not named them"
    [line] = config.waits()
    assert "llm.base_url" in line and "`vault-memory trust`" in line
    effects = {value.key: value.effect for value in config.waiting}
    assert (
        effects["llm.key_env"] == "the key in that variable is sent to http://chat.example/v1, or else to llm.provider"
    )
    assert effects["upstream.anthropic_key_env"].endswith("http://anthropic.example/v1")


def test_every_setting_with_an_address_a_key_or_a_program_is_sensitive(tmp_path: Path) -> None:
    """A new setting of these names that lacks the word `sensitive` fails here."""
    names = r"(_|^)(url|urls|endpoints|remote|key_env|key_file|dsn|address|command|program|executable|dir|folder|path)$"
    unmarked = [
        name
        for name, field in Config.__dataclass_fields__.items()
        if re.search(names, name) and not field.metadata["sensitive"]
    ]
    assert unmarked == []


def test_with_a_yes_the_values_are_in_force_and_only_those(tmp_path: Path) -> None:
    asked: list[dict[str, object]] = []

    def doubts(values: Mapping[str, object]) -> dict[str, str]:
        asked.append(dict(values))
        return {"embedding.endpoints": "changed"}

    file = tmp_path / "vault-memory.toml"
    file.write_text(SENSITIVE)
    config = Config.load(file, {}, doubts)
    assert len(asked) == 1 and asked[0]["git.remote"] == "origin"
    assert (config.llm_enabled, config.llm_base_url, config.git_remote) == (True, "http://chat.example/v1", "origin")
    assert (config.embedding_kind, config.embedding_endpoints, config.embedding_model) == ("offline", [], "m")
    assert [value.why for value in config.waiting] == ["changed"]
    file.write_text("[watch]\nsettle_ms = 1\n[llm]\nbase_url = ''\n")
    Config.load(file, {}, doubts)
    assert len(asked) == 1, "a file without sensitive values asks nobody"


def test_flags_and_the_environment_are_the_persons_own(tmp_path: Path) -> None:
    environ = {"VAULT_MEMORY_LLM_BASE_URL": "http://mine.example/v1", "VAULT_MEMORY_LLM_ENABLED": "1"}
    config = load(
        tmp_path, SENSITIVE.partition("key_env")[0] + SENSITIVE[SENSITIVE.index("[e") :], environ, git_remote="mine"
    )
    assert (config.llm_base_url, config.llm_enabled, config.git_remote) == ("http://mine.example/v1", True, "mine")
    assert not {"llm.base_url", "git.remote"} & {value.key for value in config.waiting}


@pytest.mark.parametrize("text", ["x = " + "[" * 50_000, "x = " + "{a=" * 50_000, "a." * 100_000 + "a = 1"])
def test_settings_nested_without_end_are_an_error_like_any_other(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="vault-memory.toml is not valid TOML"):
        load(tmp_path, text)


def test_the_error_about_many_wrong_settings_is_short(tmp_path: Path) -> None:
    text = "".join(f"key{number} = {number}\n" for number in range(20_000)) + "k" * 100_000 + " = 1\n"
    with pytest.raises(ConfigError, match="and 19981 more") as caught:
        load(tmp_path, text)
    assert len(str(caught.value)) < 30_000
    with pytest.raises(ConfigError, match="vault-memory.toml:2: locale must be"):
        load(tmp_path, f"\nlocale = '{'x' * 100_000}'\n")


def test_a_pattern_that_cannot_be_compiled_is_named(tmp_path: Path) -> None:
    for pattern in ("(", "(" * 5_000, "a{1,99999999999}"):
        with pytest.raises(ConfigError, match="vault-memory.toml:2: proxy.housekeeping must be regular"):
            load(tmp_path, f"[proxy]\nhousekeeping = ['{pattern}']\n")


def test_a_number_of_the_environment_is_finite(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="environment variable VAULT_MEMORY_SEARCH_VECTOR_WEIGHT: .* finite"):
        load(tmp_path, "", {"VAULT_MEMORY_SEARCH_VECTOR_WEIGHT": "nan"})
