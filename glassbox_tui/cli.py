"""The door: `glassbox-tui [NOTES]` opens the app, its subcommands run headless.

Standard output carries the result and nothing else; progress, notices and errors go to standard error. Exit codes: 0
done, 1 the run failed, 2 wrong use, 130 interrupted. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassbox_tui import __version__
from glassbox_tui.commands.output import (
    DONE,
    FAILED,
    INTERRUPTED,
    PROG,
    WRONG_USE,
    abandon_stdout,
    complain,
    open_streams,
    reason,
    show,
    show_json,
    tell,
    tolerant_streams,
    width,
)
from glassbox_tui.errors import GlassboxError, UsageError
from glassbox_tui.notes.bundled import bundled_corpus

if TYPE_CHECKING:
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.retrieval.trace import Trace
    from glassbox_tui.settings import Settings
    from glassbox_tui.views.look import Look

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
_SURROGATE = re.compile("[\ud800-\udfff]")
COMPARISONS = ("weights", "models", "chunks", "words", "feedback")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. No traceback for anything a user can cause."""
    # Our matrix products are small: a second BLAS thread saves nothing, and on a busy machine waiting for it costs tens
    # of milliseconds a search. Must be said before numpy is first imported; who has said otherwise is obeyed.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    args = list(sys.argv[1:] if argv is None else argv)
    open_streams()
    tolerant_streams()
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        abandon_stdout()  # whoever read us has seen enough
        return DONE
    except KeyboardInterrupt:
        return complain("stopped; what was indexed so far is kept", INTERRUPTED)
    except GlassboxError as error:
        return complain(str(error), WRONG_USE if _is_wrong_use(error) else FAILED)
    except OSError as error:
        abandon_stdout()  # it may be what failed
        return complain(reason(error), FAILED)


def _run(args: list[str]) -> int:
    if not args or (not args[0].startswith("-") and args[0] not in COMMANDS):
        return _open_app(args)
    options = _parser().parse_args(args)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
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
    retrieve.set_defaults(run=_retrieve)

    ask = commands.add_parser("ask", help="answer a question with sentences quoted from the notes")
    _query_options(ask)
    ask.add_argument("--json", action="store_true", help="the Trace and its answer as one JSON document")
    ask.set_defaults(run=_ask)

    for name, text in (("index", "index a folder or one file, or update its index"), ("ingest", "the same as index")):
        index = commands.add_parser(name, help=text)
        index.add_argument("path", metavar="PATH", help="a folder of notes, or one note")
        index.add_argument("--json", action="store_true", help="what was done as one JSON document")
        index.set_defaults(run=_index)

    measure = commands.add_parser("eval", help="measure every stage on labelled questions, or compare settings on them")
    measure.add_argument("--notes", metavar="DIR", help="a folder of notes, or docs.jsonl (default: the bundled notes)")
    measure.add_argument("--queries", metavar="FILE", help='lines of {"query", "relevant", "answers"}')
    measure.add_argument("--rounds", metavar="N", type=_count, help="rounds at most, rewrites included (default: 1)")
    measure.add_argument("--at", metavar="K,K", type=_cuts, help="more depths for recall and nDCG")
    measure.add_argument("--compare", choices=COMPARISONS, help="rows of variants in place of stages")
    measure.add_argument("--json", action="store_true", help="as one JSON document")
    measure.set_defaults(run=_eval)

    status = commands.add_parser("status", help="where the index is, what it holds, which files are not searchable")
    status.add_argument("--notes", metavar="DIR", help="the notes to report on (default: the bundled notes)")
    status.add_argument("--json", action="store_true", help="as one JSON document")
    status.set_defaults(run=_status)

    doctor = commands.add_parser("doctor", help="check the index and the models row by row, and mend them")
    doctor.add_argument("notes", metavar="NOTES", nargs="?", help="a folder of notes (default: the bundled notes)")
    doctor.add_argument("--repair", action="store_true", help="mend what is wrong; vectors that are sound are kept")
    doctor.add_argument("--json", action="store_true", help="the checks as one JSON document")
    doctor.set_defaults(run=_doctor)

    purge = commands.add_parser("purge", help="remove the index of a folder; the notes stay")
    purge.add_argument("notes", metavar="NOTES", nargs="?", help="the folder of notes; it may be gone")
    purge.add_argument("--gone", action="store_true", help="remove every index whose folder is gone")
    purge.add_argument("--yes", action="store_true", help="do not ask")
    purge.set_defaults(run=_purge)

    models = commands.add_parser("models", help="list the models there are, or pull one from a hub")
    actions = models.add_subparsers(metavar="list | pull", dest="action")
    models.set_defaults(run=_models, json=False)
    listing = actions.add_parser("list", help="all models: what each is for, whether it is here and in use")
    for part in (models, listing):
        part.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as one JSON document")
    pulls = [actions.add_parser("pull", help="fetch a model from the hub (HF_ENDPOINT names another)")]
    pulls.append(commands.add_parser("download-model", help="the same as models pull"))
    for pull in pulls:
        pull.add_argument("name", metavar="NAME", help="as `models list` names it")
        pull.set_defaults(run=_models, action="pull")

    bench = commands.add_parser("bench", help="time searches here, and compare with the plain way")
    bench.add_argument("--notes", metavar="DIR", help="the notes to search (default: the bundled notes)")
    bench.add_argument("--json", action="store_true", help="as one JSON document")
    bench.set_defaults(run=_bench)

    replay = commands.add_parser("open", help="replay a saved Trace in the app, without its notes")
    replay.add_argument("trace", metavar="TRACE.json", help="a file that `retrieve --json` or the app wrote")
    replay.set_defaults(run=_replay)

    config = commands.add_parser("config", help="where the config file is, and every value in force with its origin")
    config.add_argument("--json", action="store_true", help="as one JSON document")
    config.set_defaults(run=_config)

    selftest = commands.add_parser("selftest", help="check the program's invariants here, with your models")
    selftest.add_argument("--json", action="store_true", help="the checks as one JSON document")
    selftest.set_defaults(run=_selftest)
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


