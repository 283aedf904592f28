"""The Chinese interface: English text as the code says it -> Chinese, with the same `{}` places in the same number.

The words: note 笔记, chunk 片段, stage 阶段, hit 结果, evidence 证据, round 轮, coverage 覆盖率, dense 语义,
fused 融合, rerank 重排, query 查询, key 键. A place may move with a number: "{1} 个中的 {0} 个".
"""

from __future__ import annotations

from typing import Final

from glassbox_tui.tui.zh_engine import ENGINE
from glassbox_tui.tui.zh_loop import LOOP
from glassbox_tui.tui.zh_table import TABLE

ZH: Final[dict[str, str]] = {
    **ENGINE,
    **LOOP,
    **TABLE,
    # -- commands ------------------------------------------------------------------------------------------------------
    "search": "检索",
    "hits": "结果",
    "loop": "循环",
    "panels": "面板",
    "notes": "笔记",
    "app": "程序",
    "query": "查询",
    "out": "离开",
    "run": "运行",
    "scores": "分数",
    "rounds": "轮次",
    "commands": "命令",
    "help": "帮助",
    "quit": "退出",
    "go into the query box; every keystroke searches": "进入输入框；每按一键都会检索",
    "leave the query box, so that the letter keys act": "离开输入框，之后字母键即为命令",
    "run everything: rewrite rounds, then the answer": "全部运行：各轮改写，然后回答",
    "next hit (the arrows also work inside the query box)": "下一个结果（方向键在输入框内也有效）",
    "hit before": "上一个结果",
    "first hit": "第一个结果",
    "last hit": "最后一个结果",
    "table: ranks, scores, both": "表格：名次、分数、两者",
    "round before: every panel shows it": "上一轮：所有面板都显示它",
    "next round": "下一轮",
    "panel: hits": "面板：结果",
    "panel: flow": "面板：名次流",
    "panel: evidence": "面板：证据",
    "panel: loop": "面板：循环",
    "panel: answer": "面板：回答",
    "scroll the panel down": "面板向下翻",
    "scroll the panel up": "面板向上翻",
    "read the notes folder again": "重新读取笔记文件夹",
    "all commands by name": "按名称列出所有命令",
    "this help": "本帮助",
    "quit (ctrl+c quits from anywhere)": "退出（ctrl+c 随处可退出）",
    "history: questions that were run, with their grades": "历史：运行过的问题及其评定",
    "history, also from inside the query box": "历史，在输入框内也可打开",
    "all notices in full: fallbacks, warnings, what lacks": "全部提示：后备、警告、缺少什么",
    "selftest: check the program's invariants here": "自检：在本机检查程序的不变量",
    "open a saved trace (JSON)": "打开保存的检索记录（JSON）",
    "language: English or Chinese": "语言：英文或中文",
    "theme: the colours of the app": "主题：程序的颜色",
    # -- small screens -------------------------------------------------------------------------------------------------
    "type a question": "输入问题",
    "Letter keys act whenever the query box is not focused.": "光标不在输入框时，字母键即为命令。",
    "esc closes this": "esc 关闭",
    "keys": "按键",
    "type to narrow the list": "输入文字以缩小列表",
    "nothing matches": "没有匹配项",
    # -- history, replay, look -----------------------------------------------------------------------------------------
    "history": "历史",
    "sufficient": "充分",
    "insufficient": "不足",
    "no history is kept: the config file or GLASSBOX_HISTORY says so":
        "不保留历史：配置文件或 GLASSBOX_HISTORY 如此设定",
    "the history is empty: it holds the questions that were run with enter": "历史为空：这里存放按回车运行过的问题",
    "open a saved trace: its file": "打开保存的检索记录：文件名",
    "this is {}, as it was saved; typing searches the notes again": "这是保存时的 {}；输入文字即重新检索笔记",
    "a saved trace is replayed: there are no notes and no engine behind it":
        "正在重放保存的记录：背后没有笔记，也没有引擎",
    "theme": "主题",
    "the terminal's own colours": "终端自己的颜色",
    "sixteen colours, white on black": "十六色，黑底白字",
    "no colour at all": "完全不用颜色",
    "truecolour, dark": "真彩色，深色",
    "truecolour, light": "真彩色，浅色",
    "what the last session left behind is damaged and was ignored": "上次会话留下的记录已损坏，未予采用",
    # -- the notes browser ---------------------------------------------------------------------------------------------
    "this folder holds no note: .md, .txt and .pdf files are notes":
        "这个文件夹里没有笔记：.md、.txt 和 .pdf 文件才是笔记",
    "waits to be read": "等待读取",
    "waits for {} of {} vectors": "还缺 {} 个向量（共 {} 个）",
    "{} chunks": "{} 个文本块",
    "{} notes": "{} 篇笔记",
    "chunks": "文本块",
    "listing the notes ...": "正在列出笔记 ...",
    "every file here can be searched": "这里的每个文件都可检索",
    "no file matches {}": "没有与 {} 匹配的文件",
    "searching only in {}": "只在 {} 中检索",
    "{} waiting": "{} 个等待中",
    "{} not searchable": "{} 个不可检索",
    "no vector yet": "尚无向量",
    # -- selftest ------------------------------------------------------------------------------------------------------
    "selftest": "自检",
    "the selftest has not run yet": "尚未自检",
    "{} hold": "{} 项成立",
    "{} fell": "{} 项不成立",
    "{} not run": "{} 项未运行",
    "it stopped: {}": "已中止：{}",
    "every check was made": "已全部检查",
    "indexing the bundled notes in a folder of their own ...": "正在单独的文件夹里为自带笔记建立索引 ...",
    "checking {}/{}": "正在检查 {}/{}",
    "you may leave, it goes on": "可以离开，检查会继续",
    # -- empty, busy, broken -------------------------------------------------------------------------------------------
    "notices": "提示",
    "there is nothing to be said: all stages ran, all notes are indexed": "一切正常：各阶段都已运行，笔记都已索引",
    "The index is being opened. You may type already.": "正在打开索引。现在就可以输入。",
    "The model is being prepared; the first time this takes a minute.": "正在准备模型；第一次需要一分钟。",
    "nothing can be searched: {}": "无法检索：{}",
    "There is no note with text in {}.": "{} 里没有带文字的笔记。",
    "Put .md, .txt or .pdf files there and press {}; {} lists what is left out and why.":
        "放入 .md、.txt 或 .pdf 文件后按 {}；{} 列出未收录的文件及原因。",
    "The notes are being read for the first time. What is ready can be searched at once.":
        "正在第一次读取笔记。读好的部分立即可以检索。",
    "Indexing goes on; what is ready can be searched: {} notes so far.":
        "索引仍在进行；已就绪的可以检索：目前 {} 篇笔记。",
    "By keyword everything that was read; by meaning {} of it.": "读过的都可按关键词检索；可按语义检索的占 {}。",
    "This step takes {} more.": "这一步还需{}。",
    "No note matches: no stage found anything for this query.": "没有匹配的笔记：各阶段都没有找到结果。",
    "It holds no word to search for, only stop words or punctuation: name the thing.":
        "问题里没有可检索的词，只有停用词或标点：请写出要找的东西。",
    "Nothing has a vector yet, so only the very words are found: try other words, or wait.":
        "还没有任何向量，只能找到原词：请换个说法，或稍等。",
    "Welcome. Type a question: every keystroke searches.": "欢迎。请输入问题：每按一键都会检索。",
    "{} runs the rewrite rounds and answers; {} leaves the box.": "{} 运行各轮改写并回答；{} 离开输入框。",
    "Outside it letters act: {} and {} move, {} shows all keys, {} quits.":
        "离开后字母键即为命令：{} 和 {} 移动，{} 显示所有按键，{} 退出。",
    "not in the evidence: {}": "证据中没有：{}",
    "the rerank stage is off: the fused order is the final one": "重排已关闭：以融合的次序为准",
    "under 10 s": "不到 10 秒",
    "about {} s": "约 {} 秒",
    "about {} min": "约 {} 分钟",
    "about {} h": "约 {} 小时",
}  # fmt: skip
