"""Which CPUs have the features that headrace knows."""

from __future__ import annotations

import re
from pathlib import Path

import headrace
import pytest
from headrace.dialects import ir
from headrace.passes.targets import cpu_features
from headrace.passes.targets.cpu import BF16
from headrace.passes.targets.lookup import find_target


def test_cpus_by_name() -> None:
    assert BF16.is_of("znver4")
    assert BF16.is_of("sapphirerapids")
    assert not BF16.is_of("znver3")
    assert not BF16.is_of("skylake-avx512")
    assert not BF16.is_of("generic")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("processor : 0\nflags : fpu avx512f avx512_bf16 sse\n", True),
        ("processor : 0\nflags : fpu avx512f sse\n", False),
        ("processor : 0\nFeatures : fp asimd bf16\n", False),
        (None, False),
    ],
)
def test_hosts(
    text: str | None, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(cpu_features, "_CPU_INFO", path)
    cpu_features._host_flags.cache_clear()
    assert BF16.is_of("host") is expected
    cpu_features._host_flags.cache_clear()


def test_only_passes_are_told_of_features() -> None:
    assert find_target("cpu").pass_target("znver4") == "cpu+bf16"
    assert find_target("cpu").pass_target("znver3") == "cpu"
    assert find_target("vmvx").pass_target("znver4") == "vmvx"
    error = re.escape("unknown target 'cpu+bf16'; known are cpu, gfx942")
    with pytest.raises(ir.HeadraceError, match=error):
        headrace.compile("module {}", target="cpu+bf16")
