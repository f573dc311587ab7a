"""The command line. Each command reads its arguments, calls one service and prints the result.

Each module holds the commands of a subject. A module is imported when one of its commands is called: `search` does not
wait for what `watch` imports. Here is what they share: the group, the vault that they open, and printing. Everything
that a command prints goes through `echo` or `print_json`, which send no control character of a note, a path or a
message to the terminal: they are shown instead, in a pipe and a file too.
"""

from __future__ import annotations

import importlib
import io
import json
import keyword
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from vault_memory import __version__
from vault_memory.core import layout
from vault_memory.core.reading import escape_controls_in_json, show_controls, show_in_line
from vault_memory.errors import Busy, VaultMemoryError

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.services.vault import Vault

_COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setup", "Make a folder a vault, or add what a vault lacks."),
    "trust": ("setup", "Say yes to settings that came from elsewhere."),
    "turn": ("turn", "Record a turn of conversation and learn from it."),
    "end-conversation": ("turn", "Keep what of a conversation is worth a memory."),
    "import": ("imports", "Take in what other programs keep."),
    "search": ("recall", "Search notes and memory."),
    "read": ("recall", "Print a note, or some of its lines."),
    "related": ("recall", "List the notes around a note."),
    "remember": ("notes.memory", "Remember a fact for good."),
    "recall": ("notes.memory", "Recall typed memories."),
    "memory": ("notes.memory", "Add, show, change and delete typed memories."),
    "graph": ("notes.graph", "Add to, search and draw the knowledge graph."),
    "mistake": ("notes.mistake", "Record mistakes, and show what they have in common."),
    "learning": ("notes.learning", "Show and update what a learner masters."),
    "ask": ("recall", "Ask the language model, with what is remembered."),
    "prompt": ("recall", "Build the prompt for a request."),
    "bench": ("recall", "Measure search on questions with known answers."),
    "reindex": ("recall", "Rebuild the search index from the files."),
    "embedding": ("embedding", "Choose the model behind search by meaning."),
    "pref": ("pref", "Show, set and restore preferences."),
    "undo": ("pref", "Undo the last thing that was learned."),
    "forget": ("notes.forgetting", "Forget what you name, wherever it stands."),
    "erase": ("notes.erase", "Erase a user, a text or a note for good, from history too."),
    "history": ("history", "Show who changed which preference, when and why."),
    "log": ("history", "Show the commits on any file, or on the whole vault."),
    "blame": ("history", "Show who wrote each line of a file, when and why."),
    "diff": ("history", "Show what changed in a file."),
    "status": ("health", "Show what is indexed, pending and failed."),
    "doctor": ("health", "Check the vault, and repair what is safe to repair."),
    "heartbeat": ("health", "Run the scheduled jobs that are due."),
    "archive": ("health", "Pack old conversations, and rotate old logs."),
    "resume": ("health", "Confirm that many files were deleted on purpose."),
    "watch": ("daemon", "Run the daemon: index and commit every edit."),
    "serve": ("daemon", "Serve the vault over HTTP."),
    "mcp": ("assistants.mcp", "Give an assistant this memory, by MCP."),
    "install": ("assistants.install", "Connect an assistant on this machine with this vault."),
    "uninstall": ("assistants.install", "Take back what install has written."),
    "proxy": ("health", "Look at what the chat proxy did."),
    "token": ("daemon", "Show the token of the HTTP server, or make one for a user."),
    "service": ("daemon", "Let the system start the daemon at log-in."),
    "user": ("copies", "List users, or change a user's id."),
    "export": ("copies", "Copy one user's files into a plain folder."),
    "backup": ("copies", "Write the whole vault into one file."),
    "restore": ("copies", "Bring back a file from git, or a whole vault from a backup."),
    "longterm": ("longterm", "Send turns to your own PostgreSQL or Supabase."),
    "sync": ("copies", "Bring this vault and its remote to the same state."),
}
"""Command → (its module in this package, its line in the list of commands)."""

NEARLY_THE_SAME = 0.8
"""From this share of common letters on (`difflib`) a new id may be a misspelled one: alcie and alice."""

