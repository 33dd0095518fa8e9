"""What one element of a pointwise linalg or arith computation is made of.

A ``Term`` is one element of a tensor, or a scalar in the body of a
``linalg.generic``, as a function of the place in some result. Terms are
followed through bodies, from op to op, whether each op has a generic of its
own (torch-mlir) or many share one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.op_traits import REARRANGEMENTS, SPLATS
from ...dialects.upstream.generic import GENERIC, is_parallel, maps_of

Place = tuple[int | None, ...]
"""Of each dimension of a tensor (each loop of a generic) the dimension of the
result that it runs along; None where it stays at 0."""


@dataclass(frozen=True)
class Term:
    """``value`` is a tensor, read at ``place``, or a scalar that a body
    computes at loops ``place``, or a scalar from outside any body (then
    ``place`` is empty)."""

    value: ir.Value
    place: Place = ()

    @property
    def is_tensor(self) -> bool:
        return isinstance(self.value.type, ir.RankedTensorType)


def body_of(generic: ir.Operation) -> ir.Block:
    return generic.regions[0].blocks[0]


def is_pointwise(op: ir.Operation) -> bool:
    """A ``linalg.generic`` with one result, which it writes in order, and without
    reductions or a body that reads the result's old value."""
    if op.name != GENERIC or len(op.results) != 1 or len(op.regions[0].blocks) != 1:
        return False
    if not is_parallel(op):
        return False
    out, map_ = body_of(op).arguments[-1], maps_of(op)[-1]
    with op.context:
        in_order = map_ == ir.AffineMap.get_identity(map_.n_dims)
    return in_order and next(iter(out.uses), None) is None


def place_of(map_: ir.AffineMap, loops: Place) -> Place | None:
    """Where a tensor with that indexing map is read; None for what is no
    projection of the loops."""
    found: list[int | None] = []
    for expression in map_.results:
        try:
            found.append(loops[ir.affine_position(expression)])
        except ValueError:
            if str(expression) != "0":
                return None
            found.append(None)
    return tuple(found)


def settled(term: Term) -> Term:
    """A body's argument as the element of the tensor that it stands for."""
    owner = term.value.owner
    if term.is_tensor or not isinstance(owner, ir.Block):
        return term
    generic = owner.owner.operation
    if generic.name != GENERIC:
        return Term(term.value)
    number = ir.BlockArgument(term.value).arg_number
    place = place_of(maps_of(generic)[number], term.place)
    return term if place is None else Term(generic.operands[number], place)


def producer(term: Term) -> tuple[ir.Operation, tuple[Term, ...]] | None:
    """The arith op that computes the term, and its operands; None for what is
    computed otherwise, or is given."""
    op = ir.defining_op(term.value)
    if op is None:
        return None
    if op.name.startswith("arith."):
        return op, tuple(settled(Term(v, _place_in(v, term))) for v in op.operands)
    if term.is_tensor and is_pointwise(op):
        inner = settled(Term(ir.operations_of(body_of(op))[-1].operands[0], term.place))
        # What only reads another tensor is no step of its own.
        return producer(inner)
    return None


def _place_in(value: ir.Value, user: Term) -> Place:
    """A scalar from outside the body has no place."""
    if isinstance(value.type, ir.RankedTensorType):
        return user.place
    return user.place if ir.block_of(value).owner.operation.name == GENERIC else ()


def number_of(term: Term) -> float | None:
    """The value of a constant that is the same everywhere."""
    op = ir.defining_op(term.value)
    if op is None:
        return None
    if op.name in SPLATS | REARRANGEMENTS:
        return number_of(Term(op.operands[0]))
    if op.name != "arith.constant":
        return None
    value = op.attributes["value"]
    if isinstance(value, ir.DenseElementsAttr) and value.is_splat:
        value = value.get_splat_value()
    return value.value if isinstance(value, ir.FloatAttr) else None
