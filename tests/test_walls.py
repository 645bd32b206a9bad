"""Rules of the code base: access to records, imports at start-up, documentation."""

import ast
import graphlib
import inspect
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

from dpviz.private.handle import Handle

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpviz"
INSIDE = ("private", "methods")
"""The rooms that see records."""

DOORS = (
    "build.py",
    "evaluation/truth.py",
    "evaluation/audit.py",
    "evaluation/search.py",
    "evaluation/point_audit.py",
    "evaluation/road_audit.py",
    "evaluation/sequence_audit.py",
    "evaluation/subject.py",
    "evaluation/lesson.py",
    "evaluation/privtree_trace.py",
)
"""Files outside that may open them, whatever the kind of data."""

OPEN = (
    *("areas", "budget", "curve", "flows", "handle", "ledger", "load", "payment", "roads"),
    *("sequences", "slots"),
)
"""Modules of the vault that others may import: what they give shows no record by itself."""

CORRIDOR = (
    ("errors", "escape", "lazy", "progress"),
    ("checks", "files", "lists"),
    ("trees",),
    ("domain",),
    ("datasets", "queries", "roads", "sequences"),
    ("releases",),
    ("private", "render"),
    ("methods",),
    ("build",),
    ("evaluation", "exports", "measurement", "notebook", "planning"),
    ("api",),
    ("dpviz",),
    ("cli",),
    ("__main__", "ui"),
)
"""The rooms of the package by stages: none imports from a later one, nor two of a stage in turn."""


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """Forget the parsed files of the package after these tests."""
    yield
    nodes_of.cache_clear()


@cache
def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text())))


def imports(path, *, types=False):
    """Modules a file imports at run time; what stands under TYPE_CHECKING counts with ``types``."""
    return [name for name, at_run_time in _imports(path) if types or at_run_time]


@cache
def _imports(path):
    """Imports of a file, each with True if it is executed at run time."""
    nodes = nodes_of(path)
    skipped = set()
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            skipped |= {id(each) for child in node.body for each in ast.walk(child)}
    imports = []
    for node in nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        imports += [(name, id(node) not in skipped) for name in names]
    return imports


def modules(*folders):
    for folder in folders or (".",):
        yield from sorted((PACKAGE / folder).rglob("*.py"))


def within(path, names):
    place = path.relative_to(PACKAGE).as_posix()
    return any(place == name or place.startswith(f"{name}/") for name in names)


def test_only_the_vault_and_its_doors_import_what_shows_records():
    strangers = [
        f"{path.relative_to(PACKAGE)} -> {name}"
        for path in modules()
        if not within(path, INSIDE + DOORS)
        for name in imports(path, types=True)
        if name.startswith("dpviz.private") and name.split(".")[2:3] not in [[x] for x in OPEN]
    ]
    assert strangers == []


def test_what_all_pages_share_knows_no_kind_of_data():
    kinds = tuple(f"dpviz.ui.{kind}" for kind in ("points", "areas", "roads", "sequences"))
    strangers = [
        path.name
        for path in modules("ui/shared")
        if any(name.startswith(kinds) for name in imports(path, types=True))
    ]
    assert strangers == []


def test_only_the_app_knows_streamlit():
    strangers = [
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if not within(path, ("ui",))
        # The command that starts the app.
        and path.relative_to(PACKAGE).as_posix() != "cli/serve.py"
        and any(name.split(".")[0] == "streamlit" for name in imports(path))
    ]
    assert strangers == []


def hidden():
    """Every private attribute of a handle of any kind, as it is written in code."""
    import_module("dpviz.build")  # loads the handles of every kind
    names = set()
    for cls in (Handle, *Handle.__subclasses__()):
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
                names |= {node.attr, f"_{cls.__name__}{node.attr}"}
    return {name for name in names if name.startswith("_") and not name.endswith("__")}


def test_only_the_vault_reads_private_attributes_of_a_handle():
    names = hidden()
    assert {"_index", "_trips", "_sequences", "_DataHandle__index"} <= names
    offenders = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in modules()
        if not within(path, INSIDE + DOORS)
        for node in nodes_of(path)
        if (
            isinstance(node, ast.Attribute)
            and node.attr in names
            and getattr(node.value, "id", "") != "self"
        )
        or (isinstance(node, ast.Constant) and node.value in names)
    ]
    assert offenders == []


def test_no_room_imports_from_a_later_one():
    stage = {room: at for at, rooms in enumerate(CORRIDOR) for room in rooms}
    back, level = [], {}
    for path in modules():
        place = path.relative_to(PACKAGE)
        room = "dpviz" if place.name == "__init__.py" and len(place.parts) == 1 else place.parts[0]
        room = room.removesuffix(".py")
        assert room in stage, f"{room} has no place in the corridor"
        for name in imports(path, types=True):
            words = name.split(".")
            if words[0] != "dpviz" or len(words) == 1:
                continue
            target = words[1] if words[1] in stage else "dpviz"
            if target == room:
                continue
            if stage[target] > stage[room]:
                back.append(f"{place} -> {name}")
            elif stage[target] == stage[room]:
                level.setdefault((room, target), []).append(f"{place} -> {name}")
    assert back == []
    both = [pair for pair in level if pair[::-1] in level]
    assert both == []


