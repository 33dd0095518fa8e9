"""Mutated test inputs through headrace-opt and headrace-compile, and what must hold.

Whatever the input, a tool ends in 20 seconds with exit code 0 or 1, and with 1
it says why in one error line; never a traceback, an exception of Python, a
crash, or half an output.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from headrace.compiler import pipelines
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.verifier import verify
from headrace.passes.registry import pass_class, pass_names
from headrace.passes.targets.lookup import target_names
from headrace.tools import headrace_compile
from headrace.tools.command_line import READING, run_tool
from headrace.tools.headrace_opt import OptTool
from headrace.tools.supervisor import Activity

from .isolation import Death, isolated
from .mutations import mutate_bytes, mutate_text

# What the tools report as an error: a crash of MLIR's reader or of a native pass.
NATIVE_CRASH = "native crash"
_INPUT = "input.mlir"
ROOT = Path(__file__).parent.parent
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


@dataclass(frozen=True)
class Verdict:
    """How a run ended. ``fault`` is empty where all is as it must be."""

    fault: str
    code: int
    message: str

    def reason(self) -> str:
        """The message without names, numbers and types: what is counted."""
        line = self.message.splitlines()[0] if self.message else ""
        line = re.sub(r"^\S*:\d+:\d+: |^\S*input\S*: ", "", line)
        line = re.sub(r"'[^']*'|\"[^\"]*\"", "'_'", line)
        line = re.sub(r"(tensor|vector|memref|complex|dense|array|!\w[\w.]*)<.*>", r"\1<_>", line)
        return re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "N", line)[:150]


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
        (folder / _INPUT).write_bytes(_encoded(mutated))
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


def run_case(case: Case, folder: Path, activity: Activity) -> Verdict:
    """Runs the tool in this process, on a file in ``folder``."""
    source, output = folder / _INPUT, folder / "output"
    source.write_bytes(case.data)
    output.unlink(missing_ok=True)
    arguments = [str(source), *case.arguments, "-o", str(output)]
    activity.note(READING)
    with tempfile.TemporaryFile() as log:
        code = _with_output(log.fileno(), lambda: _run_tool(case.tool, arguments, activity))
        log.seek(0)
        printed = log.read().decode(errors="replace")
    return judge(code, printed.replace(str(source), "input"), written=output.exists())


def _run_tool(tool: str, arguments: Sequence[str], activity: Activity) -> int:
    if tool == "headrace-compile":
        return run_tool(lambda: headrace_compile.run(arguments, activity))
    opt = OptTool()
    opt.activity = activity
    return run_tool(lambda: opt.main(arguments))


def _with_output(file: int, body: Callable[[], int]) -> int:
    """Runs ``body`` with all output in ``file``: native code prints to the descriptors,
    and ``sys.stderr`` may be pytest's own."""
    kept = os.dup(1), os.dup(2)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        with (
            open(1, "w", closefd=False) as out,
            open(2, "w", closefd=False) as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            return body()
    finally:
        for number, old in enumerate(kept, start=1):
            os.dup2(old, number)
            os.close(old)


_ERROR = re.compile(r"(?:^|: )error: ?(.*)")
_SAID = re.compile(r"(?:.*: )?(?:error|warning|remark|note): ")


def judge(code: int, printed: str, *, written: bool) -> Verdict:
    lines = printed.splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    message = errors[0] if errors else ""
    fault = ""
    if "Traceback (most recent" in printed:
        fault = "traceback"
    elif code not in (0, 1):
        fault = f"exit code {code}"
    elif re.search(r" raised \w+ \(|internal error: ", printed):
        fault = "internal exception"
    elif code == 0 and errors:
        fault = "an error, but exit code 0"
    elif code == 0 and not written:
        fault = "no output"
    elif code == 1 and not errors:
        fault = "no error line"
    elif code == 1 and len(errors) > 1:
        fault = "several errors"
    elif code == 1 and written:
        fault = "an error, but an output"
    elif errors and not clear(message):
        fault = "unclear error"
    return Verdict(fault, code, "\n".join(lines) if fault else message)


def clear(line: str) -> bool:
    """Whether an error says what is wrong, in words that are not Python's."""
    found = _ERROR.search(line)
    text = found[1].strip() if found else ""
    return len(text) > 8 and not re.search(
        r"Failure while executing pass|<class '|object at 0x|\bNoneType\b|std::|"
        r"invalid vector subscript|list index",
        text,
    )


@dataclass(frozen=True)
class Finding:
    """A case that ended as none may."""

    case: Case
    verdict: Verdict

    def signature(self) -> str:
        """What two findings of one fault have in common."""
        text = self.verdict.message
        raised = re.search(r"pass '\S+' raised .*", text) or re.search(r"internal error.*", text)
        line = raised[0] if raised else self.verdict.reason()
        line = re.sub(r"'[^']*'(?! raised)|\d{3,}|%\w+|<.*>", "_", line)
        if self.verdict.code < 0:
            line = text
        return f"{self.verdict.fault}: {line[:160]}"


def run_cases(
    seed: int, indices: Sequence[int], folder: Path
) -> Iterator[tuple[int, Case, Verdict]]:
    """Makes and runs the cases of these numbers, in child processes."""
    activity = Activity()
    for name in pass_names():
        pass_class(name)  # imported once, not in each child

    def work(index: int) -> tuple[Case, Verdict]:
        (folder / "arguments").write_text("headrace-opt\n(while it was made)")
        activity.note(READING)
        case = make_case(seed, index, folder)
        (folder / "arguments").write_text("\n".join((case.tool, case.origin, *case.arguments)))
        return case, run_case(case, folder, activity)

    for index, result in isolated(indices, work):
        if isinstance(result, Death):
            tool, origin, *arguments = (folder / "arguments").read_text().split("\n")
            data = (folder / _INPUT).read_bytes()
            case = Case(tool, tuple(arguments), data, origin)
            yield index, case, _died(result, activity)
        else:
            yield index, *result


def _died(death: Death, activity: Activity) -> Verdict:
    """A crash of MLIR's reader or of a native pass the tools report as an error."""
    doing = activity.text()
    step = re.search("in pass '(.*)'", doing)
    native = doing.startswith("while reading") or (step and step[1] not in pass_names())
    fault = "hang" if death.reason == "hang" else NATIVE_CRASH if native else "crash"
    return Verdict(fault, -1, f"{death.reason} {re.sub(r'/[^ ]*/', '', doing)}")


def run_again(case: Case, folder: Path) -> Verdict:
    """The verdict on one case, from a child process of its own.

    ``folder`` is not that of ``run_cases``, whose child may be at work on the next case.
    """
    activity = Activity()
    _, result = next(isolated([case], lambda c: run_case(c, folder, activity)))
    return _died(result, activity) if isinstance(result, Death) else result


def reduce(finding: Finding, folder: Path, *, trials: int = 150) -> Finding:
    """A smaller case with the same fault: fewer flags, passes, and lines."""
    smallest = finding
    left = trials

    def same(case: Case) -> bool:
        nonlocal smallest, left
        left -= 1
        found = Finding(case, run_again(case, folder))
        if not found.verdict.fault or found.signature() != finding.signature():
            return False
        smallest = found
        return True

    for flag in finding.case.arguments:
        if not flag.startswith(("--pass-pipeline", "--emit")):
            kept = tuple(a for a in smallest.case.arguments if a != flag)
            same(replace(smallest.case, arguments=kept))
    if not finding.case.data.startswith(b"ML\xefR"):
        # Delta debugging: takes out ever smaller runs of lines.
        size = max(len(finding.case.data.split(b"\n")) // 2, 1)
        while size and left > 0:
            place, removed = 0, False
            while left > 0 and place < len(lines := smallest.case.data.split(b"\n")):
                fewer = lines[:place] + lines[place + size :]
                if same(replace(smallest.case, data=b"\n".join(fewer))):
                    removed = True
                else:
                    place += size
            if size > 1 or not removed:
                size //= 2
    return smallest
