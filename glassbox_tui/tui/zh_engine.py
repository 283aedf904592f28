"""The engine's sentences in Chinese: template (see `sentences`) -> Chinese, with the same places."""

from __future__ import annotations

from typing import Final

ENGINE: Final[dict[str, str]] = {
    # -- the grade -----------------------------------------------------------------------------------------------------
    "coverage": "覆盖率",
    "dense": "dense",
    "rerank": "rerank",
    "{} {} < {}": "{} {} < {}",
    "{}; {}": "{}；{}",
    "no {} score for the evidence": "证据没有 {} 分数",
    "no chunk was found": "没有找到片段",
    "no signal to judge by": "没有可供评定的信号",
    # -- searching -----------------------------------------------------------------------------------------------------
    "the index is empty: no note with text was found": "索引为空：没有找到带文字的笔记",
    "dense search covers {} of the chunks so far": "dense 检索目前只覆盖 {} 的片段",
    "dense search covers {} of the chunks in scope so far": "dense 检索目前只覆盖范围内 {} 的片段",
    "no keyword terms in the query (only stop words or punctuation): bm25 found nothing":
        "问题里没有关键词（只有停用词或标点）：bm25 没有结果",
    "{}: keywords find only notes in the question's own language": "{}：关键词只能找到与问题同一种语言的笔记",
    "the dictionary {} is not installed: pip install {} brings it": "词典 {} 没有安装：pip install {} 即可装上",
    "the dictionary {} is damaged ({}): pip install --force-reinstall {} helps":
        "词典 {} 已损坏（{}）：可用 pip install --force-reinstall {} 修复",
    "the dictionary {} holds no entries: pip install --force-reinstall {} helps":
        "词典 {} 里没有词条：可用 pip install --force-reinstall {} 修复",
    "the dictionary {} cannot be read: {}": "词典 {} 无法读取：{}",
    "the dictionary's table {} cannot be read ({})": "词典的数据表 {} 无法读取（{}）",
    "the dictionary's table cannot be written to {}: {}": "词典的数据表无法写入 {}：{}",
    "{} of {} candidates have no token codes yet and keep their places":
        "{} 个候选（共 {} 个）尚无词元编码，保持原来的位置",
    "no token codes yet": "尚无词元编码",
    "stands here": "就在这里",
    "near to any question": "与什么问题都相近",
    "average {} text": "{} 文字的平均",
    "{} of the way": "位于两端之间 {} 处",
    "{} of the question's idf": "占问题 idf 的 {}",
    "bm25 over the question's idf": "bm25 除以问题的 idf",
    "{} tokens": "{} 个词元",
    "rank {} of those seen": "在看得到的之中排第 {}",
    # -- the query's filters -------------------------------------------------------------------------------------------
    "only chunks with {}: {} left out": "只要含 {} 的片段：略去 {} 个",
    "{}: {} left out": "{}：略去 {} 个片段",
    "no chunk holds the phrase {}: without the marks {} hold its words":
        "没有片段含短语 {}：去掉引号，有 {} 个片段含其中的词",
    "the filters {} leave no chunk": "筛选条件 {} 没有留下任何片段",
    '{} stands in the notes as it is, so it is searched for; -"{}" leaves the word out':
        '笔记里就写着 {}，因此照样检索；要排除这个词，请写 -"{}"',
    "No note matches: {}.": "没有匹配的笔记：{}。",
    "the reranker {} failed ({}): the fused order stands": "重排器 {} 出错（{}）：以融合的次序为准",
    "rerank is off: {} has no token states for late interaction": "重排已关闭：{} 没有后期交互所需的词元状态",
    "No rerank stage: {}.": "没有重排阶段：{}。",
    # -- models --------------------------------------------------------------------------------------------------------
    "onnxruntime was imported before glassbox_tui, with its telemetry on: import glassbox_tui first, or set {}=1":
        "onnxruntime 先于 glassbox_tui 被导入，它的遥测是开着的：请先导入 glassbox_tui，或设置 {}=1",
    "The hashing embedder serves, which compares spelling and not meaning: {}.":
        "由哈希嵌入器代替，它只比较写法而不比较含义：{}。",
    "{} serves as embedder: {}.": "由 {} 担任嵌入器：{}。",
    "The embedder {} does not know {} of the tokens in these notes: dense search will be poor; "
    "choose one that knows their language (GLASSBOX_EMBED_MODEL).":
        "嵌入器 {} 不认识这些笔记中 {} 的词元：dense 检索会很差；请选用懂得该语言的模型（GLASSBOX_EMBED_MODEL）。",
    "The converted model was damaged and was made anew: {}; the old one is in {}.":
        "转换后的模型已损坏，现已重新生成：{}；旧的在 {}。",
    # -- the index -----------------------------------------------------------------------------------------------------
    "another process is indexing this folder; what is indexed so far is searched":
        "另一个进程正在索引这个文件夹；目前检索已索引的部分",
    "{}: it was set aside as {} and is built anew": "{}：已移到 {}，正在重建",
    "{}: it was set aside as {} and is built anew, with {} of its vectors":
        "{}：已移到 {}，正在重建，沿用其中 {} 个向量",
    "the index {} is damaged ({})": "索引 {} 已损坏（{}）",
    "the index {} has schema {}, this program reads {}": "索引 {} 的格式是 {}，本程序读 {}",
    "cannot use the index {}": "无法使用索引 {}",
    "the engine ended ({}): {} starts it again; the log has the details": "引擎已终止（{}）：按 {} 重启；详情见日志",
    # -- the answer ----------------------------------------------------------------------------------------------------
    "The index is empty: there is no note with text to answer from.": "索引为空：没有带文字的笔记可供回答。",
    "No chunk was found for this question, so there is nothing to quote.": "没有找到与问题相关的片段，因此无可引用。",
    "The evidence was graded insufficient ({}): read this answer with doubt.": "证据评为不足（{}）：请对这个回答存疑。",
    "The chunks found hold no sentence that could be quoted.": "找到的片段里没有可引用的句子。",
    "the generator {} failed ({}): this is an extract.": "生成模型 {} 出错（{}）：以下是摘录。",
    "No model answers ({}): this is an extract.": "没有模型可作答（{}）：以下是摘录。",
    "{} could not answer ({}): this is an extract.": "{} 无法作答（{}）：以下是摘录。",
    "{} was stopped before it wrote a word: this is an extract.": "{} 还没写出一个字就被停止：以下是摘录。",
    "{} wrote nothing but lines of its prompt: this is an extract.": "{} 只抄了提示里的行：以下是摘录。",
    "{} wrote nothing: this is an extract.": "{} 什么也没写：以下是摘录。",
    "{} wrote nothing but numbers: this is an extract.": "{} 只写了数字：以下是摘录。",
    "{} wrote nothing but thoughts in its {} tokens: this is an extract. GLASSBOX_LLM_ANSWER_TOKENS allows more.":
        "{} 的 {} 个词元全用于思考，没有写出回答：以下是摘录。可用 GLASSBOX_LLM_ANSWER_TOKENS 调大。",
    "{} takes {} tokens, and question and passage have more: this is an extract.":
        "{} 最多 {} 个词元，放不下问题和段落：以下是摘录。",
    "{} does not write Chinese, and the question is in it: this is an extract. {} fetches a model that does.":
        "{} 不会写中文，而问题是中文：以下是摘录。{} 可取得会中文的模型。",
    "{} does not read Chinese, and the best passage is in it: this is an extract. {} fetches a model that does.":
        "{} 不懂中文，而最相关的段落是中文：以下是摘录。{} 可取得会中文的模型。",
    "{} writes only Chinese, and the question is not in it: this is an extract. {} fetches a model that does.":
        "{} 只会写中文，而问题不是中文：以下是摘录。{} 可取得合适的模型。",
    "{} reads only Chinese, and the best passage is not in it: this is an extract. {} fetches a model that does.":
        "{} 只懂中文，而最相关的段落不是中文：以下是摘录。{} 可取得合适的模型。",
    "Left out, in a language that {} does not read: {}.": "未采用（{} 不懂其语言）：{}。",
    "The first passage was too long for {}: it read the beginning.": "第一个段落对 {} 太长：它只读了开头。",
    "Left out, as there was no room for more in the prompt: {}.": "未采用（提示词里放不下）：{}。",
    "Left out, as {} is shown at most {} (GLASSBOX_LLM_PASSAGES): {}.":
        "未采用（最多给 {} 看 {} 段，GLASSBOX_LLM_PASSAGES）：{}。",
    "{} found no answer in the passages it was given.": "{} 在给它的段落里没有找到答案。",
    "Stopped: {} had not finished.": "已停止：{} 没有写完。",
    "{} began to repeat itself and was stopped there.": "{} 开始重复，已在那里停止。",
    "The answer may break off: it may have {} tokens (GLASSBOX_LLM_ANSWER_TOKENS).":
        "回答可能没写完：最多 {} 个词元（GLASSBOX_LLM_ANSWER_TOKENS）。",
    "Citations to no passage were removed: {}.": "已去掉指向不存在段落的引用：{}。",
    "{} cited no passage: what its sentences rest on was looked for afterwards.":
        "{} 没有标注引用：各句的依据是事后查找的。",
    "The answer is not in the language of the question.": "回答的语言与问题不同。",
    # -- files ---------------------------------------------------------------------------------------------------------
    "has no text": "没有文字",
    "hidden file": "隐藏文件",
    "hidden folder": "隐藏文件夹",
    "hidden link": "隐藏的链接",
    "tool folder": "工具的文件夹",
    "written by this program": "本程序自己写下的",
    "sync-conflict copy": "同步冲突的副本",
    "not a regular file": "不是普通文件",
    "left out by {} in {}": "被 {}（{}）排除",
    "link to a folder that is searched already": "指向已在检索范围内的文件夹",
    "its name cannot be told from another file's": "文件名与另一个无法区分",
}  # fmt: skip
