"""Text that looks like the control tokens of a chat format, made harmless where we cannot tokenise ourselves.

A server takes one string a message and may read `<|im_start|>` in a note as the beginning of a turn. A space after the
first character of whatever looks so leaves it readable, and no longer a token of any known family.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Names between < and >, or </ and >, of sentencepiece, Gemma, Mistral, T5, code models and others.
_NAMES = (
    r"s|bos|eos|pad|unk|mask|sep|cls|sop|eop|eod|eot|start_of_turn|end_of_turn|start_of_image|end_of_image|image"
    r"|fim_\w+|reponame|filename|file_sep|unused\d+|extra_id_\d+|reserved\w*|reserved_special_token_\d+|think|thinking"
    r"|reasoning|tool_\w+|tools|function\w*|end_of_\w+|begin_of_\w+|endoftext|startoftext|(?:bos|eos|pad|unk|cls|mask)_token|0x[0-9a-f]{2}"
)
_BRACKETS = (
    r"INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK|MODEL_SETTINGS|IMG"
    r"|PREFIX|SUFFIX|MIDDLE|gMASK|sMASK|CLS|SEP|MASK|PAD|UNK|BOS|EOS|BEGIN_OF_\w+|END_OF_\w+"
)
_LOOK_ALIKE = re.compile(
    rf"<(?=[|｜]\S)|<(?=</?SYS>>)|<(?=/?(?i:{_NAMES})>)|\[(?=/?(?:{_BRACKETS})\])",
)


def neutral(text: str, names: Sequence[str] = ()) -> str:
    """`text` without anything that a known chat format, or a vocabulary with these `names`, takes for a control token.

    Nothing is left out: spaces are put in. Text without look-alikes comes back as it is.
    """
    return _LOOK_ALIKE.sub(r"\g<0> ", _without(text, names))


def _without(text: str, names: Sequence[str]) -> str:
    found = [re.escape(name) for name in names if len(name) > 1 and name in text]
    if not found:
        return text
    return re.sub(rf"(?=({'|'.join(sorted(found, key=len, reverse=True))})).", r"\g<0> ", text, flags=re.DOTALL)
