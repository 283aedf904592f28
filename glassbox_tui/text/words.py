"""The words that carry no subject, English and Chinese. Data only."""

from __future__ import annotations


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


# The Snowball English list (BSD licence) and, in the last line, modals and prepositions that it leaves out.
ENGLISH_STOP_WORDS = _words(
    """
    a about above after again against all am an and any are aren't as at be because been before being below between
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his
    how how's i i'd i'll i'm i've if in into is isn't it it's its itself let's me more most mustn't my myself no nor
    not of off on once only or other ought our ours ourselves out over own same shan't she she'd she'll she's should
    shouldn't so some such than that that's the their theirs them themselves then there there's these they they'd
    they'll they're they've this those through to too under until up very was wasn't we we'd we'll we're we've were
    weren't what what's when when's where where's which while who who's whom why why's will with won't would wouldn't
    you you'd you'll you're you've your yours yourself yourselves
    also however may might must per shall since upon via whether within without yet
    """
)

# Stop words that are something else in capitals.
ACRONYMS = frozenset({"IT", "US", "WHO"})

# What may follow an apostrophe in English without being a word: 's, n't, 'll.
CLITICS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})

# Characters that hardly ever are a word with a subject: alone, or next to each other, they are no index term.
# (A character that often is one, such as 中 or 用, stays: a query of one character must find it.)
PARTICLES = _words(
    """
    的 了 着 吗 呢 吧 啊 呀 嘛 么 们 是 在 和 与 或 及 而 之 其 也 这 那 哪 把 被 很 我 你 您 他 她 它 著 嗎 麼 們 與
    這
    """
)

# Function words, simplified and traditional: pronouns, conjunctions, prepositions, auxiliaries, question words.
# They break a run of CJK characters in two when content terms are taken.
FUNCTION_WORDS = PARTICLES | _words(
    """
    要 为 谁 个 些 為 誰 個 什么 怎么 怎样 怎么样 如何 为什么 为何 为啥 哪些 哪个 哪里 哪儿 哪种 哪一个 多少 几个 是否
    是不是 有没有 能不能 会不会 可不可以 要不要 有什么 有哪些 有何 什麼 怎麼 怎樣 怎麼樣 為什麼 為何 哪裡 哪個 哪種
    幾個 有沒有 會不會 这个 这些 这样 这种 这里 那个 那些 那样 那种 那里 我们 你们 他们 她们 它们 自己 大家 這個 這些
    這樣 這種 這裡 那個 那樣 那種 那裡 我們 你們 他們 她們 它們 不是 不会 不能 不要 不可 不再 没有 而是 而不是 而不
    而且 并且 或者 或是 或许 还是 还有 以及 因为 所以 因此 由于 如果 虽然 但是 然后 然而 从而 于是 只是 只有 只要 就是
    就会 也是 都是 都有 可以 能够 应该 需要 要用 用来 用于 用以 对于 关于 根据 通过 按照 作为 成为 称为 其中 其他 其它
    其实 之间 之后 之前 之一 以后 以前 以上 以下 以便 随着 有着 为了 除了 时候 的话 一个 一些 一种 一下 有些 有的 那么
    这么 一样 所有 中的 上的 里的 下的 时的 后的 前的 内的 是什么 是怎么 是如何
    怎么办 何时 什么时候 多久 情况下
    不會 沒有 並且 還是 還有 因為 由於
    於是 雖然 然後 從而 能夠 應該 對於 關於 根據 通過 作為 成為 稱為 其實 之間 之後 以後 隨著 為了 時候 的話 一個 一種
    那麼 這麼 一樣 裡的 時的 後的 內的 是什麼 是怎麼
    """
)

# Words with a subject that hold one of the above. 项目 and its like stand here for the sake of the 的 that may follow.
CONTENT_WORDS = _words(
    """
    目的 目的地 的士 的确 标的 靶的 项目 题目 节目 数目 科目 栏目 条目 了解 了结 明了 末了 着色 着陆 着重 着手 着力
    着火 附着 沉着 执着 显著 著名 著作 著者 名著 原著 土著 吗啡 酒吧 网吧 吧台 是非 实事求是 存在 在线 在线学习 潜在
    内在 外在 在场 在职 在世 在位 和平 和谐 和声 和弦 和解 和约 和服 饱和 总和 求和 共和 共和国 缓和 调和 平和 温和
    混和 之和 大和 昭和 与会 参与 给与 或然 及时 及格 及早 普及 涉及 埃及 波及 触及 而已 之江 之外 其余 土耳其 也门
    刹那 支那 维也纳 哪吒 把握 把手 把关 火把 被子 被告 被动 被害 自我 我国 自他 他人 他乡 吉他 其一 重要 主要 要求
    要点 要素 要害 要塞 要领 要件 摘要 概要 纪要 必要 首要 简要 提要 次要 行为 人为 为人 个人 个性 个体 个别 个案 整个
    項目 題目 節目 數目 條目 瞭解 附著 在線 潛在 內在 和諧 飽和 總和 參與 普及 維也納 把關 被動 我國 要點 要領 紀要
    簡要 行為 人為 個人 個性 個體
    """
)
