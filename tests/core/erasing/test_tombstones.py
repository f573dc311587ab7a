"""An erased text is known again, in all its forms, by hashes alone."""

from __future__ import annotations

import json
import unicodedata
from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core import layout
from vault_memory.core.erasing import KEY_BYTES, Tombstones

NONE = Tombstones(b"k" * KEY_BYTES)
TEXTS = st.text("abcXYZ019é七號密碼😀 -\n", min_size=4, max_size=12).filter(lambda t: sum(map(str.isalnum, t)) > 3)
AROUND = st.text('abc, 號"\\', max_size=12)


@given(TEXTS, AROUND, AROUND)
def test_each_form_of_a_text_is_known_again(text: str, before: str, after: str) -> None:
    stones = NONE.with_texts("alice", [text])
    assert Tombstones.of(NONE.key, json.loads(json.dumps(stones.as_dict()))) == stones
    for form in (text, unicodedata.normalize("NFD", text), text.upper(), text.replace(" ", "\n> ")):
        for said in (f"{before} {form} {after}", json.dumps(f"{before} {form} {after}")):
            assert stones.are_in("alice", ["", said])
            assert stones.are_in(layout.SHARED, [said])
            assert not stones.are_in("bob", [said]), "another user may say the same"


def test_nothing_that_was_erased_stands_in_them_and_another_key_knows_nothing() -> None:
    stones = NONE.with_texts("alice", ["the codeword"]).with_user("carol").with_paths([PurePosixPath("memory/a/b.md")])
    told = json.dumps(stones.as_dict())
    assert not any(word in told for word in ("code", "alice", "carol", "memory"))
    assert stones.has_user("carol") and not stones.has_user("carola")
    assert stones.has_user("Carol") and NONE.with_user("Carol").has_path(PurePosixPath("memory/cArol/x.md"))
    assert stones.are_in("Alice", ["the codeword"])
    assert stones.are_in_name(PurePosixPath("memory/alice/the-codeword/x.md"))
    assert stones.are_in_name(PurePosixPath("notes/The codeword 2.md"))
    assert not stones.are_in_name(PurePosixPath("memory/alice/the/codeword.md"))
    assert not stones.are_in_name(PurePosixPath("memory/bob/the-codeword.md"))
    assert stones.has_path(PurePosixPath("memory/a/b.md")) and stones.has_path(PurePosixPath("memory/carol/x.md"))
    assert not stones.has_path(PurePosixPath("memory/a/c.md"))
    other = Tombstones.of(b"o" * KEY_BYTES, stones.as_dict())
    assert not other.are_in("alice", ["the codeword"]) and not other.has_user("carol")


def test_full_width_and_the_other_chinese_script_are_the_same_text() -> None:
    stones = NONE.with_texts("alice", ["密碼是 Zanzibar"])
    assert stones.are_in("alice", ["我的密码是ＺＡＮＺＩＢＡＲ。"])
    assert not stones.are_in("alice", ["我的密码是 Zanziba"])
