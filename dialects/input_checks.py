"""What MLIR's verifier lets pass and passes, ours or native ones, fail or crash on.

It knows neither the attributes that headrace reads on ops of other dialects,
nor anything about ops that are not registered, such as headrace's.
"""

from __future__ import annotations

import math

from . import ir
from .device_counts import COUNTS
from .ops.constraints import MAX_DEVICE_COUNT
from .upstream.tensor import reassociation

_SHARDINGS = ("mhlo.sharding", "headrace.sharding")
# Of which kind they are on any op, and what that is called.
_KINDS: dict[str, tuple[type[ir.Attribute], str]] = {
    **dict.fromkeys(_SHARDINGS, (ir.StringAttr, "a string")),
    "headrace.wide_reason": (ir.StringAttr, "a string"),
    "headrace.pipeline_reason": (ir.StringAttr, "a string"),
    "headrace.lhs_rounding": (ir.TypeAttr, "a type"),
    "headrace.rhs_rounding": (ir.TypeAttr, "a type"),
    "iree.reflection": (ir.DictAttr, "a dictionary"),
}
# Their ``dimension`` is one of the first operand: IREE's verifiers set it no lower bound.
_ALONG_A_DIMENSION = frozenset(
    f"iree_linalg_ext.{name}" for name in ("arg_compare", "scan", "sort", "topk", "topk_v2")
)
_MOST_ELEMENTS = 1 << 48
_FUSED = "headrace.fused_encodings"


def check_input(module: ir.Operation) -> None:
    """Raises HeadraceError for an attribute that is not what headrace takes it for,
    an op without a dialect, and a block of a function that a headrace op ends."""
    check_device_counts(module)
    seen: dict[ir.Type, None] = {}
    for op in ir.walk(module, bodies=False):
        name = op.name
        if "." not in name:  # IREE's passes crash on it
            raise ir.error_at(op, f"'{name}' is the name of no op: it has no dialect")
        values = list(op.results)
        if len(op.regions):
            values += [a for block in ir.blocks_of(op) for a in block.arguments]
            if name != "builtin.module":
                _check_terminators(op)
        if name == "flow.dispatch.region":
            _check_region_sizes(op)
        elif name == "func.func":
            _check_place(op)
        elif name == "tensor.dim":
            _check_dimension(op)
        elif name in ("tensor.collapse_shape", "tensor.expand_shape"):
            _check_groups(op)
        elif name in _ALONG_A_DIMENSION:
            _check_one_of_dimensions(op)
        for value in values:
            if (type_ := value.type) not in seen:
                seen[type_] = None
                _check_size(value, type_)
        for name in op.attributes:
            if name in _KINDS:
                kind, description = _KINDS[name]
                _check(op, f"'{name}'", op.attributes[name], kind, description)
            elif name == _FUSED and not _are_fused_values(op.attributes[name]):
                raise ir.error_at(op, f"'{name}' is not what fuse-encodings writes")
    for function in ir.functions_of(module):
        for role, entries in (
            ("argument", ir.argument_attributes(function)),
            ("result", ir.result_attributes(function)),
        ):
            for index, attributes in enumerate(entries):
                for name in _SHARDINGS:
                    if name in attributes:
                        what = f"'{name}' of {role} {index}"
                        _check(function, what, attributes[name], ir.StringAttr, "a string")


def check_device_counts(module: ir.Operation) -> None:
    """Raises HeadraceError where a device count of the module is no positive
    integer, or so large that no analysis can hold a number for each device."""
    total = 1
    for name in (f"{dialect}.{count}" for dialect in ("mhlo", "headrace") for count in COUNTS):
        if name not in module.attributes:
            continue
        found = module.attributes[name]
        if not isinstance(found, ir.IntegerAttr) or found.value < 1:
            raise ir.error_at(module, f"'{name}' must be a positive integer, got {found}")
        if name.startswith("mhlo."):
            total *= found.value
        if max(total, found.value) > MAX_DEVICE_COUNT:
            raise ir.error_at(
                module,
                f"'{name}' = {found.value}: a program is for {MAX_DEVICE_COUNT} devices at most",
            )


