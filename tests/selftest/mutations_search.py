"""Breakages of what happens to a question: fusion, stages, the loop, rerank, answers."""

from __future__ import annotations

from mutation import broken

FUSION = (
    broken(
        "fusion divides by k + rank + 1",
        "retrieval.fusion:rrf", "/ (k + rank),", "/ (k + rank + 1),",
        "fusion: the score is the sum of weight / (k + rank)", "fusion: two firsts score 2/61",
        "rerank: the final score is 1/(k + fused rank) + w/(k + rerank rank)",
    ),
    broken(
        "fusion divides by whole numbers",
        "retrieval.fusion:rrf", "ranked.weight / (k", "ranked.weight // (k",
        "fusion: the score is the sum of weight / (k + rank)", "fusion: two firsts score 2/61",
    ),
    broken(
        "repeated ids count again",
        "retrieval.fusion:rrf", "dict.fromkeys(ranked.uids)", "ranked.uids",
        "fusion: an id repeated in a list counts once",
    ),
    broken(
        "worst first",
        "retrieval.fusion:rank_candidates", "-c.score", "c.score",
        "fusion: first in every list is first", "fusion: scores never rise down the list, and ranks have no gaps",
        "retrieval: ranks have no gaps and scores never rise",
    ),
    broken(
        "ranks from 0",
        "retrieval.fusion:rank_candidates", "start=1", "start=0",
        "fusion: scores never rise down the list, and ranks have no gaps",
        "retrieval: ranks have no gaps and scores never rise",
    ),
    broken(
        "one part of a score is not told",
        "retrieval.fusion:rrf", "tuple(ps) if explain", "tuple(ps[:1]) if explain",
        "fusion: the parts of a score add up", "retrieval: the parts of every score add up",
    ),
    broken(
        "ties fall by spelling",
        "retrieval.fusion:uid_key", "(path, int(ordinal), uid) if", "(uid, 0, uid) if",
        "fusion: ties fall by note, then by place in the note",
    ),
    broken(
        "a weight of 0 counts as 1",
        "retrieval.fusion:rrf", "ranked.weight / (k", "(ranked.weight or 1) / (k",
        "fusion: a list of weight 0 moves nobody",
    ),
)  # fmt: skip

