"""What is known again is found by the eraser, too, whatever stands between words."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.erasing import KEY_BYTES, MASK, Erasure, Tombstones

NONE = Tombstones(b"k" * KEY_BYTES)
WORDS = ["locker", "I", "café", "true", "Zoë", "1127", "20261127", "5", *"我着著", "密語", "帳戶", "账户", "発展"]
SIGNS = ["", *' -,，「🏺’"\\%&…\n\u200b', "\n\n", " — ", ", ", '", "', '": ', "👨‍👩‍👧", "<b>", "</b> ", "\\n", '\\"']
SIGNS += [
    "\\u300c",
    "\\u6211",
    "%20",
    "%E6%88%91",
    "&#25105;",
    "&#x2019;",
    "&amp;",
    "&eacute;",
    "\\x20",
    "\\xe6\\x88\\x91",
    "\\xe6",
]
SAID = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), min_size=1, max_size=6).map(
    lambda pairs: "".join(word + sign for word, sign in pairs)
)
FORMS = (
    str,
    json.dumps,
    html.escape,
    quote,
    str.upper,
    lambda said: said.encode("ascii", "xmlcharrefreplace").decode(),
    lambda said: "".join(f"\\x{byte:02x}" for byte in said.encode()),
    lambda said: "".join(f"\\\\x{byte:02X}" if byte > 127 else chr(byte) for byte in said.encode()),
)


@given(SAID.filter(lambda said: len("".join(filter(str.isalnum, said)).encode()) > 3), SAID, SAID, st.data())
def test_what_is_known_again_is_found(text: str, before: str, after: str, data: st.DataObject) -> None:
    stones, erasure = NONE.with_texts("alice", [text]), Erasure([text])
    own = data.draw(st.sampled_from(FORMS))(text)
    others = data.draw(st.lists(SAID, max_size=2))
    for said in (before + own + after, f"{before} {own} {after}", own, *others):
        if stones.are_in("alice", [said]):
            assert erasure.holds(said.encode()), said
    assert stones.are_in("alice", [text]) and erasure.holds(text.encode())


@pytest.mark.parametrize("said", ["20261127T10", "said_1127803676407_65edd158", "at +00:00", "11270", "1１127"])
def test_a_number_in_a_longer_one_is_not_known_again(said: str) -> None:
    stones = NONE.with_texts("alice", ["1127", "0000"])
    assert not stones.are_in("alice", [said])
    assert stones.are_in("alice", ["her locker, 1127."])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("我的 iPhone 密語是金獅", "我的iPhone密語是金獅"),
        ("我的iPad密語是銀獅", "我的 iPad 密語是銀獅"),
        ("她叫「小花」住巷口", "她叫小花住巷口"),
        ("小河住湖邊", "小河，住湖邊"),
        ("她叫小花住巷口", '她叫"小花"住巷口'),
        ("his pan is opal mostly", 'his pan is "opal" mostly'),
        ("his jug is opal: mostly", 'his jug is "opal": mostly'),
        ("her hen is Pizarro always", 'her hen is "Pizarro", always'),
        ("his hat is “violet” in winter", 'his hat is "violet" in winter'),
        ("the vase 🏺 hides it", "the vase hides it"),
        ("the vase hides it", "the 😀 vase hides 👨‍👩‍👧 it"),
        ("我的密語是「藍色鯨魚」", "\\u6211\\u7684\\u5bc6\\u8a9e\\u662f\\u300c\\u85cd\\u8272\\u9be8\\u9b5a\\u300d"),
        ("我的密語，不要說出去", quote("我的密語，不要說出去")),
        ("我的密語是七", "&#25105;&#x7684;密語是七"),
        ("我的密語，不要說出去", "".join(f"\\x{byte:02x}" for byte in "我的密語，不要說出去".encode())),
        ("Rosamund Kettleworth", "\\x52\\x6fsamund\\\\x20\\x4Bettleworth"),
        ("a Zoë of 1127", repr("a Zoë of 1127".encode())[2:-1]),
        ("Ann’s code", "Ann&#8217;s code"),
        ("他藏着翡翠", "他藏著翡翠"),
        ("爸爸的账本", "爸爸的帳本"),
        ("妹妹的帳簿", "妹妹的賬簿"),
        ("发现了海豚", "発現了海豚"),
        ("汙漬酒吧", "污渍酒吧"),
        ("衞生紙的温度", "卫生纸的溫度"),
        ("Señora Pérez", "Sen\u0303ora Pe\u0301rez"),
        ("Otto otto@example.org", "Otto <otto@example.org>"),
    ],
)
def test_signs_and_spellings_make_no_other_text(text: str, said: str) -> None:
    """In both directions, for the eraser and for what is known again."""
    for one, other in ((text, said), (said, text)):
        assert Erasure([one]).masked(f"x {other} y".encode()).decode().startswith("x (erased)")
        assert NONE.with_texts("alice", [one]).are_in("alice", [f"x {other} y"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("theme dark", '{"theme": "dark"}'),
        ("theme dark", '{"words":["theme","dark"]}'),
        ("room 5", '{"room": 5, "x": "y"}'),
        ("5 room", '{"x": 5, "room": 1}'),
        ("seen true", '{"seen": true}'),
        ("true seen", '[true, "seen"]'),
        ("five six", '{"five"}\n{"six"}'),
        ("5 six", '{"x": 5}\n{"six": 1}'),
        ("path done", '{"path\\\\": "done"}'),
    ],
)
def test_no_text_goes_over_values_of_a_record(text: str, line: str) -> None:
    assert Erasure([text]).masked(line.encode()).decode() == line
    assert not NONE.with_texts("alice", [text]).are_in("alice", [line])


def test_a_letter_that_grows_in_the_other_case_is_found() -> None:
    for one, other in (("Straße zum Glück", "STRASSE ZUM GLÜCK"), ("the ﬁle is here", "the file is here")):
        assert Erasure([one]).masked(other.encode()) == MASK


def test_two_words_are_not_one_and_a_text_begins_in_no_escape() -> None:
    for one, other in (
        ("foo bars", "foobars"),
        ("foobars", "foo bars"),
        ("77 1234", "771234"),
        ("ab cdef", "\\u12ab cdef"),
    ):
        assert not Erasure([one]).holds(other.encode())
        assert not NONE.with_texts("alice", [one]).are_in("alice", [other])
    assert Erasure(["PIN 1795"]).masked(b"PIN1795") == MASK
