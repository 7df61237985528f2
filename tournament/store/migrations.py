"""Create the tables of a new record file, and bring the tables of an older version up to date.

A migration step has a name and goes forward only. The file records each step in the same
transaction that carries it out. To change a table, add a step at the end. Views contain no data,
so they are created again whenever a record is opened for writing.
"""

from importlib.resources import files

from duckdb import BinderException, DuckDBPyConnection

from tournament.errors import RecordError, RecordRefused
from tournament.store import evolution


def _sql(name: str) -> str:
    return (files("tournament.store") / name).read_text("utf-8")


STEPS = (
    ("tables", "schema.sql"),
    ("growth", "evolution.sql"),
    ("notes", "notes.sql"),
    ("sessions", "sessions.sql"),
    ("short prompts", "short_prompts.sql"),
)
"""The names of the migration steps, each with the file that contains its SQL."""
COLUMNS = {"steps": evolution.STEP, "calls": ", ".join(evolution.CALL)}
"""The columns of those tables that changed before they were first released, by table.

A record made in between has a table with other columns, although it has been through the same steps.
"""


def migrate(connection: DuckDBPyConnection, path: object) -> None:
    """Bring an open record to this version. Raises `RecordRefused` if that is not possible."""
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
    # Write the definitions to the file now. After a crash DuckDB replays its log, and a log that
    # contains definitions is the most likely to fail.
    connection.execute("checkpoint")


def check(connection: DuckDBPyConnection, path: object) -> None:
    """Check that an open record has this version.

    Raises `RecordRefused` if the file is not a record or is a newer one, and `RecordError` if it is older.
    """
    if len(_done(connection, path)) < len(STEPS):
        raise RecordError(
            f"{path} was made by an older version of tournament: write to it once with this one, "
            "and it will be brought up to date"
        )
    _check_columns(connection, path)


def _check_columns(connection: DuckDBPyConnection, path: object) -> None:
    """Raise `RecordRefused` for a record made between two releases, when a step did not yet have its final form."""
    for table, columns in COLUMNS.items():
        try:
            connection.execute(f"select {columns} from {table} limit 0")
        except BinderException as error:
            raise RecordRefused(
                f"{path} was made by an unfinished version of tournament, whose table {table!r} had other columns"
            ) from error


def _done(connection: DuckDBPyConnection, path: object) -> list[str]:
    """Return the names of the migration steps that a file has been through.

    Raises `RecordRefused` if the file is another database, or has a step that this version does not know.
    """
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
