"""The stage `translated` in a whole search, with the installed dictionary: where it runs, what it finds and says."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

from glassbox_tui import Engine
from glassbox_tui.models import lexicon
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import ALL_STAGES, STAGES, Round, Stage, Trace
from glassbox_tui.retrieval.trace_json import from_json, to_json
from glassbox_tui.settings import Settings
from glassbox_tui.views.evidence import evidence, to_text
from glassbox_tui.views.xray import xray

NOTES = {
    "en/harbour.md": "# Harbour\n\nThe defence of the harbour rests on two towers and an iron chain.",
    "en/shield.md": "# Shields\n\nHow to defend a wall with shields, and how to protect the gate at night.",
    "en/bread.md": "# Bread\n\nThe dough rests for an hour, and the oven must be hot.",
    "en/oil.md": "# Oil\n\nThe company sells oil and petroleum to the whole coast.",
    "zh/bee.md": "# 蜜蜂\n\n养蜂人在春天检查蜂箱，看蜂王还在不在。",
    "zh/glacier.md": "# 冰川\n\n冰川每年后退十米，湖水因此上涨。",
    "zh/bridge.md": "# 桥\n\n这座桥用石头建成，工程师测量过它的裂缝。",
}
ENGLISH = {path: text for path, text in NOTES.items() if path.startswith("en/")}
CHINESE = {path: text for path, text in NOTES.items() if path.startswith("zh/")}


def engine(notes: Mapping[str, str] = NOTES, **knobs: object) -> Engine:
    return Engine(HashingEmbedder(), settings=Settings(**knobs)).build(notes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built() -> Engine:
    return engine()


def the_stage(trace: Trace, round: int = 0) -> Stage:
    stage = trace.rounds[round].stage("translated")
    assert stage is not None
    return stage


def paths(stage: Stage) -> list[str]:
    return [candidate.uid.partition("#")[0] for candidate in stage.candidates]


def ran(round_: Round) -> list[str]:
    return [stage.name for stage in round_.stages]


@pytest.mark.parametrize(
    ("question", "path", "part"),
    [
        ("怎样防守一堵墙？", "en/shield.md", "防守 = defend"),
        ("谁卖石油？", "en/oil.md", "石油 = oil"),
        ("烤箱要多热？", "en/bread.md", "烤箱 = oven"),
        ("Why is the glacier shrinking?", "zh/glacier.md", "glacier = 冰川"),
        ("who inspects the beehive in spring", "zh/bee.md", "beehive = 蜂箱"),
        ("what did the engineers measure", "zh/bridge.md", "engineers = 工程师"),
    ],
)
def test_a_question_finds_the_note_of_the_other_language_by_keywords(
    built: Engine, question: str, path: str, part: str
) -> None:
    stage = the_stage(built.search(question, max_rewrites=0))
    assert paths(stage)[0] == path
    assert part in [p.name for p in stage.candidates[0].parts]


def test_keyword_search_alone_finds_it_too() -> None:
    with engine(disable_dense=True) as keywords:
        trace = keywords.search("怎样防守一堵墙？", max_rewrites=0)
    assert trace.hits[0].path == "en/shield.md"
    assert ran(trace.last) == ["bm25", "translated", "fused", "final"]


def test_parts_sum_to_the_score_and_only_the_other_language_is_listed(built: Engine) -> None:
    for question in ("怎样防守港口和大门？", "the engineers of the bridge and the bees in spring"):
        own = "zh/" if question[0] == "怎" else "en/"
        stage = the_stage(built.search(question, max_rewrites=0))
        assert stage.candidates and not any(path.startswith(own) for path in paths(stage))
        for candidate in stage.candidates:
            assert math.fsum(part.value for part in candidate.parts) == pytest.approx(candidate.score)


def test_the_dictionarys_words_are_simplified_and_the_question_need_not_be(built: Engine) -> None:
    simplified, traditional = (the_stage(built.search(q, max_rewrites=0)) for q in ("保护大门", "保護大門"))
    assert paths(simplified)[0] == "en/shield.md" and paths(traditional) == paths(simplified)


@pytest.mark.parametrize(("notes", "question"), [(CHINESE, "冰川为什么后退？"), (ENGLISH, "how to defend a wall")])
def test_notes_in_the_questions_language_alone_know_no_such_stage(notes: Mapping[str, str], question: str) -> None:
    trace = engine(notes).search(question)
    assert trace.hits and all("translated" not in ran(r) for r in trace.rounds)
    assert all(hit.stages.keys() == set(STAGES) for hit in trace.hits)
    assert "translated" not in to_json(trace)


def test_notes_in_the_other_language_alone_are_found(built: Engine) -> None:
    assert engine(ENGLISH).search("石油", max_rewrites=0).hits[0].path == "en/oil.md"


def test_modes_of_one_list_stay_that(built: Engine) -> None:
    assert "translated" not in ran(built.search("石油", mode="bm25", max_rewrites=0).last)
    assert "translated" not in ran(built.search("石油", mode="dense", max_rewrites=0).last)


def test_a_scope_holds_for_translations(built: Engine) -> None:
    everywhere = the_stage(built.search("怎样防守两座塔楼和石油？", max_rewrites=0))
    inside = the_stage(built.search("怎样防守两座塔楼和石油？", max_rewrites=0, scope="en/shield.md"))
    assert paths(inside) == ["en/shield.md"] and len(paths(everywhere)) > 1
    assert inside.candidates[0].score == next(c.score for c in everywhere.candidates if c.uid.startswith("en/shield"))
    assert "translated" not in ran(built.search("怎样防守港口？", max_rewrites=0, scope="zh").last)


def test_a_later_round_keeps_the_list(built: Engine) -> None:
    trace = built.search("beehive quokka zymurgy", max_rewrites=1)
    assert len(trace.rounds) == 2
    assert paths(the_stage(trace, 1)) == paths(the_stage(trace))
    fused = trace.rounds[1].stage("fused")
    assert fused is not None and "translated@0" in {part.name for c in fused.candidates for part in c.parts}


def test_the_trace_is_read_back_with_the_stage(built: Engine) -> None:
    trace = built.search("谁卖石油？", max_rewrites=0)
    assert from_json(to_json(trace)) == trace
    assert all(set(hit.stages) == {*STAGES, "translated"} == set(ALL_STAGES) for hit in trace.hits)


def test_every_view_shows_the_stage(built: Engine) -> None:
    trace = built.search("谁卖石油？", max_rewrites=0)
    assert "石油 = oil" in xray(trace)
    for width in (60, 80, 120, 200):
        text = to_text(evidence(trace, width=width), width=width)
        assert "translated" in text and "tran " in text


def test_hostile_questions_are_read(built: Engine) -> None:
    for question in ("", "的了吗", "[b]石油[/]", "石油" * 400, "\x1b[31m石油", "𠀀𠀀石油", "a" * 3000 + "石油"):
        if question.strip():
            built.search(question, max_rewrites=0)


class _Missing:
    def __init__(self, why: str) -> None:
        self.why = why

    def get(self) -> lexicon.Lexicon:
        raise ModelError(self.why)


class _Breaks:
    """A dictionary whose table breaks while it is read."""

    def get(self) -> _Breaks:
        return self

    def glosses(self, words: Collection[str]) -> Mapping[str, Sequence[str]]:
        raise ModelError("the dictionary's table cannot be read (malformed)")

    words = glosses


@pytest.mark.parametrize("broken", [_Missing("the dictionary is not installed"), _Breaks()])
def test_without_the_dictionary_one_notice_and_the_search_goes_on(broken: object) -> None:
    one = engine()
    one._lexicon = broken  # type: ignore[assignment]
    trace = one.search("石油 oil coast", max_rewrites=1)
    assert trace.hits and all("translated" not in ran(r) for r in trace.rounds)
    told = [notice for notice in trace.notices if "dictionary" in notice]
    assert len(told) == 1 and told[0].endswith("keywords find only notes in the question's own language")


def test_where_nothing_is_to_be_translated_the_first_round_does_not_open_the_dictionary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lexicon, "_shared", lambda _: pytest.fail("it was opened"))
    assert engine(ENGLISH).search("how to defend a wall", max_rewrites=0).hits
    assert engine().search("how to defend a wall", mode="bm25", max_rewrites=0).hits


def test_a_failure_is_remembered_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[Path]()

    def fail(place: Path) -> lexicon.Lexicon:
        tried.append(place)
        raise ModelError("no")

    monkeypatch.setattr(lexicon, "_shared", fail)
    once = lexicon.LexiconOnce(tmp_path)
    for _ in range(3):
        with pytest.raises(ModelError):
            once.get()
    assert tried == [tmp_path]
