"""The machine on which clients are driven leaves nothing running."""

from __future__ import annotations

import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clients.record import Machine
from tests.conftest import wait_until
from tests.scripted_http import ScriptedServer


def runs(pid: int) -> bool:
    """Whether a process has not ended; nobody may have waited for it."""
    with suppress(OSError):
        return bool(Path(f"/proc/{pid}/environ").read_bytes())
    return False


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="it is found through /proc")
def test_what_a_client_leaves_running_is_ended_and_nothing_else(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        machine, other = (Machine("cline", tmp_path / name, server) for name in ("one", "two"))
        for each in (machine, other):
            each.project.mkdir(parents=True)
        stays = subprocess.Popen(["sleep", "300"], env=other.environ())
        try:
            left = tmp_path / "pid"
            command = f"trap '' TERM; echo $$ > {left}.new; mv {left}.new {left}; while :; do sleep 1; done"
            machine.run("sh", "-c", f"setsid sh -c {shlex.quote(command)} < /dev/null > /dev/null 2>&1 &")
            wait_until(left.exists, "the hub runs")
            hub = int(left.read_text())
            assert runs(hub), "it is a process of its own, and TERM does not end it"
            machine.end_left()
            assert not runs(hub)
            assert stays.poll() is None, "it is another run's"
        finally:
            stays.kill()
            stays.wait()
