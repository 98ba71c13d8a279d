"""Fits of confidence and order, and how good they are.

    fit.py curves|orders|pictures|sameness|translation < data.json > facts.json

The programs of this folder measure the data and start this one: `make bench NAME=calibration` and others. Packages: `make fits`.
"""

import base64
import hashlib
import json
import math
import sys
from collections import defaultdict

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler


def logistic(features, relevant, weights, ridge):
    """Logistic regression with an L2 penalty on weights of standardised features. Returns bias and weights of the features as they are."""
    scaler = StandardScaler().fit(features, sample_weight=weights)
    model = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-9, max_iter=200)
    model.fit(scaler.transform(features), relevant, sample_weight=weights)
    slopes = model.coef_[0] / scaler.scale_
    return model.intercept_[0] - slopes @ scaler.mean_, slopes


def fixed(value):
    return round(float(value), 4)


def rounded(value):
    return math.floor(float(value) * 1000 + 0.5) / 1000


def mean(values):
    return rounded(np.mean(values)) if len(values) else 0


def gain(ranked, relevant, answers):
    """nDCG@10 of documents in order, each of which answers or does not."""
    discounts = 1 / np.log2(np.arange(2, 12))
    found = [document in relevant for document in dict.fromkeys(ranked)][:10]
    ideal = discounts[: min(answers, 10)].sum()
    return float(discounts[: len(found)] @ np.array(found, float) / ideal) if ideal > 0 else 0.0


# Curves of words and meaning. An example is one query of one index: features of its first place, and documents, relevance and order of all.

RIDGE = 30
# Rows that a collection counts as, however many queries it has.
ROWS = 500
# Places behind the first that are rows of a fit too, and what they count together: the first counts 1.
BEHIND, BEHIND_WEIGHT = 9, 0.3
# What queries without their answers, of small indexes, exact ones, and of one or two words count beside a collection's own.
UNANSWERABLE, CUT, CUT_WITHOUT, EXACT, WORDS = 0.05, 0.2, 0.1, 0.15, 0.09
# What small indexes without the answer, and names and words that are nowhere, count beside sentences.
SENTENCES_CUT, SENTENCES_NOWHERE = 0.2, 0.02
# Sets of fewer queries are judged together.
POOLED_BELOW = 200
# Unrelated segments should move a right first hit's confidence by at most this.
MOVE_MAX = 0.1
BINS, RESAMPLES = 10, 200
# Confidences in the middle.
MIDDLE = 0.25, 0.75
# Share of right first hits that are to be told as answers.
RIGHT_ABOVE = 0.9


def features_at(example, at, names):
    """Of the place at a rank, from 0: only the lead is its own."""
    lead = example["orders"][at] - example["orders"][0]
    return [lead if at > 0 and name == "lead" else example["features"][name] for name in names]


def fit_curve(groups, names):
    features, relevant, weights = [], [], []
    for examples, weight in groups:
        for example in examples:
            for at in range(min(1 + BEHIND, len(example["orders"]))):
                features.append(features_at(example, at, names))
                relevant.append(example["relevant"][at])
                weights.append((1 if at == 0 else BEHIND_WEIGHT / BEHIND) * weight * ROWS / len(examples))
    bias, slopes = logistic(np.array(features), relevant, np.array(weights), RIDGE)
    return {"bias": fixed(bias)} | {name: fixed(slope) for name, slope in zip(names, slopes)}


def confidence(example, curve, at=0):
    names = [name for name in curve if name != "bias"]
    return expit(curve["bias"] + np.dot([curve[name] for name in names], features_at(example, at, names)))


def sentences_of(own):
    """Of names, codes and pairs of words a sentence has those that are nowhere."""
    groups = [
        (own["judged"], 1),
        (own["unanswerable"], UNANSWERABLE),
        (own["exactUnanswerable"], SENTENCES_NOWHERE),
    ]
    for cut in own["cut"].values():
        groups += [(cut["own"][kind], SENTENCES_CUT) for kind in ("with", "without")]
        groups += [(cut[kind]["without"], SENTENCES_NOWHERE) for kind in ("exact", "words")]
    return groups


