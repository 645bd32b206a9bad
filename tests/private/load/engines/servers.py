"""A real PostgreSQL with PostGIS and a Java for Spark, installed from Debian where possible.

Root on Debian gets both by itself; the fixtures in ``conftest`` skip where one is missing, and say
which and how to install it.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dpviz.private.load.engines import spark
from tests.packages import can_install, install, one_at_a_time

PASSWORD = "s3cret-Pa55word"

NO_POSTGRES = (
    "needs PostgreSQL with PostGIS in /usr/lib/postgresql: apt-get install postgresql-15-postgis-3 "
    "(or a newer one); root on Debian gets it by itself"
)
NO_JAVA = (
    "needs Java 17 or newer for Spark: apt-get install default-jre-headless; root on Debian gets "
    "it by itself"
)


def postgres_programs():
    """The folder of the newest PostgreSQL that has PostGIS; None without."""
    for programs in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (programs.parent / "lib" / "postgis-3.so").exists():
            return programs
    return None


def installed_postgres():
    """As :func:`postgres_programs`, after an attempt to install it."""
    with one_at_a_time():
        if postgres_programs() is None and can_install():
            settings = Path("/etc/postgresql-common/createcluster.d/dpviz.conf")
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text("create_main_cluster = false\n")  # no server other than ours
            try:
                install("postgresql-common")  # also downloads the package lists
                words = ["apt-cache", "search", "--names-only", "^postgresql-[0-9]+-postgis-3$"]
                packages = subprocess.run(words, capture_output=True, text=True).stdout
                newest = re.findall(r"^(postgresql-\d+-postgis-3) ", packages, re.MULTILINE)[-1:]
                install(*newest)
            finally:
                settings.unlink()
        return postgres_programs()


@dataclass(frozen=True)
class PostgresServer:
    """Address where the server listens."""

    port: int

    @property
    def url(self):
        return f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"


def serve_postgres(programs):
    """A PostgreSQL of this run on loopback, of these programs; a generator for a fixture."""
    who = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="dpviz-pg-") as folder:
        secret = Path(folder) / "password"
        secret.write_text(PASSWORD)
        if who:
            for path in (folder, secret):
                shutil.chown(path, "postgres", "postgres")
        data = f"{folder}/data"
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
             "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **who,
        )  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", folder,
             "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **who,
        )  # fmt: skip
        try:
            _await(port, server)
            yield PostgresServer(port)
        finally:
            server.send_signal(2)  # fast shutdown: open connections are ended
            server.wait(30)


def _await(port, server):
    import psycopg

    for _ in range(300):
        assert server.poll() is None, "PostgreSQL did not start"
        try:
            psycopg.connect(PostgresServer(port).url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not answer within 30 s")


def connected(url):
    """A connection to the server, for a test's own statements."""
    import psycopg

    return psycopg.connect(url)


def create(db, name, columns, rows=()):
    """A new table in place of any other, with rows copied in."""
    db.execute(f"DROP TABLE IF EXISTS {name}".encode())
    db.execute(f"CREATE TABLE {name} ({columns})".encode())
    with db.cursor().copy(f"COPY {name} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def java_version():
    """The major version of `java`; 0 without."""
    if shutil.which("java") is None:
        return 0
    version = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    match = re.search(r'version "(\d+)', version)
    return int(match[1]) if match else 0


def has_java():
    """Return whether Java for Spark is here; try to install it first."""
    with one_at_a_time():
        return java_version() >= 17 or (install("default-jre-headless") and java_version() >= 17)


def spark_runs():
    """Return whether Spark runs in this process."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def serve_spark(warehouse):
    """A local session of Spark that stays active; a generator for a fixture."""
    from pyspark.sql import SparkSession

    few = {"spark.sql.shuffle.partitions": "1", "spark.sql.warehouse.dir": str(warehouse)}
    builder = SparkSession.builder.master("local[1]")
    session = builder.config(map={**spark._QUIET, **spark._LOCAL, **few}).getOrCreate()
    try:
        yield session
    finally:
        session.stop()
