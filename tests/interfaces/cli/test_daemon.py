"""`watch` and `service` as a person runs them: real processes, a real home folder, a supervisor that logs orders."""

from __future__ import annotations

import json
import os
import plistlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, wait_until
from vault_memory.services.daemon.autostart import install_service, service_status, uninstall_service
from vault_memory.services.vault import open_vault

SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$HOME/orders"
case "$*" in *is-active*) echo active ;; esac
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a `systemctl` and a `launchctl` of its own on the PATH."""
    programs = tmp_path / "home" / "bin"
    programs.mkdir(parents=True)
    for name in ("systemctl", "launchctl"):
        (programs / name).write_text(SYSTEMCTL)
        (programs / name).chmod(0o755)
    return tmp_path / "home"


def environ(home: Path, *, supervised: bool = True) -> dict[str, str]:
    path = f"{home / 'bin'}:{os.environ['PATH']}" if supervised else str(home / "nothing")
    return {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "PATH": path}


def orders(home: Path) -> list[str]:
    return (home / "orders").read_text().splitlines() if (home / "orders").exists() else []


def test_a_service_is_installed_shown_and_taken_away(cli: Cli, home: Path) -> None:
    printed = cli("service", "install", "--print", **environ(home))
    assert "[Service]" in printed
    assert not (home / ".config").exists()

    assert "is active" in cli("service", "install", **environ(home))
    [unit] = (home / ".config" / "systemd" / "user").iterdir()
    assert unit.read_text() == printed.partition("\n")[2]
    assert str(cli.folder) in unit.read_text()
    assert orders(home)[:2] == ["--user daemon-reload", f"--user enable --now {unit.name}"]
    assert cli("service", "install", **environ(home))  # again: nothing is there twice
    assert "installed" in cli("service", "status", **environ(home))

    cli("service", "uninstall", **environ(home))
    assert not unit.exists()
    assert f"--user disable --now {unit.name}" in orders(home)
    assert "not installed" in cli("service", "status", **environ(home))


def test_without_systemd_the_file_is_written_and_the_next_step_told(cli: Cli, home: Path) -> None:
    said = cli("service", "install", code=1, **environ(home, supervised=False))
    assert "systemctl is not on this machine" in said
    assert "vault-memory watch" in said
    assert len(list((home / ".config" / "systemd" / "user").iterdir())) == 1
    cli("service", "uninstall", **environ(home, supervised=False))
    assert not list((home / ".config" / "systemd" / "user").iterdir())


def test_the_installed_command_runs_the_daemon(cli: Cli, home: Path) -> None:
    """What the unit starts is a daemon of this vault, from any folder."""
    vault = open_vault(cli.folder, environ=environ(home))
    agent = plistlib.loads(service_status(vault, "darwin").text.encode())
    process = subprocess.Popen(agent["ProgramArguments"], cwd="/", stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: cli.json("status")["daemon"]["running"], "the daemon runs")
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_launchd_has_an_agent_of_its_own(cli: Cli, home: Path) -> None:
    vault = open_vault(cli.folder, environ=environ(home))
    installed = install_service(vault, "darwin")
    assert installed.path.parent == home / "Library" / "LaunchAgents"
    assert f"bootstrap gui/{os.getuid()} {installed.path}" in orders(home)
    assert not uninstall_service(vault, "darwin").problem
    assert not installed.path.exists()


def test_a_log_for_programs_and_one_that_stays(cli: Cli) -> None:
    """`--log-json` prints what happens as JSON; the vault's own log holds the same lines after the end."""
    process = cli.start("watch", "--log-json")
    (cli.folder / "plan.md").write_text("計畫\n", encoding="utf-8")
    wait_until(lambda: "committed" in log_kinds(cli), "the edit is committed")
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [row["kind"] for row in rows] == log_kinds(cli)
    assert rows[0].keys() == {"time", "kind", "where", "message"}
    assert (rows[0]["kind"], rows[-1]["kind"]) == ("started", "stopped")


def log_kinds(cli: Cli) -> list[str]:
    path = cli.folder / ".vault-memory" / "logs" / "daemon.jsonl"
    return [json.loads(line)["kind"] for line in path.read_text().splitlines()] if path.exists() else []


def test_settings_are_read_anew_on_sighup_and_wrong_ones_are_not_taken(cli: Cli) -> None:
    settings = cli.folder / "vault-memory.toml"
    good = settings.read_text()
    process = cli.start("watch")
    try:
        wait_until(lambda: log_kinds(cli).count("watching") == 1, "it watches")
        settings.write_text("nonsense = 1\nlocale = 5\n" + good)
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: log_kinds(cli).count("watching") == 2, "it watches again, with the old settings")
        settings.write_text(good + '\n[schedule]\ncommits = "off"\n')
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: log_kinds(cli).count("watching") == 3, "it watches with the new ones")
        assert {job["name"]: job["when"] for job in cli.json("status")["jobs"]}["commits"] == "off"
        assert process.poll() is None
    finally:
        process.terminate()
        printed, _ = process.communicate(timeout=60)
    assert "the old settings stay" in printed
    assert "nonsense" in printed
    assert process.returncode == 0


def test_the_unit_names_this_python(cli: Cli, home: Path) -> None:
    assert sys.executable in service_status(open_vault(cli.folder, environ=environ(home)), "linux").text


def test_a_job_is_run_now_by_name(cli: Cli) -> None:
    assert "ok    full-check" in cli("heartbeat", "--now", "full-check")
    jobs = {job["name"]: job for job in cli.json("status")["jobs"]}
    assert jobs["full-check"]["last"]["ok"]
    assert jobs["interaction"]["last"] is None
    assert "there is no job 'tidy'" in cli("heartbeat", "--now", "tidy", code=1)


def test_many_deletions_wait_until_they_are_confirmed(cli: Cli) -> None:
    notes = cli.folder / "memory" / "alice" / "notes"
    notes.mkdir(parents=True)
    for number in range(9):
        (notes / f"{number}.md").write_text(f"note {number}\n")
    cli("reindex")
    for number in range(5):
        (notes / f"{number}.md").unlink()
    unhealthy = cli.run("status", "--json")
    assert unhealthy.returncode == 1, "a monitor need not read it"
    assert any("vault-memory resume" in line for line in json.loads(unhealthy.stdout)["unhealthy"])
    assert cli.run("status").returncode == 1
    assert "5 files removed" in cli("resume")
    assert cli.json("status")["unhealthy"] == []
