"""The model gateway: roles to models, fallback, accounting.

Begin with `gateway`; `roles` picks models, `text_models` asks text models, `voices` and `images` the others. Packs see
`runner.packs.models`. What a provider's failure means is sorted in `problems`, `provider_requests` and `voices`: a new
failure code belongs there, too.
"""
