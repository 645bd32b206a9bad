"""Apache Spark SQL, on this machine or a cluster (extra ``dpviz[spark]``)."""

from __future__ import annotations

import tempfile
import uuid
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.errors import DataError
from dpviz.lazy import exp
from dpviz.private.load.engines.base import NOT_NUMBERS, Engine, Rows, column_of, engine_errors
from dpviz.private.load.tables.base import Column

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_GUESSED = "spark.sql.sources.partitionColumnTypeInference.enabled"
"""Spark's setting for inferring a column's type from folder names, such as ``rider=01``: a new
folder could change the type, and so the ids from 01 to 1."""

_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.extraJavaOptions": (
        "-XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    ),
}
"""Settings of a session on this machine. Its Java lives for one query: without the second compiler,
the collector's threads and a proof of each of Spark's own classes, start and a million records take
less than half the processor time, and each further million 10 % more."""


class Spark(Engine):
    """A Spark session: the active one of this process, or a new one.

    ``spark://local`` runs on all cores of this machine; ``spark://HOST:PORT`` is a cluster's
    master. A session that was active before stays so.
    """

    dialect = "spark"
    title = "Spark"

    def __init__(self, url: str) -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise DataError("Spark needs an extra: pip install 'dpviz[spark]'") from None
        # PySpark warns if pandas 3 is installed, though pandas is not used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        self._group = f"dpviz-{uuid.uuid4().hex}"
        active = SparkSession.getActiveSession()
        self._folder = None if active else tempfile.TemporaryDirectory(prefix="dpviz-")
        why = "no session: check the master's address, and that Java is 17 or newer"
        try:
            with engine_errors(self.title, why):
                folder = "" if self._folder is None else self._folder.name
                self._session = active or _started(url, folder)
                self._before = self._session.conf.get(_GUESSED)
                self._session.conf.set(_GUESSED, "false")
        except BaseException:
            if self._folder is not None:
                self._folder.cleanup()
            raise

    def columns(self, relation: Any) -> Sequence[Column]:
        """The columns of a relation."""
        star = exp.select("*").from_(relation.copy()).limit(0).sql(dialect=self.dialect)
        with engine_errors(self.title, "check the name of the table"):
            declared = self._session.sql(star).dtypes
        return [column_of(name, kind, self.dialect) for name, kind in declared]

    def rows(self, query: str) -> Rows:
        """Run a query that returns columns of whole numbers, as Arrow columns."""
        context = self._session.sparkContext
        with engine_errors(self.title, NOT_NUMBERS):
            context.setJobGroup(self._group, "dpviz: records by cell", interruptOnCancel=True)
            result = self._session.sql(query).toArrow()
            return tuple(np.asarray(each.to_numpy(), dtype=np.int64) for each in result.columns)

    def fraction(self) -> float:
        """Share of tasks that are done, in the stages that Spark has planned so far."""
        tracker = self._session.sparkContext.statusTracker()
        done = planned = 0
        for job in tracker.getJobIdsForGroup(self._group):
            known = tracker.getJobInfo(job)
            for number in known.stageIds if known else ():
                stage = tracker.getStageInfo(number)
                if stage:
                    done, planned = done + stage.numCompletedTasks, planned + stage.numTasks
        return done / planned if planned else 0.0

    def cancel(self) -> None:
        """Cancel the jobs of the running query."""
        self._session.sparkContext.cancelJobGroup(self._group)

    def close(self) -> None:
        """Close the session, if dpviz started it."""
        if self._folder is None:
            self._session.conf.set(_GUESSED, self._before)
        else:
            self._session.stop()
            self._folder.cleanup()


def _started(url: str, folder: str) -> Any:
    """Start a quiet session; a local one writes no files to the current folder."""
    from pyspark.sql import SparkSession

    host = url.partition("://")[2].strip("/")
    local = host in ("", "local")
    settings = {**_QUIET, **(_LOCAL | {"spark.sql.warehouse.dir": folder} if local else {})}
    master = "local[*]" if local else f"spark://{host}"
    builder = SparkSession.builder.appName("dpviz").master(master)
    return builder.config(map=settings).getOrCreate()
