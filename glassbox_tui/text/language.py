"""Which of two families a text is mostly written in. Coarse on purpose: it decides what a score is compared with."""

from __future__ import annotations

import re

CJK, OTHER = "cjk", "other"

# Han, kana, bopomofo, hangul. One such character carries about as much as a third of an alphabetic word.
_CJK = re.compile(
    "[\u3040-\u30ff\u3105-\u312f\u3131-\u318e\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LETTER = re.compile(r"[^\W\d_]")
CJK_SHARE = 0.3


def chinese_share(text: str) -> float:
    """How Chinese (or Japanese, Korean) a text is, 0 to 1: full from CJK_SHARE of the letters on, 0 without letters."""
    cjk = len(_CJK.findall(text))
    return min(1.0, cjk / (CJK_SHARE * len(_LETTER.findall(text)))) if cjk else 0.0


def language_share(text: str, language: str) -> float:
    """How much of a text is in `language`, 0 to 1, by the same measure: a text in two languages is wholly in both."""
    if language == CJK:
        return chinese_share(text)
    letters = len(_LETTER.findall(text))
    return min(1.0, (letters - len(_CJK.findall(text))) / (CJK_SHARE * letters)) if letters else 1.0


def language_of(text: str) -> str:
    """`CJK` if more than CJK_SHARE of the letters are, else `OTHER` (also for a text without letters)."""
    cjk = len(_CJK.findall(text))
    return CJK if cjk and cjk > CJK_SHARE * len(_LETTER.findall(text)) else OTHER
