"""Executes runs: claim, attempts, their outcome, heartbeat and rescue.

Begin with `engine`, then `worker`: it claims a run (`claiming`), finds the next step (`next_step`), executes an attempt
(`executor`) and settles it (`outcome`, `retry`). `heartbeat` renews leases, `rescue` finds runs that no worker holds.
"""
