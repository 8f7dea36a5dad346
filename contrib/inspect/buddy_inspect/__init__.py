"""buddy as a solver of inspect_ai.

`solver` needs inspect_ai; `run` needs only Python, so that its tests run anywhere.
"""
