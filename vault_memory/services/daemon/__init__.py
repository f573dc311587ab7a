"""The process that keeps index and history up to date while people edit: its workers, jobs, events and record."""