def groups_of(own, view):
    if view == "sentences":
        return [(examples, weight) for examples, weight in sentences_of(own) if examples]
    # Meaning alone knows no word that is not there.
    words = 0 if view == "text_semantic" else WORDS
    groups = [
        (own["judged"], 1),
        (own["unanswerable"], UNANSWERABLE),
        (own["exact"], EXACT),
        (own["exactUnanswerable"], EXACT * UNANSWERABLE),
    ]
    for cut in own["cut"].values():
        groups += [
            (cut["own"]["with"], CUT),
            (cut["own"]["without"], CUT_WITHOUT),
            (cut["exact"]["with"], CUT * EXACT),
            (cut["exact"]["without"], CUT_WITHOUT * EXACT),
            (cut["words"]["with"], words),
            (cut["words"]["without"], words),
        ]
    return [(examples, weight) for examples, weight in groups if examples and weight > 0]


def error_of(confidences, right):
    order = np.argsort(confidences, kind="stable")
    parts = np.split((confidences - right)[order], [len(right) * bin // BINS for bin in range(1, BINS)])
    return sum(abs(part.sum()) for part in parts) / max(1, len(right))


def calibration_error(hits):
    """Expected calibration error over ten bins of equal count (Guo et al. 2017, arXiv:1706.04599), with its 90 % bootstrap interval, and the
    error that true confidences would have by chance."""
    if not hits:
        return {"ece": 0, "low": 0, "high": 0, "chance": 0}
    confidences, right = np.array(hits, float).T
    random = np.random.default_rng(1)
    samples = [random.integers(len(hits), size=len(hits)) for _ in range(RESAMPLES)]
    low, high = np.quantile([error_of(confidences[of], right[of]) for of in samples], [0.05, 0.95])
    chance = np.mean([error_of(confidences, random.random(len(hits)) < confidences) for _ in samples])
    error = error_of(confidences, right)
    return {"ece": rounded(error), "low": rounded(low), "high": rounded(high), "chance": rounded(chance)}


class Thresholds:
    """First hits of queries that one place answers, of several kinds, and one threshold for all."""

    def __init__(self):
        self.right, self.unanswerable = defaultdict(list), defaultdict(list)

    def add(self, kind, answerable, unanswerable, nothing):
        """nothing: queries without an answer that found nothing at all."""
        self.right[kind] += [value for value, right in answerable if right]
        self.unanswerable[kind] += [value for value, _ in unanswerable] + [0.0] * nothing

    def shares(self, threshold):
        def share(right, unanswerable):
            below = [np.mean(np.array(values) < threshold) if values else 0 for values in (right, unanswerable)]
            return {"right_above": rounded(1 - below[0]), "unanswerable_below": rounded(below[1])}

        everything = [sum(kinds.values(), []) for kinds in (self.right, self.unanswerable)]
        kinds = {kind: share(self.right[kind], self.unanswerable[kind]) for kind in self.right}
        return {"threshold": rounded(threshold)} | share(*everything) | {"kinds": kinds}

    def figures(self, answered_min):
        """Shares at the confidence over which nine in ten of the right stand, and at the one from which on an answer says that it is one."""
        right = sorted(sum(self.right.values(), []))
        threshold = right[int(len(right) * (1 - RIGHT_ABOVE))] if right else 0
        return self.shares(threshold) | {"answered": self.shares(answered_min)}


def moves(beside, curve):
    """How far unrelated segments move the confidence of each right first hit; 1 where it is no longer first."""
    return [
        abs(confidence(alone, curve) - confidence(crowded, curve))
        if alone["documents"][0] == crowded["documents"][0]
        else 1
        for alone, crowded in beside
        if alone["relevant"][0]
    ]


def all_first(example):
    """Whether all documents that answer come before any other."""
    wrong = example["relevant"].index(False) if False in example["relevant"] else None
    return len(set(example["documents"][:wrong])) == example["answers"]


def gain_of(example):
    relevant = {document for document, right in zip(example["documents"], example["relevant"]) if right}
    return gain(example["documents"], relevant, example["answers"])


def left_out_curves(view, names, sets):
    """For each collection a curve of the others."""
    groups = {name: groups_of(own, view) for name, own in sets.items()}
    return {left: fit_curve([one for name in sets if name != left for one in groups[name]], names) for left in sets}


def judge(view, names, sets, left_out_curves, answered_min):
    """Fits a view's curve on all collections, and judges each by the curve of the others."""
    curve = fit_curve([group for own in sets.values() for group in groups_of(own, view)], names)
    told, small, judged = Thresholds(), [], []
    for name, own in sets.items():
        left_out = left_out_curves[name]

        def first(examples):
            return [(confidence(example, left_out), example["relevant"][0]) for example in examples]

        hits, exact = first(own["judged"]), first(own["exact"])
        behind = [
            (confidence(example, left_out, at), example["relevant"][at])
            for example in own["judged"]
            for at in range(1, min(10, len(example["orders"])))
        ]
        small += hits if len(hits) < POOLED_BELOW else []
        told.add("names", exact, first(own["exactUnanswerable"]), own["nothing"]["exact"])
        has_one_answer = all(example["answers"] == 1 for example in own["judged"])
        if has_one_answer:
            told.add("questions", hits, first(own["unanswerable"]), own["nothing"]["others"])
        for size, cut in own["cut"].items():
            for kind, of in (("names", "exact"), ("words", "words"), ("questions", "own")):
                if kind != "questions" or has_one_answer:
                    told.add(f"{kind}, {size}", first(cut[of]["with"]), first(cut[of]["without"]), cut[of]["nothing"])
        judged.append(
            {
                "set": name,
                "queries": len(hits),
                "ndcg_at_10": mean([gain_of(example) for example in own["judged"]]),
                "first_right": mean([right for _, right in hits]),
                "confidence": mean([value for value, _ in hits]),
                **calibration_error(hits),
                "ece_behind": calibration_error(behind)["ece"],
                "exact_all_first": mean([all_first(example) for example in own["exact"]]),
                "exact_right_at_half": mean([right and value >= 0.5 for value, right in exact]),
                "moved_little": mean([move <= MOVE_MAX for move in moves(own["beside"], left_out)]),
            }
        )
    pooled = calibration_error(small)
    errors = [of["ece"] for of in judged if of["queries"] >= POOLED_BELOW] + ([pooled["ece"]] if small else [])
    summary = {"view": view, "curve": curve, "ece_mean": mean(errors), "pooled": pooled}
    return summary | told.figures(answered_min) | {"sets": judged}


def middle_is_higher(hits):
    """By how much the share of right ones is above the confidence, of the hits whose confidence is in the middle."""
    middle = [(value, right) for value, right in hits if MIDDLE[0] <= value < MIDDLE[1]]
    return {"middle": len(middle), "middle_right_above": rounded(np.mean([right - value for value, right in middle] or [0]))}


def answers(views, left_out, judged_by):
    """The first hits of each collection's own queries, each by the left-out curve of the view that a search judges it by."""
    judged = []
    for name, own in views["fused"]["sets"].items():
        hits = [
            (confidence(example, left_out[judged_by[example["judgedAs"]]][name]), example["relevant"][0])
            for example in own["judged"]
        ]
        means = {"first_right": mean([right for _, right in hits]), "confidence": mean([value for value, _ in hits])}
        judged.append({"set": name, "queries": len(hits), **means, **calibration_error(hits), **middle_is_higher(hits)})
    return {"view": "answers", "ece_mean": mean([of["ece"] for of in judged]), "sets": judged}


def curves(data):
    views = data["views"]
    left_out = {view: left_out_curves(view, of["features"], of["sets"]) for view, of in views.items()}
    judged = [
        judge(view, of["features"], of["sets"], left_out[view], data["answeredMin"]) for view, of in views.items()
    ]
    return [*judged, answers(views, left_out, data["judgedBy"])]


def reciprocal_rank(ranked, relevant):
    """Of the first document of ten that answers."""
    return next((1 / rank for rank, document in enumerate(ranked[:10], 1) if document in relevant), 0.0)


# Orders of passages.

RRF_K = 60
# Queries that a collection counts as in a fit.
QUERIES = 500
WHOLE = 0.999
LISTWISE_RIDGE = 1


def scores_of(query, list_name, key="score"):
    """Of each place; NaN where the list does not have it."""
    values = [(place.get(list_name) or {}).get(key) for place in query["places"]]
    return np.array([math.nan if value is None else value for value in values], float)


def reciprocal(query):
    ranks = [scores_of(query, of, "rank") for of in ("words", "meaning")]
    return sum(np.nan_to_num(1 / (RRF_K + rank)) for rank in ranks)


def halves(query):
    def scaled(values):
        values = np.nan_to_num(values)
        return (values - values.min()) / (np.ptp(values) or 1) if len(values) else values

    return sum(scaled(scores_of(query, of)) / 2 for of in ("words", "meaning"))


def place_features(query, scale, foreign_share):
    """What is known of each place: share, deviations, held, whole, written, lacks, agreement, missing."""
    words, meaning = np.nan_to_num(scores_of(query, "words")), scores_of(query, "meaning")
    held, lacks, written = (np.nan_to_num(scores_of(query, "words", key)) for key in ("held", "lacks", "written"))
    information, is_foreign = query["words"]["information"], query["meaning"]["foreign"]
    share = words / (max(words, default=0) or 1)
    far = np.nan_to_num((meaning - scale["mean"]) / scale["deviation"])
    near = 1 if is_foreign else np.maximum(0, far) / max(1e-9, *far, 1e-9)
    columns = [
        share,
        far * (foreign_share if is_foreign else 1),
        np.log1p(held * information),
        held > WHOLE,
        written,
        np.sqrt(lacks),
        share * near,
        np.log1p((1 - held) * information),
    ]
    return np.column_stack(columns).astype(float)


def fit_listwise(lists):
    """Weights by which those that answer come first: the likelihood of the answers under a softmax over the places of each query (ListNet,
    Cao et al. 2007), with an L2 penalty on weights of standardised features."""
    lists = [one for one in lists if one[1].any() and not one[1].all()]
    scaler = StandardScaler().fit(np.concatenate([features for features, _, _ in lists]))
    x = scaler.transform(np.concatenate([features for features, _, _ in lists]))
    starts = np.cumsum([0] + [len(relevant) for _, relevant, _ in lists])[:-1]
    of = np.repeat(np.arange(len(lists)), [len(relevant) for _, relevant, _ in lists])
    weights = np.array([weight for _, _, weight in lists]) / sum(weight for _, _, weight in lists)
    ridge = LISTWISE_RIDGE / sum(weight for _, _, weight in lists)
    shares = np.concatenate([relevant / relevant.sum() for _, relevant, _ in lists])

    def loss(slopes):
        scores = x @ slopes
        scores -= np.maximum.reduceat(scores, starts)[of]
        odds = np.exp(scores)
        sums = np.add.reduceat(odds, starts)
        value = -(weights[of] * shares * (scores - np.log(sums)[of])).sum() + ridge * slopes @ slopes
        return value, (weights[of] * (odds / sums[of] - shares)) @ x + 2 * ridge * slopes

    return minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x / scaler.scale_


def ranked_by(query, scores):
    order = sorted((at for at in range(len(scores)) if not math.isnan(scores[at])), key=lambda at: (-scores[at], at))
    return list(dict.fromkeys(query["places"][at]["document"] for at in order))


def orders(data):
    sets = data["sets"]
    own = {name: [query for query in queries if not query["isExact"]] for name, queries in sets.items()}
    known = {
        id(query): place_features(query, data["scale"], data["foreignShare"])
        for queries in sets.values()
        for query in queries
    }
    lists = {
        name: [
            (known[id(query)], np.array([place["document"] in query["relevant"] for place in query["places"]]), QUERIES / len(queries))
            for query in queries
        ]
        for name, queries in own.items()
    }

    def fitted(columns):
        """For each set a scorer that was made on all others."""
        slopes = {
            name: fit_listwise([(x[:, columns], y, w) for other in lists if other != name for x, y, w in lists[other]])
            for name in sets
        }
        return lambda name: lambda query: known[id(query)][:, columns] @ slopes[name]

    def farthing(change):
        return lambda _: lambda query: np.array([math.nan if one is None else one for one in query["orders"][change]], float)

    scorers = {
        "BM25": lambda _: lambda query: scores_of(query, "words"),
        "meaning": lambda _: lambda query: scores_of(query, "meaning"),
        "reciprocal rank fusion": lambda _: reciprocal,
        "sum, half each": lambda _: halves,
        **{name: farthing(name) for name in data["orders"]},
        "fitted: share and deviations": fitted([0, 1]),
        "fitted: all that is known": fitted(list(range(8))),
    }
    facts = {}
    for name, scorer_of in scorers.items():
        facts[name] = {}
        for set_name, queries in sets.items():
            scorer = scorer_of(set_name)
            ranked = [(query, ranked_by(query, scorer(query))) for query in queries]
            gains = [(query["isExact"], gain(order, query["relevant"], len(query["relevant"]))) for query, order in ranked]
            first = [order[:1] and order[0] in query["relevant"] for query, order in ranked if not query["isExact"]]
            facts[name][set_name] = fixed(np.mean([value for is_exact, value in gains if not is_exact]))
            reciprocals = [reciprocal_rank(order, query["relevant"]) for query, order in ranked if not query["isExact"]]
            facts[name][f"{set_name}, mrr"] = fixed(np.mean(reciprocals))
            facts[name][f"{set_name}, first"] = fixed(np.mean([bool(right) for right in first]))
            facts[name][f"{set_name}, exact"] = fixed(np.mean([value for is_exact, value in gains if is_exact] or [0]))
    return facts


# Pictures. There are few of them.

PICTURES_RIDGE = 0.1
FOLDS = 10


def pictures(searches):
    """Pictures that words describe, by cosine and lead. For each query its searches, the first over the whole set with the answer in it."""
    hits = [hit for query in searches for search in query for hit in search]
    features = np.array([[hit["score"], hit["lead"]] for hit in hits])
    bias, slopes = logistic(features, [hit["relevant"] for hit in hits], np.ones(len(hits)), PICTURES_RIDGE)
    right = np.mean([query[0][0]["relevant"] for query in searches])
    return {"a": fixed(slopes[0]), "b": fixed(bias), "lead": fixed(slopes[1]), "success_at_1": fixed(right)}


def fit_sameness(searches):
    """Each set counts as much, and its copies as much as its other searches."""
    counts = defaultdict(int)
    for search in searches:
        counts[search["set"], search["kind"] == "copies"] += 1
    rows = [
        (cosine, search["kind"] == "copies" and at == 0, 1000 / counts[search["set"], search["kind"] == "copies"])
        for search in searches
        for at, cosine in enumerate(search["cosines"])
    ]
    cosines, relevant, weights = zip(*rows)
    bias, slopes = logistic(np.array(cosines)[:, None], relevant, np.array(weights), PICTURES_RIDGE)
    return {"a": fixed(slopes[0]), "b": fixed(bias), "lead": 0}


def sameness(data):
    """The curve that a picture found by another is the same one, beside the manifest's, each judged on pictures that it was not fitted on."""
    searches = data["searches"]

    def fold(search):
        return search["picture"] % FOLDS

    folds = [fit_sameness([one for one in searches if fold(one) != at]) for at in range(FOLDS)]
    facts = {"fitted": fit_sameness(searches)}
    for name, curve_of in (("manifest", lambda _: data["manifest"]), ("left_out", lambda one: folds[fold(one)])):
        shares = defaultdict(lambda: defaultdict(list))
        for one in searches:
            curve = curve_of(one)
            answered = expit(curve["a"] * one["cosines"][0] + curve["b"]) >= data["answeredMin"]
            for of in [f"of {one['size']}"] + ([one["change"]] if one["change"] else []):
                shares[f"{name} {one['set']} {one['kind']}"][of].append(answered == (one["kind"] == "copies"))
        facts |= {group: {of: mean(right) for of, right in kinds.items()} for group, kinds in shares.items()}
    return facts


# The map of one text model's vectors into another's space.

# Pull of the map towards 0: of .03, .1, .3 and 1 the one with the nearest texts that it was not fitted on.
TRANSLATION_RIDGE = 0.3
# One in so many texts is left out, to see how near it comes.
LEFT_OUT = 5


def translation(data):
    """Writes the map, a row for each dimension of `from` and one that is added, as float32."""
    source, target = (
        np.frombuffer(base64.b64decode(data[name]), np.float32).reshape(data["texts"], -1).astype(float)
        for name in ("from", "into")
    )
    is_left_out = np.arange(len(source)) % LEFT_OUT == 0
    trial = Ridge(alpha=TRANSLATION_RIDGE).fit(source[~is_left_out], target[~is_left_out])
    taken, aim = trial.predict(source[is_left_out]), target[is_left_out]
    cosines = (taken * aim).sum(1) / np.linalg.norm(taken, axis=1) / np.linalg.norm(aim, axis=1)
    whole = Ridge(alpha=TRANSLATION_RIDGE).fit(source, target)
    written = np.vstack([whole.coef_.T, whole.intercept_]).astype("<f4").tobytes()
    with open(data["file"], "wb") as file:
        file.write(written)
    return {
        "texts": len(source),
        "left_out": {"texts": len(cosines), "cosine": fixed(cosines.mean())},
        "bytes": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
    }


KINDS = {one.__name__: one for one in (curves, orders, pictures, sameness, translation)}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    json.dump(KINDS[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
