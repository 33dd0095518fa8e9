"""Our verifier and iree-opt with the IRDL text must agree where both look."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from headrace.dialects import ir, verifier
from headrace.dialects.docs.irdl import irdl_text
from headrace.dialects.headrace import HeadraceOp
from headrace.dialects.ir.parsing import parse_module, parse_module_file
from iree.compiler._mlir_libs import __file__ as LIBS

IREE_OPT = Path(LIBS).parent / "iree-opt"
GOOD = Path(__file__).parent.parent.parent / "dialects" / "round-trip.mlir"


@pytest.fixture(scope="module")
def irdl_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("irdl") / "headrace.irdl.mlir"
    path.write_text(irdl_text())
    return path


def iree_accepts(text: str, irdl_file: Path) -> bool:
    command = [IREE_OPT, f"--irdl-file={irdl_file}", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def we_accept(text: str) -> bool:
    try:
        verifier.verify(parse_module(text, "case.mlir", ir.make_context()))
    except ir.HeadraceError:
        return False
    return True


def headrace_ops(module: ir.Operation) -> list[ir.Operation]:
    return [op for op in ir.walk(module) if op.name.startswith("headrace.")]


def broken() -> Iterator[tuple[str, str]]:
    """The good module with one fault: each attribute gone, each op renamed."""
    count = len(headrace_ops(parse_module_file(GOOD, ir.make_context())))
    for index in range(count):
        module = parse_module_file(GOOD, ir.make_context())
        op = headrace_ops(module)[index]
        names = [f.name for f in HeadraceOp.operations[op.name].fields("attribute")]
        for name in names:
            kept = op.attributes[name]
            del op.attributes[name]
            yield f"{index} {op.name} without {name}", str(module)
            op.attributes[name] = kept
        yield f"{index} {op.name} renamed", str(module).replace(f'"{op.name}"', f'"{op.name}x"')


def test_every_op_is_covered() -> None:
    names = {op.name for op in headrace_ops(parse_module_file(GOOD, ir.make_context()))}
    assert names == set(HeadraceOp.operations)


def test_good_module_is_accepted_by_both(irdl_file: Path) -> None:
    assert we_accept(GOOD.read_text())
    assert iree_accepts(GOOD.read_text(), irdl_file)


def test_broken_modules_are_rejected_by_both(irdl_file: Path) -> None:
    wrongly_accepted = [
        name for name, text in broken() if we_accept(text) or iree_accepts(text, irdl_file)
    ]
    assert wrongly_accepted == []


COUNTS = {
    "an operand too many": '"headrace.partition_id"(%x) : (tensor<8xf32>) -> tensor<i32>',
    "a result too few": '"headrace.partition_id"() : () -> ()',
    "an operand too few": '"headrace.all_reduce"() {pipelined = false, reduction = "add", '
    "replica_groups = dense<0> : tensor<1x1xi64>} : () -> tensor<8xf32>",
    "an attribute of another kind": '"headrace.all_reduce"(%x) {pipelined = false, '
    "reduction = 3.0 : f32, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<8xf32>) "
    "-> tensor<8xf32>",
}


@pytest.mark.parametrize("case", COUNTS)
def test_wrong_counts_are_rejected_by_both(case: str, irdl_file: Path) -> None:
    text = f"func.func @f(%x: tensor<8xf32>) {{\n  {COUNTS[case]}\n  return\n}}"
    if "->" in COUNTS[case] and "-> ()" not in COUNTS[case]:
        text = text.replace("  " + COUNTS[case], "  %0 = " + COUNTS[case])
    assert not we_accept(text)
    assert not iree_accepts(text, irdl_file)
