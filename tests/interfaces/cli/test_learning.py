"""C1–C5 by the command line: what a learner masters, sessions, and the summary."""

from __future__ import annotations

from tests.conftest import Cli

USER = ("--user", "u123")
QUIZ = (*USER, "--intent", "quiz", "--topic", "微积分-极限", "--artifact", "quiz_set", "--difficulty", "easy")


def test_from_a_quiz_to_the_summary(cli: Cli) -> None:
    """C1, C2, C3, C5: the example of the page."""
    assert cli("learning", "update", *QUIZ, "--correct-rate", "0.4").strip() == "微积分-极限: medium"
    context = cli.json("learning", "session", *USER, "--session", "s456", "--intent", "quiz", "--topic", "微积分-极限")
    assert context["recent_intents"] == ["quiz"] and context["last_user_message"] == ""
    cli("learning", "session", *USER, "--session", "s456", "--artifact", "quiz_set", "--message", "再來一題")
    assert cli.json("learning", "session", *USER, "--session", "s456")["last_user_message"] == "再來一題"
    assert cli.json("learning", "summary", *USER, "--session", "s456") == {
        "topic_hint": "微积分-极限",
        "user_mastery_hint": "medium",
        "recent_behavior": "用户刚做过极限练习题",
    }
    assert "mastery: medium" in cli("learning", "summary", *USER, "--session", "s456")
    assert "last message: 再來一題" in cli("learning", "session", *USER, "--session", "s456")
    profile = cli.json("learning", "update", *QUIZ, "--correct-rate", "1")
    assert profile["history"]["quiz_sessions"] == 2 and profile == cli.json("learning", "show", *USER)
    shown = cli("learning", "show", *USER)
    assert "微积分-极限" in shown and "quiz sessions: 2" in shown
    assert cli.git("status", "--porcelain") == ""


def test_what_is_wrong_is_said(cli: Cli) -> None:
    assert "from 0 to 1" in cli("learning", "update", *QUIZ, "--correct-rate", "40", code=2)
    assert "not in this vault" in cli("learning", "show", *USER, code=1)
    assert "no such session" in cli("learning", "session", *USER, "--session", "x", code=1)
    assert cli.json("learning", "summary", *USER)["topic_hint"] is None
    told = cli.run("learning", "update", *USER, "--intent", "quiz", "--topic", "AKIAIOSFODNN7EXAMPLE")
    assert told.returncode == 0 and "the topic is left out: it is private (api-key)" in told.stderr
    assert "AKIA" not in told.stdout + told.stderr
    assert "no topic has a mastery yet" in cli("learning", "show", *USER)
    path = cli.folder / "memory/u123/LEARNING.md"
    path.write_text(path.read_text().replace("---\n", "---\ndifficulty_preference: brutal\n", 1))
    assert "not understood: difficulty_preference" in cli.run("learning", "show", *USER).stderr
