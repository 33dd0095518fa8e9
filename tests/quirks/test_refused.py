"""Programs that IREE refuses, or crashes on."""

from __future__ import annotations

import tempfile

import numpy as np
from quirk_programs import attention, elementwise, encoding, matmul, packed
from stock import (
    HASWELL,
    HOST,
    OLDEST,
    TILED,
    VMVX,
    Shown,
    canary,
    compiled,
    cuda,
    devices,
    expect_bytecode_compiles,
    expect_compiles,
    expect_equal,
    expect_optimizes,
    expect_runs,
    hip,
    load,
    vulkan,
)

BITS = "%b = arith.bitcast %c : {} to {}"
E8M0 = "%c = arith.truncf %a : f32 to f8E8M0FNU\n" + BITS.format("f8E8M0FNU", "i8")
F4 = "%c = arith.truncf %a : f16 to f4E2M1FN\n" + BITS.format("f4E2M1FN", "i4")
X, Y = "tensor<8x16xf32>", "tensor<8x8xf32>"
ON = "{{iree.abi.affinity = #hal.device.promise<@dev{}>}}".format
# Names of a module live as long as it does, and go in any order.
_LEFT_TO_PYTHON = """
import iree.runtime as rt, numpy as np
instance = rt.VmInstance()
device = rt.get_driver("local-task").create_default_device()
module = rt.VmModule.mmap(instance, {!r})
context = rt.VmContext(instance, [rt.create_hal_module(instance, devices=[device]), module])
memory, usage = rt.MemoryType.DEVICE_LOCAL, rt.BufferUsage.DEFAULT
x = device.allocator.allocate_buffer_copy(
    memory, usage, device, np.ones(8, np.float32), rt.HalElementType.FLOAT_32
)
arguments, results = rt.VmVariantList(1), rt.VmVariantList(1)
arguments.push_ref(x)
context.invoke(module.lookup_function("f"), arguments, results)
y = results.get_as_object(0, rt.HalBufferView)
"""


@canary
def test_attention_dynamic_heads() -> None:
    text = attention("f16", "?", "8").replace("[1,", "[?,")
    expect_optimizes(text, "torch-to-iree", "'tensor.expand_shape' op expected number of static")


@canary
def test_attention_on_vulkan() -> None:
    expect_compiles(attention("f32", "2", "8"), vulkan("rdna3"), "online_attention' op result")


@canary
def test_attention_on_vmvx() -> None:
    expect_compiles(attention("f16", "2", "8"), VMVX, "failed to legalize operation 'arith.truncf'")


@canary
def test_attention_without_keys() -> None:
    expect_compiles(attention("f32", "2", "0"), HASWELL, "SIGFPE")


@canary
def test_bf16_matmul_on_vulkan() -> None:
    text = matmul("bf16", "bf16", "f32", (64, 64, 64))
    expect_compiles(text, vulkan("rdna3"), "'gpu.subgroup_mma_load_matrix' op operand")


@canary
def test_bf16_sums_on_gfx950() -> None:
    text = matmul("bf16", "bf16", "bf16", (64, 64, 64))
    expect_compiles(text, hip("gfx950"), "'func.func' op failed to distribute")


@canary
def test_bf16_times_f16() -> None:
    text = matmul("bf16", "f16", "f32", (64, 64, 64))
    expect_compiles(text, cuda("sm_80"), "lhs and rhs have same element type")


