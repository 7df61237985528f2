"""How a record file gets its tables, and how those of an older version get newer ones.

Steps have names, go forward only, and are recorded in the file, each in the transaction that makes
it. Tables change by a new step at the end; views hold no data and are made anew whenever a record
is opened for writing.
"""

from importlib.resources import files

from duckdb import BinderException, DuckDBPyConnection

from tournament.errors import RecordError, RecordRefused
from tournament.store import growth


def _sql(name: str) -> str:
    return (files("tournament.store") / name).read_text("utf-8")


STEPS = (("tables", "schema.sql"), ("growth", "growth.sql"), ("notes", "notes.sql"))
"""Names of the steps, and the files that have their SQL."""
COLUMNS = {"steps": growth.STEP, "calls": ", ".join(growth.CALL)}
"""Of tables that were changed before they were first released."""


def migrate(connection: DuckDBPyConnection, path: object) -> None:
    """Bring an open record to this version. Raises `RecordRefused` for what it cannot bring there."""
    done = _done(connection, path)
    connection.execute(
        "create table if not exists migrations (name varchar primary key, applied_at timestamp)"
    )
    for name, file in STEPS[len(done) :]:
        connection.execute("begin")
        connection.execute(_sql(file))
        connection.execute("insert into migrations values (?, now() at time zone 'utc')", [name])
        connection.execute("commit")
    _check_columns(connection, path)
    connection.execute(f"begin; {_sql('views.sql')}; commit")
    # A log with definitions in it is the likeliest to fail when it is replayed after a crash.
    connection.execute("checkpoint")


def check(connection: DuckDBPyConnection, path: object) -> None:
    """Raise `RecordRefused` for no record, or a newer one, and `RecordError` for an older one."""
    if len(_done(connection, path)) < len(STEPS):
        raise RecordError(
            f"{path} was made by an older version of tournament: write to it once with this one, "
            "and it will be brought up to date"
        )
    _check_columns(connection, path)


def _check_columns(connection: DuckDBPyConnection, path: object) -> None:
    """Raise `RecordRefused` for a record from between two versions, where a step was not yet what it is."""
    for table, columns in COLUMNS.items():
        try:
            connection.execute(f"select {columns} from {table} limit 0")
        except BinderException as error:
            raise RecordRefused(
                f"{path} was made by an unfinished version of tournament, whose table {table!r} had other columns"
            ) from error


def _done(connection: DuckDBPyConnection, path: object) -> list[str]:
    """Names of the steps a file has been through."""
    tables = {
        name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()
    }
    if tables and "migrations" not in tables:
        raise RecordRefused(f"{path} is a database of something else, not a record")
    if not tables:
        return []
    done = [name for (name,) in connection.execute("select name from migrations").fetchall()]
    if unknown := set(done) - {name for name, _ in STEPS}:
        raise RecordRefused(
            f"{path} was made by a newer version of tournament (it has {min(unknown)!r})", "upgrade"
        )
    return done
