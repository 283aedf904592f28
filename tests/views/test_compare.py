"""Promises of the comparison of two rankings: everybody is accounted for once, and known again through edits."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from samples import HOSTILE, sample_trace, sample_trace_two_rounds

from glassbox_tui.retrieval.trace import Hit
from glassbox_tui.views.compare import change_words, compare, comparison_lines, summary

ONE = sample_trace().hits[0]


def hit(uid: str, content: str) -> Hit:
    return replace(ONE, uid=uid, path=uid.partition("#")[0], content=content)


def hits(*named: str) -> list[Hit]:
    """`tea.md#0=x`: uid and content; without "=" the content follows from the uid."""
    return [hit(uid, content or uid) for uid, _, content in (n.partition("=") for n in named)]


def told(before: list[Hit], after: list[Hit]) -> list[str]:
    return [change_words(c) for c in compare(before, after).changes]


NAMES = st.lists(
    st.tuples(st.sampled_from([f"{n}.md#{i}" for n in "ab" for i in range(4)]), st.sampled_from("uvwxyz")),
    max_size=8,
    unique_by=lambda p: p[0],
)


@given(NAMES, NAMES)
def test_every_hit_of_both_rankings_is_told_exactly_once(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    before, after = [hit(*p) for p in old], [hit(*p) for p in new]
    c = compare(before, after)
    everyone = (*c.entered, *c.left, *c.moved, *c.stayed)
    assert sorted(x.before for x in everyone if x.before) == list(range(1, len(old) + 1))
    assert sorted(x.after for x in everyone if x.after) == list(range(1, len(new) + 1))
    for x in everyone:
        if x.before and x.after:
            a, b = before[x.before - 1], after[x.after - 1]
            assert (a.uid, b.uid) == (x.was, x.uid)
            assert a.content == b.content or (a.uid == b.uid and x.edited)
        elif x.before is None:  # nobody that was there before could have been it
            assert x.after
            assert all(after[x.after - 1].content != before[y.before - 1].content for y in c.left if y.before)
    assert all(x.before != x.after for x in c.moved)
    assert all(x.before == x.after for x in c.stayed)


@given(NAMES)
def test_a_ranking_compared_with_itself_only_stays(named: list[tuple[str, str]]) -> None:
    same = [hit(*p) for p in named]
    c = compare(same, same)
    assert not c.changes
    assert [x.uid for x in c.stayed] == [uid for uid, _ in named]
    assert summary(c) == "the same ranking"
    assert [t.plain for t in comparison_lines(c, 40)] == ["the same ranking"]


def test_the_words_for_entering_rising_falling_and_leaving() -> None:
    before = hits("tea.md#0", "b.md#0", "c.md#0", "d.md#0", "clock.md#1")
    after = hits("lock.md#0", "clock.md#1", "c.md#0", "b.md#0")
    assert told(before, after) == [
        "in lock.md#0 (new at 1)",
        "up clock.md#1 5->2",
        "down b.md#0 2->4",
        "out tea.md#0 (was 1)",
        "out d.md#0 (was 4)",
    ]
    assert summary(compare(before, after)) == "1 in, 2 out, 2 moved, 1 stayed"


def test_a_chunk_pushed_down_its_note_by_an_insertion_is_known_by_its_content() -> None:
    before = hits("a.md#0=intro", "a.md#1=body")
    after = hits("a.md#0=intro", "a.md#1=new", "a.md#2=body")
    assert told(before, after) == ["in a.md#1 (new at 2)", "down a.md#2 2->3 (was a.md#1)"]


def test_an_edited_chunk_is_known_by_its_uid_when_its_content_is_nowhere_else() -> None:
    assert told(hits("a.md#0=x", "b.md#0"), hits("b.md#0", "a.md#0=y")) == [
        "up b.md#0 2->1",
        "down a.md#0 1->2 (edited)",
    ]
    assert told(hits("a.md#0=x"), hits("a.md#0=y")) == ["edited a.md#0 (still 1)"]


def test_the_same_paragraph_in_two_notes_keeps_to_its_note() -> None:
    before = hits("a.md#0=same", "b.md#0=same")
    after = hits("b.md#1=same", "a.md#1=same")
    assert told(before, after) == ["up b.md#1 2->1 (was b.md#0)", "down a.md#1 1->2 (was a.md#0)"]


def test_branches_of_one_search_know_where_a_chunk_beyond_the_hits_was() -> None:
    first = sample_trace().last
    cut = replace(first, hits=first.hits[1:4])
    back = compare(first, cut, same_notes=True)
    final = {c.uid: c.rank for c in first.stages[-1].candidates}
    assert {c.uid: c.elsewhere for c in back.left} == {h.uid: final[h.uid] for h in (first.hits[0], *first.hits[4:])}
    ninth = first.stages[-1].candidates[8].uid
    risen = replace(first, hits=(replace(first.hits[0], uid=ninth, content="other"), *first.hits))
    assert change_words(compare(first, risen, same_notes=True).entered[0]) == f"in {ninth} 9->1"
    assert change_words(compare(first, risen).entered[0]) == f"in {ninth} (new at 1)"


@given(st.integers(1, 120))
def test_lines_fit_and_say_all_of_it_harmlessly(width: int) -> None:
    first, second = sample_trace_two_rounds().rounds
    hostile = [replace(h, uid=HOSTILE + h.uid, content=HOSTILE + h.uid) for h in second.hits[:2]]
    c = compare(first.hits, [*hostile, *second.hits[2:]])
    lines = comparison_lines(c, width)
    assert all(cell_len(line.plain) <= width for line in lines)
    assert not any(ord(ch) < 32 or ch in "\u202e\x9b" for line in lines for ch in line.plain)
    if width >= 60:
        text = " ".join(line.plain for line in lines)
        assert all(change_words(x) in text for x in c.changes)
