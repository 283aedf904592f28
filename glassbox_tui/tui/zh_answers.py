"""Answers that a model writes, in Chinese."""

from __future__ import annotations

from typing import Final

ANSWERS: Final[dict[str, str]] = {
    "answer (writing)": "回答（写作中）",
    "waiting for the answer before to stop ...": "等上一个回答停下……",
    "stopping ...": "正在停止……",
    "writing the answer ...": "正在写回答……",
    "writing": "写作中",
    "the notes themselves ({} shows their lines):": "笔记原文（按 {} 看出自哪几行）：",
    "checked: {} of {} supported by the notes": "核对：{} / {} 句在笔记里有依据",
    "reading the evidence {} of {} tokens": "正在读证据，{} / {} 词元",
    "the model is called ...": "正在叫模型……",
    "stopped": "已停止",
    "{} passages are not in the prompt; {} shows it": "有 {} 段不在提示里；按 {} 看提示",
    "no model has been asked for this answer": "这个回答没有问过模型",
    "what {} was sent, word for word": "发给 {} 的原文",
    "an example, not of your notes": "示例，不出自你的笔记",
    "not in it: {}": "其中没有：{}",
    "the answer is being written; {} stops it": "正在写回答；按 {} 停止",
    "no answer is being written": "没有正在写的回答",
    "there is no evidence to answer from yet: {} runs the rounds": "还没有可据以回答的证据：按 {} 运行各轮",
    "the model answers from now on; {} has it answer this question": "今后由模型回答；按 {} 让它回答这个问题",
    "answers are extracts from now on; {} lets the model answer again": "今后只给摘录；按 {} 再让模型回答",
    "./run.sh --with-llm brings a small one, `glassbox-tui models pull` a better one":
        "./run.sh --with-llm 带来一个小的，`glassbox-tui models pull` 取更好的",
    "not cited, found afterwards": "未引用，事后找到",
    "the notes have changed since this question was run: {} and {} run it again":
        "运行这个问题之后笔记变了：{} 再 {} 重新运行",
    "prompt": "提示",
    "stop the answer that is being written (esc does, too)": "停止正在写的回答（esc 也行）",
    "ask the model for an answer, or for another": "让模型回答，或再答一次",
    "ask the model": "问模型",
    "answers by the model, or extracts only": "由模型回答，或只给摘录",
    "what the model was sent for this answer, word for word": "为这个回答发给模型的原文",
    "stopped before a word was written: this is an extract": "一个字还没写就停了：这是摘录",
}  # fmt: skip
