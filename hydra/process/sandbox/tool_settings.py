"""Settings of tools by which nothing is opened and nothing is run: what a lane's own settings files
are made anew of. Regular expressions that a key's whole name has to fit. An allow-list: a filter
of bad names lets the next bad name through."""

from __future__ import annotations

GIT = (
    r"user\.(name|email|useconfigonly)|init\.defaultbranch|safe\.directory"
    r"|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|quotepath|whitespace|abbrev"
    r"|longpaths|symlinks|filemode|checkstat|trustctime|commentchar|bigfilethreshold)"
    r"|(color|column|advice|status|log|branch|tag|rerere|stash|versionsort)\..*"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|colormovedws|context|interhunkcontext"
    r"|mnemonicprefix|noprefix|indentheuristic|relative|submodule|wserrorhighlight|stat.*)"
    r"|merge\.(conflictstyle|ff|renames|renamelimit|stat|log|autostash)"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|all)"
    r"|rebase\.(autostash|autosquash|updaterefs|stat|missingcommitscheck)"
    r"|commit\.(verbose|cleanup|status)|help\.autocorrect|i18n\..*|pack\.(threads|window.*)"
    r"|index\.(version|threads)|feature\..*|http\.(sslverify|version|postbuffer|lowspeed.*)"
)
"""Of `~/.gitconfig` and what it includes, as `git config --list` prints them."""

GIT_VALUES = {
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.smudge": "git-lfs smudge -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "filter.lfs.required": "true",
}
"""Further ones, with the one value that each may have."""

NPM = (
    r"(@[\w.-]+:)?registry|strict-ssl|cafile|engine-strict|save(-exact|-prefix)?|package-lock"
    r"|legacy-peer-deps|fund|audit|audit-level|progress|loglevel|update-notifier|color|prefix"
    r"|fetch-(retries|retry-\w+|timeout)|maxsockets|prefer-(offline|online|dedupe)|omit|include"
    r"|install-strategy|ignore-scripts|node-linker|shamefully-hoist|hoist|hoist-pattern(\[\])?"
    r"|public-hoist-pattern(\[\])?|auto-install-peers|strict-peer-dependencies|symlink"
    r"|prefer-workspace-packages|link-workspace-packages|resolution-mode|resolve-peers-from-.*"
    r"|side-effects-cache|enable-pre-post-scripts|init-(license|version|author-name)"
)

PIP = (
    r"(index|extra-index|find-links)(-url)?|no-index|trusted-host|timeout|default-timeout|retries"
    r"|no-cache-dir|disable-pip-version-check|prefer-binary|only-binary|no-binary|no-color|pre"
    r"|require-virtualenv|break-system-packages|user|no-warn-script-location|progress-bar|cert"
    r"|no-build-isolation|use-pep517|upgrade-strategy|root-user-action|quiet|verbose"
)

UV = (
    r"(pip\.)?(index-url|extra-index-url|find-links|no-index|index-strategy|resolution|prerelease"
    r"|no-build|no-binary|no-cache|offline|python-preference|python-downloads|link-mode"
    r"|compile-bytecode|concurrent-\w+|native-tls|exclude-newer|no-build-isolation|system"
    r"|break-system-packages|allow-insecure-host)|index\.(name|url|default|explicit|format)"
    r"|python-install-mirror|pypy-install-mirror"
)

CARGO = (
    r"build\.(jobs|target|rustflags|incremental|dep-info-basedir|rustdocflags|pipelining)"
    r"|net\.(offline|retry|git-fetch-with-cli)|term\..*|profile\..*|future-incompat-report\..*"
    r"|http\.(check-revoke|multiplexing|timeout|low-speed-limit|cainfo|ssl-version)"
    r"|source\.[^.]+\.(replace-with|registry|directory|local-registry|git|branch|tag|rev)"
    r"|registries\.[^.]+\.(index|protocol)|registry\.default|target\..*\.(linker|rustflags|ar)"
)

MISE = r"(tools|alias)\..*|settings\.(experimental|legacy_version_file|jobs|verbose)"

YARN_BERRY = (
    r"nodeLinker|npmRegistryServer|enableTelemetry|compressionLevel|enableGlobalCache|nmMode"
    r"|nmHoistingLimits|pnpMode|pnpFallbackMode|enableScripts|enableImmutableInstalls|logFilters"
    r"|httpTimeout|httpRetry|networkConcurrency|enableStrictSsl|defaultSemverRangePrefix"
    r"|enableColors|enableProgressBars|checksumBehavior|supportedArchitectures"
)

GO = (
    r"GOPROXY|GOSUMDB|GOPRIVATE|GONOPROXY|GONOSUMDB|GOINSECURE|GOVCS|GOFLAGS|GOTOOLCHAIN|GOOS"
    r"|GOARCH|GOAMD64|GOARM|GOARM64|GOEXPERIMENT|GOTELEMETRY|GOWORK|CGO_ENABLED|GO111MODULE"
)
