#!/bin/bash
# Only the one value differs from the original.
mkdir -p /logs/verifier
if (
  [ "$(grep -c 'max_connections = 100' /app/shop.ini)" = 1 ] &&
    [ "$(sed 's/max_connections = 50   ; per node/max_connections = 20   ; per node/' /app/shop.ini | md5sum)" = "be0d30c4a336aaff77456f37ce9de1ce  -" ] &&
    grep -q '^max_connections = 50   ; per node$' /app/shop.ini
) >&2; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
