"""buddy as an agent of harbor, the runner of Terminal-Bench.

`agent` needs harbor; `atif` needs only Python, so that its tests run anywhere.
"""
