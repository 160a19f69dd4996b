"""Programs in HOME in the shapes in which people have them, with somebody's things beside each.

A shape is steps of `KIND PATH [TARGET]`, below HOME: `run` a script, `elf` a compiled program,
`by` a script that is run by TARGET, `link`,
`on` a folder that PATH names, `file` with TARGET as its text, `all` makes everything in a folder
executable, `set` names a folder by the variable TARGET; `work` lays somebody's things into a
folder, `secret` a file. Whatever may be executed and links on PATH to it are tried.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WORK = """letter.txt plan taxes.pdf deep/diary.md deep/er/list.csv project/.git/config
project/notes.py project/src/key.txt photos/me.jpg .notes"""

BIN = ".local/bin"

_LINKED = """
elf stuff/lk/t
elf Dropbox/t
elf my-files/a/b/c/t
elf .config/app/t
elf .local/share/app/t
elf .local/share/app2/bin/t
elf Downloads/t
elf Applications/x.AppImage
elf .x/t
elf hg/t; file hg/.hg/hgrc
elf src/co/target/release/t; file src/co/.git/HEAD
elf src/tree/t; file src/tree/.git gitdir:
run src/dots/t; file src/dots/.git/HEAD
run src/dots2/bin/t; file src/dots2/.git/HEAD; work src/dots2/lib
run scripts/t
elf p1/bin/t; work p1; work p1/share; work p1/lib; work p1/opt; work p1/include
run p2/bin/t; work p2/share/books; work p2/lib; work p2/libexec
elf p3/sbin/t; work p3; work p3/Cellar
elf p4/libexec/t; work p4; work p4/opt
elf x/.cargo2/bin/t; work x/.cargo2/share
elf a1/t; file a1/t.dll MZ; file a1/t.runtimeconfig.json {}
elf a2/t; file a2/icudtl.dat; file a2/resources/app.asar; file a2/locales/de.pak; work a2/resources
elf a3/t; file a3/_internal/base_library.zip
elf a4/t; file a4/lib/std/std.zig
elf a5/AppRun
elf chain/t; work chain
"""
"""The first of each line is linked from `~/.local/bin`; its folder has somebody's things."""

_OTHERS = """
elf old/.rustup/toolchains/s/bin/t; link .local/bin/old old/.rustup/toolchains/s/bin/t; work old
elf i1/sh; by .local/bin/i1 i1/sh; work i1
elf Documents/sh; by .local/bin/i2 Documents/sh; work Documents
elf sh-in-home; by .local/bin/i3 sh-in-home; secret letter.txt
elf i4/run; by i4b/run i4/run; by .local/bin/i4 i4b/run; work i4; work i4b
elf i5/run; link i5l i5; by .local/bin/i5 i5l/run; work i5
elf i7/bin/run; by .local/bin/i7 i7/bin/run; work i7; work i7/bin; work i7/share; work i7/lib
elf src/i8/run; file src/i8/.git/HEAD; by .local/bin/i8 src/i8/run; work src/i8
elf c3/t; link c2/t c3/t; link c1/t c2/t; link .local/bin/c1 c1/t; work c1; work c2; work c3
work .local/bin
run tools/t1; elf tools/t2; on tools; work tools
run Sync/scripts/t3; on Sync/scripts; work Sync/scripts; work Sync
run bin/t4; on bin; work bin
run Documents/scripts/t5; on Documents/scripts; work Documents/scripts
run hid/t6; on hid; work hid/.private
run co/t7; file co/.git/config; on co; work co
run co2/bin/t8; file co2/.git/config; on co2/bin; work co2/bin; work co2; work co2/share
run co3/a/b/t9; file co3/.git/config; on co3/a/b; work co3/a/b
run many/t10; file many/two/three/.git/HEAD; on many; work many/one; work many/two/three
run pp/bin/t11; on pp/bin; work pp; work pp/bin; work pp/share; work pp/lib; work pp/opt
run pp2/sbin/t12; on pp2/sbin; work pp2/share; work pp2/sbin/x
run plr/t13; link pl plr; on pl; work plr
run pd/t14; work pdd; link pd/docs pdd; link pd/letter pdd/letter.txt; on pd
file pb/lib/x.sh; run pb/bin/t15; on pb/bin; work pb/lib
run xb/t16; secret xb/sub/letter.txt; secret xb/sub/plan; secret xb/sub/.env; all xb; on xb
run nt/t17; secret nt/letter.txt; secret nt/k.env; secret nt/.env; secret nt/id_rsa; all nt; on nt
secret nt2/letter.txt; all nt2; link .local/bin/n1 nt2/letter.txt
secret nt3/token.json; all nt3; link .local/bin/n2 nt3/token.json
run ne/t18; work ne/sub; run ne/sub/bin/t19; on ne; on ne/sub/bin
run dl/t20; secret dl/lib/a/b/c/d/e/letter.txt; on dl
run sn/bin/report; secret sn/share/report/2024.pdf; secret sn/share/reports.txt; on sn/bin
run sc/bin/report; file sc/share/report/.git/HEAD; secret sc/share/report/data; on sc/bin
run ll/bin/t21; work lld; link ll/lib lld; link ll/share lld; on ll/bin
run bdocs/t22; link bl/bin bdocs; on bl/bin; work bdocs
run vv/.venv/bin/t23; file vv/.venv/pyvenv.cfg; on vv/.venv/bin; work vv
run vp/bin/t24; file vp/pyvenv.cfg; on vp/bin; work vp
file ve/pyvenv.cfg; work ve; set ve VIRTUAL_ENV
file ce/conda-meta/history; work ce; set ce CONDA_PREFIX
elf py/python3; file vb/pyvenv.cfg home=py; link vb/bin/t25 py/python3; on vb/bin; work py
run n/node_modules/x/c; link n/node_modules/.bin/t26 ../x/c; on n/node_modules/.bin; work n
run .cargo/bin/t27; on .cargo/bin; secret .cargo/letter.txt; secret .cargo/.env
"""

