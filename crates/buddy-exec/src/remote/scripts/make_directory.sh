same "$1"
[ -L "$1" ] && [ "$strict" ] && exit 46
[ -d "$1" ] && { printf 'there\n'; exit 0; }
[ -e "$1" ] && exit 43
mkdir -p -- "$1" || miss "$1/x"
printf 'made\n'
