"""What holds for every test: a property may take its time, for a busy machine is no defect."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("packline", deadline=None)
settings.load_profile("packline")
