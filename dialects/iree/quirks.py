"""What IREE and its bindings do otherwise than one would expect, and headrace works around.

A workaround names its quirk, as ``quirks.TOPK_NAN``, in code, docstring or
comment, and takes the place where else the quirk would be described.
tests/quirks holds a canary for each, named after it, that fails once IREE does
what is right: then the workaround can go. docs/quirks.md lists all with the
files that refer to them.
"""

from __future__ import annotations

from dataclasses import dataclass

# The version of which all of them hold, and with which figures in docstrings were measured.
SEEN_IN = "3.13"


@dataclass(frozen=True)
class Quirk:
    """``issue`` is IREE's where there is one; the name of the constant is the id."""

    happens: str
    issue: str | None = None


def all_quirks() -> dict[str, Quirk]:
    """By id, in the order of this file."""
    return {name: value for name, value in globals().items() if isinstance(value, Quirk)}


# Wrong numbers, silently.
ARGUMENT_UPDATED = Quirk(
    "An argument is updated in place where that is its last use: the caller's array changes."
)
BARRIER_OWNS = Quirk(
    "What comes out of a util.optimization_barrier is updated in place, and lies where the operand "
    "does, whoever else reads that."
)
BF16_ROUNDINGS_DROPPED = Quirk(
    "bf16 arithmetic is computed in f32, without the roundings between fused ops."
)
E8M0_TRUNCATED = Quirk("Floats are rounded to f8E8M0FNU towards zero.")
FLOAT_TO_INTEGER_OVERFLOW = Quirk(
    "A float that does not fit an integer type, and NaN, give other integers than XLA's, "
    "and other ones on each CPU."
)
F16_SUBNORMALS_FLUSHED = Quirk(
    "On CPUs without F16C what is rounded to f16, as each result in f16 is, becomes zero where it "
    "is a subnormal."
)
F64_DEMOTED = Quirk("Without a flag f64 becomes f32, the types of arguments included.")
FORWARDED_BUFFER_LOST = Quirk(
    "The VM loses a buffer that a branch hands to a block for two arguments: where one is in "
    "its register already, the last of the other moves leaves that register empty."
)
FP8_NAN_AS_NUMBER = Quirk("On CPUs a matmul of f8E4M3FN takes the NaN 0xFF for -480.")
GATHER_UNCLAMPED = Quirk(
    "The indices of a gather that is taken for an index_select are not clamped: it reads outside."
)
MIXED_BRANCH_OPERANDS = Quirk(
    "The VM miscompiles a branch that forwards i32 and i64 together: its moves are put in an "
    "order in which an i32 overwrites half of an i64 that has yet to be read."
)
READER_AFTER_UPDATE = Quirk(
    "The last user in program order updates a tensor in place; on several devices a reader that "
    "stands before it may run after it."
)
REDUCTION_READ_TWO_WAYS = Quirk(
    "A reduction is put into the dispatch of a reader that reads it through two maps; its "
    "workgroups make only the rows that they read by the first."
)
RESULT_YIELDED_TWICE = Quirk(
    "Of a dispatch region that yields one value for two results the repeated one is folded to "
    "the first of all results.",
    "introduced with PR 20065",
)
SCATTER_UNCLAMPED = Quirk("A scattered window that does not fit is written outside of the buffer.")
SKIPPED_ELEMENTS_UNWRITTEN = Quirk(
    "What makes a value of several users is fused into one that reads it in steps, and then "
    "writes only the elements that this one reads."
)
SORT_AS_TOP_K = Quirk(
    "A descending sort of two operands, one of them an iota, is taken for a top-k of the other, "
    "whatever is compared and wherever its slices begin."
)
SOURCELESS_CLONE = Quirk(
    "A dispatch without tensor operands is cloned where a result is copied or transferred, and "
    "the clone's first result taken, whichever was copied.",
    "of the kind of 14566",
)
SUM_OF_ONE_NUMBER = Quirk(
    "A reduction whose term is one number is vectorized as if it had one term: the sum over "
    "eight fives is five."
)
TOPK_NAN = Quirk("NaN are never among the top: they compare false.")
TOPK_TIES = Quirk(
    "Of equal elements the lower index wins only where the comparator says the same both ways "
    "round, which the >= of IREE's own StableHLO conversion does not for integers."
)
UNSIGNED_INDEX = Quirk("Unsigned indices are taken for signed ones: 255 of type ui8 for -1.")
UNSIGNED_OPERAND_FOLDED = Quirk(
    "A convert of integers is folded into the product that reads it, which forgets that they had "
    "no sign, and sums in the type of the result."
)
UNSTABLE_SORT = Quirk(
    "Two neighbours are swapped unless the comparator says that the first comes before the second."
)
UPDATE_BEFORE_READER = Quirk(
    "Ops that run at once go right behind what they need: if one of them updates a tensor in "
    "place, what reads the tensor before it, and stood before all of them, comes after them."
)
UPDATE_FROM_ITSELF = Quirk(
    "A dispatch whose result is inserted into a tensor writes it there, also where it or another "
    "op still reads other elements of the tensor."
)
UPDATE_ORDER_LOST = Quirk(
    "Writes of parts of a tensor that lie beside each other run at once, and then so does what "
    "comes after the last with what is before it: a write or a read of the first part again."
)
CBRT_OF_INFINITY = Quirk("math.cbrt of infinity is NaN on CPUs.")

