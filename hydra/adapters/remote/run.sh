u=$(umask); umask 077
trap : HUP INT TERM PIPE
exec 3<&0
mkdir "$D" && cd "$D" && mkdir home tmp work out || exit 90
if command -v setsid >/dev/null 2>&1; then S=setsid
elif command -v perl >/dev/null 2>&1; then S='perl -MPOSIX -e POSIX::setsid();exec(@ARGV)'
else cd / && rm -rf "$D"; echo "neither setsid nor perl is there" >&2; exit 90; fi
n=0; echo 0 >beat; : >prompt; mkfifo in
hear() { IFS= read -r line <&3 || return 1; n=$((n+1)); echo $n >beat; }
end() { group TERM; i=0; while [ $i -lt 20 ] && group 0; do sleep 0.1; i=$((i+1)); done; sweep; }
watch() {
  trap 'kill $s 2>/dev/null; exit' TERM
  while :; do
    was=$(cat beat); sleep SILENT & s=$!; wait $s
    [ "$(cat beat)" = "$was" ] && break
  done
  : >lost; o=$(cat obey 2>/dev/null); sweep; gone; kill -KILL $o $$
}
leave() { kill -TERM $w 2>/dev/null; wait $w 2>/dev/null; gone; exit 0; }
linger() {
  i=0
  while [ $i -lt LINGER ] && [ -d "$D" ] && [ ! -f fetched ]; do
    sleep 1; i=$((i+1))
  done
}
obey() {
  trap '' PIPE
  exec 5<>in
  while hear; do
    case $line in
      'i '*) printf '%s\n' "${line#i }" >&5 ;;
      e) exec 5>&- ;;
      's '*) i=0; while [ ! -s pid ] && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done
        group "${line#s }" ;;
    esac
  done
  exec 5>&-
  : >lost; end
}
watch </dev/null >/dev/null 2>&1 & w=$!
printf '%s hello\n' "$N"; printf '%s hello\n' "$N" >&2
while :; do hear || leave; case $line in g) break ;; q) leave ;; esac; done
obey >/dev/null 2>&1 & o=$!; echo $o >obey
AGENT_LINE
c=$?
kill -KILL $o 2>/dev/null; wait $o 2>/dev/null
sweep
rm -f agent.sh
if [ -f lost ]; then exec >/dev/null 2>&1; : >settled; linger; leave; fi
printf '%s ended %s %s\n' "$N" "$c" "$(cat why 2>/dev/null)"
printf '%s ended\n' "$N" >&2
line=; while hear; do [ "$line" = q ] && break; done
[ "$line" = q ] || linger
leave
