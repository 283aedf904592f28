"""What can be compared exactly: numbers by value in three notations, names, quotations; and what a near copy adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.answer.details import exchanged_names, missing, odd_words


@pytest.mark.parametrize(
    ("claim", "source", "lost"),
    [
        ("It takes 96 bytes.", "The result is 96 bytes a token.", ()),
        ("It takes 48 bytes.", "The result is 96 bytes a token.", ("48",)),
        ("One token takes 1,536 bytes.", "a token takes 1536 bytes", ()),
        ("七十亿参数", "seven billion parameters", ()),
        ("A model with 7 billion parameters", "七十亿参数的模型", ()),
        ("A model with two billion parameters", "七十亿参数的模型", ("two billion",)),
        ("船员约二百余人", "crew of 200", ()),
        ("１２ 个", "a dozen, that is 12", ()),
        ("建于二〇〇九年", "built in 2009", ()),
        ("不超过三分之一", "不超过块长的三分之一", ()),
        ("不超过四分之三", "不超过块长的三分之一", ("四分之三",)),
        ("1.5万人", "15,000 people", ()),
        ("twenty-one pilots", "21 pilots", ()),
        ("版本 3.14.1", "版本 3.14.2", ("3.14.1",)),
        ("权限是 0700", "权限 0755", ("0700",)),
        ("一个例子", "没有数字", ()),
        ("三角关系", "没有数字", ()),
        ("One of them", "no number here", ()),
        ("由 strace 完成", "由 taskset 完成", ("strace",)),
        ("Published by Clarke in May", "Published by Cormack in May", ("Clarke",)),
        ("Python salts its hashes", "the hashes are salted", ()),  # capital for its place only
        ("It reads utf8 files", "reads UTF-8 files", ()),
        ("用的是 WAL 模式", "uses the wal mode", ()),
        ("报错是“没有空间”", "错误为“设备上没有空间”", ()),
        ("报错是“没有内存”", "错误为“设备上没有空间”", ("没有内存",)),
        ("The office in Beijing", "北京的办公室", ()),  # a name may be written in ideographs
        ("The file err_code_17", "错误文件", ("err_code_17",)),
        ("The file err_code_17", "错误文件 err_code_18", ("err_code_17",)),
        ("os.getloadavg() counts cores", "`os.cpu_count()` 数的是核", ("os.getloadavg",)),
        ("有 50 道题时，一道题是两个百分点", "With 50 questions, one question is two points.", ()),
        ("要到几百万行时才划算", "pays off with millions of rows", ()),
        ("排在第三名", "found in third place", ()),
        ("是两倍", "twice as long", ()),
        ("只有原来的十六分之一", "sixteen times smaller", ()),
        ("The line is sixty percent", "默认线是六成", ()),
        ("The line is eighty percent", "默认线是六成", ("eighty",)),
        ("占百分之六十", "takes 60%", ()),
        ("It covers 60 percent", "coverage of 0.6 and more", ()),
        ("5 月发布", "published in May", ()),
        # what it counts is counted in the source, and by another number, which counts something else there
        ("It holds 80 kB", "An 80 by 24 screen takes 30 kB", ("80",)),
        ("一块最多 512 个字符", "一块最多 700 个字符，也就是 512 个词元", ("512",)),
        ("一块最多 700 个字符", "一块最多 700 个字符，也就是 512 个词元", ()),
        ("The 200-token passage", "a passage of 200 tokens, not of 300 tokens", ()),
    ],
)
def test_what_a_source_does_not_hold_is_named(claim: str, source: str, lost: tuple[str, ...]) -> None:
    found = missing(claim, source)
    # err_code_17 is a name with a number in it: named as a whole, and perhaps its number too.
    assert set(lost) <= set(found) and (bool(found) == bool(lost))


@given(st.text(max_size=80))
def test_nothing_of_a_text_is_missing_in_itself(text: str) -> None:
    assert missing(text, text) == ()
    assert odd_words(text, text) == ()


@given(st.integers(2, 10**9), st.integers(2, 10**9))
def test_numbers_are_the_same_by_value_alone(one: int, other: int) -> None:
    assert bool(missing(f"about {one} of them", f"some {other:,} things")) == (one != other)


def test_a_word_exchanged_in_a_near_copy_shows_and_a_free_wording_does_not() -> None:
    source = "预写日志依赖共享内存，不能放在网络文件系统上。复制数据库时要和主文件一起带走。"
    assert odd_words("预写日志依赖共享内存，不能放在网络文件系统上", source) == ()
    assert odd_words("预写日志依赖符号链接，不能放在网络文件系统上", source) == ("符号链接",)
    assert odd_words("不能放在网络文件系统上，预写日志依赖共享内存", source) == ()  # another order
    assert odd_words("它要靠共享内存，因此网络盘上用不了", source) == ()
    assert odd_words("English words alone", source) == ()


@pytest.mark.parametrize(
    ("claim", "source", "names"),
    [
        ("Java salts its hashes.", "**Sets**: Python salts its string hashes.", ("Java",)),
        ("Python salts its hashes.", "**Sets**: Python salts its string hashes.", ()),
        ("Excel renames the old file.", "vim 常常先把旧文件改名作备份", ("Excel",)),
        ("A version of Newton's method", "这是 Rocchio 方法的现代版本。", ("Newton",)),
        ("A version of Rocchio's method", "这是 Rocchio 方法的现代版本。", ()),
        ("It is Viterbi's algorithm", "用维特比动态规划", ()),  # the source calls nothing by a Latin name
        ("Comparing both is asymmetric.", "Holding one against ColBERT is asymmetric.", ()),  # no name, by its end
        ("它是 Newton 的方法", "a version of Rocchio's method", ()),  # `missing` knows that one
    ],
)
def test_a_name_in_the_place_of_another_shows_where_one_alone_could_be_a_word(
    claim: str, source: str, names: tuple[str, ...]
) -> None:
    assert exchanged_names(claim, source, source) == names
    assert exchanged_names(source, source, source) == ()
