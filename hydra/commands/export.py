"""`hydra diff --mbox` and `--bundle`: a lane's patch for somebody else's git."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hydra.errors import Refused
from hydra.git import export as handing
from hydra.git import patches
from hydra.git.runner import run
from hydra.landing.compose import message_of
from hydra.race.command_context import CommandContext
from hydra.race.recovery import runs
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord

_MAIL = (
    *("format-patch", "--stdout", "--binary", "--full-index", "--no-renames", "--no-signature"),
    *("--no-ext-diff", "--no-textconv", "--no-attach", "--no-thread", "--subject-prefix=PATCH"),
)

_MIME = (b"mime-version:", b"content-type:", b"content-transfer-encoding:")
_QUOTED_PRINTABLE = (
    *(b"MIME-Version: 1.0", b"Content-Type: text/plain; charset=UTF-8"),
    b"Content-Transfer-Encoding: quoted-printable",
)
_QUOTED = re.compile(rb"[=\r\x80-\xff]")


def export(place: CommandContext, record: RunRecord, lane: str, *, bundle: bool) -> bytes:
    """A lane's patch as `git am` takes it, or as a bundle that `git fetch` does.

    The mail is the user's own, as a landing's commit would be. Raises `Refused` for a lane that
    changed nothing, `UsageError` for one that is not there.
    """
    with shared(record.folder):
        commit, base = runs.commit_of(record, lane), record.base
        if commit == base:
            raise Refused(
                f"there is nothing to export: the patch of {lane} is empty",
                hint=f"`hydra runs show {record.id}` says why",
            )
        if bundle:
            return _bundle(record.patches, base, lane)
        config = place.repository.config
        terms = ("rev-parse", "--verify", f"{commit}^{{tree}}")
        with tempfile.TemporaryDirectory(dir=record.patches, prefix="mail-") as folder:
            own = handing.make_commit(
                record.patches,
                Path(folder),
                tree=run(*terms, git_dir=record.patches, isolated=True).line,
                head=base,
                message=message_of([patches.message(record.patches, commit)]).encode(),
                identity={key: config[key] for key in ("user.name", "user.email") if key in config},
                environ=place.environ,
                sign=False,
            )
            mail = run(
                *(*_MAIL, f"{base}..{own}"),
                git_dir=record.patches,
                isolated=True,
                timeout=300,
                extra_env=handing.beside_patches(record.patches, Path(folder)),
            ).stdout
    if b"\r" not in mail:
        return mail
    # As quoted-printable: of plain mail `git am` takes the CR from every line's end.
    head, _, body = mail.partition(b"\n\n")
    lines = [line for line in head.split(b"\n") if not line.lower().startswith(_MIME)]
    quoted = _QUOTED.sub(lambda match: b"=%02X" % match[0][0], body)
    return b"\n".join((*lines, *_QUOTED_PRINTABLE, b"", quoted))


def _bundle(store: Path, base: str, lane: str) -> bytes:
    with tempfile.TemporaryDirectory(dir=store, prefix="bundle-") as folder:
        file = Path(folder) / "bundle"
        row = ("bundle", "create", "--quiet", file, f"refs/heads/{lane}", f"^{base}")
        run(*row, git_dir=store, isolated=True, timeout=300)
        return file.read_bytes()
