"""The tools: their list, parameters, GraphQL documents and answers.

Begin with `toolbox` and `operation_tools`. `documents` reads the GraphQL documents behind them.
"""
