"""Loads or runs a ``.vmfb``, as a process of its own: ``runtime_child.py JOB``.

Run by path and importing nothing of headrace, so that a program that crashes
takes only this process with it. JOB is a JSON file; the answer goes to the
file that it names. See ``runtime.py``, which writes the one and reads the
other.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

# By name: the package has no stubs.
rt: Any = import_module("iree.runtime")

# None is torn down: quirks.TEARDOWN_ORDER.
_alive: list[Any] = []


def load(job: dict[str, Any], instance: Any) -> Any:
    return rt.VmModule.mmap(instance, job["vmfb"])


def inspect(job: dict[str, Any]) -> dict[str, Any]:
    """Reflection attributes of every function."""
    module = load(job, rt.VmInstance())
    names = [name for name in module.function_names if not name.startswith("__")]
    return {"functions": {name: module.lookup_function(name).reflection for name in names}}


def invoke(job: dict[str, Any]) -> dict[str, Any]:
    """Calls a function on ``local-task`` devices; results go to raw files."""
    instance = rt.VmInstance()
    driver = rt.get_driver("local-task")
    devices = [driver.create_default_device() for _ in range(job["devices"])]
    module = load(job, instance)
    context = rt.VmContext(instance, [rt.create_hal_module(instance, devices=devices), module])
    arguments = rt.VmVariantList(len(job["arguments"]))
    for argument in job["arguments"]:
        data = np.fromfile(argument["file"], np.dtype(argument["storage"]))
        device = devices[argument["device"]]
        arguments.push_ref(
            device.allocator.allocate_buffer_copy(
                memory_type=rt.MemoryType.DEVICE_LOCAL | rt.MemoryType.HOST_VISIBLE,
                allowed_usage=rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING,
                device=device,
                buffer=data.reshape(argument["shape"]),
                element_type=getattr(rt.HalElementType, argument["element_type"]),
            )
        )
    results = rt.VmVariantList(job["results"])
    _alive.extend((instance, driver, devices, module, context, arguments, results))
    context.invoke(module.lookup_function(job["function"]), arguments, results)
    shapes: list[list[int]] = []
    for index in range(len(results)):
        view = results.get_as_object(index, rt.HalBufferView)
        data = view.map().asarray((view.byte_length,), np.dtype(np.uint8))
        data.tofile(Path(job["folder"], f"result{index}.raw"))
        shapes.append(list(view.shape))
    return {"shapes": shapes}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    try:
        answer = inspect(job) if job["action"] == "inspect" else invoke(job)
    except Exception as error:
        answer = {"error": str(error)}
    Path(job["answer"]).write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # no teardown: see _alive


if __name__ == "__main__":
    main()
