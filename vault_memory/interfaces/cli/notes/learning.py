"""`learning show|update|session|summary`: what a learner masters, and what they are at."""

from __future__ import annotations

import click

from vault_memory.core.learning import DIFFICULTIES
from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, print_json, print_table
from vault_memory.services import learning as services

_user = click.option("--user", "user_id", metavar="ID", required=True, help="Which learner.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_topic = click.option("--topic", metavar="TEXT", help="The topic, such as 微积分-极限.")
_artifact = click.option("--artifact", metavar="NAME", help="What was made, such as quiz_set.")


@click.group()
def learning() -> None:
    """Show and update what a learner masters, and the context of a session."""


@learning.command()
@_user
@_json
@pass_context
def show(context: Context, user_id: str, as_json: bool) -> None:
    """Show what a learner masters.

    As LEARNING.md says, with what was done.
    """
    vault, user_id = context.open_for(user_id)
    profile = services.learning_profile(vault, user_id)
    if as_json:
        print_json(profile.as_dict(user_id))
        return
    rows = [
        (one_line(name), topic.mastery or "", "" if topic.score is None else f"{topic.score:.2f}", topic.last_seen)
        for name, topic in profile.topics.items()
    ]
    if rows:
        print_table(("topic", "mastery", "score", "last seen"), rows)
    else:
        echo("no topic has a mastery yet")
    echo(f"quiz sessions: {profile.quiz_sessions:,}; homework help: {profile.homework_help_count:,}")
    for problem in profile.problems:
        echo(f"not understood: {problem}", err=True)


@learning.command()
@_user
@click.option("--intent", metavar="NAME", required=True, help="What was asked for: quiz, homework_help, …")
@_topic
@_artifact
@click.option("--difficulty", type=click.Choice(DIFFICULTIES), help="How hard the quiz was.")
@click.option("--correct-rate", type=float, metavar="0-1", help="How much of it was right.")
@_json
@pass_context
def update(
    context: Context,
    user_id: str,
    intent: str,
    topic: str | None,
    artifact: str | None,
    difficulty: str | None,
    correct_rate: float | None,
    as_json: bool,
) -> None:
    """Let a step of a learner change LEARNING.md."""
    vault, user_id = context.open_to_write(user_id)
    metadata = {"difficulty": difficulty, "correct_rate": correct_rate}
    event = {"intent": intent, "topic": topic, "artifact": artifact, "metadata": metadata}
    done = services.update_user(vault, user_id, event)
    if as_json:
        print_json(done.as_dict())
    elif not done.is_kept:
        echo(f"nothing is kept: {user_id} is off the record")
    else:
        echo("; ".join(f"{one_line(name)}: {level}" for name, level in done.profile.mastery.items() if name == topic))
    for kind, count in done.redactions.items():
        echo(f"left out: {kind} {count:,}", err=True)
    for reason in (*([f"the commit waits: {done.paused}"] if done.paused else []), *done.degraded):
        echo(reason, err=True)


@learning.command()
@_user
@click.option("--session", "session_id", metavar="ID", required=True, help="Which session.")
@click.option("--intent", metavar="NAME", help="What was asked for.")
@_topic
@_artifact
@click.option("--message", metavar="TEXT", help="What the person said.")
@_json
@pass_context
def session(
    context: Context,
    user_id: str,
    session_id: str,
    intent: str | None,
    topic: str | None,
    artifact: str | None,
    message: str | None,
    as_json: bool,
) -> None:
    """Show or update a session.

    With an option that names a step it is updated first.
    """
    vault, user_id = context.open_for(user_id)
    step = (intent, topic, artifact, message)
    if any(each is not None for each in step):
        found = services.update_session(vault, user_id, session_id, *step)
    else:
        found = services.session_context(vault, user_id, session_id)
    if as_json:
        print_json(found.as_dict())
        return
    echo(f"topic: {one_line(found.current_topic or '')}")
    echo(f"recent intents: {', '.join(map(one_line, found.recent_intents))}")
    echo(f"last artifact: {one_line(found.last_artifact or '')}")
    echo(f"last message: {one_line(found.last_user_message)}")


@learning.command()
@_user
@click.option("--session", "session_id", metavar="ID", help="Which session.")
@_json
@pass_context
def summary(context: Context, user_id: str, session_id: str | None, as_json: bool) -> None:
    """Print the summary for an intent router.

    The topic of the session and its mastery, and what was just done.
    """
    vault, user_id = context.open_for(user_id)
    found = services.memory_summary(vault, user_id, session_id)
    if as_json:
        print_json(found.as_dict())
        return
    echo(f"topic: {one_line(found.topic_hint or '')}")
    echo(f"mastery: {found.user_mastery_hint or 'unknown'}")
    echo(one_line(found.recent_behavior))