@canary
def test_carried_transfer() -> None:
    t, row = "tensor<8x4xf32>", "tensor<4xf32>"
    text = f"""
func.func @f(%x: {t} {ON(0)}, %s: {t} {ON(1)}) -> ({t} {ON(1)}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %n = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : {t} to {row}
  %t = flow.tensor.transfer %n : {row} to #hal.device.promise<@dev1>
  cf.br ^head(%c0, %t, %s : index, {row}, {t})
^head(%i: index, %a: {row}, %k: {t}):
  %more = arith.cmpi slt, %i, %c7 : index
  cf.cond_br %more, ^body, ^end
^body:
  %j = arith.addi %i, %c1 : index
  %y = tensor.insert_slice %a into %k[%i, 0] [1, 4] [1, 1] : {row} into {t}
  %m = tensor.extract_slice %x[%j, 0] [1, 4] [1, 1] : {t} to {row}
  %u = flow.tensor.transfer %m : {row} to #hal.device.promise<@dev1>
  cf.br ^head(%j, %u, %y : index, {row}, {t})
^end:
  %z = tensor.insert_slice %a into %k[7, 0] [1, 4] [1, 1] : {row} into {t}
  return %z : {t}
}}"""
    flags = (*devices(2), "--iree-opt-const-eval=false", "--compile-to=stream")
    expect_compiles(text, flags, "type mismatch for bb argument")


@canary
def test_constant_of_all_devices() -> None:
    product = """
  %e{0} = tensor.empty() : tensor<8x8xf32>
  %f{0} = linalg.fill ins(%z : f32) outs(%e{0} : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m{0} = arith.mulf %x{0}, %c : tensor<8x16xf32>
  %y{0} = linalg.matmul ins(%m{0}, %w{0} : tensor<8x16xf32>, tensor<16x8xf32>)
    outs(%f{0} : tensor<8x8xf32>) -> tensor<8x8xf32>"""
    numbers = (np.arange(128).reshape(8, 16) % 7).astype(float).tolist()
    arguments = ", ".join(f"%x{n}: {X} {ON(n)}, %w{n}: tensor<16x8xf32> {ON(n)}" for n in range(2))
    text = f"""
func.func @f({arguments}) -> ({Y} {ON(0)}, {Y} {ON(1)}) {{
  %z = arith.constant 0.0 : f32
  %c = arith.constant dense<{numbers}> : {X}{product.format(0)}{product.format(1)}
  return %y0, %y1 : {Y}, {Y}
}}"""
    flags = (*devices(2), "--iree-opt-const-eval=false", TILED, "--compile-to=stream")
    expect_compiles(text, flags, "'stream.tensor.sizeof' op illegal")


@canary
def test_const_eval_of_named_device() -> None:
    text = f"""
func.func @f(%x: tensor<4xf32> {ON(0)}) -> tensor<4xf32> {{
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %t = flow.tensor.transfer %c : tensor<4xf32> to #hal.device.promise<@dev1>
  %e = tensor.empty() : tensor<4xf32>
  %k = linalg.map {{ math.exp }} ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>)
  %s = flow.tensor.transfer %k : tensor<4xf32> to #hal.device.promise<@dev0>
  %y = arith.addf %x, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}}"""
    expect_compiles(text, devices(2), "SIGSEGV")


@canary
def test_depthwise_element_types() -> None:
    x, w, y = "tensor<1x8x8x3xbf16>", "tensor<3x3x1x3xbf16>", "tensor<1x6x6x3xf32>"
    text = f"""
func.func @f(%x: {x}, %w: {w}) -> {y} {{
  %y = stablehlo.convolution(%x, %w)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [1, 1]}}
    {{batch_group_count = 1 : i64, feature_group_count = 3 : i64}} : ({x}, {w}) -> {y}
  return %y : {y}
}}"""
    expect_optimizes(
        text, "iree-stablehlo-input-transformation-pipeline", "expected collapsed type"
    )


@canary
def test_dynamic_broadcast_merged() -> None:
    t, u, r = "tensor<?xf32>", "tensor<?x?xf32>", "tensor<?x?x?xf32>"
    text = f"""
func.func @f(%x: {t}, %s: tensor<2xi32>, %t: tensor<3xi32>) -> {r} {{
  %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1]
    {{known_nonexpanding_dimensions = array<i64: 0>}} : ({t}, tensor<2xi32>) -> {u}
  %z = stablehlo.dynamic_broadcast_in_dim %y, %t, dims = [1, 2]
    {{known_nonexpanding_dimensions = array<i64: 0, 1>}} : ({u}, tensor<3xi32>) -> {r}
  return %z : {r}
}}"""
    expect_optimizes(
        text, "iree-stablehlo-input-transformation-pipeline", "'stablehlo.dynamic_broadcast_in_dim'"
    )


