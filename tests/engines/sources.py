"""One Arrow table as a source of every kind."""

import duckdb
import polars as pl
import pyarrow.csv
import pyarrow.parquet

KINDS = ("csv", "parquet", "duckdb", "pandas", "polars", "arrow")


def source(kind, folder, table):
    """The table as a source of that kind, called visits where it is in a file."""
    path = folder / f"visits.{kind}"
    match kind:
        case "csv":
            pyarrow.csv.write_csv(table, path)
        case "parquet":
            pyarrow.parquet.write_table(table, path)
        case "duckdb":
            with duckdb.connect(str(path)) as database:
                database.register("given", table)
                database.execute("CREATE OR REPLACE TABLE visits AS SELECT * FROM given")
        case "pandas":
            return table.to_pandas()
        case "polars":
            return pl.from_arrow(table)
        case _:
            return table
    return str(path)
