"""What has its place taken by something else goes from the profile, where the turn tells which one it was."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vault_memory.core.extraction import extract
from vault_memory.core.extraction.lexicon import default_lexicon
from vault_memory.core.text import fold

VUE = {"frameworks": ["Vue"], "tools": ["Docker"]}
JENKINS = {"tools": ["Jenkins", "Docker"]}


def removed(said: str, existing: Mapping[str, list[str]]) -> list[str]:
    return [signal.value for signal in extract(said, existing=existing) if signal.op == "remove"]


@pytest.mark.parametrize(
    ("said", "existing", "gone"),
    [
        ("前端改用 React", VUE, "Vue"),
        ("我改用 React 了", VUE, "Vue"),
        ("前端改用 React 了", {"frameworks": ["Vue", "React"]}, "Vue"),
        ("We moved our frontend to React.", VUE, "Vue"),
        ("CI 換成 GitLab", JENKINS, "Jenkins"),
        ("CI 换成 GitLab CI 了", JENKINS, "Jenkins"),
        ("We moved our CI to GitLab", JENKINS, "Jenkins"),
        ("I've switched our pipelines over to GitHub Actions", JENKINS, "Jenkins"),
        ("We moved our CI from Jenkins to GitLab", JENKINS, "Jenkins"),
        ("I switched to Helix", {"tools": ["vim"]}, "vim"),
        ("資料庫換成 PostgreSQL 了", {"tools": ["MySQL"]}, "MySQL"),
        ("We replaced our message queue with Kafka", {"tools": ["RabbitMQ"]}, "RabbitMQ"),
    ],
)
def test_what_was_there_before_goes(said: str, existing: Mapping[str, list[str]], gone: str) -> None:
    signals = extract(said, existing=existing)
    assert [(each.value, bool(each.quote), each.is_suggestion) for each in signals if each.op == "remove"] == [
        (gone, True, False)
    ]


@pytest.mark.parametrize(
    ("said", "existing"),
    [
        ("前端改用 React", {"frameworks": ["Vue", "Angular"]}),
        ("前端改用 React", {"preferred_frameworks": ["Vue"]}),
        ("我用 React", VUE),
        ("新專案改用 React", VUE),
        ("We also moved a side project to React", VUE),
        ("Some of our frontend moved to React", VUE),
        ("前端要不要改用 React？", VUE),
        ("我同事的前端改用 React 了", VUE),
        ("如果前端改用 React 會怎樣", VUE),
        ("請幫我把前端改成 React", {"frameworks": ["Vue", "React"]}),
        ("後端改用 Go", VUE),
        ("我改用 GitLab 了", JENKINS),
        ("We moved our repos to GitLab", JENKINS),
        ("We moved our CI from CircleCI to GitLab", JENKINS),
        ("CI 換成 GitHub Actions", {"tools": ["GitLab"]}),
        ("We migrated one repo to Gitea", {"tools": ["GitHub"]}),
        ("這個小工具後端改用 FastAPI", {"frameworks": ["Flask"]}),
        ("快取換成 Memcached", {"tools": ["Redis"]}),
        ("我們想把資料庫換成 PostgreSQL", {"tools": ["MySQL"]}),
    ],
)
def test_nothing_goes_where_it_is_not_clear_what(said: str, existing: Mapping[str, list[str]]) -> None:
    assert removed(said, existing) == []


def test_each_name_of_a_place_is_one_that_the_lexicon_knows() -> None:
    lexicon = default_lexicon()
    for place in lexicon.sections("gates.place"):
        listed = lexicon.listed(f"gates.place.{place}.one_of")
        assert len(listed) > 1 and [fold(lexicon.names[name][0]) for name in listed] == listed