RETRIEVAL = (
    broken(
        "one result too few",
        "retrieval.rounds:run_round", "final[: settings.top_k]", "final[: settings.top_k - 1]",
        "retrieval: exactly top_k results", "retrieval: hits are the head of the final list",
    ),
    broken(
        "a hit's place is one off",
        "retrieval.rounds:_hits", "Place(c.rank, c.score)", "Place(c.rank + 1, c.score)",
        "retrieval: every hit shows its evidence of every stage",
    ),
    broken(
        "hits in fused order",
        "retrieval.rounds:run_round", "final[: settings.top_k]", "fused[: settings.top_k]",
        "retrieval: hits are the head of the final list",
        model=True,
    ),
    broken(
        "hits quote what was embedded",
        "retrieval.rounds:_hits", "text=chunk.text", "text=chunk.index_text",
        "retrieval: a hit is quoted as it stands in the file",
    ),
    broken(
        "the dense stage finds what is farthest",
        "retrieval.stages:dense_stage", "(snapshot.dense, query.vector,", "(snapshot.dense, -query.vector,",
        "retrieval: a semantic query finds its note",
        "retrieval: a cross-language query is rescued by the dense stage",
        model=True,
    ),
    broken(
        "a tie is broken by chance",
        "retrieval.fusion:rank_candidates",
        "-c.score, uid_key(c.uid)", "round(-c.score, 3), __import__('random').random()",
        "retrieval: the same search gives the same bytes",
    ),
    broken(
        "JSON turns lines round",
        "retrieval.trace_json:_hit_to_dict", "list(h.lines)", "list(h.lines[::-1])",
        "retrieval: a trace survives JSON",
    ),
    broken(
        "explaining changes k",
        "retrieval.stages:final_stage", "settings.rrf_k, explain", "settings.rrf_k + explain, explain",
        "retrieval: explaining changes no rank and no score",
    ),
    broken(
        "every mode runs everything",
        "retrieval.rounds:_first_stages", "if pipe.mode in (name, \"hybrid\")", "if pipe.mode",
        "retrieval: a mode runs its own stages only",
    ),
    broken(
        "an offset depends on the chunk",
        "index.dense:search_dense", "float(score) + level.base,", "float(score) + level.base * (row % 5),",
        "retrieval: levelling languages never changes the order within one",
        "index: FAISS and brute force agree when languages are levelled",
    ),
    broken(
        "a part for the language that depends on the chunk",
        "retrieval.stages:_level_parts", 'Part("language", language,', 'Part("language", language * (1 + row % 3),',
        "retrieval: chunks that stand at one place between the languages get one offset",
        "retrieval: the parts of every score add up",
        model=True,
    ),
    broken(
        "levelling by a label",
        "models.levelling:places", "found[:, 0] = u", "found[:, 0] = u > 0.5",
        "retrieval: a mixed text or code is not first for unrelated questions",
        model=True,
    ),
    broken(
        "the reranker levels each chunk in its own way",
        "retrieval.stages:LateInteraction.rank", "tokens.level.at(snapshot.place(chunk.uid))",
        "tokens.level.at(snapshot.place(chunk.uid)) * (1 + i % 3)",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
)  # fmt: skip

LOOP = (
    broken(
        "rewritten rounds are not recorded",
        "retrieval.loop:run", "rounds.append(step.round)", "rounds[:0] = [step.round]",
        "loop: every attempt is recorded",
    ),
    broken(
        "one rewrite too many",
        "retrieval.loop:next_or_end", "number >= max_rewrites", "number > max_rewrites",
        "loop: without rewrites there is one round",
    ),
    broken(
        "a query comes back",
        "retrieval.loop:run", "rounds.append(step.round)", "rounds.extend([step.round, step.round])",
        "loop: the loop ends, and no query runs twice",
    ),
    broken(
        "every verdict is sufficient",
        "retrieval.verdict:judge", "sufficient = level == ANSWERED", "sufficient = True",
        "loop: the verdict is the sum of its signals",
    ),
    broken(
        "a signal of the verdict is not shown",
        "retrieval.verdict:judge", "        signals=signals,", "        signals=signals[:-1],",
        "loop: the verdict is the sum of its signals",
    ),
    broken(
        "the verdict knows the hits that are shown, and no others",
        "retrieval.rounds:_verdict", "query, final, lists,", "query, final[: len(hits)], lists,",
        "loop: the verdict does not depend on how many hits are shown",
    ),
    broken(
        "thresholds hold nothing back",
        "retrieval.grade:grade", "not reasons", "True",
        "loop: the rule of thresholds carries coverage, thresholds and the decision",
    ),
    broken(
        "coverage is a count",
        "retrieval.grade:grade", "len(found) / len(wanted)", "float(len(found))",
        "loop: coverage is a share between 0 and 1",
    ),
    broken(
        "what is found is called missing",
        "retrieval.grade:grade", "if not word.held(held)", "if word.held(held)",
        "loop: missing words are whole, asked for, and not in the evidence",
    ),
    broken(
        "later rounds drop the first round's lists",
        "retrieval.rounds:run_round", "[*own, *earlier]", "own",
        "loop: the original query's lists are never dropped",
    ),
    broken(
        "feedback comes from further down",
        "retrieval.feedback:feed_back", "final[:FEEDBACK_HITS]", "final[FEEDBACK_HITS : 2 * FEEDBACK_HITS]",
        "loop: added terms come from the hits that they name",
    ),
    broken(
        "a round that changes nothing is shown",
        "retrieval.loop:changes", "return not same or", "return True or",
        "loop: a round that changes nothing is not shown",
    ),
    broken(
        "a number is taken for a word",
        "retrieval.remedies:diagnose", "if word.code:", "if False:",
        "loop: a misspelt word is mended and said, a misspelt number is only named",
    ),
    broken(
        "sufficient evidence does not stop the loop",
        "retrieval.loop:next_or_end", "if step.round.grade.sufficient:", "if False:",
        "loop: sufficient evidence ends the loop",
    ),
    broken(
        "a rewrite may drop the key term",
        "retrieval.rewriting:_check", "if dropped is not None:", "if False:",
        "loop: a model that writes nonsense is rejected, and feedback serves",
    ),
)  # fmt: skip

RERANK = (
    broken(
        "the reranker is not chosen",
        "models.catalog:why_no_rerank", "if not token_states:", "if True:",
        "rerank: a required reranker is there",
        model=True, fresh=True,
    ),
    broken(
        "only three are reranked",
        "retrieval.rounds:_rerank", "if slow else settings.rerank_depth]", "if slow else 3]",
        "rerank: it runs on every question",
        model=True,
    ),
    broken(
        "late interaction carries noise",
        "models.late_interaction:contributions",
        "return parts", "return parts + 1e-9 * np.random.default_rng().random()",
        "rerank: it is deterministic",
        model=True,
    ),
    broken(
        "the worst match counts",
        "models.late_interaction:best_matches_many", "part.argmax(axis=1)", "part.argmin(axis=1)",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
    broken(
        "the rerank score is turned round",
        "retrieval.stages:LateInteraction.rank", "float(shares[i].sum()", "-float(shares[i].sum()",
        "rerank: it puts the most relevant text first",
        model=True,
    ),
    broken(
        "the reranker weighs 1 more than set",
        "retrieval.stages:final_stage", "RankedList(\"rerank\", weight,", "RankedList(\"rerank\", weight + 1,",
        "rerank: a reversing reranker cannot dethrone the fused champion at w < 1",
        "rerank: the final score is 1/(k + fused rank) + w/(k + rerank rank)",
    ),
    broken(
        "the reranker is not heard",
        "retrieval.stages:final_stage", "if rerank is not None:", "if False:",
        "rerank: a reversing reranker cannot dethrone the fused champion at w < 1",
        "rerank: the final score is 1/(k + fused rank) + w/(k + rerank rank)",
    ),
    broken(
        "everything is reranked",
        "retrieval.rounds:_rerank", "if slow else settings.rerank_depth]", "if slow else None]",
        "rerank: what was not reranked stands behind, in fused order",
    ),
    broken(
        "a failing reranker is passed over in silence",
        "retrieval.rounds:_rerank", "notices.append(sentence)", "pass",
        "rerank: a failing reranker leaves the fused order and says so",
    ),
    broken(
        "token weights are not shared out",
        "models.late_interaction:contributions", "shares / shares.sum()", "shares / len(shares)",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
    broken(
        "what stands in a chunk counts twice",
        "retrieval.standing:literal_shares", "LITERAL + VALUE", "2 * LITERAL + VALUE",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
    broken(
        "long chunks are lifted",
        "retrieval.standing:length_shares", "-LENGTH *", "LENGTH *",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
    broken(
        "keywords are heard by their raw score",
        "retrieval.standing:keyword_shares", "scores / mass if", "scores if",
        "rerank: late interaction is the weighted mean of best matches, and what stands there",
        model=True,
    ),
    broken(
        "the quantiser's threshold is doubled",
        "models.late_interaction:quantise", "np.float32(_THRESHOLD", "np.float32(2 * _THRESHOLD",
        "rerank: two bits a dimension keep a token's direction",
    ),
)  # fmt: skip

LANGUAGE_MODEL = (
    broken(
        "a model file that is not there is taken for one",
        "models.generators:_named_file", "if not is_file(path):", "if False:",
        "language model: the model that serves is named with the reason, and one that is named and not there is said",
    ),
    broken(
        "control tokens are read in any text",
        "models.llama:_text_tokens", "tokens = native.tokens(text, False)", "return native.tokens(text, True)",
        "language model: a text that spells control tokens adds none to the prompt",
        llm=True,
    ),
    broken(
        "a model goes on from what it read before",
        "models.llama:LlamaModel._read",
        "native.forget(min(same, len(prompt) - 1) // BATCH * BATCH)", "0",
        "language model: a model that was stopped writes what it wrote before",
        llm=True,
    ),
)  # fmt: skip

GENERATION = (
    broken(
        "threads may be 0 or all CPUs",
        "models.runtime:auto_threads", "max(1, min(_MAX_GENERATION_THREADS, allowed))", "allowed",
        "generation: automatic threads lie within 1 to 4 and the allowed CPUs",
    ),
    broken(
        "a set thread count is ignored",
        "models.runtime:auto_threads", "settings.llm_threads or", "0 or",
        "generation: a thread count that is set is taken",
    ),
    broken(
        "a generator is claimed that is not there",
        "answer.active:active_generator", "if chosen.fault or chosen.kind == \"none\":", "if False:",
        "generation: the active generator is reported and matches what answers",
    ),
    broken(
        "the answer's room is forgotten",
        "answer.prompt:prompt_of", "budget = model.context - room", "budget = model.context",
        "generation: prompt and answer fit the context, and what found no room is named",
    ),
    broken(
        "a passage stands in the prompt as it is",
        "answer.prompt:quoted", "(QUOTE + line).rstrip()", "line.rstrip()",
        "generation: notes are quoted in the prompt, line by line",
    ),
    broken(
        "no extract without a model",
        "answer.answers:answer", "if not hits:", "if True:",
        "generation: without a model an extract exists",
    ),
    broken(
        "an extract is put into other words",
        "answer.extract:_citation", "quote.text)", "quote.text.upper())",
        "generation: an extract is quoted word for word from what it cites",
    ),
    broken(
        "an empty index gives an empty extract",
        "answer.answers:answer",
        "\"none\", \"\", notice=\"The index is empty", "\"extract\", \"\", notice=\"The index is empty",
        "generation: an empty index gives no answer and says so",
    ),
    broken(
        "an extract's sentences lose their citations",
        "answer.answers:with_claims", "(citation.number,)", "()",
        "generation: each sentence of an extract is supported by what it cites",
    ),
    broken(
        "numbers are not compared",
        "answer.details:missing", "if (not known or other) and", "if False and",
        "generation: a claim with another number than its source is not supported, and the number is named",
    ),
    broken(
        "a citation to a source that does not exist stays",
        "answer.citations:checked", "1 <= n <= sources", "1 <= n",
        "generation: citations to sources that do not exist are removed and named",
    ),
)  # fmt: skip

ASKING = (
    broken(
        "filters are told and not applied",
        "retrieval.filters:choose", "left = np.setdiff1d(left, out, assume_unique=True)", "left = left",
        "asking: what a filter leaves out is in no stage and no round",
    ),
    broken(
        "the words of half a word are rare by what is typed of it",
        "index.sparse:SparseIndex.document_frequency", "return len(union.rows)", "return 0",
        "asking: half a word meets what it may become, as one word",
    ),
    broken(
        "what has no vector stands behind what has one",
        "retrieval.places:kept_places", "uid = fixed.get(place) or next(rest, None)",
        "uid = next(rest, None) or fixed.get(place)",
        "asking: what has no vector yet keeps its place",
    ),
)  # fmt: skip

SEARCH_MUTATIONS = (*FUSION, *RETRIEVAL, *ASKING, *LOOP, *RERANK, *LANGUAGE_MODEL, *GENERATION)
