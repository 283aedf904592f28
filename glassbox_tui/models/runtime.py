"""How models run on the CPU: threads that are allowed, bounded memory, nothing on the screen."""

from __future__ import annotations

import os
from typing import Any

from glassbox_tui.settings import Settings

_MAX_THREADS = 8
# Writing tokens is bound by memory: beyond a few threads they only wait for each other.
_MAX_GENERATION_THREADS = 4


def allowed_cpus() -> int:
    """CPUs this process may use (affinity: taskset, a container's cpuset), at least 1."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    return max(1, allowed)


def threads() -> int:
    """Threads of an embedder or reranker: the allowed CPUs, at most 8."""
    return min(allowed_cpus(), _MAX_THREADS)


def auto_threads(settings: Settings, allowed: int) -> int:
    """Threads for generation: GLASSBOX_LLM_THREADS as given; 0: four, or the `allowed` CPUs if fewer, never below 1."""
    return settings.llm_threads or max(1, min(_MAX_GENERATION_THREADS, allowed))


def session_options() -> Any:
    """onnxruntime.SessionOptions: deterministic, quiet, bounded memory, no core spinning while nobody asks anything."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    options.log_severity_level = 3  # errors only: anything else would paint over the screen
    options.enable_mem_pattern = False  # a pattern is kept for each text length
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
