from __future__ import annotations

import re

import pytest

from vault_memory.core import reading
from vault_memory.core.assistants import RULES_LOCALES, SECTION, WHOLE_FILE, rules_text, skill_text, with_rules
from vault_memory.errors import UsageError
from vault_memory.interfaces.mcp.catalogue import tools


@pytest.mark.parametrize("locale", RULES_LOCALES)
def test_they_name_only_tools_that_exist(locale: str) -> None:
    """A11: the rules of when to remember and when to recall."""
    named = {name for name in re.findall(r"`([a-z_]+)`", rules_text(locale)) if "_" in name or name == "remember"}
    assert {"remember", "recall_memory", "search_memory", "set_preference", "delete_memory"} <= named <= tools().keys()


@pytest.mark.parametrize("locale", RULES_LOCALES)
@pytest.mark.parametrize("text", ["# My rules\n\nBe brief.\n", "", "# Mine", "# Mine\r\n", "# Mine\n\n\n"])
def test_a_section_comes_and_goes(locale: str, text: str) -> None:
    made = with_rules(text, locale)
    assert made.startswith(text)
    assert rules_text(locale) in made
    assert with_rules(made, "en") == with_rules(text, "en")
    assert SECTION.holds(made)
    assert not SECTION.holds(text)
    assert SECTION.parted(made, text) == text
    below = made + "\n\nmore of mine\n"
    assert SECTION.parted(below, text) == text + ("\n" if text[-1:] not in ("", "\n") else "") + "\n\nmore of mine\n"
    assert with_rules(below, locale) == below


def test_what_was_written_into_ours_is_known() -> None:
    made, skill = with_rules("", "zh-TW"), skill_text("zh-TW")
    assert not SECTION.adds(made)
    assert SECTION.adds(made.replace("記憶", "回憶"))
    assert not WHOLE_FILE.adds(skill)
    assert WHOLE_FILE.adds(skill.replace("記憶", "回憶"))
    assert WHOLE_FILE.adds(skill + "\nmine\n")
    assert WHOLE_FILE.holds(skill)
    assert not WHOLE_FILE.holds("my own skill\n")


@pytest.mark.parametrize("text", ["# Mine\n", ""])
def test_a_section_that_has_lost_its_end_is_told(text: str) -> None:
    """What of it is a person's nobody can tell: nothing is taken, and no second section is written behind it."""
    half = with_rules(text, "en").replace("<!-- vault-memory: end -->", "") + "more of mine\n"
    for broken in (half, f"{half}\n{with_rules('', 'en')}"):
        for do in (SECTION.holds, lambda text: with_rules(text, "en")):
            with pytest.raises(UsageError, match="has no end: put a line `<!-- vault-memory: end -->` behind"):
                do(broken)


@pytest.mark.parametrize("text", ["# Mine\n", ""])
def test_a_section_that_has_lost_its_begin_is_told(text: str) -> None:
    made = with_rules(text, "en")
    begin = next(line for line in reading.lines(made) if "begin" in line)
    half = made.replace(f"{begin}\n", "") + "more of mine\n"
    for broken in (half, half + with_rules("", "en"), with_rules("", "en") + half):
        for do in (SECTION.holds, lambda text: with_rules(text, "en")):
            with pytest.raises(UsageError, match="has no begin: put a line `<!-- vault-memory: begin -->` before"):
                do(broken)
    mended = half.replace("## Long-term", "<!-- vault-memory: begin -->\n## Long-term")
    assert SECTION.holds(mended) and SECTION.adds(mended)
    assert SECTION.parted(mended, text) == text + "more of mine\n"


def test_a_skill_has_front_matter() -> None:
    assert skill_text("zh-CN").startswith("---\nname: vault-memory\ndescription: 用户的长期记忆")
    assert "\n---\n\n# 长期记忆" in skill_text("zh-CN")
    with pytest.raises(UsageError, match="not written in 'fr'"):
        skill_text("fr")
