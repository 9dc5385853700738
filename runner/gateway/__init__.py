"""The model gateway: roles to models, fallback, accounting; see `runner.packs.models` for what packs see."""
