"""Integer arithmetic on rank-0 tensors, done on scalars.

IREE's StableHLO input pipeline leaves loop counters and indices as
``tensor<i32>`` computed by rank-0 ``linalg.generic``. On a device each would
be a launch and a read-back per iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.op_traits import is_pure
from ....dialects.upstream.arith import Scalars
from ...analysis.elementwise import inputs_of
from ...rewriting import Pattern, Rewriter


def is_scalar_tensor(type_: ir.Type) -> bool:
    """Whether it is a rank-0 tensor of an integer or index type."""
    if not isinstance(type_, ir.RankedTensorType) or type_.rank != 0:
        return False
    return isinstance(type_.element_type, ir.IntegerType | ir.IndexType)


def is_integer(type_: ir.Type) -> bool:
    """Whether it is an integer or index, or a rank-0 tensor of one."""
    return isinstance(type_, ir.IntegerType | ir.IndexType) or is_scalar_tensor(type_)


@dataclass(frozen=True)
class _Computed:
    generic: ir.Operation
    result: int


class ExtractOfGeneric(Pattern[_Computed]):
    """Computes an extracted integer on scalars, once for all that extract it.

    Before::

        %1 = linalg.generic ins(%a : tensor<i32>) { addi %in, %c } -> tensor<i32>
        %2 = tensor.extract %1[] : tensor<i32>

    After::

        %0 = tensor.extract %a[] : tensor<i32>
        %2 = arith.addi %0, %c : i32

    Both stand where the generic stood, so that nothing that was computed
    before a loop is computed in it.
    """

    roots = ("tensor.extract",)

    def match(self, op: ir.Operation) -> _Computed | None:
        tensor = op.operands[0]
        generic = ir.defining_op(tensor)
        if generic is None or generic.name != "linalg.generic" or not is_scalar_tensor(tensor.type):
            return None
        inputs = inputs_of(generic)
        if not all(is_scalar_tensor(v.type) for v in inputs):
            return None
        if not is_pure(generic):
            return None
        body = generic.regions[0].blocks[0]
        inits = list(body.arguments)[len(inputs) :]
        if any(next(iter(a.uses), None) is not None for a in inits):
            return None
        return _Computed(generic, ir.result_number(tensor))

    def rewrite(self, op: ir.Operation, match: _Computed, rewriter: Rewriter) -> None:
        generic = match.generic
        ip = rewriter.before(generic)
        body = generic.regions[0].blocks[0]
        values: ir.ValueMap = {}
        extracted: ir.ValueMap = {}
        for argument, tensor in zip(body.arguments, inputs_of(generic), strict=False):
            if tensor not in extracted:
                scalar = Scalars(ip, op.location).op("tensor.extract", [tensor], argument.type)
                rewriter.created(ir.OpResult(scalar).owner)
                extracted[tensor] = scalar
            values[argument] = extracted[tensor]
        *ops, terminator = ir.operations_of(body)
        ir.clone_ops(ops, values, ip)
        yielded = terminator.operands[match.result]
        scalar = values.get(yielded, yielded)
        for use in list(generic.results[match.result].uses):
            user = use.owner.operation
            if user.name == "tensor.extract":
                rewriter.replace(user, [scalar])
        rewriter.erase_if_dead(generic)


class ExtractOfScalar(Pattern[ir.Value]):
    """``extract(from_elements(x))`` and ``extract(constant)`` are scalars.

    Before::

        %0 = tensor.from_elements %x : tensor<i32>
        %1 = tensor.extract %0[] : tensor<i32>

    After: ``%x``.
    """

    roots = ("tensor.extract",)

    def match(self, op: ir.Operation) -> ir.Value | None:
        tensor = op.operands[0]
        source = ir.defining_op(tensor)
        if source is None or not is_scalar_tensor(tensor.type):
            return None
        if source.name == "tensor.from_elements":
            return source.operands[0]
        if source.name == "arith.constant" and dense_integer(source) is not None:
            return tensor
        return None

    def rewrite(self, op: ir.Operation, match: ir.Value, rewriter: Rewriter) -> None:
        if isinstance(match.type, ir.RankedTensorType):
            constant = ir.defining_op(match)
            assert constant is not None
            value = dense_integer(constant)
            assert value is not None
            match = Scalars(rewriter.before(op), op.location).constant(value, op.results[0].type)
        rewriter.replace(op, [match])


SCALAR_PATTERNS: tuple[Pattern[_Computed] | Pattern[ir.Value], ...] = (
    ExtractOfScalar(),
    ExtractOfGeneric(),
)


def dense_integer(constant: ir.Operation) -> int | None:
    """The one integer of a rank-0 or scalar ``arith.constant``; None if it has
    none to read, such as a resource."""
    attribute = constant.attributes["value"]
    if isinstance(attribute, ir.DenseIntElementsAttr):
        # Not attribute[0]: the bindings index only the usual widths.
        attribute = attribute.get_splat_value()
    return int(attribute.value) if isinstance(attribute, ir.IntegerAttr | ir.BoolAttr) else None
