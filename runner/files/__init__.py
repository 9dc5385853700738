"""What files are and look like: names, media types, previews, pages.

Begin with `previews`; everything that opens a file runs in a worker process.
"""
