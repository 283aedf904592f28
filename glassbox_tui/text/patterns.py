"""Which characters belong together: the regular expressions that find CJK runs, emoji and words in a text.

They read text in compatible form (NFKC, `normalize.compatible_spans`), so full-width letters are already plain ones.
"""

from __future__ import annotations

import re

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
# Thai, Lao, Myanmar, Khmer: written without blanks, as Chinese is. Letters and marks, without digits and punctuation.
SOUTHEAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f\uaa60-\uaa7f"
    "\u1780-\u17d3\u17d7\u17dc\u17dd"
)
CJK = HAN + KANA + HANGUL + "\u3105-\u312f" + SOUTHEAST  # and bopomofo; here for all that is written without blanks

# One character each; joiners, skin tones and variation selectors are no part of them. A flag is a pair.
_PICTURE = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u25b6\u25c0\u25fb-\u25fe\u2600-\u2767\u2795-\u2797\u27a1\u27b0"
    "\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\U0001f000-\U0001f0ff\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
EMOJI = f"[\U0001f1e6-\U0001f1ff]{{2}}|[{_PICTURE}]"

# A letter, digit or underscore that is not CJK; combining marks that NFKC could not compose belong to their letter.
LETTER = f"[^\\W{CJK}]"
MARK = "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff]"


def _expressions(letter: str, mark: str) -> tuple[str, str]:
    """An atom and a word, given what a letter is and what else may stand behind one."""
    atom = f"{letter}(?:{letter}{mark})*(?:\\+\\+\\d*|#(?!{letter}))?"
    # @nasa, #tag, #103, $HOME, .gitignore, --verbose: the mark belongs to the word
    prefix = f"(?:(?<!{letter})(?<![.@#$-])(?:(?:[@#$.]|--)(?=(?!\\d){letter})|#(?=\\d)))?"
    # then atoms (word, don't, C++, C#) joined as in DEC-0054, a/b.c, x::y, R&D, 1,000
    return atom, f"{prefix}{atom}(?:(?:://|::|->|[-./\\\\:@+&'’~]|(?<=\\d),(?=\\d)){atom})*"


_ATOM, _WORD = _expressions(LETTER, f"|{MARK}")
word = re.compile(_WORD)
ascii_word = re.compile(_expressions("[A-Za-z0-9_]", "")[1], re.ASCII)  # the same in ASCII text, and twice as fast
run = re.compile(f"[{CJK}]+")
run_apart = re.compile(f"([{CJK}]+)")  # for `split`: what lies between runs, and the runs, by turns
token = re.compile(f"([{CJK}]+)|({EMOJI})|{_WORD}")  # group 1: a CJK run, 2: an emoji, none: a word
RUN, PICTURE = 1, 2
atom = re.compile(f"{_ATOM}(?:['’]{_ATOM})*")
emoji = re.compile(EMOJI)


def words(normal: str) -> list[str]:
    """The words of a text, in order."""
    return (ascii_word if normal.isascii() else word).findall(normal)
