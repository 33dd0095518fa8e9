"""Programs in this process: ``headrace.load``, ``CompileResult.load``.

IREE's objects crash when they are torn down in the wrong order (quirks.TEARDOWN_ORDER). Here the
instance and the devices stay until the process ends, and all else holds what it needs: programs
and arrays may be dropped in any order.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ...dialects import ir
from ..metadata import FunctionInfo
from .element_types import (
    Array,
    ElementType,
    TensorType,
    element_type_of,
    parse_tensor_type,
    to_element_type,
)
from .runtime import check_complete, check_runs_here, choose_function, read_functions

# What compiled code assumes of a buffer's address.
_ALIGNMENT = 64


@cache
def _rt() -> Any:
    # What stays to the end is on purpose, and no leak.
    import_module("iree.runtime._binding").disable_leak_checker()
    return import_module("iree.runtime")


def _keep(made: Any) -> Any:
    """``made``, which now outlives the interpreter's own clean-up."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


@cache
def _instance() -> Any:
    return _keep(_rt().VmInstance())


@cache
def _device(uri: str, index: int) -> Any:
    """The device of that number among those of one URI, e.g. ``local-task``, ``hip://0``."""
    try:
        driver = _keep(_rt().get_driver(uri))
        if "://" in uri:
            return _keep(driver.create_device_by_uri(uri))
        return _keep(driver.create_default_device())
    except (RuntimeError, ValueError) as error:
        raise ir.HeadraceError(f"no device '{uri}': {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


class DeviceArray:
    """One argument or result of a program, on its devices.

    ``shape`` is ``[devices, *shape of one]`` for a program of several devices. NumPy reads it
    (``np.asarray``), without a copy where there is one device, and where the memory is the
    host's; DLPack readers get a copy. It may be an argument of any program on the same devices.
    """

    def __init__(self, shards: Sequence[_Shard], element: ElementType) -> None:
        self._shards: tuple[_Shard, ...] | None = tuple(shards)
        self.element = element
        one = shards[0].shape
        self.shape: tuple[int, ...] = one if len(shards) == 1 else (len(shards), *one)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.element.dtype

    @property
    def shards(self) -> list[Array]:
        """Each device's part, read-only."""
        return [shard.read(self.element) for shard in self.held()]

    def held(self) -> tuple[_Shard, ...]:
        """Raises HeadraceError after the array was donated to a call."""
        if self._shards is None:
            raise ir.HeadraceError("the array was donated to a call, which may have reused it")
        return self._shards

    def give_up(self) -> None:
        self._shards = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        parts = self.shards
        if len(parts) > 1 and copy is False:
            raise ValueError("an array on several devices is copied to become one")
        whole = parts[0] if len(parts) == 1 else np.stack(parts)
        if dtype is not None and np.dtype(dtype) != whole.dtype:
            return whole.astype(dtype)
        return whole.copy() if copy and len(parts) == 1 else whole

    def __dlpack__(self, **options: Any) -> Any:
        # NumPy hands out what may be written alone, and knows no reader's promise.
        return np.array(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"


class _Shard:
    """A buffer of one device, and what holds its memory if that is not the buffer itself."""

    def __init__(self, device: Any, view: Any, owner: Array | None = None) -> None:
        self.device = device
        self.view = view
        self.owner = owner
        self._host: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.view.shape)

    def bytes_on_host(self) -> Array:
        """Its memory, or a copy of what the host cannot address."""
        if self._host is None:
            self._host = self._map()
        return self._host

    def _map(self) -> Array:
        rt, size = _rt(), self.view.byte_length
        if not size:
            return np.empty(0, np.uint8)
        flat = rt.HalBufferView(self.view.get_buffer(), [size], rt.HalElementType.UINT_8)
        return rt.DeviceArray(self.device, flat).to_host()

    def read(self, element: ElementType) -> Array:
        found = self.bytes_on_host().view(element.dtype).reshape(self.shape)
        found.flags.writeable = False
        return found

    def as_type(self, element: ElementType) -> Any:
        """The buffer as one of that element type, which has the same bytes."""
        rt = _rt()
        wanted = getattr(rt.HalElementType, element.runtime)
        if self.view.element_type == wanted:
            return self.view
        return rt.HalBufferView(self.view.get_buffer(), list(self.shape), wanted)


class LoadedFunction:
    """A function of a loaded program: ``results = function(*arrays)``.

    ``info`` says what it takes and returns. An argument is an array of the argument's shape, with
    a leading axis of devices where there are several; a list of one array per device; or a
    ``DeviceArray``. NumPy arrays whose memory is aligned to 64 bytes are read where they are.
    The result is a ``DeviceArray``, or a tuple of them where there is not one.

    Raises HeadraceError for arguments that do not fit, and for a program that fails.
    """

    def __init__(self, program: LoadedProgram, info: FunctionInfo, function: Any) -> None:
        self.info = info
        self._program = program
        self._function = function
        self._arguments = [parse_tensor_type(value.type) for value in info.arguments]
        self._results = [parse_tensor_type(value.type) for value in info.results]

    def __call__(self, *arrays: Any) -> DeviceArray | tuple[DeviceArray, ...]:
        results = self.results(arrays)
        return results[0] if len(results) == 1 else results

    def results(self, arrays: Sequence[Any]) -> tuple[DeviceArray, ...]:
        """All results, also of a function that has one."""
        if len(arrays) != len(self._arguments):
            raise ir.HeadraceError(
                f"'{self.info.name}' takes {len(self._arguments)} arrays, got {len(arrays)}"
            )
        columns = [self._placed(index, array) for index, array in enumerate(arrays)]
        views = [
            column[device].as_type(type_.element)
            for device in range(self.info.devices)
            for column, type_ in zip(columns, self._arguments, strict=True)
        ]
        given = self._program.invoke(self._function, views, self.info)
        for array, value in zip(arrays, self.info.arguments, strict=True):
            if value.donated and isinstance(array, DeviceArray):
                array.give_up()
        owners = [shard for column in columns for shard in column if shard.owner is not None]
        made = [_Shard(device, view, _owner(device, view, owners)) for device, view in given]
        count = len(self._results)
        return tuple(
            DeviceArray(made[index::count], type_.element)
            for index, type_ in enumerate(self._results)
        )

    def _placed(self, index: int, array: Any) -> tuple[_Shard, ...]:
        type_, what = self._arguments[index], f"argument {index} of '{self.info.name}'"
        devices = self._program.devices
        if isinstance(array, DeviceArray):
            shards = array.held()
            if [shard.device for shard in shards] != devices:
                raise ir.HeadraceError(f"{what} is on other devices")
            if array.element.storage != type_.element.storage:
                raise ir.HeadraceError(
                    f"{what}: expected {type_.element.name} values, got {array.dtype}"
                )
            _check_shapes([shard.shape for shard in shards], type_, len(devices), what)
            return shards
        given: Any = array
        if len(devices) == 1 and not isinstance(array, list | tuple):
            given = [array]
        parts: list[Array] = [np.asarray(part) for part in given]
        _check_shapes([part.shape for part in parts], type_, len(devices), what)
        copies = self.info.arguments[index].donated
        parts = [to_element_type(part, type_.element, what) for part in parts]
        return tuple(
            _place(device, part, type_.element, copies)
            for device, part in zip(devices, parts, strict=True)
        )


def _check_shapes(
    shapes: Sequence[tuple[int, ...]], type_: TensorType, devices: int, what: str
) -> None:
    if len(shapes) == devices and all(type_.accepts(shape) for shape in shapes):
        return
    if devices == 1 and len(shapes) == 1:
        raise ir.HeadraceError(f"{what}: expected {type_}, got the shape {list(shapes[0])}")
    got = f"{len(shapes)} arrays, the first of shape {list(shapes[0])}" if shapes else "none"
    raise ir.HeadraceError(f"{what}: expected one {type_} for each of {devices} devices, got {got}")


def _owner(device: Any, view: Any, owners: Sequence[_Shard]) -> Array | None:
    """Whose memory a result is, where it is an argument's: IREE's buffer does not hold it."""
    if not owners:
        return None
    address = _Shard(device, view).bytes_on_host().ctypes.data
    for shard in owners:
        host = shard.owner
        assert host is not None
        if host.ctypes.data <= address < host.ctypes.data + max(host.nbytes, 1):
            return host
    return None


def _place(device: Any, array: Array, element: ElementType, copies: bool) -> _Shard:
    """An array on a device; its own memory if it can be used and nothing is written there."""
    rt = _rt()
    shape = list(array.shape)
    array = np.ascontiguousarray(array)
    kind = getattr(rt.HalElementType, element.runtime)
    memory = rt.MemoryType.DEVICE_LOCAL | rt.MemoryType.HOST_VISIBLE
    usage = rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING
    if copies or not array.nbytes or array.ctypes.data % _ALIGNMENT:
        raw = array.view(element.storage).reshape(shape)
        view = device.allocator.allocate_buffer_copy(memory, usage, device, raw, kind)
        return _Shard(device, view)
    # By address: also what is read-only, and what NumPy's buffers have no name for.
    raw = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    buffer = device.allocator.import_host_allocation(raw, int(memory), int(usage))
    return _Shard(device, rt.HalBufferView(buffer, shape, kind), array)


class LoadedProgram:
    """A compiled program with its devices and constants, ready to be called.

        with headrace.load("model.vmfb") as program:
            y = program(x, w)  # its only function, or main
            y = program.functions["decode"](x, program.put(w))

    Calls from several threads run one after the other. After ``close``, and at the end of a
    ``with`` block, calls raise HeadraceError; arrays stay.
    """

    def __init__(
        self,
        vmfb: bytes | str | Path,
        *,
        devices: str | Sequence[str] = "local-task",
        parameters: str | Path | Mapping[str, str | Path] | None = None,
    ) -> None:
        rt = _rt()
        self._lock = threading.Lock()
        module = _module(vmfb)
        infos = _function_infos(module, "the program" if isinstance(vmfb, bytes) else str(vmfb))
        count = max(info.devices for info in infos.values())
        for info in infos.values():
            if devices == "local-task":
                check_runs_here(info)
        uris = [devices] * count if isinstance(devices, str) else list(devices)
        if len(uris) != count:
            raise ir.HeadraceError(f"the program is for {count} devices, got {len(uris)}")
        self.devices: list[Any] = [_device(uri, n) for n, uri in enumerate(uris)]
        modules = [rt.create_hal_module(_instance(), devices=self.devices)]
        if parameters is not None:
            modules.insert(0, _parameters_module(parameters))
        try:
            self._context: Any = rt.VmContext(_instance(), [*modules, module])
        except (RuntimeError, ValueError) as error:
            raise _load_error(error) from None
        self.functions: Mapping[str, LoadedFunction] = MappingProxyType(
            {
                name: LoadedFunction(self, info, module.lookup_function(name))
                for name, info in infos.items()
            }
        )

    def __call__(self, *arrays: Any) -> DeviceArray | tuple[DeviceArray, ...]:
        """Calls the only function, or ``main``."""
        infos = {name: function.info for name, function in self.functions.items()}
        return self.functions[choose_function(infos, None).name](*arrays)

    def put(self, array: Any) -> DeviceArray:
        """Copies an array to the devices: ``[devices, *shape]`` where there are several."""
        whole = np.asarray(array)
        element = element_type_of(whole.dtype)
        parts = [whole] if len(self.devices) == 1 else list(whole)
        if len(parts) != len(self.devices):
            raise ir.HeadraceError(
                f"expected one array for each of {len(self.devices)} devices, got {len(parts)}"
            )
        return DeviceArray(
            [_place(d, part, element, True) for d, part in zip(self.devices, parts, strict=True)],
            element,
        )

    def invoke(self, function: Any, views: list[Any], info: FunctionInfo) -> list[tuple[Any, Any]]:
        """The results, device by device, each with its device."""
        rt = _rt()
        arguments, results = rt.VmVariantList(len(views)), rt.VmVariantList(8)
        for view in views:
            arguments.push_ref(view)
        with self._lock:
            if self._context is None:
                raise ir.HeadraceError("the program was closed")
            try:
                self._context.invoke(function, arguments, results)
            except (RuntimeError, ValueError) as error:
                raise ir.HeadraceError(f"'{info.name}' failed: {_first_line(error)}") from None
        count = len(info.results)
        return [
            (self.devices[place // count], results.get_as_object(place, rt.HalBufferView))
            for place in range(len(results))
        ]

    def close(self) -> None:
        """Frees the program and its constants; waits for a call that is under way."""
        with self._lock:
            self._context = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _module(vmfb: bytes | str | Path) -> Any:
    """The VM module of a ``.vmfb``; HeadraceError if it is none or incomplete."""
    rt = _rt()
    try:
        if isinstance(vmfb, bytes):
            return rt.VmModule.copy_buffer(_instance(), vmfb)
        check_complete(vmfb)
        return rt.VmModule.mmap(_instance(), str(vmfb))
    except (RuntimeError, ValueError) as error:
        raise _load_error(error) from None


def _load_error(error: Exception) -> ir.HeadraceError:
    text = str(error)
    if "io_parameters" in text:
        return ir.HeadraceError(
            "the program has parameters outside of it: load(parameters='weights.irpa')"
        )
    return ir.HeadraceError(f"the program cannot be loaded: {_first_line(error)}")


def _function_infos(module: Any, name: str) -> dict[str, FunctionInfo]:
    names = [function for function in module.function_names if not function.startswith("__")]
    reflections = {each: module.lookup_function(each).reflection for each in names}
    return read_functions(reflections, name)


def _parameters_module(files: str | Path | Mapping[str, str | Path]) -> Any:
    """Parameters from ``.irpa``, ``.gguf`` or ``.safetensors`` files; scopes by name."""
    rt = _rt()
    scopes = files if isinstance(files, Mapping) else {"": files, "model": files}
    providers: list[Any] = []
    for scope, path in scopes.items():
        index = rt.ParameterIndex()
        try:
            index.load(str(path))
        except (RuntimeError, ValueError, OSError) as error:
            raise ir.HeadraceError(f"cannot read '{path}': {_first_line(error)}") from None
        providers.append(index.create_provider(scope=scope))
    return rt.create_io_parameters_module(_instance(), *providers)
