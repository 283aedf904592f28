"""How models run on the CPU: threads that are allowed, bounded memory, nothing on the screen."""

from __future__ import annotations

import os
from typing import Any

_MAX_THREADS = 8


def threads() -> int:
    """CPUs this process may use (affinity: taskset, a container's cpuset), at least 1, at most 8."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    return min(max(1, allowed), _MAX_THREADS)


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
