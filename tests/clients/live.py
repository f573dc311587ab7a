"""Hold the sessions of `record` with real clients through a real `vault-memory serve`, and look at what came of them.

    make clients
    .venv/bin/python -m tests.clients.live [CLIENT ...]

Each session has a vault of its own, and a scripted provider behind the server. What is expected of it stands in
`recorded/CLIENT-VERSION/expected.toml`. Prints a table, and ends with one line of JSON: the turns, and what is wrong:

    words_wrong         recorded words that nobody typed
    false_preferences   values in USER.md that nobody said
    preferences_missing values that were said, and are not there
    memory_missing      turns of which the provider never got the words with a memory
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.install import FOLDER, version
from tests.clients.record import CLIENTS, RECORDED, Machine, Script, Session, drive
from tests.scripted_http import ScriptedServer
from vault_memory.services.admin import create_vault
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.profiles import set_preference
from vault_memory.services.vault import Vault, open_vault

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from clients import BEFORE, BLOCK, profile, recorded_words
from proxy import Running

USER = "alice"
KEYS = ("turns_expected", "turns", "words_wrong", "false_preferences", "preferences_missing", "memory_missing")
Figures = Counter[str]


@dataclass
class LiveMachine(Machine):
    """A machine whose clients talk to `vault-memory serve`. `vault` is copied for each session, with its token."""

    vault: Path = Path()
    before: set[tuple[str, str]] = field(default_factory=set)
    figures: dict[str, Figures] = field(default_factory=dict)

    @contextmanager
    def session(self, name: str, script: Script) -> Iterator[Session]:
        """Have the server run until the end of the block, and judge what came of it."""
        root = self.folder.with_name(f"{self.folder.name}-{name}")
        shutil.copytree(self.vault, root)
        settings = {"UPSTREAM_BASE_URL": self.server.url, "UPSTREAM_ANTHROPIC_URL": self.server.url}
        settings |= {"SERVE_PORT": self.root.rpartition(":")[2], "PROXY_MEMORY_TIMEOUT_MS": "20000"}
        serve = [sys.executable, "-m", "vault_memory", "--vault", str(root), "serve"]
        server = Running(*serve, **{f"VAULT_MEMORY_{key}": value for key, value in settings.items()})
        session = Session(self.server, script)
        try:
            yield session
            session.wait_until_quiet()
        finally:
            server.end()
            self.figures[name] = self._judge(name, session, open_vault(root))
            shutil.rmtree(root)

    def _judge(self, name: str, session: Session, vault: Vault) -> Figures:
        place = RECORDED / f"{self.client}-{version(self.client)}" / "expected.toml"
        expected = tomllib.loads(place.read_text(encoding="utf-8"))[name]
        left = Counter(expected["turns"])
        words, wrong = recorded_words(vault, USER), list[str]()
        for said in words:
            if left[said] > 0:
                left[said] -= 1
            else:
                wrong.append(said)
        unknowable = min(len(wrong), len(expected.get("unknowable", ())))
        wanted, tolerated = (set(expected.get(key, {}).items()) for key in ("preferences", "false_preferences"))
        known = profile(vault, USER)
        learned, lacking = known - self.before, wanted - known
        bodies = [received.body.decode("utf-8", "replace") for received, answer in session.kept if answer]
        given = [body for body in bodies if BLOCK.search(body)]
        shown = [json.dumps(said, ensure_ascii=False)[1:-1] for said in expected["turns"]]
        is_known = [said not in expected.get("unknowable", ()) for said in expected["turns"]]
        for said in wrong[unknowable:]:
            print(f"  {self.client} {name}: nobody typed {said[:150]!r}", file=sys.stderr)
        for key, value in sorted(learned - wanted - tolerated) + sorted(lacking):
            print(f"  {self.client} {name}: {key} = {value}", file=sys.stderr)
        return Counter(
            turns_expected=len(expected["turns"]),
            turns=len(words),
            words_wrong=len(wrong) - unknowable,
            false_preferences=len(learned - wanted - tolerated),
            preferences_missing=len(lacking),
            memory_missing=sum(
                known and not any(said in body or ascii(said)[1:-1] in body for body in given)
                for said, known in zip(shown, is_known, strict=True)
            ),
        )


def main(names: list[str]) -> int:
    """Hold the sessions of the named clients, or of all that are installed; 1 if anything is wrong."""
    total: Figures = Counter()
    print(f"{'session':<36}" + "".join(f"{key.replace('_', ' '):>21}" for key in KEYS))
    for name in names or [each for each in CLIENTS if (FOLDER / f"{each}.json").exists()]:
        with tempfile.TemporaryDirectory(prefix="clients-") as folder, ScriptedServer() as provider:
            root = create_vault(Path(folder) / "vault").root
            vault = open_vault(root)
            for key, value in BEFORE.items():
                set_preference(vault, USER, key, value)
            with socket.create_server(("127.0.0.1", 0)) as free:
                url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
            machine = LiveMachine(
                name,
                Path(folder) / "home",
                provider,
                url,
                new_user_token(vault, USER),
                vault=root,
                before=profile(vault, USER),
            )
            drive(machine)
        for session, figures in machine.figures.items():
            print(f"{name + ' ' + session:<36}" + "".join(f"{figures[key]:>21}" for key in KEYS))
            total.update(figures)
    print(json.dumps({key: total[key] for key in KEYS}))
    return int(total["turns"] != total["turns_expected"] or any(total[key] for key in KEYS[2:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
