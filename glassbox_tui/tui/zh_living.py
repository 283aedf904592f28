"""The words of notes that change while they are searched."""

from __future__ import annotations

from typing import Final

LIVING: Final[dict[str, str]] = {
    "pause": "暂停",
    "pause the embedding, or go on with it": "暂停计算向量，或继续",
    "nothing waits to be embedded": "没有要计算的向量",
    "after the edit: {}": "改动之后：{}",
    "{} more": "另有 {} 个",
    "embedding is paused, {} chunks wait: {} goes on": "向量计算已暂停，还有 {} 个片段：按 {} 继续",
    "changes of the folder: {}": "目录改动：{}",
    "watching": "监视中",
    "polling": "轮询",
    "not watched": "未监视",
    "network mount": "网络挂载",
    "watch limit reached": "监视数已到上限",
    "the notes cannot be reached": "笔记无法访问",
    "{} chunks to embed: {}, {} of disk": "{} 个片段要计算向量：{}，占磁盘 {}",
    "notes below {} cannot be reached ({}): {} are kept as last read":
        "{} 下的笔记无法访问（{}）：保留上次读到的 {} 篇",
    "the notes cannot be reached ({}): {} are kept as last read": "笔记无法访问（{}）：保留上次读到的 {} 篇",
    "{}; the {} notes of the index are kept as last read": "{}；索引里的 {} 篇笔记保持上次读到的样子",
    "{} cannot be read: {}: kept as last read, and tried again": "{} 无法读取：{}：保留上次读到的内容，以后再试",
    "{} and {} more cannot be read: {}: kept as last read, and tried again":
        "{} 等（另有 {} 篇）无法读取：{}：保留上次读到的内容，以后再试",
    "cannot be read: {}; it is kept as last read": "无法读取：{}；保留上次读到的内容",
    "cannot be read: {}": "无法读取：{}",
    "nothing is mounted there any more": "那里已经没有挂载任何东西",
    "{}; {} begins it": "{}；按 {} 开始",
    "this index was embedded by {}: embedding its {} chunks by {} takes about {} min":
        "此索引由 {} 嵌入：把其中 {} 个片段改用 {} 嵌入约需 {} 分钟",
    "the vectors of {} in this index are another model's of that name ({}): they are not used, and made anew":
        "此索引中 {} 的向量出自另一个同名模型（{}）：不再使用，并会重新生成",
    "they have {} dimensions, not {}": "它们是 {} 维，而不是 {} 维",
    "the cosine of one text with itself is {}": "同一段文字与自身的余弦是 {}",
    "{} of the index's vectors or token codes are not what was written: they count as none and are made anew":
        "索引中有 {} 个向量或词元编码与写入时不同：当作没有，并会重新生成",
    "another file system is mounted over it": "上面挂载了另一个文件系统",
    "the terminal sent bytes that are no UTF-8: they were left out; is it set to UTF-8?":
        "终端送来了不是 UTF-8 的字节，已略去；终端是否设为 UTF-8？",
    "dense search is off (GLASSBOX_DISABLE_DENSE)": "向量检索已关闭（GLASSBOX_DISABLE_DENSE）",
    "rerank is off: no token codes are kept (GLASSBOX_TOKEN_CODES=0)":
        "重排已关闭：不保存词元编码（GLASSBOX_TOKEN_CODES=0）",
    "rerank is off: without an embedder there is no late interaction": "重排已关闭：没有向量模型就没有后期交互",
}  # fmt: skip
