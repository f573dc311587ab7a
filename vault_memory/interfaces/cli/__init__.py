"""The command line: one door. Each command reads its words, calls one service, and renders what comes back.

The commands live in modules by subject and are imported when they are called, so that `search` never pays for `watch`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from vault_memory import __version__
from vault_memory.errors import VaultMemoryError
from vault_memory.services.vault import Vault, open_vault

_COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setup", "Make a folder a vault, or complete one that is there."),
    "turn": ("turn", "Record a turn of conversation and learn from it."),
    "search": ("find", "Search a user's memory."),
    "prompt": ("prompt", "Build the prompt that a request gets."),
    "bench": ("measure", "Measure search on questions with known answers."),
    "reindex": ("find", "Rebuild the search index from the files."),
    "pref": ("pref", "See, set and restore preferences."),
    "undo": ("pref", "Take back the last preference learned."),
    "history": ("history", "Show who changed which preference, when and why."),
    "log": ("history", "Show the commits on any file, or on the whole vault."),
    "blame": ("history", "Show who wrote each line of a file, when and why."),
    "diff": ("history", "Show what changed in a file."),
    "status": ("health", "Show what is indexed, pending and failed."),
    "doctor": ("health", "Check the vault, and mend what is safe to mend."),
    "heartbeat": ("health", "Run the scheduled jobs that are due."),
    "resume": ("health", "Confirm that many files were deleted on purpose."),
    "watch": ("daemon", "Follow every edit: index it, commit it."),
    "serve": ("serve", "Serve the vault over HTTP."),
    "token": ("serve", "Show or make what callers must show."),
    "service": ("daemon", "Have the system run the daemon from log-in on."),
    "user": ("users", "List users, give one another id."),
    "export": ("users", "Copy one user's files into a plain folder."),
    "backup": ("copies", "Write the whole vault into one file."),
    "restore": ("copies", "Bring back a file as it was, or a whole vault from a backup."),
    "sync": ("copies", "Bring this vault and its remote to the same state."),
}
"""Command → (module of this package, one line of help)."""

_FOR_GIT = {"hook": "for_git", "merge-driver": "for_git"}
"""Commands that git calls, not a person: they are not listed."""


@dataclass
class Context:
    """What every command needs: how to find the vault. `serve` opens the HTTP door, which this one does not know."""

    vault_path: str | None = None
    serve: Callable[..., None] | None = None
    flags: dict[str, Any] = field(default_factory=dict)

    def open(self) -> Vault:
        """The vault that the person means; settings given as flags win."""
        return open_vault(self.vault_path, **self.flags)


pass_context = click.make_pass_decorator(Context, ensure=True)


class _Commands(click.Group):
    """A group whose commands are imported on their first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        room = _FOR_GIT.get(cmd_name) or (_COMMANDS[cmd_name][0] if cmd_name in _COMMANDS else None)
        if room is None:
            return None
        module = importlib.import_module(f"{__name__}.{room}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in _COMMANDS and name not in _FOR_GIT:
            import difflib

            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--vault", "vault_path", metavar="DIR", help="The vault; else the folder you stand in, upwards.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(__version__, prog_name="vault-memory")
@click.pass_context
def cli(ctx: click.Context, vault_path: str | None, debug: bool) -> None:
    """Memory for AI assistants, in a folder of Markdown that you own.

    The vault is the one that --vault names; else the one you stand in (like git, upwards from the current folder); else
    the one that VAULT_MEMORY_VAULT names.
    """
    ctx.obj = Context(vault_path, ctx.obj)


def main(serve: Callable[..., None] | None = None) -> None:
    """Run the command line and end the process: 0 fine, 1 a run-time error, 2 a wrong call, 130 interrupted.

    `serve` is what the command of that name calls.
    """
    debug = "--debug" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not make a command fail.
        getattr(stream, "reconfigure", lambda **_: None)(encoding="utf-8", errors="replace")
    try:
        sys.exit(cli.main(standalone_mode=False, obj=serve) or 0)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except VaultMemoryError as error:
        if debug:
            raise
        click.echo(f"vault-memory: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader, `head` say, has seen enough
        sys.exit(0)
    except OSError as error:
        if debug:
            raise
        name = f"{error.filename}: " if error.filename else ""
        click.echo(f"vault-memory: {name}{error.strerror or error}; --debug shows where", err=True)
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        click.echo(
            f"vault-memory: a fault of the program itself ({type(error).__name__}: {error}); --debug shows where",
            err=True,
        )
        sys.exit(1)
