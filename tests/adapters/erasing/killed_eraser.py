"""An eraser that kills itself at a step: `-m tests.adapters.erasing.killed_eraser ROOT TEXT STEP`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from vault_memory.adapters.erasing import Request
from vault_memory.adapters.history import History


def main(root: str, text: str, fatal: str) -> None:
    def step(reached: str) -> None:
        if reached == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    History(Path(root), step=step).erase(Request((text,)))


if __name__ == "__main__":
    main(*sys.argv[1:])
