"""Runs functions of a ``.vmfb`` on one CPU device: ``run_child.py JOB``, by path.

A process of its own, so that a program that crashes takes only this one with
it. JOB is a pickle: ``vmfb`` and ``calls``, pairs of a function's name and its
arguments as raw bytes, shapes and IREE's type names. Results are pickled to
JOB.out one call at a time; what a crash lost is missing at the end.
"""

from __future__ import annotations

import os
import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

rt: Any = import_module("iree.runtime")


def main() -> None:
    job = pickle.loads(Path(sys.argv[1]).read_bytes())
    instance = rt.VmInstance()
    device = rt.get_driver("local-task").create_default_device()
    module = rt.VmModule.copy_buffer(instance, job["vmfb"])
    context = rt.VmContext(instance, [rt.create_hal_module(instance, device), module])
    with open(f"{sys.argv[1]}.out", "wb") as out:
        for name, arguments in job["calls"]:
            try:
                answer: Any = call(device, context, module.lookup_function(name), arguments)
            except Exception as error:
                answer = str(error)
            pickle.dump(answer, out)
            out.flush()
    os._exit(0)  # runtime objects crash when torn down in the wrong order


def call(device: Any, context: Any, function: Any, arguments: Any) -> list[Any]:
    given = rt.VmVariantList(len(arguments))
    for data, shape, element in arguments:
        given.push_ref(
            device.allocator.allocate_buffer_copy(
                memory_type=rt.MemoryType.DEVICE_LOCAL | rt.MemoryType.HOST_VISIBLE,
                allowed_usage=rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING,
                device=device,
                buffer=data.reshape(shape),
                element_type=getattr(rt.HalElementType, element),
            )
        )
    results = rt.VmVariantList(8)
    context.invoke(function, given, results)
    found: list[Any] = []
    for index in range(len(results)):
        view = results.get_as_object(index, rt.HalBufferView)
        data = view.map().asarray((view.byte_length,), np.dtype(np.uint8))
        found.append((data.copy(), list(view.shape)))
    return found


if __name__ == "__main__":
    main()
