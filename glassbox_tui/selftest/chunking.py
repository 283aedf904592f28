"""Chunks: nothing lost, nothing too long, everything exactly where it says it is."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from glassbox_tui.index.indexer import chunk_options
from glassbox_tui.models.protocols import TokenEmbedder
from glassbox_tui.selftest.bench import Bench
from glassbox_tui.selftest.check import Group, need, need_all
from glassbox_tui.text.chunks import ChunkOptions, ChunkSpan, chunk
from glassbox_tui.text.sentences import sentences

chunking = Group("chunking")

_NUMBERED = [f"Sentence number {i} says one thing about topic {i % 7}." for i in range(60)]
PROSE = " ".join(_NUMBERED)


def _prose() -> tuple[ChunkSpan, ...]:
    """A text of sixty sentences, cut small enough to give many chunks."""
    return chunk(PROSE, ChunkOptions(chars=300, overlap=90))


@chunking.holds("no sentence is lost")
def _(bench: Bench) -> str:
    whole = total = 0
    for path, note in bench.notes.items():
        covered = bytearray(len(note.text))
        for span in chunk(note.text, chunk_options(bench.settings, bench.embedder, "md"), start=note.body_start):
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
        # Marks and line ends are enough of a sentence splitter here: what counts is that every character is looked at.
        for match in re.finditer(r"[^。！？.!?\n]+[。！？.!?]*", note.text[note.body_start :]):
            lost = [
                at
                for at in range(note.body_start + match.start(), note.body_start + match.end())
                if not covered[at] and not note.text[at].isspace()
            ]
            need(not lost, f"{path}: {match.group().strip()[:60]!r} is in no chunk from offset {lost[:1]} on")
            whole, total = whole + (not lost), total + 1
    need(total, "the bundled notes have no sentence")
    return f"{whole} of {total} sentences of the bundled notes are in a chunk: coverage {whole / total:.1f}"


@chunking.holds("a long text gives several chunks")
def _(bench: Bench) -> str:
    count, least = len(_prose()), -(-len(PROSE) // 300)
    need(count >= least > 1, f"{len(PROSE)} characters at 300 a chunk gave {count} chunks, fewer than {least}")
    return f"{len(PROSE)} characters at 300 a chunk need at least {least} chunks and gave {count}"


@chunking.holds("a chunk is never longer than its limit")
def _(bench: Bench) -> str:
    limit = bench.settings.chunk_chars
    longest = max(bench.chunks, key=lambda c: len(c.text))
    need(len(longest.text) <= limit, f"{longest.uid} has {len(longest.text)} characters, the limit is {limit}")
    hard = chunk("a" * 5_000 + "。" + "长" * 5_000, ChunkOptions(chars=200, overlap=50))
    need_all((0 < len(c.text) <= 200, f"a chunk of {len(c.text)} characters where 200 is the limit") for c in hard)
    return (
        f"the longest of {len(bench.chunks)} bundled chunks has {len(longest.text)} of {limit} characters;"
        f" a text of two endless words was cut into {len(hard)} chunks of at most 200"
    )


@chunking.holds("a chunk is never more tokens than the model reads")
def _(bench: Bench) -> str:
    def letters(text: str) -> int:
        return sum(not c.isspace() for c in unicodedata.normalize("NFKC", text))

    tight = chunk(PROSE, ChunkOptions(chars=300, overlap=90, token_limit=25, count_tokens=letters))
    most = max(letters(c.index_text) for c in tight)
    need(most <= 25, f"a chunk has {most} tokens where 25 is the limit")
    store, name = bench.engine.store, bench.embedder.name
    need(store.truncated(name) == 0, f"{store.truncated(name)} bundled chunks lost tokens to the limit of {name}")
    if not isinstance(bench.embedder, TokenEmbedder):
        return f"at 25 tokens a chunk the largest of {len(tight)} has {most} ({name} states no limit of its own)"
    largest, limit = max(bench.embedder.count_tokens(c.index_text) for c in bench.chunks), bench.embedder.token_limit
    need(largest <= limit, f"a bundled chunk has {largest} tokens, {name} reads {limit}")
    return f"at 25 tokens a chunk the largest has {most}; the largest bundled chunk has {largest} of {limit} tokens"


@chunking.holds("neighbours of several sentences overlap")
def _(bench: Bench) -> str:
    spans = _prose()
    shared = [PROSE[b.start : a.end] for a, b in pairwise(spans)]
    pairs = ((0 < len(s) <= 90, f"neighbours share {len(s)} characters, not 1 to 90") for s in shared)
    need_all(pairs)
    whole = [s.strip() for s in shared]
    need_all(
        (all(f"{piece}." in _NUMBERED for piece in s.removesuffix(".").split(". ")), f"{s!r} is no whole sentence")
        for s in whole
    )
    least, most = min(map(len, shared)), max(map(len, shared))
    return f"{len(shared)} pairs of neighbours share whole sentences, {least} to {most} characters of at most 90"


@chunking.holds("offsets are exact")
def _(bench: Bench) -> str:
    plain = {path: n.text for path, n in bench.notes.items()}
    for path in plain:
        if path.endswith((".md", ".txt")):  # read again by other means than ours
            plain[path] = (bench.corpus / path).read_text(encoding="utf-8")
    count = need_all(
        (
            c.text != "" and plain[c.path][c.start : c.end] == c.text,
            f"{c.uid} is not characters {c.start} to {c.end} of its file",
        )
        for c in bench.chunks
    )
    return f"{count} chunks are exactly the characters of their files that their offsets name"


@chunking.holds("line numbers are those of the file")
def _(bench: Bench) -> str:
    def lines(path: str, start: int, end: int) -> tuple[int, int]:
        text = bench.notes[path].text
        return text[:start].count("\n") + 1, text[: end - 1].count("\n") + 1

    count = need_all(
        (
            c.lines == lines(c.path, c.start, c.end),
            f"{c.uid} says lines {c.lines}, counted {lines(c.path, c.start, c.end)}",
        )
        for c in bench.chunks
    )
    need(any(c.lines[0] > 1 for c in bench.chunks), "every chunk begins on line 1")
    return f"the lines of {count} chunks equal a count of line breaks"


@chunking.holds("chunks stand in reading order")
def _(bench: Bench) -> str:
    spans = _prose()
    count = need_all(
        (a.start < b.start and a.end < b.end, f"a chunk at {b.start} to {b.end} follows one at {a.start} to {a.end}")
        for a, b in pairwise(spans)
    )
    return f"starts and ends rise over {count + 1} chunks"


@chunking.holds("the text that is embedded ends with the text that is shown")
def _(bench: Bench) -> str:
    count = need_all(
        (c.index_text.endswith(c.text), f"{c.uid}: other text is embedded than shown") for c in bench.chunks
    )
    helped = [c for c in bench.chunks if c.heading and c.index_text != c.text]
    need(helped, "no chunk carries its headings into the index")
    lost = [c.uid for c in helped if not c.index_text.startswith((c.title, *c.heading))]
    need(not lost, f"{lost[:1]} is indexed with a first line that is no heading of its own")
    return f"{count} chunks; {len(helped)} of them carry the headings above them into the index"


@chunking.holds("sentences are a partition of the text")
def _(bench: Bench) -> str:
    texts = [n.text for n in bench.notes.values()]
    count = 0
    for text in texts:
        spans = sentences(text)
        need("".join(text[a:b] for a, b in spans) == text, "the sentences of a note do not join back to it")
        count += len(spans)
    need(count > 2 * len(texts), f"only {count} sentences in {len(texts)} notes")
    return f"{count} sentences of {len(texts)} notes join back to the exact texts"