_FOR_PROGRAMS = {"hook": "assistants.hook", "merge-driver": "setup"}
"""Commands that git and assistants call → their module. They are not listed."""


@dataclass
class Context:
    """What the commands share. `serve` and `mcp` start servers, which the command line itself does not import."""

    vault_path: str | None = None
    serve: Callable[..., None] | None = None
    mcp: Callable[..., None] | None = None
    flags: dict[str, Any] = field(default_factory=dict)

    def open(self, *, logs_wait: bool = False) -> Vault:
        """Open the vault. Settings given as options win over its settings file. Without a daemon logs that wait for
        their commit get it now, unless more turns may follow (`logs_wait`)."""
        from vault_memory.services.vault import open_vault  # `hook event`, which a person waits for, opens none

        vault = open_vault(self.vault_path, **self.flags)
        finish_begun_erasing(vault)
        if not logs_wait and vault.history.has_waiting():
            from vault_memory.services.daemon import commit_left_logs

            commit_left_logs(vault)
        return vault

    def open_for(self, name: str) -> tuple[Vault, str]:
        """Open the vault; also the id of the user whom `--user` names, by that id or by a name from `identities`."""
        vault = self.open()
        return vault, vault.user_of(name)

    def open_to_write(self, name: str, *, logs_wait: bool = False) -> tuple[Vault, str]:
        """`open_for` a command that writes, which makes a user who is new. That is said when it is done; it is asked
        before only at a terminal, and only where an id is nearly that of a user: it may be misspelled."""
        vault = self.open(logs_wait=logs_wait)
        user_id = vault.user_of(name)
        if vault.is_user(user_id):
            return vault, user_id
        import difflib  # few commands need it

        near = difflib.get_close_matches(user_id, vault.user_ids(), n=1, cutoff=NEARLY_THE_SAME)
        if near and sys.stdin.isatty():
            click.confirm(f"There is a user {near[0]}, and none {user_id}. Make {user_id}?", default=False, abort=True)

        def say() -> None:
            if vault.is_user(user_id):
                hint = f" (there is also {near[0]})" if near else ""
                echo(f"{user_id} is a new user of this vault{hint}", err=True)

        click.get_current_context().call_on_close(say)
        return vault, user_id


def finish_begun_erasing(vault: Vault) -> None:
    """Go on with an erasing that was interrupted, and say so, or with what Redis has missed of one. What hinders it
    fails no other command; but while another process is at it, this waits, and raises `Busy`: what it would read may
    be gone in a moment."""
    state = vault.root / layout.STATE_DIR
    if not any(os.path.lexists(state / name) for name in ("erasing", "erasing-unreached")):
        return
    from vault_memory.services.erasing import finish_erasing, reach_again

    try:
        if receipt := finish_erasing(vault):
            left = f"; still there: {', '.join(receipt.left)}" if receipt.left else ""
            echo(f"an erasing that was interrupted is done now{left}", err=True)
    except Busy:
        raise
    except (VaultMemoryError, OSError) as error:
        echo(f"an erasing was interrupted and goes on later: {error}", err=True)
    reach_again(vault)


pass_context = click.make_pass_decorator(Context, ensure=True)


