"""Language and time zone on the command line: said, or set, and never made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Cli
from vault_memory.core.profile import LOCALES

pytestmark = pytest.mark.slow

VAULT = "my-vault"


@pytest.fixture
def init(tmp_path: Path) -> Callable[..., Cli]:
    """A new vault, made with these options."""

    def made(*options: str) -> Cli:
        Cli(tmp_path)("init", VAULT, *options)
        return Cli(tmp_path / VAULT)

    return made


def values(cli: Cli, user_id: str) -> dict[str, str]:
    return {row["key"]: row["value"] for row in cli.json("pref", "list", "--user", user_id)}


def closing(cli: Cli, user_id: str, request: str) -> str:
    return cli("prompt", "--user", user_id, request).splitlines()[-1]


def test_a_person_is_followed_until_the_language_is_said(init: Callable[..., Cli]) -> None:
    """A1, A10: from an empty vault, three people, each in their own words."""
    cli = init()
    for user_id, said, title, line in (
        ("mei", "我喜歡暗色主題", "# 使用者資料", "使用繁體中文回應"),
        ("xin", "我喜欢暗色主题", "# 用户资料", "使用简体中文回应"),
        ("ann", "I prefer dark mode.", "# User profile", "answer the user's request. Where"),
    ):
        cli("turn", "--user", user_id, "--message", said)
        assert (cli.folder / f"memory/{user_id}/USER.md").read_text().startswith(title)
        assert values(cli, user_id).keys() == {"joined", "theme"}
        assert line in closing(cli, user_id, said)
    cli("turn", "--user", "ann", "--message", "Please write to me in British English from now on.")
    cli("turn", "--user", "mei", "--message", "以後都用英文回答我")
    assert (values(cli, "ann")["language"], values(cli, "mei")["language"]) == ("en-GB", "en")
    assert "in English (en-GB)." in closing(cli, "ann", "用繁體字寫的問題")
    cli("pref", "set", "--user", "ann", "language", "繁體中文")
    assert "- Language: zh-TW\n" in (cli.folder / "memory/ann/USER.md").read_text()
    assert "使用繁體中文回應" in closing(cli, "ann", "How do I sort a list?")
    cli("pref", "unset", "--user", "ann", "language", "Traditional Chinese")
    assert "language" not in values(cli, "ann")


def test_a_language_written_by_hand_is_understood(init: Callable[..., Cli]) -> None:
    cli = init()
    cli("turn", "--user", "mei", "--message", "我喜歡暗色主題")
    profile = cli.folder / "memory/mei/USER.md"
    profile.write_text(profile.read_text().replace("語言偏好：", "語言偏好：English (UK)"))
    assert "in English (en-GB)." in closing(cli, "mei", "怎麼排序？")
    cli("turn", "--user", "mei", "--message", "我用 Vim 寫程式")
    assert "- 語言偏好：English (UK)\n" in profile.read_text() and values(cli, "mei")["language"] == "en-GB"
    assert "— → en-GB  manual" in cli("pref", "history", "--user", "mei", "language")
    profile.write_text(profile.read_text().replace("English (UK)", "Klingonisch").replace("時區：", "時區：Taipei"))
    doctor = cli.run("doctor").stdout
    assert "'Klingonisch' is no language that is known: write a tag such as zh-TW (and 1 more)" in doctor
    profile.write_text(profile.read_text().replace("Klingonisch", "zh"))
    assert "'Taipei' is no time zone that is known: write an IANA name" in cli.run("doctor").stdout


@pytest.mark.parametrize("locale", LOCALES)
def test_init_names_the_locale_in_the_settings(init: Callable[..., Cli], locale: str) -> None:
    cli = init("--locale", locale)
    assert f'\nlocale = "{locale}"\n' in (cli.folder / "vault-memory.toml").read_text()
    assert cli.git("status", "--porcelain") == ""
    cli("turn", "--user", "mei", "--message", {"en": "我喜歡暗色主題"}.get(locale, "I prefer dark mode."))
    title = {"zh-TW": "# 使用者資料", "zh-CN": "# 用户资料", "en": "# User profile"}[locale]
    assert (cli.folder / "memory/mei/USER.md").read_text().startswith(title)
    assert values(cli, "mei")["language"] == locale and "timezone" not in values(cli, "mei")
    assert f"locale {locale}; time zone of this system, now " in cli("doctor")


def test_init_without_a_locale_names_none(init: Callable[..., Cli]) -> None:
    cli = init()
    settings = (cli.folder / "vault-memory.toml").read_text()
    assert '\n# locale = ""\n' in settings and '\n# timezone = ""\n' in settings
    assert "locale as each person writes; time zone of this system, now " in cli("doctor")
    assert " +0530" in cli("doctor", TZ="Asia/Kolkata")
    assert "time zone Asia/Tokyo, now " in cli("doctor", VAULT_MEMORY_TIMEZONE="Asia/Tokyo")


def test_init_leaves_the_settings_of_a_vault_alone(init: Callable[..., Cli]) -> None:
    cli = init("--locale", "en")
    before = (cli.folder / "vault-memory.toml").read_bytes()
    assert "already" in cli("init", "--locale", "en")
    complaint = cli("init", "--locale", "zh-TW", code=2)
    assert 'write locale = "zh-TW" in vault-memory.toml yourself' in complaint
    assert "is not one of 'zh-TW', 'zh-CN', 'en'" in cli("init", "--locale", "fr", code=2)
    assert (cli.folder / "vault-memory.toml").read_bytes() == before


def test_an_adopted_folder_gets_the_locale_too(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("green\n")
    cli = Cli(notes)
    assert "vault-memory.toml" in cli("init", "--adopt", "--locale", "zh-CN")
    assert 'locale = "zh-CN"' in (notes / "vault-memory.toml").read_text()
    cli("turn", "--user", "ann", "--message", "I prefer dark mode.")
    assert "- 语言偏好：zh-CN\n" in (notes / "memory/ann/USER.md").read_text()


def test_days_are_those_of_the_system_until_a_zone_is_named(init: Callable[..., Cli]) -> None:
    cli = init()

    def recorded(user_id: str, **environ: str) -> str:
        line = '{"user_message": "嗨", "created_at": "2026-01-30T23:30:00+00:00"}'
        cli("turn", "--user", user_id, "--jsonl", "-", stdin=line, **environ)
        (day,) = (cli.folder / f"memory/{user_id}/daily").iterdir()
        return day.read_text()

    assert recorded("a", TZ="America/New_York").startswith("# 2026-01-30\n\n## 18:30\n")
    assert recorded("b", TZ="Asia/Tokyo").startswith("# 2026-01-31\n\n## 08:30\n")
    assert recorded("c", TZ="Asia/Tokyo", VAULT_MEMORY_TIMEZONE="Europe/Paris").startswith("# 2026-01-31\n\n## 00:30\n")
    cli("pref", "set", "--user", "d", "timezone", "Pacific/Honolulu")
    assert recorded("d", TZ="Asia/Tokyo").startswith("# 2026-01-30\n\n## 13:30\n")
