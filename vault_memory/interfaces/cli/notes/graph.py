"""`graph add|observe|relate|list|show|search|neighbours|path|export` and `graph --format`: the knowledge graph."""

from __future__ import annotations

import click

from vault_memory.core.graph import RELATION_TYPES, TYPES, Entity, Relation
from vault_memory.core.reading import lines
from vault_memory.interfaces.cli import Context, echo, echo_text, one_line, pass_context, print_json
from vault_memory.services import graph as graphs
from vault_memory.services.graph import Added, FoundEntities
from vault_memory.services.vault import Vault

_user = click.option("--user", "user_id", metavar="ID", required=True, help="Whose graph.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_depth = click.option("--depth", type=int, default=1, show_default=True, help="How many steps away, 1 to 20.")
_TYPE = click.Choice(TYPES)


class _ExportByDefault(click.Group):
    """`graph --user alice --format dot` is `graph export --user alice --format dot`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_option = bool(args) and args[0].startswith("-") and args[0] not in self.get_help_option_names(ctx)
        return super().parse_args(ctx, ["export", *args] if is_option else args)


@click.group(cls=_ExportByDefault)
def graph() -> None:
    """Add to, search and draw the knowledge graph: entities, and the relations between them.

    Options without a command are those of export: graph --user ID --format dot.
    """


@graph.command()
@_user
@click.option("--type", "entity_type", type=_TYPE, help="What kind of thing it is; needed for a new one.")
@click.option("--observation", "observations", multiple=True, help="What is known of it; may repeat.")
@click.option("--tag", "tags", multiple=True, help="A tag; may repeat.")
@click.option("--alias", "aliases", multiple=True, help="Another name; may repeat.")
@_json
@click.argument("name")
@pass_context
def add(
    context: Context,
    user_id: str,
    entity_type: str | None,
    observations: tuple[str, ...],
    tags: tuple[str, ...],
    aliases: tuple[str, ...],
    as_json: bool,
    name: str,
) -> None:
    """Add the entity NAME, committed under your name. One that is there gets what is new."""
    vault, user_id = context.open_to_write(user_id)
    author = vault.history.person()
    if entity_type is None:
        known = graphs.graph_of(vault, user_id).find(name) if vault.is_user(user_id) else None
        entity_type = known.type if known else None
    if entity_type is None:
        raise click.UsageError(f"nobody has said yet what {one_line(name)!r} is: say it by --type")
    made = graphs.create_entity(vault, user_id, name, entity_type, observations, tags, aliases=aliases, author=author)
    _show_added(user_id, made, as_json=as_json)


@graph.command()
@_user
@_json
@click.argument("name")
@click.argument("observation")
@pass_context
def observe(context: Context, user_id: str, as_json: bool, name: str, observation: str) -> None:
    """Add OBSERVATION to the entity NAME."""
    vault, user_id = context.open_for(user_id)
    made = graphs.add_observation(vault, user_id, name, observation, author=vault.history.person())
    _show_added(user_id, made, as_json=as_json)


@graph.command()
@_user
@click.option("--description", default="", help="Why, or how.")
@_json
@click.argument("from_name", metavar="FROM")
@click.argument("relation_type", metavar="TYPE", type=click.Choice(RELATION_TYPES))
@click.argument("to_name", metavar="TO")
@pass_context
def relate(
    context: Context, user_id: str, description: str, as_json: bool, from_name: str, relation_type: str, to_name: str
) -> None:
    """Add a relation: FROM depends_on TO.

    TYPE is depends_on, implements, related_to, caused_by, fixed_by, uses or extends. An entity that is not there yet is
    made, without a type.
    """
    vault, user_id = context.open_for(user_id)
    author = vault.history.person()
    made = graphs.create_relation(vault, user_id, from_name, to_name, relation_type, description, author=author)
    _show_added(user_id, made, as_json=as_json)


@graph.command("list")
@_user
@click.option("--type", "entity_type", type=_TYPE, help="Only entities of this type.")
@_json
@pass_context
def list_(context: Context, user_id: str, entity_type: str | None, as_json: bool) -> None:
    """List the entities by name."""
    vault, user_id = context.open_for(user_id)
    _show_entities(graphs.list_entities(vault, user_id, entity_type), as_json=as_json)


@graph.command()
@_user
@click.option("-n", "--limit", type=click.IntRange(1), help="Show at most so many.")
@_json
@click.argument("query")
@pass_context
def search(context: Context, user_id: str, limit: int | None, as_json: bool, query: str) -> None:
    """Find the entities with QUERY in a name, an observation or a tag."""
    vault, user_id = context.open_for(user_id)
    _show_entities(graphs.search_entities(vault, user_id, query, limit), as_json=as_json)


@graph.command()
@_user
@_json
@click.argument("name")
@pass_context
def show(context: Context, user_id: str, as_json: bool, name: str) -> None:
    """Show the entity NAME and its relations."""
    vault, user_id = context.open_for(user_id)
    view = graphs.get_entity(vault, user_id, name)
    entity = view.entity
    if as_json:
        print_json(view.as_dict() | {"path": f"memory/{user_id}/{entity.source}"})
        return
    echo(_line(entity), bold=True)
    for key, values in (("tags", entity.tags), ("also called", entity.other_names)):
        if values:
            echo(f"  {key}: {one_line(', '.join(values))}")
    echo(f"  in memory/{user_id}/{entity.source}")
    for observation in entity.observations:
        first, *rest = lines(observation) or [""]
        echo(f"  - {first}")
        for line in rest:
            echo(f"    {line}")
    for relation in view.relations:
        echo(f"  {_relation(relation)}")
    for problem in view.problems:
        echo(f"not understood: {problem}", err=True)


@graph.command()
@_user
@_depth
@_json
@click.argument("name")
@pass_context
def neighbours(context: Context, user_id: str, depth: int, as_json: bool, name: str) -> None:
    """Show what is around the entity NAME.

    Relations are followed along and against their direction.
    """
    vault, user_id = context.open_for(user_id)
    part = graphs.neighbours(vault, user_id, name, depth)
    if as_json:
        print_json(part.as_dict() | {"degraded": graphs.left_out(vault, user_id)})
        return
    for entity in part.entities:
        echo(_line(entity))
    for relation in part.relations:
        echo(f"  {_relation(relation)}")
    _show_left_out(vault, user_id)


@graph.command()
@_user
@_json
@click.argument("from_name", metavar="FROM")
@click.argument("to_name", metavar="TO")
@pass_context
def path(context: Context, user_id: str, as_json: bool, from_name: str, to_name: str) -> None:
    """Show a shortest way from FROM to TO.

    Relations are followed along and against their direction. The exit code is 1 if there is none.
    """
    vault, user_id = context.open_for(user_id)
    found = graphs.find_path(vault, user_id, from_name, to_name)
    if as_json:
        way = None if found is None else [each.as_dict() for each in found]
        print_json({"path": way, "degraded": graphs.left_out(vault, user_id)})
    elif found is None:
        echo("no relations lead from one to the other")
    elif not found:
        echo("both names mean the same entity")
    for relation in found or () if not as_json else ():
        echo(_relation(relation))
    _show_left_out(vault, user_id)
    if found is None:
        raise SystemExit(1)


@graph.command()
@_user
@click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "json"]), default="mermaid", show_default=True, help="How."
)
@click.option("--around", metavar="NAME", help="Only what is around this entity.")
@_depth
@pass_context
def export(context: Context, user_id: str, form: str, around: str | None, depth: int) -> None:
    """Print the graph as text that other programs draw or read."""
    vault, user_id = context.open_for(user_id)
    echo_text(graphs.draw_graph(vault, user_id, form, around, depth), nl=False)
    _show_left_out(vault, user_id)


def _line(entity: Entity) -> str:
    return f"{one_line(entity.name)}  {entity.type or 'stub, nobody has said what it is'}"


def _relation(relation: Relation) -> str:
    kind = "mentions" if relation.is_mention else relation.type
    missing = "  (no such entity)" if relation.is_dangling else ""
    why = f"  — {one_line(relation.description)}" if relation.description else ""
    return f"{one_line(relation.from_name)} {kind} {one_line(relation.to_name)}{missing}{why}"


def _show_left_out(vault: Vault, user_id: str) -> None:
    for reason in graphs.left_out(vault, user_id):
        echo(f"degraded: {reason}", err=True)


def _show_entities(found: FoundEntities, *, as_json: bool) -> None:
    if as_json:
        print_json({"entities": [each.as_dict() for each in found], "degraded": found.degraded})
        return
    for entity in found:
        echo(_line(entity))
    if not found:
        echo("no entities")
    for reason in found.degraded:
        echo(f"degraded: {reason}", err=True)


def _show_added(user_id: str, made: Added, *, as_json: bool) -> None:
    if as_json:
        print_json(made.as_dict())
        return
    if made.entity is None:
        echo(f"nothing is kept: {user_id} is off the record")
        return
    echo(_relation(made.relation) if made.relation else _line(made.entity))
    if not made.is_new:
        echo("all of it was there already", err=True)
    if made.stubs:
        echo(f"made without a type: {', '.join(map(one_line, made.stubs))}", err=True)
    for kind, count in made.redactions.items():
        echo(f"left out: {kind} {count:,}", err=True)
    for reason in (*([f"the commit waits: {made.paused}"] if made.paused else []), *made.degraded):
        echo(reason, err=True)
