"""What the names of upstream's ops say: one table, which passes ask instead of keeping lists.

The bindings tell neither an op's effects nor its traits, so these are lists of
names. What our own ops do stands in their classes. A list that only one pass
has a use for, because it says what that pass can do, stays there and says why.
"""

from __future__ import annotations

from . import ir


def _names(dialect: str, names: str) -> frozenset[str]:
    return frozenset(f"{dialect}.{name}" for name in names.split())


# Matrix products.

# Those that may be one: of a ``linalg.generic`` its body says so.
LINALG_CONTRACTIONS = _names(
    "linalg",
    "batch_matmul batch_matvec batch_vecmat contract dot generic matmul matvec vecmat",
)
STABLEHLO_DOTS = _names("stablehlo", "dot dot_general")
CONTRACTIONS = LINALG_CONTRACTIONS | STABLEHLO_DOTS
_STABLEHLO_CONVOLUTIONS = _names("stablehlo", "convolution dynamic_conv")
STABLEHLO_PRODUCTS = STABLEHLO_DOTS | _STABLEHLO_CONVOLUTIONS
# Products that are no contraction of two tensors by their names' definition.
OTHER_PRODUCTS = _names(
    "linalg", "batch_mmt4d batch_reduce_matmul mmt4d quantized_batch_matmul quantized_matmul"
)

# Loops and branches.

LOOPS = _names("scf", "for forall parallel while") | {"stablehlo.while"}
SCF_BRANCHES = _names("scf", "if index_switch")
# What their blocks yield are their results.
BRANCHES = SCF_BRANCHES | _names("stablehlo", "case if")
# What their body yields it carries, and are their results; that of ``scf.while`` are others.
CARRYING_LOOPS = frozenset(("scf.for", "stablehlo.while"))
SCF_CONTROL = SCF_BRANCHES | _names("scf", "for while")
# Whose regions are ordinary code, run in order; those of others say what one op computes.
CONTROL = SCF_CONTROL | BRANCHES | CARRYING_LOOPS

# Conversions.

FLOAT_CONVERTS = _names("arith", "extf truncf")
TENSOR_FLOAT_CONVERTS = FLOAT_CONVERTS | {"stablehlo.convert"}
INTEGERS_TO_FLOATS = _names("arith", "sitofp uitofp")
FLOATS_TO_INTEGERS = _names("arith", "fptosi fptoui")

# Data movement.

RESHAPES = _names("tensor", "collapse_shape expand_shape")
# The elements of their operand in the same order: in the same buffer.
VIEWS = RESHAPES | {"tensor.cast"}
# They hand bits on, of any type.
SCALAR_MOVES = _names("arith", "bitcast constant select")
# One scalar in all elements.
SPLATS = frozenset(("linalg.fill", "tensor.splat"))
# Each element of their result is one of their first operand.
REARRANGEMENTS = (
    VIEWS
    | {"tensor.extract_slice"}
    | _names("linalg", "broadcast copy transpose")
    | _names("stablehlo", "broadcast_in_dim dynamic_broadcast_in_dim dynamic_reshape")
    | _names("stablehlo", "dynamic_slice real_dynamic_slice reshape reverse slice transpose")
)

# Where values come from.

CONSTANTS = frozenset(("arith.constant", "stablehlo.constant"))
# What destinations start from: nothing is read from memory.
INITS = frozenset(("linalg.fill", "tensor.empty"))
MADE_OF_SCALARS = INITS | SPLATS | {"tensor.from_elements"}
# There before the function runs.
STORED = frozenset(("arith.constant", "util.global.load"))

# Linalg's ops.

# Those but ``generic`` that only have parallel loops.
LINALG_PARALLEL = _names(
    "linalg", "broadcast copy elementwise fill index map pack transpose unpack"
)
ATTENTION = _names("iree_linalg_ext", "attention online_attention")

# Elementwise ops of StableHLO, and all that are pure.

