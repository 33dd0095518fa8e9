"""MLIR text that several canaries use."""

from __future__ import annotations

_VECTOR, _MATRIX, _ROW = (
    "affine_map<(i) -> (i)>",
    "affine_map<(i, j) -> (i, j)>",
    "affine_map<(i, j) -> (i)>",
)


def elementwise(name: str, source: str, result: str, body: str, size: str = "4") -> str:
    """A function of one tensor; ``body`` makes %b of its element %a."""
    x, y = f"tensor<{size}x{source}>", f"tensor<{size}x{result}>"
    return f"""
func.func @{name}(%x: {x}) -> {y} {{
  %e = tensor.empty() : {y}
  %y = linalg.generic {{indexing_maps = [{_VECTOR}, {_VECTOR}], iterator_types = ["parallel"]}}
      ins(%x : {x}) outs(%e : {y}) {{
  ^bb0(%a: {source}, %o: {result}):
    {body}
    linalg.yield %b : {result}
  }} -> {y}
  return %y : {y}
}}"""


def matmul(lhs: str, rhs: str, result: str, sizes: tuple[int, int, int], name: str = "f") -> str:
    """Of matrices of these element types; ``sizes`` are rows, columns, depth."""
    m, n, k = sizes
    a, b, c = f"tensor<{m}x{k}x{lhs}>", f"tensor<{k}x{n}x{rhs}>", f"tensor<{m}x{n}x{result}>"
    return f"""
func.func @{name}(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant 0.0 : {result}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : {result}) outs(%e : {c}) -> {c}
  %y = linalg.matmul ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %y : {c}
}}"""


def attention(element: str, heads: str, keys: str) -> str:
    """torch's, without a mask: 8 queries in each head of 8."""
    q, k = (f"!torch.vtensor<[1,{heads},{n},8],{element}>" for n in ("8", keys))
    return f"""
func.func @f(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %none = torch.constant.none
  %false = torch.constant.bool false
  %p = torch.constant.float 0.0
  %y = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %p, %false, %none, %false
    : {q}, {k}, {k}, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> {q}
  return %y : {q}
}}"""


def encoding(operand: int, sizes: str = "64, 64, 64") -> str:
    """Of an operand of an f32 matmul, 2 for its result; ``sizes`` of m, n, k."""
    maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>"
    return (
        f"#iree_encoding.encoding<operand_index = {operand} : index, op_type = matmul, "
        f"element_types = [f32, f32, f32], user_indexing_maps = [{maps}], iteration_sizes = [{sizes}]>"
    )


def packed(size: str, encoded: str, kept: str, encoding: str) -> str:
    """A region that makes z = exp(x), s = the sums of its rows, y = z / s, and packs
    the one that ``encoded`` names beside a plain ``kept``; then it is unpacked."""
    t, p, row = (
        f"tensor<{size}xf32>",
        f"tensor<{size}xf32, #e>",
        f"tensor<{size.split('x')[0]}xf32>",
    )
    plain = row if kept == "s" else t
    rows = 'iterator_types = ["parallel", "reduction"]'
    elements = 'iterator_types = ["parallel", "parallel"]'
    return f"""
#e = {encoding}
func.func @f(%x: {t}) -> ({plain}, {t}) {{
  %zero = arith.constant 0.0 : f32
  %r:2 = flow.dispatch.region -> ({plain}, {p}) {{
    %e = tensor.empty() : {t}
    %re = tensor.empty() : {row}
    %f = linalg.fill ins(%zero : f32) outs(%re : {row}) -> {row}
    %z = linalg.generic {{indexing_maps = [{_MATRIX}, {_MATRIX}], {elements}}}
        ins(%x : {t}) outs(%e : {t}) {{
    ^bb0(%a: f32, %o: f32):
      %q = math.exp %a : f32
      linalg.yield %q : f32
    }} -> {t}
    %s = linalg.generic {{indexing_maps = [{_MATRIX}, {_ROW}], {rows}}}
        ins(%z : {t}) outs(%f : {row}) {{
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %a, %o : f32
      linalg.yield %q : f32
    }} -> {row}
    %y = linalg.generic {{indexing_maps = [{_MATRIX}, {_ROW}, {_MATRIX}], {elements}}}
        ins(%z, %s : {t}, {row}) outs(%e : {t}) {{
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    }} -> {t}
    %p = iree_encoding.set_encoding %{encoded} : {t} -> {p}
    flow.return %{kept}, %p : {plain}, {p}
  }}
  %u = iree_encoding.unset_encoding %r#1 : {p} -> {t}
  return %r#0, %u : {plain}, {t}
}}"""