SHAPES = tuple(
    f"{line}; link {BIN}/s{number} {first.split()[1]}; work {Path(first.split()[1]).parent}"
    for number, line in enumerate(_LINKED.strip().splitlines())
    for first in [line.split(";")[0]]
) + tuple(_OTHERS.strip().splitlines())


@dataclass
class Shapes:
    """All of them laid into one HOME."""

    home: Path
    path: list[Path] = field(default_factory=list)
    programs: list[Path] = field(default_factory=list)
    secrets: dict[str, Path] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    not_runnable: tuple[str, ...] = ("n1", "n2")

    def lay(self, shapes: Sequence[str] = SHAPES) -> None:
        """Lays the shapes."""
        self.path.append(self.home / BIN)
        for step in (step for shape in shapes for step in shape.split(";")):
            self.step(step)
        self.programs = [path for path in self.programs if path.name not in self.not_runnable]

    def step(self, step: str) -> None:
        """One step of a shape."""
        kind, name, target = (*step.split(), "")[:3]
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        getattr(self, f"_{kind}")(path, target)

    def _run(self, path: Path, _: str) -> None:
        self._write(path, "#!/bin/sh\nexit 0\n", 0o755)
        self._try(path)

    def _by(self, path: Path, interpreter: str) -> None:
        self._write(path, f"#!{self.home}/{interpreter}\n", 0o755)
        self._try(path)

    def _elf(self, path: Path, _: str) -> None:
        shutil.copy("/bin/true", path)
        self._try(path)

    def _link(self, path: Path, target: str) -> None:
        beside = target.startswith("..") or "." in path.name
        path.symlink_to(target if beside else self.home / target)
        self._try(path)

    def _on(self, path: Path, _: str) -> None:
        self.path.append(path)

    def _set(self, path: Path, name: str) -> None:
        self.variables[name] = str(path)

    def _file(self, path: Path, text: str) -> None:
        home, _, base = text.partition("=")
        self._write(path, f"{home} = {self.home}/{base}\n" if base else text)

    def _all(self, folder: Path, _: str) -> None:
        for path in (path for path in folder.rglob("*") if path.is_file()):
            path.chmod(0o755)

    def _work(self, folder: Path, _: str) -> None:
        for name in WORK.split():
            self._secret(folder / name, "")

    def _secret(self, path: Path, _: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        secret = f"canary-{len(self.secrets):04d}-{secrets.token_hex(4)}"
        self.secrets[secret] = path
        self._write(path, secret)

    def _write(self, path: Path, text: str, mode: int = 0o644) -> None:
        path.write_text(text)
        path.chmod(mode)

    def _try(self, path: Path) -> None:
        folders = (self.home / BIN, *self.path)
        if path.is_file() and (path.parent in folders or not path.is_symlink()):
            self.programs.append(path)
