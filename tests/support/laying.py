"""Lays a secret of its own in each of the places of tests/data/secret_places.toml, and takes all of
them away again."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from tests.support.tables import table
from tests.support.trust import Place

REACH = Path(__file__).with_name("reach.py")

_DATA = table("secret_places")


class SecretPlace(NamedTuple):
    """`kind`: file, socket (it says its secret to whoever connects), abstract (a socket without a
    file), link (its secret lies in `target`), variable (a file that the variable `target` names, or
    whose folder it names), tool (beside a program that PATH names; `target` is
    that program, or `LINK > PROGRAM` where a link on PATH leads to it).

    In a path `~` is HOME, `{repo}` the user's checkout, `{tag}` a name that nothing else on the
    machine has: outside of HOME and the checkout a place lies under a folder of that name alone.
    """

    path: str
    kind: str = "file"
    target: str = ""
    mode: int = 0o600


PLACES: tuple[SecretPlace, ...] = (
    *(SecretPlace(path) for group in _DATA["files"].values() for path in group.split()),
    # Readable by everybody, but for what the system shows anyway: there only root could.
    *(
        SecretPlace(path, mode=0o600 if path.startswith(("/etc", "/opt")) else 0o644)
        for path in _DATA["more"]["outside"].split()
    ),
    *(SecretPlace(path, "socket") for path in _DATA["more"]["sockets"].split()),
    *(SecretPlace(f"@{{tag}}-{name}", "abstract") for name in ("X11", "dbus")),
    *(SecretPlace(path, "variable", name) for name, path in _DATA["variables"].items()),
    *(SecretPlace(path, "link", target) for path, target in _DATA["links"].items()),
    *(SecretPlace(path, "tool", program) for path, program in _DATA["tools"].items()),
)


class Secrets:
    """The secrets of one place, by their value; a stack takes away what lies outside of it."""

    def __init__(self, place: Place, stack: ExitStack) -> None:
        self.tag = f"hydra-{secrets.token_hex(6)}"
        self.places: dict[str, SecretPlace] = {}
        self._place = place
        self._stack = stack
        for number, entry in enumerate(PLACES):
            secret = f"canary-{self.tag}-{number}-{secrets.token_hex(6)}"
            # Only root may write beside HOME; what this account cannot lay nobody has there.
            with suppress(PermissionError, FileNotFoundError):
                self._lay(entry, secret)
                self.places[secret] = entry

    def path(self, template: str) -> Path:
        """Where a row of the table lies."""
        named = template.format(tag=self.tag, repo=self._place.repo)
        return Path(os.path.normpath(named.replace("~", str(self._place.home), 1)))

    def write_script(self, folder: Path) -> str:
        """Puts the script and the list of places (no secret) there; its command line."""
        shutil.copy(REACH, folder / "reach.py")
        rows = [[entry.kind, str(self.path(entry.path))] for entry in PLACES]
        (folder / "places.json").write_text(json.dumps(rows))
        return f"python3 reach.py places.json {self.tag} 30 {_interpreters()}"

    def names_in(self, text: str) -> dict[str, str]:
        """The rows of the table whose secret stands in `text`, each with its line there."""
        lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
        return {
            entry.path: lines.get(secret, secret)
            for secret, entry in self.places.items()
            if secret in text
        }

    def _lay(self, entry: SecretPlace, secret: str) -> None:
        path = self.path(entry.path)
        if entry.kind == "abstract":
            self._serve("\0" + str(path)[1:], secret)
            return
        self._make_folder(path.parent)
        if entry.kind == "socket":
            self._serve(str(path), secret)
            path.chmod(0o777)
        elif entry.kind == "link":
            self._link(path, self.path(entry.target), secret)
        else:
            self._write(path, secret, entry.mode)
        if entry.kind == "variable":
            self._set(entry.target, path)
        elif entry.kind == "tool":
            self._install(*entry.target.split(" > "))

    def _make_folder(self, folder: Path) -> None:
        outside = next((p for p in (folder, *folder.parents) if p.name == self.tag), None)
        folder.mkdir(parents=True, exist_ok=True)
        if outside is not None:
            self._stack.callback(shutil.rmtree, outside, ignore_errors=True)

    def _write(self, path: Path, secret: str, mode: int) -> None:
        # How it stands in a file that is read by keys; anywhere else it stands alone.
        forms = _DATA["formats"].items()
        form = next((form for end, form in forms if str(path).endswith(end)), "{}\n")
        path.write_text(form.format(secret))
        path.chmod(mode)

    def _link(self, path: Path, target: Path, secret: str) -> None:
        self._make_folder(target.parent)
        self._write(target, secret, 0o644)
        path.symlink_to(target)

    def _set(self, name: str, path: Path) -> None:
        top = self._place.home / "moved"
        self._place.extra[name] = str(top / path.relative_to(top).parts[0])

    def _install(self, on_path: str, real: str = "") -> None:
        link, program = self.path(on_path), self.path(real or on_path)
        for folder in {link.parent, program.parent}:
            folder.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        if real:
            link.symlink_to(program)
        if (program.parent.parent / "pip.conf").exists() or real.endswith(("/a", "/b")):
            (program.parent.parent / "pyvenv.cfg").write_text("home = /usr/bin\n")
        if link.parent not in self._place.path:
            self._place.path.append(link.parent)

    def _serve(self, address: str, secret: str) -> None:
        server = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(address)
        server.listen()
        threading.Thread(target=_tell, args=(server, secret.encode()), daemon=True).start()


def _interpreters() -> Path:
    """Where this one lies with its like: a walk through all of them finds nothing, for seconds."""
    prefix = Path(sys.base_prefix)
    return next((top for top in prefix.parents if top.name.startswith(".")), prefix)


def _tell(server: socket.socket, secret: bytes) -> None:
    with suppress(OSError):  # closed: the test is over
        while True:
            client, _ = server.accept()
            with client, suppress(OSError):
                client.sendall(secret)
