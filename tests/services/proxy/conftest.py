from __future__ import annotations

import pytest


class Seconds:
    """A clock in seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()
