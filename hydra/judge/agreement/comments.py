"""Comments that are obeyed, and so are not only comments."""

from __future__ import annotations

import re

_OBEYED = (
    r"noqa|type:|pragma|pylint|mypy|pyright|ruff:|flake8|isort:|fmt:|yapf|nosec|pytype|cython"
    r"|eslint|tslint|jshint|jslint|@ts-|prettier-|biome-|oxlint|deno-|istanbul|[cv]8 ignore"
    r"|webpack|[@#]__|@jsx|@flow|@noflow|@vite|@jest|@vitest|@license|@preserve|@cc_on|[@#] ?source"
    r"|//[a-z]+:\S|//\s*\+build|//\s*(?:line|export|extern) |nolint|lint:|//\s*<"
    r"|\*\s*(?:globals?|exported) |@deprecated|fall.?s?.?through|clang-|NOLINT|LCOV|GCOV|cppcheck"
    r"|coverity|language=|rubocop|frozen_string|coding[:=]|warn_indent|typed:|shellcheck|yamllint"
    r"|yaml-language|\$schema|syntax=|swiftlint|ktlint|checkstyle|NOSONAR|NOPMD|CHECKSTYLE"
    r"|@formatter|skipcq|nosemgrep|renovate:|x-release"
)

DIRECTIVE = re.compile(_OBEYED, re.I)
"""What a comment holds that a compiler, a linter or a generator obeys. Too much of it found only
means that two patches are not called the same."""
