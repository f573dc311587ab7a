"""Jobs: when they run, that they run once, and what their outcomes say."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.vaults import write
from vault_memory.core import layout
from vault_memory.errors import Busy, ConfigError, NotFound
from vault_memory.services.daemon.heartbeat import RETRY_AFTER, heartbeat, outcomes
from vault_memory.services.daemon.jobs import JOBS, Job, each
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> Vault:
    (tmp_path / layout.SETTINGS_FILE).write_text("format = 1\n")
    return open_vault(tmp_path, now=clock)


class Counted:
    """A job that counts its runs."""

    def __init__(self, schedule: str) -> None:
        self.runs = 0
        self.job = Job("counted", schedule, "counts", self.run)

    def run(self, vault: Vault) -> str:
        self.runs += 1
        return f"run {self.runs}"


def test_an_interval_runs_at_once_and_then_after_it(vault: Vault, clock: Clock) -> None:
    counted = Counted("15m")
    assert [o.said for o in heartbeat(vault, jobs=[counted.job])] == ["run 1"]
    assert heartbeat(vault, jobs=[counted.job]) == []
    clock.time += timedelta(minutes=15)
    assert [o.said for o in heartbeat(vault, jobs=[counted.job])] == ["run 2"]


def test_a_job_with_a_short_interval_is_not_kept_waiting_by_a_failure(vault: Vault, clock: Clock) -> None:
    """Commits wait for a minute, not ten, when a rebase was in the way."""

    def fail(vault: Vault) -> str:
        raise ValueError("a rebase is in progress")

    job = Job("failing", "1m", "fails", fail)
    assert len(heartbeat(vault, jobs=[job])) == 1
    assert heartbeat(vault, jobs=[job]) == []
    clock.time += timedelta(minutes=1)
    assert len(heartbeat(vault, jobs=[job])) == 1


def test_a_time_of_day_is_waited_for_and_caught_up_once(vault: Vault, clock: Clock) -> None:
    """14:05 now: three o'clock is tomorrow; a machine that sleeps for a week owes one run, not seven."""
    counted = Counted("03:00")
    assert heartbeat(vault, jobs=[counted.job]) == []
    assert list(outcomes(vault, [counted.job])) == [(counted.job, "03:00", None)]
    clock.time = clock.time.replace(hour=23)
    assert heartbeat(vault, jobs=[counted.job]) == []
    clock.time += timedelta(days=7)
    assert [o.said for o in heartbeat(vault, jobs=[counted.job])] == ["run 1"]
    assert heartbeat(vault, jobs=[counted.job]) == []
    assert counted.runs == 1


def test_the_settings_reschedule_a_job_or_turn_it_off(vault: Vault, clock: Clock) -> None:
    counted = Counted("15m")
    settings = vault.root / layout.SETTINGS_FILE
    settings.write_text('format = 1\n[schedule]\ncounted = "off"\n')
    assert heartbeat(open_vault(vault.root, now=clock), jobs=[counted.job]) == []
    settings.write_text('format = 1\n[schedule]\ncounted = "at noon"\n')
    with pytest.raises(ConfigError, match="at noon"):
        open_vault(vault.root)


def test_force_runs_a_job_that_is_off(vault: Vault) -> None:
    counted = Counted("off")
    assert [o.ok for o in heartbeat(vault, only="counted", force=True, jobs=[counted.job])] == [True]
    with pytest.raises(NotFound, match="counted"):
        heartbeat(vault, only="other", force=True, jobs=[counted.job])


def test_a_failed_job_says_why_and_is_tried_again_later(vault: Vault, clock: Clock) -> None:
    def fail(vault: Vault) -> str:
        raise RuntimeError("no network")

    counted = Counted("15m")
    jobs = [Job("bad", "03:00", "fails", fail), counted.job]
    first = {o.job: o for o in heartbeat(vault, force=True, jobs=jobs)}
    assert (first["bad"].ok, first["bad"].said) == (False, "RuntimeError: no network")
    assert first["counted"].ok
    assert heartbeat(vault, jobs=jobs) == []
    clock.time += RETRY_AFTER
    assert [o.job for o in heartbeat(vault, jobs=jobs)] == ["bad"]


