"""What a pipeline is: reading, checking and compiling documents, and the inputs they take.

Begin with `parsing` and `check`; `compiled` is what runs use. Large documents go through `background_compile`.
"""
