"""The forms in which an erased text is found, and what stands in its place."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.erasing import MASK, Erasure, Tombstones
from vault_memory.core.memories import title_of
from vault_memory.core.text import slug

LETTERS = "abcxyzABCXYZ019éüß七號密碼😀"
TEXTS = st.lists(
    st.text(LETTERS, min_size=4, max_size=6).filter(lambda word: sum(map(str.isalnum, word)) > 3),
    min_size=1,
    max_size=4,
).map(" ".join)
AROUND = st.text(LETTERS + ' \\n"', max_size=20).filter(lambda said: not (said[:1].isdigit() or said[-1:].isdigit()))


@given(TEXTS, AROUND, AROUND)
def test_each_form_is_found_and_none_is_left(text: str, before: str, after: str) -> None:
    """However it is written, and whatever stands beside it; no line is lost, and the mask is not masked again."""
    erasure = Erasure([text])
    forms = {text, unicodedata.normalize("NFD", text), text.replace(" ", "\n"), text.replace(" ", "\r\n> ")}
    forms |= {
        text.lower().replace(" ", "-"),
        json.dumps(text),
        json.dumps(text, ensure_ascii=False),
        json.dumps([text]),
    }
    forms |= {json.dumps(text.replace(" ", "\n")), json.dumps(json.dumps(text))}
    forms.add("".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text).replace(" ", "\u3000"))
    for form in forms:
        data = f"{before}{form}{after}".encode()
        masked = erasure.masked(data)
        assert MASK in masked
        assert not erasure.holds(masked)
        assert masked.count(b"\n") == data.count(b"\n")
        assert erasure.masked(masked) == masked


@given(TEXTS, AROUND)
def test_a_record_stays_a_record(text: str, around: str) -> None:
    """A line of JSON is one afterwards, too, and its other words are as they were."""
    line = json.dumps({"said": f"{text}", "also": around[:3]}).encode()
    told = json.loads(Erasure([text]).masked(line))
    assert told == {"said": MASK.decode(), "also": around[:3]}


@pytest.mark.parametrize("text", ['locker\\true"locker"', 'the \\true "locker"', 'locker\\null"locker'])
def test_a_break_before_a_word_is_no_part_of_a_value(text: str) -> None:
    """`\\true` is a tab and `rue`, behind which a `"` divides nothing."""
    assert Tombstones(b"k" * 32).with_texts("alice", [text]).are_in("alice", ["", text])
    for data in (text, json.dumps({"said": f"so {text} said", "also": 1})):
        assert not Erasure([text]).holds(Erasure([text]).masked(data.encode()))
        assert b"locker" not in Erasure([text]).masked(data.encode())


@pytest.mark.parametrize("said", ["密\n碼七號", "密碼\r\n  > 七號", r"\u5BC6\u78bc\n七號"])
def test_a_line_that_breaks_within_a_word_of_a_script_without_blanks(said: str) -> None:
    assert Erasure(["密碼七號"]).holds(said.encode())


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "  - ", "- [ ] ", "> ", "> - ", "## ", ""])
def test_what_a_line_of_markdown_is_it_stays(mark: str) -> None:
    """The mark of a list is none of the text, also where the text was told with it; marks within the line go."""
    erasure = Erasure([f"{mark}**I love walking** with Jo"])
    for said in (mark, "- ", "> ", "# ", ""):
        line = f"one\n{said}**I love walking** with Jo\ntwo\n".encode()
        assert erasure.masked(line) == f"one\n{said}".encode() + MASK + b"\ntwo\n"


def test_other_words_stay() -> None:
    data = b"the code is Zanzi bar, not Zanzibars code"
    assert Erasure(["the code is Zanzibar"]).masked(data) == data
    assert Erasure(["Tom & Anna"]).masked(b"<p>Tom &amp; Anna!</p>") == b"<p>(erased)!</p>"


@pytest.mark.parametrize("escaped", [False, True])
def test_a_quotation_that_was_cut_within_the_text_is_found(escaped: bool) -> None:
    text = "我的密碼是 Zanzibar, and it opens the door of the cellar"
    erasure = Erasure([text])
    for length in range(len(text) // 2 + 1, len(text)):
        said = json.dumps(f"- 09:12 {text[:length]}… more", ensure_ascii=escaped).encode()
        end = "…" if not escaped else "\\u2026"
        assert erasure.holds(said)
        assert erasure.masked(said).decode().replace("(erased) ", "(erased)") == f'"- 09:12 (erased){end} more"'
    for other in ("我的密碼是…", "我的密碼是 Zanzibar, and it opens another door…", "and it opens…"):
        assert not erasure.holds(other.encode()) and erasure.masked(other.encode()).decode() == other


def test_both_chinese_scripts_and_every_width_and_composition_are_one_text() -> None:
    """Whichever form is named; another character that is only alike, and another region's word, are other texts."""
    simple, traditional = "我的秘密电话 ＡＢé", "我的祕密電話 ABe\u0301"
    for named, said in ((simple, traditional), (traditional, simple)):
        erasure = Erasure([named])
        for form in (said, unicodedata.normalize("NFD", said), json.dumps(said), f"> {said}".replace(" ", "\n")):
            assert erasure.holds(form.encode()), form
            assert not {"話", "电"} & {*erasure.masked(form.encode()).decode()}
    erasure = Erasure(["她的头发与皇后的软件"])
    assert erasure.holds("她的頭髮與皇后的軟件".encode()) and erasure.holds("她的頭發與皇後的軟件".encode())
    assert not erasure.holds("她的頭髮與皇后的軟體".encode())
    assert erasure.other_words == ("软体",)
    assert Erasure(["my dark theme"]).other_words == ()


