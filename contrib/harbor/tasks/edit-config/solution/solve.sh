#!/bin/bash
set -e
sed -i 's/= 20   ;/= 50   ;/' /app/shop.ini
