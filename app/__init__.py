"""The process: settings, wiring, authentication, surfaces and the command line."""
