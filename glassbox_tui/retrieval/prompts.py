"""What a language model is told when it is to help a search: short, in the question's language, one task each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glassbox_tui.models.chat import Message
from glassbox_tui.text.language import CJK, language_of

QUESTION_CHARS = 600  # of a question, in a prompt
HEADINGS, HEADING_CHARS = 3, 60


@dataclass(frozen=True, slots=True)
class _Words:
    system: str
    question: str
    headings: str
    tried: str
    tasks: dict[str, str]


_EN = _Words(
    system="You help to search a folder of notes. Reply with what is asked for and nothing else.",
    question="Question: {}",
    headings="Headings found so far: {}",
    tried="Tried already, without success: {}",
    tasks={
        "rewrite": "Write one better search query for this question, on one line. Keep its names and numbers.",
        "decompose": "Split this question into 2 or 3 simpler questions, one on each line. Keep its names and numbers.",
        "hyde": "Write two or three sentences of a note that would answer this question.",
        "expand": "List up to 8 words that a note which answers this question would hold, separated by commas.",
    },
)
_ZH = _Words(
    system="你帮助检索一个笔记文件夹。只回复所要求的内容，不要多说。",
    question="问题：{}",
    headings="目前找到的标题：{}",
    tried="已经试过、没有找到：{}",
    tasks={
        "rewrite": "为这个问题写一个更好的检索查询，只写一行。保留其中的名称和数字。",
        "decompose": "把这个问题拆成 2 到 3 个更简单的问题，每行一个。保留其中的名称和数字。",
        "hyde": "写两三句话，像一篇能回答这个问题的笔记那样。",
        "expand": "列出最多 8 个能回答这个问题的笔记里会出现的词，用逗号分开。",
    },
)


def rewriting(how: str, question: str, headings: Sequence[str] = (), tried: Sequence[str] = ()) -> tuple[Message, ...]:
    """The prompt of one of `settings.REWRITERS` but feedback. Headings and queries are quoted, on one line each."""
    words = _ZH if language_of(question) == CJK else _EN
    mark = "；" if words is _ZH else "; "
    lines = [words.tasks[how], words.question.format(_one_line(question, QUESTION_CHARS))]
    if headings:
        lines.append(words.headings.format(mark.join(_one_line(h, HEADING_CHARS) for h in headings[:HEADINGS])))
    if tried:
        lines.append(words.tried.format(mark.join(_one_line(q, 2 * HEADING_CHARS) for q in tried)))
    return Message("system", words.system), Message("user", "\n".join(lines))


def _one_line(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
