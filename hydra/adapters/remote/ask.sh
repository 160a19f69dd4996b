d=$(mktemp -d) && cd "$d" || exit 90
printf '%s hello\n' "$N"
t=; command -v timeout >/dev/null 2>&1 && t='timeout SECONDS'
$t LINE </dev/null
c=$?
cd / && rm -rf "$d"
printf '%s ended %s\n' "$N" "$c"
exit 0
