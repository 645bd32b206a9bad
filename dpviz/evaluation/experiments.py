"""Experiments: the error of methods over workloads, for several epsilons, with repetitions.

Public data and simulated noise only. One task is one build, which answers every workload; tasks run
in worker processes, and rows come back as they are finished, so that whoever stops asking keeps
what there is.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice

import numpy as np

from dpviz.build import DataHandle, build, positive_epsilon
from dpviz.errors import ParameterError
from dpviz.evaluation.metrics import SANITY, errors, sanity_bound
from dpviz.evaluation.truth import PublicRecords, exact_counts, exact_total, public_records
from dpviz.evaluation.workers import worker_pool
from dpviz.methods import method_with
from dpviz.methods.points.base import PointMethod
from dpviz.methods.points.declared import Declared
from dpviz.methods.request import chosen_method
from dpviz.progress import Progress, silent
from dpviz.queries.workloads import Workload
from dpviz.releases.points.range_count import BULK
from dpviz.trees.lattice import Int

Key = tuple[str, float, str, int]
"""What identifies a row: method, epsilon, size, repeat."""


@dataclass(frozen=True)
class ErrorRow:
    """The error of one build over one workload.

    Attributes:
        method: as it was asked for, parameters included.
        epsilon: the whole price.
        size: of the workload.
        repeat: from 0.
        mean_relative_error, median_relative_error: over the workload, with the sanity bound.
        build_seconds: of the one build that answered every size.
        query_seconds: for this workload.
        mean_absolute_error: in records.
    """

    method: str
    epsilon: float
    size: str
    repeat: int
    mean_relative_error: float
    median_relative_error: float
    build_seconds: float
    query_seconds: float
    mean_absolute_error: float

    @property
    def key(self) -> Key:
        """What identifies the row."""
        return self.method, self.epsilon, self.size, self.repeat


@dataclass(frozen=True, eq=False)
class Experiment:
    """What to run: every method at every epsilon, ``repeats`` times, on every workload.

    Attributes:
        methods: names, aliases, or names with parameters: ``quadtree:height=6:prune=0``.
        epsilons: prices.
        workloads: one per size.
        repeats: repetitions with independent noise.
        seed: makes everything repeatable, with simulated noise and a stream of its own for each
            task; None for noise as of a release.
        sanity: the sanity bound as a share of the number of records.

    Raises:
        ParameterError: an unknown method or parameter, an epsilon that is none, or nothing to run.
    """

    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    workloads: tuple[Workload, ...]
    repeats: int = 5
    seed: int | None = 0
    sanity: float = SANITY

    def __post_init__(self) -> None:
        for what in ("methods", "epsilons", "workloads"):
            if not getattr(self, what):
                raise ParameterError(f"no {what} to evaluate: give at least one")
        if self.repeats < 1:
            raise ParameterError(f"repeats={self.repeats}: give at least 1")
        if not 0 < self.sanity < 1:
            raise ParameterError(f"sanity={self.sanity:g}: give a share between 0 and 1")
        for epsilon in self.epsilons:
            positive_epsilon(epsilon)
        for name in self.methods:
            described_method(name)

    def row_keys(self) -> list[Key]:
        """Every row that a complete run has, repetition by repetition."""
        return [
            (name, epsilon, load.size, repeat)
            for repeat in range(self.repeats)
            for name in self.methods
            for epsilon in self.epsilons
            for load in self.workloads
        ]


@dataclass(frozen=True)
class Task:
    """One build and the sizes that it is to answer."""

    method: str
    epsilon: float
    repeat: int
    sizes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Baseline:
    """What every task of a plan shares: the data set, the queries and their exact answers."""

    handle: DataHandle
    plan: Experiment
    exact: dict[str, Int]
    bound: float

    @classmethod
    def of(cls, handle: DataHandle, plan: Experiment) -> Baseline:
        """Count once, where every method can be built on the data.

        Raises:
            PrivacyError: the data set is not declared public.
            ParameterError: a method that is not for these data.
        """
        for name in plan.methods:
            chosen_method(handle, described_method(name), None, {})
        exact = {load.size: exact_counts(handle, load.rects) for load in plan.workloads}
        return cls(handle, plan, exact, sanity_bound(exact_total(handle), plan.sanity))

    def run(self, task: Task) -> list[ErrorRow]:
        """Build once, answer every size."""
        plan = self.plan
        seed = task_seed(plan.seed, f"{task.method}|{task.epsilon!r}|{task.repeat}")
        started = time.perf_counter()
        release = build(self.handle, described_method(task.method), task.epsilon, seed=seed)
        built = time.perf_counter() - started
        release.count(plan.workloads[0].rects[:BULK])  # loads compiled code outside the clock
        rows = []
        for load in plan.workloads:
            if load.size not in task.sizes:
                continue
            started = time.perf_counter()
            answers = release.count(load.rects).count
            asked = time.perf_counter() - started
            columns = errors(answers, self.exact[load.size], self.bound)
            columns |= {"build_seconds": built, "query_seconds": asked}
            rows.append(ErrorRow(task.method, task.epsilon, load.size, task.repeat, **columns))
        return rows


def task_seed(seed: int | None, task: str) -> int | None:
    """Of the noise of one task of a plan with this seed; None for noise that nobody may repeat."""
    if seed is None:
        return None
    return int(np.random.default_rng([seed, zlib.crc32(task.encode())]).integers(2**63))


def described_method(text: str) -> PointMethod:
    """A method from its name, followed by any parameters as ``:key=value``.

    >>> described_method("quadtree:height=6:prune=0").height
    6
    """
    name, parameters = parsed(text)
    described: PointMethod = method_with(name, "points", parameters)
    return described


def fitted(text: str, declared: Declared | None) -> str:
    """A method as :func:`described_method` reads it, with what follows from a declared workload.

    >>> from dpviz.methods.points.declared import Declared
    >>> fitted("ugrid", Declared("hot")), fitted("ugrid:c=5", Declared("hot"))
    ('ugrid:c=0.17', 'ugrid:c=5')
    """
    if declared is None:
        return text
    described_method(text)
    follow = declared.following(*parsed(text))
    return text + "".join(f":{key}={value}" for key, value in follow.items())


def parsed(text: str) -> tuple[str, dict[str, str]]:
    """A method's name and its parameters in ``name:key=value``.

    >>> parsed("quadtree:height=6")
    ('quadtree', {'height': '6'})
    """
    name, *pairs = text.split(":")
    return name, dict(pair.partition("=")[::2] for pair in pairs)


def run(
    handle: DataHandle,
    plan: Experiment,
    *,
    done: Collection[Key] = (),
    processes: int = 2,
    progress: Progress | None = None,
) -> Iterator[list[ErrorRow]]:
    """Rows as tasks are finished, a list per build; what cannot be run is refused at once.

    Closing the iterator (or an interrupt) cancels: builds that have begun end, no other begins.

    Args:
        handle: a public data set.
        plan: what to run.
        done: rows that exist already and are left out.
        processes: worker processes; 0 runs in this one.
        progress: called with the share of the builds that are finished.

    Raises:
        PrivacyError: the data set is not declared public.
        ParameterError: a method that is not for these data.
    """
    return _finished(Baseline.of(handle, plan), _tasks(plan, done), processes, progress or silent)


def _finished(
    bench: Baseline, tasks: list[Task], processes: int, progress: Progress
) -> Iterator[list[ErrorRow]]:
    """Rows of each task, in this process or in others, as it is finished."""
    processes = min(processes, len(tasks))
    finished = map(bench.run, tasks) if processes < 1 else _in_processes(bench, tasks, processes)
    for count, rows in enumerate(finished, 1):
        progress(count / len(tasks), f"build {count} of {len(tasks)}")
        yield rows


def _tasks(plan: Experiment, done: Collection[Key]) -> list[Task]:
    done = set(done)
    sizes: dict[tuple[str, float, int], list[str]] = {}
    for name, epsilon, size, repeat in plan.row_keys():
        if (name, epsilon, size, repeat) not in done:
            sizes.setdefault((name, epsilon, repeat), []).append(size)
    return [Task(*task, tuple(words)) for task, words in sizes.items()]


def _in_processes(bench: Baseline, tasks: list[Task], processes: int) -> Iterator[list[ErrorRow]]:
    """Through a pool of fresh interpreters, never more tasks under way than there are workers."""
    shared = (public_records(bench.handle), bench.plan, bench.exact, bench.bound)
    pool = worker_pool(processes, _start, *shared)
    waiting = iter(tasks)
    running: set[Future[list[ErrorRow]]] = set()
    try:
        running.update(pool.submit(_work, task) for task in islice(waiting, processes))
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            running.update(pool.submit(_work, task) for task in islice(waiting, len(ended)))
            for future in ended:
                yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_bench: Baseline | None = None  # of a worker process, set once by its initializer


def _start(records: PublicRecords, plan: Experiment, exact: dict[str, Int], bound: float) -> None:
    global _bench
    _bench = Baseline(records.handle(), plan, exact, bound)


def _work(task: Task) -> list[ErrorRow]:
    if _bench is None:
        raise RuntimeError("the worker was not initialised")
    return _bench.run(task)
