import importlib.metadata
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.cli import main
from dpviz.cli.rectangles import rectangles
from dpviz.errors import DataError
from tests.commands import as_json, fails, refused, run
from tests.headers import header_of, with_header

BOUNDS = "-1,50,1,52"


def test_the_version_is_the_one_installed():
    assert run("--version") == (0, f"dpviz {importlib.metadata.version('dpviz')}\n", "")


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.parquet"
    xy = np.random.default_rng(0).normal([0, 51], 0.2, size=(3000, 2))
    pq.write_table(pa.table({"lon": xy[:, 0], "lat": xy[:, 1], "name": ["<b>x</b>"] * 3000}), path)
    return path


@pytest.mark.slow
def test_build_query_info_export_keep_the_json_contract(points, tmp_path):
    output = tmp_path / "r.parquet"
    built = as_json("build", points, "-o", output, f"--bounds={BOUNDS}")
    assert set(built) == {"nodes", "leaves", "depth", "epsilon", "guarantee", "seconds"}
    assert built["guarantee"].startswith("differentially private, ε = 1")

    rects = ["--rect=-0.3,50.7,0.3,51.3", "--rect=-1,50,1,52"]
    answers = as_json("query", output, *rects)["answers"]
    assert {"rect", "count", "noise_sd", "low", "high", "nodes"} <= set(answers[0])
    assert answers[1]["rect"] == [-1, 50, 1, 52]
    assert answers[1]["count"] == dpviz.read(output).nodes.count[0]
    assert answers[0]["low"] <= answers[0]["count"] <= answers[0]["high"]

    lines = run("query", output, "--rect=-0.3,50.7,0.31,51.3", "--rect=-1,50,1,52")[1].splitlines()
    assert re.search(r"95 % for the noise: .*\), about ± [\d,]+ with cut cells$", lines[0])
    assert lines[1].endswith("nodes: 1)")  # no cell is cut

    info = as_json("info", output)
    assert info["method"] == "ladder_tree"
    assert sum(row["epsilon"] for row in info["budget"]) == pytest.approx(1)

    for name in ("r.geojson", "r.gpkg", "r.csv"):
        assert as_json("export", output, "-o", tmp_path / name)["rows"] == built["leaves"]


def test_boxes_are_printed_with_ten_digits(tmp_path):
    """Metres of UTM had six digits: both of these were 560123,5.93046e+06,…"""
    bounds = "555123.5,5920456.5,580987.5,5949321.5"
    path, output = tmp_path / "a.csv", tmp_path / "r.parquet"
    path.write_text("x,y\n560500,5930500\n")
    columns = (f"--bounds={bounds}", "--crs", "EPSG:25832", "--columns", "x,y")
    as_json("build", path, "-o", output, *columns, "--public")
    rects = ["560123.25,5930456.5,560923.25,5933456.5", "560123.5,5930457,560923.25,5933455"]
    lines = run("query", output, *(f"--rect={each}" for each in rects))[1].splitlines()
    assert [line.partition(": ")[0] for line in lines[:2]] == rects
    assert f"domain {bounds} EPSG:25832\n" in run("info", output)[1]
    assert f"{bounds} (EPSG:25832)" in run("info", output, "--code", "statement")[1]


def test_a_header_cannot_forge_a_line_of_info(points, tmp_path):
    output, forged = tmp_path / "r.parquet", tmp_path / "forged.parquet"
    as_json("build", points, "-o", output, f"--bounds={BOUNDS}")
    table = pq.read_table(output)
    guarantee = "ε = 0.1\nmethod none {}\nbudget breakdown, in epsilon:\n  0.1  all"
    pq.write_table(with_header(table, header_of(table) | {"guarantee": guarantee}), forged)
    lines = run("info", forged)[1].splitlines()
    assert lines[0].startswith("ε = 0.1\\nmethod none")
    assert [line.partition(" ")[0] for line in lines[:2]][1] == "method"
    assert sum(line.startswith("budget breakdown") for line in lines) == 1


