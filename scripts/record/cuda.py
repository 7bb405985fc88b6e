"""The CUDA driver through ctypes: load PTX with the driver's own compiler, launch a kernel, read buffers back."""
import ctypes
import time

_cu = None
NOT_READY = 600


def _driver():
    """libcuda with a context on device 0, made on first use."""
    global _cu
    if _cu is None:
        _cu = ctypes.CDLL('libcuda.so.1')
        check(_cu.cuInit(0), 'cuInit')
        device, context = ctypes.c_int(), ctypes.c_void_p()
        check(_cu.cuDeviceGet(ctypes.byref(device), 0), 'cuDeviceGet')
        check(_cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), 'cuDevicePrimaryCtxRetain')
        check(_cu.cuCtxSetCurrent(context), 'cuCtxSetCurrent')
    return _cu


def check(code, what):
    if code:
        raise RuntimeError(f'{what}: CUDA error {code}')


def describe():
    """The GPU's name and the driver's version, as recordings name what recorded them."""
    cu = _driver()
    name, version = ctypes.create_string_buffer(128), ctypes.c_int()
    check(cu.cuDeviceGetName(name, 128, 0), 'cuDeviceGetName')
    check(cu.cuDriverGetVersion(ctypes.byref(version)), 'cuDriverGetVersion')
    return f'{name.value.decode()}, CUDA driver {version.value // 1000}.{version.value % 1000 // 10}'


def wait(limit):
    """Waits for the kernels that run. TimeoutError after so many seconds."""
    end = time.monotonic() + limit
    while _driver().cuStreamQuery(None) == NOT_READY:
        if time.monotonic() > end:
            raise TimeoutError


class Module:
    """A loaded PTX text. Raises RuntimeError where the driver refuses it."""

    def __init__(self, text, level=4):
        """`level`: how much the driver's compiler optimises, 0 to 4. RuntimeError as above."""
        self.handle = ctypes.c_void_p()
        # CU_JIT_OPTIMIZATION_LEVEL is option 7; values are handed over in place of pointers.
        options, values = (ctypes.c_int * 1)(7), (ctypes.c_void_p * 1)(level)
        check(_driver().cuModuleLoadDataEx(ctypes.byref(self.handle), text.encode() + b'\0', 1, options, values), 'cuModuleLoadDataEx')

    def launch(self, kernel, grid, block, shared, args, limit=None):
        """Runs a kernel. `args`: ('buffer', bytes) or ('value', bytes); gives the bytes of every buffer afterwards, by index.

        `limit`: seconds, after which TimeoutError is raised; the kernel goes on, and the process has to end.
        """
        cu, function = _driver(), ctypes.c_void_p()
        check(cu.cuModuleGetFunction(ctypes.byref(function), self.handle, kernel.encode()), f'kernel {kernel}')
        cells, buffers = [], {}
        for index, (kind, data) in enumerate(args):
            if kind == 'buffer':
                pointer = ctypes.c_uint64()
                check(cu.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(len(data))), 'cuMemAlloc')
                check(cu.cuMemcpyHtoD_v2(pointer, data, ctypes.c_size_t(len(data))), 'cuMemcpyHtoD')
                buffers[index] = (pointer, len(data))
                cells.append(pointer)
            else:
                cells.append(ctypes.create_string_buffer(data, len(data)))
        pointers = (ctypes.c_void_p * len(cells))(*[ctypes.addressof(cell) for cell in cells])
        check(cu.cuLaunchKernel(function, *grid, *block, shared, None, pointers, None), f'launch of {kernel}')
        if limit:
            wait(limit)
        check(cu.cuCtxSynchronize(), f'run of {kernel}')
        out = {}
        for index, (pointer, size) in buffers.items():
            data = ctypes.create_string_buffer(size)
            check(cu.cuMemcpyDtoH_v2(data, pointer, ctypes.c_size_t(size)), 'cuMemcpyDtoH')
            check(cu.cuMemFree_v2(pointer), 'cuMemFree')
            out[index] = data.raw
        return out

    def write(self, symbol, data):
        """Writes a variable of the module from its start on. RuntimeError where there is none of the name."""
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
        check(_driver().cuModuleGetGlobal_v2(ctypes.byref(pointer), ctypes.byref(size), self.handle, symbol.encode()), f'variable {symbol}')
        check(_driver().cuMemcpyHtoD_v2(pointer, data, ctypes.c_size_t(len(data))), 'cuMemcpyHtoD')

    def close(self):
        check(_driver().cuModuleUnload(self.handle), 'cuModuleUnload')
