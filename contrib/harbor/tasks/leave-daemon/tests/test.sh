#!/bin/bash
# The server still answers, and more than once.
mkdir -p /logs/verifier
if (
  (exec 3<>/dev/tcp/127.0.0.1/8017 && read -r line <&3 && [ "$line" = pong ]) && (exec 3<>/dev/tcp/127.0.0.1/8017 && read -r line <&3 && [ "$line" = pong ])
) >&2; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