def _check_size(value: ir.Value, type_: ir.Type) -> None:
    """Native passes compute with sizes in 64 bits, and crash where they overflow."""
    if not isinstance(type_, ir.RankedTensorType):
        return
    sizes = [size for size in type_.shape if size != ir.ShapedType.get_dynamic_size()]
    if math.prod(max(size, 1) for size in sizes) > _MOST_ELEMENTS:
        raise ir.error_at(value, f"{type_} has more elements than any memory: over 2^48")


def _check_region_sizes(region: ir.Operation) -> None:
    """IREE's verifier does not count them, and its printer and passes do not end well."""
    sizes = ir.DenseI32ArrayAttr(region.attributes["operandSegmentSizes"])[0]
    types = [
        ir.RankedTensorType(r.type)
        for r in region.results
        if isinstance(r.type, ir.RankedTensorType)
    ]
    dynamic = sum(type_.is_dynamic_dim(dim) for type_ in types for dim in range(type_.rank))
    if sizes != dynamic:
        raise ir.error_at(
            region,
            f"'{region.name}' op has {sizes} sizes for results with {dynamic} dynamic dimensions",
        )


def _check_place(function: ir.Operation) -> None:
    """MLIR takes an op that it does not know for a symbol table, and its inliner crashes."""
    parent = function.parent
    if parent is not None and parent.operation.name != "builtin.module":
        raise ir.error_at(function, f"a function stands in '{parent.operation.name}', no module")


def _check_dimension(op: ir.Operation) -> None:
    """MLIR calls the size of a dimension that is not there undefined: quirks.NEGATIVE_DIMENSION."""
    number = ir.defining_op(op.operands[1])
    if number is None or number.name != "arith.constant":
        return
    value = number.attributes["value"]
    type_ = op.operands[0].type
    if not isinstance(value, ir.IntegerAttr) or not isinstance(type_, ir.RankedTensorType):
        return
    if not 0 <= value.value < type_.rank:
        raise ir.error_at(op, f"'{op.name}' of dimension {value.value} of a {type_}")


def _check_groups(reshape: ir.Operation) -> None:
    """MLIR's verifier takes groups of dimensions that are not there."""
    groups = reassociation(reshape)
    narrow, wide = sorted((v.type for v in (reshape.operands[0], reshape.results[0])), key=_rank)
    # From or to a scalar there is no group.
    if _rank(narrow) and [dim for group in groups for dim in group] != [*range(_rank(wide))]:
        raise ir.error_at(
            reshape, f"'{reshape.name}' op has groups {groups} of the dimensions of {wide}"
        )


def _rank(type_: ir.Type) -> int:
    return ir.RankedTensorType(type_).rank


def _check_one_of_dimensions(op: ir.Operation) -> None:
    found, type_ = op.attributes["dimension"], op.operands[0].type
    if not 0 <= ir.IntegerAttr(found).value < _rank(type_):
        raise ir.error_at(op, f"'{op.name}' along dimension {found} of a {type_}")


def _check_terminators(op: ir.Operation) -> None:
    """MLIR takes any op that it does not know for a terminator."""
    for block in ir.blocks_of(op):
        if len(block.operations) and block.operations[-1].operation.name.startswith("headrace."):
            last = block.operations[-1].operation
            raise ir.error_at(last, f"'{last.name}' op is no terminator, but ends a block")


def _check(
    place: ir.Operation, what: str, found: ir.Attribute, kind: type[ir.Attribute], description: str
) -> None:
    if not isinstance(found, kind):
        raise ir.error_at(place, f"{what} must be {description}, got {found}")


def _are_fused_values(attribute: ir.Attribute) -> bool:
    """``[{bytes_added = 0 : i64, launches_saved = 1 : i64, value = tensor<...>}]``"""
    if not isinstance(attribute, ir.ArrayAttr):
        return False
    for entry in attribute:
        if not isinstance(entry, ir.DictAttr):
            return False
        found = {named.name: type(named.attr) for named in entry}
        if not {"launches_saved": ir.IntegerAttr, "value": ir.TypeAttr}.items() <= found.items():
            return False
        if found.get("bytes_added", ir.IntegerAttr) is not ir.IntegerAttr:
            return False
    return True
