"""The index follows the files, whatever happens to them and whoever asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.conftest import wait_until
from tests.pace import assert_at_most
from tests.vaults import write
from vault_memory.adapters.index.base import FileState, Index
from vault_memory.core import layout
from vault_memory.core.notes import document
from vault_memory.core.notes.document import MAX_FILE_BYTES, Document
from vault_memory.errors import IndexUnusable
from vault_memory.services.admin.status import status
from vault_memory.services.indexing.rebuild import confirm_deletions
from vault_memory.services.indexing.reconcile import Report, embed, reconcile
from vault_memory.services.vault import Vault, find_vault, open_vault

NOTE = "# 標題\n\n我喜歡暗色主題\n"


def texts(vault: Vault, scope: str = "alice") -> dict[str, str]:
    """What the index holds, straight from its tables: the text of each source."""
    db = apsw.Connection(str(vault.index_path(scope)), flags=apsw.SQLITE_OPEN_READONLY)
    rows = db.execute("SELECT source, text FROM chunks JOIN files USING(file_id) ORDER BY source, position").fetchall()
    held: dict[str, str] = {}
    for source, text in rows:
        held[source] = held[source] + "\n" + text if source in held else text
    return held


def test_new_changed_and_deleted_files(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    write(bare_vault, "alice", "daily/2026-01-30.md", "## 14:05\n早安\n")
    report = reconcile(bare_vault, "alice")
    assert (set(report.indexed), report.removed, report.failed) == ({"a.md", "daily/2026-01-30.md"}, (), {})
    assert "我喜歡暗色主題" in texts(bare_vault)["a.md"]

    again = reconcile(bare_vault, "alice")
    assert (again.indexed, again.removed, again.unchanged) == ((), (), 2)

    write(bare_vault, "alice", "a.md", "另一句\n")
    bare_vault.path("alice", "daily/2026-01-30.md").unlink()
    report = reconcile(bare_vault, "alice")
    assert (report.indexed, report.removed) == (("a.md",), ("daily/2026-01-30.md",))
    assert texts(bare_vault) == {"a.md": "另一句"}


def test_hostile_front_matter_is_reported_and_the_rest_is_indexed(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    write(bare_vault, "alice", "b.md", "---\nx: " + "[" * 60_000 + "\n---\n烏龍茶\n")
    report = reconcile(bare_vault, "alice")
    assert set(report.indexed) == {"a.md", "b.md"} and [*report.failed] == ["b.md"]
    assert "front matter (lines 1-3) is not valid YAML" in report.failed["b.md"]
    assert texts(bare_vault)["b.md"] == "烏龍茶"


def test_only_the_sources_asked_for(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "first.md", NOTE)
    reconcile(bare_vault, "alice")
    for name in ("a.md", "b.md"):
        write(bare_vault, "alice", name, NOTE)
    assert reconcile(bare_vault, "alice", ["b.md", "b.md", "gone.md", "../../x.md"]).indexed == ("b.md",)
    bare_vault.path("alice", "b.md").unlink()
    assert reconcile(bare_vault, "alice", ["b.md"]).removed == ("b.md",)
    assert reconcile(bare_vault, "alice").indexed == ("a.md",)


def test_in_a_new_index_all_files_are_looked_at(bare_vault: Vault) -> None:
    """It may stand in the place of one that somebody has deleted."""
    for name in ("a.md", "b.md"):
        write(bare_vault, "alice", name, NOTE)
    assert bare_vault.index("alice").is_new
    assert {*reconcile(bare_vault, "alice", ["b.md"]).indexed} == {"a.md", "b.md"}
    assert not bare_vault.index("alice").is_new


def test_the_shared_notes_are_apart(bare_vault: Vault) -> None:
    """No user's file is in the shared index, and no shared one in a user's."""
    write(bare_vault, layout.SHARED, "notes/idea.md", "shared idea\n")
    write(bare_vault, "alice", "a.md", NOTE)
    assert "notes/idea.md" in reconcile(bare_vault, layout.SHARED).indexed
    assert reconcile(bare_vault, "alice").indexed == ("a.md",)
    assert not any("暗色" in text for text in texts(bare_vault, layout.SHARED).values())


def pretend_it_was_different(vault: Vault, source: str) -> None:
    """As if the file had changed without any trace in its size, times or inode: the index knows it by another hash."""
    with apsw.Connection(str(vault.index_path("alice"))) as db:
        db.execute("UPDATE files SET content_hash = ? WHERE source = ?", (b"another", source))


def test_a_change_without_a_trace_is_seen_in_a_young_file(bare_vault: Vault) -> None:
    """The racily young: a save of the same size within the same tick of the clock leaves no trace."""
    write(bare_vault, "alice", "a.md", "one\n")
    reconcile(bare_vault, "alice")
    pretend_it_was_different(bare_vault, "a.md")
    assert reconcile(bare_vault, "alice").indexed == ("a.md",)


@pytest.mark.slow
def test_an_old_file_is_trusted_and_full_hash_trusts_nothing(bare_vault: Vault) -> None:
    path = write(bare_vault, "alice", "a.md", "one\n")
    wait_until(lambda: time.time() - path.stat().st_ctime > 2.05, "the file is old enough to be trusted")
    reconcile(bare_vault, "alice")
    pretend_it_was_different(bare_vault, "a.md")
    assert reconcile(bare_vault, "alice").indexed == ()
    assert reconcile(bare_vault, "alice", full_hash=True).indexed == ("a.md",)


def test_the_index_tells_of_some_files_or_of_all_in_short(bare_vault: Vault) -> None:
    """`files(sources)`, `identities` and `problems` say what `files` says, names that no encoding fits included."""
    write(bare_vault, "alice", "a.md", NOTE)
    write(bare_vault, "alice", "主題.md", NOTE)
    write(bare_vault, "alice", "yaml.md", "---\ntitle: [unclosed\n---\ntext\n")
    reconcile(bare_vault, "alice")
    index = bare_vault.index("alice")
    all_files = index.files()
    assert index.files([]) == {}
    assert index.files(["主題.md", "gone.md", "caf\udce9.md", "a\x00b"]) == {"主題.md": all_files["主題.md"]}
    assert index.stamps() == {s: (f.size, f.mtime_ns, f.ctime_ns, f.inode) for s, f in all_files.items()}
    assert index.problems() == {"yaml.md": all_files["yaml.md"].problem}


def log_of(turns: int) -> str:
    """A daily log of so many entries, each in a chunk of its own."""
    return "# 2026-01-30\n" + "".join(f"\n## 14:{n:02}\n- Request: {f'tea{n} ' * 100}\n" for n in range(turns))


class Watched(Vault):
    """A vault that notes what is put into the index of alice: each source, and the number of its first chunk."""

    def index(self, scope: str) -> Index:
        index, put = super().index(scope), self.__dict__.setdefault("put", [])

        class Watching:
            def replace(self, entries: Iterable[tuple[Document, FileState]]) -> None:
                entries = list(entries)
                put.extend((document.source, document.first) for document, _ in entries)
                index.replace(entries)

            def append(self, document: Document, state: FileState, before: FileState) -> bool:
                put.append((document.source, document.first))
                return index.append(document, state, before)

            def __getattr__(self, name: str) -> object:
                return getattr(index, name)

        return Watching()  # type: ignore[return-value]


def test_of_a_log_that_has_grown_the_end_is_indexed(bare_vault: Vault) -> None:
    """A turn costs what it adds, however long its day was, also where it goes on with one of the last entries. With any
    other change the log is read as a whole."""
    source, log = "daily/2026-01-30.md", log_of(20)
    vault = Watched(bare_vault.root, bare_vault.config)
    put: list[tuple[str, int]] = vault.__dict__.setdefault("put", [])

    def index_of(text: str) -> list[tuple[str, int]]:
        put.clear()
        write(vault, "alice", source, text)
        assert reconcile(vault, "alice", [source]).indexed == (source,)
        assert texts(vault) == {source: text.rstrip("\n")}
        return list(put)

    assert index_of(log) == [(source, 0)]
    assert index_of(log_of(21)) == [(source, 15)]
    assert index_of(log_of(22)) == [(source, 16)]
    assert index_of(log_of(22).replace("tea19 ", "tea20 ", 1)) == [(source, 17)], "the last but two has grown"
    assert index_of(log_of(22)) == [(source, 17)]
    assert index_of(log_of(22).replace("tea3 ", "tea4 ", 1) + "more\n") == [(source, 0)], "a person edited it above"
    assert index_of(log_of(20)) == [(source, 0)], "it was cut"


def test_some_files_of_a_user_are_indexed_by_one_thread_at_a_time(bare_vault: Vault) -> None:
    """Turns, the proxy and the daemon index the same log; a look at all files may be long, and nobody waits for it."""
    write(bare_vault, "alice", "a.md", NOTE)
    write(bare_vault, "bob", "a.md", NOTE)
    with bare_vault.indexing("alice"):
        waiting = threading.Thread(target=reconcile, args=(bare_vault, "alice", ["a.md"]))
        waiting.start()
        assert reconcile(bare_vault, "bob", ["a.md"]).indexed == ("a.md",)
        waiting.join(0.1)
        assert waiting.is_alive() and not bare_vault.index("alice").files()
        assert reconcile(bare_vault, "alice").indexed == ("a.md",)
    waiting.join(60)
    assert not waiting.is_alive()


class Meddled(Vault):
    """A vault where somebody saves a file at the very moment when its last text enters the index."""

    def index(self, scope: str) -> Index:
        index, path = super().index(scope), self.path(scope, "a.md")

        class Meddling:
            def replace(self, entries: Iterable[tuple[Document, FileState]]) -> None:
                if path.read_text() == "one\n":
                    path.write_text("another\n")
                index.replace(entries)

            def __getattr__(self, name: str) -> object:
                return getattr(index, name)

        return Meddling()  # type: ignore[return-value]


def test_a_save_while_it_is_indexed_is_not_lost(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", "one\n")
    reconcile(Meddled(bare_vault.root, bare_vault.config), "alice")
    assert texts(bare_vault) == {"a.md": "another"}


def test_a_touched_file_is_not_indexed_again(bare_vault: Vault) -> None:
    path = write(bare_vault, "alice", "a.md", NOTE)
    reconcile(bare_vault, "alice")
    embed(bare_vault, "alice")
    os.utime(path, (1, 1))
    report = reconcile(bare_vault, "alice")
    assert (report.indexed, report.unchanged) == ((), 1)
    assert embed(bare_vault, "alice") == 0


def test_a_moved_folder_is_no_deletion(bare_vault: Vault) -> None:
    """Sixty files under a new name are neither lost nor held back."""
    for n in range(60):
        write(bare_vault, "alice", f"notes/{n}.md", f"note {n}\n")
    reconcile(bare_vault, "alice")
    folder = bare_vault.path("alice", "notes")
    folder.rename(folder.with_name("ideas"))
    report = reconcile(bare_vault, "alice")
    assert (len(report.indexed), len(report.removed), report.held) == (60, 60, ())
    assert set(texts(bare_vault)) == {f"ideas/{n}.md" for n in range(60)}


def test_a_mass_deletion_waits_for_the_person(bare_vault: Vault) -> None:
    for n in range(20):
        write(bare_vault, "alice", f"{n}.md", f"note {n}\n")
    reconcile(bare_vault, "alice")
    for n in range(6):
        bare_vault.path("alice", f"{n}.md").unlink()
    report = reconcile(bare_vault, "alice")
    assert (report.removed, set(report.held)) == ((), {f"{n}.md" for n in range(6)})
    assert len(texts(bare_vault)) == 20
    write(bare_vault, "alice", "0.md", "note 0\n")  # put back: five of twenty-one are left
    report = reconcile(bare_vault, "alice", confirm_deletions=True)
    assert (len(report.removed), report.held) == (5, ())
    assert len(texts(bare_vault)) == 15


def test_what_git_took_away_is_no_mass_deletion(vault: Vault) -> None:
    """A plain switch to a branch with fewer notes was held, and search showed text that only the other branch has."""

    def git(*words: str) -> None:
        identity = ("-c", "user.name=A", "-c", "user.email=a@x")
        subprocess.run(["git", "-C", str(vault.root), *identity, *words], check=True, capture_output=True)

    def add(*numbers: int) -> None:
        for n in numbers:
            write(vault, "alice", f"notes/{n}.md", f"note {n}\n")
        git("add", "-A")
        git("commit", "-qnm", "notes")

    add(0)
    git("switch", "-qc", "more")
    add(*range(1, 21))
    for n in range(6):
        write(vault, "alice", f"loose/{n}.md", f"never in git {n}\n")
    reconcile(vault, "alice")
    before = set(texts(vault))
    git("switch", "-q", "-")
    gone = {f"notes/{n}.md" for n in range(1, 21)}
    assert status(vault).scopes[1].held == ()
    report = reconcile(vault, "alice")
    assert (set(report.removed), report.held) == (gone, ())
    git("switch", "-q", "-")
    reconcile(vault, "alice")
    assert set(texts(vault)) == before
    shutil.rmtree(vault.path("alice", "loose"))  # git never had them
    assert len(reconcile(vault, "alice").held) == 6
    shutil.rmtree(vault.path("alice", "notes"))  # HEAD has them
    assert len(reconcile(vault, "alice").held) == len(status(vault).scopes[1].held) == 27
    git("commit", "-qnam", "the person's own deletion")
    report = reconcile(vault, "alice")
    assert (set(report.removed), len(report.held)) == ({*gone, "notes/0.md"}, 6)


def test_confirmed_deletions_leave_every_index(bare_vault: Vault) -> None:
    for scope in ("alice", "bob", layout.SHARED):
        for n in range(20):
            write(bare_vault, scope, f"{n}.md", f"note {n}\n")
        reconcile(bare_vault, scope)
    for scope in ("alice", layout.SHARED):
        for n in range(10):
            bare_vault.path(scope, f"{n}.md").unlink()
        assert len(reconcile(bare_vault, scope).held) == 10
    removed = confirm_deletions(bare_vault)
    assert {scope: len(sources) for scope, sources in removed.items()} == {layout.SHARED: 10, "alice": 10}
    assert confirm_deletions(bare_vault) == {}


def test_a_user_who_is_gone_is_not_made_anew(bare_vault: Vault) -> None:
    assert reconcile(bare_vault, "nobody").indexed == ()
    assert not (bare_vault.root / "memory" / "nobody").exists()


def test_bad_files_are_told_and_hold_nobody_up(bare_vault: Vault) -> None:
    """Each with its reason, the rest indexed, none of them touched."""
    good = write(bare_vault, "alice", "good.md", NOTE)
    bad_utf8 = good.with_name("bad.md")
    bad_utf8.write_bytes(b"caf\xe9 latte\n")
    write(bare_vault, "alice", "yaml.md", "---\ntitle: [unclosed\n---\nstill found\n")
    good.with_name("link.md").symlink_to("/etc/passwd")
    os.mkfifo(good.with_name("pipe.md"))
    report = reconcile(bare_vault, "alice")
    assert set(report.indexed) == {"good.md", "bad.md", "yaml.md"}
    assert set(report.failed) == {"bad.md", "yaml.md", "link.md", "pipe.md"}
    assert "UTF-8" in report.failed["bad.md"]
    assert "link" in report.failed["link.md"]
    assert bad_utf8.read_bytes() == b"caf\xe9 latte\n"
    assert "still found" in texts(bare_vault)["yaml.md"]
    assert "latte" in texts(bare_vault)["bad.md"]
    again = reconcile(bare_vault, "alice")
    assert (again.indexed, again.failed) == ((), report.failed)


def test_a_note_that_became_a_link_is_forgotten(bare_vault: Vault) -> None:
    path = write(bare_vault, "alice", "a.md", NOTE)
    reconcile(bare_vault, "alice")
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert "link" in reconcile(bare_vault, "alice").failed["a.md"]
    assert texts(bare_vault) == {}
    path.unlink()
    path.write_text("back\n")
    report = reconcile(bare_vault, "alice")
    assert (report.indexed, report.failed) == (("a.md",), {})


@pytest.mark.slow
def test_a_note_of_200_mb_is_indexed_in_part_and_told(bare_vault: Vault) -> None:
    path = write(bare_vault, "alice", "big.md", "the first line\n")
    with path.open("ab") as file:
        for _ in range(200):
            file.write(b"0123456789abcde\n" * 65536)
    told = list[Report]()
    assert_at_most(1_000, lambda: told.append(reconcile(bare_vault, "alice")))
    assert f"{MAX_FILE_BYTES:,}" in told[0].failed["big.md"]
    assert texts(bare_vault)["big.md"].startswith("the first line")
    assert path.stat().st_size > 200_000_000


def test_a_stopped_run_keeps_what_it_has_and_goes_on_later(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    stop = threading.Event()
    stop.set()
    assert reconcile(bare_vault, "alice", stop=stop).indexed == ()
    assert reconcile(bare_vault, "alice").indexed == ("a.md",)


def test_a_deleted_index_is_filled_again(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    reconcile(bare_vault, "alice")
    for path in bare_vault.index_path("alice").parent.glob("index.db*"):
        path.unlink()
    assert reconcile(bare_vault, "alice").indexed == ("a.md",)
    assert "暗色" in texts(bare_vault)["a.md"]


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM chunks",
        "UPDATE chunks SET text = 'something else'",
        "UPDATE chunks SET line_start = 7",
        "DELETE FROM files",
        "UPDATE files SET content_hash = x'00'",
        "DROP TABLE chunks",
        "ALTER TABLE files RENAME COLUMN inode TO knot",
        "DROP TABLE meta",
    ],
)
def test_an_index_edited_by_hand_is_told_or_mended_by_the_nightly_look(bare_vault: Vault, edit: str) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    reconcile(bare_vault, "alice")
    before = texts(bare_vault)
    db = apsw.Connection(str(bare_vault.index_path("alice")))
    db.execute(edit)
    db.close()
    for _ in range(2):
        try:
            reconcile(bare_vault, "alice", full_hash=True)
        except IndexUnusable as error:
            assert "index.db" in str(error)
    assert texts(bare_vault) == before
    assert reconcile(bare_vault, "alice", full_hash=True).indexed == ()


def test_a_name_too_long_for_any_disk_holds_nobody_up(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "a.md", NOTE)
    assert reconcile(bare_vault, "alice", ["a.md", "x" * 300 + ".md", "n/" * 3000 + "x.md"]).indexed == ("a.md",)


def test_a_changed_mode_is_no_edit(bare_vault: Vault) -> None:
    path = write(bare_vault, "alice", "a.md", NOTE)
    reconcile(bare_vault, "alice")
    path.chmod(0o600)
    report = reconcile(bare_vault, "alice")
    assert (report.indexed, report.failed, report.unchanged) == ((), {}, 1)


def test_a_vault_in_a_vault_is_indexed_by_itself_alone(bare_vault: Vault) -> None:
    """Neither takes the other's notes, and a command finds the inner one from inside it."""
    inner = bare_vault.root / "projects" / "inner"
    (inner / "memory" / "alice").mkdir(parents=True)
    (inner / layout.SETTINGS_FILE).write_text("format = 1\n")
    (inner / "shared.md").write_text("inner\n")
    (inner / "memory" / "alice" / "a.md").write_text("inner alice\n")
    write(bare_vault, layout.SHARED, "projects/plan.md", "outer\n")
    reconcile(bare_vault, layout.SHARED)
    assert "projects/plan.md" in texts(bare_vault, layout.SHARED)
    assert not [source for source in texts(bare_vault, layout.SHARED) if "inner" in source]
    assert reconcile(bare_vault, layout.SHARED, ["projects/inner/shared.md"]).indexed == ()
    nested = open_vault(find_vault(inner / "memory" / "alice"))
    assert nested.root == inner
    assert (reconcile(nested, layout.SHARED).indexed, reconcile(nested, "alice").indexed) == (("shared.md",), ("a.md",))