def test_a_quotation_that_was_cut_is_found_in_the_other_script() -> None:
    text = "我的秘密电话号码是二八二五零零零一"
    assert Erasure([text]).masked("- 我的祕密電話號碼是二八…".encode()).decode() == "- (erased)…"


def test_it_tells_in_which_forms_it_was_found() -> None:
    erasure = Erasure(["我的秘密电话"])
    assert erasure.found == ()
    erasure.masked('我的秘密電話, 我的秘密电话 and "\\u6211\\u7684祕密電話"'.encode())
    erasure.masked("我的秘\n  密电话".encode())
    assert set(erasure.found) == {"我的秘密電話", "我的秘密电话", "我的祕密電話", "我的秘 密电话"}


CODE = "my codeword is Zanzibar"
TITLE = "the red bicycle stands behind the old harbour in the second"


@pytest.mark.parametrize(
    ("text", "said", "left"),
    [
        ("my cat's name is Miso (truly)", "title: 'my cat''s name is Miso (truly)'", "title: '(erased)'"),
        ("my cat's name is Miso (truly)", "mem_1_ab-my-cat-s-name-is-miso-truly.md", "mem_1_ab-(erased).md"),
        ("always: 7/8", "entities/always- 7-8.md", "entities/(erased).md"),
        ("我的貓叫米粒，今年三歲了", "mem_1_ab-我的貓叫米粒-今年三歲了.md", "mem_1_ab-(erased).md"),
        (f"{TITLE} courtyard", f"title: {TITLE}", "title: (erased)"),
        (f"{TITLE} courtyard", "mem_1_ab-the-red-bicycle-stands-behind-the-old-ha.md", "mem_1_ab-(erased).md"),
        (
            'the plan: "blue whale" starts #soon',
            "said_1_ab-remember-that-the-plan-blue-whale-starts.md",
            "said_1_ab-remember-that-(erased).md",
        ),
        (
            "my codeword is Zanzibar seven",
            "title: Remember that, dear friend of mine, my codeword is Zanzibar",
            "title: Remember that, dear friend of mine, (erased)",
        ),
        (CODE, "[l](notes/my%20codeword%20is%20Zanzibar.md)", "[l](notes/(erased).md)"),
        ("密碼是七號", "%E5%AF%86%E7%A2%BC%e6%98%af%E4%B8%83%E8%99%9F", "(erased)"),
        (CODE, "**my codeword** is *Zanzibar*", "(erased)"),
        (CODE, "my codeword is<br>Zanzibar", "(erased)"),
        (CODE, "my&nbsp;codeword is\\\nZanzi-\nbar", "(erased)\n\n"),
        (CODE, "| my codeword | is\n| Zanzibar |", "| (erased)\n |"),
        (CODE, "* my codeword is\n* Zanzibar", "* (erased)\n"),
        ("我的密碼七號", "我的**密碼**七號", "(erased)"),
        ("我的密碼是 Xy77-Quartz-Lamp", "記住我的密碼是 [redacted: password]", "記住(erased)"),
    ],
)
def test_what_the_program_and_markup_make_of_a_text_is_found(text: str, said: str, left: str) -> None:
    """Titles and names of files, cut too; YAML's quotes, addresses, Markdown, HTML; and a secret that was redacted."""
    erasure = Erasure([text])
    assert erasure.masked(said.encode()).decode() == left
    for other in ("my codeword is another, Zanzibar", "my-cat-s-name-is-mi", f"title: {TITLE[:30]}", "我的密碼很長"):
        assert erasure.masked(other.encode()).decode() == other


