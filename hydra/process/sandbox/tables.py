"""What a lane sees of a machine and of HOME, as tables. docs/why/trust.md has them in words."""

from __future__ import annotations

SYSTEM = (
    *("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"),
    *("etc", "opt", "nix", "gnu", "sys"),
)
"""Of `/`: read-only as they are. Everything else of `/` is not there unless something asks."""

VAR = (
    "lib/dpkg/status",
    "lib/gems",
    "lib/texmf",
    "lib/ca-certificates",
    "lib/python",
    "lib/ghc",
    "lib/ocaml",
    "cache/fontconfig",
    "lib/dbus/machine-id",
)
"""Of `/var`, in the same way."""

SCRATCH = ("/tmp", "/run", "/var/tmp")  # noqa: S108  an empty one of the lane's own
"""Empty and the lane's own: sockets of docker, ssh-agent and dbus lie in the machine's."""

ROOTS: dict[str, tuple[str, ...]] = {
    ".pyenv": (),
    ".rbenv": (),
    ".nodenv": (),
    ".goenv": (),
    ".jenv": (),
    ".tfenv": (),
    ".plenv": (),
    ".phpenv": (),
    ".opam": (),
    ".fnm": (),
    ".n": (),
    ".juliaup": (),
    ".npm-global": (),
    ".linuxbrew": (),
    ".nvm": ("versions", "alias", "nvm.sh", "nvm-exec", "bash_completion"),
    ".rustup": ("toolchains", "settings.toml", "update-hashes"),
    ".cargo": ("bin", "env"),
    ".asdf": ("bin", "lib", "libexec", "shims", "installs", "plugins", "asdf.sh", "completions"),
    ".sdkman": ("candidates", "bin", "libexec", "src", "etc"),
    ".volta": ("bin", "tools"),
    ".bun": ("bin", "install"),
    ".deno": ("bin",),
    ".dotnet": (
        *("dotnet", "sdk", "shared", "host", "packs"),
        *("tools", "templates", "sdk-manifests", "metadata"),
    ),
    ".ghcup": ("bin", "ghc", "hls"),
    ".cabal": ("bin", "packages", "store", "lib"),
    ".stack": ("programs", "snapshots"),
    ".julia": ("juliaup", "packages", "artifacts", "compiled", "registries"),
    ".gem": ("ruby",),
    ".luarocks": ("bin", "lib", "share"),
    ".composer": ("vendor",),
    ".pub-cache": ("bin", "hosted", "global_packages"),
    ".yarn": ("bin",),
    ".opencode": ("bin",),
    ".local": ("lib",),
    ".local/lib": (),
    ".local/share/cursor-agent": ("versions",),
    ".local/share/fnm": (),
    ".local/share/uv": ("python", "tools"),
    ".local/share/pipx": ("venvs", "shared", "py"),
    ".local/pipx": ("venvs", "shared", "py"),
    ".local/share/mise": ("installs", "shims", "bin", "plugins", "downloads"),
    ".local/share/pnpm": ("nodejs", "global", "store", "bin", ".tools"),
    ".local/share/gem": ("ruby",),
    ".local/share/claude": ("versions",),
    ".config/composer": ("vendor",),
    "go": ("bin",),
    ".jdks": (),
    "n": ("bin", "lib", "include", "n"),
    "sdk": (),
    "perl5": (),
}
"""Where tools are installed, from HOME, and which parts of it are shown; () is all of it.

What is not named stays out: tokens and histories lie beside (`.cargo/credentials.toml`,
`.local/share/uv/credentials`, `.dotnet/corefx`, `.julia/logs`, `.pub-cache/credentials.json`).
"""

BESIDE = {".cargo": (".rustup",)}
"""Roots that are of no use without another: rustup's proxies lie in `.cargo/bin`."""

_DOWNLOADED = (".cache/ms-playwright", ".cache/puppeteer", ".cache/Cypress", ".cache/node")

CACHES = (
    *_DOWNLOADED,
    ".cache/fontconfig",
    ".m2/repository",
    ".m2/wrapper",
    ".gradle/wrapper",
    ".gradle/caches",
    ".ivy2/cache",
    ".nuget/packages",
    ".local/share/pnpm/store",
    ".local/share/pnpm/.tools",  # pnpm fetches there the versions of itself that projects pin
    ".fonts",
    ".local/share/fonts",
    ".config/fontconfig",
)
"""Downloads and fonts without keys, read-only where they lie. Not those that a lane's own
variables lead away from (cargo, Go, uv, coursier): private packages would lie there unused."""

