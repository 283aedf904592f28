"""What the language model says when it cannot write, in Chinese."""

from __future__ import annotations

from typing import Final

LLAMA: Final[dict[str, str]] = {
    "the prompt has {} tokens and {} has room for {} with its answer: ask with fewer passages (GLASSBOX_TOPK), "
    "or set GLASSBOX_LLM_CONTEXT higher":
        "提示有 {} 个词元，而 {} 连同回答只容得下 {} 个：减少段落（GLASSBOX_TOPK），或调高 GLASSBOX_LLM_CONTEXT",
    "{} cannot be loaded ({}): it may be damaged or too new, or memory is short":
        "{} 无法加载（{}）：可能已损坏、太新，或内存不足",
    "there is no memory for {} tokens with {} ({}): set GLASSBOX_LLM_CONTEXT lower, or take a smaller model":
        "内存容不下 {} 个词元（{}，{}）：调低 GLASSBOX_LLM_CONTEXT，或换小一些的模型",
    "{} tokens of context take {} MB with {} and {} MB are free: set GLASSBOX_LLM_CONTEXT lower":
        "{} 个词元的上下文要 {} MB（{}），而空闲内存是 {} MB：调低 GLASSBOX_LLM_CONTEXT",
    "GLASSBOX_LLM_CONTEXT is {}, but {} was trained on {} tokens: set it to that or less":
        "GLASSBOX_LLM_CONTEXT 是 {}，但 {} 训练时只用 {} 个词元：不要超过它",
    "{}: its file has no chat template, so it is asked in plain text; an instruct or chat model does better.":
        "{}：文件里没有对话模板，只能用纯文本提问；instruct 或 chat 模型更好。",
    "{}: its chat template does not leave texts as they are ({}): control tokens in them are spelled.":
        "{}：它的对话模板会改动文字（{}）：文字里的控制词元按字母拼写。",
    "it changes, drops or repeats the texts": "它会改写、丢掉或重复文字",
    "there is no model file {}": "没有模型文件 {}",
    "{} is cut short: {} bytes where its header needs {}; fetch it again":
        "{} 不完整：有 {} 字节，应有 {} 字节；请重新获取",
    "{} is a model that does not write text: an instruct or chat model does":
        "{} 不是书写文字的模型：请用 instruct 或 chat 模型",
    "{} is not here: `glassbox-tui models pull {}` fetches it": "{} 不在本机：用 `glassbox-tui models pull {}` 获取",
    "the server {} cannot be reached ({}): start it, or unset GLASSBOX_LLM_SERVER":
        "连不上服务 {}（{}）：启动它，或取消 GLASSBOX_LLM_SERVER",
    "the server {} ended in the middle of its answer: ask again": "服务 {} 的回答中途断了：请再问一次",
    "the server {} was silent for {} seconds: ask again, or take a smaller model":
        "服务 {} 已 {} 秒没有回应：请再问一次，或换小一些的模型",
    "the server {} broke off ({}): ask again": "与服务 {} 的连接断了（{}）：请再问一次",
    "the server {} answered with status {} ({})": "服务 {} 返回状态 {}（{}）",
    "GLASSBOX_LLM_SERVER {} is {}, which is not this machine: nothing was sent there; GLASSBOX_LLM_REMOTE=1 allows it":
        "GLASSBOX_LLM_SERVER {} 是 {}，不在本机：没有向它发送任何东西；GLASSBOX_LLM_REMOTE=1 允许",
}  # fmt: skip
