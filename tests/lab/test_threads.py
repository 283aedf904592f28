"""The thread table says what was measured and marks what the program would take; how fast it was is no promise."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from glassbox_tui.lab import threads
from glassbox_tui.lab.threads import thread_counts, thread_table, to_dict
from glassbox_tui.models import generators
from glassbox_tui.models.errors import ModelError
from glassbox_tui.models.runtime import allowed_cpus
from glassbox_tui.progress import Progress
from glassbox_tui.settings import Settings, load_settings
from glassbox_tui.views.bench import threads_view


@pytest.mark.parametrize(
    ("most", "automatic", "counts"),
    [
        (1, 1, [1]),
        (2, 2, [1, 2]),
        (8, 4, [1, 2, 4, 8]),
        (6, 4, [1, 2, 4, 6]),
        (12, 3, [1, 2, 3, 4, 8, 12]),
        (1, 4, [1, 4]),
    ],
)
def test_powers_of_two_the_most_and_the_automatic_choice_are_measured(
    most: int, automatic: int, counts: list[int]
) -> None:
    assert thread_counts(most, automatic) == counts


@pytest.mark.llm
def test_the_table_of_a_real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "TOKENS", 3)
    steps: list[Progress] = []
    table = thread_table(load_settings(), 1, steps.append)
    document = json.loads(json.dumps(to_dict(table)))
    automatic = min(4, allowed_cpus())
    assert [(row["threads"], row["automatic"]) for row in document["rows"]] == sorted(
        {(1, automatic == 1), (automatic, True)}
    )
    assert all(row["reading"] > 0 and row["writing"] > 0 for row in document["rows"])
    assert (document["model"], document["cpus"], document["tokens"]) == ("SmolLM2-135M-Instruct", allowed_cpus(), 3)
    assert [step.total for step in steps] == [len(table.rows)] * len(table.rows)
    console = Console(width=80)
    with console.capture() as said:
        console.print(threads_view(document))
    lines = said.get().splitlines()
    assert "SmolLM2-135M-Instruct" in lines[0] and "best of 2" in lines[0]
    assert [line.split()[0] for line in lines[2:]] == [str(row.threads) for row in table.rows]
    assert [line.rstrip().endswith("automatic") for line in lines[2:]] == [row.automatic for row in table.rows]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Settings(llm_path="/no/such.gguf"), r"/no/such\.gguf"),
        (Settings(llm_server="http://127.0.0.1:1"), "measured with a model file"),
        (Settings(data="/nowhere"), "no language model"),
    ],
)
def test_without_a_model_file_it_says_why(given: Settings, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "bundled_file", lambda: None)
    with pytest.raises(ModelError, match=words):
        thread_table(given, 0, lambda _: None)
