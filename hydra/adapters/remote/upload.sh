cd "$D" && tar xpf - && cd "$W" || exit 91
command -v git >/dev/null 2>&1 || exit 0
{
  here init -q --template= . &&
  here add -f --pathspec-from-file="$D/out/tracked" --pathspec-file-nul &&
  here -c user.name=Hydra -c user.email=hydra@localhost -c commit.gpgSign=false \
    commit -q --no-verify --allow-empty -m base &&
  here init -q --bare --template= "$D/base.git" && cp .git/index "$D/base.git/index" &&
  : >"$D/base.git/ready"
} >/dev/null 2>"$D/out/git" || { rm -rf .git "$D/base.git"; exit 0; }
git config user.email >/dev/null 2>&1 || {
  git config user.name Hydra; git config user.email hydra@localhost; } 2>/dev/null
exit 0
