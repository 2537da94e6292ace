"""Which files an audit takes; git itself says what is ignored."""

from __future__ import annotations

import cProfile
import os
import random
import re
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.finding import Problem
from tritonaudit.source.discover import discover, project_root


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


def write(folder: Path, *names: str, **texts: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get(name, ""), encoding="utf-8")


def git(folder: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], input=text, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def found(folder: Path, *paths: str, **settings) -> list[str]:
    result = discover([folder / path for path in paths or ("",)], Config(folder, **settings))
    assert result.problems == ()
    return [path.relative_to(folder).as_posix() for path in result.files]


def not_ignored(folder: Path) -> list[str]:
    """What git says is left of all the Python files."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    ignored = git(folder, "check-ignore", "--no-index", "--stdin", "-z", text="\0".join(files))
    return [file for file in files if file not in ignored.split("\0")]


def test_python_files_are_found_sorted_and_once(tmp_path):
    write(tmp_path, "b.py", "a.py", "pkg/deep/c.py", "pkg/d.pyi", "pkg/e.ipynb", "README.md", "py")
    assert found(tmp_path) == ["a.py", "b.py", "pkg/deep/c.py"]
    assert found(tmp_path, "pkg", "", "a.py", "pkg/../pkg/deep") == ["a.py", "b.py", "pkg/deep/c.py"]


def test_paths_are_absolute_wherever_they_were_named_from(tmp_path, monkeypatch):
    write(tmp_path, "pkg/a.py")
    monkeypatch.chdir(tmp_path)
    assert discover([Path("pkg"), Path("pkg/a.py")], Config(Path())).files == (tmp_path / "pkg" / "a.py",)


def test_templates_are_listed_apart(tmp_path):
    write(tmp_path, "a.py.jinja", "b.jinja", "c.j2", "d.py.j2", "e.py", "build/f.j2")
    result = discover([tmp_path], Config(tmp_path))
    assert [path.name for path in result.templates] == ["a.py.jinja", "b.jinja", "c.j2", "d.py.j2"]
    assert [path.name for path in result.files] == ["e.py"]
    assert discover([tmp_path / "c.j2"], Config(tmp_path)).templates == (tmp_path / "c.j2",)


def test_folders_with_no_source_of_the_project_are_passed_over(tmp_path):
    write(tmp_path, "src/a.py", "src/.hidden.py", "env/pyvenv.cfg", "env/lib/b.py", "distant/a.py", "venv/c.py")
    for folder in (".git", ".venv", ".tox", "node_modules", "__pycache__", "build", "dist", "src/build", "src/.x"):
        write(tmp_path, f"{folder}/b.py")
    assert found(tmp_path) == ["distant/a.py", "src/.hidden.py", "src/a.py", "venv/c.py"]


def test_what_is_named_is_taken_though_excluded(tmp_path):
    write(tmp_path, "build/a.py", "build/build/b.py", "env/pyvenv.cfg", "env/c.py", "run", ".x/d.py")
    assert found(tmp_path, "build/a.py", "run", ".x/d.py", "env/c.py") == [".x/d.py", "build/a.py", "env/c.py", "run"]
    assert found(tmp_path, "build", "env") == ["build/a.py", "env/c.py"]


def test_force_exclude_leaves_out_what_is_named_and_excluded(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", **{".gitignore": "out/\n*_gen.py\n"})
    write(tmp_path, "build/deep/a.py", "out/deep/b.py", "c_gen.py", "env/pyvenv.cfg", "env/lib/d.py", "src/e.py")
    write(tmp_path, "old/f.py", "src/out.py")
    every = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")]
    taken = ["src/e.py", "src/out.py"]
    assert found(tmp_path, *every, force_exclude=True, extend_exclude=("/old/",)) == taken
    assert found(tmp_path, "build/deep", "out", "env", "src", force_exclude=True) == taken
    assert found(tmp_path, force_exclude=True, extend_exclude=("/old/",)) == taken
    assert found(tmp_path, *every, extend_exclude=("/old/",)) == sorted(every)


@pytest.mark.parametrize("name", ["build", ".hidden"])
def test_the_root_itself_is_never_excluded_by_its_name(tmp_path, name):
    write(tmp_path / name, "a.py")
    assert found(tmp_path / name, force_exclude=True) == ["a.py"]
    assert found(tmp_path / name, "a.py", force_exclude=True) == ["a.py"]


def test_exclude_replaces_the_defaults_and_extend_exclude_adds_to_them(tmp_path):
    write(tmp_path, "a.py", "build/b.py", "old/c.py", "src/old/d.py", ".ci/e.py")
    assert found(tmp_path, exclude=("/old/",)) == [".ci/e.py", "a.py", "build/b.py", "src/old/d.py"]
    assert found(tmp_path, extend_exclude=("old/",)) == ["a.py"]
    assert found(tmp_path, extend_exclude=("src/**/d.py", "!.ci/")) == [".ci/e.py", "a.py", "old/c.py"]


def test_patterns_of_the_configuration_are_relative_to_its_root_from_any_folder(tmp_path):
    write(tmp_path, "src/gen/a.py", "src/b.py", "gen/c.py")
    assert found(tmp_path, "src", extend_exclude=("/src/gen/",)) == ["src/b.py"]
    assert found(tmp_path, "src", "gen", extend_exclude=("/gen/",)) == ["gen/c.py", "src/b.py", "src/gen/a.py"]


GITIGNORES = [
    {".gitignore": "a.py\n"},
    {".gitignore": "/a.py\n/x/b.py\nx/y/\n"},
    {".gitignore": "*.py\n!a.py\n!/x/\n"},
    {".gitignore": "x/*\n!x/y/\n"},
    {".gitignore": "x/**\n!x/a.py\n"},
    {".gitignore": "x/\n!x/a.py\n"},
    {".gitignore": "**/y/a.py\nx/**/c.py\n"},
    {".gitignore": "*.py\n", "x/.gitignore": "!a.py\n", "x/y/.gitignore": "/a.py\n"},
    {".gitignore": "x\n", "x/.gitignore": "!*\n"},
    {"x/.gitignore": "/a.py\ny/b.py\n"},
    {"x/.gitignore": "*\n"},
    {".git/info/exclude": "b.py\n/x/a.py\n"},
    {".git/info/exclude": "b.py\n", ".gitignore": "!b.py\n"},
    {".gitignore": "# a.py\n\n\\#a.py\n\\!b.py\na.py   \n b.py\n"},
    {".gitignore": "a.py\r\nx/\r\n"},
    {".gitignore": "\ufeffa.py\n"},
    {".gitignore": "[ab].py\n!x/[!a].py\n"},
    {".gitignore": "[[:alpha:]].py\n!?.py\n[b-\n\\"},
]


@pytest.mark.parametrize("texts", GITIGNORES, ids=repr)
def test_gitignore_files_mean_what_they_mean_to_git(tmp_path, texts):
    git(tmp_path, "init", "-q")
    write(tmp_path, *texts, **texts)
    for folder in ("", "x/", "x/y/", "y/", "x/y/z/"):
        write(tmp_path, *(f"{folder}{name}.py" for name in ("a", "b", "c", "#a", "!b", " b")))
    assert found(tmp_path) == not_ignored(tmp_path)


def random_pattern(choose: random.Random) -> str:
    atoms = ["a", "b", "ab", "*", "?", "**", "***", "a.py", "*.py", "b*", "[ab]", "[!a]", "[^b].py", "[b-a]", "[a-"]
    atoms += ["\\a", "\\[b.py", "[[:lower:]]", "[]a]", "[!]a]", "*.p[x-z]", "x?y", "a\\ ", "\\!a"]
    body = "/".join(choose.choice(atoms) for _ in range(choose.choice([1, 1, 2, 3])))
    return choose.choice(["", "", "!"]) + choose.choice(["", "", "/"]) + body + choose.choice(["", "", "/", " "])


def test_random_gitignore_files_mean_what_they_mean_to_git(tmp_path):
    choose = random.Random(20)
    git(tmp_path, "init", "-q")
    for folder in ("", "a/", "b/", "ab/", "a/b/", "a/a/", "b/ab/", "a/b/a/", "a /", "!a/"):
        write(tmp_path, *(f"{folder}{name}.py" for name in ("a", "b", "xzy", "[b")))
    for _ in range(200):
        for place in (".gitignore", "a/.gitignore", ".git/info/exclude"):
            lines = [random_pattern(choose) for _ in range(choose.randrange(4))]
            (tmp_path / place).write_text("\n".join(lines))
        assert found(tmp_path) == not_ignored(tmp_path)


def test_a_folder_in_a_repository_obeys_the_gitignore_files_above_it(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "x/.gitignore", **{".gitignore": "/x/y/a.py\n", "x/.gitignore": "b.py\n"})
    write(tmp_path, "x/y/a.py", "x/y/b.py", "x/y/c.py")
    assert found(tmp_path, "x/y") == ["x/y/c.py"]
    assert found(tmp_path / "x" / "y") == ["c.py"]


def test_an_ignored_folder_that_is_named_is_walked(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", **{".gitignore": "out/\nb.py\n"})
    write(tmp_path, "out/a.py", "out/b.py")
    assert found(tmp_path) == []
    assert found(tmp_path, "out") == ["out/a.py"]


def test_a_repository_within_another_has_its_own_rules(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "sub/a.py", "sub/b.py", **{".gitignore": "a.py\n"})
    git(tmp_path / "sub", "init", "-q")
    write(tmp_path, "sub/.gitignore", **{"sub/.gitignore": "b.py\n"})
    assert found(tmp_path) == found(tmp_path, "sub") == ["sub/a.py"]


def test_a_worktree_obeys_the_exclude_file_of_its_repository(tmp_path):
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git(main, "init", "-q")
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(main, *person, "commit", "-q", "--allow-empty", "-m", "Start")
    git(main, "worktree", "add", "-q", str(tree))
    write(main, ".git/info/exclude", **{".git/info/exclude": "a.py\n"})
    write(tree, "a.py", "b.py")
    assert found(tree) == not_ignored(tree) == ["b.py"]


def test_gitignore_files_count_without_a_repository_and_can_be_switched_off(tmp_path):
    write(tmp_path, ".gitignore", "a.py", "x/b.py", **{".gitignore": "a.py\n"})
    assert found(tmp_path) == found(tmp_path, "x", "") == ["x/b.py"]
    assert found(tmp_path, respect_gitignore=False) == ["a.py", "x/b.py"]


def test_links_to_files_are_taken_once_and_links_to_folders_not_followed(tmp_path):
    write(tmp_path, "outside/a.py", "project/b.py", "project/pkg/c.py")
    project = tmp_path / "project"
    (project / "loop").symlink_to(project)
    (project / "self.py").symlink_to("self.py")
    (project / "gone.py").symlink_to("nowhere.py")
    (project / "again.py").symlink_to("b.py")
    (project / "a.py").symlink_to(tmp_path / "outside" / "a.py")
    assert found(project) == found(project, "again.py", "") == ["a.py", "b.py", "pkg/c.py"]
    assert found(project, "again.py") == ["again.py"]
    assert found(project, "loop") == ["loop/a.py", "loop/b.py", "loop/pkg/c.py"]
    assert found(project, "loop", "") == found(project, "", "loop") == ["a.py", "b.py", "pkg/c.py"]


def test_pipes_and_sockets_are_passed_over(tmp_path, monkeypatch):
    write(tmp_path, "a.py")
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert found(tmp_path) == ["a.py"]
        named = discover([tmp_path / "pipe.py", tmp_path / "socket.py"], Config(tmp_path))
    assert [problem.message for problem in named.problems] == ["neither a file nor a folder"] * 2


def test_paths_that_do_not_exist_are_problems_and_the_rest_is_found(tmp_path):
    write(tmp_path, "a.py")
    (tmp_path / "link.py").symlink_to("nowhere.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    paths = [tmp_path / name for name in ("missing.py", "a.py", "link.py", "loop.py", "missing.py")]
    result = discover(paths, Config(tmp_path))
    assert result.files == (tmp_path / "a.py",)
    assert result.problems == (
        Problem(str(tmp_path / "link.py"), "a broken link"),
        Problem(str(tmp_path / "loop.py"), "cannot read it: Too many levels of symbolic links"),
        Problem(str(tmp_path / "missing.py"), "no such file or folder"),
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path):
    write(tmp_path, "a.py", "locked/b.py")
    (tmp_path / "locked").chmod(0)
    try:
        result = discover([tmp_path], Config(tmp_path))
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert result.files == (tmp_path / "a.py",)
    assert result.problems == (Problem(str(tmp_path / "locked"), "cannot list the folder: Permission denied"),)


def test_the_order_of_the_paths_does_not_matter(tmp_path):
    write(tmp_path, "a/x.py", "b/y.py", "c.py")
    (tmp_path / "link").symlink_to("a")
    paths = [tmp_path / name for name in ("link", "a", "b", "c.py")]
    config = Config(tmp_path)
    assert discover(paths, config) == discover(paths[::-1], replace(config))


def test_what_ignore_patterns_cost_does_not_grow_with_the_checkout(tmp_path):
    def added(files):
        """How many more calls 75 patterns take than one."""
        checkout = tmp_path / str(files)
        for number in range(60):
            write(checkout / f"p{number % 12}" / f"q{number}", *(f"m{index}.py" for index in range(files // 60)))
        return calls(checkout, 75) - calls(checkout, 1)

    def calls(checkout, patterns):
        (checkout / ".gitignore").write_text("".join(f"x{n}*.py\n/y{n}/z\n" for n in range(patterns)))
        re.purge()  # what was compiled before would cost nothing
        profile = cProfile.Profile()
        found = profile.runcall(discover, [checkout], Config(checkout))
        assert len(found.files) == int(checkout.name)
        return sum(entry.callcount for entry in profile.getstats())

    assert added(1200) < 2 * added(60)


def test_the_project_is_the_nearest_folder_with_a_pyproject_or_a_repository(tmp_path):
    write(tmp_path, "outer/pyproject.toml", "outer/repo/.git/HEAD", "outer/repo/src/a.py", "outer/other/b.py")
    outer = tmp_path / "outer"
    assert project_root(outer / "repo" / "src") == project_root(outer / "repo" / "src" / "a.py") == outer / "repo"
    assert project_root(outer / "other") == project_root(outer) == outer


def test_without_either_the_project_is_where_one_started(tmp_path):
    write(tmp_path, "src/a.py")
    if project_root(tmp_path) != tmp_path:
        pytest.skip("the temporary folder lies in a project")
    assert project_root(tmp_path / "src") == project_root(tmp_path / "src" / "a.py") == tmp_path / "src"


def test_without_a_project_the_root_is_what_holds_the_package(tmp_path):
    write(tmp_path, "site/pkg/__init__.py", "site/pkg/ops/__init__.py", "site/pkg/ops/softmax.py")
    if project_root(tmp_path) != tmp_path:
        pytest.skip("the temporary folder lies in a project")
    inner = tmp_path / "site" / "pkg" / "ops"
    assert project_root(inner / "softmax.py") == project_root(inner) == tmp_path / "site"
