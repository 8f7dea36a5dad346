#!/bin/bash
# The file has exactly one line.
mkdir -p /logs/verifier
if (
  [ "$(cat /app/greeting.txt)" = "hello, world" ] && [ "$(wc -l </app/greeting.txt)" = 1 ]
) >&2; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
