"""The model gateway: resolves roles to models, falls back along their chain, and records usage.

Begin with `gateway`; `roles` resolves roles, `text_models` calls text models, `voices` and `images` the others. Packs
see `runner.packs.models`. Providers' failures become failure codes in `problems`, `provider_requests` and `voices`: add
a new code there, too.
"""
