"""Data-tiling encodings on headrace values."""

from .. import ir
from .base import HeadraceOp
from .constraints import AnyTensor, element_type_of, shape_of, shapes_agree, tensor_type
from .declaration import Operand, Result


class SetEncodingOp(HeadraceOp, name="set_encoding"):
    """Gives a tensor a layout encoding; becomes `iree_encoding.set_encoding`.

    The encoding is on the result's type, e.g.
    `tensor<16x32xf32, #iree_encoding.testing<>>`; shape and element type stay.
    """

    input: Operand[AnyTensor]
    result: Result[AnyTensor]

    def verify_invariants(self) -> str | None:
        if tensor_type(self.input).encoding is not None:
            return "the input already has an encoding"
        return _encoded_error(self.input, self.result, tensor_type(self.result).encoding)


class UnsetEncodingOp(HeadraceOp, name="unset_encoding"):
    """Takes the layout encoding away; becomes `iree_encoding.unset_encoding`."""

    input: Operand[AnyTensor]
    result: Result[AnyTensor]

    def verify_invariants(self) -> str | None:
        if tensor_type(self.result).encoding is not None:
            return "the result still has an encoding"
        return _encoded_error(self.input, self.result, tensor_type(self.input).encoding)


def _encoded_error(a: ir.Value, b: ir.Value, encoding: ir.Attribute | None) -> str | None:
    if encoding is None or not str(encoding).startswith("#iree_encoding."):
        return f"expected an #iree_encoding encoding, got {encoding}"
    if element_type_of(a) != element_type_of(b):
        return "element types differ"
    if not shapes_agree(shape_of(a), shape_of(b)):
        return f"shapes {shape_of(a)} and {shape_of(b)} differ"
    return None
