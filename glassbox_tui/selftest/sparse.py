"""BM25 against its closed form, a recount of the texts, and rank_bm25, an implementation that is not ours."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from glassbox_tui.index.snapshot import Snapshot
from glassbox_tui.index.sparse import Bm25, score_parts, search_sparse
from glassbox_tui.selftest.bench import QUESTIONS, Bench
from glassbox_tui.selftest.check import Group, need, need_all, need_close
from glassbox_tui.text.tokens import terms, tokenize

sparse = Group("sparse")

GOLDEN = ("alpha alpha beta gamma", "beta delta epsilon zeta", "lorem ipsum dolor sit amet et")


def _scores(snapshot: Snapshot, query: str, how: Bm25 | None = None) -> dict[int, float]:
    """Row -> score of every chunk that the query finds."""
    wanted = {term: float(n) for term, n in Counter(terms(query)).items()}
    return dict(search_sparse(snapshot.sparse, wanted, len(snapshot.chunks), how or Bm25()))


def _idf(n: int, df: int) -> float:
    return math.log(1 + (n - df + 0.5) / (df + 0.5))


def _reference(texts: Sequence[Counter[str]], text: Counter[str], query: Sequence[str]) -> float:
    """BM25 of one text among `texts`, straight from the formula (k1 1.5, b .75)."""
    norm = 1.5 * (0.25 + 0.75 * text.total() / fmean(t.total() for t in texts))
    score = 0.0
    for term in query:
        score += _idf(len(texts), sum(term in t for t in texts)) * text[term] * 2.5 / (text[term] + norm)
    return score


@sparse.holds("the score rises strictly with the term frequency")
def _(bench: Bench) -> str:
    texts = [" ".join(["quartz"] * tf + ["filler"] * (10 - tf)) for tf in range(1, 8)]
    found = _scores(bench.small([*texts, "something else"]).snapshot, "quartz")
    scores = [found[row] for row in range(7)]
    need(scores[0] > 0, f"one occurrence scores {scores[0]}")
    need(all(a < b for a, b in pairwise(scores)), f"1 to 7 occurrences score {scores}")
    return f"1 to 7 occurrences in texts of ten words score {scores[0]:.4f} rising to {scores[-1]:.4f}"


@sparse.holds("a rare term scores idf tf (k1 + 1) / (tf + k1)")
def _(bench: Bench) -> str:
    snapshot = bench.small(["quartz " * 3 + "filler " * 7, *["filler " * 10] * 5]).snapshot
    [(row, score)] = _scores(snapshot, "quartz").items()
    expected = _idf(6, 1) * 3 * 2.5 / (3 + 1.5)
    need(row == 0 and score > 0, f"row {row} scores {score}")
    need_close(score, expected, 1e-9, "the score in texts of one length")
    return f"3 occurrences in 1 of 6 texts of one length score {score:.9f}, by hand {expected:.9f}"


@sparse.holds("the golden case")
def _(bench: Bench) -> str:
    snapshot = bench.small(GOLDEN).snapshot
    parts = dict(score_parts(snapshot.sparse, 0, {"alpha": 1.0, "beta": 1.0}, Bm25()))
    norm = 1.5 * (0.25 + 0.75 * 4 / (14 / 3))
    need_close(parts["alpha"], _idf(3, 1) * 2 * 2.5 / (2 + norm), 1e-9, "alpha's part")
    need_close(parts["beta"], _idf(3, 2) * 2.5 / (1 + norm), 1e-9, "beta's part")
    total = _scores(snapshot, "alpha beta")[0]
    need_close(total, 1.972, 0.002, "the score")
    return f"alpha {parts['alpha']:.3f} + beta {parts['beta']:.3f} = {total:.3f}; the reference says 1.972, to .002"


@sparse.holds("a text without a query term scores nothing")
def _(bench: Bench) -> str:
    snapshot = bench.small(GOLDEN).snapshot
    found, parts = _scores(snapshot, "alpha beta"), score_parts(snapshot.sparse, 2, {"alpha": 1.0, "beta": 1.0}, Bm25())
    need(found.keys() == {0, 1} and min(found.values()) > 0, f"texts 0 and 1 hold a term, found were {found}")
    need(not parts, f"the unrelated text has the parts {parts}")
    return f"the unrelated text is not in the list and has no parts; the others score {found[0]:.3f} and {found[1]:.3f}"


@sparse.holds("no score is negative, however common the term")
def _(bench: Bench) -> str:
    common = _scores(bench.small(["common alpha", "common beta", "common gamma"]).snapshot, "common")
    need(len(common) == 3 and min(common.values()) > 0, f"a term in every text scores {common}")
    least = min(min(_scores(bench.engine.snapshot, q).values()) for q in QUESTIONS[:3])
    need(least > 0, f"a bundled chunk that holds a query term scores {least}")
    return f"a term in every text scores {common[0]:.4f}; the least match among the bundled notes {least:.4f}"


@sparse.holds("the Okapi variant equals rank_bm25")
def _(bench: Bench) -> str:
    bundled = [_okapi_gap(bench.engine.snapshot, question) for question in QUESTIONS[:3]]
    # A term in most of the texts: its raw idf is negative, so both must take the floor.
    common = bench.small(["common alpha", "common beta", "common alpha gamma", "delta"]).snapshot
    bundled.append(_okapi_gap(common, "common alpha"))
    worst = max(gap for _, gap in bundled)
    need(worst <= 1e-9, f"the scores differ by up to {worst:.2g}")
    return f"{sum(n for n, _ in bundled)} scores, some of a term in most texts, equal rank_bm25's within {worst:.1g}"


def _okapi_gap(snapshot: Snapshot, question: str) -> tuple[int, float]:
    """How many chunks the question finds, and the largest difference to rank_bm25."""
    from rank_bm25 import BM25Okapi

    theirs = BM25Okapi([terms(c.index_text) for c in snapshot.chunks], k1=1.5, b=0.75, epsilon=0.25)
    reference, ours = theirs.get_scores(terms(question)), _scores(snapshot, question, Bm25(variant="okapi"))
    need(any(score > 0 for score in ours.values()), f"{question!r} found nothing")
    stray = [row for row, score in enumerate(reference) if score != 0 and row not in ours]
    need(not stray, f"rank_bm25 finds {len(stray)} chunks for {question!r} that we do not")
    return len(ours), max(abs(score - float(reference[row])) for row, score in ours.items())


@sparse.holds("Chinese and Latin terms live in one text")
def _(bench: Bench) -> str:
    text = "重启nginx后502，见DEC-0054"
    found = {t.term for t in tokenize(text)}
    wanted = {"重启", "nginx", "502", "dec-0054"}
    need(wanted <= found, f"{text!r} gave {sorted(found)}, without {sorted(wanted - found)}")
    snapshot = bench.small([text, "nothing of the kind", "别的内容"]).snapshot
    for query in ("nginx", "重启", "DEC-0054", "502"):
        need(_scores(snapshot, query).keys() == {0}, f"{query!r} found {_scores(snapshot, query)}, not text 0 alone")
    return f"{text} is found by nginx, 重启, DEC-0054 and 502, each alone"


@sparse.holds("spans of terms are exact")
def _(bench: Bench) -> str:
    text = "Ｎginx 重启 v1.2，Café ﬁle 终点"
    spans = {text[t.start : t.end] for t in tokenize(text)}
    wanted = {"Ｎginx", "重启", "v1.2", "Café", "ﬁle", "终点"}
    need(wanted <= spans, f"spans cut out {sorted(spans)}, without {sorted(wanted - spans)}")
    count = sum(len(tokenize(c.index_text)) for c in bench.chunks)
    need_all(
        (
            Counter(t.term for t in tokenize(c.index_text)) == Counter(terms(c.index_text)),
            f"{c.uid}: two ways, two lists",
        )
        for c in bench.chunks
    )
    return f"full-width, accented and joined letters are cut back exactly; {count} terms are the same without spans"


@sparse.holds("a longer text with as many matches scores less, and not at b = 0")
def _(bench: Bench) -> str:
    snapshot = bench.small(["quartz filler", "quartz " + "filler " * 19, "other"]).snapshot
    short, long = (_scores(snapshot, "quartz")[row] for row in (0, 1))
    need(short > long > 0, f"the short text scores {short:.4f}, the long one {long:.4f}")
    level = _scores(snapshot, "quartz", Bm25(b=0.0))
    need_close(level[0], level[1], 1e-12, "the short text at b = 0")
    return f"2 words {short:.4f} > 20 words {long:.4f}; at b = 0 both {level[0]:.4f}"


@sparse.holds("the postings are a recount of the chunks")
def _(bench: Bench) -> str:
    index = bench.engine.snapshot.sparse
    recount: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for row, chunk in enumerate(bench.chunks):
        for term, n in Counter(t.term for t in tokenize(chunk.index_text)).items():
            recount[term][row] = n
    need(recount, "the bundled chunks have no terms")
    for term, rows in recount.items():
        where = index.postings(term)
        stored = dict(zip(index.rows[where].tolist(), index.tfs[where].tolist(), strict=True))
        need(stored == rows, f"{term!r} stands in {stored}, recounted in {rows}")
    entries = sum(map(len, recount.values()))
    need(entries == len(index.rows), f"{len(index.rows)} postings are stored, {entries} recounted")
    return f"{entries} postings of {len(recount)} terms equal a recount"


@sparse.holds("a chunk's score is a share of its own and a share of its note's")
def _(bench: Bench) -> str:
    share, note = bench.settings.bm25_note_share, bench.notes
    need(0 < share < 1, f"the share of the note is {share}")
    chunks = [Counter(terms(c.index_text)) for c in bench.chunks]
    held = Counter(c.path for c in bench.chunks)
    whole = {p: Counter(terms(n.title)) + Counter(terms(n.text[n.body_start :])) for p, n in note.items()}
    whole |= {c.path: own for c, own in zip(bench.chunks, chunks, strict=True) if held[c.path] == 1}
    row, worst, count = {c.uid: i for i, c in enumerate(bench.chunks)}, 0.0, 0
    for question in QUESTIONS[:3]:
        stage = bench.engine.search(question, mode="bm25", max_rewrites=0).rounds[0].stage("bm25")
        for c in stage.candidates if stage else ():
            own = _reference(chunks, chunks[row[c.uid]], terms(question))
            around = _reference(list(whole.values()), whole[bench.chunks[row[c.uid]].path], terms(question))
            worst, count = max(worst, abs(c.score - (1 - share) * own - share * around)), count + 1
    need(count, "no question found a chunk")
    need(worst <= 1e-9, f"a score is off by {worst:.2g}")
    return (
        f"{count} scores are {1 - share:g} the chunk's BM25 + {share:g} its note's, both recounted, within {worst:.1g}"
    )


@sparse.holds("the parts of a score add up")
def _(bench: Bench) -> str:
    pairs = [(c, stage) for r in bench.rounds for stage in r.stages if stage.name == "bm25" for c in stage.candidates]
    worst = max((abs(math.fsum(p.value for p in c.parts) - c.score) for c, _ in pairs), default=math.inf)
    need(worst <= 1e-9 and all(c.score > 0 for c, _ in pairs), f"{len(pairs)} scores, parts off by {worst:.2g}")
    return f"{len(pairs)} scores of bundled chunks are the sums of their terms within {worst:.1g}"


@sparse.holds("the floor drops exactly the matches that hold too little of the query")
def _(bench: Bench) -> str:
    snapshot, dropped, kept = bench.engine.snapshot, 0, 0
    floor = bench.settings.bm25_floor
    for question in QUESTIONS:
        wanted = Counter(t.term for t in tokenize(question))
        held = {row: set(terms(c.index_text)) for row, c in enumerate(snapshot.chunks)}
        mass = {t: n * _idf(len(held), sum(t in words for words in held.values())) for t, n in wanted.items()}
        share = {row: sum(m for t, m in mass.items() if t in words) / sum(mass.values()) for row, words in held.items()}
        should = {row for row, s in share.items() if s >= floor and s > 0}
        found = _scores(snapshot, question, Bm25(floor=floor)).keys()
        need(
            found == should, f"{question!r}: {len(found)} chunks hold {floor:.0%} of the query, recounted {len(should)}"
        )
        kept, dropped = kept + len(should), dropped + len(_scores(snapshot, question)) - len(should)
    need(kept and dropped, f"{kept} kept and {dropped} dropped: the floor had nothing to do")
    return f"at {floor:.0%} of the query's idf weight {kept} matches stay and {dropped} go, as a recount says"
