"""Places that may hold a secret, as data: where each tool's own documentation says it lies.

`~` is HOME, `{repo}` the user's checkout, `{tag}` a name that nothing else on the machine has:
outside of HOME and the checkout a place lies under a folder of that name and nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple


class SecretPlace(NamedTuple):
    """`kind`: file, socket (it says its secret to whoever connects), abstract (a socket without a
    file), link (its secret lies in `target`), variable (a file that the variable `target` names, or
    whose folder it names), tool (beside a program that PATH names; `target` is
    that program, or `LINK > PROGRAM` where a link on PATH leads to it)."""

    path: str
    kind: str = "file"
    target: str = ""
    mode: int = 0o600


_KEYS = """
~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.ssh/id_ecdsa ~/.ssh/config ~/.ssh/known_hosts
~/.ssh/work/deploy_key ~/.gnupg/private-keys-v1.d/made-up.key ~/.gnupg/secring.gpg
~/.gnupg/gpg-agent.conf ~/.age/key.txt ~/.config/age/keys.txt ~/.config/sops/age/keys.txt
~/.netrc ~/.authinfo ~/.authinfo.gpg ~/.password-store/mail.gpg ~/.pki/nssdb/key4.db
~/.local/share/keyrings/login.keyring ~/.local/share/kwalletd/kdewallet.kwl
~/.kde/share/apps/kwallet/kdewallet.kwl ~/Passwords.kdbx ~/Documents/keys/vault.kdbx
~/.config/keepassxc/keepassxc.ini ~/.config/Bitwarden/data.json
~/.config/Bitwarden-CLI/data.json ~/.config/op/config ~/.config/1Password/settings.json
~/.config/Enpass/vault.db ~/.config/rbw/config.json ~/.local/share/rbw/db.json
~/.lpass/key ~/.config/lpass/key ~/.config/gopass/config ~/.minisign/minisign.key
~/.putty/sshhostkeys ~/.config/Yubico/u2f_keys ~/.google_authenticator ~/.step/secrets/root_ca_key
~/.pki/openssl/private.pem ~/certs/client.p12 ~/.java/.userPrefs/prefs.xml ~/.keystore
~/.android/adbkey ~/.android/debug.keystore ~/.dropbox/instance1/config.dbx ~/.cert/vpn.pem
"""

_CLOUDS = """
~/.aws/credentials ~/.aws/sso/cache/token.json ~/.aws/cli/cache/role.json
~/.azure/accessTokens.json
~/.azure/msal_token_cache.json ~/.azure/azureProfile.json ~/.config/gcloud/credentials.db
~/.config/gcloud/access_tokens.db ~/.config/gcloud/application_default_credentials.json
~/.config/gcloud/legacy_credentials/a/adc.json ~/.boto ~/.s3cfg ~/.config/doctl/config.yaml
~/.config/hcloud/cli.toml ~/.linode-cli ~/.config/linode-cli ~/.vultr-cli.yaml
~/.config/scw/config.yaml ~/.oci/config ~/.oci/oci_api_key.pem ~/.bluemix/config.json
~/.aliyun/config.json ~/.tccli/default.credential ~/.ovh.conf ~/.config/exoscale/exoscale.toml
~/.config/openstack/clouds.yaml ~/.config/openstack/secure.yaml ~/.civo.json ~/.fly/config.yml
~/.config/heroku/credentials ~/.local/share/heroku/netrc ~/.railway/config.json
~/.render/cli.yaml ~/.config/netlify/config.json ~/.netlify/config.json
~/.local/share/com.vercel.cli/auth.json ~/.vercel/auth.json ~/.now/auth.json
~/.config/.wrangler/config/default.toml ~/.wrangler/config/default.toml
~/.cloudflared/cert.pem ~/.config/configstore/firebase-tools.json ~/.config/firebase/token.json
~/.clasprc.json ~/.amplify/admin/config.json ~/.serverlessrc ~/.config/backblaze/b2/account_info
~/.b2_account_info ~/.config/rclone/rclone.conf ~/.config/restic/password ~/.config/borg/keys/a
~/.config/duplicity/pass ~/.mc/config.json ~/.config/kopia/repository.config
~/.ibmcloud/config.json
~/.config/supabase/access-token ~/.supabase/access-token ~/.config/neonctl/credentials.json
~/.config/turso/settings.json ~/.pscale/access-token ~/.config/planetscale/access-token
~/.config/stripe/config.toml ~/.twilio-cli/config.json ~/.config/ngrok/ngrok.yml
~/.ngrok2/ngrok.yml
~/.config/tailscale/tailscaled.state ~/.zerotier/identity.secret
~/.config/databricks/token-cache.json
~/.databrickscfg ~/.snowflake/connections.toml ~/.snowsql/config ~/.dbt/profiles.yml
~/.kaggle/kaggle.json ~/.config/kaggle/kaggle.json ~/.huggingface/token ~/.cache/huggingface/token
~/.config/wandb/settings ~/.config/neptune/token ~/.comet.config ~/.modal.toml
~/.replicate/config.json ~/.runpod/config.toml ~/.lambda_cloud/keys ~/.vast_api_key
~/.config/vastai/vast_api_key
"""

_CLUSTERS = """
~/.kube/config ~/.kube/cache/oidc-login/token ~/.config/helm/repositories.yaml
~/.config/helm/registry/config.json ~/.docker/config.json ~/.docker/contexts/meta/a/meta.json
~/.config/containers/auth.json ~/.config/argocd/config ~/.argocd/config ~/.config/flux/token
~/.rancher/cli2.json ~/.config/k9s/config.yaml ~/.minikube/profiles/minikube/client.key
~/.minikube/ca.key ~/.config/k3d/kubeconfig-a.yaml ~/.talos/config ~/.config/oc/config
~/.terraform.d/credentials.tfrc.json ~/.terraformrc ~/.config/opentofu/credentials.tfrc.json
~/.tofurc ~/.pulumi/credentials.json ~/.vault-token ~/.config/vault/token ~/.consul-token
~/.nomad-token ~/.ansible/vault_pass ~/.vault_pass.txt ~/.ansible.cfg ~/.chef/client.pem
~/.chef/credentials ~/.puppetlabs/token ~/.salt/pki/minion.pem
~/.vagrant.d/data/vagrant_login_token
~/.config/packer/config.json ~/.config/waypoint/context ~/.boundary/token
~/.config/infisical/infisical-config.json
~/.infisical/infisical-config.json ~/.doppler/.doppler.yaml ~/.config/chamber/token
~/.config/skaffold/config ~/.okteto/context/config.json ~/.garden/credentials
~/.config/earthly/auth.token
~/.earthly/auth.token ~/.dagger/credentials
"""

_FORGES = """
~/.config/gh/hosts.yml ~/.config/glab-cli/config.yml ~/.config/hub ~/.config/tea/config.yml
~/.config/lab/lab.toml ~/.git-credentials ~/.config/git/credentials ~/.gitconfig
~/.config/git/config ~/.git-credential-cache/secret ~/.gitcookies ~/.hgrc ~/.hg_credentials
~/.subversion/auth/svn.simple/a ~/.subversion/servers ~/.bazaar/authentication.conf ~/.p4tickets
~/.p4enviro ~/.cvspass ~/.arcrc ~/.gerrit/token ~/.config/berg/token ~/.config/jj/config.toml
~/.config/gitsign/token ~/.sigstore/root/token ~/.config/circleci/cli.yml ~/.circleci/cli.yml
~/.travis/config.yml ~/.config/buildkite/token ~/.jenkins-cli/auth ~/.config/drone/token
~/.config/act/actrc ~/.actrc ~/.config/jira/token ~/.config/.jira/.config.yml ~/.jira.d/config.yml
~/.config/linear/token ~/.config/sentry/token ~/.sentryclirc ~/.config/snyk/snyk.json
~/.config/configstore/snyk.json ~/.sonarlint/credentials ~/.codecov/token ~/.config/datadog/token
~/.dogrc ~/.newrelic/credentials.json ~/.config/pagerduty/token ~/.config/slack-term/config
~/.slack/credentials.json ~/.config/discordcli/token
"""

_PACKAGES = """
~/.npmrc ~/.config/npm/npmrc ~/.yarnrc ~/.yarnrc.yml ~/.config/pnpm/rc ~/.config/pnpm/auth.ini
~/.bunfig.toml ~/.pypirc ~/.pip/pip.conf ~/.config/pip/pip.conf ~/.config/uv/uv.toml
~/.config/pypoetry/auth.toml ~/.config/pypoetry/config.toml ~/.config/hatch/config.toml
~/.local/share/pdm/credentials ~/.config/pdm/config.toml ~/.condarc ~/.config/conda/.condarc
~/.continuum/anaconda-client/tokens/a.token ~/.pixi/credentials.json ~/.rattler/credentials.json
~/.m2/settings.xml ~/.m2/settings-security.xml ~/.gradle/gradle.properties ~/.gradle/init.gradle
~/.ivy2/.credentials ~/.sbt/.credentials ~/.config/coursier/credentials.properties
~/.nuget/NuGet/NuGet.Config ~/.config/NuGet/NuGet.Config ~/.microsoft/usersecrets/a/secrets.json
~/.dotnet/corefx/cryptography/x509stores/my/a.pfx ~/.aspnet/DataProtection-Keys/key-1.xml
~/.gem/credentials ~/.bundle/config ~/.config/bundler/config ~/.composer/auth.json
~/.config/composer/auth.json ~/.pub-cache/credentials.json ~/.config/dart/pub-credentials.json
~/.hex/hex.config ~/.config/rebar3/hex.config ~/.cabal/config ~/.config/cabal/config
~/.stack/config.yaml
~/.opam/config.token ~/.cpan/CPAN/MyConfig.pm ~/.pause ~/.config/go/env
~/.julia/servers/a/auth.toml
~/.config/conan/credentials ~/.conan/.conan.db ~/.conan2/credentials.json ~/.vcpkg/token
~/.spack/gpg/secring ~/.config/nix/nix.conf ~/.config/cachix/cachix.dhall
~/.config/attic/config.toml
~/.config/homebrew/brew.env ~/.swiftpm/configuration/registries.json ~/.netrc.gpg
~/.cocoapods/token
~/.cargo/credentials ~/.cargo/credentials.toml ~/.cargo/config.toml ~/.deno/auth.token
~/.local/share/uv/credentials/credentials.toml ~/.config/jfrog/jfrog-cli.conf.v6
~/.jfrog/jfrog-cli.conf
"""

_BROWSERS = """
~/.mozilla/firefox/a.default/logins.json ~/.mozilla/firefox/a.default/cookies.sqlite
~/.mozilla/firefox/a.default/key4.db ~/.config/mozilla/firefox/a.default/key4.db
~/.librewolf/a.default/logins.json ~/.waterfox/a.default/logins.json ~/.zen/a.default/logins.json
~/.floorp/a.default/logins.json ~/.tor-browser/profile.default/key4.db
~/.thunderbird/a.default/logins.json ~/.config/google-chrome/Default/Login-Data
~/.config/google-chrome-beta/Default/Cookies ~/.config/google-chrome-unstable/Default/Cookies
~/.config/chromium/Default/Cookies ~/.config/chromium-dev/Default/Cookies
~/.config/BraveSoftware/Brave-Browser/Default/Cookies
~/.config/BraveSoftware/Brave-Browser-Nightly/Default/Cookies
~/.config/microsoft-edge/Default/Cookies
~/.config/microsoft-edge-dev/Default/Cookies ~/.config/vivaldi/Default/Cookies
~/.config/opera/Cookies ~/.config/yandex-browser/Default/Cookies ~/.config/epiphany/cookies.sqlite
~/.local/share/epiphany/cookies.sqlite ~/.local/share/qutebrowser/webengine/Cookies
~/.config/falkon/profiles/default/cookies.dat ~/.config/ungoogled-chromium/Default/Cookies
~/.var/app/org.mozilla.firefox/.mozilla/firefox/a/key4.db
~/.var/app/com.google.Chrome/config/google-chrome/Default/Cookies
~/.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser/Default/Cookies
~/.var/app/org.chromium.Chromium/config/chromium/Default/Cookies
~/.var/app/org.keepassxc.KeePassXC/config/keepassxc/keepassxc.ini
~/snap/firefox/common/.mozilla/firefox/a/key4.db ~/snap/chromium/common/chromium/Default/Cookies
~/snap/brave/current/.config/BraveSoftware/Brave-Browser/Default/Cookies
~/snap/docker/current/.docker/config.json ~/snap/gh/current/.config/gh/hosts.yml
~/.cache/mozilla/firefox/a/cache2/entry ~/.cache/google-chrome/Default/Cache/data_0
"""

_MONEY = """
~/.bitcoin/wallet.dat ~/.litecoin/wallet.dat ~/.dogecoin/wallet.dat ~/.dashcore/wallet.dat
~/.zcash/wallet.dat ~/.electrum/wallets/default_wallet ~/.electrum-ltc/wallets/default
~/.ethereum/keystore/UTC--key ~/.config/Ledger-Live/app.json
~/.config/Exodus/exodus.wallet/seed.seco
~/.config/atomic/Local/leveldb.log ~/.config/solana/id.json ~/.monero/wallet.keys
~/Monero/wallets/a/a.keys ~/.config/sui/sui_config/sui.keystore ~/.aptos/config.yaml
~/.near-credentials/a.json
~/.gaia/keyring-file/a.info ~/.lnd/data/chain/bitcoin/mainnet/admin.macaroon
~/.lightning/bitcoin/hsm_secret
~/.sparrow/wallets/a.mv.db ~/.wasabi/client/Wallets/a.json ~/.foundry/keystores/deployer
~/.brownie/accounts/a.json
"""

_MAIL_AND_CHAT = """
~/.msmtprc ~/.config/msmtp/config ~/.mbsyncrc ~/.config/isyncrc ~/.offlineimaprc ~/.fetchmailrc
~/.getmail/getmailrc ~/.muttrc ~/.mutt/passwords ~/.config/neomutt/account
~/.config/aerc/accounts.conf
~/.config/himalaya/config.toml ~/.mailrc ~/.config/evolution/sources/a.source ~/Maildir/cur/mail-1
~/.config/Signal/config.json ~/.local/share/TelegramDesktop/tdata/key_datas ~/.config/Slack/Cookies
~/.config/discord/Cookies ~/.config/Element/Local-Storage.log ~/.irssi/config ~/.weechat/sec.conf
~/.config/weechat/sec.conf ~/.purple/accounts.xml ~/.config/teams/Cookies ~/.zoom/data/zoomus.db
~/.config/davfs2/secrets ~/.davfs2/secrets ~/.config/syncthing/key.pem
~/.local/state/syncthing/key.pem
~/.config/Nextcloud/nextcloud.cfg ~/.smbcredentials ~/.config/vdirsyncer/config
~/.config/khal/config
"""

_DATABASES_AND_HISTORIES = """
~/.pgpass ~/.pg_service.conf ~/.my.cnf ~/.mylogin.cnf ~/.mongorc.js ~/.mongodb/mongosh/config
~/.rediscli_auth ~/.config/redis/auth ~/.config/usql/config.yaml
~/.config/clickhouse-client/config.xml
~/.clickhouse-client/config.xml ~/.cassandra/cqlshrc ~/.influxdbv2/configs
~/.local/share/DBeaverData/credentials-config.json
~/.dbeaver4/General/.dbeaver/credentials-config.json ~/.config/beekeeper-studio/app.db
~/.sqlcmd/sqlconfig
~/.bash_history ~/.zsh_history ~/.zhistory ~/.histfile ~/.local/share/fish/fish_history
~/.local/share/atuin/key ~/.local/share/atuin/history.db ~/.local/share/nushell/history.txt
~/.config/nushell/history.txt ~/.python_history ~/.node_repl_history ~/.irb_history
~/.local/share/irb/history
~/.psql_history ~/.mysql_history ~/.sqlite_history ~/.rediscli_history ~/.dbshell ~/.lesshst
~/.viminfo
~/.local/state/nvim/shada/main.shada ~/.wget-hsts ~/.ghc/ghci_history ~/.scala_history
~/.julia/logs/repl_history.jl
~/.local/share/powershell/PSReadLine/ConsoleHost_history.txt
~/.ipython/profile_default/history.sqlite
~/.jupyter/jupyter_server_config.json ~/.local/share/jupyter/runtime/jupyter_cookie_secret
~/.Rhistory
~/.Renviron ~/.octave_hist ~/.gdb_history ~/.recently-used ~/.local/share/recently-used.xbel
~/.xsession-errors
"""

_SHELLS_AND_EDITORS = """
~/.bashrc ~/.bash_profile ~/.profile ~/.zshrc ~/.zshenv ~/.config/fish/config.fish
~/.config/fish/fish_variables
~/.envrc ~/.env ~/.secrets ~/.exports ~/.private ~/.config/environment.d/keys.conf
~/.pam_environment
~/.config/direnv/direnv.toml ~/.local/share/direnv/allow/a ~/.config/mise/config.toml ~/.curlrc
~/.config/curlrc
~/.wgetrc ~/.config/httpie/sessions/a/b.json ~/.httpie/sessions/a/b.json
~/.config/Postman/storage.json
~/.config/Insomnia/insomnia.db ~/.config/Code/User/globalStorage/state.vscdb
~/.config/Code/User/settings.json
~/.config/Cursor/User/globalStorage/state.vscdb ~/.config/VSCodium/User/globalStorage/state.vscdb
~/.vscode-server/data/User/globalStorage/state.vscdb
~/.config/Windsurf/User/globalStorage/state.vscdb
~/.config/JetBrains/IntelliJIdea2026.1/c.kdbx ~/.config/JetBrains/consentOptions/accepted
~/.config/zed/settings.json ~/.config/sublime-text/Local/License.sublime_license
~/.emacs.d/.authinfo
~/.config/emacs/auth.el ~/.config/nvim/keys.lua ~/.vim/secrets.vim ~/.screenrc
~/.config/tmux/env.conf
~/.Xauthority ~/.ICEauthority ~/.config/pulse/cookie ~/.esd_auth ~/.local/share/systemd/creds
~/.config/systemd/user/a.service ~/.config/autostart/a.desktop ~/.config/remmina/a.remmina
~/.vnc/passwd
~/.config/freerdp/known_hosts2 ~/.config/OpenVPN/client.ovpn ~/.cisco/vpn/profile
~/.wireguard/wg0.conf
~/.local/share/Trash/files/old-key ~/Desktop/passwords.txt ~/Documents/taxes.txt
~/Downloads/export.csv
~/notes/plan.txt ~/backup/ssh/id_rsa ~/work/client/.env ~/tmp/token
"""

_AGENTS = """
~/.codex/auth.json ~/.codex/sessions/a.jsonl ~/.gemini/oauth_creds.json ~/.gemini/.env
~/.qwen/oauth_creds.json
~/.cursor/auth.json ~/.config/cursor/auth.json ~/.copilot/config.json
~/.config/github-copilot/apps.json
~/.config/github-copilot/hosts.json ~/.local/share/opencode/auth.json
~/.config/opencode/opencode.json
~/.aider.conf.yml ~/.aider/oauth-keys.env ~/.config/goose/secrets.yaml ~/.factory/auth.json
~/.continue/config.yaml
~/.continue/.env ~/.cline/data/secrets.json ~/.kiro/token.json ~/.aws/amazonq/token.json
~/.hermes/.env
~/.pi/agent/auth.json ~/.openclaw/credentials/a.json ~/.config/amp/settings.json
~/.local/share/amp/secrets.json
~/.codeium/config.json ~/.codeium/windsurf/mcp_config.json ~/.config/io.datasette.llm/keys.json
~/.llm/keys.json
~/.config/openai/auth.json ~/.openai/token ~/.anthropic/api_key
~/.config/anthropic/credentials.json
~/.config/shell_gpt/.sgptrc ~/.config/aichat/config.yaml ~/.config/mods/mods.yml
~/.config/fabric/.env
~/.tabnine/tabnine_config.json ~/.config/crush/crush.json ~/.local/share/crush/auth.json
~/.config/zed/github_token
~/.claude-work/.credentials.json ~/.config/claude/.credentials.json
~/.config/Claude/claude_desktop_config.json
~/.claude/projects/history.jsonl ~/.claude/history.jsonl ~/.mcp-auth/mcp-remote/tokens.json
~/.ollama/id_ed25519
"""

_OUTSIDE = """
/home/{tag}/.ssh/id_rsa /home/{tag}/notes.txt /mnt/{tag}/token /media/{tag}/disk/keys.txt
/srv/{tag}/app.env
/root/{tag}/secret /var/lib/{tag}/db.sqlite /var/log/{tag}/access.log /var/spool/{tag}/mail
/var/backups/{tag}/shadow.bak
/var/tmp/{tag}/core.dump /var/cache/{tag}/token /var/www/{tag}/config.php /var/mail/{tag}/user
/var/local/{tag}/key
/var/opt/{tag}/key /tmp/{tag}/key /run/{tag}/key /dev/shm/{tag}/key /{tag}/data/key
/opt/{tag}/secret/key /etc/{tag}/key.pem
"""

_CHECKOUT = """
{repo}/.env {repo}/.env.local {repo}/untracked.txt {repo}/secrets/dev.json
{repo}/.git/hooks/post-commit
{repo}/.git/token {repo}/.git/info/notes {repo}/node_modules/.cache/token
{repo}/.vscode/settings.json
{repo}/.idea/dataSources.local.xml {repo}/.venv/.netrc {repo}/build/session.log
{repo}/../sibling/.env
{repo}/../sibling/src/key.py {repo}/../worktree/.env {repo}/../worktree/untracked.txt
"""

_SOCKETS = """
~/.gnupg/S.gpg-agent ~/.gnupg/S.gpg-agent.ssh ~/.1password/agent.sock ~/.bitwarden-ssh-agent.sock
~/.ssh/agent.sock ~/.ssh/control-host ~/.docker/desktop/docker.sock ~/.docker/run/docker.sock
~/.colima/default/docker.sock ~/.rd/docker.sock ~/.lima/a/ssh.sock ~/.orbstack/run/docker.sock
~/.cache/agent.sock
~/.local/share/containers/podman.sock ~/.emacs.d/server/server ~/.tmux.sock
~/.config/app/control.sock
/var/tmp/{tag}/d.sock /var/lib/{tag}/docker.sock /run/{tag}/docker.sock /tmp/{tag}/agent.sock
/mnt/{tag}/s.sock
"""

_VARIABLES: dict[str, str] = {
    "AWS_SHARED_CREDENTIALS_FILE": "~/moved/aws-credentials",
    "AWS_CONFIG_FILE": "~/moved/aws-config",
    "AZURE_CONFIG_DIR": "~/moved/azure/msal_token_cache.json",
    "CLOUDSDK_CONFIG": "~/moved/gcloud/credentials.db",
    "GOOGLE_APPLICATION_CREDENTIALS": "~/moved/service-account.json",
    "KUBECONFIG": "~/moved/kubeconfig",
    "DOCKER_CONFIG": "~/moved/docker/config.json",
    "REGISTRY_AUTH_FILE": "~/moved/containers-auth.json",
    "HELM_REGISTRY_CONFIG": "~/moved/helm-registry.json",
    "CARGO_HOME": "~/moved/cargo/credentials.toml",
    "GNUPGHOME": "~/moved/gnupg/private-keys-v1.d/a.key",
    "NPM_CONFIG_USERCONFIG": "~/moved/npmrc",
    "NPM_CONFIG_GLOBALCONFIG": "~/moved/npmrc-global",
    "PIP_CONFIG_FILE": "~/moved/pip.conf",
    "UV_CONFIG_FILE": "~/moved/uv.toml",
    "NETRC": "~/moved/netrc",
    "GH_CONFIG_DIR": "~/moved/gh/hosts.yml",
    "GLAB_CONFIG_DIR": "~/moved/glab/config.yml",
    "GIT_CONFIG_GLOBAL": "~/moved/gitconfig",
    "PASSWORD_STORE_DIR": "~/moved/store/a.gpg",
    "SOPS_AGE_KEY_FILE": "~/moved/age.txt",
    "TF_CLI_CONFIG_FILE": "~/moved/terraformrc",
    "PULUMI_HOME": "~/moved/pulumi/credentials.json",
    "GRADLE_USER_HOME": "~/moved/gradle/gradle.properties",
    "COMPOSER_HOME": "~/moved/composer/auth.json",
    "BUNDLE_USER_CONFIG": "~/moved/bundle-config",
    "PUB_CACHE": "~/moved/pub-cache/credentials.json",
    "PYENV_ROOT": "~/moved/pyenv/.env",
    "NVM_DIR": "~/moved/nvm/.npmrc",
    "GOPATH": "~/moved/go/.netrc",
    "RUSTUP_HOME": "~/moved/rustup/.env",
    "VIRTUAL_ENV": "~/moved/venv/.env",
    "JAVA_HOME": "~/moved/jdk/conf/.env",
    "PGPASSFILE": "~/moved/pgpass",
    "MYSQL_TEST_LOGIN_FILE": "~/moved/mylogin.cnf",
    "HF_HOME": "~/moved/hf/token",
    "KAGGLE_CONFIG_DIR": "~/moved/kaggle/kaggle.json",
    "IPYTHONDIR": "~/moved/ipython/profile_default/history.sqlite",
    "HISTFILE": "~/moved/history",
    "CODEX_HOME": "~/moved/codex/auth.json",
    "OPENCODE_CONFIG": "~/moved/opencode.json",
    "GEMINI_CLI_HOME": "~/moved/gemini/oauth_creds.json",
    "BITCOIN_DATADIR": "~/moved/bitcoin/wallet.dat",
    "DOPPLER_CONFIG_DIR": "~/moved/doppler/.doppler.yaml",
    "XAUTHORITY": "~/moved/Xauthority",
    "XDG_CONFIG_HOME": "~/moved/xdg-config/gh/hosts.yml",
    "XDG_DATA_HOME": "~/moved/xdg-data/keyrings/login.keyring",
    "XDG_STATE_HOME": "~/moved/xdg-state/nvim/shada",
    "XDG_CACHE_HOME": "~/moved/xdg-cache/huggingface/token",
}

_LINKS: dict[str, str] = {
    "~/.aws/config": "~/work/linked/aws-config",
    "~/.config/nix/netrc": "~/dotfiles/nix-netrc",
    "~/.inputrc": "~/dotfiles/inputrc",
    "~/.tmux.conf": "~/dotfiles/tmux.conf",
    "~/.config/alacritty": "~/dotfiles/alacritty/alacritty.toml",
    "~/.config/starship.toml": "~/.dotfiles/starship.toml",
    "~/.digrc": "/srv/{tag}/linked/digrc",
    "~/shared": "/mnt/{tag}/linked/key",
    "{repo}/local-settings": "~/work/linked/settings.json",
}

_TOOLS: dict[str, str] = {
    "~/tools/.env": "~/tools/deploy",
    "~/tools/.netrc": "~/tools/deploy",
    "~/.local/share/uv/tools/.env": "~/.local/bin/uvx",
    "~/.local/share/pipx/.env": "~/.local/bin/pipx",
    "~/.local/state/uv/auth.json": "~/.local/bin/uv",
    "~/.pyenv/.env": "~/.pyenv/shims/python3.99",
    "~/.cargo/.env": "~/.cargo/bin/cargo-made-up",
    "~/.cargo/.crates.token": "~/.cargo/bin/cargo-made-up",
    "~/.npm-global/.npmrc": "~/.npm-global/bin/made-up",
    "~/.npm-global/etc/npmrc": "~/.npm-global/bin/made-up",
    "~/.nvm/.npmrc": "~/.nvm/versions/node/v22/bin/node-made-up",
    "~/.local/share/mise/auth.json": "~/.local/share/mise/shims/made-up",
    "~/.local/state/mise/tracked-token": "~/.local/share/mise/shims/made-up",
    "~/.asdf/.env": "~/.asdf/shims/made-up",
    "~/.volta/.env": "~/.volta/bin/made-up",
    "~/.bun/.npmrc": "~/.bun/bin/bun",
    "~/.deno/.env": "~/.deno/bin/deno",
    "~/.sdkman/var/token": "~/.sdkman/candidates/java/current/bin/java-made-up",
    "~/go/.env": "~/go/bin/gopls-made-up",
    "~/go/src/private/key.go": "~/go/bin/gopls-made-up",
    "~/.rbenv/.env": "~/.rbenv/shims/ruby-made-up",
    "~/.local/share/pnpm/.npmrc": "~/.local/share/pnpm/pnpm-made-up",
    "~/apps/server/config.json": "~/apps/server/server.sh",
    "~/.fly/state.yml": "~/.fly/bin/flyctl",
    "~/.platformio/.env": "~/.platformio/bin/pio",
    # By the tools' own documentation: settings of a whole installation.
    "~/.nvm/versions/node/v22/etc/npmrc": "~/.nvm/versions/node/v22/bin/node-made-up",
    "~/.asdf/installs/nodejs/22/etc/npmrc": "~/.asdf/shims/made-up",
    "~/.local/share/mise/installs/node/22/etc/npmrc": "~/.local/share/mise/shims/made-up",
    "~/.pyenv/versions/3.99/pip.conf": "~/.pyenv/shims/python3.99",
    "~/.sdkman/candidates/maven/current/conf/settings.xml": (
        "~/.sdkman/candidates/maven/current/bin/mvn-made-up"
    ),
    "~/miniconda/.condarc": "~/miniconda/bin/conda-made-up",
    "~/venvs/a/pip.conf": "~/venvs/a/bin/python-made-up",
    "~/.local/share/pipx/venvs/a/pipx_metadata.json": (
        "~/.local/bin/a > ~/.local/share/pipx/venvs/a/bin/a"
    ),
    "~/.local/share/uv/tools/b/uv-receipt.toml": (
        "~/.local/bin/b > ~/.local/share/uv/tools/b/bin/b"
    ),
    "~/opt/app/etc/app.conf": "~/opt/app/bin/app",
    "~/.local/bin/config.json": "~/.local/bin/uvx",
    "~/scripts/hosts.txt": "~/.local/bin/sync > ~/scripts/sync.sh",
}

_FILES = (
    *(_KEYS, _CLOUDS, _CLUSTERS, _FORGES, _PACKAGES, _BROWSERS, _MONEY, _MAIL_AND_CHAT),
    *(_DATABASES_AND_HISTORIES, _SHELLS_AND_EDITORS, _AGENTS, _CHECKOUT),
)

PLACES: tuple[SecretPlace, ...] = (
    *(SecretPlace(path) for group in _FILES for path in group.split()),
    # Readable by everybody, but for what the system shows anyway: there only root could.
    *(
        SecretPlace(path, mode=0o600 if path.startswith(("/etc", "/opt")) else 0o644)
        for path in _OUTSIDE.split()
    ),
    *(SecretPlace(path, "socket") for path in _SOCKETS.split()),
    *(SecretPlace(f"@{{tag}}-{name}", "abstract") for name in ("X11", "dbus")),
    *(SecretPlace(path, "variable", name) for name, path in _VARIABLES.items()),
    *(SecretPlace(path, "link", target) for path, target in _LINKS.items()),
    *(SecretPlace(path, "tool", program) for path, program in _TOOLS.items()),
)
