"""PDF files written by hand, byte by byte, so that tests know exactly what is in them."""

from __future__ import annotations


def pdf_bytes(objects: dict[int, bytes], *, root: int = 1, info: int | None = None) -> bytes:
    """A PDF of numbered objects with a correct cross-reference table."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets.get(number, 0)
    extra = b" /Info %d 0 R" % info if info else b""
    out += b"trailer\n<< /Size %d /Root %d 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (size, root, extra, start)
    return bytes(out)


def stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(content), extra, content)


def literal(text: bytes) -> bytes:
    return b"(" + text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


def lines_at(lines: list[tuple[int, int, bytes]]) -> bytes:
    """A content stream that shows each (x, y, bytes) where it says, in this order."""
    shown = [b"1 0 0 1 %d %d Tm %s Tj" % (x, y, literal(text)) for x, y, text in lines]
    return b"BT /F1 12 Tf\n" + b"\n".join(shown) + b"\nET"


def pages_pdf(contents: list[bytes], *, to_unicode: bytes | None = None, title: bytes | None = None) -> bytes:
    """A PDF with one page per content stream; the font's ToUnicode map, when given, says what each code means."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding%s >>" % (
        b" /ToUnicode 4 0 R" if to_unicode is not None else b""
    )
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: font, 4: stream(to_unicode or b"")}
    if title is not None:
        objects[5] = b"<< /Title %s >>" % title
    kids = []
    for index, content in enumerate(contents):
        page, body = 10 + 2 * index, 11 + 2 * index
        kids.append(b"%d 0 R" % page)
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % body
        )
        objects[body] = stream(content)
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return pdf_bytes(objects, info=5 if title is not None else None)


def text_pdf(pages: list[list[str]], **options: bytes | None) -> bytes:
    """A PDF of Latin text: each page is a list of lines from the top down."""
    contents = [
        lines_at([(72, 720 - 14 * row, line.encode("cp1252")) for row, line in enumerate(page)]) for page in pages
    ]
    return pages_pdf(contents, **options)


def unicode_map(codes: dict[int, list[int]]) -> bytes:
    """A ToUnicode CMap: byte code -> UTF-16 units, unpaired surrogates and NULs included."""
    rows = [b"<%02X> <%s>" % (code, b"".join(b"%04X" % unit for unit in units)) for code, units in codes.items()]
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n"
        b"%d beginbfchar\n%s\nendbfchar\nendcmap end end" % (len(rows), b"\n".join(rows))
    )
