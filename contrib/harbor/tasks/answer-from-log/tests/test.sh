#!/bin/bash
# The answer is the address with the most errors.
mkdir -p /logs/verifier
if (
  [ "$(cat /app/answer.txt)" = 10.0.0.7 ]
) >&2; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
