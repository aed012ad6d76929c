"""Sessions of Spark: where there is no Java, and tables of several sessions."""

import pytest

from deniable.engines.spark_session import _check_java, is_spark, session_of
from deniable.errors import InvalidPolicy, MissingExtra


@pytest.mark.parametrize(
    ("version", "told"),
    [(None, "none was found"), ("1.8.0_392", "Java 8 was found"), ("11.0.2", "Java 11 was")],
)
def test_no_java_is_one_sentence(version, told, tmp_path, monkeypatch):
    if version is not None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match=told) as missing:
        _check_java()
    assert "default-jre-headless" in str(missing.value)
    assert str(missing.value).count("\n") == 0


def test_tables_are_in_one_session():
    two = {"a": "spark://local#a", "b": "spark://elsewhere.example.org:15002#b"}
    with pytest.raises(InvalidPolicy, match="one session"):
        session_of(two)
    assert not is_spark("spark://local")
