"""What a lane sees: computed from PATH, programs, roots and variables; nothing else is there."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.discovery import compute_view, own_installation
from hydra.process.sandbox.filters import clean_address
from hydra.process.sandbox.lookups import matches
from hydra.process.sandbox.places import show_problems
from hydra.process.sandbox.policy import SandboxPolicy, hidden_variables
from hydra.process.sandbox.tables import CACHES, ROOTS
from hydra.process.sandbox.user_settings import FILTERED
from hydra.process.sandbox.view import View
from hydra.records.plan import Confinement
from tests.conftest import git, make_repository
from tests.support.processes import namespaces_work
from tests.support.trust import ORDINARY, PROJECT, python_for

TOKEN = "made-up-token-of-nobody"
SYSTEM_PATH = "/usr/bin:/bin"


@dataclass
class Machine:
    """A user's HOME with tools, to be looked at and to be run in."""

    scratch: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = self.scratch / "home"
        self.home.mkdir()
        self.state = self.scratch / "state"

    def file(self, name: str, text: str = "x", mode: int = 0o644) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def program(self, name: str, text: str = "#!/bin/sh\necho ran\n") -> Path:
        return self.file(name, text, 0o755)

    def compiled(self, name: str) -> Path:
        path = self.program(name, "")
        shutil.copy("/bin/true", path)
        return path

    def view(self, *path: Path | str, **document: object) -> View:
        entries = os.pathsep.join((*map(str, path), SYSTEM_PATH))
        environ = {"PATH": entries, "HOME": str(self.home), **self.env}
        return compute_view(self.home, environ, guarded=(self.state,), **document)  # type: ignore[arg-type]

    def shown(self, *path: Path | str, **document: object) -> set[str]:
        """What of HOME is shown, from there."""
        shown = (shown_place.path for shown_place in self.view(*path, **document).shown)
        return {str(path.relative_to(self.home)) for path in shown if self.home in path.parents}

    def run(self, view: View, *argv: str, env: Mapping[str, str] | None = None) -> str:
        """A command's output in a lane with that view; what it says on stderr is part of it."""
        lane = self.state / "g" / "ab12" / "claude"
        (lane / "shop").mkdir(parents=True, exist_ok=True)
        policy = SandboxPolicy(
            state=self.state,
            view=view,
            cwd=lane / "shop",
            home_folder=lane / "user",
            writable=(lane / "shop",),
        )
        bwrap = Confinement(kind="bwrap", program=shutil.which("bwrap") or "")
        done = subprocess.run(
            confine(bwrap, policy, argv),
            env={"PATH": SYSTEM_PATH, "HOME": str(self.home), **(env or {})},
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr


@pytest.fixture
def machine(scratch: Path) -> Machine:
    return Machine(scratch)


needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")


# What is shown


@pytest.mark.parametrize("root", sorted(ROOTS))
def test_a_root_is_shown_in_its_parts_and_what_lies_beside_them_is_not(
    machine: Machine, root: str
) -> None:
    parts = ROOTS[root]
    folder = f"{root}/{parts[0]}" if parts else f"{root}/current"
    tool = machine.program(f"{folder}/bin/tool")
    machine.file(f"{root}/notes-of-somebody/history", TOKEN)
    view = machine.view(tool.parent)
    assert view.is_visible(tool)
    beside = machine.home / root / "notes-of-somebody" / "history"
    assert view.is_visible(beside) is (not parts)
    assert not view.is_visible(machine.file("notes"))


def test_what_a_program_stands_on_is_shown_by_every_name_on_the_way(machine: Machine) -> None:
    machine.program(".nvm/versions/node/v22/bin/node")
    cli = machine.program(
        ".nvm/versions/node/v22/lib/node_modules/agent/cli.js",
        f"#!{machine.home}/.nvm/versions/node/v22/bin/node\n",
    )
    first = machine.home / "links" / "agent"
    first.parent.mkdir()
    first.symlink_to(os.path.relpath(cli, first.parent))
    entry = machine.home / ".local" / "bin"
    entry.mkdir(parents=True)
    (entry / "agent").symlink_to(first)
    view = machine.view(entry)
    assert view.is_visible(entry / "agent")
    assert view.is_visible(machine.home / ".nvm/versions/node/v22/bin/node")
    assert view.links[first] == os.path.relpath(cli, first.parent)
    assert not view.is_visible(machine.file(".nvm/.npmrc"))


def test_a_virtual_environment_is_shown_whole_with_the_python_it_was_made_from(
    machine: Machine,
) -> None:
    base = machine.compiled(".pyenv/versions/3.12/bin/python3")
    machine.file("work/.venv/pyvenv.cfg", f"home = {base.parent}\n")
    python = machine.home / "work/.venv/bin/python"
    python.parent.mkdir()
    python.symlink_to(base)
    machine.file("work/.env", TOKEN)
    assert machine.shown(python.parent) >= {"work/.venv", ".pyenv"}
    # A script elsewhere that is run by it brings it along.
    machine.program("tools/run", f"#!{python}\n")
    view = machine.view(machine.home / "tools")
    assert view.is_visible(machine.home / "work/.venv/pyvenv.cfg")
    assert not view.is_visible(machine.home / "work/.env")


@pytest.mark.parametrize(
    "command",
    ["{} -m pytest -q", "cd tests && {} -m pytest", "~/envs/shop/bin/python -m pytest", "{} 'un"],
)
def test_a_program_that_a_check_names_by_its_path_is_shown_with_its_environment(
    machine: Machine, command: str
) -> None:
    base = machine.compiled(".pyenv/versions/3.12/bin/python3")
    machine.file("envs/shop/pyvenv.cfg", f"home = {base.parent}\n")
    python = machine.home / "envs/shop/bin/python"
    python.parent.mkdir()
    python.symlink_to(base)
    notes = machine.file("envs/notes", TOKEN)
    assert not machine.view().is_visible(python)
    view = machine.view(commands=[command.format(python), f"cat {notes}"])
    assert view.is_visible(python)
    assert view.is_visible(base)
    assert view.is_visible(machine.home / "envs/shop/pyvenv.cfg")
    assert not view.is_visible(notes)


@pytest.mark.parametrize(
    "entry", ["", ".config", ".local/share", ".aws/bin", ".codex/bin", ".claude", "Downloads"]
)
def test_what_holds_everything_keys_or_agents_settings_is_not_shown_because_path_names_it(
    machine: Machine, entry: str
) -> None:
    machine.program(f"{entry}/tool" if entry else "tool")
    machine.file(f"{entry}/secret" if entry else "secret", TOKEN)
    view = machine.view(machine.home / entry)
    assert not view.is_visible(machine.home / entry / "secret")
    assert not view.is_visible(machine.home / entry / "tool")


@pytest.mark.parametrize("entry", ["shop", "alias", "shop/bin", ""])
def test_of_the_users_checkout_on_path_programs_alone_are_shown(
    machine: Machine, entry: str
) -> None:
    checkout = make_repository(machine.home / "work/shop")
    (machine.home / "work/alias").symlink_to(checkout)
    names = ("plan.txt", "data/keys", "bin/plan.txt", "bin/data/keys", "bin/part.sh", ".env")
    hidden = [machine.file(f"work/shop/{name}", TOKEN) for name in names]
    program = machine.program("work/shop/bin/tool")
    view = machine.view(machine.home / "work" / entry, repository=checkout)
    assert not any(map(view.is_visible, hidden))
    assert view.is_visible(program) == (entry == "shop/bin")


def test_a_password_with_an_at_sign_leaves_an_address_whole() -> None:
    assert clean_address("a = https://u:p@ss@h/x, https://v@i/y") == "a = https://h/x, https://i/y"


def test_variables_show_what_they_name_where_it_is_what_they_name(machine: Machine) -> None:
    machine.file("jdk/bin/java", mode=0o755)
    machine.program("moved/bin/cargo")
    machine.file("moved/registry/crate")
    machine.file("moved/credentials.toml", TOKEN)
    machine.file("papers/plan")
    machine.env = {
        "JAVA_HOME": f"{machine.home}/jdk",
        "CARGO_HOME": f"{machine.home}/moved",
        "ANDROID_HOME": f"{machine.home}/papers",
        "SSL_CERT_FILE": str(machine.file("ca.crt")),
    }
    shown = machine.shown()
    assert shown >= {"jdk", "moved/bin", "ca.crt"}
    assert not shown & {"moved", "papers", "moved/registry", "moved/credentials.toml"}


def test_caches_without_keys_are_shown_where_they_lie(machine: Machine) -> None:
    for name in CACHES:
        machine.file(f"{name}/part")
    assert machine.shown() >= set(CACHES)
    assert machine.shown(show=("~/notes",)) == machine.shown()


def test_files_with_a_telling_name_are_covered_in_what_is_shown(machine: Machine) -> None:
    tool = machine.program(".npm-global/bin/tool")
    covered = [
        machine.file(f".npm-global/bin/{name}", TOKEN)
        for name in (".env", "deep/er/.env.local", "id_ed25519", "auth.json", "x.p12", ".npmrc")
    ]
    view = machine.view(tool.parent)
    assert set(view.masked) >= set(covered)
    assert len(set(view.masked)) == len(view.masked), "each cover is a mount"
    assert not any(map(view.is_visible, covered))
    paths = [
        machine.file(f".npm-global/bin/{name}")
        for name in ("secrets.py", "cacert.pem", "lib/env.txt")
    ]
    assert all(map(machine.view(tool.parent).is_visible, paths))


def test_the_agent_behind_a_wrapper_is_shown_and_no_other_wrappers(machine: Machine) -> None:
    real = machine.compiled("elsewhere/agent/real")
    wrapper = machine.program("tools/agent", f'#!/bin/sh\nexec {real} "$@"\n')
    view = machine.view(wrapper.parent, programs=(str(wrapper),))
    assert view.is_visible(real)
    assert not machine.view(wrapper.parent).is_visible(real)


def test_an_agent_in_its_own_settings_is_shown_to_its_lane_and_never_the_settings(
    machine: Machine,
) -> None:
    settings = machine.home / ".claude"
    program = machine.program(".claude/local/claude")
    machine.file(".claude/.credentials.json", TOKEN)
    assert own_installation(machine.home, program, [settings]) == (settings / "local",)
    assert own_installation(machine.home, machine.program(".claude/claude"), [settings]) == (
        settings / "claude",
    )
    assert own_installation(machine.home, machine.program("tools/claude"), [settings]) == ()


def test_every_path_has_a_reason_or_is_hidden(machine: Machine) -> None:
    machine.program("tools/tool")
    repository = make_repository(machine.home / "shop")
    objects = repository / ".git" / "objects"
    view = machine.view(machine.home / "tools", objects=(objects,), repository=repository)
    assert view.reason(machine.home / "tools/tool") == "on PATH"
    assert view.reason(objects / "info") == "the repository's objects"
    assert view.reason(machine.home / ".gitconfig") == "made anew from harmless settings"
    assert view.reason(Path("/usr/bin")) == "the system's"
    assert view.reason(machine.home) == "the lane's own"
    assert view.reason(repository) == "a part of it is shown"
    assert view.sealed == (repository,)
    for hidden in (
        repository / "README.md",
        repository / ".git/config",
        Path("/var/log"),
        objects / "../HEAD",
    ):
        assert view.reason(hidden) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a folder of another account's")
def test_what_this_account_may_not_enter_is_passed_over(machine: Machine) -> None:
    locked = machine.scratch / "locked"
    (locked / "bin").mkdir(parents=True)
    machine.scratch.chmod(0o755)
    locked.chmod(0o700)
    names = ("PYENV_ROOT", "JAVA_HOME", "CARGO_HOME", "SSL_CERT_FILE", "VIRTUAL_ENV")
    program = (
        "from pathlib import Path; from hydra.process.sandbox.discovery import compute_view\n"
        f"env = dict.fromkeys({names}, '{locked}/x')\n"
        f"env['PATH'] = '{locked}/bin:{locked}:/usr/bin'\n"
        f"view = compute_view(Path('{locked}/home'), env, programs=['{locked}/bin/agent'],\n"
        f"    objects=[Path('{locked}/objects')], show=['{locked}/lib'])\n"
        "print([str(it.path) for it in view.shown if 'locked' in str(it.path)])"
    )
    python = python_for(ORDINARY)
    if not python:
        pytest.skip("no Python here that an ordinary user may run")
    done = subprocess.run(
        [python, "-c", program],
        env={"PYTHONPATH": os.pathsep.join((str(PROJECT), *site.getsitepackages()))},
        user=ORDINARY,
        group=ORDINARY,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


# What the user shows


def test_what_the_user_shows_is_there_and_a_place_of_keys_is_warned_of(machine: Machine) -> None:
    machine.file("lib/part")
    machine.file(".aws/credentials", TOKEN)
    machine.file("data/.env", TOKEN)
    names = ("~/lib", "~/.aws", "~/data", "~/gone", str(machine.scratch))
    view = machine.view(show=names)
    assert [str(path.relative_to(machine.home)) for path in view.show] == ["lib", ".aws", "data"]
    assert view.is_visible(machine.home / "data/.env")  # named outright
    assert list(show_problems(names, machine.home)) == [
        "[confine] show shows the agents a place of keys, ~/.aws",
        "[confine] show names what is not there: ~/gone",
        f"[confine] show names your whole home folder, and is not followed: {machine.scratch}",
    ]


def test_a_settings_file_that_is_shown_is_the_users_own(machine: Machine) -> None:
    npmrc = machine.file(".npmrc", f"//registry.example/:_authToken={TOKEN}\n")
    assert npmrc in machine.view().stripped
    view = machine.view(show=("~/.npmrc",))
    assert npmrc not in view.settings
    assert npmrc not in view.stripped


# Settings made anew


SETTINGS = tomllib.loads((Path(__file__).parent / "data/filtered_settings.toml").read_text())


@pytest.mark.parametrize("case", SETTINGS["settings"], ids=lambda case: case["file"])
def test_a_settings_file_is_made_anew_without_its_keys(
    machine: Machine, case: dict[str, str]
) -> None:
    path = machine.file(case["file"], case["text"].replace("{t}", TOKEN))
    view = machine.view()
    value = view.settings[path].decode()
    if path.suffix == ".toml":
        assert tomllib.loads(value) == tomllib.loads(case["anew"])
    else:
        assert value == case["anew"]
    assert TOKEN not in value
    assert case["gone"] not in value
    assert path in view.stripped


def test_no_settings_file_with_nothing_but_odd_lines_gives_any_of_them(machine: Machine) -> None:
    for name in FILTERED:
        machine.file(
            name, f"secret = {TOKEN}\nsecret: {TOKEN}\nsecret {TOKEN}\n  {TOKEN}\n- {TOKEN}\n"
        )
    contents = machine.view().settings
    assert {path for path, text in contents.items() if TOKEN.encode() in text} == set()
    assert contents.keys() >= {machine.home / name for name in FILTERED}


def test_the_users_git_settings_come_along_without_programs_keys_and_addresses(
    machine: Machine,
) -> None:
    machine.file("more", f"[init]\n\tdefaultBranch = trunk\n[user]\n\tsigningkey = {TOKEN}")
    theirs = (Path(__file__).parent / "data" / "user.gitconfig").read_text()
    machine.file(".gitconfig", theirs.replace("{t}", TOKEN))
    path = machine.home / ".gitconfig"
    text = machine.view().settings[path]
    assert TOKEN.encode() not in text
    path.write_bytes(text)
    own = ("config", "--file", str(path), "--get")
    values = {
        "user.name": 'Ada "the first" \\ Lovelace',
        "user.email": "ada@example.com",
        "init.defaultbranch": "trunk",
        "core.autocrlf": "input",
        "filter.lfs.clean": "git-lfs clean -- %f",
        "commit.gpgsign": "false",
    }
    assert {name: git(machine.home, *own, name) for name in values} == values


# Variables


def test_a_variable_that_names_a_hidden_file_is_told_and_no_other(machine: Machine) -> None:
    hook = machine.file("hook.js")
    view = machine.view(show=(str(machine.file("lib/ok.js").parent),))
    policy = SandboxPolicy(
        state=machine.state,
        view=view,
        cwd=machine.scratch,
        binds=((machine.scratch, machine.home / ".claude"),),
    )
    environment = {
        "NODE_OPTIONS": f"--max-old-space-size=1 --require {hook}",
        "TILDE": "-r ~/hook.js",
        "LISTED": f"/usr:{hook}",
        "SHOWN": f"--require={machine.home}/lib/ok.js",
        "SETTINGS": f"{machine.home}/.claude",
        "ADDRESS": f"https://example.com/{hook}",
        "GONE": f"{machine.home}/gone.js",
        "PATH": str(machine.home),
        "HOME": str(machine.home),
        "WORDS": "and/or /",
    }
    (machine.home / ".claude").mkdir()
    assert hidden_variables(environment, policy) == dict.fromkeys(
        ("NODE_OPTIONS", "TILDE", "LISTED"), hook
    )


# What really is there


@needs_bwrap
def test_through_links_path_and_home_are_found_as_outside(machine: Machine) -> None:
    machine.program("dotfiles/bin/tool")
    (machine.home / ".local").mkdir()
    (machine.home / ".local/bin").symlink_to("../dotfiles/bin")
    alias = machine.scratch / "alias"
    alias.symlink_to("home")
    env = {"PATH": f"{alias}/.local/bin:{SYSTEM_PATH}", "HOME": str(alias)}
    view = compute_view(alias, env, guarded=(machine.state,))
    assert machine.run(view, "sh", "-c", "tool; ls ~/dotfiles", env=env) == "ran\nbin\n"


# A checkout in a folder of the system's


@pytest.fixture
def in_opt() -> Iterator[Path]:
    """A folder in /opt, of which every lane sees all."""
    if not os.access("/opt", os.W_OK):
        pytest.skip("/opt cannot be written here")
    with tempfile.TemporaryDirectory(dir="/opt", prefix="hydra-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@needs_bwrap
@pytest.mark.serial  # what comes and goes in /opt is missed by any other test's view
def test_a_checkout_in_opt_is_as_hidden_as_any(machine: Machine, in_opt: Path) -> None:
    shop = make_repository(in_opt / "shop")
    tool = shop / ".venv" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    (shop / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name, mode in {".env": 0o644, "secret.txt": 0o600, "bin/notes": 0o644}.items():
        (shop / name).parent.mkdir(exist_ok=True)
        (shop / name).write_text(TOKEN)
        (shop / name).chmod(mode)
    for program in (tool, shop / "bin" / "own"):
        program.write_text("#!/bin/sh\necho ran\n")
        program.chmod(0o755)
    objects = shop / ".git" / "objects"
    view = machine.view(tool.parent, shop / "bin", repository=shop, objects=[objects])
    see = f"grep -rs {TOKEN} {in_opt}; ls -A {shop}; {tool}; {shop}/bin/own; ls {objects}/pack"
    seen = machine.run(view, "sh", "-c", see)
    assert seen == ".git\n.venv\nbin\nran\nran\n"
    for name in (".env", "secret.txt", "bin/notes", ".git/config"):
        assert view.reason(shop / name) == ""
    assert view.is_visible(objects)
    assert view.is_visible(tool)


def test_what_a_lane_cannot_do_without_is_not_hidden_as_a_checkout(machine: Machine) -> None:
    for checkout in ("/etc", "/usr", "/usr/local"):
        assert machine.view(repository=Path(checkout)).reason(Path(checkout, "bin")) != ""


# What goes meanwhile


def test_a_folder_that_goes_before_its_names_are_matched(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, scandir = scratch / "app", os.scandir
    folder.mkdir()

    def vanishing(path: str | Path) -> object:
        monkeypatch.setattr(os, "scandir", scandir)
        shutil.rmtree(folder)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert matches(folder, "*.pak") == []


@needs_bwrap
def test_the_binds_of_an_ordinary_home_are_few(machine: Machine) -> None:
    for root in (
        ".pyenv",
        ".nvm/versions",
        ".cargo/bin",
        ".rustup/toolchains",
        ".local/share/uv/tools",
    ):
        machine.program(f"{root}/bin/tool")
    for number in range(300):
        machine.program(f".cargo/bin/tool-{number}")
        machine.program(f".pyenv/shims/tool-{number}")
    path = (machine.home / ".pyenv/shims", machine.home / ".cargo/bin")
    view = machine.view(*path)
    assert len(view.shown) + len(view.masked) < 40
