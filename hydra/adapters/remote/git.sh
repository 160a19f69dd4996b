here() { GIT_CONFIG_GLOBAL=/dev/null/none GIT_CONFIG_NOSYSTEM=1 GIT_LITERAL_PATHSPECS=1 \
  git -c core.hooksPath=/dev/null -c core.excludesFile=/dev/null/none \
  -c core.attributesFile=/dev/null/none \
  -c core.fsmonitor=false -c core.autocrlf=false -c core.safecrlf=false "$@"; }
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
