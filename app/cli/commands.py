"""All commands, put together; the help's table of contents."""

from __future__ import annotations

from app.cli import connect, history, machine, mcp, pipelines, runs
from app.cli.artifacts import artifacts
from app.cli.base import command_line
from app.cli.credential_files import credentials
from app.cli.memory import memory
from app.cli.promote import promote
from app.cli.route import route
from app.cli.tokens import tokens
from app.cli.transcript import transcript

cli = command_line()
cli.command()(machine.up)
cli.command()(runs.run)
cli.command()(runs.watch)
cli.command()(runs.resume)
cli.command()(runs.rerun)
cli.command()(runs.cancel)
cli.command()(history.runs)
cli.command()(history.show)
cli.command()(transcript)
cli.command()(pipelines.check)
cli.command()(pipelines.apply)
cli.command()(pipelines.export)
cli.command()(pipelines.pipelines)
cli.command()(pipelines.packs)
cli.command()(route)
cli.add_typer(memory, name="memory")
cli.command()(promote)
cli.add_typer(artifacts, name="artifact")
cli.add_typer(tokens, name="token")
cli.add_typer(credentials, name="credential")
cli.command()(connect.connect)
cli.command()(mcp.mcp)
cli.command()(machine.doctor)
cli.command()(machine.migrate)
cli.command()(machine.backup)
cli.command()(machine.restore)
