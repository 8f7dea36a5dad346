need_file "$1"
[ -r "$1" ] || exit 41
same "$1"
stat -L -c %s -- "$1" || exit 44
head -c "$2" <"$1"
