"""Writes corpus/18-pdf-text.pdf: two pages of plain text, by hand, so that no PDF writer is needed.

Run `python tests/corpus/make_pdf.py` after editing the text. The same text always gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "corpus" / "18-pdf-text.pdf"
TITLE = "PDF pages: glyphs, not paragraphs"
PAGES: tuple[tuple[str, ...], ...] = (
    (
        TITLE,
        "",
        "A page description says which glyph is painted at which spot. It need not know",
        "what a word is, where a line ends or which column comes first. Extraction is",
        "therefore guesswork with good manners.",
        "",
        "What usually goes wrong:",
        "- Two columns are read straight across, so half sentences alternate.",
        "- Ligatures come out as one odd symbol, and a search for office misses it.",
        "- A hyphen at the end of a line cuts a word in two.",
        "- Headers, footers and page numbers land in the middle of a sentence.",
        "- A font without a map to Unicode yields nonsense that looks like text.",
        "",
        "What helps: fold the ligatures, join hyphenated words, drop lines that repeat",
        "on every page, and flag a page whose order looks doubtful.",
    ),
    (
        "When there is nothing to extract",
        "",
        "A scan holds only a picture. No words can be found without OCR, so the file is",
        "listed as having no text instead of being left out in silence. An encrypted",
        "file is listed too, with its own reason.",
        "",
        "Treat every file as hostile",
        "",
        "A malformed document can loop for ever or swallow all memory. Read it in a",
        "child process with a limit on time and memory: if it fails, the other notes",
        "still get indexed, and the reason stands next to the name.",
        "",
        "Remember the page",
        "",
        "Keep the position at which each page begins. Then a hit can say page 2, which",
        "is what a reader needs, since line numbers mean nothing inside such a file.",
    ),
)


def build() -> bytes:
    """The document as PDF 1.4: one standard font, A4 (595 x 842 points), 11-point text, uncompressed."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(PAGES)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(PAGES)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for i, lines in enumerate(PAGES):
        shown = "\n".join(f"({_escape(line)}) Tj T*" for line in lines)
        stream = f"BT /F1 11 Tf 16 TL 72 770 Td\n{shown}\nET".encode("ascii")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {5 + 2 * i} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n".encode() + stream + b"\nendstream")
    objects.append(f"<< /Title ({_escape(TITLE)}) >>".encode())

    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    xref = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    out += f"startxref\n{xref}\n%%EOF\n".encode()
    return bytes(out)


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


if __name__ == "__main__":
    TARGET.write_bytes(build())
