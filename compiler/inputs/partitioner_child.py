"""JAX's partitioner, in a child process: a global program becomes one device's.

jaxlib partitions a program while it compiles it, and hands nothing out but what XLA's dump
flags write. Those are read once in a process, as is the number of host devices: hence the
child, which needs no device, and ends as soon as the dump is there.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ...dialects import ir
from ...dialects.child_process import run_child
from ...dialects.device_counts import DeviceCounts
from .jax_internals import (
    check_version,
    first_diagnostic,
    hlo_to_stablehlo,
    make_context,
    parse_with_jax,
    start_compiling,
)
from .partitioned_module import normalize

_PARTITIONER, _NEXT = "spmd-partitioning", "sub-byte-size-setter"
_TEXT, _ERROR = b"+", b"-"


def partition(text: str, counts: DeviceCounts) -> str:
    """The per-device StableHLO of a global one, with ``sdy`` or ``mhlo.sharding`` shardings.

    ``text`` may be in the generic form. Arguments and results of ``@main`` are the same ones in
    the same order, with one device's types, and say in ``mhlo.sharding`` how they are tiled.

    Raises HeadraceError if JAX is not installed or of an unknown version, and with XLA's words
    for a program that it cannot partition.
    """
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        flags = (
            f"--xla_force_host_platform_device_count={counts.devices}",
            f"--xla_dump_to={folder}",
            f"--xla_dump_hlo_pass_re={_PARTITIONER}|{_NEXT}",
            "--xla_dump_hlo_as_proto",
            # Groups of devices as lists, not along the axes of a mesh.
            "--xla_enable_rgv3_materialization=false",
        )
        environment = {**os.environ, "XLA_FLAGS": " ".join(flags), "JAX_PLATFORMS": "cpu"}
        numbers = [str(counts.replicas or 1), str(counts.partitions or 1)]
        command = [sys.executable, "-m", __name__, folder, *numbers]
        child = run_child(command, text.encode(), environment=environment)
    answer = child.output[1:].decode(errors="replace")
    if child.output.startswith(_TEXT):
        return answer
    if child.output.startswith(_ERROR):
        raise ir.HeadraceError(answer)
    last = child.errors.decode(errors="replace").strip().splitlines()[-1:]
    raise ir.HeadraceError(f"JAX's partitioner crashed ({child.reason})", *last)


def main() -> None:
    folder = Path(sys.argv[1])
    replicas, partitions = map(int, sys.argv[2:])
    text = sys.stdin.buffer.read().decode()
    try:
        answer = _TEXT + _partition(text, replicas, partitions, folder).encode()
    except ImportError as error:
        message = (
            f"the program runs on {replicas * partitions} devices, and splitting it takes JAX's "
            f"partitioner ({error}): pip install 'headrace[jax]'"
        )
        answer = _ERROR + message.encode()
    except ir.HeadraceError as error:
        answer = _ERROR + str(error).removeprefix("error: ").encode()
    sys.stdout.buffer.write(answer)


def _partition(text: str, replicas: int, partitions: int, folder: Path) -> str:
    check_version()
    mlir = import_module("jaxlib.mlir.ir")
    with make_context():
        module = parse_with_jax(text)
        proto = _hlo_module(_dump(module, replicas, partitions, folder))
        partitioned = mlir.Module.parse(hlo_to_stablehlo(proto))
        normalize(partitioned, module, replicas, partitions)
        return partitioned.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def _dump(module: Any, replicas: int, partitions: int, folder: Path) -> bytes:
    """The ``HloProto`` that XLA writes behind its partitioner."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            start_compiling(module, replicas, partitions)
        except Exception as error:  # jaxlib has more than one class for this
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    # The next dump is begun when the one before it is complete.
    while thread.is_alive() and not any(folder.glob(f"*before_{_NEXT}*")):
        thread.join(0.005)
    dumps = sorted(folder.glob(f"*after_{_PARTITIONER}*"))
    if dumps:
        return dumps[0].read_bytes()
    reason = first_diagnostic(errors[0]) if errors else "it writes no dump"
    raise ir.HeadraceError(f"JAX's partitioner does not take the program: {reason}")


def _hlo_module(proto: bytes) -> bytes:
    """Field 1 of an ``HloProto``, an ``HloModuleProto``: both of xla/service/hlo.proto."""
    for number, value in _fields(proto):
        if number == 1:
            return value
    raise ir.HeadraceError("JAX's partitioner writes no module")


def _fields(proto: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a protocol buffer, which has no others."""
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = proto[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(proto):
        number = varint() >> 3
        size = varint()
        yield number, proto[place : place + size]
        place += size


if __name__ == "__main__":
    try:
        main()
        status = 0
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # XLA may still be compiling, and Python would end it badly
