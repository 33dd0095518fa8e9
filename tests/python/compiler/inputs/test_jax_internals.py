"""What headrace uses of JAX's inside: each name, on the versions that it is said to know."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import headrace.jax
import pytest
from headrace.compiler.inputs import jax_internals
from headrace.compiler.inputs.jax_internals import KNOWN_VERSION
from headrace.dialects import ir

if find_spec("jax") is None:
    pytest.skip("JAX is not installed: pip install 'headrace[jax]'", allow_module_level=True)

import jax
import jaxlib

PACKAGE = Path(jax_internals.__file__).parents[2]


def test_the_extra_installs_what_is_known() -> None:
    (extra,) = [line for line in requires("headrace") or [] if 'extra == "jax"' in line]
    major, minor = KNOWN_VERSION
    assert set(re.findall(r"[<>]=?[\d.]+", extra)) == {
        f">={major}.{minor}",
        f"<{major}.{minor + 1}",
    }
    jax_internals.check_version()


def test_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib, "__version__", "0.99.1")
    with pytest.raises(ir.HeadraceError, match=r"jaxlib 0.10, and this is 0\.99\.1: pip install"):
        jax_internals.check_version()


def test_they_stand_in_one_file() -> None:
    found = [
        path.name
        for folder in ("compiler", "passes", "dialects", "tools")
        for path in (PACKAGE / folder).rglob("*.py")
        if re.search(r"jax\._src|jaxlib\._jax|\._params", path.read_text())
    ]
    assert found == ["jax_internals.py"]


def test_unused_and_static_arguments_are_lowered() -> None:
    def fn(x: Any, n: int, unused: Any) -> Any:
        return x * n

    shape = jax.ShapeDtypeStruct((4,), "float32")
    traced = jax.jit(fn, static_argnums=1).trace(shape, 3, shape)
    text = jax_internals.lower_whole(traced).as_text()
    assert text.count("%arg1: tensor<4xf32>") == 1
    assert "%arg1" not in traced.lower().as_text()
    assert headrace.jax.to_stablehlo(fn, shape, shape, shape).count("tensor<4xf32>,") == 2


def test_contexts_know_shardy() -> None:
    with jax_internals.make_context():
        import_module("jaxlib.mlir.ir").Module.parse('sdy.mesh @m = <["x"=2]>')