# Programs that are refused.
ATTENTION_DYNAMIC_HEADS = Quirk("torch's attention is refused where batch and heads are dynamic.")
ATTENTION_ON_VULKAN = Quirk("torch's attention does not compile.")
ATTENTION_ON_VMVX = Quirk("torch's attention in f16 does not compile.")
BF16_MATMUL_ON_VULKAN = Quirk("Most bf16 matmuls do not compile.")
BF16_SUMS_ON_GFX950 = Quirk("A matmul that sums up in bf16 fails to be distributed.")
BF16_TIMES_F16 = Quirk("GPU backends fail on operands in bf16 and f16.")
CARRIED_TRANSFER = Quirk(
    "iree-stream-refine-usage finds another lifetime for a block argument that is only copied "
    "than for a transfer's result that a branch passes: 'type mismatch for bb argument'."
)
CONSTANT_OF_ALL_DEVICES = Quirk(
    "A constant counts as on the devices of all its users, and makes each of them an op of all "
    "devices; an encoded matmul among those does not compile."
)
DEPTHWISE_ELEMENT_TYPES = Quirk(
    "Operands of a depthwise convolution are reshaped as if they were of the result's element type."
)
DYNAMIC_BROADCAST_MERGED = Quirk(
    "Two stablehlo.dynamic_broadcast_in_dim are merged, which loses what they know of sizes."
)
DYNAMIC_PACKING = Quirk(
    "On CPUs an operand of dynamic sizes is not packed together with what makes it: 'no basis "
    "element may be statically non-positive'."
)
DYNAMIC_RESHAPE = Quirk("stablehlo.dynamic_reshape has no lowering.")
F4_CONVERTS = Quirk("f4E2M1FN is not converted to from f16 and f64.")
FP8_CONVERTS_ON_CUDA = Quirk("fp8 is not converted to or from before sm_89.")
FP8_MATMUL_WITHOUT_MMA = Quirk(
    "An fp8 matmul of a few rows or columns finds no mma.sync, and ends in fp8 converts that fail."
)
FP8_RESOURCE = Quirk("Resources of fp8 cannot be written: 'unhandled float element bit width 8'.")
GATHER_OF_SLICE = Quirk(
    "On CPUs elements at computed places of a slice with steps are read as vectors, which are not "
    "translated to LLVM."
)
INTEGER_TO_BF16 = Quirk(
    "Integers become bf16 by a call of __truncsfbf2, which is not there, on CPUs without bf16 "
    "instructions."
)
MATH_WITHOUT_FUNCTION = Quirk("Math is left as calls of C's functions, of which none is linked.")
MICROSCALING_ON_CUDA = Quirk("f8E8M0FNU and f4E2M1FN are not converted to or from.")
MIXED_FP8_WITHOUT_MFMA = Quirk(
    "A matmul of two different fp8 types that finds no matrix instruction fails."
)
NO_SM_90 = Quirk("The compiler knows no sm_90.")
PACKED_BEFORE_REDUCTION = Quirk(
    "A value packed in a dispatch that goes on to reduce it leaves a store outside of the loop "
    "over workgroups, on CPUs.",
    "24058",
)
ONE_WINDOW = Quirk(
    "An operand of a convolution or pooling with one window along a dimension, or with windows of "
    "one element, is taken to be as large as what is read of it: 'inferred input/output operand "
    "has shape's dimension'."
)
PACKED_INIT = Quirk(
    "A packed matmul that accumulates into what another linalg op makes is given zeros to "
    "accumulate into that are not packed."
)
PACKED_MASK = Quirk("Packed tensors of i1 fail to compile, or a select reads other bits.")
PADDED_IN_PLACE = Quirk(
    "On CPUs a scan or a sort that is padded copies what it updates outside of the loop over "
    "workgroups, and is refused."
)
RDNA_ENCODINGS = Quirk("Encoded f32 matmuls do not compile for RDNA.")
SCALARS_OF_SEVERAL_DEVICES = Quirk(
    "Neighbouring ops whose operands have one element are put into one dispatch, wherever those "
    "live and whatever else they read: 'op affinity is not compatible with the partition affinity'."
)
SCATTER_WINDOW = Quirk("A scatter with a window in a scattered dimension becomes an invalid op.")
SLICE_OF_LOWER_RANK = Quirk(
    "A reshape of one sliced element is moved above the slice, also to more dimensions than the "
    "sliced tensor has: 'expected rank to be smaller or equal to the other rank'."
)
SMALL_RESOURCE_RETYPED = Quirk(
    "A small resource that goes into a dispatch, behind a conversion, is taken for a constant of "
    "the converted type."
)
SORT_OF_SLICE = Quirk("A sort of a slice copies it within its dispatch, which is then refused.")
STORED_TWICE = Quirk(
    "A dispatch that stores a value plain and packed fails where encodings resolve to nothing."
)
TRANSPOSE_OF_ONE_RESULT = Quirk(
    "iree-global-opt-propagate-linalg-transpose makes an invalid op of a linalg.generic with two "
    "results where one is transposed: it gets the one new init in place of all."
)
UNPACKED_AND_USED = Quirk(
    "On CPUs a dispatch that stores what it unpacks beside what it computes from that has "
    "vectors of a whole workgroup's tile: 'large vector sizes'."
)
UNPASSED_ELEMENT_TYPE = Quirk("Types without a number in the runtime cannot be arguments.")
UPDATE_ON_NO_DEVICE = Quirk(
    "Parts of one value that are written into a buffer of no device, beside ops on the value on "
    "several: 'used resource not listed in explicit captures'."
)
VMVX_HALF_FLOATS = Quirk("bf16 and f16 arithmetic does not compile.")

