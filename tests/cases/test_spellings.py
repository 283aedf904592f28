"""A value or a word typed otherwise than the note has it finds that note by keywords, among notes that resemble it."""

from __future__ import annotations

import pytest

from glassbox_tui import Engine
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.retrieval.trace import Trace
from glassbox_tui.views.matching import matched_spans, surface_forms

MONTHS = ("一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月")
SUBJECTS = ["the fence", "the piano", "a printer", "the boiler", "the bicycle shed", "a ladder", "the well"]

# (id, note, what is typed); each note stands among fifty others and those of its kind
CASES = [
    *[("A3", "# 2024-01-16\n\nToday: the fence.", typed) for typed in (
        "2024年1月16日", "20240116", "16.1.2024", "January 16th, 2024", "what did I do on 16 January 2024", "1/16/2024",
        "二〇二四年一月十六日", "２０２４－０１－１６", "January 16",
    )],
    *[("A4", "# Invoice\n\nFor the printer. Total: 1.000,20 EUR.", typed) for typed in (
        "1000.20", "1,000.20", "invoice over 1 000,20", "€1000,20", "1\u202f000,20", "发票金额1000.20元", "1000.2",
    )],
    *[("A5", "# Ingrid\n\nPhone: +49 7123 456 789, mornings.", typed) for typed in (
        "+497123456789", "07123456789", "07123 456789", "0049 7123 456789", "(07123) 456-789", "call 7123456789",
    )],
    *[("A8", "# Łukasz\n\nCrêpes in Tromsø, đặt lịch.", typed) for typed in ("lukasz", "crepes", "tromso", "dat lich")],
    *[("A9", "# Wege\n\nDie Straße ist weiß. Новогодняя ёлка.", typed) for typed in ("strasse", "weiss", "елка")],
    *[("A17", "# 合同\n\n超过十万元的合同，需要经过两级审\n批之后才能生效。", typed) for typed in ("审批", "两级审批")],
    *[("A18", "# 記憶體\n\n顯示卡的驅動程式與記憶體管理。", typed) for typed in ("显示卡", "驱动程式", "记忆体")],
    *[("A18", "# 内存\n\n显示卡的驱动程序与硬盘。", typed) for typed in ("驅動程序", "硬盤")],
    *[("A22", "# Party\n\nBring a cake 🎂 and 👍🏽.", typed) for typed in ("🎂", "👍")],
    *[("A23", "# อาหาร\n\nฉันชอบอาหารไทยมากที่สุด", typed) for typed in ("อาหารไทย",)],
    *[("A23", "# درس\n\nذَهَبَ الوَلَدُ إلى المَدْرَسَةِ", typed) for typed in ("المدرسة", "ذهب")],
    *[("A23", "# שיר\n\nשָׁלוֹם לְכֻלָּם", typed) for typed in ("שלום",)],
]  # fmt: skip


def others() -> dict[str, str]:
    """Notes of the same kinds with other values, and notes on nothing of the sort."""
    notes = {
        f"daily/{i}.md": f"# 2024-{1 + i % 12:02}-{1 + i * 5 % 28:02}\n\nToday: {SUBJECTS[i % 7]}." for i in range(60)
    }
    notes |= {
        f"bills/{i}.md": f"# Invoice\n\nFor {SUBJECTS[i % 7]}. Total: {i * 37 + 100}.{10 + i:02} EUR."
        for i in range(40)
    }
    notes |= {f"people/{i}.md": f"# Name {i}\n\nPhone: +49 7{i:03} 45{i} 6{i:02}, mornings." for i in range(40)}
    notes |= {
        f"zh/{i}.md": f"# 笔记{i}\n\n{MONTHS[i % 12]}：打印机清理了一遍，车棚装了新架子，需要登记。" for i in range(20)
    }
    return notes


def found(note: str, typed: str) -> tuple[Trace, str]:
    engine = Engine(HashingEmbedder()).build({**others(), "wanted.md": note})
    trace = engine.search(typed, mode="bm25", max_rewrites=0)
    return trace, trace.hits[0].path if trace.hits else ""


@pytest.mark.parametrize(("case", "note", "typed"), CASES)
def test_it_is_first(case: str, note: str, typed: str) -> None:
    assert found(note, typed)[1] == "wanted.md", case


def test_what_met_is_said_and_marked_where_it_stands() -> None:
    trace, _ = found("# Log\n\nWritten on 16.1.2024, by hand.", "January 16, 2024")
    hit, now = trace.hits[0], trace.rounds[0]
    assert hit.text[slice(*matched_spans(hit, now)[-1])] == "16.1.2024"
    assert surface_forms(now, trace.query)["date=2024-01-16"] == "date 2024-01-16"
    assert surface_forms(now, trace.query, say=lambda text, form: form)["day=01-16"] == "01-16"
    assert hit.stages["bm25"] is not None
