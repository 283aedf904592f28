"""Memory that a GGUF model takes, estimated from its header, and what this machine has to spare."""

from __future__ import annotations

from pathlib import Path

from glassbox_tui.models.gguf import Header, header

_CELL_BYTES = 2  # keys and values are kept as float16
_WORK_MB = 64.0  # the graph's own buffers, at our small batches


def trained_context(found: Header) -> int:
    """Tokens that the model was trained to look back on; 0 where the header does not say."""
    return _number(found, "context_length")


def memory_mb(path: Path, context: int) -> float:
    """Megabytes for the weights and the keys and values of `context` tokens; an upper estimate. Raises ModelError."""
    return path.stat().st_size / 1e6 + cache_mb(header(path), context) + _WORK_MB


def cache_mb(found: Header, context: int) -> float:
    """Megabytes of keys and values of `context` tokens: 2 x layers x KV heads x head size x 2 bytes each."""
    heads = _number(found, "attention.head_count") or 1
    size = _number(found, "embedding_length") / heads
    both = (_number(found, "attention.key_length") or size) + (_number(found, "attention.value_length") or size)
    kv_heads = _number(found, "attention.head_count_kv") or heads
    return _number(found, "block_count") * kv_heads * both * _CELL_BYTES * context / 1e6


def spare_mb() -> float | None:
    """Megabytes that can still be had without swapping; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1000.0
    except (OSError, ValueError, IndexError):
        pass
    return None


def _number(found: Header, key: str) -> int:
    """A number of the architecture; 0 where the header has none (a list by layer is not read)."""
    value = found.values.get(f"{found.values.get('general.architecture')}.{key}", 0)
    return int(value) if isinstance(value, int | float) else 0
