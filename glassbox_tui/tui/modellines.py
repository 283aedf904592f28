"""The models screen as lines: pure functions of its state and the size. Names and paths come from the user's disk."""

from __future__ import annotations

from rich.text import Text

from glassbox_tui.models.rows import KNOBS, ModelRow
from glassbox_tui.tui.browsing import first_line
from glassbox_tui.tui.cells import BAD, DIM, GOOD, HEAD, WARN, cut, ends, fit, wrap
from glassbox_tui.tui.conditions import home, middle
from glassbox_tui.tui.keys import key_of
from glassbox_tui.tui.modelstate import Models, lines_of
from glassbox_tui.tui.sentences import told
from glassbox_tui.tui.words import later, say
from glassbox_tui.views.models import measured_words, memory_words, short_speed, speed_words
from glassbox_tui.views.plain import line as plain
from glassbox_tui.views.plain import number

_TITLES = {"embedder": later("embedders"), "reranker": later("rerankers"), "generator": later("generators")}
_SIZE, _LICENCE, _SPEED, _MEMORY, _STATE = 9, 13, 15, 9, 9  # cells of the columns
LEAST = 72  # cells that the list needs, and so do the details at its side
_ROOMY = 100  # cells from which the list has a column for memory


def heading(models: Models, width: int) -> list[Text]:
    """One line: how many there are and where they are kept; or what is being measured."""
    left = Text().append(" " + say("models"), HEAD)
    if models.loaded:
        here = sum(row.present for row in models.rows)
        left.append("  " + say("{} here, {} known", here, len(models.rows)))
    if models.measuring:
        right = Text(cut(Text(measuring_words(models)), width // 2).plain + " ", WARN)
    else:
        right = Text(middle(home(models.place), max(8, width - left.cell_len - 4)) + " ", DIM)
    return [ends(left, right, width)]


def measuring_words(models: Models) -> str:
    """What is being measured, and how far that is."""
    if not models.measuring:
        return ""
    name, step = plain(models.measuring), models.step
    if models.stopping:
        return say("stopping the measurement of {} ...", name)
    if step is None:
        return say("loading {} ...", name)
    if step.phase == "measure":
        return say("measuring {} ...", name)
    return say("preparing {}: {} of {}", name, step.done, step.total)


def listing(models: Models, width: int, height: int, *, trouble: str = "") -> list[Text]:
    """The head of the columns and the part of the list that fits; `trouble` is why there may be none yet."""
    if not models.rows:
        return wrap(_nothing(models, trouble), width)
    lines = [Text(_head(width), DIM)]
    of = lines_of(models)
    shown = max(1, height - 1)
    top = first_line(models.top, of.index(models.index), len(of), shown)
    for at in range(top, min(top + shown, len(of))):
        number_of = of[at]
        if number_of is None:
            following = of[at + 1]
            assert following is not None
            lines.append(Text(" " + say(_TITLES[models.rows[following].entry.kind]), HEAD))
            continue
        line = _row(models, models.rows[number_of], width)
        lines.append(Text(line.plain, "reverse") if number_of == models.index else line)
    return lines


def _nothing(models: Models, trouble: str) -> Text:
    if models.failure or trouble:
        return Text(plain(told(models.failure or trouble)), BAD)
    return Text(say("listing the models ..."), DIM)


def _head(width: int) -> str:
    head = fit("", _name_width(width)) + fit(say("size"), _SIZE, right=True) + "  " + fit(say("licence"), _LICENCE)
    if width >= _ROOMY:
        head += fit(say("memory"), _MEMORY, right=True)
    return fit(head + fit(say("speed here"), _SPEED, right=True), width)


def _name_width(width: int) -> int:
    others = _SIZE + 2 + _LICENCE + _SPEED + _STATE + 2 + (_MEMORY if width >= _ROOMY else 0)
    return max(12, width - others)


def _row(models: Models, row: ModelRow, width: int) -> Text:
    entry, mark = row.entry, "!" if row.broken else "*" if row.in_use else "+" if row.present else " "
    look = BAD if row.broken else HEAD if row.in_use else "" if row.present else DIM
    line = Text().append(fit(f" {mark} {plain(entry.name)}", _name_width(width)), look)
    line.append(fit(size_words(row), _SIZE, right=True), "" if row.present else DIM)
    line.append("  " + fit(plain(say(entry.licence)), _LICENCE), "" if row.present else DIM)
    if width >= _ROOMY:
        line.append(fit(_memory(row), _MEMORY, right=True))
    line.append(fit(_speed(models, row), _SPEED, right=True), WARN if models.measuring == entry.name else "")
    word, style = _state(row)
    line.append("  " + fit(word, _STATE), style)
    return cut(line, width).append(" " * max(0, width - line.cell_len))


def _state(row: ModelRow) -> tuple[str, str]:
    if row.broken:
        return say("trouble"), BAD
    if row.in_use:
        return say("in use"), GOOD
    return (say("here"), "") if row.present else ("-", DIM)


def _speed(models: Models, row: ModelRow) -> str:
    if models.measuring == row.entry.name:
        return say("measuring")
    if row.speed is not None:
        return short_speed(row.speed, say)
    return "-"


def _memory(row: ModelRow) -> str:
    memory = row.speed.memory_mb if row.speed is not None else None
    return "-" if memory is None else say("{} MB", f"{memory:,.0f}")


def size_words(row: ModelRow) -> str:
    size = row.entry.size_mb
    return "-" if not size else say("{} GB", f"{size / 1000:.1f}") if size >= 1000 else say("{} MB", f"{size:.0f}")


def details(models: Models, width: int, height: int) -> list[Text]:
    """All that is known of the selected model; what matters most stands first, for there may be few lines."""
    row = models.row
    if row is None:
        return []
    entry = row.entry
    lines = [cut(Text(plain(entry.name), HEAD), width)]
    if entry.purpose:
        lines += wrap(Text(plain(say(entry.purpose))), width)
    lines += wrap(Text(plain(told(row.why)), BAD if row.broken else GOOD if row.in_use else ""), width)
    lines += _measured(models, row, width)
    lines += wrap(Text(_facts(row), DIM), width)
    if entry.source:
        lines += wrap(Text(say("source") + "  ", DIM).append(plain(told(entry.source)), "not dim"), width, indent=2)
    if row.path:
        name = Text(say("file") + "  ", DIM)
        lines.append(name.append(middle(home(row.path), max(8, width - name.cell_len)), "not dim"))
    if entry.kind != "generator":
        judged = ", ".join(f"{signal} {number(value)}" for signal, value in entry.thresholds.items())
        words = f"{judged or say('no threshold')} ({told(entry.calibration)})"
        lines += wrap(Text(say("sufficient from") + "  ", DIM).append(plain(words), "not dim"), width, indent=2)
    return lines[:height]


def _measured(models: Models, row: ModelRow, width: int) -> list[Text]:
    if models.measuring == row.entry.name:
        return wrap(Text(measuring_words(models), WARN), width)
    failure = dict(models.failures).get(row.entry.name)
    if failure:
        return wrap(Text(plain(told(failure)), BAD), width)
    if row.speed is None:
        return [Text(say("not measured here yet: {} measures it", key_of("model_measure")), DIM)] if row.present else []
    figures = "; ".join(filter(None, [speed_words(row.speed, say), memory_words(row.speed, say)]))
    when = measured_words(row.speed, say)
    return wrap(Text().append(say("here") + "  ", DIM).append(figures).append(f" ({when})", DIM), width, indent=2)


def _facts(row: ModelRow) -> str:
    entry = row.entry
    words = [say("licence {}", plain(say(entry.licence)))]
    if entry.size_mb:
        words.append(size_words(row))
    if entry.dimension:
        words.append(say("{} dimensions", entry.dimension))
    if entry.token_limit:
        limit = say("{} tokens of context") if entry.kind == "generator" else say("reads {} tokens at once")
        words.append(limit.format(f"{entry.token_limit:,}"))
    if entry.kind == "reranker":
        words.append(say("weight {}", f"{entry.rerank_weight:g}"))
    return ", ".join(words)


def setting_line(row: ModelRow) -> tuple[str, str, str]:
    """(field, value, environment name) of the setting that chooses this model."""
    field = {"embedder": "embed_model", "reranker": "rerank_model", "generator": "llm_path"}[row.entry.kind]
    value = row.path if row.entry.kind == "generator" else row.entry.name
    return field, value, KNOBS[row.entry.kind]
