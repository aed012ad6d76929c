"""The dialect over a server: the same answers, the same previews, one budget."""

import signal
import subprocess
import sys

import pandas
import pytest
import sqlalchemy as sa

import deniable as dp
from deniable import dbapi
from tests.app.server.questions.asking import people_of, write_hospital


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a server, a token, and the owner's key."""
    file = write_hospital(tmp_path_factory.mktemp("served"), epsilon=3)
    folder = file.parent.parent
    start = "from deniable.app.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", str(file), "--port", "0"]
    command += ["--padding", "off", "--database", str(folder / "server.sqlite")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().split()[-1].replace("/v1/", "/")
        key = (file.parent / "deniable.ledger.key.pub").read_text().strip()
        yield url, people_of(folder).new_token("ann"), key
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdout.close()


def test_pandas_reads_from_a_server(served):
    url, token, key = served
    address = url.replace("http://", f"deniable://ann:{token}@")
    engine = sa.create_engine(f"{address}?key={key}")
    assert sa.inspect(engine).get_table_names() == ["visits", "staff"]
    preview = pandas.read_sql(sa.text("SELECT * FROM visits LIMIT 1000"), engine)
    assert list(preview.columns) == ["explanation"]
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward EPSILON 1"
    frame = pandas.read_sql(sa.text(question), engine)
    assert list(frame.columns) == ["ward", "n", "n_low", "n_high"]
    assert ((frame.n - 1000).abs() < 200).all()
    again = pandas.read_sql(sa.text(question), engine)
    assert again.equals(frame)
    engine.dispose()
    with dp.connect(url, token=token, key=key) as session:
        assert session.remaining.epsilon == 2


def test_refusals_are_those_of_the_driver(served):
    url, token, key = served
    with dbapi.connect(url, token=token, key=key) as connection:
        cursor = connection.cursor()
        with pytest.raises(dbapi.OperationalError):
            cursor.execute("SELECT COUNT(*) FROM visits EPSILON 99")
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute("SELECT SUM(patient) FROM visits EPSILON 1")
    with pytest.raises(dbapi.OperationalError):
        dbapi.connect(url, token=f"dnb_{'0' * 56}", key=key)
    with pytest.raises(dbapi.Error):
        dbapi.connect(url, token=token, key="ab" * 32)