# -- commands ----------------------------------------------------------------------------------------------------------


def _retrieve(options: argparse.Namespace) -> int:
    query, notes = _query(options), _notes(options.notes)
    scope = _scope(options.scope, notes)
    with _open(notes, _settings(options)) as engine:
        trace = engine.search(query, mode=options.mode, scope=scope)
    if options.json:
        from glassbox_tui.retrieval.trace_json import to_dict

        tell(trace.notices)
        return show_json(to_dict(trace))
    if options.xray:
        from glassbox_tui.views.xray import xray

        sys.stdout.write(xray(trace, width=width(), look=_look()))
        return DONE
    from glassbox_tui.views.evidence import evidence

    tell(trace.notices)
    return show(evidence(trace, width=width(), look=_look()))


def _ask(options: argparse.Namespace) -> int:
    from glassbox_tui.answer.extract import answer

    query, notes = _query(options), _notes(options.notes)
    scope = _scope(options.scope, notes)
    with _open(notes, _settings(options)) as engine:
        trace = engine.search(query, scope=scope)
        result = answer(trace, engine)
    tell(trace.notices)
    if options.json:
        from glassbox_tui.retrieval.trace_json import to_dict

        return show_json(to_dict(trace) | {"answer": asdict(result)})
    from glassbox_tui.views.answer import answer_view

    return show(answer_view(result, trace))


def _index(options: argparse.Namespace) -> int:
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.views.progress import shown_progress

    notes = _existing(options.path)
    with shown_progress() as progress:
        engine = Engine.open(notes, _settings(options), progress)
        with engine:
            report = engine.update(progress)
            info, notices, file = engine.info(), engine.notices, engine.index_file
    tell(notices)
    code = FAILED if notes.is_file() and report.problems else DONE  # the one file asked for cannot be searched
    if options.json:
        problems = [{"path": path, "reason": why} for path, why in report.problems]
        warnings = [{"path": path, "warning": warning} for path, warning in report.warnings]
        document = asdict(report) | {"problems": problems, "warnings": warnings}
        show_json({"notes_dir": str(notes), "index_file": str(file), **document, "index": asdict(info)})
        return code
    from glassbox_tui.views.status import report_view

    show(report_view(report, str(notes)))
    return code