def test_rectangles_are_read_from_a_file(points, tmp_path):
    output = tmp_path / "r.parquet"
    run("build", points, "-o", output, f"--bounds={BOUNDS}", "--public", "--seed", 1)
    table = tmp_path / "rects.csv"
    table.write_text("west,south,east,north\n-1,50,1,52\n-0.5,50.5,0.5,51.5\n")
    assert [row["rect"] for row in as_json("query", output, "--rects", table)["answers"]] == [
        [-1, 50, 1, 52],
        [-0.5, 50.5, 0.5, 51.5],
    ]
    _, text, _ = run("query", output, "--rects", table)
    assert "NOT PRIVATE: simulated noise" in text


@pytest.mark.parametrize(
    "text",
    [
        "name,south,west,north,east\nhere,50.5,-0.5,51.5,0.5\n",
        "lon_min,lat_min,lon_max,lat_max,count\n-0.5,50.5,0.5,51.5,7\n",
        "Down_min,Down_max,across_min,across_max\n50.5,51.5,-0.5,0.5\n",  # the columns of a release
    ],
)
def test_sides_of_rectangles_are_recognised_by_their_names(text, tmp_path):
    path = tmp_path / "rects.csv"
    path.write_text(text)
    assert rectangles(str(path), ["across", "down"]) == [[-0.5, 50.5, 0.5, 51.5]]
    path.write_text("h_max,x_max,y_max,x_min,y_min,h_min\n6,4,5,1,2,3\n")
    assert rectangles(str(path), ["x", "y", "h"]) == [[1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("west,south,east,north\n1,2,3,4\n\n-0,5,50,5,0,5,51,5\n", "line 4: give 4 cells"),
        ("id,west,south,east,north\na,1,2,3\n", "line 2: give 5 cells, with numbers for west"),
        ("west,south,east,north\n1,2,3,many\n", "line 2: give 4 cells"),
        ("1,2,3,4\n5,6,7,8\n", "header '1,2,3,4': name each side once: west, south, east, north"),
        ("west,south,east\n1,2,3\n", "header 'west,south,east': name each side"),
        ("west,west,south,east,north\n1,2,3,4,5\n", "name each side once"),
        ("west,south,east,north\n", "holds no rectangle: write one in each row"),
    ],
)
def test_unreadable_rectangles_are_refused(text, line, tmp_path):
    (tmp_path / "rects.csv").write_text(text)
    with pytest.raises(DataError, match=re.escape(line)):
        rectangles(str(tmp_path / "rects.csv"), ["x", "y"])


def test_exported_cells_are_read_as_rectangles(points, tmp_path):
    output, cells = tmp_path / "r.parquet", tmp_path / "cells.csv"
    assert run("build", points, "-o", output, f"--bounds={BOUNDS}", "--method", "ugrid")[0] == 0
    assert run("export", output, "-o", cells)[0] == 0
    answers = as_json("query", output, "--rects", cells)["answers"]
    exported = pd.read_csv(cells)
    assert [row["count"] for row in answers] == pytest.approx(exported["count"].tolist())


@pytest.mark.slow
def test_builds_of_sensitive_data_are_paid_by_the_ledger(points, tmp_path):
    output, file = tmp_path / "r.parquet", tmp_path / "ledger.sqlite"
    words = ["build", points, f"--bounds={BOUNDS}", "--ledger", file]
    pay, free = [*words, "-o", output], [*words, "-o", tmp_path / "free.parquet"]
    assert run(*free, "--public", "--seed", 1)[0] == 0
    assert not file.exists()
    code, _, err = run(*words, "-o", tmp_path / "first.parquet", "--epsilon", 0.5)
    assert code == 0
    assert "no lifetime budget yet" in err
    run("ledger", "set", "points", "--epsilon", 1, "--ledger", file)
    code, _, err = run(*pay, "--epsilon", 0.25, "--purpose", "city council", "--json")
    assert (code, err) == (0, "")
    [account] = as_json("ledger", "show", "--ledger", file)["datasets"]
    assert (account["dataset"], account["total"], account["left"]) == ("points", 1, 0.25)
    assert account["spends"][1]["purpose"] == "city council"
    assert account["spends"][1]["release"] == dpviz.read(output).header.extra["release_id"]
    old = free[-1].read_bytes()
    line = fails(*free, "--epsilon", 0.5)
    assert line == ("error: cannot spend epsilon=0.5 on data set 'points': 0.25 of 1 is left\n")
    assert free[-1].read_bytes() == old
    assert run(*free, "--epsilon", 0.5, "--dataset", "others")[0] == 0
    _, text, _ = run("ledger", "show", "points", "--ledger", file)
    assert text.startswith("points: ε = 0.25 left of ε = 1 (to add or remove one record)\n")


