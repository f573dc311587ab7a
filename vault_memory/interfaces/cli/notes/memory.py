"""`memory add|list|show|edit|delete|stats|tables`, `remember` and `recall`: typed memories."""

from __future__ import annotations

from datetime import datetime

import click

from vault_memory.core.memories import TYPES, Memory
from vault_memory.core.reading import lines
from vault_memory.errors import UsageError
from vault_memory.interfaces.cli import Context, echo, one_line, pass_context, plural, print_json
from vault_memory.services import memories
from vault_memory.services.memories import MemoryFile, Receipt, Stored
from vault_memory.services.vault import Vault

_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose memories.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_history = click.option("--history", is_flag=True, help="Past ones too: expired, replaced and archived ones.")
_TYPE = click.Choice(TYPES)


@click.group()
def memory() -> None:
    """Add, show, change and delete typed memories."""


@memory.command()
@_user
@click.option("--type", "memory_type", type=_TYPE, default="note", show_default=True, help="What kind of memory it is.")
@click.option("--title", default="", help="Its title; else the beginning of CONTENT.")
@click.option("--tag", "tags", multiple=True, help="A tag; may repeat.")
@click.option("--importance", type=float, default=0.5, show_default=True, help="0 to 1.")
@click.option("--skill", "skill_id", metavar="NAME", help="The skill that it belongs to.")
@click.option("--ttl-days", type=float, metavar="DAYS", help="It expires after so many days, 1 or more; else never.")
@click.option("--force", is_flag=True, help="Store it whatever memories are similar.")
@_json
@click.argument("content")
@pass_context
def add(
    context: Context,
    user_id: str,
    memory_type: str,
    title: str,
    tags: tuple[str, ...],
    importance: float,
    skill_id: str | None,
    ttl_days: float | None,
    force: bool,
    as_json: bool,
    content: str,
) -> None:
    """Store CONTENT as a memory, committed under your name.

    If the same memory is there, that one lives on. If similar ones are there, they are shown, nothing is stored and the
    exit code is 1: --force stores it all the same.
    """
    vault, user_id = context.open_to_write(user_id)
    made = memories.draft(
        vault,
        content,
        memory_type,
        skill_id,
        importance,
        ttl_days,
        title=title,
        tags=tags,
    )
    _store(vault, user_id, made, force=force, as_json=as_json)


@memory.command("list")
@_user
@click.option("--type", "memory_type", type=_TYPE, help="Only memories of this type.")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="Show at most so many.")
@_history
@_json
@pass_context
def list_(context: Context, user_id: str, memory_type: str | None, limit: int, history: bool, as_json: bool) -> None:
    """List memories, the newest first."""
    vault, user_id = context.open_for(user_id)
    found = memories.list_memories(vault, user_id, memory_type=memory_type, history=history, limit=limit)
    if as_json:
        print_json([_as_dict(user_id, file) for file in found])
        return
    for file in found:
        _print_line(file.memory)
    if not found:
        echo("no memories")


@memory.command()
@_user
@_json
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@pass_context
def show(context: Context, user_id: str, as_json: bool, names: tuple[str, ...]) -> None:
    """Show memories, past ones too."""
    vault, user_id = context.open_for(user_id)
    found = memories.memory_files(vault, user_id, names)
    if as_json:
        print_json([_as_dict(user_id, file) for file in found])
        return
    for file in found:
        echo(f"{file.memory.id}  {file.memory.type}", bold=True)
        for key, value in file.memory.as_dict().items():
            if key not in ("id", "type", "content", "metadata") and value not in (None, "", []):
                echo(f"  {key}: {one_line(str(value))}")
        for key, value in file.memory.metadata.items():
            echo(f"  {one_line(key)}: {one_line(str(value))}")
        echo(f"  in memory/{user_id}/{file.source}")
        for line in lines(file.memory.content):
            echo(f"  {line}")
        for problem in file.memory.problems:
            echo(f"  not understood: {problem}", err=True)


@memory.command()
@_user
@click.option("--content", help="A new memory with this content takes its place.")
@click.option("--type", "memory_type", type=_TYPE, help="Its type.")
@click.option("--title", help="Its title.")
@click.option("--tag", "tags", multiple=True, help="Its tags, in place of those that it has; may repeat.")
@click.option("--importance", type=float, help="0 to 1.")
@click.option("--ttl-days", type=float, metavar="DAYS", help="It expires so many days from now, 1 or more.")
@click.option("--permanent", is_flag=True, help="It does not expire.")
@_json
@click.argument("name", metavar="ID")
@pass_context
def edit(
    context: Context,
    user_id: str,
    content: str | None,
    memory_type: str | None,
    title: str | None,
    tags: tuple[str, ...],
    importance: float | None,
    ttl_days: float | None,
    permanent: bool,
    as_json: bool,
    name: str,
) -> None:
    """Change a memory. With --content the old one stays, linked, and is found with --history only."""
    vault, user_id = context.open_for(user_id)
    if permanent and ttl_days is not None:
        raise UsageError("give either --ttl-days DAYS or --permanent")
    author = vault.history.person()
    if (
        any(value is not None for value in (memory_type, importance, ttl_days))
        or tags
        or permanent
        or (title is not None and content is None)
    ):
        changed = memories.edit_memory(
            vault,
            user_id,
            name,
            memory_type=memory_type,
            title=title,
            tags=tags or None,
            importance=importance,
            ttl_days=ttl_days,
            is_permanent=permanent,
            author=author,
        )
    elif content is None:
        raise UsageError("name what to change, such as --importance 0.9 or --content TEXT")
    if content is not None:
        stored = memories.supersede(vault, user_id, name, content, title=title or "", author=author)
        _show_stored(vault, user_id, stored, as_json=as_json)
    elif as_json:
        print_json(changed.as_dict())
    else:
        _print_line(changed)


