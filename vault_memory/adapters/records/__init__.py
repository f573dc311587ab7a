"""Conversation records on the disk: the file of a day, which is read from its end, as it may be long and what is wanted
is new; and the archive's files, each with the days of a month."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.records.line_file import lines_from_end
    from vault_memory.adapters.records.month_file import (
        MonthFile,
        archived_day,
        month_files,
        opened_month,
        put_days,
        rewrite_month,
    )

__all__ = ["MonthFile", "archived_day", "lines_from_end", "month_files", "opened_month", "put_days", "rewrite_month"]

__getattr__ = lazy_exports(
    __name__,
    {
        "MonthFile": "month_file",
        "archived_day": "month_file",
        "lines_from_end": "line_file",
        "month_files": "month_file",
        "opened_month": "month_file",
        "put_days": "month_file",
        "rewrite_month": "month_file",
    },
)
