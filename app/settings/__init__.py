"""Every setting. The only reader of the environment and of the settings file.

Begin with `server`; `client` is what the command line needs to reach one.
"""
