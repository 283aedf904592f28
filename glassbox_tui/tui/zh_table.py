"""The table and the rank flow in Chinese."""

from __future__ import annotations

from typing import Final

TABLE: Final[dict[str, str]] = {
    "heading": "标题",
    "sort": "排序",
    "sort the table by the stage before": "表格改按前一阶段排序",
    "sort the table by the next stage (* marks it)": "表格改按后一阶段排序（* 标出）",
    "the table is sorted by {}": "表格按 {} 排序",
    "rank flow: all lines, or the selected chunk's alone": "名次流：全部连线，或只画选中的片段",
    "rank flow: the selected chunk alone": "名次流：只画选中的片段",
    "rank flow: all lines": "名次流：全部连线",
    "met {}": "遇到 {}",
    "not seen by this stage": "这个阶段没有看到它",
    "this stage did not run": "这个阶段没有运行",
    "nothing was found": "什么都没找到",
    # what a term was read as
    "date {}": "日期 {}",
    "day {}": "日子 {}",
    "month {}": "月份 {}",
    "number {}": "数 {}",
    "digits {}": "号码 {}",
    "ISBN {}": "ISBN {}",
    "IBAN {}": "IBAN {}",
    "hash {}…": "哈希 {}…",
}
