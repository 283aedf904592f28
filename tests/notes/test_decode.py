"""Encodings are decided explicitly (E1): named, right for two characters and for a page, and never by the locale."""

from __future__ import annotations

import codecs
import os
import pickle
import random
import struct
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.notes.decode import decode, repair

SHORT = {
    "gb18030": (
        "你好 中文 笔记 会议纪要 测试 混合检索 买牛奶 浙江大学 龙井茶 蘑菇炒蛋 王小明 饺子馅 欧阳修醉翁亭记 葡萄 "
        "咖啡 蝴蝶 啤酒 魑魅魍魉 待办：交房租 “引用” 韩国 汉江 ABC公司 重启nginx后502 €100 项目A的计划：先做B。"
    ),
    "big5": (
        "你好 中文 筆記 會議紀錄 測試 混合檢索 今天天氣不錯 買牛奶 台灣 星期一要開會 蘋果 臺北市 請記得繳房租 香港"
    ),
    "shift_jis": (
        "こんにちは 東京 日本語 メモ 会議の議事録 テスト ｵｰﾀﾞｰ オーダー 検索 牛乳を買う 京都大学 ラーメン 価格表"
    ),
    "euc_jp": "こんにちは、世界 今日は天気がいいです 検索エンジンのメモ",
    "euc_kr": "안녕하세요 검색엔진메모입니다 회의록",
    "cp1252": "café naïve für Müller Straße “quoted” don’t €100 £5 Übergröße vu:déjà façade Ångström 10°C Où?",
}

SENTENCES = {
    "gb18030": (
        "混合检索把关键词和向量两路结果按名次相加，不比较分数。",
        "周末去菜市场买了两斤排骨，晚上炖汤。",
        "服务器凌晨三点重启，原因还没有查清楚；日志保存在硬盘里。",
        "她说：“这本书的第二章写得最好。”",
        "线程数设为 4，CPU 占用 85%，延迟 12 ms。",
        "窗外的雨下了整夜，屋檐滴滴答答。",
    ),
    "big5": (
        "混合檢索把關鍵詞和向量兩路結果按名次相加，不比較分數。",
        "週末去菜市場買了兩斤排骨，晚上燉湯。",
        "伺服器凌晨三點重新啟動，原因還沒有查清楚；紀錄保存在硬碟裡。",
        "她說：「這本書的第二章寫得最好。」",
        "執行緒數設為 4，CPU 佔用 85%，延遲 12 ms。",
    ),
    "shift_jis": (
        "検索の結果は順位で足し合わせ、点数は比べません。",
        "週末に市場で肉を買って、夜はスープを作りました。",
        "サーバーは午前三時に再起動したが、原因はまだ分からない。",
        "スレッド数は 4、CPU 使用率は 85% です。",
    ),
    "cp1252": (
        "Le résumé du chapitre précédent est à relire ; c’est là que tout commence.",
        "Die Größe der Blöcke hängt von den Sätzen ab – nicht umgekehrt.",
        "El año pasado probó tres métodos más; ninguno funcionó.",
        "“Retrieval” isn’t the same as “recall”, is it?",
    ),
}
ANY_SENTENCES = [sentence for sentences in SENTENCES.values() for sentence in sentences]


@pytest.mark.parametrize(
    ("encoding", "text"), [(name, word) for name, words in SHORT.items() for word in words.split()]
)
def test_a_few_characters_are_enough(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding) == (text, encoding)


@given(st.data(), st.sampled_from(sorted(SENTENCES)))
def test_pages_come_back_as_they_were_written(data: st.DataObject, encoding: str) -> None:
    lines = data.draw(st.lists(st.sampled_from(SENTENCES[encoding]), min_size=1, max_size=30))
    text = "\n".join(lines)
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.warnings) == (text, encoding, ())


