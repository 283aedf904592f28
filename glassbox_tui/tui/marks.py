"""Where sentences stand in the answer that they are from."""

from __future__ import annotations

from collections.abc import Sequence

from glassbox_tui.answer.citations import citations_in


def spans(text: str, sentences: Sequence[str]) -> list[tuple[int, int]]:
    """[start, end) in `text` of each of its sentences, in its order; (0, 0) for one that is not there.

    A claim has no citation marks and single blanks, so neither those nor any white space is compared.
    """
    bare = text
    for start, end, _ in citations_in(text):
        bare = bare[:start] + " " * (end - start) + bare[end:]
    kept = [i for i, char in enumerate(bare) if not char.isspace()]
    flat, at, found = "".join(bare[i] for i in kept), 0, list[tuple[int, int]]()
    for sentence in sentences:
        wanted = "".join(sentence.split())
        place = flat.find(wanted, at) if wanted else -1
        if place < 0:
            found.append((0, 0))
            continue
        at = place + len(wanted)
        found.append((kept[place], kept[at - 1] + 1))
    return found
