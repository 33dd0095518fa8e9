"""Raises converts to fp8, with the clamp and the scale before them, to quantize."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....dialects import ir
from ....dialects.fp8 import Fp8Format, fp8_format
from ....dialects.headrace import quantize
from ....dialects.upstream.linalg import TensorBuilder, element_of, tensor_type, with_element_type
from ....dialects.upstream.stablehlo import constant_elements
from ...analysis.linalg_terms import Term, body_of, is_pointwise
from ...remarks import remark
from ...rewriting import Miss, Pattern, Rewriter
from .clamps import Clamp, bounds_miss, find_clamp
from .steps import MODES, Scale, element_at, is_wide, scale_of, step_of

_CONVERT = "stablehlo.convert"


@dataclass(frozen=True)
class Scaling:
    """A value times or over a scale."""

    input: Term
    scale: Scale
    mode: str


@dataclass(frozen=True)
class Quantization:
    """What is known of a quantize, from its convert back to ``input``."""

    input: Term
    convert: ir.Operation
    type: ir.RankedTensorType
    format: Fp8Format
    saturate: bool = False
    scaling: Scaling | None = None
    note: str = ""


class RaiseQuantize(Pattern[Quantization]):
    """A convert to fp8, with the clamp and the scale before it.

    The clamp's bounds must be the format's largest finite values; without a
    clamp the quantize does not saturate. Scale, clamp and convert must be in
    one element type: arithmetic is taken as the graph has it. Ops of linalg may
    each have a generic of their own, share one, or be arith ops on tensors.

    Before:
        %d = stablehlo.divide %x, %bcast : tensor<64xbf16>
        %c = stablehlo.clamp %lo, %d, %hi : tensor<64xbf16>
        %q = stablehlo.convert %c : (tensor<64xbf16>) -> tensor<64xf8E4M3FN>
    or
        %d = linalg.generic ins(%x, %s : tensor<64xbf16>, tensor<bf16>) { arith.divf }
        %c = linalg.generic ins(%d) { arith.maximumf %lo; arith.minimumf %hi }
        %q = linalg.generic ins(%c) { arith.truncf %in : bf16 to f8E4M3FN }
    After:
        %q = "headrace.quantize"(%x, %s) {saturate = true, scale_mode = "divide"}
    """

    def __init__(self, *roots: str) -> None:
        self.roots = roots

    def match(self, op: ir.Operation) -> Quantization | Miss | None:
        found = _converted(op)
        for step in (_unclamped, _unscaled, _whole):
            if isinstance(found, Quantization):
                found = step(found)
        return found

    def rewrite(self, op: ir.Operation, match: Quantization, rewriter: Rewriter) -> None:
        ip, loc = rewriter.before(op), op.location
        if match.note:
            remark(op, match.note)
        new = quantize(
            _tensor(match.input, rewriter),
            match.scaling.scale.make(ip, loc) if match.scaling else None,
            match.type,
            scale_mode=match.scaling.mode if match.scaling else "divide",
            saturate=match.saturate,
            loc=loc,
            ip=ip,
        )
        rewriter.replace(op, [new.result])

    def missed(self, op: ir.Operation, miss: Miss) -> None:
        remark(op, f"not raised to headrace.quantize: {miss.reason}")


def _converted(op: ir.Operation) -> Quantization | Miss | None:
    type_ = op.results[0].type if len(op.results) == 1 else None
    format_ = fp8_format(type_) if isinstance(type_, ir.RankedTensorType) else None
    if not isinstance(type_, ir.RankedTensorType) or format_ is None:
        return None
    step = step_of(element_at(op.results[0]))
    if step is None or step.op.name not in (_CONVERT, "arith.truncf"):
        return None
    source = step.operands[0].value.type
    if is_wide(source):
        return Quantization(step.operands[0], step.op, type_, format_)
    kind = f"of {element_of(source)}, not of bf16, f16, f32 or f64,"
    if fp8_format(source):
        kind = f"that is {element_of(source)} already"
    return Miss(f"a value {kind} is converted to {format_.name}")


def _unclamped(found: Quantization) -> Quantization | Miss:
    clamp = find_clamp(found.input) or _earlier_clamp_miss(found)
    if isinstance(clamp, Clamp):
        miss = bounds_miss(clamp, found.format)
        return miss or replace(found, input=clamp.input, saturate=True)
    return clamp or found


def _earlier_clamp_miss(found: Quantization) -> Miss | None:
    """A clamp to the format's range in another type than the convert's."""
    source = _source(found.input)
    clamp = None if source is None else find_clamp(source)
    if source is None or not isinstance(clamp, Clamp) or bounds_miss(clamp, found.format):
        return None
    return Miss(
        f"the clamp is in {element_of(source.value.type)}, "
        f"but {element_of(found.input.value.type)} is converted to {found.format.name}"
    )


def _unscaled(found: Quantization) -> Quantization:
    scaling = _find_scaling(found.input, found.type)
    if scaling is None:
        return replace(found, note=_scale_note(found))
    if not _is_whole(scaling.input, found):
        return found
    return replace(found, input=scaling.input, scaling=scaling)


def _find_scaling(term: Term, type_: ir.RankedTensorType) -> Scaling | None:
    """``term`` as ``input / scale``, ``input * scale`` or ``scale * input``."""
    step = step_of(term)
    if step is None or step.op.name not in MODES:
        return None
    left, right = step.operands
    if scale := scale_of(right, step.op, list(type_.shape)):
        return Scaling(left, scale, step.kind)
    if step.kind == "multiply" and (scale := scale_of(left, step.op, list(type_.shape))):
        return Scaling(right, scale, step.kind)
    return None


def _scale_note(found: Quantization) -> str:
    """Why what looks like a scale is not taken into the quantize."""
    step = step_of(found.input)
    if step and step.op.name in MODES and any(constant_elements(t.value) for t in step.operands):
        return "the scale stays outside headrace.quantize: it is not a broadcast"
    source = _source(found.input)
    if source is None or _find_scaling(source, found.type) is None:
        return ""
    return (
        f"the scale stays outside headrace.quantize: it is applied in "
        f"{element_of(source.value.type)}, the rest is in {element_of(found.input.value.type)}"
    )


def _source(term: Term) -> Term | None:
    """The wide value that a StableHLO program converts to ``term``."""
    step = step_of(term)
    if step is None or step.op.name != _CONVERT or not is_wide(step.operands[0].value.type):
        return None
    return step.operands[0]


def _whole(found: Quantization) -> Quantization | Miss:
    if _is_whole(found.input, found):
        return found
    return Miss("the value to be converted is read transposed or broadcast")


def _is_whole(term: Term, found: Quantization) -> bool:
    """Whether the term is the element at the same place, of a tensor that is
    there or that a body can be made to give."""
    if found.convert.name == _CONVERT:
        return True  # of the same shape, which one of the types may not know
    if term.place != tuple(range(found.type.rank)):
        return False
    if term.is_tensor:
        return list(tensor_type(term.value).shape) == list(found.type.shape)
    op = ir.defining_op(term.value)
    parent = None if op is None else op.parent
    return parent is not None and is_pointwise(parent.operation)


def _tensor(term: Term, rewriter: Rewriter) -> ir.Value:
    """The tensor of a term that ``_is_whole``: its generic, cut short after it."""
    if term.is_tensor:
        return term.value
    scalar = ir.defining_op(term.value)
    assert scalar is not None
    parent = scalar.parent
    assert parent is not None
    generic = parent.operation
    number = ir.operations_of(body_of(generic)).index(scalar)
    b = TensorBuilder(rewriter.before(generic), generic.location)
    type_ = with_element_type(generic.results[0].type, term.value.type)
    out = generic.operands[len(generic.operands) - 1]
    init = b.empty(type_, [(out, d) for d in range(type_.rank)])
    new = generic.clone(b.ip).operation
    new.operands[len(new.operands) - 1] = init
    new.results[0].set_type(type_)
    block = body_of(new)
    block.arguments[len(block.arguments) - 1].set_type(term.value.type)
    steps = ir.operations_of(block)
    steps[-1].operands[0] = steps[number].results[0]
    for step in reversed(steps[number + 1 : -1]):
        step.erase()
    rewriter.created(new)
    return new.results[0]
