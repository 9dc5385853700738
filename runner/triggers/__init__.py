"""When triggers fire.

`schedules` computes instants, `planning` decides what becomes of those that are due, and `scheduler` waits for the
next one.

Imports `runner.issues` and the store's clock and wake-ups; what a firing starts is passed in.
"""
