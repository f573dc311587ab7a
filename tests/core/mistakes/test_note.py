"""B3: a mistake and its note, whoever has written either."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.mistakes import TEXTS, decode, encode, new_mistake, source_of
from vault_memory.core.reading import plain_text
from vault_memory.errors import TooLarge, UsageError

AT = datetime(2026, 1, 30, 14, 5, tzinfo=UTC)
ID = "mistake_1769753100000_a1b2c3"
HEADINGS = [label for labels in TEXTS.values() for label in labels]

lines = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["---", "# x", "```", "- [[a|b]]", "id: x", "", "\\", "## other", "^id", "%% x %%"]),
    st.builds(
        lambda slashes, blank, label, end: f"{slashes}##{blank}{label}{end}",
        st.sampled_from(["", "\\", "\\\\"]),
        st.sampled_from([" ", "\t", ""]),
        st.sampled_from([*HEADINGS, "ACTION", "actıon"]),
        st.sampled_from(["", " ", "：", ": x"]),
    ),
)
texts = st.lists(lines, max_size=6).map("\n".join)


@given(texts.filter(plain_text), texts, texts, texts, texts)
def test_any_texts_come_back_from_the_note(action: str, correction: str, method: str, impact: str, how: str) -> None:
    made = new_mistake(
        ID,
        action,
        "x",
        AT,
        user_correction=correction,
        correct_method=method,
        impact=impact,
        prevention_method=how,
    )
    assert decode(encode(made)) == made and made.problems == ()
    given_texts = dict(zip(TEXTS, (action, correction, method, impact, how), strict=True))
    assert made.texts == {name: plain_text(text) for name, text in given_texts.items()}


def test_the_note_is_what_the_format_says() -> None:
    made = new_mistake(ID, "沒有跑測試就部署", "deployment-error", AT, prevention_method="看 CI", related_rule="deploy")
    assert encode(made) == (
        f"---\nid: {ID}\nerror_type: deployment-error\ncreated_at: '2026-01-30T14:05:00+00:00'\nrelated_rule: deploy\n"
        "---\n## Action\n\n沒有跑測試就部署\n\n## Prevention\n\n看 CI\n"
    )
    assert source_of(made) == f"mistakes/2026-01/{ID}-沒有跑測試就部署.md"


@pytest.mark.parametrize("labels", list(zip(*[(v * 3)[:3] for v in TEXTS.values()], strict=True)))
def test_headings_of_three_languages(labels: tuple[str, ...]) -> None:
    body = "\r\n".join(f"## {label}：\r\n\r\ntext {number}" for number, label in enumerate(labels))
    assert list(decode(body).texts.values()) == [f"text {number}" for number in range(5)]


def test_a_note_by_hand() -> None:
    """Without front matter and headings it is what was done; what stands twice is joined."""
    found = decode("推錯分支了\n\n## 預防\n\n先看分支\n\n## Action\n\n又推了一次\n", "2026-01-30 推錯")
    assert (found.id, found.error_type, found.action) == ("2026-01-30 推錯", "other", "推錯分支了\n\n又推了一次")
    assert found.prevention_method == "先看分支" and found.created_at is None and found.problems == ()
    assert decode("x", f"{ID}-some words").id == ID


def test_what_is_not_understood_is_named_and_kept() -> None:
    found = decode("---\ncreated_at: yesterday\nerror_type: [a, b]\nseverity: 3\n---\n")
    assert [line.partition(":")[0] for line in found.problems] == [
        "it does not say what was done",
        "error_type",
        "created_at",
    ]
    assert found.metadata == {"severity": 3} and found.error_type == "other"
    assert decode("---\na: [\n---\nx").problems[0].startswith("front matter (lines 1-3) is not valid YAML")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"action": " \n"}, "action"),
        ({"action": None}, "action"),
        ({"impact": 5}, "impact"),
        ({"error_type": "a\nb"}, "error_type"),
        ({"error_type": "x" * 101}, "error_type"),
        ({"error_type": 7}, "error_type"),
        ({"related_rule": ["x"]}, "related_rule"),
        ({"mistake_id": "../../bob"}, "id"),
        ({"mistake_id": f"{ID}\n"}, "id"),
        ({"mistake_id": None}, "id"),
    ],
)
def test_a_wrong_value_is_named(wrong: dict[str, Any], named: str) -> None:
    values: dict[str, Any] = {"mistake_id": ID, "action": "x", "error_type": "y", "at": AT}
    with pytest.raises(UsageError, match=named):
        new_mistake(**values | wrong)
    with pytest.raises(TooLarge, match=r"20,000 characters together, not 20,003"):
        new_mistake(ID, "x", "y", AT, impact="z" * 20_002)
