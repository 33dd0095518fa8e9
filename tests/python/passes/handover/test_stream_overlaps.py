"""The checker of IREE's stream phase: on phases written by hand, and on all programs."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzz.graphs.profiles import graphs
from headrace.compiler.driver import compile_with, iree_flags
from headrace.compiler.iree.child import run_iree_compile
from headrace.compiler.options import CompileOptions
from headrace.passes.targets.lookup import find_target
from random_loops import LoopWriter
from stream_overlaps import check_stream

TESTS = Path(__file__).parent.parent.parent.parent
BUFFER = "!stream.resource<transient>"
_SUBSPAN = "!stream.binding -> !iree_tensor_ext.dispatch.tensor"
_TENSOR = "!iree_tensor_ext.dispatch.tensor"


def executable(name: str, body: str, shape: str = "16") -> str:
    """One that reads a tensor at the first offset and writes one at the second."""
    rank = len(shape.split("x"))
    zeros = ", ".join(["0"] * rank)
    whole = f"offsets = [{zeros}], sizes = [{', '.join(shape.split('x'))}]"
    whole += f", strides = [{', '.join(['1'] * rank)}]"
    tensor = f"tensor<{shape}xf32>"
    return f"""
stream.executable private @{name} {{
  stream.executable.export public @{name} workgroups() -> (index, index, index) {{
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
    stream.return %x, %y, %z : index, index, index
  }}
  builtin.module {{
    func.func @{name}(%a: !stream.binding, %b: !stream.binding, %i: index, %j: index) {{
      %0 = stream.binding.subspan %a[%i] : {_SUBSPAN}<readonly:{tensor}>
      %1 = stream.binding.subspan %b[%j] : {_SUBSPAN}<writeonly:{tensor}>
      %in = iree_tensor_ext.dispatch.tensor.load %0, {whole} : {_TENSOR}<readonly:{tensor}> -> {tensor}
      %e = tensor.empty() : {tensor}
      {body}
      iree_tensor_ext.dispatch.tensor.store %out, %1, {whole} : {tensor} -> {_TENSOR}<writeonly:{tensor}>
      return
    }}
  }}
}}"""


def generic(operands: str, maps: Sequence[str], rank: int, tensor: str) -> str:
    kinds = ", ".join(['"parallel"'] * rank)
    count = len(maps) - 1
    types = ", ".join([tensor] * count)
    names = ", ".join(f"%x{i}: f32" for i in range(count))
    return f"""linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{m}>" for m in maps)}],
        iterator_types = [{kinds}]}} ins({operands} : {types}) outs(%e : {tensor}) {{
      ^bb0({names}, %o: f32):
        %n = arith.negf %x0 : f32
        linalg.yield %n : f32
      }} -> {tensor}"""


_LINE, _PLANE = "(i) -> (i)", "(i, j) -> (i, j)"
EXECUTABLES = "".join(
    [
        executable("same", "%out = " + generic("%in", [_LINE, _LINE], 1, "tensor<16xf32>")),
        executable(
            "turned",
            "%out = " + generic("%in", ["(i, j) -> (j, i)", _PLANE], 2, "tensor<4x4xf32>"),
            "4x4",
        ),
        executable(
            "twice",
            "%m = "
            + generic("%in", [_LINE, _LINE], 1, "tensor<16xf32>")
            + "\n%out = "
            + generic("%m, %in", [_LINE, _LINE, _LINE], 1, "tensor<16xf32>"),
        ),
    ]
)


EXECUTABLES += f"""
stream.executable private @grid {{
  stream.executable.export public @grid workgroups() -> (index, index, index) {{
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
    stream.return %x, %y, %z : index, index, index
  }}
  builtin.module {{
    func.func @grid(%a: !stream.binding, %b: !stream.binding, %i: index, %j: index, %n: index, %m: index) {{
      %0 = stream.binding.subspan %a[%i] : {_SUBSPAN}<readonly:tensor<?x?xf32>>{{%n, %m}}
      %1 = stream.binding.subspan %b[%j] : {_SUBSPAN}<writeonly:tensor<?x?xf32>>{{%m, %n}}
      %in = iree_tensor_ext.dispatch.tensor.load %0, offsets = [0, 0], sizes = [%n, %m], strides = [1, 1]
        : {_TENSOR}<readonly:tensor<?x?xf32>>{{%n, %m}} -> tensor<?x?xf32>
      %e = tensor.empty(%m, %n) : tensor<?x?xf32>
      %out = linalg.transpose ins(%in : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
      iree_tensor_ext.dispatch.tensor.store %out, %1, offsets = [0, 0], sizes = [%m, %n], strides = [1, 1]
        : tensor<?x?xf32> -> {_TENSOR}<writeonly:tensor<?x?xf32>>{{%m, %n}}
      return
    }}
  }}
}}"""


def dispatch(name: str, *numbers: str) -> str:
    """``numbers``: where it reads, where it writes, and sizes."""
    types = ", ".join(["index"] * len(numbers))
    return f"""stream.cmd.dispatch @{name}::@{name}({", ".join(numbers)} : {types}) {{
      ro %a[%c0 for %c1024] : {BUFFER}{{%c1024}},
      wo %a[%c0 for %c1024] : {BUFFER}{{%c1024}}
    }}"""


def copy(source: str, target: str, length: str = "%c64") -> str:
    of = f"{BUFFER}{{%c1024}}"
    return f"stream.cmd.copy %a[{source}], %a[{target}], {length} : {of} -> {of}"


def fill(target: str) -> str:
    return f"stream.cmd.fill %zero, %a[{target} for %c64] : i8 -> {BUFFER}{{%c1024}}"


def at_once(*commands: str) -> str:
    return f"stream.cmd.concurrent {{\n{chr(10).join(commands)}\n}}"


def executed(*commands: str, name: str = "%d") -> str:
    return f"""
  {name} = stream.cmd.execute await(%t) => with(%r as %a: {BUFFER}{{%c1024}}) {{
    {chr(10).join(commands)}
  }} => !stream.timepoint"""


def function(body: str, results: str = "") -> str:
    """Of two unknown numbers, with a buffer of 1024 bytes."""
    constants = (-3, 0, 1, 2, 4, 5, 16, 32, 64, 128, 256, 1024)
    numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in constants)
    return f"""
{EXECUTABLES}
util.func public @main(%n: index, %m: index) {results}{{
  {numbers}
  %zero = arith.constant 0 : i8
  %n4 = arith.addi %n, %c4 : index
  %n64 = arith.addi %n, %c64 : index
  %few = arith.minui %n, %c64 : index
  %nm = arith.muli %n, %m : index
  %mn = arith.muli %m, %n : index
  %mn64 = arith.addi %mn, %c64 : index
  %nm_f32 = arith.muli %nm, %c4 : index
  %half = arith.muli %nm, %c2 : index
  %rows = arith.muli %n, %c64 : index
  %half_rows = arith.muli %n, %c32 : index
  %r, %t = stream.resource.alloca uninitialized : {BUFFER}{{%c1024}} => !stream.timepoint
  {body}
}}"""


def phase(*commands: str) -> str:
    return function(f"{executed(*commands)}\nutil.return")


@pytest.mark.parametrize(
    ("commands", "faults"),
    [
        ((dispatch("same", "%c0", "%c0"),), 0),
        ((dispatch("same", "%c0", "%c4"),), 1),
        ((dispatch("same", "%c0", "%c64"),), 0),
        # Read by one op and by one after it: the first may have written by then.
        ((dispatch("twice", "%c0", "%c0"),), 1),
        ((dispatch("twice", "%c0", "%c64"),), 0),
        ((dispatch("turned", "%c0", "%c0"),), 1),
        # Offsets that are not known: equal, apart, and neither.
        ((dispatch("same", "%n", "%n"),), 0),
        ((dispatch("same", "%n", "%n64"),), 0),
        ((dispatch("same", "%n", "%n4"),), 1),
        ((dispatch("same", "%n", "%c64"),), 1),
        ((dispatch("same", "%few", "%c128"),), 0),
        ((dispatch("same", "%few", "%c64"),), 1),
        ((copy("%c0", "%c64"),), 0),
        ((copy("%c0", "%c4"),), 1),
        # One after the other, and at once.
        ((dispatch("same", "%c0", "%c64"), dispatch("same", "%c64", "%c128")), 0),
        ((at_once(dispatch("same", "%c0", "%c64"), dispatch("same", "%c64", "%c128")),), 1),
        ((at_once(dispatch("same", "%c0", "%c64"), dispatch("same", "%c0", "%c128")),), 0),
        ((at_once(dispatch("same", "%c0", "%c64"), dispatch("same", "%c128", "%c64")),), 1),
        ((at_once(copy("%c0", "%c64"), copy("%c128", "%c256")),), 0),
        ((at_once(copy("%c0", "%c64"), copy("%c64", "%c256")),), 1),
        ((at_once(fill("%n"), fill("%n4")),), 1),
        ((at_once(fill("%n"), fill("%c128")),), 0),  # how far apart is not known
        ((at_once(fill("%few"), fill("%c64")),), 1),
        ((at_once(fill("%few"), fill("%c128")),), 0),
        # Products: of offsets, of lengths and of shapes.
        ((dispatch("same", "%nm", "%mn64"),), 0),
        ((dispatch("same", "%nm", "%n64"),), 1),
        ((copy("%c0", "%nm", "%mn"),), 0),
        ((copy("%c0", "%nm", "%mn64"),), 1),
        ((dispatch("grid", "%c0", "%nm_f32", "%n", "%m"),), 0),
        ((dispatch("grid", "%nm_f32", "%c0", "%n", "%m"),), 0),
        ((dispatch("grid", "%c0", "%half", "%n", "%m"),), 1),
        ((dispatch("grid", "%c0", "%c0", "%n", "%m"),), 1),
    ],
)
def test_phases(commands: tuple[str, ...], faults: int) -> None:
    assert len(check_stream(phase(*commands))) == faults


def loop(start: str, limit: str, inside: Sequence[str], behind: Sequence[str] = ()) -> str:
    """A counter from ``start`` on, one number that no trip changes, and one that each may."""
    last = executed(*behind, name="%last")
    return function(
        f"""
  cf.br ^bb1(%start, %c64, %c64 : index, index, index)
^bb1(%i: index, %kept: index, %changed: index):
  %bytes = arith.muli %i, %c64 : index
  %more = arith.cmpi slt, %i, %limit : index
  cf.cond_br %more, ^bb2, ^bb5
^bb2:
  cf.br ^bb3(%c0, %kept : index, index)
^bb3(%j: index, %still: index):
  %again = arith.cmpi sge, %j, %c2 : index
  cf.cond_br %again, ^bb4, ^bb6
^bb4:
  {executed(*inside)}
  %next = arith.addi %i, %c1 : index
  cf.br ^bb1(%next, %still, %n : index, index, index)
^bb6:
  %inner = arith.addi %j, %c1 : index
  cf.br ^bb3(%inner, %still : index, index)
^bb5:
  {last}
  util.return""".replace("%start", start).replace("%limit", limit)
    )


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        # As long as what all branches bring, and no longer known.
        (loop("%c0", "%c4", [copy("%c0", "%c64", "%kept")]), 0),
        (loop("%c0", "%c4", [copy("%c0", "%c64", "%still")]), 0),
        (loop("%c0", "%c4", [copy("%c0", "%c4", "%still")]), 1),
        (loop("%c0", "%c4", [copy("%c0", "%c64", "%changed")]), 1),
        # The counter is less than its limit, and no less than its start: in the loop.
        (loop("%c0", "%c4", [copy("%bytes", "%c256")]), 0),
        (loop("%c0", "%c5", [copy("%bytes", "%c256")]), 1),
        (loop("%c0", "%n", [copy("%bytes", "%c256")]), 1),
        (loop("%c2", "%n", [copy("%c64", "%bytes")]), 0),
        (loop("%c1", "%n", [copy("%c64", "%bytes")]), 1),
        (loop("%n", "%c4", [copy("%bytes", "%c256")]), 0),
        (loop("%c-3", "%n", [copy("%c0", "%bytes")]), 1),
        # Behind it, it has come to its limit.
        (loop("%c0", "%c4", [], [copy("%c128", "%bytes")]), 0),
        (loop("%c0", "%c2", [], [copy("%c128", "%bytes")]), 1),
        (loop("%c0", "%c4", [], [copy("%bytes", "%c256")]), 1),
        # What may be at once is known with it.
        (loop("%c0", "%c4", [at_once(fill("%bytes"), fill("%c128"))]), 1),
        (loop("%c0", "%c4", [at_once(fill("%bytes"), fill("%c256"))]), 0),
        (loop("%c0", "%n", [at_once(fill("%bytes"), fill("%c128"))]), 0),
    ],
)
def test_loops(text: str, faults: int) -> None:
    assert len(check_stream(text)) == faults


def results(*parts: tuple[str, str], commands: Sequence[str]) -> str:
    """The function's results lie in one buffer: where, and how many bytes."""
    lines = [executed(*commands), f"%w = stream.timepoint.await %d => %r : {BUFFER}{{%c1024}}"]
    for number, (start, size) in enumerate(parts):
        lines += [
            f"%p{number} = stream.resource.subview %w[{start}] : {BUFFER}{{%c1024}} -> {BUFFER}{{{size}}}",
            f"%v{number} = stream.tensor.export %p{number} : tensor<?xi8>{{{size}}} in "
            f"{BUFFER}{{{size}}} -> !hal.buffer_view",
        ]
    names = ", ".join(f"%v{number}" for number in range(len(parts)))
    types = ", ".join(["!hal.buffer_view"] * len(parts))
    text = function("\n".join([*lines, f"util.return {names} : {types}"]), f"-> ({types}) ")
    return text.replace("<transient>", "<external>")


@pytest.mark.parametrize(
    ("parts", "command", "faults"),
    [
        # Sixteen numbers of a tensor of n times sixteen: they are in it.
        ([("%c0", "%rows"), ("%rows", "%c64")], dispatch("same", "%c0", "%rows"), 0),
        ([("%c0", "%rows"), ("%rows", "%c64")], dispatch("same", "%c128", "%rows"), 0),
        ([("%c0", "%rows"), ("%rows", "%c64")], dispatch("same", "%rows", "%c4"), 0),
        ([("%c0", "%rows"), ("%rows", "%c64")], copy("%c64", "%rows"), 0),
        # Within one result, or not known to be in one: as without.
        ([("%c0", "%rows"), ("%rows", "%c64")], dispatch("same", "%c0", "%c4"), 1),
        ([("%c0", "%rows"), ("%rows", "%c64")], dispatch("same", "%c0", "%half_rows"), 1),
        ([("%c0", "%c64"), ("%rows", "%c64")], dispatch("same", "%c64", "%rows"), 1),
        ([("%c0", "%c64"), ("%c64", "%rows")], dispatch("same", "%c64", "%c128"), 0),
        ([("%c0", "%half_rows")], dispatch("same", "%c0", "%rows"), 0),
        ([("%n", "%rows")], dispatch("same", "%c0", "%rows"), 1),
    ],
)
def test_results(parts: Sequence[tuple[str, str]], command: str, faults: int) -> None:
    assert len(check_stream(results(*parts, commands=[command]))) == faults


def stream_of(
    source: str | Path, target: str, cpu: str = "host", devices: int | None = None
) -> str:
    """IREE's stream phase of a program; nothing is compiled further."""
    options = CompileOptions.make(target=target, cpu=cpu, devices=devices, emit="mlir")
    result = compile_with(source, options)
    chosen = find_target(target)
    form = chosen.collectives
    made = result.report["options"]
    assert isinstance(made, dict)
    flags = iree_flags(chosen, options, form, made["devices"])
    return run_iree_compile(result.module, [*flags, "--compile-to=stream"]).vmfb.decode()


PROGRAMS = [
    *sorted(TESTS.glob("models/*/model.mlir")),
    *sorted(TESTS.glob("models/torch/*.mlir")),
    *sorted(TESTS.glob("cases/*.mlir")),
    *sorted(TESTS.glob("cases/*/model.mlir")),
]
TARGETS = [
    *(("cpu", cpu) for cpu in ("host", "x86-64-v3")),
    *((target, "host") for target in ("gfx942", "gfx950", "gfx1201", "sm_80", "sm_90", "sm_120")),
    *((target, "host") for target in ("vulkan-rdna3", "vulkan-ampere")),
]
IN_MAKE_TEST = (("invariant_gather", "cpu", "x86-64-v3"), ("a_multiuse", "gfx942", "host"))


def _grid() -> list[object]:
    found: list[object] = []
    for program in PROGRAMS:
        name = program.stem if program.stem != "model" else program.parent.name
        for target, cpu in TARGETS:
            marks = [] if (name, target, cpu) in IN_MAKE_TEST else [pytest.mark.full]
            found.append(
                pytest.param(program, target, cpu, marks=marks, id=f"{name}-{target}-{cpu}")
            )
    return found


@pytest.mark.parametrize(("program", "target", "cpu"), _grid())
def test_programs(program: Path, target: str, cpu: str) -> None:
    assert check_stream(stream_of(program, target, cpu)) == []


@pytest.mark.full
@pytest.mark.parametrize("name", ["llama8b_scan", "llama8b_unrolled4"])
def test_large_programs(name: str) -> None:
    path = TESTS.parent / "benchmarks" / "inputs" / f"{name}.mlir.gz"
    source = gzip.decompress(path.read_bytes()).decode()
    assert check_stream(stream_of(source, "gfx950")) == []


# Those without ops that only the simulation knows.
LOOPS = (1, 3, 4, 6, 7, 9, 10, 12, 13, 16, 18, 19)


@pytest.mark.full
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3"])
@pytest.mark.parametrize("seed", LOOPS)
def test_random_loops(seed: int, cpu: str) -> None:
    text, _ = LoopWriter(seed).module()
    head, brace, body = text.partition(") {")
    scalar = re.compile(r"(%\w+: (?:index|i1|i32))")
    head = scalar.sub(r'\1 {headrace.sharding = "{replicated}"}', head)
    assert check_stream(stream_of(head + brace + body, "cpu", cpu, devices=4)) == []


@pytest.mark.full
@pytest.mark.parametrize("profile", ["mixed", "updates", "loops"])
@pytest.mark.parametrize(("target", "cpu"), [*TARGETS[:3], TARGETS[5]])
def test_random_graphs(profile: str, target: str, cpu: str) -> None:
    text = "".join(graph.text for graph in graphs(profile, range(20)))
    assert check_stream(stream_of(text, target, cpu)) == []
