"""The pass ``reduce-constants``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.arith import Scalars
from ...dialects.cloning import clone_op
from ...dialects.generic import GENERIC, is_parallel, iterators_of, maps_of
from ...dialects.mlir import (
    Block,
    BlockArgument,
    DenseElementsAttr,
    FloatType,
    InsertionPoint,
    Operation,
    Value,
    affine_position,
    defining_op,
    operations_of,
    result_number,
    walk,
)
from ...dialects.tensor import VIEWS
from ..base import Pass


@dataclass(frozen=True)
class ReduceConstants(Pass):
    """Keep what is the same number in every step of a reduction a step's own.

    IREE 3.13 folds a constant into the body as a scalar, and MLIR's vectorizer then
    combines it once: the sum of ten twos is 2 (in stock IREE too). Here a tensor
    full of it is one that IREE does not see through:

        %b = util.optimization_barrier %twos
        %0 = linalg.generic ins(%b) outs(%init) { addf %out, %in }

    and a number in the body is chosen by an operand, of itself and its like:

        %like = util.optimization_barrier %two : f32        // outside
        %is = arith.cmpf olt, %in, %zero
        %v = arith.select %is, %two, %like
        %s = arith.addf %out, %v
    """

    name: ClassVar[str] = "reduce-constants"

    def run(self, module: Operation) -> None:
        for op in walk(module):
            if op.name == GENERIC and not is_parallel(op):
                _vary(op)


def _vary(op: Operation) -> None:
    body = op.regions[0].blocks[0]
    inputs = len(op.operands) - len(op.results)
    outs = list(body.arguments)[inputs:]
    for yielded, out in zip(list(operations_of(body)[-1].operands), outs, strict=True):
        combiner = defining_op(yielded)
        if combiner is None or combiner.name == GENERIC or len(combiner.operands) != 2:
            continue
        operands = list(combiner.operands)
        if (operands[0] == out) == (operands[1] == out):
            continue
        place = 1 if operands[0] == out else 0
        value = operands[place]
        if not _is_uniform_in(value, body, op):
            continue
        read = _read_inputs(value)
        if not read and (number := _covering_input(op)) is not None:
            read = [number]
            varied = _varied(op, combiner, value, body.arguments[number])
            combiner.operands[place] = varied
        for number in read:
            if _is_uniform(op.operands[number]):
                ip = Scalars(InsertionPoint(op), op.location)
                tensor = op.operands[number]
                op.operands[number] = ip.op("util.optimization_barrier", [tensor], tensor.type)


def _read_inputs(value: Value) -> list[int]:
    """The block arguments that a value in the body is made of."""
    maker = defining_op(value)
    if maker is None:
        return [BlockArgument(value).arg_number]
    return sorted({n for operand in maker.operands for n in _read_inputs(operand)})


def _covering_input(op: Operation) -> int | None:
    """An input that is read along all loops of the reduction."""
    loops = [n for n, kind in enumerate(iterators_of(op)) if kind == "reduction"]
    for number, map_ in enumerate(maps_of(op)[: -len(op.results)]):
        if not map_.is_projected_permutation:
            continue
        read = [affine_position(expression) for expression in map_.results]
        if all(loop in read for loop in loops):
            return number
    return None


def _outside(value: Value, op: Operation) -> Value:
    """A value of constants in the body, made before the op."""
    maker = defining_op(value)
    assert maker is not None
    values = {operand: _outside(operand, op) for operand in maker.operands}
    return clone_op(maker, values, InsertionPoint(op)).results[0]


def _varied(op: Operation, combiner: Operation, value: Value, argument: Value) -> Value:
    outside = Scalars(InsertionPoint(op), op.location)
    inside = Scalars(InsertionPoint(combiner), op.location)
    like = outside.op("util.optimization_barrier", [_outside(value, op)], value.type)
    zero = inside.constant(0, argument.type)
    if isinstance(argument.type, FloatType):
        chosen = inside.compare_floats("olt", argument, zero)
    else:
        chosen = inside.compare("slt", argument, zero)
    return inside.select(chosen, value, like)


def _is_uniform_in(value: Value, body: Block, op: Operation) -> bool:
    """Whether a value in the body is the same number in every step."""
    maker = defining_op(value)
    if maker is None:
        argument = BlockArgument(value)
        inputs = len(op.operands) - len(op.results)
        if argument.owner != body or argument.arg_number >= inputs:
            return False
        return _is_uniform(op.operands[argument.arg_number])
    if maker.name == "arith.constant":
        return True
    if not maker.name.startswith(("arith.", "math.")):
        return False
    return all(_is_uniform_in(operand, body, op) for operand in maker.operands)


def _is_uniform(value: Value) -> bool:
    """Whether all elements of a tensor are one constant."""
    op = defining_op(value)
    if op is None:
        return False
    if op.name in (*VIEWS, "tensor.extract_slice", "linalg.broadcast", "linalg.transpose"):
        return _is_uniform(op.operands[0])
    if op.name == "arith.constant":
        elements = op.attributes["value"]
        return not isinstance(elements, DenseElementsAttr) or elements.is_splat
    if op.name == "linalg.fill":
        return _is_uniform(op.operands[0])
    if op.name != GENERIC or not is_parallel(op):
        return False
    body = op.regions[0].blocks[0]
    number = result_number(value)
    return _is_uniform_in(operations_of(body)[-1].operands[number], body, op)
