"""A connection for each thread that lives, and none for those that have ended."""

import threading

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.accounts.thread_connections import ThreadConnections


class Connection:
    """Something that can be closed."""

    closed = False

    def close(self):
        self.closed = True


def run_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_the_connection_of_a_thread_that_ended_is_closed():
    connections, opened = ThreadConnections(Connection), []
    for _ in range(5):
        run_thread(lambda: opened.append(connections.mine()))
    assert [each.closed for each in opened] == [True] * 4 + [
        False
    ]  # the next one closes the last
    mine = connections.mine()
    assert opened[-1].closed
    assert not mine.closed
    connections.close()
    assert mine.closed


def test_a_connection_that_broke_is_replaced():
    connections = ThreadConnections(Connection, is_usable=lambda each: not each.closed)
    first = connections.mine()
    first.close()
    assert connections.mine() is not first
    assert connections.mine() is connections.mine()


def test_a_server_keeps_no_files_open_for_questions_that_are_over(tmp_path):
    """Each question is answered in a thread of its own."""
    database = ServerDatabase(tmp_path / "s.sqlite")
    database.create("CREATE TABLE IF NOT EXISTS n (n INTEGER)")

    def read():
        with database.reading() as connection:
            connection.execute("SELECT n FROM n").fetchall()

    for _ in range(20):
        run_thread(read)
    assert len(database._connections._open) <= 2
    database.close()
