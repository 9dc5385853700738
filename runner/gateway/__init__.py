"""The model gateway: roles to models, fallback, accounting; see `runner.models` for what packs see."""
