"""Names, media types, previews and pages of files.

Begin with `previews`; everything that opens a file runs in a worker process. For a new kind of file, extend
`media_types`, which recognizes it, and `preview_worker`, which draws it.
"""