WRITER = """
import sys
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.vault import open_vault
vault = open_vault(sys.argv[1])
for _ in range(int(sys.argv[2])):
    reconcile(vault, "alice")
"""


@pytest.mark.slow
def test_processes_that_reconcile_while_somebody_writes(bare_vault: Vault) -> None:
    """Three processes and a writer at once; in the end the index is as a rebuilt one."""
    for n in range(40):
        write(bare_vault, "alice", f"{n}.md", f"note {n} begins\n")
    command = [sys.executable, "-c", WRITER, str(bare_vault.root), "15"]
    others = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    turn = 0
    while any(process.poll() is None for process in others):
        turn += 1
        write(bare_vault, "alice", f"{turn % 40}.md", f"note {turn % 40} at {turn}\n")
    assert [process.communicate()[1] for process in others] == ["", "", ""]
    reconcile(bare_vault, "alice")
    on_disk = {f"{n}.md": bare_vault.path("alice", f"{n}.md").read_text().rstrip("\n") for n in range(40)}
    assert texts(bare_vault) == on_disk


class AnyOrder(RuleBasedStateMachine):
    """Whatever order of edits, appended texts, deletions, moves and looks: in the end the index is what a rebuilt one
    would be."""

    names = st.sampled_from(["USER.md", "daily/2026-01-30.md", "conversations/2026-01-30.jsonl", "n/one.md"])
    words = st.text("ab主題 \n#", min_size=1, max_size=20)
    ends = st.sampled_from(
        [f"{log_of(3)}\n", '{"user": "%s"}\n' % ("tea " * 200) * 3, "\n- a\n", "\n---\n", '{"user": "b"}', "```\n"]
    )

    @initialize()
    def open(self) -> None:
        self.vault = open_vault(next(FOLDERS))
        (self.vault.root / "memory" / "alice").mkdir(parents=True)

    @rule(name=names, text=words)
    def save(self, name: str, text: str) -> None:
        write(self.vault, "alice", name, text)

    @rule(name=names, text=ends)
    def append(self, name: str, text: str) -> None:
        path = self.vault.path("alice", name)
        write(self.vault, "alice", name, (path.read_text() if path.exists() else "") + text)

    @rule(name=names, count=st.integers(0, 3000))
    def cut(self, name: str, count: int) -> None:
        if self.vault.path("alice", name).exists():
            write(self.vault, "alice", name, self.vault.path("alice", name).read_text()[:count])

    @rule(name=names)
    def delete(self, name: str) -> None:
        self.vault.path("alice", name).unlink(missing_ok=True)

    @rule(name=names, other=names)
    def move(self, name: str, other: str) -> None:
        if self.vault.path("alice", name).exists():
            self.vault.path("alice", other).parent.mkdir(exist_ok=True)
            self.vault.path("alice", name).rename(self.vault.path("alice", other))

    @rule(name=names)
    def look_at_one(self, name: str) -> None:
        reconcile(self.vault, "alice", [name])

    @rule()
    def look_at_all(self) -> None:
        reconcile(self.vault, "alice")

    @invariant()
    def a_full_look_makes_it_right(self) -> None:
        if not hasattr(self, "vault"):
            return
        reconcile(self.vault, "alice")
        index, folder = self.vault.index("alice"), self.vault.root / "memory" / "alice"
        on_disk = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.[mj][ds]*")}
        assert index.files().keys() == on_disk.keys()
        for source, state in index.files().items():
            read = document.read(source, layout.kind_of(layout.Place("alice", source)), on_disk[source])
            assert index.holds(read)
            assert (state.problem, state.resume) == ("; ".join(read.problems), read.resume)


FOLDERS: Iterator[Path]


@pytest.mark.slow
def test_any_order_of_edits(tmp_path_factory: pytest.TempPathFactory) -> None:
    from hypothesis import settings
    from hypothesis.stateful import run_state_machine_as_test

    def folders() -> Iterator[Path]:
        while True:
            root = tmp_path_factory.mktemp("vault")
            (root / layout.SETTINGS_FILE).write_text("format = 1\n")
            yield root

    global FOLDERS
    FOLDERS = folders()
    run_state_machine_as_test(AnyOrder, settings=settings(max_examples=15, stateful_step_count=12, deadline=None))