@given(st.lists(st.sampled_from(ANY_SENTENCES), max_size=10), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_a_byte_order_mark_decides(lines: list[str], family: str) -> None:
    text = "\n".join(lines)
    marks = {
        "utf-8": [("utf-8", codecs.BOM_UTF8)],
        "utf-16": [("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)],
        "utf-32": [("utf-32-le", codecs.BOM_UTF32_LE), ("utf-32-be", codecs.BOM_UTF32_BE)],
    }
    for encoding, mark in marks[family]:
        decoded = decode(mark + text.encode(encoding))
        assert (decoded.text, decoded.encoding, decoded.warnings) == (text, encoding, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    ["hello", "Notes\nline two", "混合检索 RRF", "笔记：检索用倒数排名。\n第二行", "Привет, мир", "こんにちは", "é"],
)
def test_utf_16_without_a_mark(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding) == (text, encoding)


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00\r\ufeff")))
def test_utf_8_is_always_utf_8(text: str) -> None:
    decoded = decode(text.encode())
    if not decoded.binary:  # nothing but control characters
        assert (decoded.text, decoded.encoding) == (text, "utf-8")


@pytest.mark.parametrize("name", ["cp1251", "koi8_r"])
def test_other_alphabets_are_read_and_marked_as_a_guess(name: str) -> None:
    text = "Привет, это заметка о поиске. Завтра надо купить молоко и хлеб."
    decoded = decode(text.encode(name))
    assert decoded.text == text
    assert any("guess" in warning for warning in decoded.warnings)


def test_an_ambiguous_reading_is_marked_as_a_guess() -> None:
    """Two bytes pairs that are common words in both: nobody can know."""
    raw = "測試".encode("big5")
    assert raw.decode("gb18030") == "代刚"
    assert any("guess" in warning for warning in decode(raw).warnings)


@pytest.mark.parametrize(
    "text",
    [
        *("\n".join(sentences) for sentences in SENTENCES.values()),
        "Это заметка о поиске. Завтра надо купить молоко и хлеб.",
        "Αυτή είναι μια σημείωση για την αναζήτηση.",
        "هذه ملاحظة عن البحث",
        "메모를 검색합니다",
        "plain words and a party 🎉🧪🚀 at the end",
    ],
)
@pytest.mark.parametrize("bad", [b"\xff", b"\xe9 ", b"\xe4\xb8"])
def test_utf_8_with_one_bad_byte_stays_utf_8(text: str, bad: bytes) -> None:
    decoded = decode(text.encode() + b"\n" + bad + b"\n")
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(text)
    assert decoded.warnings == ("1 byte sequence not valid utf-8 and replaced",)


def test_gbk_with_one_bad_byte_stays_gb18030() -> None:
    raw = "\n".join(SENTENCES["gb18030"]).encode("gb18030") + b"\n\xff\n" + "完".encode("gb18030")
    decoded = decode(raw)
    assert decoded.encoding == "gb18030"
    assert "周末去菜市场" in decoded.text
    assert decoded.text.endswith("完")


def test_the_first_foreign_character_may_come_late() -> None:
    text = "plain ascii line\n" * 20_000 + "最后一行是中文笔记。\n"
    assert decode(text.encode("gb18030")).text == text


@pytest.mark.parametrize("raw", [b"a\r\nb\rc\nd", "a\r\nb\rc\nd".encode("utf-16"), "a\r\nb\rc\nd".encode("utf-16-le")])
def test_newlines_become_lf(raw: bytes) -> None:
    assert decode(raw).text == "a\nb\nc\nd"


def test_nuls_and_surrogates_are_replaced_and_said() -> None:
    decoded = decode(b"before\x00after")
    assert decoded.text == "before\ufffdafter"
    assert decoded.warnings == ("1 NUL character replaced",)
    decoded = decode("笔记\ud800末".encode("utf-8", "surrogatepass"))
    assert decoded.text == "笔记\ufffd末"
    assert decoded.warnings == ("1 unpaired surrogate replaced",)


@given(st.text(st.characters()))
def test_repaired_text_can_be_stored_anywhere(text: str) -> None:
    repaired, warnings = repair(text)
    assert repaired.encode() is not None
    assert "\x00" not in repaired
    storable = "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
    assert storable <= (repaired == text and not warnings)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert repair("a\ud83d\ude00b") == ("a😀b", ())


@pytest.mark.parametrize("size", [40, 500, 5_000, 200_000])
def test_random_bytes_are_binary(size: int) -> None:
    source = random.Random(size)
    assert decode(source.randbytes(size)).binary


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG"),
        (b"PK\x03\x04" + bytes(range(256)), "ZIP"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\nstream \x00\x01", "PDF"),
        (b"\x7fELF" + bytes(64), "program"),
        (bytes(100), "control"),
        (b"ok so far\n" + bytes(range(32)) * 10, "control"),
    ],
)
def test_binary_is_told_by_content(raw: bytes, what: str) -> None:
    decoded = decode(raw)
    assert what in decoded.binary
    assert decoded.text == ""


SHORT_BINARIES = {
    "four bytes": b"\x00\x01\xff\xfe",
    "one NUL": b"\x00",
    "NULs": bytes(6),
    "controls that are UTF-8": b"\x01\x02",
    "controls after a mark": b"\xef\xbb\xbf\x01\x02\x03",
    "a pickle": pickle.dumps(list(range(20))),
    "a struct": struct.pack("<IIf", 1, 2, 3.5),
    "counters": struct.pack("<16i", *range(16)),
    "deflated": zlib.compress(b"hello hello hello"),
    "a protocol buffer": b"\x08\x96\x01\x12\x07testing",
    "an icon": b"\x00\x00\x01\x00\x01\x00",
    "a class file": b"\xca\xfe\xba\xbe\x00\x00\x00\x34",
    "a film": b"\x00\x00\x00\x20ftypisom",
    "a sound": b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00",
    "bzip2": b"BZh91AY&SY\xab",
    "noise after a UTF-16 mark": b"\xff\xfe" + random.Random(1).randbytes(60),
}


@pytest.mark.parametrize("kind", SHORT_BINARIES)
def test_a_few_bytes_that_are_no_text_are_binary(kind: str) -> None:
    decoded = decode(SHORT_BINARIES[kind])
    assert decoded.binary and not decoded.text


@pytest.mark.parametrize("text", ["这是一个测试笔记，包含一个空字节。\x00", "会议纪要：周三讨论混合检索的权重。\x08"])
def test_one_stray_control_in_a_sentence_of_another_encoding_is_text(text: str) -> None:
    assert decode(text.encode("gb18030")).text[:10] == text[:10]


@given(st.binary(max_size=400))
def test_no_bytes_break_it(raw: bytes) -> None:
    decoded = decode(raw)
    decoded.text.encode()
    assert "\r" not in decoded.text
    assert "\x00" not in decoded.text
    assert not (decoded.binary and decoded.text)


def test_a_terminal_log_is_text() -> None:
    assert decode("\x1b[31merror\x1b[0m 错误\n".encode() * 20).binary == ""


def test_the_locale_has_no_say() -> None:
    """E1: the same bytes read the same under LANG=C, Python's UTF-8 mode switched off."""
    code = (
        "import sys; from glassbox_tui.notes.decode import decode;"
        "d = decode(sys.stdin.buffer.read()); print(ascii((d.text, d.encoding)))"
    )
    raw = "会议纪要".encode("gb18030")
    for extra in ({"LANG": "C", "LC_ALL": "C"}, {"LANG": "zh_CN.GBK", "LC_ALL": "zh_CN.GBK"}):
        environ = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} | extra
        done = subprocess.run([sys.executable, "-c", code], input=raw, capture_output=True, env=environ, check=True)
        assert done.stdout.decode("ascii").strip() == ascii(("会议纪要", "gb18030"))