class _Commands(click.Group):
    """A group whose commands are imported when they are first used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            name = _COMMANDS[cmd_name][0]
        elif cmd_name in _FOR_PROGRAMS:
            name = _FOR_PROGRAMS[cmd_name]
        else:
            return None
        module = importlib.import_module(f"{__name__}.{name}")
        attribute = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, attribute + "_" * keyword.iskeyword(attribute))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in _COMMANDS and name not in _FOR_PROGRAMS:
            import difflib

            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--vault", "vault_path", metavar="DIR", help="The folder of the vault.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(__version__, prog_name="vault-memory")
@click.pass_context
def cli(ctx: click.Context, vault_path: str | None, debug: bool) -> None:
    """Memory for AI assistants, in a folder of Markdown that you own.

    The vault is found like a git repository: --vault DIR if given, else the current folder or the nearest folder above
    it that is a vault, else the environment variable VAULT_MEMORY_VAULT.
    """
    ctx.obj = Context(vault_path, *(ctx.obj or ()))
    if os.environ.get("NO_COLOR"):
        ctx.color = False  # of what is printed by any command


def main(serve: Callable[..., None] | None = None, mcp: Callable[..., None] | None = None) -> None:
    """Run the command line and end the process. Exit codes: 0 fine, 1 failed, 2 wrong call, 130 interrupted.

    The commands `serve` and `mcp` call the functions of these names.
    """
    debug = "--debug" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        # A command must not fail because the terminal cannot show a character.
        getattr(stream, "reconfigure", lambda **_: None)(encoding="utf-8", errors="replace")
    try:
        sys.exit(cli.main(standalone_mode=False, obj=(serve, mcp)) or 0)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        print_usage_error(error)
        sys.exit(error.exit_code)
    except VaultMemoryError as error:
        if debug:
            _exit_with_traceback()
        echo(f"vault-memory: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reading program, such as `head`, has closed the pipe
        sys.exit(0)
    except OSError as error:
        if debug:
            _exit_with_traceback()
        name = f"{error.filename}: " if error.filename else ""
        echo(f"vault-memory: {name}{error.strerror or error}; --debug shows the traceback", err=True)
        sys.exit(1)
    except Exception as error:
        if debug:
            _exit_with_traceback()
        message = f"unexpected error ({type(error).__name__}: {error}); --debug shows the traceback"
        echo(f"vault-memory: {message}", err=True)
        sys.exit(1)


def _exit_with_traceback() -> NoReturn:
    """Print the error that is being handled, as Python does, but with its control characters shown."""
    import traceback

    echo_text(traceback.format_exc(), err=True, nl=False)
    sys.exit(1)


# Printing -------------------------------------------------------------------------------------------------------------


def echo(text: object = "", *, err: bool = False, fg: str | None = None, bold: bool | None = None) -> None:
    """Print one line, its control characters and line ends shown, to standard output or standard error."""
    click.secho(show_in_line(str(text)), err=err, fg=fg, bold=bold)


def echo_marked(text: str, marks: Sequence[tuple[int, int]]) -> None:
    """Print one line as `echo` does, on a terminal with these parts (from and to which character) in bold red, as
    `grep` shows what it finds."""
    shown, at = "", 0
    for start, end in marks:
        shown += show_in_line(text[at:start]) + click.style(show_in_line(text[start:end]), fg="red", bold=True)
        at = end
    click.echo(shown + show_in_line(text[at:]))


def echo_over(text: str) -> None:
    """Print one line to standard error, over the line that this printed before; for a terminal."""
    click.secho(f"\r{show_in_line(text)}\x1b[K", err=True, nl=False)


def echo_text(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text of several lines, as `echo` does otherwise."""
    click.secho(show_controls(text), err=err, nl=nl)


def one_line(text: str) -> str:
    """A foreign value on one line, with everything shown that is no visible character: it cannot look like another."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def print_json(value: Any) -> None:
    """Print one JSON value, indented, without escaping its characters."""
    print_json_text(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_json_text(text: str) -> None:
    """Print a text that is JSON already."""
    click.echo(escape_controls_in_json(text))


def print_usage_error(error: click.ClickException) -> None:
    """Print what was wrong with a call, which may repeat what was typed."""
    shown = io.StringIO()
    error.show(shown)
    echo_text(shown.getvalue(), err=True, nl=False)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table for people; the last column takes the remaining width."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(show_in_line(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a pipe has no width, and 80 columns would split what a person searches with grep
    console.print(table)


def print_waits(config: Config) -> None:
    """Say on standard error which settings of the file are not in force, for a command whose result does not."""
    for line in config.waits():
        echo(f"degraded: {line}", err=True)


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def show_foreign(root: Path) -> None:
    """Print what the repository of the vault at `root` names that plain git would run there, and whom it names as the
    person."""
    from vault_memory.services.admin import repository_identity, repository_programs

    if lines := repository_programs(root):
        echo("This repository names programs. vault-memory runs none of them; plain git commands of yours do:")
        for line in lines:
            echo(f"  {one_line(line)[:200]}")
    if lines := repository_identity(root):
        echo("This repository's own config says who you are:")
        for line in lines:
            echo(f"  {one_line(line)[:200]}")
