module {
  func.func @add(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @add_bf16(%arg0: !torch.vtensor<[4,6],bf16>, %arg1: !torch.vtensor<[4,6],bf16>) -> !torch.vtensor<[4,6],bf16> {
    %int1 = torch.constant.int 1
    %0 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[4,6],bf16>, !torch.vtensor<[4,6],bf16>, !torch.int -> !torch.vtensor<[4,6],bf16>
    return %0 : !torch.vtensor<[4,6],bf16>
  }
  func.func @mul_scalar(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %float2.500000e00 = torch.constant.float 2.500000e+00
    %0 = torch.aten.mul.Scalar %arg0, %float2.500000e00 : !torch.vtensor<[4,6],f32>, !torch.float -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @div(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.div.Tensor %arg0, %arg1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @floor_divide(%arg0: !torch.vtensor<[4],si64>, %arg1: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
    %0 = torch.aten.floor_divide %arg0, %arg1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
    return %0 : !torch.vtensor<[4],si64>
  }
  func.func @remainder(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.remainder.Tensor %arg0, %arg1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @pow(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int3 = torch.constant.int 3
    %0 = torch.aten.pow.Tensor_Scalar %arg0, %int3 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @rsqrt(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.rsqrt %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @exp(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.exp %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @erf(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.erf %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @sigmoid(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.sigmoid %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @tanh(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.tanh %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @relu(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.relu %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @gelu(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %str = torch.constant.str "none"
    %0 = torch.aten.gelu %arg0, %str : !torch.vtensor<[4,6],f32>, !torch.str -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @gelu_tanh(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %str = torch.constant.str "tanh"
    %0 = torch.aten.gelu %arg0, %str : !torch.vtensor<[4,6],f32>, !torch.str -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @silu(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.aten.silu %arg0 : !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @softplus(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %int20 = torch.constant.int 20
    %0 = torch.aten.softplus %arg0, %int1, %int20 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @clamp(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %float-1.000000e00 = torch.constant.float -1.000000e+00
    %float1.000000e00 = torch.constant.float 1.000000e+00
    %0 = torch.aten.clamp %arg0, %float-1.000000e00, %float1.000000e00 : !torch.vtensor<[4,6],f32>, !torch.float, !torch.float -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @where(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.gt.Scalar %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],i1>
    %1 = torch.aten.where.self %0, %arg0, %arg1 : !torch.vtensor<[4,6],i1>, !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32> -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @masked_fill(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.gt.Scalar %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],i1>
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %1 = torch.aten.masked_fill.Scalar %arg0, %0, %float0.000000e00 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],i1>, !torch.float -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @mm(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[6,5],f32>) -> !torch.vtensor<[4,5],f32> {
    %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6,5],f32> -> !torch.vtensor<[4,5],f32>
    return %0 : !torch.vtensor<[4,5],f32>
  }
  func.func @mm_f16(%arg0: !torch.vtensor<[4,6],f16>, %arg1: !torch.vtensor<[6,5],f16>) -> !torch.vtensor<[4,5],f16> {
    %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[4,6],f16>, !torch.vtensor<[6,5],f16> -> !torch.vtensor<[4,5],f16>
    return %0 : !torch.vtensor<[4,5],f16>
  }
  func.func @int_mm(%arg0: !torch.vtensor<[32,64],si8>, %arg1: !torch.vtensor<[64,48],si8>) -> !torch.vtensor<[32,48],si32> {
    %0 = torch.aten._int_mm %arg0, %arg1 : !torch.vtensor<[32,64],si8>, !torch.vtensor<[64,48],si8> -> !torch.vtensor<[32,48],si32>
    return %0 : !torch.vtensor<[32,48],si32>
  }
  func.func @bmm(%arg0: !torch.vtensor<[2,4,6],f32>, %arg1: !torch.vtensor<[2,6,5],f32>) -> !torch.vtensor<[2,4,5],f32> {
    %0 = torch.aten.bmm %arg0, %arg1 : !torch.vtensor<[2,4,6],f32>, !torch.vtensor<[2,6,5],f32> -> !torch.vtensor<[2,4,5],f32>
    return %0 : !torch.vtensor<[2,4,5],f32>
  }
  func.func @matmul_broadcast(%arg0: !torch.vtensor<[2,3,4,6],f32>, %arg1: !torch.vtensor<[6,5],f32>) -> !torch.vtensor<[2,3,4,5],f32> {
    %0 = torch.aten.matmul %arg0, %arg1 : !torch.vtensor<[2,3,4,6],f32>, !torch.vtensor<[6,5],f32> -> !torch.vtensor<[2,3,4,5],f32>
    return %0 : !torch.vtensor<[2,3,4,5],f32>
  }
  func.func @linear(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[5,6],f32>, %arg2: !torch.vtensor<[5],f32>) -> !torch.vtensor<[4,5],f32> {
    %0 = torch.aten.linear %arg0, %arg1, %arg2 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[5,6],f32>, !torch.vtensor<[5],f32> -> !torch.vtensor<[4,5],f32>
    return %0 : !torch.vtensor<[4,5],f32>
  }
  func.func @einsum(%arg0: !torch.vtensor<[2,4,6],f32>, %arg1: !torch.vtensor<[2,5,6],f32>) -> !torch.vtensor<[2,4,5],f32> {
    %str = torch.constant.str "bik,bjk->bij"
    %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[2,4,6],f32>, !torch.vtensor<[2,5,6],f32>) -> !torch.list<vtensor>
    %none = torch.constant.none
    %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,4,5],f32>
    return %1 : !torch.vtensor<[2,4,5],f32>
  }
  func.func @softmax(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int-1 = torch.constant.int -1
    %none = torch.constant.none
    %0 = torch.aten.softmax.int %arg0, %int-1, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @log_softmax(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int-1 = torch.constant.int -1
    %none = torch.constant.none
    %0 = torch.aten.log_softmax.int %arg0, %int-1, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @layer_norm(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[6],f32>, %arg2: !torch.vtensor<[6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int6 = torch.constant.int 6
    %0 = torch.prim.ListConstruct %int6 : (!torch.int) -> !torch.list<int>
    %float1.000000e-05 = torch.constant.float 1.000000e-05
    %false = torch.constant.bool false
    %1 = torch.aten.layer_norm %arg0, %0, %arg1, %arg2, %float1.000000e-05, %false : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @rms_norm(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int6 = torch.constant.int 6
    %0 = torch.prim.ListConstruct %int6 : (!torch.int) -> !torch.list<int>
    %none = torch.constant.none
    %1 = torch.aten.rms_norm %arg0, %0, %arg1, %none : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.vtensor<[6],f32>, !torch.none -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @group_norm(%arg0: !torch.vtensor<[2,3,8,8],f32>) -> !torch.vtensor<[2,3,8,8],f32> {
    %int3 = torch.constant.int 3
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %float1.000000e-05 = torch.constant.float 1.000000e-05
    %false = torch.constant.bool false
    %0 = torch.aten.group_norm %arg0, %int3, %none, %none_0, %float1.000000e-05, %false : !torch.vtensor<[2,3,8,8],f32>, !torch.int, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,3,8,8],f32>
    return %0 : !torch.vtensor<[2,3,8,8],f32>
  }
  func.func @batch_norm(%arg0: !torch.vtensor<[2,3,8,8],f32>, %arg1: !torch.vtensor<[3],f32>, %arg2: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,8,8],f32> {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %false = torch.constant.bool false
    %float1.000000e-01 = torch.constant.float 1.000000e-01
    %float1.000000e-05 = torch.constant.float 1.000000e-05
    %false_1 = torch.constant.bool false
    %0 = torch.aten.batch_norm %arg0, %none, %none_0, %arg1, %arg2, %false, %float1.000000e-01, %float1.000000e-05, %false_1 : !torch.vtensor<[2,3,8,8],f32>, !torch.none, !torch.none, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,3,8,8],f32>
    return %0 : !torch.vtensor<[2,3,8,8],f32>
  }
  func.func @sum(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %none = torch.constant.none
    %1 = torch.aten.sum.dim_IntList %arg0, %0, %false, %none : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
    return %1 : !torch.vtensor<[4],f32>
  }
  func.func @mean(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,1],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %1 = torch.aten.mean.dim %arg0, %0, %true, %none : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4,1],f32>
    return %1 : !torch.vtensor<[4,1],f32>
  }
  func.func @var(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %1 = torch.aten.var.dim %arg0, %0, %true, %false : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[4],f32>
    return %1 : !torch.vtensor<[4],f32>
  }
  func.func @prod(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %0 = torch.aten.prod.dim_int %arg0, %int1, %false, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
    return %0 : !torch.vtensor<[4],f32>
  }
  func.func @norm(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
    %int2 = torch.constant.int 2
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %none = torch.constant.none
    %1 = torch.aten.linalg_vector_norm %arg0, %int2, %0, %false, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
    return %1 : !torch.vtensor<[4],f32>
  }
  func.func @amax(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %1 = torch.aten.amax %arg0, %0, %false : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4],f32>
    return %1 : !torch.vtensor<[4],f32>
  }
  func.func @max_dim(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %values, %indices = torch.aten.max.dim %arg0, %int1, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
    return %values, %indices : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
  }
  func.func @min_dim(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %values, %indices = torch.aten.min.dim %arg0, %int1, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
    return %values, %indices : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
  }
  func.func @any(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],i1> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.gt.Scalar %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],i1>
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %1 = torch.aten.any.dim %0, %int1, %false : !torch.vtensor<[4,6],i1>, !torch.int, !torch.bool -> !torch.vtensor<[4],i1>
    return %1 : !torch.vtensor<[4],i1>
  }
  func.func @all(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],i1> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.gt.Scalar %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],i1>
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %1 = torch.aten.all.dim %0, %int1, %false : !torch.vtensor<[4,6],i1>, !torch.int, !torch.bool -> !torch.vtensor<[4],i1>
    return %1 : !torch.vtensor<[4],i1>
  }
  func.func @argmax(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4],si64> {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %0 = torch.aten.argmax %arg0, %int1, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],si64>
    return %0 : !torch.vtensor<[4],si64>
  }
  func.func @argmin(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[6],si64> {
    %int0 = torch.constant.int 0
    %false = torch.constant.bool false
    %0 = torch.aten.argmin %arg0, %int0, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[6],si64>
    return %0 : !torch.vtensor<[6],si64>
  }
  func.func @cumsum(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %none = torch.constant.none
    %0 = torch.aten.cumsum %arg0, %int1, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @cumprod(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %none = torch.constant.none
    %0 = torch.aten.cumprod %arg0, %int1, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @sort(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],si64>) {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %values, %indices = torch.aten.sort %arg0, %int1, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],si64>
    return %values, %indices : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],si64>
  }
  func.func @topk(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],si64>) {
    %int3 = torch.constant.int 3
    %int1 = torch.constant.int 1
    %true = torch.constant.bool true
    %true_0 = torch.constant.bool true
    %values, %indices = torch.aten.topk %arg0, %int3, %int1, %true, %true_0 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],si64>
    return %values, %indices : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],si64>
  }
  func.func @rfft(%arg0: !torch.vtensor<[4,16],f32>) -> !torch.vtensor<[4,9],complex<f32>> {
    %none = torch.constant.none
    %int-1 = torch.constant.int -1
    %none_0 = torch.constant.none
    %0 = torch.aten.fft_rfft %arg0, %none, %int-1, %none_0 : !torch.vtensor<[4,16],f32>, !torch.none, !torch.int, !torch.none -> !torch.vtensor<[4,9],complex<f32>>
    return %0 : !torch.vtensor<[4,9],complex<f32>>
  }
  func.func @flatten(%arg0: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,12],f32> {
    %int1 = torch.constant.int 1
    %int-1 = torch.constant.int -1
    %0 = torch.aten.flatten.using_ints %arg0, %int1, %int-1 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,12],f32>
    return %0 : !torch.vtensor<[2,12],f32>
  }
  func.func @unflatten(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,2,3],f32> {
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int3 = torch.constant.int 3
    %0 = torch.prim.ListConstruct %int2, %int3 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.unflatten.int %arg0, %int1, %0 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
    return %1 : !torch.vtensor<[4,2,3],f32>
  }
  func.func @view(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[2,12],f32> {
    %int2 = torch.constant.int 2
    %int12 = torch.constant.int 12
    %0 = torch.prim.ListConstruct %int2, %int12 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.view %arg0, %0 : !torch.vtensor<[4,6],f32>, !torch.list<int> -> !torch.vtensor<[2,12],f32>
    return %1 : !torch.vtensor<[2,12],f32>
  }
  func.func @permute(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[6,4],f32> {
    %int1 = torch.constant.int 1
    %int0 = torch.constant.int 0
    %0 = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.permute %arg0, %0 : !torch.vtensor<[4,6],f32>, !torch.list<int> -> !torch.vtensor<[6,4],f32>
    return %1 : !torch.vtensor<[6,4],f32>
  }
  func.func @transpose(%arg0: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,4,3],f32> {
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %0 = torch.aten.transpose.int %arg0, %int1, %int2 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,3],f32>
    return %0 : !torch.vtensor<[2,4,3],f32>
  }
  func.func @expand(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[3,4,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.unsqueeze %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[1,4,6],f32>
    %int3 = torch.constant.int 3
    %int-1 = torch.constant.int -1
    %int-1_0 = torch.constant.int -1
    %1 = torch.prim.ListConstruct %int3, %int-1, %int-1_0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %2 = torch.aten.expand %0, %1, %false : !torch.vtensor<[1,4,6],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[3,4,6],f32>
    return %2 : !torch.vtensor<[3,4,6],f32>
  }
  func.func @squeeze(%arg0: !torch.vtensor<[4,1,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.aten.squeeze.dim %arg0, %int1 : !torch.vtensor<[4,1,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @cat(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,12],f32> {
    %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>) -> !torch.list<vtensor>
    %int1 = torch.constant.int 1
    %1 = torch.aten.cat %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4,12],f32>
    return %1 : !torch.vtensor<[4,12],f32>
  }
  func.func @stack(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[2,4,6],f32> {
    %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>) -> !torch.list<vtensor>
    %int0 = torch.constant.int 0
    %1 = torch.aten.stack %0, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,4,6],f32>
    return %1 : !torch.vtensor<[2,4,6],f32>
  }
  func.func @slice(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[2,3],f32> {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int3 = torch.constant.int 3
    %int1_0 = torch.constant.int 1
    %0 = torch.aten.slice.Tensor %arg0, %int0, %int1, %int3, %int1_0 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,6],f32>
    %int1_1 = torch.constant.int 1
    %int0_2 = torch.constant.int 0
    %int9223372036854775807 = torch.constant.int 9223372036854775807
    %int2 = torch.constant.int 2
    %1 = torch.aten.slice.Tensor %0, %int1_1, %int0_2, %int9223372036854775807, %int2 : !torch.vtensor<[2,6],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
    return %1 : !torch.vtensor<[2,3],f32>
  }
  func.func @select(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[6],f32> {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %0 = torch.aten.select.int %arg0, %int0, %int1 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[6],f32>
    return %0 : !torch.vtensor<[6],f32>
  }
  func.func @chunk(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>) {
    %int2 = torch.constant.int 2
    %int-1 = torch.constant.int -1
    %0 = torch.aten.chunk %arg0, %int2, %int-1 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
    %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
    return %1#0, %1#1 : !torch.vtensor<[4,3],f32>, !torch.vtensor<[4,3],f32>
  }
  func.func @split(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,2],f32> {
    %int2 = torch.constant.int 2
    %int1 = torch.constant.int 1
    %0 = torch.aten.split.Tensor %arg0, %int2, %int1 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
    %1:3 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>
    %int0 = torch.constant.int 0
    %int1_0 = torch.constant.int 1
    %2 = torch.aten.add.Scalar %1#0, %int0, %int1_0 : !torch.vtensor<[4,2],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,2],f32>
    %int1_1 = torch.constant.int 1
    %3 = torch.aten.add.Tensor %2, %1#1, %int1_1 : !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>, !torch.int -> !torch.vtensor<[4,2],f32>
    %int1_2 = torch.constant.int 1
    %4 = torch.aten.add.Tensor %3, %1#2, %int1_2 : !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,2],f32>, !torch.int -> !torch.vtensor<[4,2],f32>
    return %4 : !torch.vtensor<[4,2],f32>
  }
  func.func @split_with_sizes(%arg0: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[4,1],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>) {
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int3 = torch.constant.int 3
    %0 = torch.prim.ListConstruct %int1, %int2, %int3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %int1_0 = torch.constant.int 1
    %1 = torch.aten.split_with_sizes %arg0, %0, %int1_0 : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
    %2:3 = torch.prim.ListUnpack %1 : !torch.list<vtensor> -> !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>
    return %2#0, %2#1, %2#2 : !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,2],f32>, !torch.vtensor<[4,3],f32>
  }
  func.func @unbind(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[2,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.unbind.int %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.list<vtensor>
    %1:4 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>
    %2 = torch.prim.ListConstruct %1#0, %1#2 : (!torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>) -> !torch.list<vtensor>
    %int0_0 = torch.constant.int 0
    %3 = torch.aten.stack %2, %int0_0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,6],f32>
    return %3 : !torch.vtensor<[2,6],f32>
  }
  func.func @pad(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,9],f32> {
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %0 = torch.prim.ListConstruct %int1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
    %str = torch.constant.str "constant"
    %none = torch.constant.none
    %1 = torch.aten.pad %arg0, %0, %str, %none : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[4,9],f32>
    return %1 : !torch.vtensor<[4,9],f32>
  }
  func.func @roll(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %int1_0 = torch.constant.int 1
    %1 = torch.prim.ListConstruct %int1_0 : (!torch.int) -> !torch.list<int>
    %2 = torch.aten.roll %arg0, %0, %1 : !torch.vtensor<[4,6],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[4,6],f32>
    return %2 : !torch.vtensor<[4,6],f32>
  }
  func.func @flip(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %1 = torch.aten.flip %arg0, %0 : !torch.vtensor<[4,6],f32>, !torch.list<int> -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @tril(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.tril %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @triu(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.triu %arg0, %int0 : !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @arange(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %int6 = torch.constant.int 6
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %cpu = torch.constant.device "cpu"
    %false = torch.constant.bool false
    %0 = torch.aten.arange %int6, %none, %none_0, %cpu, %false : !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !torch.vtensor<[6],si64>
    %int1 = torch.constant.int 1
    %1 = torch.aten.add.Tensor %arg0, %0, %int1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[6],si64>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @full_like(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %float2.000000e00 = torch.constant.float 2.000000e+00
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %none_1 = torch.constant.none
    %false = torch.constant.bool false
    %none_2 = torch.constant.none
    %0 = torch.aten.full_like %arg0, %float2.000000e00, %none, %none_0, %none_1, %false, %none_2 : !torch.vtensor<[4,6],f32>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[4,6],f32>
    %int1 = torch.constant.int 1
    %1 = torch.aten.sub.Tensor %0, %arg0, %int1 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[4,6],f32>, !torch.int -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @one_hot(%arg0: !torch.vtensor<[5],si64>) -> !torch.vtensor<[5,4],si64> {
    %int4 = torch.constant.int 4
    %0 = torch.aten.one_hot %arg0, %int4 : !torch.vtensor<[5],si64>, !torch.int -> !torch.vtensor<[5,4],si64>
    return %0 : !torch.vtensor<[5,4],si64>
  }
  func.func @repeat(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[8,6],f32> {
    %int2 = torch.constant.int 2
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int2, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.repeat %arg0, %0 : !torch.vtensor<[4,6],f32>, !torch.list<int> -> !torch.vtensor<[8,6],f32>
    return %1 : !torch.vtensor<[8,6],f32>
  }
  func.func @repeat_interleave(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[8,6],f32> {
    %int2 = torch.constant.int 2
    %int0 = torch.constant.int 0
    %none = torch.constant.none
    %0 = torch.aten.repeat_interleave.self_int %arg0, %int2, %int0, %none : !torch.vtensor<[4,6],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[8,6],f32>
    return %0 : !torch.vtensor<[8,6],f32>
  }
  func.func @index_select(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,6],f32> {
    %int0 = torch.constant.int 0
    %0 = torch.aten.index_select %arg0, %int0, %arg1 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.vtensor<[3],si64> -> !torch.vtensor<[3,6],f32>
    return %0 : !torch.vtensor<[3,6],f32>
  }
  func.func @index(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,6],f32> {
    %0 = torch.prim.ListConstruct %arg1 : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
    %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[4,6],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3,6],f32>
    return %1 : !torch.vtensor<[3,6],f32>
  }
  func.func @index_put(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[3],si64>, %arg2: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[4,6],f32> {
    %0 = torch.prim.ListConstruct %arg1 : (!torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
    %false = torch.constant.bool false
    %1 = torch.aten.index_put %arg0, %0, %arg2, %false : !torch.vtensor<[4,6],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[3,6],f32>, !torch.bool -> !torch.vtensor<[4,6],f32>
    return %1 : !torch.vtensor<[4,6],f32>
  }
  func.func @gather(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,2],si64>) -> !torch.vtensor<[4,2],f32> {
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %0 = torch.aten.gather %arg0, %int1, %arg1, %false : !torch.vtensor<[4,6],f32>, !torch.int, !torch.vtensor<[4,2],si64>, !torch.bool -> !torch.vtensor<[4,2],f32>
    return %0 : !torch.vtensor<[4,2],f32>
  }
  func.func @scatter(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,2],si64>, %arg2: !torch.vtensor<[4,2],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.aten.scatter.src %arg0, %int1, %arg1, %arg2 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.vtensor<[4,2],si64>, !torch.vtensor<[4,2],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @scatter_add(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[4,2],si64>, %arg2: !torch.vtensor<[4,2],f32>) -> !torch.vtensor<[4,6],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.aten.scatter_add %arg0, %int1, %arg1, %arg2 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.vtensor<[4,2],si64>, !torch.vtensor<[4,2],f32> -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @embedding(%arg0: !torch.vtensor<[4,6],f32>, %arg1: !torch.vtensor<[2,3],si64>) -> !torch.vtensor<[2,3,6],f32> {
    %int-1 = torch.constant.int -1
    %false = torch.constant.bool false
    %false_0 = torch.constant.bool false
    %0 = torch.aten.embedding %arg0, %arg1, %int-1, %false, %false_0 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[2,3],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2,3,6],f32>
    return %0 : !torch.vtensor<[2,3,6],f32>
  }
  func.func @conv1d(%arg0: !torch.vtensor<[2,3,8],f32>, %arg1: !torch.vtensor<[4,3,3],f32>) -> !torch.vtensor<[2,4,6],f32> {
    %none = torch.constant.none
    %int1 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %int0 = torch.constant.int 0
    %1 = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %int1_0 = torch.constant.int 1
    %2 = torch.prim.ListConstruct %int1_0 : (!torch.int) -> !torch.list<int>
    %int1_1 = torch.constant.int 1
    %3 = torch.aten.conv1d %arg0, %arg1, %none, %0, %1, %2, %int1_1 : !torch.vtensor<[2,3,8],f32>, !torch.vtensor<[4,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,4,6],f32>
    return %3 : !torch.vtensor<[2,4,6],f32>
  }
  func.func @conv2d(%arg0: !torch.vtensor<[2,3,8,8],f32>, %arg1: !torch.vtensor<[4,3,3,3],f32>) -> !torch.vtensor<[2,4,8,8],f32> {
    %none = torch.constant.none
    %int1 = torch.constant.int 1
    %int1_0 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1, %int1_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_1 = torch.constant.int 1
    %int1_2 = torch.constant.int 1
    %1 = torch.prim.ListConstruct %int1_1, %int1_2 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_3 = torch.constant.int 1
    %int1_4 = torch.constant.int 1
    %2 = torch.prim.ListConstruct %int1_3, %int1_4 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_5 = torch.constant.int 1
    %3 = torch.aten.conv2d %arg0, %arg1, %none, %0, %1, %2, %int1_5 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,4,8,8],f32>
    return %3 : !torch.vtensor<[2,4,8,8],f32>
  }
  func.func @conv2d_strided(%arg0: !torch.vtensor<[2,3,8,8],f32>, %arg1: !torch.vtensor<[4,3,3,3],f32>) -> !torch.vtensor<[2,4,3,3],f32> {
    %none = torch.constant.none
    %int2 = torch.constant.int 2
    %int2_0 = torch.constant.int 2
    %0 = torch.prim.ListConstruct %int2, %int2_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %int0 = torch.constant.int 0
    %int0_1 = torch.constant.int 0
    %1 = torch.prim.ListConstruct %int0, %int0_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1 = torch.constant.int 1
    %int1_2 = torch.constant.int 1
    %2 = torch.prim.ListConstruct %int1, %int1_2 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_3 = torch.constant.int 1
    %3 = torch.aten.conv2d %arg0, %arg1, %none, %0, %1, %2, %int1_3 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,4,3,3],f32>
    return %3 : !torch.vtensor<[2,4,3,3],f32>
  }
  func.func @conv2d_depthwise(%arg0: !torch.vtensor<[2,3,8,8],f32>, %arg1: !torch.vtensor<[3,1,3,3],f32>) -> !torch.vtensor<[2,3,6,6],f32> {
    %none = torch.constant.none
    %int1 = torch.constant.int 1
    %int1_0 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1, %int1_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %int0 = torch.constant.int 0
    %int0_1 = torch.constant.int 0
    %1 = torch.prim.ListConstruct %int0, %int0_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_2 = torch.constant.int 1
    %int1_3 = torch.constant.int 1
    %2 = torch.prim.ListConstruct %int1_2, %int1_3 : (!torch.int, !torch.int) -> !torch.list<int>
    %int3 = torch.constant.int 3
    %3 = torch.aten.conv2d %arg0, %arg1, %none, %0, %1, %2, %int3 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[3,1,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,3,6,6],f32>
    return %3 : !torch.vtensor<[2,3,6,6],f32>
  }
  func.func @conv_transpose2d(%arg0: !torch.vtensor<[2,3,8,8],f32>, %arg1: !torch.vtensor<[3,4,3,3],f32>) -> !torch.vtensor<[2,4,10,10],f32> {
    %none = torch.constant.none
    %int1 = torch.constant.int 1
    %int1_0 = torch.constant.int 1
    %0 = torch.prim.ListConstruct %int1, %int1_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %int0 = torch.constant.int 0
    %int0_1 = torch.constant.int 0
    %1 = torch.prim.ListConstruct %int0, %int0_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %int0_2 = torch.constant.int 0
    %int0_3 = torch.constant.int 0
    %2 = torch.prim.ListConstruct %int0_2, %int0_3 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_4 = torch.constant.int 1
    %int1_5 = torch.constant.int 1
    %int1_6 = torch.constant.int 1
    %3 = torch.prim.ListConstruct %int1_5, %int1_6 : (!torch.int, !torch.int) -> !torch.list<int>
    %4 = torch.aten.conv_transpose2d.input %arg0, %arg1, %none, %0, %1, %2, %int1_4, %3 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[3,4,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int, !torch.list<int> -> !torch.vtensor<[2,4,10,10],f32>
    return %4 : !torch.vtensor<[2,4,10,10],f32>
  }
  func.func @convolution_backward(%arg0: !torch.vtensor<[2,4,8,8],f32>, %arg1: !torch.vtensor<[2,3,8,8],f32>, %arg2: !torch.vtensor<[4,3,3,3],f32>) -> (!torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.vtensor<[4],f32>) {
    %int4 = torch.constant.int 4
    %0 = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
    %int1 = torch.constant.int 1
    %int1_0 = torch.constant.int 1
    %1 = torch.prim.ListConstruct %int1, %int1_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_1 = torch.constant.int 1
    %int1_2 = torch.constant.int 1
    %2 = torch.prim.ListConstruct %int1_1, %int1_2 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_3 = torch.constant.int 1
    %int1_4 = torch.constant.int 1
    %3 = torch.prim.ListConstruct %int1_3, %int1_4 : (!torch.int, !torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int0_5 = torch.constant.int 0
    %4 = torch.prim.ListConstruct %int0, %int0_5 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_6 = torch.constant.int 1
    %true = torch.constant.bool true
    %true_7 = torch.constant.bool true
    %true_8 = torch.constant.bool true
    %5 = torch.prim.ListConstruct %true, %true_7, %true_8 : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
    %result0, %result1, %result2 = torch.aten.convolution_backward %arg0, %arg1, %arg2, %0, %1, %2, %3, %false, %4, %int1_6, %5 : !torch.vtensor<[2,4,8,8],f32>, !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.vtensor<[4],f32>
    return %result0, %result1, %result2 : !torch.vtensor<[2,3,8,8],f32>, !torch.vtensor<[4,3,3,3],f32>, !torch.vtensor<[4],f32>
  }
  func.func @max_pool2d(%arg0: !torch.vtensor<[2,3,8,8],f32>) -> !torch.vtensor<[2,3,4,4],f32> {
    %int2 = torch.constant.int 2
    %int2_0 = torch.constant.int 2
    %0 = torch.prim.ListConstruct %int2, %int2_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
    %int0 = torch.constant.int 0
    %int0_1 = torch.constant.int 0
    %2 = torch.prim.ListConstruct %int0, %int0_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1 = torch.constant.int 1
    %int1_2 = torch.constant.int 1
    %3 = torch.prim.ListConstruct %int1, %int1_2 : (!torch.int, !torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %4 = torch.aten.max_pool2d %arg0, %0, %1, %2, %3, %false : !torch.vtensor<[2,3,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,3,4,4],f32>
    return %4 : !torch.vtensor<[2,3,4,4],f32>
  }
  func.func @avg_pool2d(%arg0: !torch.vtensor<[2,3,8,8],f32>) -> !torch.vtensor<[2,3,4,4],f32> {
    %int2 = torch.constant.int 2
    %int2_0 = torch.constant.int 2
    %0 = torch.prim.ListConstruct %int2, %int2_0 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
    %int0 = torch.constant.int 0
    %int0_1 = torch.constant.int 0
    %2 = torch.prim.ListConstruct %int0, %int0_1 : (!torch.int, !torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %none = torch.constant.none
    %3 = torch.aten.avg_pool2d %arg0, %0, %1, %2, %false, %true, %none : !torch.vtensor<[2,3,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[2,3,4,4],f32>
    return %3 : !torch.vtensor<[2,3,4,4],f32>
  }
  func.func @adaptive_avg_pool1d(%arg0: !torch.vtensor<[2,3,8],f32>) -> !torch.vtensor<[2,3,3],f32> {
    %int3 = torch.constant.int 3
    %0 = torch.prim.ListConstruct %int3 : (!torch.int) -> !torch.list<int>
    %1 = torch.aten.adaptive_avg_pool1d %arg0, %0 : !torch.vtensor<[2,3,8],f32>, !torch.list<int> -> !torch.vtensor<[2,3,3],f32>
    return %1 : !torch.vtensor<[2,3,3],f32>
  }
  func.func @adaptive_avg_pool2d(%arg0: !torch.vtensor<[2,3,8,8],f32>) -> !torch.vtensor<[2,3,3,5],f32> {
    %int3 = torch.constant.int 3
    %int5 = torch.constant.int 5
    %0 = torch.prim.ListConstruct %int3, %int5 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.adaptive_avg_pool2d %arg0, %0 : !torch.vtensor<[2,3,8,8],f32>, !torch.list<int> -> !torch.vtensor<[2,3,3,5],f32>
    return %1 : !torch.vtensor<[2,3,3,5],f32>
  }
  func.func @adaptive_max_pool1d(%arg0: !torch.vtensor<[2,3,8],f32>) -> !torch.vtensor<[2,3,3],f32> {
    %int3 = torch.constant.int 3
    %0 = torch.prim.ListConstruct %int3 : (!torch.int) -> !torch.list<int>
    %result0, %result1 = torch.aten.adaptive_max_pool1d %arg0, %0 : !torch.vtensor<[2,3,8],f32>, !torch.list<int> -> !torch.vtensor<[2,3,3],f32>, !torch.vtensor<[2,3,3],si64>
    return %result0 : !torch.vtensor<[2,3,3],f32>
  }
  func.func @upsample_nearest(%arg0: !torch.vtensor<[2,3,8,8],f32>) -> !torch.vtensor<[2,3,16,16],f32> {
    %none = torch.constant.none
    %float2.000000e00 = torch.constant.float 2.000000e+00
    %float2.000000e00_0 = torch.constant.float 2.000000e+00
    %0 = torch.prim.ListConstruct %float2.000000e00, %float2.000000e00_0 : (!torch.float, !torch.float) -> !torch.list<float>
    %1 = torch.aten.upsample_nearest2d.vec %arg0, %none, %0 : !torch.vtensor<[2,3,8,8],f32>, !torch.none, !torch.list<float> -> !torch.vtensor<[2,3,16,16],f32>
    return %1 : !torch.vtensor<[2,3,16,16],f32>
  }
  func.func @to_bf16(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],bf16> {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %int6 = torch.constant.int 6
    %cpu = torch.constant.device "cpu"
    %int0 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %arg0, %none, %none_0, %int6, %cpu, %int0 : !torch.vtensor<[4,6],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int15 = torch.constant.int 15
    %false = torch.constant.bool false
    %false_1 = torch.constant.bool false
    %none_2 = torch.constant.none
    %0 = torch.aten.to.dtype %arg0, %int15, %false, %false_1, %none_2 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,6],bf16>
    return %0 : !torch.vtensor<[4,6],bf16>
  }
  func.func @to_int(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],si32> {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %int6 = torch.constant.int 6
    %cpu = torch.constant.device "cpu"
    %int0 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %arg0, %none, %none_0, %int6, %cpu, %int0 : !torch.vtensor<[4,6],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int3 = torch.constant.int 3
    %false = torch.constant.bool false
    %false_1 = torch.constant.bool false
    %none_2 = torch.constant.none
    %0 = torch.aten.to.dtype %arg0, %int3, %false, %false_1, %none_2 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,6],si32>
    return %0 : !torch.vtensor<[4,6],si32>
  }
  func.func @to_fp8(%arg0: !torch.vtensor<[4,6],f32>) -> !torch.vtensor<[4,6],f8E4M3FN> {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %int6 = torch.constant.int 6
    %cpu = torch.constant.device "cpu"
    %int0 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %arg0, %none, %none_0, %int6, %cpu, %int0 : !torch.vtensor<[4,6],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int24 = torch.constant.int 24
    %false = torch.constant.bool false
    %false_1 = torch.constant.bool false
    %none_2 = torch.constant.none
    %0 = torch.aten.to.dtype %arg0, %int24, %false, %false_1, %none_2 : !torch.vtensor<[4,6],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,6],f8E4M3FN>
    return %0 : !torch.vtensor<[4,6],f8E4M3FN>
  }
  func.func @from_fp8(%arg0: !torch.vtensor<[4,6],f8E4M3FN>) -> !torch.vtensor<[4,6],f32> {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %int24 = torch.constant.int 24
    %cpu = torch.constant.device "cpu"
    %int0 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %arg0, %none, %none_0, %int24, %cpu, %int0 : !torch.vtensor<[4,6],f8E4M3FN>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int6 = torch.constant.int 6
    %false = torch.constant.bool false
    %false_1 = torch.constant.bool false
    %none_2 = torch.constant.none
    %0 = torch.aten.to.dtype %arg0, %int6, %false, %false_1, %none_2 : !torch.vtensor<[4,6],f8E4M3FN>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4,6],f32>
    return %0 : !torch.vtensor<[4,6],f32>
  }
  func.func @bitwise_and(%arg0: !torch.vtensor<[4],si64>, %arg1: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
    %0 = torch.aten.bitwise_and.Tensor %arg0, %arg1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
    return %0 : !torch.vtensor<[4],si64>
  }
  func.func @attention(%arg0: !torch.vtensor<[2,4,8,16],f16>, %arg1: !torch.vtensor<[2,4,8,16],f16>, %arg2: !torch.vtensor<[2,4,8,16],f16>) -> !torch.vtensor<[2,4,8,16],f16> {
    %none = torch.constant.none
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %none_0 = torch.constant.none
    %false_1 = torch.constant.bool false
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %float0.000000e00, %false, %none_0, %false_1 : !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f16>
    return %0 : !torch.vtensor<[2,4,8,16],f16>
  }
  func.func @attention_causal(%arg0: !torch.vtensor<[2,4,8,16],f16>, %arg1: !torch.vtensor<[2,4,8,16],f16>, %arg2: !torch.vtensor<[2,4,8,16],f16>) -> !torch.vtensor<[2,4,8,16],f16> {
    %none = torch.constant.none
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %true = torch.constant.bool true
    %none_0 = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %float0.000000e00, %true, %none_0, %false : !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f16>
    return %0 : !torch.vtensor<[2,4,8,16],f16>
  }
  func.func @attention_mask(%arg0: !torch.vtensor<[2,4,8,16],f16>, %arg1: !torch.vtensor<[2,4,8,16],f16>, %arg2: !torch.vtensor<[2,4,8,16],f16>, %arg3: !torch.vtensor<[2,1,8,8],f16>) -> !torch.vtensor<[2,4,8,16],f16> {
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %none = torch.constant.none
    %false_0 = torch.constant.bool false
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %arg3, %float0.000000e00, %false, %none, %false_0 : !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,1,8,8],f16>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,8,16],f16>
    return %0 : !torch.vtensor<[2,4,8,16],f16>
  }
  func.func @attention_grouped(%arg0: !torch.vtensor<[2,8,8,16],f16>, %arg1: !torch.vtensor<[2,4,8,16],f16>, %arg2: !torch.vtensor<[2,4,8,16],f16>) -> !torch.vtensor<[2,8,8,16],f16> {
    %none = torch.constant.none
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %none_0 = torch.constant.none
    %true = torch.constant.bool true
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %float0.000000e00, %false, %none_0, %true : !torch.vtensor<[2,8,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,8,8,16],f16>
    return %0 : !torch.vtensor<[2,8,8,16],f16>
  }
  func.func @attention_scale(%arg0: !torch.vtensor<[2,4,8,16],f16>, %arg1: !torch.vtensor<[2,4,8,16],f16>, %arg2: !torch.vtensor<[2,4,8,16],f16>) -> !torch.vtensor<[2,4,8,16],f16> {
    %none = torch.constant.none
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %float5.000000e-01 = torch.constant.float 5.000000e-01
    %false_0 = torch.constant.bool false
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %float0.000000e00, %false, %float5.000000e-01, %false_0 : !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.vtensor<[2,4,8,16],f16>, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> !torch.vtensor<[2,4,8,16],f16>
    return %0 : !torch.vtensor<[2,4,8,16],f16>
  }
  func.func @attention_dynamic(%arg0: !torch.vtensor<[1,4,?,16],f16>, %arg1: !torch.vtensor<[1,4,?,16],f16>, %arg2: !torch.vtensor<[1,4,?,16],f16>) -> !torch.vtensor<[1,4,?,16],f16> {
    %none = torch.constant.none
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %none_0 = torch.constant.none
    %false_1 = torch.constant.bool false
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %float0.000000e00, %false, %none_0, %false_1 : !torch.vtensor<[1,4,?,16],f16>, !torch.vtensor<[1,4,?,16],f16>, !torch.vtensor<[1,4,?,16],f16>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,4,?,16],f16>
    return %0 : !torch.vtensor<[1,4,?,16],f16>
  }
  func.func @softmax_dynamic(%arg0: !torch.vtensor<[1,4,?,8],f32>) -> !torch.vtensor<[1,4,?,8],f32> {
    %int-1 = torch.constant.int -1
    %none = torch.constant.none
    %0 = torch.aten.softmax.int %arg0, %int-1, %none : !torch.vtensor<[1,4,?,8],f32>, !torch.int, !torch.none -> !torch.vtensor<[1,4,?,8],f32>
    return %0 : !torch.vtensor<[1,4,?,8],f32>
  }
}
