"""Which CPUs have the features that headrace knows."""

from __future__ import annotations

import re
from pathlib import Path

import headrace
import pytest
from headrace.dialects import ir
from headrace.passes.targets import cpu_features
from headrace.passes.targets.cpu import BF16, NO_F16C
from headrace.passes.targets.lookup import find_target


def test_cpus_by_name() -> None:
    assert BF16.is_of("znver4")
    assert BF16.is_of("sapphirerapids")
    assert not BF16.is_of("znver3")
    assert not BF16.is_of("skylake-avx512")
    assert not BF16.is_of("generic")
    assert NO_F16C.is_of("generic")
    assert NO_F16C.is_of("x86-64-v2")
    assert not NO_F16C.is_of("x86-64-v3")
    assert not NO_F16C.is_of("btver2")


@pytest.mark.parametrize(
    ("text", "has_bf16", "lacks_f16c"),
    [
        ("processor : 0\nflags : fpu avx512f avx512_bf16 f16c sse\n", True, False),
        ("processor : 0\nflags : fpu sse\n", False, True),
        ("processor : 0\nFeatures : fp asimd bf16\n", False, False),
        (None, False, False),
    ],
)
def test_hosts(
    text: str | None,
    has_bf16: bool,
    lacks_f16c: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(cpu_features, "_CPU_INFO", path)
    cpu_features._host_flags.cache_clear()
    assert BF16.is_of("host") is has_bf16
    assert NO_F16C.is_of("host") is lacks_f16c
    cpu_features._host_flags.cache_clear()


def test_only_passes_are_told_of_features() -> None:
    assert find_target("cpu").pass_target("znver4") == "cpu+bf16"
    assert find_target("cpu").pass_target("znver3") == "cpu"
    assert find_target("cpu").pass_target("generic") == "cpu+no-f16c"
    assert find_target("vmvx").pass_target("znver4") == "vmvx"
    error = re.escape("unknown target 'cpu+bf16'; known are cpu, gfx942")
    with pytest.raises(ir.HeadraceError, match=error):
        headrace.compile("module {}", target="cpu+bf16")
