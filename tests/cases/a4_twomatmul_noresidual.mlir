// Transformer-like: one normalised activation feeds two matmuls (q and k) and is returned.
#map = affine_map<(d0, d1) -> (d0, d1)>
#mapb = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<512x1024xf32>, %b: tensor<1024xf32>, %w: tensor<1024x1024xf32>, %w2: tensor<1024x1024xf32>)
    -> (tensor<512x1024xf32>, tensor<512x1024xf32>, tensor<512x1024xf32>) {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %p = linalg.generic {indexing_maps = [#map, #mapb, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<512x1024xf32>, tensor<1024xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32):
    %0 = arith.addf %a, %bb : f32
    %1 = math.tanh %0 : f32
    linalg.yield %1 : f32
  } -> tensor<512x1024xf32>
  %e2 = tensor.empty() : tensor<512x1024xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e2 : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %m = linalg.matmul ins(%p, %w : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %m2 = linalg.matmul ins(%p, %w2 : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %m, %m2, %p : tensor<512x1024xf32>, tensor<512x1024xf32>, tensor<512x1024xf32>
}
