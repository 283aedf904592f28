"""What a model's answer comes to: tidied, checked, stopped, or replaced by an extract that says why."""

from __future__ import annotations

import pytest
from scripted_model import Scripted

from glassbox_tui import Engine
from glassbox_tui.answer.answers import answer
from glassbox_tui.answer.record import Answer
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.settings import Settings

NOTES = {
    "tea.md": "# Tea\n\nGreen tea is steeped at eighty degrees. Black tea takes boiling water.",
    "lock.md": "# Locks\n\nThe lock is released when the lease ends. A clock that drifts ends it early.",
}
QUESTION = "when is the lock released"


def asked(model: Scripted, question: str = QUESTION, notes: dict[str, str] = NOTES, **knobs: int) -> Answer:
    engine = Engine(HashingEmbedder(), settings=Settings(**knobs), generator=model).build(notes)
    return answer(engine.search(question), engine)


def test_an_answer_has_its_model_its_prompt_and_the_lines_of_what_it_cites() -> None:
    model = Scripted("The lock is released ", "when the lease ends [1].")
    found = asked(model)
    assert (found.mode, found.model, found.stopped, found.dropped) == ("generate", "scripted", False, ())
    assert found.text == "The lock is released when the lease ends [1]."
    [citation] = found.citations
    assert (citation.number, citation.path) == (1, "lock.md")
    assert [claim.verdict for claim in found.claims] == ["supported"]
    assert found.prompt == model.asked[0] and NOTES["lock.md"].split("\n")[-1] in found.prompt[-1].text
    assert found.notice == ""


def test_pieces_are_the_text_however_it_was_cut() -> None:
    whole = (
        "<think>Hmm。 A lock。</think>\nSure! Here is the answer:\n> The lock is released [1], [9] when the lease ends."
    )
    for size in (1, 2, 7, len(whole)):
        told: list[str] = []
        model = Scripted(*(whole[at : at + size] for at in range(0, len(whole), size)))
        engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
        found = answer(engine.search(QUESTION), engine, piece=told.append)
        assert found.text == "The lock is released [1], when the lease ends."
        assert "".join(told) == found.text
        assert "9" in found.notice


@pytest.mark.parametrize("end", ["<|im_end|>", "</s>", "<end_of_turn>\n", "<|eot_id|>", "<｜end▁of▁sentence｜>"])
@pytest.mark.parametrize("size", [1, 3, 500])
def test_an_answer_with_the_tokens_of_its_chat_format_is_the_one_without_them(end: str, size: int) -> None:
    """Also its claims, and whether it is said to break off: the end of a turn is no limit."""
    said = "The lock is released when the lease ends [1]. A clock that drifts ends it early"
    written = f"{end}{said}{end}<|im_start|>user\nAnd tea?{end}Tea is green."
    told: list[str] = []
    model = Scripted(*(written[at : at + size] for at in range(0, len(written), size)))
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
    found = answer(engine.search(QUESTION), engine, piece=told.append)
    model = Scripted(said)
    model.reached_limit = False
    without = asked(model)
    assert "".join(told) == found.text == said
    assert [(claim.text, claim.verdict) for claim in found.claims] == [
        (claim.text, claim.verdict) for claim in without.claims
    ]
    assert (len(found.claims), found.notice) == (2, without.notice)
    assert asked(Scripted(end, end)).notice == "scripted wrote nothing: this is an extract."


@pytest.mark.parametrize("thought", ["<think>one two", "<think>一。二。", "three</think>", "<think></think>  "])
def test_thoughts_without_an_answer_give_an_extract_that_says_so(thought: str) -> None:
    found = asked(Scripted(*thought))
    assert found.mode == "extract" and "lease" in found.text and "scripted wrote nothing" in found.notice


def test_whatever_fails_there_is_an_extract_and_one_sentence() -> None:
    for error, words in (
        (ModelError("the file is damaged"), "the file is damaged"),
        (OSError("gone"), "OSError: gone"),
    ):
        found = asked(Scripted("The lock", fails=error))
        assert found.mode == "extract" and "lease ends" in found.text
        assert words in found.notice and found.notice.count("\n") == 0


def test_a_stop_keeps_what_was_written_and_before_the_first_word_it_is_an_extract() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=Scripted("The lock is ", "released ", "never."))
    engine.build(NOTES)
    told: list[str] = []
    found = answer(engine.search(QUESTION), engine, piece=told.append, cancelled=lambda: bool(told))
    assert found.mode == "generate" and found.stopped and found.text.startswith("The lock is")
    assert "never" not in found.text and "Stopped" in found.notice
    found = answer(engine.search(QUESTION), engine, cancelled=lambda: True)
    assert found.mode == "extract" and not found.stopped and "before it wrote a word" in found.notice


def test_a_model_that_repeats_itself_is_stopped_and_lets_go() -> None:
    model = Scripted(*["The lock is released when the lease ends. ", "A clock drifts. "] * 50)
    found = asked(model)
    assert found.text.count("released") == 1 and "repeat" in found.notice
    assert model.closed
    assert "repeat" in asked(Scripted(*["no no "] * 100)).notice


def test_a_line_copied_from_the_prompt_is_not_shown_and_alone_it_is_no_answer() -> None:
    told: list[str] = []
    model = Scripted(*"[1] lock.md > Locks\nThe lock is released when the lease ends [1].")
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
    found = answer(engine.search(QUESTION), engine, piece=told.append)
    assert "lock.md > Locks" in model.asked[0][-1].text  # it was copied from there
    assert "".join(told) == found.text == "The lock is released when the lease ends [1]."
    found = asked(Scripted(*"[1] lock.md > Locks"))
    assert found.mode == "extract" and "lease" in found.text
    assert found.notice == "scripted wrote nothing but lines of its prompt: this is an extract."


