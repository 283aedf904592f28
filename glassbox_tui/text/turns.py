"""What a language model says in its own turn, without the tokens that its chat format puts around turns.

They reach us as letters where a server or a file does not know the model's own format: `<|im_end|>` (ChatML),
`<|eot_id|>` (Llama), `<end_of_turn>` (Gemma), `</s>` and `[INST]` (Mistral), `<｜end▁of▁sentence｜>` (DeepSeek),
`<|channel|>` (gpt-oss). What follows the end of a turn is what the model makes the other side say.
"""

from __future__ import annotations

import re

_NAMES = (
    r"s|bos|eos|eot|eop|eod|pad|unk|endoftext|startoftext|(?:start|end|begin)_of_[a-z]+"
    r"|(?:bos|eos|pad|unk|eot)_token|turn\|"
)
_token = re.compile(
    rf"<(?:[|｜][^\s<>|｜]{{1,40}}[|｜]|/?(?:{_NAMES})|\|turn)>|\[/?INST\]|<</?SYS>>|\[(?:BOS|EOS|PAD|UNK)\]",
    re.IGNORECASE,
)
# A beginning of one. [ is open until its bracket is known.
_begun = re.compile(r"(?:<<?/?(?:[|｜][^\s<>]{0,41}|[a-z_|]{0,24})|<</?SYS>|\[/?[A-Z]{0,4})\Z", re.IGNORECASE)
_fills = re.compile(r"\W*(?:pad|unk)(?:_token)?\W*", re.IGNORECASE)
# Whose turn it is, behind the token that begins one.
_ROLES = ("user", "assistant", "system", "model", "tool", "chatbot")
_role = re.compile(
    rf"[ \t]*(?:(?:{'|'.join(_ROLES)})(?=[ \t]*(?:\n|<|\Z)))?[ \t]*(?:<\|end_header_id\|>)?\s*", re.IGNORECASE
)
_begins = re.compile(
    r"\W*(?:im_start|start|begin|user|assistant|system|model|bos|s\W|inst\W|sys\W|\|?turn>)", re.IGNORECASE
)
# What gpt-oss thinks; its answer is in the channel "final".
_thought = re.compile(r"<\|channel\|>(?!final\b)[^<]{0,40}<\|message\|>.*?(?:<\|(?:end|call|return)\|>|\Z)", re.DOTALL)
_final = re.compile(r"<\|channel\|>final[^<\0]{0,40}<\|message\|>")
_channel_begun = re.compile(r"<\|channel\|>[^<\0]{0,40}(?:<[|a-z]{0,9})?\Z")
_quotes = "`'\"“‘「『《(（"
_sentence_ends = ".!?。！？…:：;；)）]】”’」』"
_LOOKED_AT = 200  # characters of the line around it
_fence = re.compile(r"(?m)^[ \t]*(?:```|~~~)")


def own_turn(written: str, done: bool = True) -> tuple[str, bool]:
    """(what is said in the turn, whether the turn is over). Not `done`: more may come, and a token may have begun.

    A token that is spoken of stays: one in quotation marks, in code, or in the middle of a sentence.
    """
    text, over = _answer_channel(written)
    kept: list[str] = []
    said = struck = begins = in_code = False
    at = 0
    for found in _token.finditer(text):
        start, end = found.span()
        if start < at:
            continue
        between = text[at:start]
        said = said or any(map(str.isalnum, between))
        token = found[0].lower()
        in_code ^= len(_fence.findall(text, at, start)) % 2 == 1
        spoken_of = in_code or (struck and token == "</s>") or _is_spoken_of(text, start, end, done)
        if spoken_of is None:
            return "".join([*kept, between]), False
        if spoken_of:
            struck = token == "<s>"
            kept.append(text[at:end])
            said, at = True, end
            continue
        kept.append(between)
        if said and not _fills.fullmatch(token):
            return "".join(kept), True
        at = end
        begins = _begins.match(token) is not None
        if begins and (role := _role.match(text, end)):
            at = role.end()
    rest = text[at:]
    if not done and not over and (begun := _begun.search(rest)):
        rest = rest[: begun.start()]
    if not done and begins and not said and any(role.startswith(rest.strip().lower()) for role in _ROLES):
        rest = ""  # it may become whose turn it is
    return "".join([*kept, rest]), False


def _answer_channel(written: str) -> tuple[str, bool]:
    """(without what is said in other channels, whether one of those, or its name, is how it ends)."""
    if "<|channel|>" not in written:
        return written, False
    mark = "\0"
    text = _channel_begun.sub(mark, _final.sub("\n", _thought.sub(mark, written)))
    return text.replace(mark, ""), text.endswith(mark)


def without_tokens(text: str, instead: str = " ") -> str:
    """`text` with `instead` in place of every token of a chat format."""
    return _token.sub(instead, text)


def _is_spoken_of(text: str, start: int, end: int, done: bool) -> bool | None:
    """Whether a sentence around text[start:end] names the token; None while that hangs on what follows."""
    line = text[max(0, start - _LOOKED_AT) : start].rpartition("\n")[2]
    before = line.rstrip()
    if before and line[-1] in _quotes:
        return True
    # It stands in a sentence that is not over, between blanks, or as ideographs stand.
    if not before or before[-1] in _sentence_ends or (before == line and not _is_ideograph(before[-1])):
        return False
    after = text[end : end + _LOOKED_AT].lstrip(" \t")
    if not after:
        return False if done else None
    return after[0] not in "<[\n" and (before != line or _is_ideograph(after[0]))


def _is_ideograph(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff"
