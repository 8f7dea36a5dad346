#!/bin/sh
# Fails unless sum.sh adds up.
[ "$(./sum.sh 1 2 3)" = 6 ] || { echo "1 2 3 should be 6, not $(./sum.sh 1 2 3)"; exit 1; }
echo passed
