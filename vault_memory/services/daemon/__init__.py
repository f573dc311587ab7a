"""The process that keeps index and history up to date while people edit: its workers, jobs, events and record.
Also whether such a process runs, and how the system starts it at log-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.daemon.autostart import Service, install_service, service_status, uninstall_service
    from vault_memory.services.daemon.daemon import Daemon
    from vault_memory.services.daemon.daemon_record import DaemonRecord, is_running, read_record, request_scan
    from vault_memory.services.daemon.event_log import Event
    from vault_memory.services.daemon.heartbeat import Outcome, heartbeat, outcomes
    from vault_memory.services.daemon.jobs import JOBS
    from vault_memory.services.daemon.left_logs import commit_left_logs

__all__ = [
    "Daemon",
    "DaemonRecord",
    "Event",
    "JOBS",
    "Outcome",
    "Service",
    "commit_left_logs",
    "heartbeat",
    "install_service",
    "is_running",
    "outcomes",
    "read_record",
    "request_scan",
    "service_status",
    "uninstall_service",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Daemon": "daemon",
        "DaemonRecord": "daemon_record",
        "Event": "event_log",
        "JOBS": "jobs",
        "Outcome": "heartbeat",
        "Service": "autostart",
        "commit_left_logs": "left_logs",
        "heartbeat": "heartbeat",
        "install_service": "autostart",
        "is_running": "daemon_record",
        "outcomes": "heartbeat",
        "read_record": "daemon_record",
        "request_scan": "daemon_record",
        "service_status": "autostart",
        "uninstall_service": "autostart",
    },
)
