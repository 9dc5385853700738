"""What files are and look like: names, media types, previews, pages.

Begin with `previews`; everything that opens a file runs in a worker process. A new kind of file is drawn by
`preview_worker` and recognised by `media_types`.
"""