ROOT_VARIABLES: dict[str, tuple[str, ...]] = {
    "PYENV_ROOT": (),
    "RBENV_ROOT": (),
    "GOROOT": (),
    "JAVA_HOME": (),
    "VIRTUAL_ENV": (),
    "CONDA_PREFIX": (),
    "ANDROID_HOME": (),
    "PLAYWRIGHT_BROWSERS_PATH": (),
    "NVM_DIR": ROOTS[".nvm"],
    "RUSTUP_HOME": ROOTS[".rustup"],
    "CARGO_HOME": ROOTS[".cargo"],
    "GOPATH": ROOTS["go"],
    "ASDF_DATA_DIR": ROOTS[".asdf"],
    "MISE_DATA_DIR": ROOTS[".local/share/mise"],
    "SDKMAN_DIR": ROOTS[".sdkman"],
    "VOLTA_HOME": ROOTS[".volta"],
    "BUN_INSTALL": ROOTS[".bun"],
    "PNPM_HOME": ROOTS[".local/share/pnpm"],
    "DOTNET_ROOT": ROOTS[".dotnet"],
}
"""Variables that name a root, with the parts of its row."""

ROOT_MARKS: dict[str, tuple[str, ...]] = {
    "PYENV_ROOT": ("versions", "shims"),
    "RBENV_ROOT": ("versions", "shims"),
    "GOROOT": ("bin/go", "pkg/tool"),
    "JAVA_HOME": ("bin/java", "jre/bin/java"),
    "VIRTUAL_ENV": ("pyvenv.cfg",),
    "CONDA_PREFIX": ("conda-meta",),
    "ANDROID_HOME": ("platforms", "platform-tools", "build-tools"),
    "PLAYWRIGHT_BROWSERS_PATH": (".links",),
}
"""What a folder holds that is shown as a whole because a variable names it: one of these."""

CERTIFICATE_VARIABLES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CODEX_CA_CERTIFICATE",
)

ENVIRONMENT_PARTS = (
    *("bin", "sbin", "lib", "lib64", "libexec", "include", "share", "pyvenv.cfg", "conda-meta"),
    *("etc/jupyter", "etc/conda", "ssl", "condabin", "compiler_compat"),
    *("x86_64-conda-linux-gnu", "aarch64-conda-linux-gnu"),
)
"""Of a virtual or conda environment that was made in a folder where other things lie."""

OF_ENVIRONMENTS = frozenset(
    (
        *ENVIRONMENT_PARTS,
        *("etc", "man", ".gitignore", ".lock", "CACHEDIR.TAG", "Lib", "Scripts", "doc", "var"),
        *("fonts", "cmake", "mkspecs", "plugins", "phrasebooks", "qml", "translations"),
    )
)
"""What lies in an environment's own folder."""

NEVER_WHOLE_OF_HOME = (
    *("", ".config", ".local", ".local/share", ".local/state", ".cache", "bin"),
    *("src", "Documents", "Desktop", "Downloads", "snap", ".var"),
)
NEVER_WHOLE = ("/", "/home", "/tmp", "/var", "/var/tmp", "/mnt", "/srv", "/media", "/root", "/run")  # noqa: S108
"""Folders of which a part may be shown, and never all, whatever names them."""

ON_PATH = "on PATH"
"""The reason of a folder that PATH names, and of no other."""

SECRET_PLACES = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".docker",
    ".kube",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".password-store",
    ".local/share/keyrings",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".pgpass",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".gem/credentials",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
)
"""Keys and tokens in HOME. Nothing of HOME is shown that is not asked for: these, and what holds
one, are not shown as a whole even then, and a lane's copy of settings brings none of them along."""

AGENT_PLACES = (
    ".claude",
    ".claude.json",
    ".codex",
    ".cursor",
    ".config/cursor",
    ".gemini",
    ".qwen",
    ".copilot",
    ".config/opencode",
    ".local/share/opencode",
    ".local/state/opencode",
    ".aider",
    ".config/goose",
    ".local/share/goose",
    ".aider.conf.yml",
    ".config/amp",
    ".local/share/amp",
    ".factory",
    ".cline",
    ".continue",
    ".kiro",
    ".hermes",
    ".openclaw",
    ".omp",
    ".pi",
)
"""Agents' own settings: each sees a copy of its own, and no rival's."""
