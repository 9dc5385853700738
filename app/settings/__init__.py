"""Every setting; only this room reads the environment and the settings file.

Begin with `server`; `client` holds what the command line needs to reach one.
"""
