"""What the loop mends about a question, in Chinese."""

from __future__ import annotations

from typing import Final

REMEDIES: Final[dict[str, str]] = {
    "spell": "拼写",
    "transl": "翻译",
    "synon": "同义",
    "spelling": "拼写",
    "translation": "翻译",
    "synonyms": "同义词",
    "your synonyms": "你的同义词",
    "the dictionary": "词典",
    "its evidence is judged by: {}": "证据按此判断：{}",
    "{} stands nowhere in your notes; {} is near it ({}), in {}": "笔记里没有 {}；相近的有 {}（差 {}），见于 {}",
    "{} stands nowhere in your notes; as two words, {}, it does, in {}": "笔记里没有 {}；分成两词 {} 就有，见于 {}",
    "{} stands nowhere in your notes; as one word, {}, it does, in {}": "笔记里没有 {}；合成一词 {} 就有，见于 {}",
    "{} stands nowhere in your notes; in the other language it is {}": "笔记里没有 {}；在另一种语言里是 {}",
    "{} stands nowhere in your notes; by your synonyms it is {}": "笔记里没有 {}；按你的同义词，它是 {}",
    "{} stands nowhere in your notes; did you mean {}? Codes and numbers are never changed.": (
        "笔记里没有 {}；是不是 {}？编号和数字从不改动。"
    ),
    "{} stands nowhere in your notes; its halves, {} and {}, do": "笔记里没有 {}；分成的 {} 和 {} 都有",
    "your synonyms: {} is also {}": "你的同义词：{} 也是 {}",
    "no word of the question can be mended: feedback adds words of the first hits": (
        "问题里没有可修正的词：用反馈，加入前几个结果里的词"
    ),
    "your notes hold neither {} nor a word near it: feedback adds words of the first hits": (
        "笔记里没有 {}，也没有相近的词：用反馈，加入前几个结果里的词"
    ),
    "the model leaves out {}: not in your notes": "模型去掉了 {}：笔记里没有",
    "ran, and changed nothing": "运行过，没有任何变化",
    "1 letter": "1 个字母",
    "{} letters": "{} 个字母",
    "your synonyms ({}): line {} has more than {} characters": "{}：第 {} 行超过 {} 个字符",
    "your synonyms ({}): line {} has more than one arrow": "{}：第 {} 行有不止一个箭头",
    "your synonyms ({}): line {} has an entry of more than {} characters": "{}：第 {} 行有一项超过 {} 个字符",
    "your synonyms ({}): line {} has an entry without a letter or digit, {}": "{}：第 {} 行有一项没有字母或数字，{}",
    "your synonyms ({}): line {} has nothing on one side of the arrow": "{}：第 {} 行箭头一侧是空的",
    "your synonyms ({}): line {} names one word and no other": "{}：第 {} 行只有一个词",
    "your synonyms ({}): what stands behind the first {} characters is not read": "{}：前 {} 个字符之后的内容没有读",
    "your synonyms ({}): {} more lines cannot be used": "{}：还有 {} 行无法使用",
    "your synonyms ({}): not a regular file, so none are read": "{}：不是普通文件，没有读取同义词",
    "your synonyms ({}) cannot be read ({}), so none are used": "{}：无法读取（{}），没有使用同义词",
    "your synonyms: they are used, and not searched": "你的同义词：使用它，但不检索它",
    "{} needs a language model: {}. Feedback stays.": "{} 需要语言模型：{}。仍用反馈。",
}