def test_methods_and_data_sets_are_listed_as_json():
    listed = {row["name"]: row for row in as_json("methods")["methods"]}
    assert set(listed) == set(dpviz.METHODS)
    assert {"name", "guarantee", "dimensions", "parameters", "paper"} <= set(listed["privtree"])
    assert "quad-opt" in listed["quadtree"]["aliases"]
    _, out, _ = run("methods")
    columns = [[cell for cell in line.split("  ") if cell.strip()] for line in out.splitlines()]
    assert [cells[0].strip() for cells in columns] == list(listed)
    assert {len(cells) for cells in columns} == {4}
    assert "city-50k" in {row["name"] for row in as_json("datasets", "list")["datasets"]}


@pytest.mark.parametrize(
    "words", [["--dataset", ""], ["--dataset="], ["--method="], ["--crs", ""], ["--set", ""]]
)
def test_an_option_with_an_empty_value_is_refused(words, points, tmp_path):
    output, bounds = tmp_path / "r.parquet", f"--bounds={BOUNDS}"
    name = words[0].rstrip("=")
    for order in ([*words, "-o", output], ["-o", output, *words]):
        line = f"error: {name} is empty: give a value, or leave the option out"
        refused(tmp_path, ("build", points, bounds, *order), line)


@pytest.mark.slow
def test_invalid_queries_are_refused_in_one_line(points, tmp_path):
    output = tmp_path / "r.parquet"
    run("build", points, "-o", output, f"--bounds={BOUNDS}")
    for words, message in [
        (["--rect=5,50,6,51"], "outside the domain"),
        (["--rect=0.5,51,-0.5,50"], "inside out"),
        (["--rect=0,51"], "give 4"),
        ([], "nothing to answer"),
        ([f"--rect={BOUNDS}", "--name=ward"], "--name requires --regions"),
        (["--regions=none.geojson", "--less=a,b"], "--less requires --period"),
        (["--path=1"], "--path is for roads, not for points: leave it out"),
        (["--string=a"], "--string is for sequences, not for points: leave it out"),
        (["--rects", tmp_path / "absent.csv"], "absent.csv': check the name"),
        # Reading other devices may never end.
        (["--rects", os.devnull], f"no file '{os.devnull}': check the name"),
    ]:
        line = fails("query", output, *words)
        assert message in line
    assert "without the header of a release" in fails("query", points, "--rect=0,51,1,52")


