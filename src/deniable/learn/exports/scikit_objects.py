"""A fitted model as objects of scikit-learn, which must be installed for this alone.

Each object is fitted on a few made-up rows, so that scikit-learn sets what it needs; then its
coefficients and limits are replaced by the released ones. What comes back needs nothing of
ours: it can be pickled, put into pipelines and served by others. Its input is an array whose
columns are the model's, in the model's order. Missing numbers are refused there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter, MissingExtra
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_model import LineModel
from deniable.learn.fit.place_models import AxesModel, CentreModel
from deniable.learn.fit.scaled_terms import ScaledTerm


def to_sklearn(model: object) -> Any:
    """A pipeline of scikit-learn that predicts what a fitted estimator (or its `model_`) does.

    >>> from deniable.learn.fit.scaled_terms import ScaledTerm
    >>> model = CentreModel((ScaledTerm("x", 5.0, 5.0),), np.array([[-1.0], [1.0]]))
    >>> to_sklearn(model).predict([[2.0], [9.0]]).tolist()
    [0, 1]
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "This needs scikit-learn, which is not installed. Install it with: "
            "pip install scikit-learn"
        ) from None
    model = getattr(model, "model_", model)
    if isinstance(model, CellModel):
        return _cell_pipeline(model)
    if isinstance(model, LineModel):
        return _linear_pipeline(model)
    if isinstance(model, CentreModel):
        return _centre_pipeline(model)
    if isinstance(model, AxesModel):
        return _axes_object(model)
    raise InvalidParameter(f"{type(model).__name__} has no form in scikit-learn.")


def _made_up_rows(features: Sequence[FeatureCells]) -> Any:
    """Rows in which every listed value occurs, and numbers of different sizes."""
    size = max(2, *(feature.size for feature in features))
    rows = np.empty((size, len(features)), dtype=object)
    for place, feature in enumerate(features):
        values = [label for label in feature.labels if label is not None]
        if feature.cuts:
            values = list(range(size))
        rows[:, place] = [values[i % len(values)] for i in range(size)]
    return rows


def _cell_pipeline(model: CellModel) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    if any(feature.kind == "date" and feature.cuts for feature in model.features):
        raise InvalidParameter("scikit-learn has no cells of dates: leave such features out.")
    steps = [
        (feature.name, _encoder(feature), [place])
        for place, feature in enumerate(model.features)
    ]
    rows = _made_up_rows(model.features)
    encoder = ColumnTransformer(steps, sparse_threshold=0).fit(rows)
    for feature in model.features:
        if feature.cuts:
            cuts = np.array([-np.inf, *map(float, feature.cuts), np.inf])
            encoder.named_transformers_[feature.name].bin_edges_[0] = cuts
    tables, intercept = [], model.intercept.copy()
    for feature, table in zip(model.features, model.tables, strict=True):
        other = table[-1] if feature.missing else np.zeros(table.shape[1])
        tables.append(table[: feature.size - feature.missing] - other)
        intercept = intercept + other
    weights = np.concatenate(tables)
    final = _final(model, encoder.transform(rows), weights, intercept)
    return Pipeline([("cells", encoder), ("model", final)])


def _encoder(feature: FeatureCells) -> Any:
    from sklearn.preprocessing import KBinsDiscretizer

    if feature.cuts:
        bins = len(feature.cuts) + 1
        options = {"encode": "onehot-dense", "strategy": "uniform", "subsample": None}
        return KBinsDiscretizer(bins, **options)
    listed = [label for label in feature.labels if label is not None]
    return _listed_encoder(feature, listed)


