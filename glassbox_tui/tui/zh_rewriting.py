"""Rewriting by a language model, in Chinese."""

from __future__ import annotations

from typing import Final

REWRITING: Final[dict[str, str]] = {
    "feedback: words and direction of the first hits": "feedback：取前几条结果的词和方向",
    "rewrite: the model words the query anew": "rewrite：模型换个说法",
    "decompose: the model splits it into simpler questions": "decompose：模型拆成更简单的问题",
    "hyde: the model makes up a passage that would answer": "hyde：模型虚拟一段能回答的文字",
    "expand: the model adds words that an answer would hold": "expand：模型补充答案里会有的词",
    "how queries are rewritten": "查询怎样改写",
    "rewriter: how the loop's next query is made, by feedback or by the model": (
        "改写方式：下一轮查询由反馈还是由模型产生"
    ),
    "queries are rewritten by {} from now on: {} runs the rounds": "从现在起用 {} 改写查询：按 {} 运行各轮",
    "rewrites by the model: {}": "由模型改写：{}",
    "{} by {}, {} ms: ": "{}，{}，{} ms：",
    "used": "已采用",
    "prompt: {}": "提示：{}",
    "reply: {}": "回复：{}",
    "model": "模型",
    "rejected: it {}": "已拒绝：{}",
    "failed: {}": "出错：{}",
    "skipped by you": "被你跳过",
    "is empty": "回复为空",
    "holds no query": "没有查询",
    "holds no passage": "没有段落",
    "repeats the question": "重复了原问题",
    "repeats a query that ran": "重复了已跑过的查询",
    "repeats a query that was refused": "重复了被拒绝的查询",
    "drops {}": "丢了 {}",
    "is no decomposition: it holds one question": "没有拆分：只有一个问题",
    "adds no word that was not asked for": "没有新词",
    "is of no use: hyde works on vectors, and dense search is off": "无用：hyde 靠向量，而 dense 检索已关闭",
    "the model's {} was rejected, for it {}: feedback serves": "模型的 {} 被拒绝（{}）：改用反馈",
    "the model {} failed ({}): feedback serves": "模型 {} 出错（{}）：改用反馈",
    "GLASSBOX_REWRITER={}, but {}: feedback serves": "GLASSBOX_REWRITER={}，但{}：改用反馈",
    "no language model is here": "这里没有语言模型",
    "{} does not write {}: feedback serves": "{} 不会写{}：改用反馈",
    "Chinese": "中文",
    "the question's language": "问题的语言",
    "the judge {} failed ({}): the built-in verdict stands": "评判者 {} 出错（{}）：以内置的判定为准",
    "{} says sufficient": "{} 认为充分",
    "{} says insufficient": "{} 认为不足",
    "the language model is not asked while you type: a full run has it rerank and judge": (
        "输入时不问语言模型：完整运行时才由它重排和评判"
    ),
}