@memory.command()
@_user
@click.option("--query", metavar="WORDS", help="Delete the memories with all these words in title, content or tags.")
@click.option("--type", "memory_type", type=_TYPE, help="Delete the memories of this type.")
@click.option("--code", help="Delete what was chosen before, by the code that was shown then.")
@_json
@click.argument("names", metavar="[ID]...", nargs=-1)
@pass_context
def delete(
    context: Context,
    user_id: str,
    query: str | None,
    memory_type: str | None,
    code: str | None,
    as_json: bool,
    names: tuple[str, ...],
) -> None:
    """Delete memories, in two steps.

    First choose them, by ID, --query or --type; then confirm with --code. The first step deletes nothing: it shows what
    would go, and a code that counts for five minutes, once.
    """
    vault, user_id = context.open_for(user_id)
    if code is not None:
        if names or query is not None or memory_type is not None:
            raise UsageError("a code stands for what was chosen already: give it alone")
        _show_receipt(memories.delete_memories(vault, user_id, code, author=vault.history.person()), as_json=as_json)
        return
    chosen = memories.prepare_deletion(vault, user_id, ids=names, query=query, memory_type=memory_type)
    until = chosen.expires_at.astimezone(vault.config.zone())
    if as_json:
        preview = [each.as_dict() for each in chosen.previewed]
        print_json(
            {
                "confirmCode": chosen.code,
                "expiresAt": until.isoformat(timespec="seconds"),
                "count": len(chosen.memories),
                "ids": [each.id for each in chosen.memories],
                "preview": preview,
                "values": list(chosen.values),
                "stays": list(chosen.stays),
            }
        )
        return
    echo(f"{len(chosen.memories):,} would be deleted:")
    for found in chosen.previewed:
        begins = found.content.startswith(found.title)
        echo(f"{_line_of(found)}{'' if begins else f'  {found.heading}'}")
        for line in lines(found.content):
            echo(f"    {line}")
    for found in chosen.memories[len(chosen.previewed) :]:
        _print_line(found)
    for value in chosen.values:
        echo(f"with them, from USER.md, which learned it from the same words: {value}")
    for why in chosen.stays:
        echo(why)
    echo(f"to delete them, until {until:%H:%M:%S}: vault-memory memory delete --user {user_id} --code {chosen.code}")


@memory.command()
@_user
@_json
@pass_context
def stats(context: Context, user_id: str, as_json: bool) -> None:
    """Show how many memories, entities and mistakes there are."""
    vault, user_id = context.open_for(user_id)
    found = memories.statistics(vault, user_id)
    if as_json:
        print_json(found.as_dict())
        return
    echo(f"{found.active:,} active of {found.capacity:,}, {found.permanent:,} of them permanent; {found.past:,} past")
    for memory_type, count in found.by_type.items():
        echo(f"  {memory_type} {count:,}")
    echo(f"entities {found.entities:,}, mistakes {found.mistakes:,}")


@memory.command()
@_json
@pass_context
def tables(context: Context, as_json: bool) -> None:
    """Write the tables for Obsidian that this vault lacks.

    One that you have changed stays as it is.
    """
    from vault_memory.services.notes import write_tables

    done = write_tables(context.open())
    if as_json:
        print_json({"written": done.written, "left": done.left, "paused": done.paused})
        return
    for path in done.written:
        echo(f"written {path}")
    for path in done.left:
        echo(f"left as you have it: {path}; delete it or give it another name to get ours")
    if not done.written and not done.left:
        echo("all tables are there")
    if done.paused:
        echo(f"the commit waits: {done.paused}", err=True)


@click.command()
@_user
@click.option("--importance", type=float, default=memories.IMPORTANT, show_default=True, help="0 to 1.")
@click.option("--force", is_flag=True, help="Store it whatever memories are similar.")
@_json
@click.argument("content")
@pass_context
def remember(context: Context, user_id: str, importance: float, force: bool, as_json: bool, content: str) -> None:
    """Remember CONTENT for good, as a fact; committed under your name.

    `memory add` stores memories of other types. Similar ones that are there are shown, as it shows them.
    """
    vault, user_id = context.open_to_write(user_id)
    made = memories.draft(vault, content, "fact", None, importance)
    _store(vault, user_id, made, force=force, as_json=as_json)


