"""Artifacts, the contents they share, previews, and where contents are kept.

Begin with `blob_port`; `blobs` keeps contents in a folder, `blobs_s3` in a bucket. `artifacts`, `blob_rows` and
`previews` are rows.
"""