@canary
def test_dynamic_reshape() -> None:
    text = """
func.func @f(%x: tensor<?x4xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}"""
    expect_optimizes(
        text, "iree-stablehlo-input-transformation-pipeline", "'stablehlo.dynamic_reshape'"
    )


@canary
def test_dynamic_packing() -> None:
    t = "tensor<?x?xf32>"
    text = f"""
func.func @f(%x: tensor<?x?xi8>, %w: {t}, %m: index, %n: index, %k: index) -> {t} {{
  %zero = arith.constant 0.0 : f32
  %xe = tensor.empty(%m, %k) : {t}
  %d = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : tensor<?x?xi8>) outs(%xe : {t}) {{
  ^bb0(%a: i8, %o: f32):
    %q = arith.sitofp %a : i8 to f32
    linalg.yield %q : f32
  }} -> {t}
  %e = tensor.empty(%m, %n) : {t}
  %f = linalg.fill ins(%zero : f32) outs(%e : {t}) -> {t}
  %y = linalg.matmul ins(%d, %w : {t}, {t}) outs(%f : {t}) -> {t}
  return %y : {t}
}}"""
    expect_compiles(text, (*HASWELL, TILED), "no basis element may be statically non-positive")


@canary
def test_empty_sum_on_cuda() -> None:
    expect_compiles(matmul("f32", "f32", "f32", (4, 4, 0)), cuda("sm_80"), "SIGFPE")


@canary
def test_f4_converts() -> None:
    text = elementwise("f", "f16", "i4", F4)
    expect_compiles(text, HASWELL, "failed to legalize operation 'arith.truncf'")


@canary
def test_f64_demoted() -> None:
    text = elementwise("f", "f64", "f64", "%b = arith.addf %a, %a : f64")
    function = load(expect_compiles(text, HOST[:-1], ""))["f"]
    try:
        function(np.ones(4))
    except ValueError as error:
        raise Shown from error


@canary
def test_fp8_converts_on_cuda() -> None:
    text = elementwise("f", "f32", "f8E4M3FN", "%b = arith.truncf %a : f32 to f8E4M3FN")
    expect_compiles(text, cuda("sm_80"), "missing `LLVMTranslationDialectInterface`.*arith.truncf")


@canary
def test_fp8_matmul_without_mma() -> None:
    text = matmul("f8E4M3FN", "f8E4M3FN", "f32", (1, 64, 32))
    expect_compiles(text, cuda("sm_89"), "builtin.unrealized_conversion_cast")


@canary
def test_fp8_resource() -> None:
    text = """
func.func @f() -> tensor<4xf8E4M3FN> {
  %c = arith.constant dense_resource<codes> : tensor<4xf8E4M3FN>
  return %c : tensor<4xf8E4M3FN>
}
{-# dialect_resources: { builtin: { codes: "0x010000003840B840" } } #-}"""
    expect_compiles(text, HASWELL, "unhandled float element bit width 8")


@canary
def test_slice_of_lower_rank() -> None:
    one = "tensor<1x1xf32>"
    text = f"""
func.func @f(%x: tensor<2xf32>, %z: {one}) -> tensor<2x1xf32> {{
  %s = tensor.extract_slice %x[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %e = tensor.expand_shape %s [[0, 1]] output_shape [1, 1] : tensor<1xf32> into {one}
  %y = tensor.concat dim(0) %e, %z : ({one}, {one}) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}}"""
    flags = (*HOST, "--compile-to=flow")
    expect_compiles(text, flags, "expected rank to be smaller or equal to the other rank")


