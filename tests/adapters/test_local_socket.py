from __future__ import annotations

import os
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from vault_memory.adapters import local_socket

NAME = "hooks.sock"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A private folder whose path is longer than an address may be."""
    made = tmp_path / ("long-" * 20) / ("longer-" * 20)
    made.mkdir(parents=True)
    made.chmod(0o700)
    return made


def answer_one(listening: socket.socket, answer: bytes, heard: list[bytes | None]) -> None:
    connection, _ = listening.accept()
    with closing(connection):
        heard.append(local_socket.received(connection, 1 << 20, 10))
        local_socket.send(connection, answer)


def test_a_question_and_its_answer_are_whole(folder: Path) -> None:
    here, question = Path.cwd(), "很長的問題".encode() * 20_000
    heard: list[bytes | None] = []
    with closing(local_socket.listen(folder, NAME)) as listening:
        thread = threading.Thread(target=answer_one, args=(listening, b"yes" * 100_000, heard))
        thread.start()
        asking = local_socket.connect(folder, NAME)
        assert asking is not None
        with closing(asking):
            local_socket.send(asking, question)
            assert local_socket.received(asking, 1 << 20, 10) == b"yes" * 100_000
        thread.join()
    assert heard == [question]
    assert Path.cwd() == here
    assert os.lstat(folder / NAME).st_mode & 0o077 == 0


def test_nobody_listens(folder: Path) -> None:
    assert local_socket.connect(folder, NAME) is None
    assert local_socket.connect_soon(folder, NAME, 0.05) is None
    local_socket.listen(folder, NAME).close()  # as a killed process leaves it
    assert local_socket.connect(folder, NAME) is None
    with closing(local_socket.listen(folder, NAME)):
        connection = local_socket.connect(folder, NAME)
        assert connection is not None
        connection.close()


def test_too_much_and_too_late_are_nothing(folder: Path) -> None:
    with closing(local_socket.listen(folder, NAME)) as listening:
        asking = local_socket.connect(folder, NAME)
        assert asking is not None
        connection, _ = listening.accept()
        with closing(asking), closing(connection):
            assert local_socket.received(connection, 10, 0.05) is None
            asking.sendall(b"eleven byte")
            assert local_socket.received(connection, 10, 5) is None


def test_a_folder_that_others_can_enter_is_refused(folder: Path) -> None:
    folder.chmod(0o755)
    with pytest.raises(PermissionError, match="chmod 700"):
        local_socket.connect(folder, NAME)
    with pytest.raises(PermissionError, match="chmod 700"):
        local_socket.listen(folder, NAME)


def test_what_is_no_socket_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="no socket"):
        local_socket.connect(folder, NAME)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(OSError, match="link"):
        local_socket.connect(link, NAME)