@click.command()
@_user
@click.option("--skill", "skill_id", metavar="NAME", help="Only memories of this skill.")
@click.option("--type", "memory_types", type=_TYPE, multiple=True, help="Only memories of this type; may repeat.")
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="Show at most so many.")
@_history
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@_json
@click.argument("query")
@pass_context
def recall(
    context: Context,
    user_id: str,
    skill_id: str | None,
    memory_types: tuple[str, ...],
    top_k: int,
    history: bool,
    explain: bool,
    as_json: bool,
    query: str,
) -> None:
    """Recall the memories that answer QUERY."""
    from vault_memory.services.retrieval import recall as find

    vault, user_id = context.open_for(user_id)
    found = find(vault, vault.known_user(user_id), query, skill_id, top_k, memory_types, history=history)
    if as_json:
        print_json({"memories": [each.as_dict() for each in found], "degraded": found.degraded})
        return
    for each in found:
        past = f"  {said}" if (said := _why_past(each, vault.now())) else ""
        echo(f"{each.id}  {each.type}  {each.score:.3f}{past}", bold=True)
        for line in lines(each.content):
            echo(f"  {line}")
        if explain:
            echo("  " + "  ".join(f"{part}={value}" for part, value in each.explain.items() if part != "search"))
            echo("  " + "  ".join(f"{part}={value}" for part, value in each.explain["search"].items()))
    if not found:
        echo("nothing is remembered of that")
    for reason in found.degraded:
        echo(f"degraded: {reason}", err=True)


def _why_past(memory: Memory, at: datetime) -> str:
    """What has become of a memory that is past; empty for an active one."""
    if memory.superseded_by:
        return f"replaced by {memory.superseded_by}"
    return f"expired {memory.expires_at:%Y-%m-%d}" if memory.expires_at and memory.is_past(at) else ""


def _line_of(memory: Memory) -> str:
    """What a list says of a memory before its heading."""
    ends = f"until {memory.expires_at:%Y-%m-%d}" if memory.expires_at else "permanent"
    past = f", replaced by {memory.superseded_by}" if memory.superseded_by else ""
    return f"{memory.id}  {memory.type}  {memory.importance:g}  {ends}{past}"


def _print_line(memory: Memory) -> None:
    echo(f"{_line_of(memory)}  {memory.heading}")


def _store(vault: Vault, user_id: str, made: Memory, *, force: bool, as_json: bool) -> None:
    """Store a memory for the person at the terminal, and show what became of it; end with 1 where they must decide."""
    stored = memories.store(vault, user_id, made, author=vault.history.person(), force_save=force)
    _show_stored(vault, user_id, stored, as_json=as_json)
    if stored.similar and not stored.id:
        raise SystemExit(1)


def _show_stored(vault: Vault, user_id: str, stored: Stored, *, as_json: bool) -> None:
    if as_json:
        print_json(stored.as_dict())
        return
    if stored.similar and not stored.id:
        echo("nothing is stored, for there is:")
        for each in stored.similar:
            echo(f"  {each.id}  {each.score:.2f}  {each.reason}")
            for line in lines(each.content):
                echo(f"    {line}")
        echo("add it with --force, or give one of these another content: vault-memory memory edit ID --content TEXT")
    else:
        echo(stored.id or f"nothing is kept: {user_id} is off the record")
    if stored.reinforced:
        echo("the same memory is there already, and lives on: --force stores another", err=True)
    if stored.merged:
        echo(f"merged with {', '.join(stored.merged)}", err=True)
    for kind, count in stored.redactions.items():
        echo(f"left out: {kind} {count:,}", err=True)
    if stored.redactions:
        echo(
            "what is private or secret is never written down: keep it in a note of your own (docs/memories.md)",
            err=True,
        )
    if stored.expired:
        most = f"{vault.config.memories_capacity:,} are kept"
        others = [each for each in stored.expired if each != stored.id]
        if others:
            echo(f"{plural(len(others), 'older one')} expired, as {most}: {', '.join(others)}", err=True)
        else:
            echo(
                f"it expired at once, as {most}, and each of them matters more: give it a greater --importance, or "
                "delete others; its note lies in archive/memories/",
                err=True,
            )
    for reason in (*([f"the commit waits: {stored.paused}"] if stored.paused else []), *stored.degraded):
        echo(reason, err=True)


def _show_receipt(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print_json(receipt.as_dict())
        return
    for each in receipt.ids:
        echo(f"deleted {each}")
    for value in receipt.values:
        echo(f"deleted from USER.md: {value}")
    if receipt.paused:
        echo(f"the commit waits: {receipt.paused}", err=True)
    for look in receipt.looks:
        echo(f"  {'gone' if look.is_absent else 'NOT verified'}  {look.store}: {one_line(look.says)}")
    for line in receipt.kept:
        echo(f"  kept  {one_line(line)}")
    for line in receipt.restore:
        echo(f"  back  {one_line(line)}")


def _as_dict(user_id: str, file: MemoryFile) -> dict[str, object]:
    shown = file.memory.as_dict() | {"path": f"memory/{user_id}/{file.source}"}
    return shown | ({"problems": list(file.memory.problems)} if file.memory.problems else {})
