"""Breakages of what happens before a question: chunks, embeddings, BM25, the index."""

from __future__ import annotations

from mutation import broken

CHUNKING = (
    broken(
        "a sentence between chunks is skipped",
        "text.packing:pack", "previous, new = first, last", "previous, new = first, last + 1",
        "chunking: no sentence is lost", "chunking: neighbours of several sentences overlap",
    ),
    broken(
        "chunks may be ten times as long",
        "text.packing:_size", "return size +", "return size // 10 +",
        "chunking: a long text gives several chunks", "chunking: a chunk is never longer than its limit",
        fresh=True,
    ),
    broken(
        "the token limit is not looked at",
        "text.packing:pack", "if excess <= 1:", "if excess <= 99:",
        "chunking: a chunk is never more tokens than the model reads",
    ),
    broken(
        "chunks do not overlap",
        "text.packing:_overlap_start", "first = new\n", "return new\n",
        "chunking: neighbours of several sentences overlap",
    ),
    broken(
        "a chunk's text begins a character late",
        "text.chunks:chunk", "text[a:b]", "text[a + 1 : b]",
        "chunking: offsets are exact", "retrieval: a hit is quoted as it stands in the file",
        fresh=True,
    ),
    broken(
        "lines are counted from 0",
        "notes.lines:line_ranges", "bisect_left(newlines, start) + 1", "bisect_left(newlines, start)",
        "chunking: line numbers are those of the file",
        fresh=True,
    ),
    broken(
        "chunks come last first",
        "text.chunks:chunk", "return tuple(spans)", "return tuple(spans[::-1])",
        "chunking: chunks stand in reading order",
    ),
    broken(
        "headings are not embedded",
        "text.packing:context_line", "if path else \"\"", "if False else \"\"",
        "chunking: the text that is embedded ends with the text that is shown",
        fresh=True,
    ),
    broken(
        "what is embedded has an end of its own",
        "text.packing:_index_text", "+ text[start:end]", "+ text[start:end] + '.'",
        "chunking: the text that is embedded ends with the text that is shown",
        fresh=True,
    ),
    broken(
        "a sentence loses its last character",
        "text.sentences:sentences", "spans.append((start, done))", "spans.append((start, done - 1))",
        "chunking: sentences are a partition of the text",
    ),
)  # fmt: skip

EMBEDDING = (
    broken(
        "vectors are not normalised",
        "models.hashing:embed", "(vector / norm)", "(vector * 1.5)",
        "embedding: every vector has unit length", "embedding: cosines lie in [-1, 1] and tell texts apart",
        "embedding: the inner product is the cosine",
        fresh=True,
    ),
    broken(
        "every text has the same vector",
        "models.hashing:embed", "fold(text).split()", "fold(text).split()[:0]",
        "embedding: cosines lie in [-1, 1] and tell texts apart",
        "embedding: what is related is nearer than what is not",
    ),
    broken(
        "the declared dimension is wrong",
        "models.hashing:HashingEmbedder.dimension", "return DIMENSION", "return DIMENSION + 1",
        "embedding: every vector has the declared dimension", "index: the vector back end is ready",
        fresh=True,
    ),
    broken(
        "vectors carry noise",
        "models.hashing:embed",
        "return out", "return out + np.float32(1e-6) * np.random.default_rng().normal(size=512)",
        "embedding: the same text gives the same numbers", "embedding: batch-mates do not matter",
    ),
    broken(
        "a batch is centred on its mean",
        "models.hashing:HashingEmbedder.embed_passages",
        "return np.stack([embed(text) for text in texts])",
        "return np.stack([embed(t) for t in texts]) - 1e-3 * np.mean([embed(t) for t in texts], axis=0)",
        "embedding: batch-mates do not matter",
    ),
    broken(
        "the index embeds half of a text",
        "index.token_codes:encode_passage", "embed_passages([text])", "embed_passages([text[: len(text) // 2]])",
        "embedding: the index holds the embedder's own vectors",
        fresh=True,
    ),
    broken(
        "query vectors point the other way",
        "models.e5:E5Embedder.embed_query", "return self", "return -self",
        "embedding: what is related is nearer than what is not", "embedding: meaning crosses languages",
        model=True,
    ),
    broken(
        "the first token has no span",
        "models.e5:E5Embedder._encode", "tuple(spans[:fit])", "tuple(spans[1:fit])",
        "embedding: token states come with the vector and the spans",
        model=True,
    ),
    broken(
        "offsets double the gap between languages",
        "models.calibration:_level", "middle - average", "average - middle",
        "embedding: an average text scores alike in every language",
        model=True,
    ),
)  # fmt: skip

