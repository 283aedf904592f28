"""Folders as hostile as notes get, generated: every kind has a name, and makes its own files from a seeded source."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from pdf_bytes import lines_at, pages_pdf, pdf_bytes, stream, text_pdf, unicode_map

Bytes = Callable[[random.Random], bytes]
Make = Callable[[random.Random, Path, str], None]

WORDS = (
    "kettle",
    "steam",
    "融合",
    "排名",
    "重启nginx后502",
    "v3.14",
    "DEC-0054",
    "C++",
    "naïve",
    "検索",
    "лес",
    "ＥＴＬ",
)


def words(rng: random.Random, count: int = 40) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def zh(rng: random.Random, count: int = 60) -> str:
    return "".join(rng.choice("的一是了在有和混合检索排名融合分数笔记重启服务器日志，。；") for _ in range(count))


def text(maker: Callable[[random.Random], str], encoding: str = "utf-8", errors: str = "surrogatepass") -> Bytes:
    return lambda rng: maker(rng).encode(encoding, errors)


def front(matter: str) -> Bytes:
    return lambda rng: f"---\n{matter}\n---\n\n# Heading\n\n{words(rng)}\n".encode()


def inside(before: str, after: str = "") -> Bytes:
    """A note in which `before` stands after a first sentence, and `after` at the end."""
    return lambda rng: f"{words(rng)}\n\n{before}{words(rng)}\n{after}".encode("utf-8", "surrogatepass")


def _zip(rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", words(rng))
    return out.getvalue()


def _table(rows: int, columns: int = 4) -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        head = "| " + " | ".join(f"column {c}" for c in range(columns)) + " |\n" + "|---" * columns + "|\n"
        return head + "".join(
            "| " + " | ".join(rng.choice(WORDS) for _ in range(columns)) + " |\n" for _ in range(rows)
        )

    return make


def _encrypted(password: str) -> Bytes:
    def make(rng: random.Random) -> bytes:
        from pypdf import PdfReader, PdfWriter

        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(text_pdf([["Readable words"]]))))
        writer.encrypt(password, "owner", algorithm="AES-256")
        out = io.BytesIO()
        writer.write(out)
        return out.getvalue()

    return make


def _flate(content: bytes) -> bytes:
    packed = stream(zlib.compress(content), b"/Filter /FlateDecode ")
    return pages_pdf([b"PLACEHOLDER"]).replace(stream(b"PLACEHOLDER"), packed)


CATALOG = {1: b"<< /Type /Catalog /Pages 2 0 R >>"}
PLAIN = {code: [code] for code in b"abcdefghijklmnopqrstuvwxyz "}
ALIASES = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))

# Name -> (suffix, what the bytes are).
CONTENT: dict[str, tuple[str, Bytes]] = {
    # encodings
    "utf-8": (".md", text(words)),
    "utf-8 with a mark": (".md", text(words, "utf-8-sig", "strict")),
    "two marks": (".md", lambda rng: b"\xef\xbb\xbf\xef\xbb\xbf" + words(rng).encode()),
    "only a mark": (".md", lambda _: b"\xef\xbb\xbf"),
    "utf-16 little": (".txt", lambda rng: b"\xff\xfe" + words(rng).encode("utf-16-le")),
    "utf-16 big": (".txt", lambda rng: b"\xfe\xff" + words(rng).encode("utf-16-be")),
    "utf-16 without a mark": (".txt", text(zh, "utf-16-le")),
    "utf-16 cut in a pair": (".txt", lambda rng: b"\xff\xfe" + (words(rng) + "😀").encode("utf-16-le")[:-1]),
    "utf-32": (".txt", lambda rng: b"\xff\xfe\x00\x00" + words(rng).encode("utf-32-le")),
    "gb18030": (".txt", text(zh, "gb18030")),
    "big5": (".txt", lambda _: "混合檢索把兩路結果按名次相加，不比較分數。".encode("big5")),
    "shift-jis": (".txt", lambda _: "検索の結果は順位で足し合わせ、点数は比べません。".encode("shift_jis")),
    "euc-kr": (".txt", lambda _: "안녕하세요 검색엔진메모입니다 회의록".encode("euc_kr")),
    "iso-2022-jp": (".txt", lambda _: "検索の結果は順位で足します。".encode("iso2022_jp")),
    "koi8-r": (".txt", lambda _: ("Привет, это заметка о поиске. " * 5).encode("koi8_r")),
    "cp1252": (".txt", lambda _: "Le résumé du chapitre précédent est à relire.".encode("cp1252")),
    "encodings mixed": (".txt", lambda rng: zh(rng).encode("gb18030") + zh(rng).encode() + zh(rng).encode("utf-16-le")),
    "utf-8 cut in a character": (".md", lambda rng: zh(rng).encode()[:-1]),
    "overlong utf-8": (".md", lambda rng: words(rng).encode() + b"\xc0\xaf\xe0\x80\xaf"),
    "lone surrogates": (".md", text(lambda rng: words(rng) + "\ud800 \udfff" + words(rng))),
    # lines
    "crlf": (".md", lambda rng: words(rng).replace(" ", "\r\n").encode()),
    "cr alone": (".md", lambda rng: words(rng).replace(" ", "\r").encode()),
    "every kind of break": (".md", lambda rng: "\v\f\x85\u2028\u2029\r\n\n".join(words(rng, 9).split()).encode()),
    "one huge line": (".txt", lambda rng: (words(rng) * 800).encode()),
    "one huge word": (".txt", lambda _: b"a" * 150_000),
    "chinese without a break": (".md", text(lambda rng: zh(rng, 20_000).replace("，", "").replace("。", ""))),
    "blank lines": (".md", lambda _: b"\n" * 50_000),
    "only white space": (".txt", lambda _: b" \t\n\xe3\x80\x80\xc2\xa0" * 500),
    "nothing": (".md", lambda _: b""),
    # front matter
    "front matter with a colon": (".md", front("title: Plan: draft")),
    "front matter with a tab": (".md", front("list:\n\t- a")),
    "front matter never closed": (".md", lambda rng: b"---\ntitle: x\n\n# Heading\n" + words(rng).encode()),
    "front matter that is prose": (".md", front("just some words")),
    "front matter, alias bomb": (".md", front(ALIASES)),
    "front matter, deep": (".md", front("a: " + "[" * 5_000 + "]" * 5_000)),
    "front matter, huge": (".md", front("k: v\n" * 20_000)),
    "front matter, tags that make objects": (".md", front("a: !!python/object/apply:os.system ['true']")),
    "front matter, a path for a title": (".md", front("title: ../../etc/passwd")),
    "front matter, escapes for a title": (".md", front('title: "\\e[31m\\0 \\u202e [/] [red]"')),
    "front matter, title is a list": (".md", front("title: [a, {b: c}]")),
    "front matter twice": (".md", front("title: a\n---\n\n---\ntitle: b")),
    "a lone rule": (".md", lambda rng: b"---\n" + words(rng).encode()),
    # markdown
    "fence never closed": (".md", inside("```python\n")),
    "fences in fences": (".md", inside("`````\n```\n~~~\n", "~~~\n```\n`````\n")),
    "tildes closed by backticks": (".md", inside("~~~~\n", "```\n")),
    "long table": (".md", text(_table(120))),
    "wide table": (".md", text(_table(3, 200))),
    "table without its rule": (".md", text(lambda rng: "| a | b |\n" + "| 1 |\n" * 60 + words(rng))),
    "data URI": (".md", lambda rng: b"![x](data:image/png;base64," + rng.randbytes(60_000).hex().encode() + b") end"),
    "data URI never closed": (".md", lambda rng: b"![x](data:image/png;base64," + rng.randbytes(20_000).hex().encode()),
    "html": (".md", inside("<script>alert(1)</script><details><summary>x</summary>", "</b></i></div>\n")),
    "html comment never closed": (".md", inside("<!-- ")),
    "deep quotes": (".md", inside(">" * 2_000 + " ")),
    "deep lists": (".md", text(lambda rng: "".join("  " * d + f"- {words(rng, 2)}\n" for d in range(150)))),
    "brackets": (".md", inside("[" * 3_000 + "](" * 300)),
    "emphasis": (".md", inside("*a_b" * 2_000)),
    "headings only": (".md", text(lambda rng: "".join(f"{'#' * (1 + n % 7)} {words(rng, 3)}\n" for n in range(80)))),
    "links out": (".md", inside("[x](../../../etc/passwd) [y](file:///etc/shadow) ![z](//host/share) <javascript:1>")),
    "rich markup": (".md", inside("[/] [b + [type=x, v={'a[0]'}] [red]x[/red] [link=file:///]y[/link]")),
    # characters
    "escape sequences": (".md", inside("\x1b[31mred\x1b[2J\x1b[1;1H\x1b]0;title\x07 \x9b31m")),
    "clipboard and link sequences": (".md", inside("\x1b]52;c;ZXZpbA==\x07 \x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\")),
    "a few NULs": (".md", inside("before\x00after \x00")),
    "bidi overrides": (".md", inside("\u202egnp.exe\u202c \u2066x\u2069 \u200f")),
    "invisible characters": (".md", inside("zero\u200bwidth\u2060\ufeff\u00ad\U000e0041\U000e007f")),
    "combining flood": (".md", text(lambda rng: "".join(w + "\u0301" * 300 for w in words(rng, 30).split()))),
    "private and unassigned": (".md", inside("\ue000\uf8ff\U000f0000\ufdd0\U0001ffff")),
    "emoji only": (".md", lambda _: "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽".encode() * 200),
    "punctuation only": (".txt", lambda _: "？！。。。——……「」".encode() * 30),
    "stop words only": (".txt", lambda _: "the of and 的了吗 ".encode() * 30),
    # binary
    "four bytes": (".md", lambda _: b"\x00\x01\xff\xfe"),
    "zeros": (".txt", lambda rng: bytes(rng.randrange(1, 5_000))),
    "noise": (".md", lambda rng: rng.randbytes(rng.randrange(40, 20_000))),
    "noise after a mark": (".txt", lambda rng: b"\xff\xfe" + rng.randbytes(2_000)),
    "a picture": (".md", lambda rng: b"\x89PNG\r\n\x1a\n" + rng.randbytes(2_000)),
    "an archive": (".md", _zip),
    "gzip": (".txt", lambda rng: gzip.compress(words(rng).encode())),
    "a program": (".txt", lambda rng: b"\x7fELF" + rng.randbytes(500)),
    "a document for a note": (".md", lambda _: text_pdf([["Words"]])),
    # PDFs
    "pdf": (".pdf", lambda rng: text_pdf([["Kettle and steam", f"page one {rng.random()}"], ["page two"]])),
    "pdf, cut": (".pdf", lambda rng: text_pdf([["Some words"]])[: rng.randrange(20, 500)]),
    "pdf, holds itself": (".pdf", lambda _: pdf_bytes(CATALOG | {2: b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"})),
    "pdf, pages without end": (
        ".pdf",
        lambda _: pdf_bytes(CATALOG | {2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 >>"}),
    ),
    "pdf, header alone": (".pdf", lambda _: b"%PDF-1.7\n"),
    "pdf, noise": (".pdf", lambda rng: b"%PDF-1.4\n" + rng.randbytes(3_000)),
    "pdf, no text": (".pdf", lambda _: pages_pdf([b"0 0 m 10 10 l S"])),
    "pdf, no pages": (".pdf", lambda _: pdf_bytes(CATALOG | {2: b"<< /Type /Pages /Kids [] /Count 0 >>"})),
    "pdf, locked": (".pdf", _encrypted("secret")),
    "pdf, locked with nothing": (".pdf", _encrypted("")),
    "pdf, table of offsets loops": (
        ".pdf",
        lambda _: text_pdf([["Words"]]).replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9"),
    ),
    "pdf, unpacks to much": (".pdf", lambda _: _flate(b"BT /F1 12 Tf (x) Tj ET\n" * 300_000)),
    "pdf, slow": (".pdf", lambda _: pages_pdf([b"BT /F1 12 Tf " + b"(hello) Tj " * 300_000 + b" ET"])),
    "pdf, deep": (".pdf", lambda _: pdf_bytes(CATALOG | {2: b"[" * 5_000 + b"]" * 5_000})),
    "pdf, surrogates and NULs": (
        ".pdf",
        lambda _: pages_pdf(
            [lines_at([(72, 700, b"a\x01b\x02c")])], to_unicode=unicode_map(PLAIN | {1: [0xD800], 2: [0]})
        ),
    ),
    "pdf, plain text": (".pdf", text(words)),
    "pdf, nothing": (".pdf", lambda _: b""),
    # what is no note at all
    "a spreadsheet": (".xlsx", _zip),
    "no suffix": ("", text(words)),
}


def _named(name: str) -> Make:
    """A sound note under a name; the number keeps names apart."""
    return lambda rng, folder, number: _write(folder / name.replace("#", number), rng)


def _write(path: Path, rng: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words(rng), encoding="utf-8")


def _bytes_name(rng: random.Random, folder: Path, number: str) -> None:
    with open(os.fsencode(folder) + b"/\xd6\xd0\xff" + number.encode() + b".md", "wb") as file:  # noqa: PTH123
        file.write(words(rng).encode())


def _link(target: str) -> Make:
    return lambda rng, folder, number: (folder / f"to {Path(target).name} {number}.md").symlink_to(target)


def _loops(rng: random.Random, folder: Path, number: str) -> None:
    ring = folder / f"ring {number}"
    ring.mkdir()
    _write(ring / "in.md", rng)
    (ring / "up").symlink_to("..")
    (ring / "self").symlink_to("self")
    (ring / "a").symlink_to("b")
    (ring / "b").symlink_to("a")


def _linked_twice(rng: random.Random, folder: Path, number: str) -> None:
    _write(folder / f"real {number}.md", rng)
    (folder / f"also {number}.md").symlink_to(f"real {number}.md")
    os.link(folder / f"real {number}.md", folder / f"hard {number}.md")


def _ignored(rng: random.Random, folder: Path, number: str) -> None:
    place = folder / f"ignored {number}"
    for name in ("a.md", "b.md", "\x1b[31m.md"):
        _write(place / name, rng)
    (place / ".glassboxignore").write_bytes(b"!\n\x1b[31m*\n" + b"*a" * 90 + b"\n[\n\xff\xfe\nb.md\n")


def _sparse(rng: random.Random, folder: Path, number: str) -> None:
    with (folder / f"sparse {number}.md").open("wb") as file:
        file.truncate(30_000_000_000)


# Name -> what makes it: names, links, places, sizes.
PLACES: dict[str, Make] = {
    "name with a line break": _named("two\nlines #.md"),
    "name with emoji": _named("👩‍👩‍👧‍👦 🇩🇪 #.md"),
    "name from right to left": _named("שלום \u202egnp # .md"),
    "name with escapes": _named("\x1b]0;x\x07\x1b[31m #.md"),
    "name with markup": _named("[red]# [/] [b +.md"),
    "name with quotes": _named("-rf '\"`$(x)` \\ # *?.md"),
    "name in two forms": _named("e\u0301é #.md"),
    "name as long as they get": _named("n" * 240 + " #.md"),
    "name in capitals": _named("SHOUT #.MARKDOWN"),
    "name of white space": _named(" \u3000 # .txt"),
    "name that is no utf-8": _bytes_name,
    "name with an invalid escape": _named(r"\xff #.md"),
    "deep folder": _named("d/" * 60 + "#.md"),
    "folder called a note": _named("folder #.md/in.md"),
    "hidden": _named(".hidden/#.md"),
    "tool folder": _named("node_modules/#.md"),
    "sync conflict": _named("plan #.sync-conflict-20240301-101500-ABCDEFG.md"),
    "link to nowhere": _link("nowhere.md"),
    "link out": _link("/etc/hostname"),
    "link to a device": _link("/dev/zero"),
    "link loops": _loops,
    "linked twice": _linked_twice,
    "pipe": lambda rng, folder, number: os.mkfifo(folder / f"pipe {number}.md"),
    "ignore file that is no good": _ignored,
    "too large": _sparse,
}

KINDS = (*CONTENT, *PLACES)


def make(folder: Path, kind: str, rng: random.Random, number: int) -> None:
    """Put one of the kind into `folder`; `number` keeps files of the same kind apart."""
    if kind in PLACES:
        PLACES[kind](rng, folder, str(number))
        return
    suffix, content = CONTENT[kind]
    (folder / f"{kind.replace('/', ' ')} {number}{suffix}").write_bytes(content(rng))
