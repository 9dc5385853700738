"""Tools: which there are, what they take, ask of the schema and answer.

Begin with `toolbox` and `operation_tools`. `documents` are the GraphQL documents behind them.
"""