SPARSE = (
    broken(
        "the term frequency counts for nothing",
        "index.sparse:_term_scores", "* tfs *", "* (tfs > 0) *",
        "sparse: the score rises strictly with the term frequency",
        "sparse: a rare term scores idf tf (k1 + 1) / (tf + k1)", "sparse: the golden case",
    ),
    broken(
        "k1 + 1 is left out",
        "index.sparse:_term_scores", "(how.k1 + 1.0)", "how.k1",
        "sparse: a rare term scores idf tf (k1 + 1) / (tf + k1)", "sparse: the golden case",
        "sparse: the Okapi variant equals rank_bm25",
    ),
    broken(
        "idf without the 1 +",
        "index.sparse:idf", "np.log1p(", "np.log(",
        "sparse: a rare term scores idf tf (k1 + 1) / (tf + k1)", "sparse: the golden case",
        "sparse: no score is negative, however common the term",
        "sparse: a chunk's score is a share of its own and a share of its note's",
    ),
    broken(
        "texts without a query term are found too",
        "index.sparse:search_passages", "held > 0", "held >= 0",
        "sparse: a text without a query term scores nothing",
    ),
    broken(
        "negative Okapi idf is not floored",
        "index.sparse:idf", "raw if raw >= 0 else", "raw if True else",
        "sparse: the Okapi variant equals rank_bm25",
    ),
    broken(
        "Okapi idf without its half",
        "index.sparse:idf", "np.log(df + 0.5)", "np.log(df + 1.0)",
        "sparse: the Okapi variant equals rank_bm25",
    ),
    broken(
        "Latin words are no terms",
        "text.word_terms:word_terms", "_cached(word) if len(word) <= LONGEST_CACHED else split(word)", "()",
        "sparse: Chinese and Latin terms live in one text", "sparse: spans of terms are exact",
    ),
    broken(
        "Chinese pairs are indexed and not searched",
        "text.tokens:tokenize", "if at + 1 < end:", "if False:",
        "sparse: spans of terms are exact", "sparse: the postings are a recount of the chunks",
    ),
    broken(
        "the note's share is left out",
        "index.sparse:search_passages", "share * of_notes[", "0 * of_notes[",
        "sparse: a chunk's score is a share of its own and a share of its note's",
        "sparse: the parts of a score add up",
    ),
    broken(
        "spans speak of the normalised text",
        "text.tokens:tokenize", "*source_span(offsets, start, end)", "start, end",
        "sparse: spans of terms are exact",
    ),
    broken(
        "text length counts for nothing",
        "index.sparse:_term_scores", "how.b * index.lengths[rows] / index.average_length", "how.b",
        "sparse: a longer text with as many matches scores less, and not at b = 0", "sparse: the golden case",
    ),
    broken(
        "a term counts once in a posting",
        "index.sparse:build_sparse",
        "forward.counts[order].astype(np.float64)", "np.minimum(forward.counts[order], 1.0)",
        "sparse: the score rises strictly with the term frequency",
    ),
    broken(
        "a term of a new chunk counts once in its posting",
        "index.sparse:splice_sparse",
        "np.insert(tfs, where, new_tfs)", "np.insert(tfs, where, np.minimum(new_tfs, 1.0))",
        "sparse: the postings are a recount of the chunks",
        fresh=True,
    ),
    broken(
        "parts forget the weight of a query term",
        "index.sparse:passage_parts", "(1.0 - share) * weight *", "(1.0 - share) *",
        "sparse: the parts of a score add up", "retrieval: the parts of every score add up",
    ),
    broken(
        "the floor is absolute",
        "index.sparse:search_passages", "how.floor * total", "how.floor",
        "sparse: the floor drops exactly the matches that hold too little of the query",
    ),
)  # fmt: skip

INDEX = (
    broken(
        "the first file is passed over",
        "index.indexer:update_text", "in enumerate(found.files)", "in enumerate(found.files[1:])",
        "index: every note becomes chunks",
        fresh=True,
    ),
    broken(
        "the first chunk's vector is not searchable",
        "index.dense:splice_dense", "== 4 * dimension)", "== 4 * dimension)[1:]",
        "index: the vector back end is ready",
        fresh=True,
    ),
    broken(
        "neighbours farthest first",
        "index.dense:search_dense", "(-f[1], f[0])", "(f[1], f[0])",
        "index: FAISS and brute force find the same neighbours with the same scores",
        "retrieval: ranks have no gaps and scores never rise",
    ),
    broken(
        "dense search gives one neighbour too few",
        "index.dense:search_dense", "[:k]", "[: k - 1]",
        "index: FAISS and brute force find the same neighbours with the same scores",
    ),
    broken(
        "dense search levels nothing",
        "index.dense:search_dense", "np.asarray(level.slopes, dtype=np.float32)", "np.zeros(3, dtype=np.float32)",
        "index: FAISS and brute force agree when languages are levelled",
        "retrieval: levelling languages never changes the order within one",
    ),
    broken(
        "notes that are gone stay in the index",
        "index.indexer:update_text", "if gone:", "if False:",
        "index: an updated index is a cold rebuild",
    ),
    broken(
        "a changed note is taken for unchanged",
        "index.indexer:_update_file", "known.digest and known.digest == digest_of(file.absolute)", "known.digest",
        "index: an updated index is a cold rebuild",
    ),
    broken(
        "every update reads everything",
        "index.indexer:_update_file", "known.chunker == fingerprint", "known.chunker != fingerprint",
        "index: an unchanged folder is not read again",
    ),
    broken(
        "chunks come in another order",
        "index.store:Store.read_all", "ORDER BY n.path, c.ordinal", "ORDER BY n.path DESC, c.ordinal",
        "index: chunks are ordered and named once",
        fresh=True,
    ),
    broken(
        "a token's code is lost",
        "index.token_codes:encode_passage", "quantise(encoding.states,", "quantise(encoding.states[1:],",
        "index: every chunk has token codes",
        model=True, fresh=True,
    ),
    broken(
        "everyone may read the index",
        "index.store:Store.__init__", "chmod(0o700)", "chmod(0o755)",
        "index: the index is for its owner's eyes only",
        fresh=True,
    ),
)  # fmt: skip

INDEX_MUTATIONS = (*CHUNKING, *EMBEDDING, *SPARSE, *INDEX)
