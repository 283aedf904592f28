"""An embedder that does not know the notes' language is named, with the share it does not know (U5)."""

from __future__ import annotations

from types import SimpleNamespace

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from glassbox_tui.models.e5 import E5Embedder
from glassbox_tui.models.fastembed_models import FastembedEmbedder
from glassbox_tui.models.hashing import HashingEmbedder
from glassbox_tui.models.vocabulary import language_notice

ENGLISH = ["the ferry leaves at noon", "noon at the ferry"]
CHINESE = ["轮渡中午出发", "中午的轮渡"]


def english_only() -> FastembedEmbedder:
    """The adapter over a real WordPiece tokenizer, as English BERT models have it: no weights are needed here."""
    words = ["[UNK]", *sorted({word for text in ENGLISH for word in text.split()})]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return FastembedEmbedder(SimpleNamespace(model=SimpleNamespace(tokenizer=tokenizer)), "english-only", 8)


def test_an_english_model_over_chinese_notes_is_named_with_the_share_it_does_not_know() -> None:
    notice = language_notice(english_only(), CHINESE)
    assert notice is not None
    assert "english-only" in notice
    assert "100%" in notice


def test_a_share_is_of_all_tokens_together() -> None:
    # 6 + 5 Chinese characters, none known; 5 + 4 English words, all known.
    notice = language_notice(english_only(), [*ENGLISH, *CHINESE])
    assert notice is not None
    assert "55%" in notice


def test_a_model_that_knows_the_language_is_left_alone(e5: E5Embedder) -> None:
    assert language_notice(english_only(), ENGLISH) is None
    assert language_notice(e5, [*ENGLISH, *CHINESE]) is None
    assert language_notice(e5, []) is None


def test_the_bundled_model_admits_what_it_does_not_know(e5: E5Embedder) -> None:
    assert e5.count_unknown("𓀀 𓂀")[0] == 2
    assert language_notice(e5, ["𓀀 𓂀"]) is not None


def test_an_embedder_without_a_vocabulary_cannot_lack_words() -> None:
    assert language_notice(HashingEmbedder(), CHINESE) is None
