"""Writes fsdp_training_step/ from examples/fsdp_training_step.py.

python tests/models/write_training_step.py, with headrace[jax] installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import headrace.jax
import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    sys.path.insert(0, str(HERE.parent.parent / "examples"))
    import fsdp_training_step as example
    from on_cpu_devices import tiles

    folder = HERE / "fsdp_training_step"
    folder.mkdir(exist_ok=True)
    mesh, arrays = example.make_mesh(), example.make_arrays()
    train = example.make_step(mesh)
    (folder / "model.mlir").write_text(headrace.jax.to_stablehlo(train, *arrays))
    names = ("h", "target", "weights")
    inputs = {
        name: tiles(mesh, spec, np.asarray(array, np.float32))
        for name, spec, array in zip(names, example.SPECS, arrays, strict=True)
    }
    np.savez_compressed(folder / "inputs.npz", **inputs)
    results = [
        tiles(mesh, spec, np.asarray(result, np.float32))
        for spec, result in zip(example.RESULT_SPECS, train(*arrays), strict=True)
    ]
    np.savez_compressed(folder / "outputs.npz", *results)
    case = {
        "devices": 4,
        "mesh": {"x": 4},
        "inputs": [
            {"name": name, "dtype": "bfloat16", "global_shape": list(array.shape)}
            for name, array in zip(names, arrays, strict=True)
        ],
        "results": [
            {"name": "loss", "dtype": "float32"},
            {"name": "gradients", "dtype": "bfloat16"},
            {"name": "weights", "dtype": "bfloat16"},
        ],
        "note": "A training step over an FSDP layer scan: gathers forward and backward, "
        "reduce-scatter of gradients in the reverse loop.",
        "rtol": 0.02,
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()
