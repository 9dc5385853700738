"""Traces, exported over OTLP with the OpenTelemetry SDK; loaded only if the operator configures an endpoint.

Begin with `tracing`, which opens spans. Ended ones go through `export` to a process (`export_process`) that encodes and
sends them. May import `app.logging`, `resolvers.problems` and `runner`.
"""
