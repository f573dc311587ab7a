"""Which stored notes a new note replaces."""

from __future__ import annotations

import pytest

from vault_memory.core.profile import Signal, with_replaced


def kept(stored: list[str], note: str, said: str) -> list[str]:
    """The notes after a new one."""
    for signal in with_replaced([Signal("note", "add", note, "explicit", said)], stored):
        stored = [each for each in stored if each != signal.value]
        stored += [signal.value] if signal.op == "add" else []
    return stored


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Always cite sources", "Don't cite sources any more", "stop citing sources, I no longer need it"),
        ("use two-space indentation", "use four-space indentation", "actually use four-space indentation"),
        (
            "keep technical terms in English",
            "keep technical terms in Chinese",
            "from now on keep technical terms in Chinese",
        ),
        ("use metric units", "use imperial units", "use imperial units instead"),
        ("our Redis port is 6380", "the Redis port is 6381", "remember: the Redis port is 6381"),
        (
            "the staging server is called Falcon",
            "the staging server is called Osprey",
            "note the staging server is now called Osprey instead",
        ),
        (
            "end every answer with a haiku",
            "no haiku at the end of every answer",
            "actually no haiku at the end of every answer",
        ),
        ("quiz me at the end", "don't quiz me at the end any more", "don't quiz me at the end any more"),
        ("以後都用條列式回答我", "不要再用條列式回答", "不要再用條列式回答"),
        ("縮排請用兩格空白", "縮排請用四格空白", "縮排請用四格空白"),
        ("提交信息请用中文", "提交信息请用英文", "以后提交信息改用英文"),
        ("每次都附上資料來源", "以後不用附資料來源了", "以後不用附資料來源了"),
        ("專有名詞保留英文", "專有名詞翻成中文", "以後專有名詞還是翻成中文好了"),
        ("Redis 的埠是 6380", "Redis 的埠改成 6381", "記住 Redis 的埠改成 6381"),
        ("周报用表格", "周报不要用表格", "周报以后不要用表格"),
        ("我的 side project 叫 Lantern", "我的 side project 叫 Beacon", "side project 改名了，現在叫 Beacon，記住"),
        ("每段不超過三句", "每段不超過五句", "每段不超過五句"),
        ("server 1 has port 80", "server 1 has port 81", "remember that server 1 has port 81"),
        ("期末考在六月三日", "期末考在七月一日", "記得期末考在七月一日"),
        ("office hours are 9 to 5", "office hours are 10 to 6", "remember that office hours are 10 to 6"),
    ],
)
def test_a_note_replaces_the_one_that_it_contradicts(old: str, new: str, said: str) -> None:
    assert kept(["我家有兩隻貓", old, "the gate is at the back"], new, said) == [
        "我家有兩隻貓",
        "the gate is at the back",
        new,
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("always cite sources", "always cite line numbers", "always cite line numbers"),
        (
            "answer questions about physics in bullet points",
            "answer questions about history as a story",
            "from now on answer questions about history as a story",
        ),
        ("the API limit is 100 per minute", "the upload limit is 5 MB", "remember the upload limit is 5 MB"),
        ("our Redis port is 6380", "our Postgres port is 5433", "our Postgres port is 5433, remember"),
        ("my daughter is called Mia", "my son is called Leo", "remember my son is called Leo"),
        ("the backup runs at 3", "the deploy runs at 5", "note: the deploy runs at 5"),
        ("end with a summary", "end with a question", "also end with a question"),
        ("use British spelling", "use Oxford commas", "use Oxford commas from now on"),
        ("no emoji in commit messages", "no emoji in headings", "no emoji in headings"),
        ("wrap code at 80 columns", "wrap prose at 72 columns", "wrap prose at 72 columns"),
        ("我的貓叫咪咪", "我的狗叫旺財", "記住我的狗叫旺財"),
        ("Redis 的埠是 6380", "Postgres 的埠是 5433", "記住 Postgres 的埠是 5433"),
        ("信件用敬語", "簡報用條列", "以後簡報用條列"),
        ("web1 的埠是 6380", "web2 的埠是 6380", "記住：web2 的埠是 6380"),
        ("server 1 has port 80", "server 2 has port 81", "remember that server 2 has port 81"),
        ("第一組的組長是小林", "第二組的組長是小林", "記住第二組的組長是小林"),
        ("每次都附上資料來源", "每次都附上範例", "以後每次都附上範例"),
        ("提交信息请用中文", "注释请用英文", "以后注释请用英文"),
        ("期末考在六月三日", "期中考在四月九日", "記得期中考在四月九日"),
        ("測試伺服器叫 falcon", "正式伺服器叫 eagle", "記住正式伺服器叫 eagle"),
        ("回答前先列大綱", "回答後列參考書", "以後回答後列參考書"),
        ("週一開會", "週三打球", "記住週三打球"),
    ],
)
def test_a_note_about_something_else_replaces_nothing(old: str, new: str, said: str) -> None:
    assert kept([old], new, said) == [old, new]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("always cite your sources", "please cite sources always"),
        ("以後都用條列式回答", "回答用條列式"),
        ("don't use emoji in commit messages", "never use emojis in commit messages"),
    ],
)
def test_a_note_that_repeats_one_changes_nothing(old: str, new: str) -> None:
    assert kept([old], new, new) == [old]


def test_only_new_notes_replace() -> None:
    signals = [
        Signal("note", "remove", "cite sources", "explicit"),
        Signal("note", "add", "never cite sources", "explicit", is_suggestion=True),
        Signal("tools", "add", "Git", "observed"),
    ]
    assert [*with_replaced(signals, ["cite sources"])] == signals