def test_charts_are_drawn_in_one_place():
    library = {"altair", "dpviz.lazy.alt"}
    drawing = {path for path in modules() if library & set(imports(path))}
    assert drawing == {PACKAGE / "ui" / "shared" / "charts.py"}


def packages_of(name):
    """The packages around a module, whose doors are opened before it."""
    words = name.split(".")
    return {".".join(words[:many]) for many in range(1, len(words))}


def test_no_circle_of_imports_between_files():
    """Wherever an import stands: one in a function, or for types alone, mends no circle."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules()
    }
    graph = {}
    for name, path in files.items():
        wanted = set(imports(path, types=True)) & files.keys()
        # Count a module's own import, not also the package that re-exports it.
        taken = {each.rpartition(".")[0] for each in wanted}
        doors = {door for each in wanted for door in packages_of(each)} - packages_of(name)
        graph[name] = (wanted - taken | doors) - {name}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


TEMPORARY = (
    "private/ledger",  # a ledger's folder entry and seal
    "private/load/tables/archive.py",  # unpacks into a private folder
    "files/sandbox.py",  # into memory
    "ui/shared/panels.py",  # an upload, deleted at the end of a block
    "ui/shared/uploads.py",
)
"""Modules whose writes are not output files."""

WRITERS = re.compile(
    r"\.(write_text|write_bytes|savefig|to_file|to_csv|to_parquet|write_table|write_csv)$"
)


def test_every_file_that_stays_is_written_whole_or_not_at_all():
    """Every write goes to the temporary file of ``files.write_file`` or to memory."""
    offenders = []
    for path in modules():
        if within(path, TEMPORARY):
            continue
        for node in nodes_of(path):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if not (called.endswith("open") or WRITERS.search(called)):
                continue
            whole = ast.unparse(node)
            opens = called.endswith("open") and re.search(r"['\"][wax]b?\+?['\"]", whole)
            if (opens or WRITERS.search(called)) and not re.search(
                r"temporary|\((file|data), format=|files\.write_table|stream\.", whole
            ):
                offenders.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {whole}")
    assert offenders == []


PLAIN = re.compile(
    r"(None|str|int|float|bool|Fraction|Bounds|Path|Traversable|tuple\[[\w, .|]+\]|( \| ))*"
)


def test_a_cache_that_outlives_visitors_holds_plain_keys_only():
    """A release, a graph or a handle as a key would be held when its visitor has left."""
    offenders = []
    for path in modules():
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and any(
                re.match(r"(functools\.)?(lru_)?cache\b", ast.unparse(each))
                for each in node.decorator_list
            ):
                given = [ast.unparse(each.annotation) for each in node.args.args if each.annotation]
                if not all(PLAIN.fullmatch(each) for each in given):
                    offenders.append(f"{path.relative_to(PACKAGE)}: {node.name}({given})")
    assert offenders == []


def test_imported_packages_are_declared():
    """Another package may bring it along, until a version of that does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = chain(project["dependencies"], *project["optional-dependencies"].values())
    declared = {re.match(r"[\w-]+", each)[0] for each in stated}
    known = packages_distributions()
    tops = {name.partition(".")[0] for path in modules() for name in imports(path, types=True)}
    foreign = tops - set(sys.stdlib_module_names) - {"dpviz"}
    names = {top: {each.lower().replace("_", "-") for each in known[top]} for top in foreign}
    assert {top for top in foreign if declared.isdisjoint(names[top])} == set()


def loaded(code, names):
    """Those of the given modules that a program loads."""
    code += f"\nimport sys; print(*[each for each in {names.split()} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


HEAVY = "pandas geopandas numba scipy pyproj shapely duckdb matplotlib networkx streamlit"
ENGINE = "numpy pyarrow dpviz.api dpviz.build dpviz.methods dpviz.domain dpviz.releases"


def test_start_up_imports_nothing_heavy():
    assert loaded("import dpviz.api, dpviz.cli", HEAVY) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "beside"),
    [
        (["--version"], "pydantic"),
        (["--help"], "pydantic"),
        (["build", "--help"], ""),
        (["build", "a.csv", "--epsilon", "much"], ""),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_public_questions_are_answered_without_an_engine(words, beside):
    """Every command had loaded it: two thirds of a second for the version."""
    code = (
        f"import contextlib, os, sys; os._exit = sys.exit; sys.argv[1:] = {words}\n"
        "from dpviz.__main__ import program\n"
        "with contextlib.suppress(SystemExit): program()"
    )
    assert loaded(code, f"{HEAVY} {ENGINE} {beside}") == []


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)], ids=" ".join
)
def test_every_linter_passes(command):
    program = shutil.which(command[0], path=str(Path(sys.executable).parent)) or command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
