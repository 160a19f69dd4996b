umask 077
cd "$D" || exit 91
export D W
printf '%s hello\n' "$N"
if [ -n "$A" ]; then
  i=0; while [ ! -f settled ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done
  sweep
fi
c=0
if [ -f base.git/ready ]; then
  echo changed >out/how
  seen() { cd "$W" && export GIT_DIR="$D/base.git" GIT_WORK_TREE="$D/$W" &&
    here ls-files -z "$@"; }
  (seen -d) >out/deleted 2>out/git || c=1
  (seen -m -o --exclude-standard) >out/there 2>out/git || c=1
else
  echo all >out/how
  : >out/deleted
  (cd "$W" && find . -name .git -prune -o ! -type d -print0) >out/there || c=1
fi
[ -d "$W" ] || { echo lost >out/how; : >out/there; }
tar cf - out/how out/deleted || c=1
xargs -0 -n 400 sh -c 'for f do shift
  f="$W/${f#./}"; { [ -e "$f" ] || [ -L "$f" ]; } && set -- "$@" "$f"
  done; [ $# -eq 0 ] || exec tar cf - "$@"' sh <out/there || c=1
[ -z "$(ls -A home)" ] || tar cf - home || c=1
printf '%s done %s\n' "$N" "$c"
: >fetched
[ -z "$A" ] || gone
