"""How often an op runs: static trip counts of structured and of cf loops."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...dialects import ir
from ...dialects.op_traits import LOOPS
from ...dialects.upstream.scf import constant_value

_DEVICE = re.compile(r"@(?:dev|__device_)(\d+)")
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")


def trips_of(op: ir.Operation) -> int | None:
    """Product of the trip counts of the loops around ``op``; None if dynamic.

    A conditional counts as taken.
    """
    trips = 1
    for around in ir.ancestors(op):
        if around.name in LOOPS:
            count = loop_trips(around)
            if count is None:
                return None
            trips *= count
    return trips


def constant(value: ir.Value) -> int | None:
    """The integer that ``value`` always is, through casts; None if unknown."""
    return constant_value(_uncast(value))


def loop_trips(loop: ir.Operation) -> int | None:
    """How often one run of a loop repeats its body; None if dynamic."""
    if loop.name != "scf.for":
        return None
    bounds = [constant(v) for v in list(loop.operands)[:3]]
    if None in bounds:
        return None
    lower, upper, step = (b or 0 for b in bounds)
    return count_trips(lower, upper, step)


def stated_device(op: ir.Operation) -> int | None:
    """The device that the op itself names."""
    for name in ("affinity", "target"):
        if name in op.attributes and (match := _DEVICE.search(str(op.attributes[name]))):
            return int(match[1])
    return None


def count_trips(lower: int, upper: int, step: int) -> int | None:
    """Values in ``range(lower, upper, step)``; None where it never ends."""
    # Not len(range(...)), which cannot count so far.
    return max(0, -((lower - upper) // step)) if step > 0 else None


@dataclass(frozen=True)
class _Edge:
    source: int
    target: int
    operands: list[ir.Value]


class ControlFlow:
    """The loops among the blocks of one function body (``cf`` form).

    IREE's own phases have loops as branches. A loop counts as static where
    its header compares a block argument with a constant and the back edge
    adds a constant to it.
    """

    def __init__(self, blocks: list[ir.Block]) -> None:
        self.blocks = blocks
        self._edges = _edges(blocks)
        self._trips: list[int | None] = [1] * len(blocks)
        self._loops: dict[int, set[int]] = {}
        self._multiply_loops()

    def trips(self, block: int) -> int | None:
        """How often that block runs per call; None if not static."""
        return self._trips[block]

    def loops(self) -> dict[int, list[int]]:
        """Header to blocks of each loop, those of loops inside it left out."""
        return {
            header: [
                block
                for block in sorted(body)
                if not any(
                    block in inner and header not in inner
                    for other, inner in self._loops.items()
                    if other in body
                )
            ]
            for header, body in sorted(self._loops.items())
        }

    def _multiply_loops(self) -> None:
        for edge in self._back_edges():
            self._loops.setdefault(edge.target, {edge.target}).update(self._body(edge))
        for header, body in self._loops.items():
            count = self._count(header, body)
            for block in sorted(body):
                known = self._trips[block]
                self._trips[block] = None if known is None or count is None else known * count

    def _back_edges(self) -> list[_Edge]:
        """Edges to a block that is still open in a depth-first search."""
        successors: list[list[_Edge]] = [[] for _ in self.blocks]
        for edge in self._edges:
            successors[edge.source].append(edge)
        found: list[_Edge] = []
        state = [0] * len(self.blocks)  # 0 new, 1 open, 2 done
        stack = [(0, 0)]
        state[0] = 1
        while stack:
            block, position = stack.pop()
            if position == len(successors[block]):
                state[block] = 2
                continue
            stack.append((block, position + 1))
            edge = successors[block][position]
            if state[edge.target] == 1:
                found.append(edge)
            elif state[edge.target] == 0:
                state[edge.target] = 1
                stack.append((edge.target, 0))
        return found

    def _body(self, back: _Edge) -> set[int]:
        """The natural loop of a back edge."""
        body = {back.target, back.source}
        work = [back.source] if back.source != back.target else []
        while work:
            block = work.pop()
            for edge in self._edges:
                if edge.target == block and edge.source not in body:
                    body.add(edge.source)
                    work.append(edge.source)
        return body

    def _count(self, header: int, body: set[int]) -> int | None:
        terminator = ir.operations_of(self.blocks[header])[-1]
        if terminator.name != "cf.cond_br":
            return None
        compare = ir.defining_op(terminator.operands[0])
        if compare is None or compare.name != "arith.cmpi":
            return None
        counter = _uncast(compare.operands[0])
        upper = constant(compare.operands[1])
        predicate = ir.IntegerAttr(compare.attributes["predicate"]).value
        if not isinstance(counter.owner, ir.Block) or counter.owner != self.blocks[header]:
            return None
        index = ir.BlockArgument(counter).arg_number
        lower: set[int | None] = set()
        step: set[int | None] = set()
        for edge in self._edges:
            if edge.target == header:
                value = edge.operands[index]
                if edge.source in body:
                    step.add(_step(value, counter))
                else:
                    lower.add(constant(value))
        if len(lower) != 1 or len(step) != 1 or predicate not in (2, 6):  # slt, ult
            return None
        first, by = lower.pop(), step.pop()
        if first is None or by is None or upper is None:
            return None
        return count_trips(first, upper, by)


def _edges(blocks: list[ir.Block]) -> list[_Edge]:
    position = {block: index for index, block in enumerate(blocks)}
    found: list[_Edge] = []
    for index, block in enumerate(blocks):
        terminator = ir.operations_of(block)[-1]
        operands = list(terminator.operands)
        if terminator.name == "cf.cond_br":
            sizes = list(ir.DenseI32ArrayAttr(terminator.attributes["operandSegmentSizes"]))
            parts = [operands[1 : 1 + sizes[1]], operands[1 + sizes[1] :]]
        else:
            parts = [operands] * len(terminator.successors)
        for successor, values in zip(terminator.successors, parts, strict=True):
            found.append(_Edge(index, position[successor], values))
    return found


def _uncast(value: ir.Value) -> ir.Value:
    """The integer before casts: counters cross branches widened."""
    op = ir.defining_op(value)
    while op is not None and op.name in _CASTS:
        value = op.operands[0]
        op = ir.defining_op(value)
    return value


def _step(value: ir.Value, counter: ir.Value) -> int | None:
    op = ir.defining_op(_uncast(value))
    if op is None or op.name != "arith.addi":
        return None
    a, b = (_uncast(operand) for operand in op.operands)
    if a == counter:
        return constant(b)
    return constant(a) if b == counter else None
