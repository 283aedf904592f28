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
    show_text,
    tell,
    tolerant_streams,
    width,
)
from glassbox_tui.commands.parser import COMMANDS, parser_of
from glassbox_tui.errors import GlassboxError, UsageError
from glassbox_tui.notes.bundled import bundled_corpus

if TYPE_CHECKING:
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.retrieval.trace import Trace
    from glassbox_tui.settings import Settings
    from glassbox_tui.views.look import Look

_SURROGATE = re.compile("[\ud800-\udfff]")


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
    options = parser_of(RUNS).parse_args(args)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


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

        return show_text(xray(trace, width=width(), look=_look()))
    if options.report:
        from glassbox_tui.views.report import report

        sys.stdout.write(report(trace))
        return DONE
    from glassbox_tui.views.evidence import evidence

    tell(trace.notices)
    return show(evidence(trace, width=width(), look=_look()))


def _ask(options: argparse.Namespace) -> int:
    from glassbox_tui.commands.ask import asked

    query, notes = _query(options), _notes(options.notes)
    scope = _scope(options.scope, notes)
    with _open(notes, _settings(options)) as engine:
        trace = engine.search(query, scope=scope)
        tell(trace.notices)
        found, stopped = asked(trace, engine, silent=options.json)
    if options.json:
        from glassbox_tui.retrieval.trace_json import to_dict

        show_json(to_dict(trace) | {"answer": asdict(found)})
    return INTERRUPTED if stopped else DONE


def _index(options: argparse.Namespace) -> int:
    from glassbox_tui.commands.asking import held_back
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.views.progress import shown_progress

    notes = _existing(options.path)
    with shown_progress() as progress:
        engine = Engine.open(notes, _settings(options), progress)
    with engine:
        hold = held_back(engine)
        with shown_progress() as progress:
            report = engine.update(progress, hold=lambda: hold)
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
    if options.claims is not None:
        return _eval_claims(options)
    if options.queries is None and options.notes is not None:
        raise UsageError("name the labelled questions with --queries FILE")
    notes = _notes(options.notes)
    queries = bundled_corpus() / "queries.jsonl" if options.queries is None else _existing(options.queries)
    options.rounds = options.rounds or 1
    with shown_progress() as progress:
        if options.compare:
            found = evaluate.comparison(options.compare, notes, queries, _settings(options), progress, options.limit)
        else:
            found = evaluate.evaluate(notes, queries, _settings(options), options.at or (), progress, options.limit)
    tell(found.notices)
    if options.json:
        return show_json(found.document)
    view = measures.comparison_view if options.compare else measures.report_view
    return show(view(found.document, found.caption))


def _eval_claims(options: argparse.Namespace) -> int:
    from glassbox_tui.commands.claims import claims_report
    from glassbox_tui.views.measures import claims_view
    from glassbox_tui.views.progress import shown_progress

    if options.compare or options.queries or options.rounds or options.at or options.limit:
        raise UsageError("--claims goes with --notes and --json only: it makes its claims from the notes")
    notes = _notes(options.notes)
    by_hand = _existing(options.claims) if options.claims else None
    if by_hand is None and options.notes is None:
        by_hand = bundled_corpus() / "claims.jsonl"
    with shown_progress() as progress:
        document = claims_report(notes, by_hand, _settings(options), progress)
    return show_json(document) if options.json else show(claims_view(document))


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
    tell(models.notices(settings))
    failed = 0
    if options.measure is not None:
        with shown_progress() as progress:
            failed = models.measure(options.measure, settings, progress, lambda sentence: tell([sentence]))
    rows, place = models.rows(settings), str(settings.models_dir)
    show_json(to_dict(rows, place)) if options.json else show(models_view(rows, place, width()))
    return FAILED if failed else DONE


def _config(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import config
    from glassbox_tui.config import read_config

    found = read_config()
    document = config.document(found, os.environ)
    from glassbox_tui.tui.start import checked_keys

    checked_keys(found)
    return show_json(document) if options.json else show(config.view(document))


def _bench(options: argparse.Namespace) -> int:
    from glassbox_tui.commands import bench as long
    from glassbox_tui.lab.bench import bench, to_dict
    from glassbox_tui.lab.queries import read_queries
    from glassbox_tui.views.bench import bench_view, edits_view, threads_view

    if options.threads is not None:
        if options.edits or options.notes:
            raise UsageError("--threads goes with --json only: it searches no notes")
        document = long.threads(_settings(options), options.threads)
        return show_json(document) if options.json else show(threads_view(document))
    questions = [q.query for q in read_queries(bundled_corpus() / "queries.jsonl")]
    if options.edits:
        document = long.edits(_notes(options.notes), _settings(options), questions, options.edits)
        return show_json(document) if options.json else show(edits_view(document))
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
    from glassbox_tui.first_picture import first_picture

    with first_picture(str(notes)):
        from glassbox_tui.tui.app import run

        return run(notes, settings, config, trace=trace)


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the app needs a terminal; without one use a command, as in `{PROG} retrieve QUERY`")


RUNS: dict[str, Callable[[argparse.Namespace], int]] = {
    "retrieve": _retrieve,
    "ask": _ask,
    "index": _index,
    "eval": _eval,
    "status": _status,
    "doctor": _doctor,
    "purge": _purge,
    "models": _models,
    "bench": _bench,
    "open": _replay,
    "config": _config,
    "selftest": _selftest,
}


# -- helpers -----------------------------------------------------------------------------------------------------------


def _open(notes: Path, settings: Settings) -> Engine:
    """The engine on `notes`, its index brought up to date first where that is possible."""
    from glassbox_tui.commands.asking import held_back
    from glassbox_tui.index.schema import StoreError
    from glassbox_tui.retrieval.engine import Engine
    from glassbox_tui.views.progress import shown_progress

    with shown_progress() as progress:
        engine = Engine.open(notes, settings, progress)
    hold = held_back(engine)
    with shown_progress() as progress:
        try:
            report = engine.update(progress, hold=lambda: hold)
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
        answers="extract" if getattr(options, "extract", False) else None,
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


def _is_wrong_use(error: GlassboxError) -> bool:
    from glassbox_tui.settings import SettingsError

    return isinstance(error, UsageError | SettingsError)


# -- output ------------------------------------------------------------------------------------------------------------


def _look() -> Look:
    """How standard output can be drawn on, by the options and its encoding; the measure of text is set to match."""
    from glassbox_tui.config import load_ui, read_config
    from glassbox_tui.views import widths
    from glassbox_tui.views.look import look_of

    ui = load_ui(file=read_config().ui)
    widths.ambiguous_is_wide() if ui.ambiguous == "wide" else widths.as_the_widest_terminal()
    ascii_only = not (sys.stdout.encoding or "ascii").lower().startswith("utf")
    return look_of(ascii=ui.ascii == "yes" or (ui.ascii == "auto" and ascii_only), wide=ui.ambiguous == "wide")