@pytest.mark.slow
def test_the_program_runs_as_a_process(points, tmp_path):
    program = [sys.executable, "-c", "from dpviz.cli import main; main()"]
    assert (
        fails("query", "absent.parquet") == "error: absent.parquet: no such file: check its name\n"
    )
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*program, "methods"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: standard output cannot be written (No space left on device)"
    )
    made = tmp_path / "c.parquet"
    built = [*program, "build", str(points), "-o", str(made), f"--bounds={BOUNDS}"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(built, stdout=full, stderr=subprocess.PIPE, text=True)
    assert "c.parquet is complete, but standard output cannot be written" in done.stderr
    assert (done.returncode, made.is_file()) == (2, True)
    reader, writer = os.pipe()
    os.close(reader)  # the reader has closed the pipe
    done = subprocess.run([*program, "methods"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_characters_that_the_output_cannot_encode_are_escaped(
    points, tmp_path, monkeypatch, encoding
):
    """A build ended by its last line, in a traceback: who tried again paid twice."""
    output, printed = str(tmp_path / "r.parquet"), io.BytesIO()
    words = ["dpviz", "build", str(points), "-o", output, f"--bounds={BOUNDS}"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding))
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stdout.flush()
    assert ended.value.code == 0
    assert (
        printed.getvalue()
        .splitlines()[-1]
        .startswith(b"differentially private, \\u03b5 = 1, add or")
    )
    assert dpviz.read(output).header.epsilon == 1


@pytest.mark.slow
def test_expect_reads_no_records_and_compares_bounds():
    words = ["expect", f"--bounds={BOUNDS}", "--records", 20_000, "--method", "quad-opt"]
    answer = as_json(*words, "--max-per-unit", 2, "--per-unit", 3)
    assert [row["size"] for row in answer["expected"]][:3] == ["small", "medium", "large"]
    assert answer["bounds"][0]["kept"] == pytest.approx(1 / 3)
    assert all(row["error"] > 0 for row in answer["bounds"])


@pytest.mark.slow
def test_expected_errors_depend_on_the_period():
    words = ["expect", f"--bounds={BOUNDS}", "--records", 20_000]
    period = ["--time", "when", "--period", "2024-03-01,2024-04-01"]
    whole, timed = (as_json(*words, *more)["expected"] for more in ([], period))
    assert timed[1]["count"] != whole[1]["count"]  # 0.1 to 1 % of area and period together


@pytest.mark.slow
def test_expect_says_what_it_tries_where_there_are_more_records():
    words = ["expect", f"--bounds={BOUNDS}", "--method", "ugrid", "--set", "cells=8"]
    code, out, _ = run(*words, "--records", 2_500_000)
    assert code == 0
    assert "For 1,000,000 records, the most that are tried: of 2,500,000 counts are 2.5" in out
    assert as_json(*words, "--records", 2_500_000)["records"] == 1_000_000
    assert "the most that are tried" not in run(*words, "--records", 20_000)[1]


def test_expect_refuses_bad_numbers_in_one_line():
    words = ["expect", f"--bounds={BOUNDS}"]
    assert "records=0" in fails(*words, "--records", 0)
    assert "at most 1,000,000,000,000" in fails(*words, "--records", 10**30)
    assert "0.5 records per unit" in fails(*words, "--per-unit", 0.5)
    assert "1e+300 records per unit are more than all" in fails(*words, "--per-unit", 1e300)
    assert "simpletree, ugrid\n" in fails(*words, "--method", "zzz")


def test_numbers_out_of_range_are_refused_and_not_rounded(tmp_path):
    csv = tmp_path / "rows.csv"
    for frame, option in (("--graph=city", "--lengths"), ("--side=8", "--tops")):
        words = ("evaluate", "city", frame, "-o", csv, option, "2.5")
        assert "2.5 is not a whole number" in fails(*words)
    words = "topk", "r.parquet", "-k", 10**12
    assert "less than or equal to 100000" in fails(*words)
    many = ("evaluate", "city-50k", "--public", "-o", csv, "--queries", 10**12)
    assert "less than or equal to 1000000" in fails(*many)


def test_too_little_memory_is_one_line_without_a_number(points, tmp_path, monkeypatch):
    def allocate(*_, **__):
        raise MemoryError("Unable to allocate an array with shape (3000,)")

    monkeypatch.setattr(dpviz, "load", allocate)
    error = fails("build", points, f"--bounds={BOUNDS}", "-o", tmp_path / "r.parquet")
    assert "not enough memory" in error
    assert "3000" not in error


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("build | --nope", "no such option: --nope (Possible options: --name, --per, --zone)"),
        ("build |", "missing argument 'SOURCE'"),
        ("build | a.csv", "missing option '--output'"),
        ("build | a.csv b.csv -o r.parquet", "got unexpected extra argument(s) (b.csv)"),
        ("build | a.csv -o r.parquet --epsilon abc", "--epsilon 'abc': input should be a valid"),
        (
            "build | a.csv -o r.parquet --max-per-unit 1.5",
            "--max-per-unit '1.5': input should be a",
        ),
        ("picture | r.parquet -o m.png --size big", "--size 'big': not one of 'screen', 'print'"),
        ("build | city -o", "option '-o' requires an argument"),
        ("info | r.parquet --json=1", "option '--json' does not take a value"),
        ("datasets | nope", "no such command 'nope'"),
        ("| nope", "no such command 'nope'"),
    ],
)
def test_usage_errors_are_one_line_with_the_fault_and_the_help(words, line):
    command, rest = words.split("|")
    error = fails(*command.split(), *rest.split())
    help_line = f"see '{f'dpviz {command}'.strip()} --help'"
    assert re.fullmatch(rf"error: {re.escape(line)}.*: {help_line}\n", error)
