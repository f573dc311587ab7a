"""The starter vault and the hooks, as `init` lays them out. Real git, real shells."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path, PurePosixPath

import frontmatter
import pytest
import yaml

from vault_memory.config import Config, describe
from vault_memory.core.layout import Place, place_of
from vault_memory.core.text import simplify
from vault_memory.errors import ForeignFile
from vault_memory.services.admin import create_vault
from vault_memory.services.retrieval import build_enhanced_prompt
from vault_memory.services.starter import hooks, install_hooks, lay_out, shipped, starter_texts
from vault_memory.services.vault import open_vault

HOOKS = ["post-checkout", "post-merge", "post-rewrite", "pre-commit"]


def git(folder: Path, *args: str, path: str = "/usr/bin:/bin", check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run git as somebody whose PATH is `path` and who has no settings of their own."""
    environ = {"PATH": path, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    identity = ("-c", "user.name=Alice", "-c", "user.email=alice@example.org")
    return subprocess.run(
        ["git", *identity, *args], cwd=folder, env=environ, text=True, capture_output=True, check=check, timeout=30
    )


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one vault at its top, its hooks installed."""
    root = tmp_path / "my vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    lay_out(root)
    (root / ".vault-memory").mkdir()
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "begin")
    install_hooks(root / ".git")
    return root


class TestStarter:
    def test_a_new_vault_holds_what_the_format_promises(self, tmp_path: Path) -> None:
        """R-F, A11, A16: SOUL, AGENTS, a skill, a way in, Obsidian settings and the settings file."""
        written = {str(path) for path in lay_out(tmp_path)}
        assert written == {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
        assert written >= {
            *("context/SOUL.md", "context/AGENTS.md", "skills/coding-agent/SKILL.md", "Home.md", "vault-memory.toml"),
            *(".gitignore", ".gitattributes", "Memories.base", "Mistakes.base", "Entities.base"),
            *(
                ".obsidian/app.json",
                ".obsidian/daily-notes.json",
                ".obsidian/graph.json",
                ".obsidian/core-plugins.json",
            ),
        }
        assert not any(place_of(PurePosixPath(path)) not in (None, Place("", path)) for path in written)

    def test_again_changes_nothing_and_keeps_what_a_person_made_of_it(self, tmp_path: Path) -> None:
        lay_out(tmp_path)
        (tmp_path / "Home.md").write_text("mine", encoding="utf-8")
        (tmp_path / "Entities.base").unlink()
        assert lay_out(tmp_path) == [PurePosixPath("Entities.base")]
        assert (tmp_path / "Home.md").read_text(encoding="utf-8") == "mine"
        assert lay_out(tmp_path) == []

    def test_adopting_leaves_notes_and_obsidian_settings_alone(self, tmp_path: Path) -> None:
        own = {
            "Home.md": "# my home",
            ".obsidian/app.json": "{}",
            ".gitignore": "secret.md\n!conversations/\n",
            ".gitattributes": "*.md text\n",
        }
        for name, text in own.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        written = [str(path) for path in lay_out(tmp_path, adopt=True)]
        assert written == [
            *(".gitattributes", ".gitignore", "context/AGENTS.md", "context/SOUL.md", "vault-memory.toml")
        ]
        assert (tmp_path / "Home.md").read_text(encoding="utf-8") == "# my home"
        git(tmp_path, "init", "-q")
        assert git(tmp_path, "check-ignore", "memory/a/index.db", "secret.md").stdout.split() == [
            *("memory/a/index.db", "secret.md")
        ]
        assert git(tmp_path, "check-ignore", "conversations", check=False).stdout == "", "the person's own line wins"
        assert git(tmp_path, "check-attr", "text", "a.md", "a.txt").stdout == (
            "a.md: text: set\na.txt: text: unspecified\n"
        ), "a rule of ours changes nobody else's files"
        others = ("own/conversations/x", "index.db.md", "own/notes~", ".DS_Store", "own/.a.tmp")
        assert git(tmp_path, "check-ignore", *others, check=False).stdout == ""
        merges = ("merge", "--", "own/daily/a.md", "MEMORY.md", "own/USER.md", "a.jsonl")
        assert all(row.endswith("unspecified") for row in git(tmp_path, "check-attr", *merges).stdout.splitlines())
        assert git(tmp_path, "check-attr", "text", "memory/a/feedback.jsonl").stdout.endswith("unset\n")
        assert lay_out(tmp_path, adopt=True) == []

    def test_git_ignores_what_is_derived_or_private_and_nothing_else(self, tmp_path: Path) -> None:
        lay_out(tmp_path)
        git(tmp_path, "init", "-q")
        ignored = [
            *("memory/a/index.db", "memory/a/index.db-wal", "memory/a/conversations/2026-01-30.jsonl"),
            *(".vault-memory/state.db", ".obsidian/workspace.json", "memory/a/.USER.md.12-0.vault-memory.tmp"),
        ]
        kept = ["memory/a/USER.md", "memory/a/feedback.jsonl", "memory/a/daily/2026-01-30.md", ".obsidian/app.json"]
        answer = git(tmp_path, "check-ignore", *ignored, *kept)
        assert answer.stdout.split() == ignored
        attributes = git(
            tmp_path, "check-attr", "merge", "text", "--", "memory/a/USER.md", "memory/a/feedback.jsonl"
        ).stdout
        assert "USER.md: merge: vault-memory-profile" in attributes and "feedback.jsonl: merge: union" in attributes
        assert attributes.count("text: unset") == 2

    def test_the_settings_file_shows_every_setting_with_its_default(self) -> None:
        text = (shipped("vault") / "vault-memory.toml").read_text(encoding="utf-8")
        assert Config.load(shipped("vault") / "vault-memory.toml", {}) == Config()
        for key, default, _ in describe():
            table, _, name = key.rpartition(".")
            section = text.partition(f"[{table}]\n")[2].partition("\n[")[0] if table else text.partition("\n[")[0]
            if isinstance(default, (dict, list)):
                assert f"# [{key}" in text or f"# [[{key}" in text or f"# {name} = " in section, f"describe {key}"
            else:
                shown = json.dumps(default)
                assert f"{name} = {shown}\n" in section, f"vault/vault-memory.toml lacks `# {name} = {shown}`"

    def test_obsidian_and_skill_files_are_well_formed(self) -> None:
        starter = shipped("vault")
        for path in (starter / ".obsidian").iterdir():
            json.loads(path.read_text(encoding="utf-8"))
        for path in starter.glob("*.base"):
            base = yaml.safe_load(path.read_text(encoding="utf-8"))
            assert base["filters"] and {view["type"] for view in base["views"]} == {"table"}
        for name in ("coding-agent", "web-deploy", "obsidian", "rag-kb", "github"):
            skill = frontmatter.load(starter / f"skills/{name}/SKILL.md")
            assert skill["name"] == name and skill["description"] and 100 < len(skill.content) < 600

    def test_agents_names_only_what_exists(self) -> None:
        """A11: the rule of repeated adjustments; each command and file that it names is there."""
        for folder in (shipped("vault"), *shipped("locales").iterdir()):
            text = (folder / "context/AGENTS.md").read_text(encoding="utf-8")
            assert "memory_search" not in text and "vault-memory search --user" in text
            assert {key for key, *_ in describe()} >= {"off_record"} and "`off_record`" in text
        assert "重複的調整請求（同類型出現 2 次以上）" in (shipped("vault") / "context/AGENTS.md").read_text(
            encoding="utf-8"
        )

    def test_every_page_is_there_in_each_language(self, tmp_path: Path) -> None:
        """A11, A16: no Chinese in an English vault, one script in a Chinese one; all else is the same."""
        pages = {}
        for locale in ("", "en", "zh-CN"):
            root = tmp_path / (locale or "zh-TW")
            root.mkdir()
            lay_out(root, locale=locale)
            pages[locale] = {str(p.relative_to(root)): p.read_text("utf-8") for p in root.rglob("*") if p.is_file()}
        assert pages[""].keys() == pages["en"].keys() == pages["zh-CN"].keys()
        same = {
            ".gitignore",
            ".gitattributes",
            "vault-memory.toml",
            *(n for n in pages[""] if n.startswith(".obsidian/")),
        }
        for name, text in pages[""].items():
            if name in same:
                continue
            assert not re.search(r"[\u4e00-\u9fff]", pages["en"][name]), name
            assert pages["zh-CN"][name] == simplify(pages["zh-CN"][name]) != text, name
            assert {text.encode(), pages["en"][name].encode(), pages["zh-CN"][name].encode()} == {*starter_texts(name)}
            if name.endswith(".base"):
                plain = [re.sub(r"(displayName|name): .*", "", pages[each][name]) for each in pages]
                assert plain[0].split("\n")[1:] == plain[1].split("\n")[1:] == plain[2].split("\n")[1:]
        assert 'locale = "en"\n' in pages["en"]["vault-memory.toml"]
        assert starter_texts("nothing.md") == []

    def test_a_vault_gets_back_what_it_lacks_in_its_language(self, tmp_path: Path) -> None:
        """R-F: `init` again, without the option, in a vault whose settings name a locale."""
        root = create_vault(tmp_path / "vault", locale="en").root
        soul = root / "context/SOUL.md"
        before = soul.read_text(encoding="utf-8")
        soul.unlink()
        assert create_vault(root).written == (PurePosixPath("context/SOUL.md"),)
        assert soul.read_text(encoding="utf-8") == before and before.startswith("# SOUL: who I am\n")
        prompt = build_enhanced_prompt(open_vault(root), "ann", "What is new?", "github").text
        assert "Look at `git status`" in prompt and not re.search(r"[\u4e00-\u9fff]", prompt)


class TestHooks:
    def test_installed_once_and_upgraded(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        assert install_hooks(tmp_path / ".git") == [f"{name}: installed" for name in HOOKS]
        assert install_hooks(tmp_path / ".git") == []
        hook = tmp_path / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\n# vault-memory hook, version 1\nexit 1\n", encoding="utf-8")
        hook.chmod(0o644)
        newer = script(tmp_path / ".git/hooks/post-merge", "# vault-memory hook, version 99")
        assert install_hooks(tmp_path / ".git") == ["pre-commit: upgraded"]
        assert hook.read_bytes() == hooks()["pre-commit"] and os.access(hook, os.X_OK)
        assert newer.read_text(encoding="utf-8").endswith("version 99\n"), "a newer vault-memory's hook stays"

    @pytest.mark.slow
    def test_a_persons_own_hook_is_chained(self, repo: Path) -> None:
        """It still runs, with its arguments, and still decides; a second install changes nothing."""
        own = script(repo / ".git/hooks/pre-commit", 'echo "own $#" >> ran; test ! -e refuse')
        report = install_hooks(repo / ".git")
        assert report == ["pre-commit: installed; your own hook is now pre-commit.local and still runs"]
        assert own.read_bytes() == hooks()["pre-commit"]
        assert install_hooks(repo / ".git") == []
        git(repo, "commit", "--allow-empty", "-m", "one")
        assert (repo / "ran").read_text(encoding="utf-8") == "own 0\n"
        (repo / "refuse").touch()
        assert git(repo, "commit", "--allow-empty", "-m", "two", check=False).returncode == 1

    def test_in_a_linked_working_tree_the_repositorys_hooks_are_meant(self, repo: Path) -> None:
        git(repo, "worktree", "add", "-q", "../linked")
        script(repo / ".git/hooks/pre-commit", "# vault-memory hook, version 1")
        assert install_hooks(repo / ".git/worktrees/linked") == ["pre-commit: upgraded"]

    def test_two_hooks_of_the_person_are_left_alone(self, repo: Path) -> None:
        own = script(repo / ".git/hooks/pre-commit", "exit 0")
        other = script(repo / ".git/hooks/pre-commit.local", "exit 0")
        texts = own.read_bytes(), other.read_bytes()
        (line,) = install_hooks(repo / ".git")
        assert line.startswith("pre-commit: left alone") and (own.read_bytes(), other.read_bytes()) == texts

    def test_the_program_that_installed_it_is_called_without_a_path(self, repo: Path) -> None:
        """As Obsidian's Git plugin runs it. A folder of the vault is not taken for the program."""
        (repo / "vault_memory").mkdir()
        (repo / "vault_memory/__init__.py").write_text("open('ran', 'w')", encoding="utf-8")
        (repo / "a.md").write_text("token: ghp_" + "a1B2" * 9 + "\n", encoding="utf-8")
        git(repo, "add", "a.md")
        done = git(repo, "commit", "-q", "-m", "a", check=False)
        assert done.returncode == 1 and "a.md: holds a secret" in done.stderr
        assert not (repo / "ran").exists()

    def test_without_vault_memory_a_commit_passes_with_a_warning(self, repo: Path, tmp_path: Path) -> None:
        install_hooks(repo / ".git", python=str(tmp_path / "it's gone"))
        (repo / "a.md").write_text("a", encoding="utf-8")
        git(repo, "add", "a.md")
        done = git(repo, "commit", "-q", "-m", "a")
        assert done.stdout == "" and "vault-memory cannot be run here" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_a_broken_vault_memory_refuses_nothing(self, repo: Path, tmp_path: Path) -> None:
        install_hooks(repo / ".git", python="/usr/bin/false")
        script(tmp_path / "bin/vault-memory", "echo Traceback >&2; exit 1")
        done = git(repo, "commit", "-q", "--allow-empty", "-m", "a", path=f"{tmp_path}/bin:/usr/bin:/bin")
        assert done.stdout == "" and "vault-memory cannot be run here" in done.stderr

    def test_a_refusal_is_shown_and_can_be_bypassed(self, repo: Path, tmp_path: Path) -> None:
        install_hooks(repo / ".git", python="")
        script(tmp_path / "bin/vault-memory", 'test "$*" = "hook pre-commit" && echo "USER.md:3 is broken" && exit 1')
        path = f"{tmp_path}/bin:/usr/bin:/bin"
        done = git(repo, "commit", "-q", "--allow-empty", "-m", "a", path=path, check=False)
        assert done.returncode == 1 and done.stderr == "USER.md:3 is broken\n"
        git(repo, "commit", "-q", "--allow-empty", "--no-verify", "-m", "a", path=path)

    @pytest.mark.slow
    def test_checkout_merge_and_rewrite_leave_a_hint_for_the_daemon(self, repo: Path) -> None:
        hint = repo / ".vault-memory/rescan"

        def left() -> bool:
            found = hint.exists()
            hint.unlink(missing_ok=True)
            return found

        git(repo, "checkout", "-q", "-b", "other")
        assert left()
        git(repo, "commit", "-q", "--allow-empty", "-m", "a")
        assert not left()
        git(repo, "commit", "-q", "--allow-empty", "--amend", "-m", "b")
        assert left()
        git(repo, "checkout", "-q", "main")
        hint.unlink()
        git(repo, "merge", "-q", "--no-ff", "-m", "merge", "other")
        assert left()

    def test_vaults_inside_a_larger_repository_get_the_hint(self, tmp_path: Path) -> None:
        names = ["notes/記憶", "a b", "not-open"]
        git(tmp_path, "init", "-q", "-b", "main")
        for name in names:
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "vault-memory.toml").touch()
        (tmp_path / "my-vault-memory.toml").touch()
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", "begin")
        install_hooks(tmp_path / ".git")
        for name in names[:2]:
            (tmp_path / name / ".vault-memory").mkdir()
        git(tmp_path, "checkout", "-q", "-b", "other")
        assert sorted(p.parent.parent.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("rescan")) == [
            *("a b", "notes/記憶")
        ]


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_rules_that_are_a_link_are_refused(repo: Path, name: str) -> None:
    """Else what it leads to, such as the keys in `.git/config`, would stand in a note."""
    (repo / name).unlink()
    (repo / name).symlink_to(".git/config")
    with pytest.raises(ForeignFile, match=f"{name} is a link to .git/config"):
        lay_out(repo, adopt=True)
    assert (repo / name).is_symlink()
