"""A pytest plugin for CI: a test that was skipped makes the session fail.

On a developer's machine a missing Chromium or PostgreSQL skips the tests that need it, and pytest says so. In CI every
such program is installed, so a skip there is a hole nobody looks at. Loaded with `-p tests.support.no_skips`; acts
only when the environment variable CI is set, and never in a worker process of pytest-xdist.
"""

from __future__ import annotations

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI", "").lower() in ("1", "true", "yes") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NoSkips(), "packline-no-skips")


class NoSkips:
    def __init__(self) -> None:
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._note(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.skipped and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.skipped:
            return
        terminalreporter.section("skipped, which CI counts as failed", red=True, bold=True)
        for node, reason in sorted(self.skipped.items()):
            terminalreporter.line(f"{node}: {reason}", red=True)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        self.skipped[report.nodeid] = reason.removeprefix("Skipped: ")
