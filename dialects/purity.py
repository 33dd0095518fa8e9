"""Which ops compute their results from their operands alone.

The bindings do not tell an op's effects, so this is a list of names. An op
may be missing: then passes leave it where it is. None may be wrongly there.
"""

from __future__ import annotations

from . import ir

# Dialects without any op that has effects.
_PURE_DIALECTS = frozenset(
    {"arith", "chlo", "complex", "headrace", "iree_encoding", "index", "math"}
)

# StableHLO's ops but for calls, communication, infeeds, loops, and rng.
_STABLEHLO = """
abs add and atan2 batch_norm_grad batch_norm_inference batch_norm_training bitcast_convert
broadcast_in_dim cbrt ceil cholesky clamp compare complex concatenate constant convert
convolution cosine count_leading_zeros divide dot_general dynamic_broadcast_in_dim dynamic_gather
dynamic_iota dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice exponential
exponential_minus_one fft floor gather get_dimension_size get_tuple_element imag iota is_finite
log log_plus_one logistic map maximum minimum multiply negate not or pad partition_id popcnt
power real reduce reduce_precision reduce_window remainder replica_id reshape reverse
round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter shift_left
shift_right_arithmetic shift_right_logical sign sine slice sort sqrt subtract tan tanh transpose
triangular_solve tuple uniform_dequantize uniform_quantize xor
"""
_TENSOR = """
bitcast cast collapse_shape concat dim empty expand_shape extract extract_slice from_elements
gather generate insert insert_slice pad rank reshape scatter splat
"""
_TERMINATORS = frozenset({"stablehlo.return", "tensor.yield", "linalg.yield", "scf.yield"})
# Loops that end, and branches; a `scf.while` may never end.
_CONTROL = frozenset({"affine.apply", "affine.max", "affine.min", "scf.for", "scf.if"})
_NAMES = (
    frozenset(
        {f"stablehlo.{name}" for name in _STABLEHLO.split()}
        | {f"tensor.{name}" for name in _TENSOR.split()}
    )
    | _CONTROL
)
# Undefined for some operands: not to be run where the program would not.
_DIVISIONS = frozenset(
    f"arith.{name}"
    for name in ("ceildivsi", "ceildivui", "divsi", "divui", "floordivsi", "remsi", "remui")
)
# Operands of those that take offsets, which may lie outside.
_TENSORS_OF = {
    "tensor.extract": 1,
    "tensor.extract_slice": 1,
    "tensor.insert": 2,
    "tensor.insert_slice": 2,
}
# Structured ops that write to tensors only hold values, not memory.
_ON_TENSORS = "linalg"


def is_pure(op: ir.Operation) -> bool:
    """Whether an unused ``op`` may go, and equal ones may become one.

    True only for names that are known; an op with regions is pure if all ops
    in them are. Unknown ops are not pure.
    """
    if not _is_pure_itself(op):
        return False
    if not len(op.regions):
        return True
    return all(_is_pure_itself(inner) or inner.name in _TERMINATORS for inner in ir.walk(op)[1:])


def is_total(op: ir.Operation) -> bool:
    """Whether a pure ``op`` can run with any operands, where it would not have.

    Divisions and accesses at computed offsets cannot; nor an op with one in
    its regions. StableHLO defines its ops for all operands.
    """
    return all(_is_total_itself(inner) for inner in (ir.walk(op) if len(op.regions) else (op,)))


def _is_total_itself(op: ir.Operation) -> bool:
    if op.name in _DIVISIONS:
        return False
    tensors = _TENSORS_OF.get(op.name)
    return tensors is None or len(op.operands) == tensors


def _is_pure_itself(op: ir.Operation) -> bool:
    dialect = op.name.partition(".")[0]
    if dialect == _ON_TENSORS:
        # With results the op works on tensors; on memrefs it has none.
        return bool(len(op.results)) and op.name not in _TERMINATORS
    return dialect in _PURE_DIALECTS or op.name in _NAMES