def _listed_encoder(cells: FeatureCells, values: Sequence[Any]) -> Any:
    """A column for each value. A number is clipped to its bounds first, as in training."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    listed = [np.array(values, dtype=object if cells.kind == "text" else None)]
    encoder = OneHotEncoder(categories=listed, handle_unknown="ignore", sparse_output=False)
    if cells.kind != "number" or cells.bounds is None:
        return encoder
    ends = dict(zip(("a_min", "a_max"), cells.bounds, strict=True))
    return make_pipeline(FunctionTransformer(np.clip, kw_args=ends), encoder)


def _final(model: CellModel, rows: Any, weights: Any, intercept: Any) -> Any:
    """The last step, with the released coefficients."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    if model.link == "identity":
        regression = LinearRegression().fit(rows, np.arange(len(rows)))
        regression.coef_, regression.intercept_ = weights[:, 0], float(intercept[0])
        return regression
    classes = np.array(model.classes)
    repeated = np.resize(np.arange(len(classes)), max(len(rows), len(classes)))
    target = classes[repeated]
    rows = np.resize(rows, (len(target), rows.shape[1]))
    if model.link == "one-against-rest":
        many = OneVsRestClassifier(LogisticRegression()).fit(rows, target)
        order = [list(model.classes).index(label) for label in many.classes_.tolist()]
        for place, own in zip(order, many.estimators_, strict=True):
            own.coef_, own.intercept_ = weights[:, [place]].T, intercept[[place]]
        return many
    classifier = LogisticRegression().fit(rows, target)
    order = [list(model.classes).index(label) for label in classifier.classes_.tolist()]
    if len(classes) == 2:
        if model.link == "softmax":
            weights = weights[:, [1]] - weights[:, [0]]
            intercept = intercept[[1]] - intercept[[0]]
        sign = 1.0 if order == [0, 1] else -1.0
        classifier.coef_, classifier.intercept_ = sign * weights.T, sign * intercept
    else:
        classifier.coef_, classifier.intercept_ = weights[:, order].T, intercept[order]
    return classifier


def _scaler(terms: Sequence[ScaledTerm]) -> Any:
    """Terms from columns: scaled numbers, clipped; a column for each value of others."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import MinMaxScaler

    names = list(dict.fromkeys(term.column for term in terms))
    steps, rows = [], np.empty((2, len(names)), dtype=object)
    for place, name in enumerate(names):
        own = [term for term in terms if term.column == name]
        if (cells := own[0].cells) is None:
            low, high = own[0].middle - own[0].half, own[0].middle + own[0].half
            steps.append((name, MinMaxScaler((-1, 1), clip=True), [place]))
            rows[:, place] = [low, high]
            continue
        values = [cells.labels[term.code] for term in own]
        steps.append((name, _listed_encoder(cells, values), [place]))
        rows[:, place] = [values[0], values[-1]]
    return ColumnTransformer(steps, sparse_threshold=0).fit(rows)


def _linear_pipeline(model: LineModel) -> Any:
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import Pipeline

    width = len(model.terms)
    regression = LinearRegression().fit(np.zeros((2, width)), np.arange(2))
    middles, halves = (
        np.array([getattr(term, end) for term in model.terms]) for end in ("middle", "half")
    )
    regression.coef_ = model.coefficients * halves
    regression.intercept_ = model.intercept + float(model.coefficients @ middles)
    return Pipeline([("terms", _scaler(model.terms)), ("model", regression)])


def _centre_pipeline(model: CentreModel) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.pipeline import Pipeline

    clustering = KMeans(len(model.centres), init=model.centres, n_init=1, max_iter=1)
    clustering.fit(model.centres)
    clustering.cluster_centers_ = np.ascontiguousarray(model.centres)
    return Pipeline([("terms", _scaler(model.terms)), ("model", clustering)])


def _axes_object(model: AxesModel) -> Any:
    """scikit-learn's PCA, in the units of the model. It does not clip."""
    from sklearn.decomposition import PCA

    count, width = model.axes.axes.shape
    analysis = PCA(count).fit(np.eye(width + 2, width))
    analysis.components_, analysis.mean_ = model.axes.axes, model.mean
    analysis.explained_variance_ = model.axes.variances
    analysis.explained_variance_ratio_ = model.axes.shares
    analysis.n_samples_ = round(model.axes.rows)
    return analysis
