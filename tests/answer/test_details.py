"""What can be compared exactly: numbers by value in three notations, names, quotations; and what a near copy adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_tui.answer.details import missing, odd_words


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
