"""Only what can be understood alone becomes a memory (row E4)."""

from __future__ import annotations

import pytest

from vault_memory.core.memorable import memorable

FRAGMENTS = """
    the team knows it
    it works for us
    I love it
    we use it
    I prefer that
    this is my favourite
    we use that at work
    I always do it
    I do that every day
    my family loves it
    we decided on that
    we went with it
    I've been doing it for years
    it is what we use
    that's what I like
    I use it every day
    we all know that
    they are my favourite
    we run it in production
    I work on it
    我們都用它
    團隊都知道這個
    這是我的最愛
    我很喜歡它
    我每天都用
    我平常都這樣
    我每天都喝
    這個我們一直在用
    我一直都這樣做
    那個是我最喜歡的
    我們決定用這個
    我們都喜歡那個
    我從小就這樣
    我們團隊都知道
    我每天都會做
    它是我的最愛
    這就是我的興趣
    我通常都選這個
    我已經決定了
    我們討論後決定這樣做
    I love it!
    I moved there in 2010
    我住這裡很久了
"""
WHOLE = """
    I'm vegan
    I love tea
    we use Rust
    I swim
    I hate rain
    I live in Lyon
    I play chess
    I have a cat
    we ship weekly
    I'm a nurse
    I hate it when people shout
    I freelance
    I'm left handed
    I adopted a cat and I love it
    my dog is named Bo
    we chose Go
    I run marathons
    I can't stand mess
    my favourite colour is green
    我愛茶
    我怕狗
    我住桃園
    我養貓
    我是護士
    我會彈吉他
    我討厭下雨
    我早睡
    我不喝酒
    我每天跑步
    我開計程車
    我們決定用 Go
    我養了一隻貓，我很喜歡牠
    我最愛的顏色是綠色
    我教數學
    我是左撇子
    我每天都喝咖啡
    我通常七點起床
    I love my bike and ride it daily
    I have a dog, walk it daily
    我在加拿大留學
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("message", lines(FRAGMENTS))
def test_a_fragment_is_no_memory(message: str) -> None:
    assert memorable(message) == []


@pytest.mark.parametrize("message", lines(WHOLE))
def test_a_short_but_whole_sentence_is_one(message: str) -> None:
    assert memorable(message)


def test_a_fragment_goes_on_with_the_memory_before_it() -> None:
    said = "We chose Postgres because the team knows it and it works for us"
    assert [each.content for each in memorable(said)] == [said]
