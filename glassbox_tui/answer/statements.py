"""The sentences of an answer that claim something, and what they claim once the talk around it is gone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from glassbox_tui.answer.citations import citations_in
from glassbox_tui.text.sentences import sentences
from glassbox_tui.text.tokens import content_terms

# What a citation mark leaves before the full stop.
_gap = re.compile(r"\s+(?=[.,;:!?。，；：！？](?:\s|$))")
_heading = re.compile(r"#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__):?$")
# Where a passage is from, as a small model copies it out of its prompt: "tea.md > Green tea".
_trail = re.compile(r"\S+\.(?:md|markdown|txt|pdf)(?: > .*)?$")
_question = re.compile(r"[?？][\"'”’」）)*_]*$|吗[。.]?$")
# A line that only says what follows: "Here are the reasons:".
_opening = re.compile(r"[:：]$")
_notes = r"(?:notes?|passages?|contexts?|sources?|texts?|documents?|information|material|excerpts?|chunks?)"
_refusal = re.compile(
    rf"\b(?:not|n['’]t|nothing|no|unable) (?:\w+ ){{0,6}}?(?:in|from|by|on|with)"
    rf" (?:your|the|these|this) (?:\w+ )?{_notes}\b"
    rf"|^(?:the |your |these |this )?(?:\w+ )?{_notes} (?:provided |given |above )?(?:do|does|did)(?: not|n['’]t)\b"
    r"|^(?:I['’]m sorry|Sorry|I apologi[sz]e|Unfortunately, I)\b"
    r"|^I (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t) (?:know|find|answer|say|tell|see)\b"
    r"|(?:笔记|资料|上文|段落|材料|文中|文档|上下文)[里中]?[都并也]?(?:没有(?:提|说|找|相关|足够|包含)|未提|找不到|不包含|无法)"
    r"|^(?:很|非常)?(?:抱歉|对不起)|^我?(?:不知道|不清楚|无法(?:回答|确定|从))",
    re.I,
)
_chatter = re.compile(
    r"^(?:sure|certainly|of course|okay|great question|good question|let me know|feel free|here (?:is|are))\b"
    r"|^i hope (?:this|that)\b|^(?:好的|当然|希望(?:这|以上|对你|能)|以下是|如果(?:你|您)(?:还)?有)",
    re.I,
)
_item = re.compile(r"^(?:[>\s]*(?:[-*+•]|\d{1,3}[.)、]|[(（]\d{1,2}[)）])\s*)(?=\D)")
_number = r"(?:\s*(?:#|no\.?\s*|number\s*)?\d{1,3}(?:\s*(?:,|and|&)\s*\d{1,3})*)?"
_which = (
    rf"(?:the |your |these |this )?(?:(?:given|provided|above|numbered|first|second|third|same) )*{_notes}{_number}"
)
_lead_in = re.compile(
    r"^(?:(?:according to|based on|as (?:stated|mentioned|described|explained|noted|shown) (?:in|by)|from|in)"
    rf" {_which}(?: (?:provided|given|above))?\s*,\s*"
    rf"|{_which} (?:also )?(?:say|state|mention|explain|show|note|suggest|indicate|describe)s?(?: that)?\s+"
    r"|(?:yes|no|so|therefore|in summary|in short|in conclusion|overall|answer)\s*[,:]\s*"
    r"|(?:根据|按照|依据|从)?(?:所?提供的|你的|您的|上述|以上|给出的|这些|这段)*"
    r"(?:笔记|资料|段落|材料|文档|上文|上下文|内容|来源|文中)(?:\s*\d{1,3})?[里中]?的?(?:内容|信息|描述)?"
    r"(?:，|,|(?:提到|指出|说明|表明|说|写道|显示)[了过]?[，,：:]?)"
    r"|(?:是的|答案?是?|总之|因此|所以|综上所述?)[，,：:])",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that claims something, without its citation marks, and the numbers that stood there."""

    text: str
    cited: tuple[int, ...]


def statements(text: str) -> list[Statement]:
    """The sentences of an answer that say something of the world, in order.

    Citations belong to the words before them, also from behind the full stop. Headings, questions, refusals ("not in
    your notes"), and what only opens or closes the talk claim nothing that a source could support.
    """
    marks = citations_in(text)
    bare = text
    for start, end, _ in marks:
        bare = bare[:start] + " " * (end - start) + bare[end:]
    found: list[Statement] = []
    spans = [(start, end) for start, end in sentences(bare) if any(char.isalpha() for char in bare[start:end])]
    ends = [*(start for start, _ in spans[1:]), len(text)]
    for (start, end), until in zip(spans, ends, strict=False):
        cited = [n for at, _, numbers in marks if start <= at < until for n in numbers]
        words = _gap.sub("", " ".join(bare[start:end].split()))
        if claims_something(words):
            found.append(Statement(words, tuple(dict.fromkeys(cited))))
    return found


def claims_something(sentence: str) -> bool:
    """Does a sentence say what a source could support or not?"""
    plain = sentence.strip()
    silent = (_heading.match, _trail.match, _question.search, _opening.search, _refusal.search, _chatter.search)
    return bool(content_terms(said(plain))) and not any(
        test(words) for test in silent for words in (plain, _item.sub("", plain, count=1))
    )


def said(sentence: str) -> str:
    """The sentence without its list mark and without words on where it is from ("According to passage 2, ...")."""
    plain = _item.sub("", sentence.strip(), count=1)
    while (rest := _lead_in.sub("", plain, count=1)) != plain and content_terms(rest):
        plain = rest
    return plain
