"""The words of the command line: every command, its options, what they say of themselves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import NoReturn

from glassbox_tui import __version__
from glassbox_tui.commands.output import PROG

Run = Callable[[argparse.Namespace], int]

COMMANDS = (
    "retrieve",
    "ask",
    "index",
    "ingest",
    "eval",
    "status",
    "doctor",
    "purge",
    "models",
    "download-model",
    "open",
    "config",
    "selftest",
    "bench",
)
MODES = ("hybrid", "bm25", "dense")
COMPARISONS = ("weights", "models", "chunks", "words", "feedback", "llm")


class _Parser(argparse.ArgumentParser):
    """Says what to do about a query that looks like an option."""

    def error(self, message: str) -> NoReturn:
        asks = self.prog.split()[-1] in ("retrieve", "ask")
        hint = '; a question that begins with - stands behind --, as in: -- -car "open source"' if asks else ""
        super().error(message + hint)


def parser_of(runs: Mapping[str, Run]) -> argparse.ArgumentParser:
    """The parser of every command; what it reads holds in `run` the function of `runs` that carries it out."""
    parser = _Parser(
        prog=PROG,
        usage=f"{PROG} [NOTES]\n       {PROG} COMMAND ...",
        description="Search your own notes in the terminal and see how every result was found.",
        epilog="Without a command the app opens on NOTES (default: the bundled demo notes). "
        f"`{PROG} COMMAND --help` says more.",
    )
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog=PROG)

    retrieve = commands.add_parser("retrieve", help="show the evidence for a question, stage by stage")
    _query_options(retrieve)
    retrieve.add_argument("--mode", choices=MODES, default="hybrid", help="which first stages run (default: hybrid)")
    output = retrieve.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="the whole Trace as one JSON document")
    output.add_argument("--xray", action="store_true", help="the whole Trace as text: every stage, score and part")
    output.add_argument("--report", action="store_true", help="the search as a Markdown report")
    retrieve.set_defaults(run=runs["retrieve"])

    ask = commands.add_parser("ask", help="answer a question from the notes: by a language model, or by quoting them")
    _query_options(ask)
    ask.add_argument("--extract", action="store_true", help="quote the notes, also where a language model could write")
    ask.add_argument("--json", action="store_true", help="the Trace and its answer as one JSON document")
    ask.set_defaults(run=runs["ask"])

    for name, text in (("index", "index a folder or one file, or update its index"), ("ingest", "the same as index")):
        index = commands.add_parser(name, help=text)
        index.add_argument("path", metavar="PATH", help="a folder of notes, or one note")
        index.add_argument("--json", action="store_true", help="what was done as one JSON document")
        index.set_defaults(run=runs["index"])

    measure = commands.add_parser("eval", help="measure every stage on labelled questions, or compare settings on them")
    measure.add_argument("--notes", metavar="DIR", help="a folder of notes, or docs.jsonl (default: the bundled notes)")
    measure.add_argument("--queries", metavar="FILE", help='lines of {"query", "relevant", "answers"}')
    measure.add_argument("--rounds", metavar="N", type=_count, help="rounds at most, rewrites included (default: 1)")
    measure.add_argument("--at", metavar="K,K", type=_cuts, help="more depths for recall and nDCG")
    measure.add_argument("--limit", metavar="N", type=_count, help="only the first N questions")
    measure.add_argument("--compare", choices=COMPARISONS, help="rows of variants in place of stages")
    measure.add_argument(
        "--claims",
        metavar="FILE",
        nargs="?",
        const="",
        help='how well the claim check tells true from false; FILE: lines of {"claim", "swapped", "source", "kind"}',
    )
    measure.add_argument("--json", action="store_true", help="as one JSON document")
    measure.set_defaults(run=runs["eval"])

    status = commands.add_parser("status", help="where the index is, what it holds, which files are not searchable")
    status.add_argument("--notes", metavar="DIR", help="the notes to report on (default: the bundled notes)")
    status.add_argument("--json", action="store_true", help="as one JSON document")
    status.set_defaults(run=runs["status"])

    doctor = commands.add_parser("doctor", help="check the index and the models row by row, and mend them")
    doctor.add_argument("notes", metavar="NOTES", nargs="?", help="a folder of notes (default: the bundled notes)")
    doctor.add_argument("--repair", action="store_true", help="mend what is wrong; vectors that are sound are kept")
    doctor.add_argument("--json", action="store_true", help="the checks as one JSON document")
    doctor.set_defaults(run=runs["doctor"])

    purge = commands.add_parser("purge", help="remove the index of a folder; the notes stay")
    purge.add_argument("notes", metavar="NOTES", nargs="?", help="the folder of notes; it may be gone")
    purge.add_argument("--gone", action="store_true", help="remove every index whose folder is gone")
    purge.add_argument("--yes", action="store_true", help="do not ask")
    purge.set_defaults(run=runs["purge"])

    models = commands.add_parser("models", help="list the models there are, or pull one from a hub")
    actions = models.add_subparsers(metavar="list | pull", dest="action")
    models.set_defaults(run=runs["models"], json=False, measure=None)
    listing = actions.add_parser("list", help="all models: what each is for, whether it is here and in use")
    listing.add_argument(
        "--measure",
        metavar="NAME",
        nargs="?",
        const="",
        help="first measure the speed and memory of that model here, or of all that are here"
        " (rerankers made of the generator by name only: they take minutes)",
    )
    for part in (models, listing):
        part.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as one JSON document")
    pulls = [actions.add_parser("pull", help="fetch a model from the hub (HF_ENDPOINT names another)")]
    pulls.append(commands.add_parser("download-model", help="the same as models pull"))
    for pull in pulls:
        pull.add_argument("name", metavar="NAME", help="as `models list` names it, or any OWNER/REPO/FILE.gguf")
        pull.set_defaults(run=runs["models"], action="pull")

    bench = commands.add_parser("bench", help="time searches here, and compare with the plain way")
    bench.add_argument("--notes", metavar="DIR", help="the notes to search (default: the bundled notes)")
    bench.add_argument(
        "--edits",
        metavar="N",
        type=_count,
        help="instead: index a copy of them anew, edit N notes of it, and time how soon that shows",
    )
    bench.add_argument(
        "--threads",
        metavar="N",
        type=_count,
        nargs="?",
        const=0,
        help="instead: how fast the language model is at 1, 2, 4, ... to N threads (default: the allowed CPUs)",
    )
    bench.add_argument("--json", action="store_true", help="as one JSON document")
    bench.set_defaults(run=runs["bench"])

    replay = commands.add_parser("open", help="replay a saved Trace in the app, without its notes")
    replay.add_argument("trace", metavar="TRACE.json", help="a file that `retrieve --json` or the app wrote")
    replay.set_defaults(run=runs["open"])

    config = commands.add_parser("config", help="where the config file is, and every value in force with its origin")
    config.add_argument("--json", action="store_true", help="as one JSON document")
    config.set_defaults(run=runs["config"])

    selftest = commands.add_parser("selftest", help="check the program's invariants here, with your models")
    selftest.add_argument("--json", action="store_true", help="the checks as one JSON document")
    selftest.set_defaults(run=runs["selftest"])
    return parser


def _query_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query",
        metavar="QUERY",
        nargs="+",
        help="the question; - reads it from standard input; after -- it may start with -",
    )
    parser.add_argument("--notes", metavar="DIR", help="a folder of notes, or one note (default: the bundled notes)")
    parser.add_argument(
        "--in",
        dest="scope",
        metavar="PATH",
        default="",
        help="search only this folder or note (its path below the notes, or from the root)",
    )
    parser.add_argument("--top-k", metavar="N", type=_count, help="how many hits (default: GLASSBOX_TOPK or 8)")
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=_count,
        help="rounds at most, rewrites included (default: GLASSBOX_MAX_REWRITES + 1, so 3)",
    )


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{value} is not between 1 and 1000")
    return value


def _cuts(text: str) -> tuple[int, ...]:
    return tuple(_count(part.strip()) for part in text.split(","))
