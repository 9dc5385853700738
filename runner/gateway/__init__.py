"""The model gateway: roles to models, fallback, accounting (CONTRACT 4.7); see `runner.models` for what packs see."""
