#!/bin/bash
set -e
awk '$8 == 500 { print $1 }' /app/server.log | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }' >/app/answer.txt
