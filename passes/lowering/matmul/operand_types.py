"""In which element types a target multiplies, and how operands get there."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import ir
from ....dialects.fp8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, Fp8Format, fp8_format
from ....dialects.headrace import dequantize
from ....dialects.upstream.arith import Scalars
from ....dialects.upstream.linalg import DYNAMIC, TensorBuilder, tensor_type, with_element_type
from ...targets.fp8_support import Fp8Support
from ..converts import bf16_rounding

# Same bits, half the value: Noune et al. 2022 put one more into the bias.
_FNUZ_TWIN = {E4M3FN: E4M3FNUZ, E5M2: E5M2FNUZ}


@dataclass(frozen=True)
class OperandTypes:
    """Element types of the operands as multiplied, and of the accumulator.

    ``factor``: what the sum has to be multiplied by, a power of two.
    """

    lhs: ir.Type
    rhs: ir.Type
    accumulator: ir.Type
    factor: float = 1.0


@dataclass(frozen=True)
class Sizes:
    """Rows, columns and depth of a product, DYNAMIC where not known."""

    rows: int
    columns: int
    depth: int

    @property
    def is_static(self) -> bool:
        return DYNAMIC not in (self.rows, self.columns, self.depth)


def product_size(sizes: list[int]) -> int:
    """The product of sizes, DYNAMIC if one of them is."""
    result = 1
    for size in sizes:
        if size == DYNAMIC:
            return DYNAMIC
        result *= size
    return result


def operand_types(lhs: ir.Type, rhs: ir.Type, sizes: Sizes, support: Fp8Support) -> OperandTypes:
    """How a product of these element types is computed on a target, exactly.

    f64 operands are multiplied and summed in f64, all others summed in f32.
    """
    context = lhs.context
    f32 = ir.F32Type.get(context)
    if isinstance(lhs, ir.F64Type) or isinstance(rhs, ir.F64Type):
        f64 = ir.F64Type.get(context)
        return OperandTypes(f64, f64, f64)
    formats = (fp8_format(lhs), fp8_format(rhs))
    if support.multiplies_in_f32:
        if _is_faster_in_bf16(lhs, rhs, sizes, support):
            bf16 = ir.BF16Type.get(context)
            return OperandTypes(bf16, bf16, f32)
        # Not fp8, decoded by IREE in the kernel: quirks.FP8_NAN_AS_NUMBER, and it
        # is slower but for a few rows.
        return OperandTypes(f32, f32, f32)
    twins = [_native_twin(f, support) for f in formats]
    if (twins[0], twins[1]) in support.matmuls and _fits(twins[0] != twins[1], sizes, support):
        changed = [t for t, f in zip(twins, formats, strict=True) if t != f]
        types = [lhs if t is None else t.type(context) for t in twins]
        return OperandTypes(types[0], types[1], f32, 2.0 ** len(changed))
    wide = _common_type(lhs, rhs)
    return OperandTypes(wide, wide, f32)


def _is_faster_in_bf16(lhs: ir.Type, rhs: ir.Type, sizes: Sizes, support: Fp8Support) -> bool:
    """Whether a CPU had better multiply in bf16, which holds all fp8 codes.

    Not where sizes are dynamic: the decode would be a launch of its own all
    the same. Seen on Zen 4, bf16 for f32: packed 2 to 3 times faster, not
    packed 0.5 to 1.2 times the time, and operands take half the bytes.
    """
    if not support.multiplies_bf16 or not sizes.is_static:
        return False
    return all(fp8_format(t) is not None or isinstance(t, ir.BF16Type) for t in (lhs, rhs))


def _fits(mixed: bool, sizes: Sizes, support: Fp8Support) -> bool:
    """Whether IREE finds a matrix instruction for the product, or needs none.

    See quirks.MIXED_FP8_WITHOUT_MFMA and quirks.FP8_MATMUL_WITHOUT_MMA.
    """
    multiples = support.mixed_multiples if mixed else (1, 1, 1)
    if support.smallest_matmul == 0 and multiples == (1, 1, 1):
        return True
    if not sizes.is_static or min(sizes.rows, sizes.columns) < support.smallest_matmul:
        return False
    found = (sizes.rows, sizes.columns, sizes.depth)
    return all(size % multiple == 0 for size, multiple in zip(found, multiples, strict=True))


def _native_twin(format_: Fp8Format | None, support: Fp8Support) -> Fp8Format | None:
    """The FNUZ format for an OCP one where a target has only those."""
    if format_ is None or format_ in support.converted:
        return format_
    twin = _FNUZ_TWIN.get(format_)
    return twin if twin in support.converted else format_


def _common_type(lhs: ir.Type, rhs: ir.Type) -> ir.Type:
    """The smallest type that holds both operands exactly: every fp8 code fits in f16 and bf16."""
    wide = [t for t in (lhs, rhs) if fp8_format(t) is None]
    if not wide:
        return ir.F16Type.get(lhs.context)
    if all(t == wide[0] for t in wide):
        return wide[0]
    return ir.F32Type.get(lhs.context)


def bring_operand(
    b: TensorBuilder, value: ir.Value, element: ir.Type, support: Fp8Support
) -> ir.Value:
    """The operand in the element type that ``operand_types`` gave for it."""
    type_ = tensor_type(value)
    if type_.element_type == element:
        return value
    brought = _convert(b, value, element)
    if support.multiplies_in_f32 and not type_.has_static_shape:
        # quirks.DYNAMIC_PACKING
        sizes = [b.dim(value, i) for i in range(type_.rank) if type_.is_dynamic_dim(i)]
        name = "iree_tensor_ext.compute_barrier.start"
        brought = b.op(name, [brought, *sizes], brought.type)
    return brought


def _convert(b: TensorBuilder, value: ir.Value, element: ir.Type) -> ir.Value:
    source = tensor_type(value).element_type
    format_, twin = fp8_format(source), fp8_format(element)
    if format_ is not None and twin is not None:

        def reinterpret(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
            return _to_twin(s, arguments[0], format_, element)

        return b.elementwise(value, [], element, reinterpret)
    if format_ is not None:
        type_ = with_element_type(value.type, element)
        return dequantize(value, None, type_, loc=b.loc, ip=b.ip).result
    # IREE folds an extf of bf16 back into the matmul. Its data-tiled bf16 matmul is 50 times
    # slower than f32 on a CPU without bf16 instructions (512x1024x1024: 520 ms for 9 ms on
    # Zen 3), and see quirks.BF16_TIMES_F16.
    hides = isinstance(source, ir.BF16Type) and isinstance(element, ir.F32Type)

    def widen(s: Scalars, arguments: list[ir.Value]) -> ir.Value:
        value = arguments[0]
        return bf16_rounding.widen(s, value) if hides else s.convert_float(value, element)

    return b.elementwise(value, [], element, widen)


def _to_twin(s: Scalars, value: ir.Value, format_: Fp8Format, element: ir.Type) -> ir.Value:
    """An OCP value as the FNUZ value of the same code, which is half of it.

    -0, which is FNUZ's NaN, becomes 0. NaN, and the infinities of E5M2, which
    FNUZ does not have, become NaN.
    """
    code = s.convert("bitcast", value, s.integer_type(8))
    magnitude = s.binary("andi", code, 0x7F)
    finite = 0x7B if format_.has_infinity else 0x7E
    zero, nan = s.constant(0, code.type), s.constant(0x80, code.type)
    fixed = s.select(s.compare("eq", magnitude, 0), zero, code)
    fixed = s.select(s.compare("ugt", magnitude, finite), nan, fixed)
    return s.convert("bitcast", fixed, element)
