"""The interface is whole in both languages: every text that can be shown has its Chinese, with the same places."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import glassbox_tui.tui
from glassbox_tui.retrieval.reasons import (
    AGAINST,
    ASKED_DENSE,
    ENDED,
    FILTERED,
    LEVEL_WORDS,
    NO_CHUNK,
    NO_SIGNAL,
    SIGNAL_WORDS,
    TOO_LOW,
    UNKNOWN,
    UNSURE,
)
from glassbox_tui.retrieval.trace import VECTORS_MISSING
from glassbox_tui.text.values import SHOWN
from glassbox_tui.tui.registry import COMMANDS
from glassbox_tui.tui.sentences import TEMPLATES, told
from glassbox_tui.tui.words import say, speak
from glassbox_tui.tui.zh import ZH
from glassbox_tui.views.models import WORDS

SAYING = ("say", "later")  # said now, or standing in a table until it is shown
TUI = Path(glassbox_tui.tui.__file__).parent
PACKAGE = TUI.parent


def said() -> Iterator[tuple[str, str]]:
    """(text, where) of every literal in a `say(...)` call: also those chosen by `a if b else c`."""
    for file in sorted(TUI.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYING and node.args:
                for part in texts_of(node.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value, f"{file.name}:{node.lineno}"


def texts_of(node: ast.expr) -> Iterator[ast.AST]:
    """The parts of an argument whose value may be the text: not the condition of an `a if b else c`, nor a key."""
    if isinstance(node, ast.IfExp):
        yield from (*texts_of(node.body), *texts_of(node.orelse))
    elif isinstance(node, ast.Call):  # a table's get(key, text)
        yield from (part for arg in node.args[1:] for part in texts_of(arg))
    else:
        yield node


def shown() -> dict[str, str]:
    """Every English text of the interface -> where it is from."""
    texts = dict(said())
    for command in COMMANDS:
        for text in (command.title, command.hint, command.group):
            if text:
                texts.setdefault(text, f"the command {command.id}")
    reasons = (NO_CHUNK, NO_SIGNAL, *TOO_LOW.values(), *ENDED.values(), *FILTERED.values())
    texts |= dict.fromkeys(WORDS, "views.models") | dict.fromkeys(set(SHOWN.values()) - {"{}"}, "text.values")
    reasons = (NO_CHUNK, NO_SIGNAL, VECTORS_MISSING, UNSURE, UNKNOWN, ASKED_DENSE, *TOO_LOW.values(), *ENDED.values())
    reasons += (*AGAINST.values(), *LEVEL_WORDS.values(), *SIGNAL_WORDS.values())
    texts |= dict.fromkeys(WORDS, "views.models")
    return texts | dict.fromkeys(reasons, "retrieval.reasons") | dict.fromkeys(TEMPLATES, "sentences.TEMPLATES")


def places(text: str) -> list[str]:
    return sorted(f"{name}:{spec}" for _, name, spec, _ in Formatter().parse(text) if name is not None)


def test_every_text_has_its_chinese() -> None:
    missing = {text: where for text, where in shown().items() if text not in ZH}
    assert missing == {}


def test_no_text_is_translated_twice() -> None:
    """The parts of the table are put together: of two translations one would silently win."""
    count = Counter(
        key.value
        for file in TUI.glob("zh*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    )
    assert [text for text, times in count.items() if times > 1] == []


def test_no_text_is_built_before_it_is_said() -> None:
    """say(f"...") could never be found in the table."""
    built = [
        f"{file.name}:{node.lineno}"
        for file in TUI.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "say"
        and node.args
        and isinstance(node.args[0], ast.JoinedStr)
    ]
    assert built == []


@pytest.mark.parametrize("english", sorted(ZH))
def test_a_translation_has_the_same_places_and_is_chinese(english: str) -> None:
    assert places(ZH[english]) == places(english)
    assert re.search("[\u4e00-\u9fff]", ZH[english]) or not re.search("[a-z]{3}", english) or ZH[english] == english


def engine_sentences() -> set[str]:
    """Every string and f-string of the engine, its values as {}."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        if TUI in file.parents and file.name not in {"backend.py", "folders.py", "remote.py"}:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.add("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def test_each_template_is_a_sentence_that_the_engine_says() -> None:
    sentences = engine_sentences()
    beginnings = {t: next(piece for piece in t.split("{}") if len(piece) > 2)[:20] for t in TEMPLATES}
    assert {t for t, own in beginnings.items() if not any(own in s for s in sentences)} == set()


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("coverage 0.31 < 0.60", "覆盖率 0.31 < 0.60"),
        ("coverage 0.31 < 0.60; rerank 0.49 < 0.55", "覆盖率 0.31 < 0.60；rerank 0.49 < 0.55"),
        ("dense search covers 24% of the chunks so far", "dense 检索目前只覆盖 24% 的片段"),
        ("a sentence that nobody translated", "a sentence that nobody translated"),
        (
            "M: its file has no chat template, so it is asked in plain text; an instruct or chat model does better.",
            "M：文件里没有对话模板，只能用纯文本提问；instruct 或 chat 模型更好。",
        ),
        (
            "M: its chat template does not leave texts as they are (it changes, drops or repeats the texts):"
            " control tokens in them are spelled.",
            "M：它的对话模板会改动文字（它会改写、丢掉或重复文字）：文字里的控制词元按字母拼写。",
        ),
        (
            "The evidence was graded insufficient (dense 0.80 < 0.84): read this answer with doubt.",
            "证据评为不足（dense 0.80 < 0.84）：请对这个回答存疑。",
        ),
    ],
)
def test_the_engines_sentences_are_said_anew_from_their_parts(english: str, chinese: str) -> None:
    assert told(english) == english
    speak("zh")
    try:
        assert told(english) == chinese
    finally:
        speak("en")


def test_what_has_no_translation_stays_as_it_is() -> None:
    speak("zh")
    try:
        assert say("{} of {} quokkas", 1, 2) == "1 of 2 quokkas"
    finally:
        speak("en")
