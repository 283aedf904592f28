"""The verdict in Chinese: levels, signals, and what speaks against the evidence."""

from __future__ import annotations

from typing import Final

VERDICT: Final[dict[str, str]] = {
    "answered here": "这里有答案",
    "related": "只是相关",
    "nothing": "没有",
    "not known yet": "尚不可知",
    # -- signals -------------------------------------------------------------------------------------------------------
    "to begin with": "起点",
    "words": "词",
    "translated words": "译出的词",
    "rare words": "罕见词",
    "numbers": "数字",
    "exactly that": "正是此物",
    "names": "名称",
    "near words": "近义词",
    "ahead in words": "词领先",
    "meaning": "含义",
    "ahead in meaning": "含义领先",
    "stands out": "突出",
    "stages agree": "各阶段一致",
    "language allowance": "语言补偿",
    "Chinese question": "中文提问",
    # -- against -------------------------------------------------------------------------------------------------------
    "too few of the question's words stand together in one note": "问题里的词很少同在一篇笔记中",
    "a rare word of the question is missing": "缺少问题里的某个罕见词",
    "a number or id of the question is missing": "缺少问题里的某个数字或编号",
    "a name of the question is missing": "缺少问题里的某个名称",
    "some words have nothing near them in the best chunk": "有些词在最佳片段里没有相近的内容",
    "other notes hold as many of the words": "别的笔记也有同样多的词",
    "other notes are as close in meaning": "别的笔记在含义上同样接近",
    "the best chunk hardly stands out from the others": "最佳片段并不突出",
    "the stages disagree on which chunk is best": "各阶段对最佳片段的看法不一",
    "the best chunk is in another language": "最佳片段是另一种语言的",
    "the signals together are not sure enough": "各信号合起来仍不够肯定",
    "not all notes can be compared by meaning yet": "还不是所有笔记都能按含义比较",
    "dense {} is closeness to the question asked, as the verdict takes it; to this round's query it is up to {}":
        "dense {} 是与所提问题的接近程度，判定以此为准；与本轮查询的最高为 {}",
    # -- notices -------------------------------------------------------------------------------------------------------
    "the verdict rests on words alone: it was not fitted for {}": "判定只凭词：没有为 {} 拟合过",
    "the reranker {} has no say in the verdict: it was not fitted for its scores":
        "重排器 {} 不参与判定：没有为它的分数拟合过",
}  # fmt: skip
