#!/bin/bash
set -e
sed -i 's/-gt 1/-gt 0/' /app/sum.sh