def test_values_beside_one_another_in_a_record_are_no_text() -> None:
    line = b'{"theme": "dark", "words": ["theme", "dark"], "said": "theme: dark"}'
    assert Erasure(["theme dark"]).masked(line) == line.replace(b"theme: dark", MASK)


@pytest.mark.parametrize("said", ["1795270627 +0000", "said_17952706_ab", "1.1795", "21795"])
def test_a_number_is_no_part_of_a_longer_one(said: str) -> None:
    assert Erasure(["1795"]).holds(said.encode()) is (said == "1.1795")
    assert Erasure(["1795"]).masked(b"PIN1795, \\u5bc61795") == b"PIN(erased), \\u5bc6(erased)"


def test_it_shows_the_words_around() -> None:
    erasure = Erasure(["seven"])
    erasure.masked(b"one\nthe seventeen apples\nx")
    assert erasure.places == ("the seventeen apples",)


@pytest.mark.parametrize("text", ["hello world        .", "«        hello world", "«  «  «  hello world"])
def test_blanks_around_a_text_are_one_thing(text: str) -> None:
    """As a pattern of each blank, thousands of them would be looked through in all ways."""
    erasure, blanks = Erasure([text]), " " * 5000
    assert erasure.masked(f">{blanks}hello world{blanks}\n.".encode()).count(MASK) == 1
    assert erasure.masked(text.replace("  ", " ").encode()) == MASK


def test_chinese_without_latin_letters_is_looked_through_once() -> None:
    """Where a text only begins, nothing beyond its next character is read: reading on to a letter took minutes."""
    said = ("我愛喝茶。" * 50_000).encode()
    assert Erasure(["我愛喝烏龍茶"]).masked(said + "我愛喝烏龍茶".encode()) == said + MASK


LONG = "I like to go for a long walk in the morning with my dog Zebulon"
LONG_CHINESE = "我每天早上都喜歡帶著我的狗去河邊散步然後在橋下吃早餐喝豆漿看報紙聽音樂寫日記想事情打電話給王小蝸"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LONG, "I like to go for a long walk in the morning with my daughter Ann."),
        (LONG, "I like to go for a long walk in the morning with my cat"),
        (LONG_CHINESE, LONG_CHINESE.replace("王小蝸", "媽媽")),
    ],
)
def test_what_only_begins_like_a_text_stays(text: str, said: str) -> None:
    """A title or a name ends where it is cut; other words follow here."""
    assert Erasure([text]).masked(said.encode()) == said.encode()
    assert Erasure([text]).masked(f"title: {title_of(text)}\ntype: x".encode()) == b"title: " + MASK + b"\ntype: x"
    assert Erasure([text]).masked(f"said_1_a-{slug(text)}.md".encode()) == b"said_1_a-" + MASK + b".md"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LONG}. It rained here.", "title: {}\nimportance: 0.6\n"),
        (f"{LONG}. Please call me Otto.", "Remembered: {} · Preferences: theme = dark\n"),
        (f"{LONG_CHINESE}。萬物。", "記住：{} · 萬事\n"),
    ],
)
def test_what_stands_behind_a_title_may_begin_as_the_text_goes_on(text: str, said: str) -> None:
    title = LONG if text.startswith(LONG) else LONG_CHINESE
    assert Erasure([text]).masked(said.format(title).encode()) == said.format(MASK.decode()).encode()


def test_the_end_of_a_sentence_is_not_that_of_a_name() -> None:
    erasure = Erasure(["I prefer Vim over Emacs."])
    assert erasure.masked(b"said_1_a-i-prefer-vim-over-emacs.md") == b"said_1_a-" + MASK + b".md"
    assert erasure.masked(b"So: I prefer Vim over Emacs. Yes") == b"So: " + MASK + b" Yes"


def test_a_text_that_ends_with_a_backslash_leaves_none_behind() -> None:
    text = "my folder is C:\\Users\\otto\\"
    for row in ({"a": text, "b": 1}, {"a": f'"{text}"'}, {"a": json.dumps({"c": text})}, {"a": text + "x"}):
        masked = Erasure([text]).masked(json.dumps(row).encode())
        assert "otto" not in json.dumps(json.loads(masked))
        assert "\\" not in json.loads(masked)["a"].replace('\\"', "").replace('"', "")
    assert Erasure([text]).masked(f"- {text}\n".encode()) == b"- " + MASK + b"\n"