@canary
def test_small_resource_retyped() -> None:
    text = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense_resource<small> : tensor<4xbf16>
  %y = arith.extf %c : tensor<4xbf16> to tensor<4xf32>
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
{-# dialect_resources: { builtin: { small: "0x02000000803F0040803F0040" } } #-}"""
    expect_compiles(text, HASWELL, "'arith.constant' op failed to verify that all of")


@canary
def test_gather_of_slice() -> None:
    t, n, x = "tensor<2xf32>", "tensor<2xi32>", "tensor<1x2x3xf32>"
    each = 'indexing_maps = [#d, #d], iterator_types = ["parallel"]'
    text = f"""
#d = affine_map<(d) -> (d)>
func.func @f(%a: {x}, %i: {n}) -> {t} {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tensor.extract_slice %a[0, 0, 2] [1, 2, 1] [1, 1, 1] : {x} to {t}
  %e = tensor.empty() : {t}
  %f = tensor.empty() : {n}
  %r = linalg.generic {{{each}}} ins(%i : {n}) outs(%f : {n}) {{
  ^bb0(%p: i32, %o: i32):
    %m = arith.remsi %p, %one : i32
    linalg.yield %m : i32
  }} -> {n}
  %k = linalg.generic {{{each}}} ins(%r : {n}) outs(%f : {n}) {{
  ^bb0(%p: i32, %o: i32):
    %m = arith.maxsi %p, %z : i32
    linalg.yield %m : i32
  }} -> {n}
  %y = linalg.generic {{{each}}} ins(%r : {n}) outs(%e : {t}) {{
  ^bb0(%p: i32, %o: f32):
    %j = linalg.index 0 : index
    %v = tensor.extract %k[%j] : {n}
    %w = arith.index_cast %v : i32 to index
    %l = arith.maxsi %w, %c0 : index
    %h = arith.minsi %l, %c1 : index
    %q = tensor.extract %x[%h] : {t}
    %b = arith.cmpi sge, %p, %z : i32
    %c = arith.cmpi sle, %p, %one : i32
    %g = arith.andi %b, %c : i1
    %s = arith.select %g, %q, %zero : f32
    linalg.yield %s : f32
  }} -> {t}
  return %y : {t}
}}"""
    expect_compiles(text, HOST, "unrealized_conversion_cast")


@canary
def test_integer_to_bf16() -> None:
    text = elementwise("f", "i8", "bf16", "%b = arith.sitofp %a : i8 to bf16")
    expect_compiles(text, HASWELL, "undefined symbol: __truncsfbf2")


@canary
def test_math_without_function() -> None:
    text = elementwise("f", "f32", "f32", "%b = math.trunc %a : f32")
    expect_compiles(text, OLDEST, "undefined symbol: truncf")


@canary
def test_matmul_without_maps() -> None:
    a, b, t, c = "tensor<4x8xf32>", "tensor<16x8xf32>", "tensor<8x16xf32>", "tensor<4x16xf32>"
    text = f"""
func.func @f(%a: {a}, %b: {b}, %f: {c}) -> {c} {{
  %h = tensor.empty() : {t}
  %t = linalg.transpose ins(%b : {b}) outs(%h : {t}) permutation = [1, 0]
  %y = "linalg.matmul"(%a, %t, %f) <{{operandSegmentSizes = array<i32: 2, 1>}}> ({{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }}) : ({a}, {t}, {c}) -> {c}
  return %y : {c}
}}"""
    expect_compiles(text, (*HASWELL, "--compile-to=flow"), "SIGSEGV")


@canary
def test_microscaling_on_cuda() -> None:
    text = elementwise("f", "f32", "i8", E8M0)
    expect_compiles(text, cuda("sm_89"), "missing `LLVMTranslationDialectInterface`.*arith.truncf")


@canary
def test_mixed_fp8_without_mfma() -> None:
    text = matmul("f8E4M3FNUZ", "f8E5M2FNUZ", "f32", (5, 16, 32))
    expect_compiles(text, hip("gfx942"), "lhs and rhs have same element type")


@canary
def test_negative_dimension() -> None:
    text = """
func.func @f(%x: tensor<?xf32>) -> index {
  %c = arith.constant -1 : index
  %d = tensor.dim %x, %c : tensor<?xf32>
  return %d : index
}"""
    expect_compiles(text, HASWELL, "SIGSEGV")


@canary
def test_no_sm_90() -> None:
    expect_compiles(matmul("f32", "f32", "f32", (4, 4, 4)), cuda("sm_90"), "missing GPU target")


@canary
def test_packed_before_reduction() -> None:
    text = packed("512x1024", "z", "s", encoding(0, "512, 1024, 1024"))
    expect_compiles(text, HASWELL, "exceeded stack allocation limit")


@canary
def test_one_window() -> None:
    x, k, y = (f"tensor<1x1x{size}xf32>" for size in (4, 3, 1))
    text = f"""
func.func @f(%x: {x}, %k: {k}) -> {y} {{
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {{stride = [2]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : ({x}, {k}) -> {y}
  return %y : {y}
}}"""
    expect_compiles(text, HOST, "inferred input/output operand #. has shape's dimension")


@canary
def test_packed_init() -> None:
    t = "tensor<64x64xf32>"
    p = [f"{t[:-1]}, #e{i}>" for i in range(3)]
    text = (
        "".join(f"#e{i} = {encoding(i)}\n" for i in range(3))
        + f"""
func.func @f(%x: {t}, %y: {t}, %z: {t}) -> {t} {{
  %a = iree_encoding.set_encoding %x : {t} -> {p[0]}
  %b = iree_encoding.set_encoding %y : {t} -> {p[1]}
  %c = iree_encoding.set_encoding %z : {t} -> {p[2]}
  %d = linalg.matmul ins(%a, %b : {p[0]}, {p[1]}) outs(%c : {p[2]}) -> {p[2]}
  %m = linalg.matmul ins(%a, %b : {p[0]}, {p[1]}) outs(%d : {p[2]}) -> {p[2]}
  %u = iree_encoding.unset_encoding %m : {p[2]} -> {t}
  return %u : {t}
}}"""
    )
    expect_compiles(text, HOST, "expected type of operand #2")


@canary
def test_packed_mask() -> None:
    t, m = "tensor<64x64xf32>", "tensor<64x64xi1>"
    packed, mask = (f"{x[:-1]}, #e>" for x in (t, m))
    text = f"""
#e = {encoding(2)}
#i = affine_map<(i, j) -> (i, j)>
func.func @f(%x: {t}, %y: {t}, %k: tensor<64x64xi8>) -> {t} {{
  %m = arith.trunci %k : tensor<64x64xi8> to {m}
  %a = iree_encoding.set_encoding %x : {t} -> {packed}
  %b = iree_encoding.set_encoding %y : {t} -> {packed}
  %c = iree_encoding.set_encoding %m : {m} -> {mask}
  %e = tensor.empty() : {packed}
  %r = linalg.generic {{indexing_maps = [#i, #i, #i, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%c, %a, %b : {mask}, {packed}, {packed}) outs(%e : {packed}) {{
  ^bb0(%i: i1, %j: f32, %l: f32, %o: f32):
    %q = arith.select %i, %j, %l : f32
    linalg.yield %q : f32
  }} -> {packed}
  %u = iree_encoding.unset_encoding %r : {packed} -> {t}
  return %u : {t}
}}"""
    function = load(expect_compiles(text, HOST, "buffer and tensor shapes must be compatible"))["f"]
    x = np.arange(4096, dtype=np.float32).reshape(64, 64)
    k = (x % 3 == 0).astype(np.int8)
    expect_equal(function(x, -x, k).to_host(), np.where(k, x, -x))


@canary
def test_permutation_of_floats() -> None:
    t = "tensor<4x4xf32>"
    text = f"""
func.func @f(%x: {t}, %e: {t}) -> {t} {{
  %y = linalg.transpose ins(%x : {t}) outs(%e : {t}) permutation = [-0.0, 0]
  return %y : {t}
}}"""
    # An error is right; a crash is not.
    error = compiled(text, HASWELL)[1]
    assert error
    if error.startswith("SIGSEGV"):
        raise Shown


@canary
def test_rdna_encodings() -> None:
    text = matmul("f32", "f32", "f32", (256, 256, 256))
    expect_compiles(text, (*hip("gfx1201"), TILED), "materialization failed")


@canary
def test_scalars_of_several_devices() -> None:
    x, y, s = "tensor<2xf32>", "tensor<1xf32>", "tensor<f32>"
    taken = "".join(
        f"""
  %r{d} = linalg.generic {{indexing_maps = [affine_map<() -> ()>], iterator_types = []}}
    outs(%e : {s}) {{
  ^bb0(%o: f32):
    %k = tensor.extract %x{d}[%i] : {x}
    linalg.yield %k : f32
  }} -> {s}"""
        for d in range(3)
    )
    written = "".join(
        f"""
  %a{d} = flow.tensor.alloca : {x} attributes {{stream.affinity = #hal.device.promise<@dev{d}>}}
  %b{d} = tensor.insert_slice %r{d} into %a{d}[0] [1] [1] : {s} into {x}
  %c{d} = tensor.extract_slice %b{d}[%i] [1] [1] : {x} to {s}
  %f{d} = tensor.expand_shape %r{d} [] output_shape [1] : {s} into {y}
  %y{d} = tensor.insert_slice %c{d} into %f{d}[%i] [1] [1] : {s} into {y}"""
        for d in range(3)
    )
    arguments = ", ".join(f"%x{d}: {x} {ON(d)}" for d in range(3))
    results = ", ".join(f"{y} {ON(d)}" for d in range(3))
    text = f"""
func.func @f({arguments}, %i: index) -> ({results}) {{
  %e = tensor.empty() : {s}{taken}{written}
  return %y0, %y1, %y2 : {y}, {y}, {y}
}}"""
    flags = (*devices(3), "--iree-opt-const-eval=false")
    expect_compiles(text, flags, "is not compatible with the partition affinity")


@canary
def test_scatter_window() -> None:
    x, i, u = "tensor<8x4xf32>", "tensor<3x1xi32>", "tensor<3x2x4xf32>"
    numbers = (
        "#stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], "
        "index_vector_dim = 1>"
    )
    text = f"""
func.func @f(%x: {x}, %i: {i}, %u: {u}) -> {x} {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = {numbers}}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({x}, {i}, {u}) -> {x}
  return %0 : {x}
}}"""
    expect_optimizes(
        text,
        "iree-stablehlo-input-transformation-pipeline",
        "'iree_linalg_ext.scatter' op mismatch in shape",
    )


@canary
def test_sort_of_slice() -> None:
    text = """
func.func @f(%x: tensor<64x4xi32>) -> tensor<64x2xi32> {
  %s = tensor.extract_slice %x[0, 1] [64, 2] [1, 1] : tensor<64x4xi32> to tensor<64x2xi32>
  %r = iree_linalg_ext.sort dimension(0) outs(%s : tensor<64x2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %p = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %p : i1
  } -> tensor<64x2xi32>
  return %r : tensor<64x2xi32>
}"""
    expect_compiles(text, HASWELL, "write affecting operations on global resources")


@canary
def test_stored_twice() -> None:
    text = packed("64x64", "z", "z", encoding(0))
    expect_compiles(text, cuda("sm_80"), "write affecting operations on global resources")


@canary
def test_teardown_order() -> None:
    text = elementwise("f", "f32", "f32", "%b = arith.addf %a, %a : f32", "8")
    vmfb = expect_compiles(text, HOST, "(?!)")
    with tempfile.NamedTemporaryFile(suffix=".vmfb") as file:
        file.write(vmfb)
        file.flush()
        expect_runs(_LEFT_TO_PYTHON.format(file.name), "SIGSEGV")


@canary
def test_transpose_of_one_result() -> None:
    text = """
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e, %e : tensor<4x8xf32>, tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %a : f32
    %t = arith.mulf %a, %a : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %h = tensor.empty() : tensor<8x4xf32>
  %y = linalg.transpose ins(%r#0 : tensor<4x8xf32>) outs(%h : tensor<8x4xf32>) permutation = [1, 0]
  return %y, %r#1 : tensor<8x4xf32>, tensor<4x8xf32>
}"""
    passes = "util.func(iree-global-opt-propagate-linalg-transpose)"
    known = r"number of yield values \(2\) to match the number of inits"
    expect_optimizes(
        text.replace("func.func", "util.func public").replace("  return", "  util.return"),
        passes,
        known,
    )


@canary
def test_unpacked_and_used() -> None:
    t = "tensor<256x256xf32>"
    p = [f"{x[:-1]}, #e{i}>" for i, x in enumerate(("tensor<256x64xf32>", "tensor<64x256xf32>", t))]
    text = (
        "".join(f"#e{i} = {encoding(i, '256, 256, 64')}\n" for i in range(3))
        + f"""
#i = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<256x64xf32>, %y: tensor<64x256xf32>) -> ({t}, {t}) {{
  %z = arith.constant 0.0 : f32
  %a = iree_encoding.set_encoding %x : tensor<256x64xf32> -> {p[0]}
  %b = iree_encoding.set_encoding %y : tensor<64x256xf32> -> {p[1]}
  %r:2 = flow.dispatch.region -> ({t}, {t}) {{
    %e = tensor.empty() : {p[2]}
    %f = linalg.fill ins(%z : f32) outs(%e : {p[2]}) -> {p[2]}
    %m = linalg.matmul ins(%a, %b : {p[0]}, {p[1]}) outs(%f : {p[2]}) -> {p[2]}
    %u = iree_encoding.unset_encoding %m : {p[2]} -> {t}
    %g = tensor.empty() : {t}
    %h = linalg.generic {{indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}}
        ins(%u : {t}) outs(%g : {t}) {{
    ^bb0(%c: f32, %o: f32):
      %d = arith.addf %c, %c : f32
      linalg.yield %d : f32
    }} -> {t}
    flow.return %u, %h : {t}, {t}
  }}
  return %r#0, %r#1 : {t}, {t}
}}"""
    )
    expect_compiles(text, HOST, "large vector sizes")


@canary
def test_unpassed_element_type() -> None:
    text = """
func.func @f(%x: tensor<4xf8E4M3>) -> tensor<4xf32> {
  %y = arith.extf %x : tensor<4xf8E4M3> to tensor<4xf32>
  return %y : tensor<4xf32>
}"""
    expect_compiles(text, HASWELL, "'hal.element_type' op unsupported element type")


@canary
def test_update_on_no_device() -> None:
    x, c, r = "tensor<5x2xf32>", "tensor<5xf32>", "tensor<2xf32>"
    each = "".join(
        f"""
  %x{d} = flow.tensor.transfer %x : {x} to #hal.device.promise<@dev{d}>
  %z{d} = flow.tensor.transfer %z : {r} to #hal.device.promise<@dev{d}>
  %s{d}:2 = iree_linalg_ext.scan dimension(0) inclusive(true)
    ins(%x{d} : {x}) outs(%e, %z{d} : {x}, {r}) {{
  ^bb0(%a{d}: f32, %b{d}: f32):
    %t = arith.addf %a{d}, %b{d} : f32
    iree_linalg_ext.yield %t : f32
  }} -> {x}, {r}
  %y{d} = flow.tensor.transfer %q : {x} to #hal.device.promise<@dev{d}>"""
        for d in range(2)
    )
    results = ", ".join(f"{x} {ON(d)}" for d in (0, 0, 1, 1))
    text = f"""
func.func @f() -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {x}
  %n = tensor.empty() : {r}
  %z = linalg.fill ins(%zero : f32) outs(%n : {r}) -> {r}
  %x = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} outs(%e : {x}) {{
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    linalg.yield %f : f32
  }} -> {x}
  %l = tensor.extract_slice %x[0, 0] [5, 1] [1, 1] : {x} to {c}
  %h = tensor.extract_slice %x[0, 1] [5, 1] [1, 1] : {x} to {c}
  %p = tensor.insert_slice %h into %e[0, 0] [5, 1] [1, 1] : {c} into {x}
  %q = tensor.insert_slice %l into %p[0, 1] [5, 1] [1, 1] : {c} into {x}{each}
  return %s0#0, %y0, %s1#0, %y1 : {x}, {x}, {x}, {x}
}}"""
    flags = (*devices(2), "--iree-opt-const-eval=false")
    expect_compiles(text, flags, "used resource not listed in explicit captures")


@canary
def test_vmvx_half_floats() -> None:
    text = elementwise("f", "bf16", "bf16", "%b = arith.mulf %a, %a : bf16")
    expect_compiles(text, VMVX, "'vm.mul.f32' op operand #0 must be 32-bit float")


@canary
def test_unknown_op() -> None:
    text = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "headrace.unknown"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""
    expect_bytecode_compiles(text, HASWELL, "SIGSEGV")


@canary
def test_padded_in_place() -> None:
    text = """
func.func @f(%x: tensor<3x2xf32>) -> tensor<4x4xf32> {
  %z = arith.constant 0.0 : f32
  %s = iree_linalg_ext.sort dimension(1) outs(%x : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %p : i1
  } -> tensor<3x2xf32>
  %y = tensor.pad %s low[0, 2] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<3x2xf32> to tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}"""
    expect_compiles(text, HASWELL, "restricted to workgroup distributed contexts")


@canary
def test_sort_of_broadcast() -> None:
    text = """
func.func @f(%x: tensor<f32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %v, %i = chlo.top_k(%b, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %v, %i : tensor<3xf32>, tensor<3xi32>
}"""
    expect_compiles(text, HASWELL, "SIGSEGV")


@canary
def test_all_gather_count() -> None:
    text = """
func.func @f(%x: tensor<4xf32>) -> tensor<8xf32> {
  %c = flow.channel.default : !flow.channel
  %e = tensor.empty() : tensor<8xf32>
  %y = flow.collective.all_gather f32, %e, %x, %c
    : (tensor<8xf32>, tensor<4xf32>, !flow.channel) -> %e as tensor<8xf32>
  return %y : tensor<8xf32>
}"""
    flags = (*hip("gfx942"), "--compile-to=hal")
    (line,) = (
        line
        for line in expect_compiles(text, flags, "").decode().splitlines()
        if "op(<all_gather : f32>)" in line
    )
    expect_equal("count(%c4)" in line, True)


@canary
def test_complex_attribute() -> None:
    expect_runs(
        """
text = '"a.b"() {v = dense<(1.0,2.0)> : tensor<1xcomplex<f32>>} : () -> ()'
ir.Operation.parse(text, context=context).attributes["v"]""",
        "TypeError: Can't cast unknown element type",
    )


@canary
def test_erased_with_uses() -> None:
    expect_runs(
        """
text = '%0 = "a.b"() : () -> i32\\n"a.c"(%0) : (i32) -> ()'
module = ir.Module.parse(text, context=context)
try:
    module.body.operations[0].erase()
except Exception:
    raise SystemExit(0)
str(module)""",
        "SIGSEGV|SIGABRT",
    )


@canary
def test_not_utf8() -> None:
    expect_runs(
        r"""
text = '"a.b"() {s = "\\FF"} : () -> ()'
try:
    module = ir.Module.parse(text, context=context)
except ir.MLIRError:
    raise SystemExit(0)
module.body.operations[0].attributes["s"].value""",
        "conversion error",
    )