def test_a_model_that_only_counts_has_not_answered_and_nothing_of_it_is_shown() -> None:
    told: list[str] = []
    model = Scripted(*"\n".join(map(str, range(1, 100))))
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
    found = answer(engine.search(QUESTION), engine, piece=told.append)
    assert found.mode == "extract" and "lease" in found.text and told == []
    assert found.notice == "scripted wrote nothing but numbers: this is an extract."


def test_passages_beyond_those_it_is_to_be_shown_are_named_with_the_reason() -> None:
    model = Scripted("The lock is released when the lease ends [1].")
    found = asked(model, llm_passages=1)
    assert NOTES["tea.md"].split("\n")[-1] not in model.asked[0][-1].text
    assert [uid.split("#")[0] for uid in found.dropped] == ["tea.md"]
    assert found.notice == "Left out, as scripted is shown at most 1 (GLASSBOX_LLM_PASSAGES): tea.md."
    model.most_passages = 1
    assert asked(model).dropped == found.dropped
    assert asked(model, llm_passages=2).dropped == ()


def test_the_model_says_that_the_notes_do_not_tell() -> None:
    found = asked(Scripted("Not in your notes."))
    assert (found.mode, found.claims, found.citations) == ("generate", (), ())
    assert "scripted found no answer in the passages" in found.notice
    assert "scripted 笔记" not in asked(Scripted("笔记里没有。"), "锁什么时候释放").text


def test_empty_index_nothing_found_doubt_and_refusal_have_words_of_their_own() -> None:
    model = Scripted("Not in your notes.")
    empty = asked(model, notes={}).notice
    engine = Engine(HashingEmbedder(), settings=Settings(), generator=model).build(NOTES)
    nothing = answer(engine.search("xyzzy", mode="bm25"), engine).notice
    assert not model.asked  # there was nothing to ask about
    doubt = answer(engine.search("quantum chromodynamics of tea"), engine).notice.split("\n")
    assert len({empty, nothing, *doubt}) == 4
    assert "insufficient" in doubt[0] and "found no answer" in doubt[1]


def test_that_an_answer_breaks_off_is_guessed_only_where_the_model_does_not_say() -> None:
    words = "may break off"
    for text, cut, said in (
        ("The lock is released when", None, True),
        ("The lock is released when the lease ends.", None, False),
        ("- the lock: lease", False, False),
        ("The lock is released when the lease ends.", True, True),
    ):
        model = Scripted(text)
        if cut is not None:
            model.reached_limit = cut
        assert (words in asked(model).notice) is said, (text, cut)


def test_what_a_model_has_to_say_of_how_it_is_asked_is_said_with_the_answer() -> None:
    model = Scripted("The lock is released when the lease ends [1].")
    model.notices = ("scripted: its file has no chat template.",)
    assert asked(model).notice == model.notices[0]


def test_another_language_than_the_question_s_is_said() -> None:
    zh = {"lock.md": "# 锁\n\n租约到期以后锁自动释放。时钟漂移会让租约提前失效。"}
    english, chinese = Scripted("The lock is released at the end [1]."), Scripted("租约到期以后锁自动释放 [1]。")
    words = "not in the language of the question"
    assert words in asked(english, "锁什么时候释放", zh).notice
    assert words not in asked(chinese, "锁什么时候释放", zh).notice
    assert words in asked(chinese).notice


def test_a_model_is_not_asked_what_it_cannot_read_or_write() -> None:
    zh = {"lock.md": "租约到期以后锁自动释放。时钟漂移会让租约提前失效。"}
    for question, notes in (("锁什么时候释放", NOTES), ("锁什么时候释放", zh), ("lease 锁 lock", zh)):
        model = Scripted("No.", languages=("other",))
        found = asked(model, question, notes)
        assert found.mode == "extract" and not model.asked
        assert "Chinese" in found.notice and "models pull" in found.notice and "scripted" in found.notice
    model = Scripted("The lock is released when the lease ends [1].", languages=("other",))
    found = asked(model, QUESTION, NOTES | {"lock2.md": "锁 lock: 租约到期以后锁自动释放。"})
    assert "租约" not in model.asked[0][-1].text
    assert "lock2.md" in found.notice and any(uid.startswith("lock2.md") for uid in found.dropped)


def test_an_answer_without_citations_says_so_and_its_claims_are_tied_to_the_notes() -> None:
    found = asked(Scripted("The lock is released when the lease ends."))
    assert found.citations == () and "cited no passage" in found.notice
    assert found.claims[0].citation == "missing" and found.claims[0].source is not None
    assert found.claims[0].source.path == "lock.md"


def test_a_wrong_citation_is_marked() -> None:
    notes = {"a.md": "Green tea is steeped at eighty degrees.", "b.md": "The lock is released when the lease ends."}
    found = asked(Scripted("The lock is released when the lease ends [2]."), "lock released lease tea", notes)
    assert [claim.citation for claim in found.claims] == ["wrong"]


def test_extracts_are_what_the_setting_asks_for() -> None:
    engine = Engine(HashingEmbedder(), settings=Settings(answers="extract")).build(NOTES)
    found = answer(engine.search(QUESTION), engine)
    assert found.mode == "extract" and found.notice == ""
