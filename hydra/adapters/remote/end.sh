group() { [ -s pid ] && kill -s "$1" -- "-$(cat pid)" 2>/dev/null; }
sweep() {
  group KILL; i=0
  while [ $i -lt 50 ]; do
    p=$(grep -l "HYDRA_REMOTE=$M" /proc/[0-9]*/environ 2>/dev/null)
    [ -n "$p" ] || break
    for e in $p; do e=${e#/proc/}; kill -KILL "${e%/environ}" 2>/dev/null; done
    i=$((i+1))
  done
}
gone() { cd / && { rm -rf "$D" 2>/dev/null || { chmod -R u+rwX "$D"; rm -rf "$D"; }; }; }
