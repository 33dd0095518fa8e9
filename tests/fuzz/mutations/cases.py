"""Cases: a mutated part of a test file, for headrace-opt or headrace-compile with some options."""

from __future__ import annotations

import random
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headrace.compiler import pipelines
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.verifier import verify
from headrace.passes.registry import pass_class, pass_names
from headrace.passes.targets.lookup import target_names

from .mutate import mutate_bytes, mutate_text

# The file in a case's folder that a tool reads.
INPUT = "input.mlir"
ROOT = Path(__file__).parents[2]
_NATIVE = (
    *("canonicalize", "cse", "inline", "symbol-dce", "sccp", "func.func(cse)"),
    *("func.func(canonicalize)", "func.func(loop-invariant-code-motion)", "convert-scf-to-cf"),
    *("iree-stablehlo-input-transformation-pipeline", "iree-util-hoist-into-globals"),
    *("func.func(linalg-generalize-named-ops)", "func.func(linalg-fold-unit-extent-dims)"),
)
_OPT_FLAGS = (
    *("--emit-bytecode", "--verify-roundtrip", "--mlir-print-op-generic", "--split-input-file"),
    *("--mlir-print-debuginfo", "--mlir-elide-elementsattrs-if-larger=4", "--mlir-timing"),
    *("--no-implicit-module", "--remarks", "--mlir-pass-statistics", "--verify-each=0"),
)

# Not what tests that run in the same process have registered.
_PASSES = [name for name in pass_names() if not name.startswith("test-")]