STABLEHLO_ELEMENTWISE = _names(
    "stablehlo",
    """abs add and atan2 bitcast_convert cbrt ceil clamp compare complex convert cosine
    count_leading_zeros divide exponential exponential_minus_one floor imag is_finite log
    log_plus_one logistic maximum minimum multiply negate not optimization_barrier or popcnt power
    real reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select shift_left
    shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor""",
)
# But for calls, communication, infeeds, loops, and rng; a barrier is there to stay.
_STABLEHLO_PURE = (
    (STABLEHLO_ELEMENTWISE - {"stablehlo.optimization_barrier"})
    | {name for name in REARRANGEMENTS if name.startswith("stablehlo.")}
    | STABLEHLO_PRODUCTS
    | _names(
        "stablehlo",
        """batch_norm_grad batch_norm_inference batch_norm_training cholesky concatenate constant
        dynamic_gather dynamic_iota dynamic_pad dynamic_update_slice fft gather get_dimension_size
        get_tuple_element iota map pad partition_id reduce reduce_window replica_id scatter
        select_and_scatter sort triangular_solve tuple uniform_dequantize uniform_quantize""",
    )
)
_TENSOR_PURE = VIEWS | _names(
    "tensor",
    """bitcast concat dim empty extract extract_slice from_elements gather generate insert
    insert_slice pad rank reshape scatter splat""",
)
# Dialects without any op that has effects.
_PURE_DIALECTS = frozenset(
    ("arith", "chlo", "complex", "headrace", "iree_encoding", "index", "math")
)
# Loops that end, and branches; a `scf.while` may never end.
_PURE_CONTROL = SCF_BRANCHES | {"scf.for"} | _names("affine", "apply max min")
_PURE_NAMES = _STABLEHLO_PURE | _TENSOR_PURE | _PURE_CONTROL
_TERMINATORS = frozenset(("stablehlo.return", "tensor.yield", "linalg.yield", "scf.yield"))

# Undefined for some operands: not to be run where the program would not.
_DIVISIONS = _names("arith", "ceildivsi ceildivui divsi divui floordivsi remsi remui")
# Operands of those that take offsets, which may lie outside.
_TENSORS_OF = {
    "tensor.extract": 1,
    "tensor.extract_slice": 1,
    "tensor.insert": 2,
    "tensor.insert_slice": 2,
}


def is_convolution(op: ir.Operation) -> bool:
    """Whether ``op`` is one by its name: linalg has forty of them."""
    names = ("linalg.conv_", "linalg.depthwise_conv_")
    return op.name.startswith(names) or op.name in _STABLEHLO_CONVOLUTIONS


def is_pure(op: ir.Operation) -> bool:
    """Whether an unused ``op`` may go, and equal ones may become one.

    True only for names that are known; an op with regions is pure if all ops
    in them are. Unknown ops are not pure: passes leave them where they are.
    """
    if not is_pure_itself(op):
        return False
    if not len(op.regions):
        return True
    return all(is_pure_itself(inner) or inner.name in _TERMINATORS for inner in ir.walk(op)[1:])


def is_pure_itself(op: ir.Operation) -> bool:
    """The same without a look into its regions."""
    dialect = op.name.partition(".")[0]
    if dialect == "linalg":
        # With results the op works on tensors; on memrefs it has none.
        return bool(len(op.results)) and op.name not in _TERMINATORS
    return dialect in _PURE_DIALECTS or op.name in _PURE_NAMES


def is_total(op: ir.Operation) -> bool:
    """Whether a pure ``op`` can run with any operands, where it would not have.

    Divisions and accesses at computed offsets cannot; nor an op with one in
    its regions. StableHLO defines its ops for all operands.
    """
    return all(_is_total_itself(inner) for inner in ir.walk(op))


def _is_total_itself(op: ir.Operation) -> bool:
    if op.name in _DIVISIONS:
        return False
    tensors = _TENSORS_OF.get(op.name)
    return tensors is None or len(op.operands) == tensors