def _eval(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import evaluate
    from glassbox_tui.views import measures
    from glassbox_tui.views.progress import shown_progress

    if options.compare and (options.rounds or options.at):
        raise UsageError("--compare sets rounds and depths itself: leave out --rounds and --at")
    if options.queries is None and options.notes is not None:
        raise UsageError("name the labelled questions with --queries FILE")
    notes = _notes(options.notes)
    queries = bundled_corpus() / "queries.jsonl" if options.queries is None else _existing(options.queries)
    options.rounds = options.rounds or 1
    with shown_progress() as progress:
        if options.compare:
            found = evaluate.comparison(options.compare, notes, queries, _settings(options), progress)
        else:
            found = evaluate.evaluate(notes, queries, _settings(options), options.at or (), progress)
    tell(found.notices)
    if options.json:
        return show_json(found.document)
    view = measures.comparison_view if options.compare else measures.report_view
    return show(view(found.document, found.caption))


def _status(options: argparse.Namespace) -> int:
    from glassbox_tui.commands.status import status
    from glassbox_tui.views.status import status_view

    found = status(_notes(options.notes), _settings(options))
    return show_json(asdict(found)) if options.json else show(status_view(found))


def _doctor(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import doctor
    from glassbox_tui.views.doctor import doctor_view
    from glassbox_tui.views.progress import shown_progress

    notes, settings = _notes(options.notes), _settings(options)
    with shown_progress() as progress:
        found = doctor.diagnose(notes, settings, progress)
        if options.repair and not found.healthy:
            found = doctor.repair(notes, settings, progress, found)
    tell(found.notices)
    show_json(doctor.document(found)) if options.json else show(doctor_view(found.found, found.left, _look()))
    return DONE if found.healthy else FAILED


def _purge(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import purge

    if (options.notes is None) != options.gone:
        raise UsageError("purge takes the folder of notes whose index is to go, or --gone, and not both")
    settings = _settings(options)
    if options.gone:
        found = [index for index in purge.kept(settings) if index.is_gone]
    else:
        found = purge.of_notes(settings, _named(options.notes))
    if not found:
        if options.gone:
            return complain("every index is of a folder that is there", DONE)
        raise GlassboxError(f"there is no index of {options.notes}")
    tell(purge.lines(found))
    if not options.yes and not _agreed(f"remove {'it' if len(found) == 1 else f'these {len(found)}'}?"):
        return complain("nothing was removed", FAILED)
    for index in found:
        purge.remove(index)
    return complain(f"removed; the notes {'are' if not options.gone else 'were'} untouched", DONE)


def _models(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import models
    from glassbox_tui.views.models import models_view, to_dict
    from glassbox_tui.views.progress import shown_progress

    settings = _settings(options)
    if options.action == "pull":
        with shown_progress() as progress:
            folder = models.pull(options.name, settings, progress, lambda sentence: tell([sentence]))
        print(folder)
        return DONE
    rows, place = models.rows(settings), str(settings.models_dir)
    return show_json(to_dict(rows, place)) if options.json else show(models_view(rows, place))


def _config(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import config
    from glassbox_tui.config import read_config

    found = read_config()
    document = config.document(found, os.environ)
    from glassbox_tui.tui.start import checked_keys

    checked_keys(found)
    return show_json(document) if options.json else show(config.view(document))


def _bench(options: argparse.Namespace) -> int:
    from glassbox_tui.lab.bench import bench, to_dict
    from glassbox_tui.lab.queries import read_queries
    from glassbox_tui.views.bench import bench_view

    questions = [q.query for q in read_queries(bundled_corpus() / "queries.jsonl")]
    with _open(_notes(options.notes), _settings(options)) as engine:
        document = to_dict(bench(engine, questions))
    return show_json(document) if options.json else show(bench_view(document))


def _selftest(options: argparse.Namespace) -> int:
    from glassbox_tui.selftest.report import report
    from glassbox_tui.selftest.run import run, to_dict
    from glassbox_tui.views.progress import shown_progress

    settings = _settings(options)
    with shown_progress() as progress:
        checks = run(settings, progress)
    show_json(to_dict(checks)) if options.json else show(report(checks, ascii=_look() == "ascii"))
    return DONE if all(check.ok for check in checks) else FAILED


def _open_app(args: list[str]) -> int:
    if len(args) > 1:
        raise UsageError(f"the app takes one folder of notes, not {len(args)} arguments: {' '.join(args)}")
    notes = _notes_or_command(args[0]) if args else bundled_corpus()
    _need_terminal()
    return _run_app(notes)


def _replay(options: argparse.Namespace) -> int:
    file = _existing(options.trace)
    _need_terminal()
    from glassbox_tui.tui.replay import read_trace

    return _run_app(file, read_trace(file))


def _run_app(notes: Path, trace: Trace | None = None) -> int:
    from glassbox_tui.config import read_config

    config = read_config()
    settings = _settings(argparse.Namespace())
    from glassbox_tui.tui.app import run

    return run(notes, settings, config, trace=trace)


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the app needs a terminal; without one use a command, as in `{PROG} retrieve QUERY`")


# -- helpers -----------------------------------------------------------------------------------------------------------


def _open(notes: Path, settings: Settings) -> Engine:
    """The engine on `notes`, its index brought up to date first where that is possible."""
    from glassbox_tui.index.schema import StoreError
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.views.progress import shown_progress

    with shown_progress() as progress:
        engine = Engine.open(notes, settings, progress)
        try:
            report = engine.update(progress)
        except (StoreError, OSError) as error:  # a full disk, a folder that may only be read
            if not engine.snapshot.chunks:
                engine.close()
                raise
            tell([f"the index could not be brought up to date: {reason(error)}", "this is the index as it stands"])
            return engine
        except BaseException:
            engine.close()
            raise
    if report.locked:
        tell(["another process is indexing this folder: this is the index as it stands"])
    if report.problems and (report.added or report.changed):
        count = "1 file is" if len(report.problems) == 1 else f"{len(report.problems)} files are"
        tell([f"{count} not searchable: `{PROG} status --notes {shlex.quote(str(notes))}` says why"])
    return engine


def _settings(options: argparse.Namespace) -> Settings:
    from glassbox_tui.config import read_config
    from glassbox_tui.settings import load_settings

    rounds = getattr(options, "rounds", None)
    return load_settings(
        file=read_config().settings,
        top_k=getattr(options, "top_k", None),
        max_rewrites=None if rounds is None else rounds - 1,
    )


def _query(options: argparse.Namespace) -> str:
    words: list[str] = options.query
    query = _valid(sys.stdin.read() if words == ["-"] else " ".join(words)).strip()
    if not query:
        raise UsageError("the query is empty: write the question after the command")
    return query


def _valid(text: str) -> str:
    """Text without lone surrogates, which no model and no JSON reader takes.

    They stand for bytes that the locale cannot read: UTF-8 under a C locale, as cron may have it, or no text.
    """
    if not _SURROGATE.search(text):
        return text
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return _SURROGATE.sub("\ufffd", text)


def _scope(given: str, notes: Path) -> str:
    """`given` relative to the notes folder, as the index writes paths. Raises UsageError for what is not there."""
    from glassbox_tui.notes.scan import path_text

    if not given:
        return ""
    root = notes if notes.is_dir() else notes.parent
    place = _existing(str(root / Path(given).expanduser()))
    try:
        return path_text(Path(os.path.abspath(place)).relative_to(root).as_posix())  # noqa: PTH100 - ".." goes, links stay
    except ValueError:
        raise UsageError(f"{given} is not inside the notes {notes}: --in takes a folder or note below them") from None


def _notes(given: str | None) -> Path:
    return bundled_corpus() if given is None else _existing(given)


def _existing(given: str) -> Path:
    if not given:  # Path("") would be the current folder
        raise UsageError("the name of the notes is empty: name a folder or a file")
    try:
        path = Path(given).expanduser()
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"no such file or folder: {given}") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~name of nobody
        raise UsageError(f"cannot open {given}: {getattr(error, 'strerror', None) or error}") from None
    return path.absolute()


def _named(given: str) -> Path:
    """A path that need not lead anywhere."""
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError as error:  # ~name of nobody
        raise UsageError(f"cannot open {given}: {error}") from None


def _agreed(question: str) -> bool:
    """Whether the person at the terminal says yes. Raises UsageError where there is none to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("there is no terminal to ask at: say --yes to remove it")
    print(f"{PROG}: {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _notes_or_command(word: str) -> Path:
    """The path that `word` names; otherwise a sentence that names it and the command it resembles."""
    if os.path.lexists(os.path.expanduser(word)):  # noqa: PTH111 - a word may hold what Path refuses
        return _existing(word)
    close = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0.5)
    hint = f"did you mean `{PROG} {close[0]}`?" if close else f"the commands are {', '.join(COMMANDS)}"
    raise UsageError(f"{word!r} is neither a folder of notes nor a command: {hint}")


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


def _is_wrong_use(error: GlassboxError) -> bool:
    from glassbox_tui.settings import SettingsError

    return isinstance(error, UsageError | SettingsError)


# -- output ------------------------------------------------------------------------------------------------------------


def _look() -> Look:
    """How standard output can be drawn on, by the options and its encoding; the measure of text is set to match."""
    from glassbox_tui.config import load_ui, read_config
    from glassbox_tui.views.look import look_of

    ui = load_ui(file=read_config().ui)
    if ui.ambiguous == "wide":
        from glassbox_tui.tui.widths import ambiguous_is_wide

        ambiguous_is_wide()
    ascii_only = not (sys.stdout.encoding or "ascii").lower().startswith("utf")
    return look_of(ascii=ui.ascii == "yes" or (ui.ascii == "auto" and ascii_only), wide=ui.ambiguous == "wide")