@dataclass(frozen=True)
class Sample:
    """A part of a test file, and the pipelines that its test runs."""

    name: str
    text: str
    pipelines: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One run of a tool: ``arguments`` without the files."""

    tool: str
    arguments: tuple[str, ...]
    data: bytes
    origin: str = ""

    def command(self, path: str) -> str:
        quoted = [f"'{a}'" if set(a) & set("(){}") else a for a in self.arguments]
        return " ".join([self.tool, path, *quoted, "-o", "-"])


@cache
def samples() -> tuple[Sample, ...]:
    """All .mlir files of the tests, in parts, without comments."""
    found: list[Sample] = []
    for path in sorted(ROOT.rglob("*.mlir")):
        text = path.read_text()
        runs = tuple(dict.fromkeys(re.findall(r"--pass-pipeline='([^']*)'", text)))
        for index, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE)):
            plain = re.sub(r"^\s*//.*\n", "", part, flags=re.MULTILINE).strip()
            if plain:
                found.append(Sample(f"{path.relative_to(ROOT)}:{index}", plain, runs))
    return tuple(found)


def make_case(seed: int, index: int, folder: Path) -> Case:
    """The same for the same numbers. What is parsed for it lies in ``folder`` before."""
    rng = random.Random(f"{seed}.{index}")
    sample, other = rng.choice(samples()), rng.choice(samples())
    text = sample.text
    if rng.random() < 0.3:
        text = _generic(text) or text
    data: bytes | None = None
    names: tuple[str, ...] = ()
    if rng.random() < 0.08 and (bytecode := _bytecode(text)) is not None:
        data, names = mutate_bytes(rng, bytecode), ("bytes",)
    else:
        text, names = _mutate(rng, text, other.text, folder)
        if rng.random() < 0.08:
            data = _bytecode(text)
    if data is None:
        data = _encoded(text)
    if rng.random() < 0.4:
        tool, arguments = "headrace-compile", ("--emit=mlir", *_compile_options(rng))
    else:
        tool, arguments = "headrace-opt", _opt_options(rng, sample)
    return Case(tool, arguments, data, f"{sample.name} {'+'.join(names)}")


def _mutate(rng: random.Random, text: str, other: str, folder: Path) -> tuple[str, tuple[str, ...]]:
    """Some mutations of ``text``; as a rule such that it is a program still.

    Most mutated texts do not parse, and tell nothing about the passes.
    """
    any_ = rng.random() < 0.25
    for _ in range(8):
        mutated, names = mutate_text(rng, text, other)
        (folder / INPUT).write_bytes(_encoded(mutated))
        if names and (any_ or _parses(mutated)):
            break
    return mutated, names


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


@cache
def _context() -> ir.Context:
    """For making cases: one for all of a process, as it takes longer than to parse."""
    return ir.make_context()


def _parses(text: str) -> bool:
    try:
        verify(parse_module(text, "sample", _context()))
    except (ir.HeadraceError, MemoryError):
        return False
    return True


def _generic(text: str) -> str | None:
    """Attributes that the short form leaves out can be mutated too."""
    try:
        module = parse_module(text, "sample", _context())
    except ir.HeadraceError:
        return None
    return str(module.get_asm(print_generic_op_form=True))


def _bytecode(text: str) -> bytes | None:
    try:
        module = parse_module(text, "sample", _context())
    except ir.HeadraceError:
        return None
    with tempfile.TemporaryFile() as file:
        module.write_bytecode(file)
        file.seek(0)
        return file.read()


def _compile_options(rng: random.Random) -> list[str]:
    found = [f"--target={rng.choice(target_names())}"]
    if rng.random() < 0.3:
        found.append(f"--collectives={rng.choice(('devices', 'channel'))}")
    if rng.random() < 0.2:
        found.append(f"--devices={rng.choice((1, 2, 3, 4, 8))}")
    if rng.random() < 0.1:
        found.append(f"--cpu={rng.choice(('generic', 'x86-64-v3', 'host'))}")
    if rng.random() < 0.2:
        found.append("--experimental-multi-use-encoding-fusion")
    if rng.random() < 0.1:
        found.append("--pipeline-order=before-matmul")
    if rng.random() < 0.1:
        kind = rng.choice(("all", "all-gather", "all-reduce"))
        found.append(f"--pipeline-collectives={kind}:{rng.choice(('on', 'off', 'explicit'))}")
    if rng.random() < 0.1:
        found.append(f"--pipeline-budget={rng.choice((0, 1, 1 << 40))}")
    if rng.random() < 0.1:
        found.append("--remarks")
    return found


def _opt_options(rng: random.Random, sample: Sample) -> tuple[str, ...]:
    flags = rng.sample(_OPT_FLAGS, rng.choice((0, 0, 0, 1, 2)))
    if rng.random() < 0.7:
        flags.append("--allow-unregistered-dialect")
    kind = rng.random()
    if kind < 0.35 and sample.pipelines:
        text = _retarget(rng, rng.choice(sample.pipelines))
    elif kind < 0.7:
        devices = rng.choice((1, 2, 4, 8))
        form = rng.choice(("devices", "channel"))
        whole = pipelines.default_pipeline(rng.choice(target_names()), form, devices)
        steps = re.split(r",(?![^{]*\})", whole[len("builtin.module(") : -1])
        start = rng.choice((0, rng.randrange(len(steps))))
        text = ",".join(steps[start : start + rng.randint(1, len(steps))])
    else:
        steps = [_random_step(rng) for _ in range(rng.randint(1, 6))]
        text = ",".join(steps)
    text = text if text.startswith("builtin.module(") else f"builtin.module({text})"
    return (*flags, f"--pass-pipeline={text}")


def _retarget(rng: random.Random, text: str) -> str:
    return re.sub(r"target=[\w+-]+", lambda _: f"target={rng.choice(target_names())}", text)


def _random_step(rng: random.Random) -> str:
    if rng.random() < 0.25:
        return rng.choice(_NATIVE)
    name = rng.choice(_PASSES)
    options: list[str] = []
    for option in pass_class(name).describe_options():
        if rng.random() < 0.6:
            if option.name == "target":
                value = rng.choice(target_names())
            elif option.type == "bool":
                value = rng.choice(("true", "false"))
            elif option.name == "modes":
                value = rng.choice(("all:on", "all:off", "{all:off,all-gather:on}"))
            else:
                value = rng.choice(("0", "1", "2", "4", "-1", "10240"))
            options.append(f"{option.name}={value}")
    return f"{name}{{{' '.join(options)}}}" if options else name