# Other code than was meant.
ALL_GATHER_COUNT = Quirk(
    "flow.collective.all_gather is given the number of the result's elements where "
    "ncclAllGather takes the shard's: it writes past its buffer."
)

# Crashes.
ATTENTION_WITHOUT_KEYS = Quirk("torch's attention over no keys divides by zero in the compiler.")
COMPLEX_ATTRIBUTE = Quirk("The bindings raise TypeError for a dense attribute of complex numbers.")
CONST_EVAL_OF_NAMED_DEVICE = Quirk("Evaluating the constants of a named device crashes.")
EMPTY_SUM_ON_CUDA = Quirk("A matmul over no terms divides by zero in the compiler.")
ERASED_WITH_USES = Quirk("Erasing an op that has uses returns normally; the process dies later.")
MATMUL_WITHOUT_MAPS = Quirk("A linalg.matmul without indexing maps crashes near a transpose.")
NEGATIVE_DIMENSION = Quirk("tensor.dim of a dimension that is not there crashes.")
NOT_UTF8 = Quirk("Strings that are no UTF-8 are parsed; the bindings fail when they hand them out.")
PERMUTATION_OF_FLOATS = Quirk("The parser crashes on permutation = [-0.0, 0].")
TEARDOWN_ORDER = Quirk(
    "Objects of IREE's runtime that live to the end of a process are torn down in the wrong order."
)
SORT_OF_BROADCAST = Quirk(
    "A sort of two operands, or a top-k, of the broadcast of a scalar crashes iree-compile, which "
    "asks for the last of its dimensions."
)
UNKNOWN_OP = Quirk("iree-compile crashes on an op that it does not know.")
