"""`deniable learn fit|score|predict|verify`: private models from a policy's tables."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal
from deniable.app.cli.commands.ledger import read_public_key
from deniable.app.cli.commands.verify import PublicKey
from deniable.errors import InvalidParameter

app = typer.Typer(help="Train, score and use private models.", no_args_is_help=True)
_KINDS = {
    "naive-bayes": "NaiveBayes",
    "logistic": "LogisticRegression",
    "additive": "AdditiveModel",
    "additive-number": "AdditiveRegressor",
    "ridge": "Ridge",
    "linear": "LinearRegression",
    "robust-slope": "RobustSlope",
}

Table = Annotated[str, typer.Argument(help="The table of the policy.")]
Target = Annotated[str, typer.Option(help="The column that is predicted.")]
Kind = Annotated[str, typer.Option("--model", help=f"One of {', '.join(_KINDS)}.")]
Features = Annotated[
    str | None, typer.Option(help="Only these columns: age,sex.", metavar="COLUMNS")
]
Out = Annotated[Path, typer.Option("--out", help="Where to write the model.", metavar="FILE")]
Held = Annotated[
    str | None,
    typer.Option("--hold-out", help="Leave out this share, by a hash with --key: 0.2."),
]
Key = Annotated[
    str | None, typer.Option(help="Of the hash: the same key leaves out the same people.")
]
ModelFile = Annotated[Path, typer.Argument(help="A model that `deniable learn fit` wrote.")]
Rows = Annotated[Path, typer.Argument(help="A CSV or Parquet file with the model's columns.")]
Written = Annotated[
    Path | None, typer.Option("--out", help="Where to write the predictions.", metavar="FILE")
]
Group = Annotated[str | None, typer.Option(help="A column whose values are compared.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Only show what would be measured. Spends nothing.")
]


@app.command()
def fit(
    table: Table,
    target: Target,
    epsilon: session_options.Epsilon = None,
    out: Out = Path("model.json"),
    model: Kind = "naive-bayes",
    delta: session_options.Delta = None,
    features: Features = None,
    hold_out: Held = None,
    key: Key = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    analyst: session_options.Analyst = None,
    explain: Explain = False,
) -> None:
    """Train a model on a protected table, in one charge, and write it as JSON."""
    from deniable import learn
    from deniable.app.cli.progress import show_progress

    if (hold_out is None) != (key is None):
        raise InvalidParameter("Give both or none of --hold-out and --key.")
    estimator = _estimator(model, epsilon, delta, features)
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(estimator.explain(planner.table(table), target=target))
        return
    session_options.check_writable(out)
    with (
        show_progress("training") as tell,
        session_options.open_quietly(policy, analyst) as session,
    ):
        rows = _part(session, table, hold_out, key, test=False)
        estimator.set_params(progress=tell).fit(rows, target=target)
        estimator.set_params(progress=None)
        left = session.remaining
    learn.save(estimator, out)
    print(f"{estimator!r} on {table}, target {target}: written to {out}.")
    print(f"Cost: {estimator.loss_!r}, in {len(estimator.releases_)} steps. Left: {left}.")


@app.command()
def score(
    file: ModelFile,
    table: Table,
    target: Target,
    epsilon: session_options.Epsilon = None,
    group: Group = None,
    hold_out: Held = None,
    key: Key = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    analyst: session_options.Analyst = None,
) -> None:
    """Score a model on a protected table: accuracy and AUC of classes, R squared of numbers. It
    is charged."""
    from deniable import learn

    estimator: Any = learn.load(file)
    classes, price = hasattr(estimator, "evaluate"), _price(epsilon)
    if not classes and (group is not None or not hasattr(estimator, "score")):
        what = "is not compared by --group" if hasattr(estimator, "score") else "has no score"
        raise InvalidParameter(f"{type(estimator).__name__} predicts no classes: it {what}.")
    ask = estimator.evaluate if classes else estimator.score
    more = {"group": group} if classes else {}
    with session_options.open_session(policy, "scoring", analyst) as session:
        rows = _part(session, table, hold_out, key, test=True)
        evaluation = ask(rows, target=target, epsilon=price, **more)
        left = session.remaining
    print(f"accuracy {evaluation.accuracy()}" if classes else f"R squared {evaluation.about}")
    if hasattr(evaluation, "auc"):
        print(f"AUC {evaluation.auc()}")
    for subgroup in evaluation.groups if group is not None else ():
        binary = hasattr(evaluation, "rate")
        accuracy = (
            evaluation.rate("accuracy", group=subgroup)
            if binary
            else evaluation.accuracy(subgroup)
        )
        print(f"accuracy of {group} {subgroup}: {accuracy}")
    print(f"Charged: epsilon {price}. Left: {left}.")


@app.command()
def predict(file: ModelFile, rows: Rows, out: Written = None) -> None:
    """Predict rows of your own with a model. It costs nothing."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from deniable import learn

    estimator: Any = learn.load(file)
    parquet = rows.suffix.lower() == ".parquet"
    try:
        frame = pa.parquet.read_table(str(rows)) if parquet else _read_csv(rows, estimator)
    except (OSError, pa.ArrowInvalid) as problem:
        raise InvalidParameter(f"{str(rows)!r} cannot be read: {problem}") from None
    session_options.check_writable(out)
    predicted = frame.append_column("prediction", pa.array(estimator.predict(frame).tolist()))
    if out is None:
        print("\n".join(str(prediction) for prediction in predicted["prediction"].to_pylist()))
    else:
        pa.csv.write_csv(predicted, str(out))


