"""The words that carry no subject, English and Chinese. Data only."""

from __future__ import annotations

# The Snowball English list (BSD licence) with the question words and contractions of everyday writing.
ENGLISH_STOP_WORDS = frozenset(
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
    """.split()
)

# Stop words that are something else in capitals.
ACRONYMS = frozenset({"IT", "US", "WHO"})

# Function words: particles, pronouns, conjunctions, prepositions, auxiliaries, question words; simplified and traditional.
CHINESE_FUNCTION_WORDS = frozenset(
    """
    的 地 得 了 着 过 吗 呢 吧 啊 呀 嘛 么 之 其 所 以 于 也 都 就 还 又 再 很 太 更 最 并 且 而 或 与 和 及 跟 同 把 被 让 给 对 从 向 往 由
    为 因 在 是 有 这 那 哪 谁 几 个 些 我 你 您 他 她 它 们 要 会 能 可 应 该 用 使 将 将要 没 不 别 无 非 上 下 里 中 内 时 后 前
    嗎 這 個 們 為 與 會 對 從 將 沒 還 麼 無 後 時 裡 讓 給 過 著
    什么 怎么 怎样 怎么样 如何 为什么 为何 为啥 哪些 哪个 哪里 哪儿 哪种 多少 几个 是否 是不是 有没有 能不能 会不会 可不可以 要不要
    什麼 怎麼 怎樣 怎麼樣 為什麼 為何 哪裡 哪個 哪種 幾個 有沒有 能不能 會不會
    这个 这些 这样 这种 这里 那个 那些 那样 那种 那里 我们 你们 他们 她们 它们 自己 大家
    這個 這些 這樣 這種 這裡 那個 那樣 那種 那裡 我們 你們 他們 她們 它們
    不是 不会 不能 不要 没有 而是 而不是 而不 而且 并且 或者 或是 还是 以及 因为 所以 因此 由于 如果 虽然 但是 但 然后 于是 只是 只有 只要 就是 也是 都是 可以 能够 应该
    需要 要用 用来 用于 对于 关于 根据 通过 按照 作为 其中 其他 之间 之后 之前 以后 以前 时候 的话 一个 一些 一种 一下 有些 有的 那么 这么 一样
    不會 沒有 並且 還是 因為 於是 如果 雖然 然後 應該 對於 關於 根據 通過 作為 時候 的話 一個 一種 那麼 這麼 一樣
    """.split()
)
