"""Reads from a program how often values are rounded on the way to its results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...dialects import ir
from ...dialects.headrace import ReducingCollectiveOp, as_collective, is_collective
from ...dialects.op_traits import FLOATS_TO_INTEGERS
from ...dialects.upstream.contraction import contraction_loops
from ...dialects.upstream.linalg import element_of
from ...passes.analysis.trip_counts import loop_trips
from ...passes.pipeline import Instrumentation
from ..metadata import FunctionInfo, function_name, public_functions
from .roundings import EXACT, WIDE_TERMS, Roundings, is_wide, spacing, worst

# Trips of a loop, and terms of a sum, that are counted: more, or how many
# more nobody knows, are taken as so many.
MOST_REPEATS = 1024
# Of an op that hides what it does, such as an attention kept whole: so often to
# its result's type, and once to the narrowest that it is given.
_HIDDEN_STEPS = 8

_TO_WHOLE_NUMBERS = frozenset(f"math.{n}" for n in ("ceil", "floor", "round", "roundeven", "trunc"))
# As if to i8, which is what they are written for where values pass through floats.
_WHOLE_NUMBERS = "i8"
_EXACT_ON_FLOATS = frozenset(
    (
        *(f"arith.{n}" for n in ("bitcast", "constant", "extf", "negf", "select")),
        *(f"arith.{n}" for n in ("maximumf", "maxnumf", "minimumf", "minnumf")),
        *("math.absf", "math.copysign", "linalg.pack", "linalg.unpack"),
    )
)
# What they do to numbers shows in their bodies, or they only move them.
_MOVING_DIALECTS = frozenset(
    (
        *("cf", "flow", "func", "hal", "headrace", "iree_encoding", "iree_tensor_ext"),
        *("scf", "tensor", "util"),
    )
)
_DECISIONS = frozenset(("arith.cmpf", "arith.cmpi"))


@dataclass
class RoundingReader(Instrumentation):
    """Reads each public function before it is lowered.

    There is one dialect of arithmetic for all kinds of input then, and nothing
    is lowered to the integers of some target.
    """

    results: dict[str, tuple[Roundings, ...]] = field(
        default_factory=dict[str, tuple[Roundings, ...]]
    )

    def stage_begins(self, stage: str, module: ir.Operation) -> None:
        if stage == "lowering":
            for function in public_functions(module):
                self.results[function_name(function)] = roundings_of(function)

    def noted(self, functions: Sequence[FunctionInfo]) -> list[FunctionInfo]:
        """The metadata of functions, with what was read."""
        return [
            replace(info, roundings=tuple(r.counts for r in self.results[info.name]))
            if info.name in self.results
            else info
            for info in functions
        ]


def roundings_of(function: ir.Operation) -> tuple[Roundings, ...]:
    """For each result of a function what it went through.

    Each op is read once, and twice for each loop around it: what a second
    trip adds, all further iterations add. Where control flow is no structured loop,
    a block that branches back stands for ``MOST_REPEATS`` trips.
    """
    return tuple(_Analysis().region(list(function.regions[0].blocks), []))


@dataclass
class _Analysis:
    """``known`` holds what is not exact; functions share it with all their regions."""

    known: dict[ir.Value, Roundings] = field(default_factory=dict[ir.Value, Roundings])
    names: dict[ir.Type, str] = field(default_factory=dict[ir.Type, str])
    # How often an op of a body works on one number: an accumulation, once for each term.
    repeats: float = 1.0
    accumulators: set[ir.Value] = field(default_factory=set[ir.Value])

    def region(self, blocks: Sequence[ir.Block], arguments: Sequence[Roundings]) -> list[Roundings]:
        """Of what the last terminator without successors hands out."""
        for value, roundings in zip(blocks[0].arguments, arguments, strict=False):
            self.set(value, roundings)
        handed: list[Roundings] = []
        seen: set[ir.Block] = set()
        goes_back = False
        for block in blocks:
            seen.add(block)
            *ops, last = ir.operations_of(block)
            for op in ops:
                self.op(op)
            given = [self.known.get(v, EXACT) for v in last.operands]
            if not len(last.successors):
                pairs = zip(handed or given, given, strict=True)
                handed = [worst(pair) for pair in pairs]
            for successor in last.successors:
                goes_back |= successor in seen
                for argument in successor.arguments:
                    self.set(argument, worst([self.known.get(argument, EXACT), *given]))
        return [r.repeated(EXACT, MOST_REPEATS) for r in handed] if goes_back else handed

    def set(self, value: ir.Value, roundings: Roundings) -> None:
        if roundings is EXACT or not roundings.counts:
            self.known.pop(value, None)
        else:
            self.known[value] = roundings

    def op(self, op: ir.Operation) -> None:
        operands = [self.known.get(v, EXACT) for v in op.operands]
        for value, roundings in zip(op.results, self.results(op, operands), strict=True):
            self.set(value, roundings)

    def results(self, op: ir.Operation, operands: Sequence[Roundings]) -> Sequence[Roundings]:
        name = op.name
        if name == "scf.for":
            trips = loop_trips(op)
            return self.loop([op.regions[0].blocks[0]], operands[3:], trips)
        if name == "scf.while":
            return self.loop([r.blocks[0] for r in op.regions], operands, None)
        if name.startswith("linalg.") and len(op.regions) == 1:
            return self.structured(op, operands)
        if len(op.regions):
            return self.nested(op, operands)
        into = self.headrace(op, worst(operands)) if name.startswith("headrace.") else None
        into = into or self.scalar(op, worst(operands))
        return [into] * len(op.results)

    def scalar(self, op: ir.Operation, incoming: Roundings) -> Roundings:
        """An op of numbers, or of all numbers of tensors alike."""
        name = op.name
        dialect = name.partition(".")[0]
        if name in _DECISIONS or not len(op.results):
            return EXACT
        type_ = element_of(op.results[0].type)
        if name in FLOATS_TO_INTEGERS:
            return incoming.then(self.type_name(type_))
        if not isinstance(type_, ir.FloatType) or name in _EXACT_ON_FLOATS:
            return incoming
        if name in _TO_WHOLE_NUMBERS:
            return incoming.then(_WHOLE_NUMBERS)
        if dialect in _MOVING_DIALECTS:
            return incoming
        element = self.type_name(type_)
        if dialect not in ("arith", "math"):
            return self.hidden(op, incoming)
        if self.repeats > 1 and any(v in self.accumulators for v in op.operands):
            self.accumulators.update(op.results)
            return incoming.then(element, _sum_steps(element, self.repeats))
        return incoming.then(element)

    def structured(self, op: ir.Operation, operands: Sequence[Roundings]) -> Sequence[Roundings]:
        """A linalg op, by its body: what updates an accumulator, once for each term."""
        block = op.regions[0].blocks[0]
        terms = _terms(op)
        if contraction_loops(op) is not None and len(op.results) == 1:
            return [self.product(element_of(op.results[0].type), worst(operands), terms)]
        outer = self.repeats, self.accumulators
        outs = len(op.results) or 1
        self.repeats = terms
        self.accumulators = set(block.arguments[len(block.arguments) - outs :])
        found = self.region([block], operands)
        self.repeats, self.accumulators = outer
        return found[: len(op.results)]

    def product(self, type_: ir.Type, incoming: Roundings, terms: float) -> Roundings:
        """A sum of products: in f32 at least, whatever its own type is, and rounded at
        the end; see ``accumulate-in-f32``."""
        if not isinstance(type_, ir.FloatType):
            return incoming
        name = self.type_name(type_)
        if is_wide(name):
            return incoming.then(name, _sum_steps(name, terms))
        return incoming.then("f32", _sum_steps("f32", terms)).then(name)

    def nested(self, op: ir.Operation, operands: Sequence[Roundings]) -> Sequence[Roundings]:
        """Regions whose arguments may be any operand: branches, sorts, pads, dispatches."""
        total = worst(operands)
        found = [EXACT if op.name == "scf.if" else total] * len(op.results)
        for region in op.regions:
            blocks = list(region.blocks)
            if not blocks:
                continue
            given = self.region(blocks, [total] * len(blocks[0].arguments))
            if len(given) != len(found):
                given = [worst(given)] * len(found)
            found = [worst(pair) for pair in zip(found, given, strict=True)]
        shows = op.name.partition(".")[0] in _MOVING_DIALECTS
        return found if shows else [self.hidden(op, worst([total, *found]))] * len(found)

    def hidden(self, op: ir.Operation, incoming: Roundings) -> Roundings:
        """An op of which nothing is known but its types."""
        floats = [t for v in op.operands if isinstance(t := element_of(v.type), ir.FloatType)]
        narrowest = max(map(self.type_name, floats), key=spacing, default=None)
        if narrowest is not None:
            incoming = incoming.then(narrowest)
        result = element_of(op.results[0].type)
        if not isinstance(result, ir.FloatType):
            return incoming
        return incoming.then(self.type_name(result), _HIDDEN_STEPS)

    def loop(
        self, blocks: Sequence[ir.Block], carried: Sequence[Roundings], trips: int | None
    ) -> Sequence[Roundings]:
        """One block, or the two of an ``scf.while``, of which the first hands out the results."""
        is_for = len(blocks) == 1
        if trips == 0:
            return carried
        states: list[list[Roundings]] = []
        state = list(carried)
        for _ in range(2):
            for block in blocks:
                # scf.for has the counter before, scf.condition the flag.
                given = [EXACT, *state] if is_for else state
                state = self.region([block], given)
                if not is_for and block == blocks[0]:
                    state = state[1:]
                    states.append(state)
            if is_for:
                states.append(state)
        first, second = states
        if trips == 1:
            return first
        # The first result of an scf.while has seen no trip.
        times = min(MOST_REPEATS, trips or MOST_REPEATS) - (2 if is_for else 1)
        found = [b.repeated(a, times) for a, b in zip(first, second, strict=True)]
        return found if trips else [worst(pair) for pair in zip(first, found, strict=True)]

    def headrace(self, op: ir.Operation, incoming: Roundings) -> Roundings | None:
        """None for an op that only moves numbers."""
        result = self.type_name(element_of(op.results[0].type))
        if op.name == "headrace.quantize":
            return incoming.then(self.type_name(element_of(op.operands[0].type))).then(result)
        if op.name == "headrace.dequantize":
            return incoming.then(result)
        if op.name == "headrace.matmul":
            shape = ir.RankedTensorType(op.operands[0].type).shape
            dims = ir.DenseI64ArrayAttr(op.attributes["lhs_contracting"])
            terms = _product([shape[d] for d in dims])
            return self.product(element_of(op.results[0].type), incoming, terms)
        view = as_collective(op) if is_collective(op) else None
        if isinstance(view, ReducingCollectiveOp):
            if view.reduction_name not in ("add", "mul"):
                return incoming
            if isinstance(element_of(op.results[0].type), ir.FloatType):
                return incoming.then(result, view.group_size)
        return None

    def type_name(self, type_: ir.Type) -> str:
        if type_ not in self.names:
            self.names[type_] = str(type_)
        return self.names[type_]


def _sum_steps(type_: str, terms: float) -> float:
    """How many roundings a sum of so many terms counts as."""
    return max(1.0, terms / WIDE_TERMS) if is_wide(type_) else max(1.0, terms)


def _product(sizes: Sequence[int]) -> float:
    dynamic = ir.ShapedType.get_dynamic_size()
    return math.prod(MOST_REPEATS if size == dynamic else size for size in sizes)


def _terms(op: ir.Operation) -> float:
    """How many numbers a linalg op brings together in one of its result."""
    try:
        with op.context:
            maps = [ir.AffineMapAttr(m).value for m in ir.indexing_maps(op)]
    except (ValueError, TypeError, ir.HeadraceError):
        return 1.0
    sizes: dict[int, int] = {}
    kept: set[int] = set()
    outs = len(maps) - max(1, len(op.results))
    for index, (map_, operand) in enumerate(zip(maps, op.operands, strict=False)):
        if not isinstance(operand.type, ir.RankedTensorType):
            continue
        for expression, size in zip(map_.results, operand.type.shape, strict=True):
            try:
                loop = ir.affine_position(expression)
            except ValueError:
                continue
            sizes[loop] = size
            if index >= outs:
                kept.add(loop)
    return _product([size for loop, size in sorted(sizes.items()) if loop not in kept])