def test_a_job_that_ended_in_the_middle_is_run_again(vault: Vault, clock: Clock) -> None:
    def die(vault: Vault) -> str:
        raise KeyboardInterrupt

    counted = Counted("03:00")
    with pytest.raises(KeyboardInterrupt):
        heartbeat(vault, force=True, jobs=[Job("counted", "03:00", "dies", die)])
    assert heartbeat(vault, jobs=[counted.job]) == []
    clock.time += RETRY_AFTER
    assert counted.runs == 0
    assert [o.said for o in heartbeat(vault, jobs=[counted.job])] == ["run 1"]


def test_a_damaged_outcome_counts_as_none(vault: Vault) -> None:
    counted = Counted("15m")
    heartbeat(vault, jobs=[counted.job])
    (vault.root / ".vault-memory/jobs/counted.json").write_text("{")
    heartbeat(vault, jobs=[counted.job])
    assert counted.runs == 2


def test_never_twice_at_once(vault: Vault) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait(vault: Vault) -> str:
        inside.set()
        assert go_on.wait(60)
        return "done"

    counted = Counted("1m")
    first = threading.Thread(target=heartbeat, args=(vault,), kwargs={"jobs": [Job("counted", "1m", "waits", wait)]})
    first.start()
    assert inside.wait(60)
    assert heartbeat(vault, jobs=[counted.job], force=True) == []
    go_on.set()
    first.join()
    assert counted.runs == 0


SCRIPT = """
import sys, time
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.daemon.jobs import Job
from vault_memory.services.vault import open_vault

def run(vault):
    with open(vault.root / "runs", "a") as file:
        file.write("run\\n")
    time.sleep(0.3)
    return "done"

heartbeat(open_vault(sys.argv[1]), jobs=[Job("slow", "1h", "slow", run)])
"""


@pytest.mark.slow
def test_once_for_all_processes(vault: Vault) -> None:
    command = [sys.executable, "-c", SCRIPT, str(vault.root)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(30) for process in processes] == [0] * 4
    assert (vault.root / "runs").read_text() == "run\n"


def test_every_job_does_its_work(bare_vault: Vault, tmp_path: Path) -> None:
    """Each does its work over real scopes and says so."""
    subprocess.run(["git", "init", "-q", str(bare_vault.root)], check=True)
    write(bare_vault, "alice", "a.md", "one\n")
    said = {o.job: (o.ok, o.said) for o in heartbeat(bare_vault, force=True)}
    assert said.keys() == {job.name for job in JOBS}
    assert said["full-check"] == (True, "1 files read, 1 of them differed from the index")
    assert all(ok for ok, _ in said.values()), said
    again = {o.job: o.said for o in heartbeat(bare_vault, force=True)}
    assert again["full-check"] == "1 files read, 0 of them differed from the index"
    assert again["vectors"] == "every passage has its vector"


def test_a_user_whose_work_fails_keeps_no_other_from_theirs(vault: Vault) -> None:
    """A TypeError at alice ended the job before bob's turn; no other error may do that either."""
    done: list[str] = []

    def work(user_id: str) -> None:
        if user_id == "alice":
            raise TypeError("unhashable type: 'list'")
        if user_id in ("carol", "dave"):
            raise Busy("the endpoint is down: try again")
        done.append(user_id)

    users = ["alice", "bob", "carol", "dave", "erin"]
    job = Job("failing", "1m", "fails", lambda vault: str(each(users, work)))
    (outcome,) = heartbeat(vault, jobs=[job])
    assert not outcome.ok and done == ["bob", "erin"]
    assert "memory/alice: TypeError: unhashable type: 'list': `vault-memory doctor` names the files" in outcome.said
    assert outcome.said.endswith("; memory/carol, memory/dave: the endpoint is down: try again")