@app.command()
def verify(file: ModelFile, key: PublicKey = None) -> None:
    """Check the certificates in a model file: every step of its training, the price, and that
    no number of the model was changed since.

    Exit status 0: all holds, and it was signed with the key given. 1: all holds, but without
    --key nobody knows whose key it is. 2: refused.
    """
    from deniable import learn

    verification = learn.verify(file, key=None if key is None else read_public_key(key))
    for check in verification.checks:
        print(f"✓ {check}")
    print("Not computed again: how the model's numbers follow from what was released.")
    if not verification.signer_known:
        print(f"Signed, but by whom is unknown. The key is {verification.key}")
        print("Ask the owner for theirs, and give it with --key.")
        raise typer.Exit(1)


def _estimator(model: str, epsilon: str | None, delta: str | None, features: str | None) -> Any:
    from deniable import learn
    from deniable.exact.suggestions import suggest  # loads numpy

    if model not in _KINDS:
        raise InvalidParameter(f"Unknown model {model!r}. {suggest(model, _KINDS, 'They are')}")
    kind = getattr(learn, _KINDS[model])
    options: dict[str, Any] = {"epsilon": _price(epsilon)}
    if features is not None:
        options["features"] = [feature.strip() for feature in features.split(",")]
    if delta is not None:
        options["delta"] = parse_decimal(delta, "delta")
        if "delta" not in kind._parameters():
            raise InvalidParameter(f"{model} costs epsilon alone: leave out --delta.")
    return kind(**options)


def _read_csv(rows: Path, estimator: Any) -> Any:
    """The rows of a CSV file. Texts stay texts, as in a training: 01 does not become 1."""
    import pyarrow as pa
    import pyarrow.csv

    kinds = {name.lower(): kind for name, kind in estimator.kinds_needed().items()}
    with pa.csv.open_csv(str(rows)) as opened:
        names = opened.schema.names
    texts = {name: pa.string() for name in names if kinds.get(name.lower()) == "text"}
    options = pa.csv.ConvertOptions(column_types=texts)
    return pa.csv.read_csv(str(rows), convert_options=options)


def _price(epsilon: str | None) -> Any:
    if epsilon is None:
        raise InvalidParameter("Give the price, such as --epsilon 1.")
    return parse_decimal(epsilon, "epsilon")


def _part(session: Any, table: str, share: str | None, key: str | None, *, test: bool) -> Any:
    from deniable import learn

    rows = session.table(table)
    if share is None:
        return rows
    return learn.hold_out(rows, parse_decimal(share, "hold-out"), key=key)[test]
