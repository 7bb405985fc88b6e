"""Times pairs of PTX that `bench -- math --prepare FOLDER` makes, on a GPU: `math.py FOLDER OUT.json`.

A pair is the PTX of nvcc (`NAME.1.ptx`) and what its metallib becomes (`NAME.2.ptx`), both with the kernel `m_NAME`. The words that both write are compared,
and the times are the best of several launches in turns, by events. ptxas compiles all first, by the processors that there are.
"""
import concurrent.futures
import ctypes
import json
import os
import random
import subprocess
import sys

threads, count, rounds = 256, 1 << 20, 40


class Driver:
    """libcuda with a context on the first device."""

    def __init__(self):
        self.cu = ctypes.CDLL('libcuda.so.1')
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self('cuInit', 0)
        self('cuDeviceGet', ctypes.byref(device), 0)
        self('cuDevicePrimaryCtxRetain', ctypes.byref(context), device)
        self('cuCtxSetCurrent', context)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self('cuEventCreate', ctypes.byref(event), 0)

    def __call__(self, name, *args):
        code = getattr(self.cu, name)(*args)
        if code:
            raise RuntimeError(f'{name}: CUDA error {code}')

    def buffer(self, words):
        pointer, data = ctypes.c_uint64(), b''.join(word.to_bytes(4, 'little') for word in words)
        self('cuMemAlloc_v2', ctypes.byref(pointer), ctypes.c_size_t(len(data)))
        self('cuMemcpyHtoD_v2', pointer, data, ctypes.c_size_t(len(data)))
        return pointer

    def words(self, pointer):
        data = (ctypes.c_uint32 * count)()
        self('cuMemcpyDtoH_v2', data, pointer, ctypes.c_size_t(4 * count))
        return bytes(data)

    def function(self, path, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(path, 'rb') as file:
            self('cuModuleLoadData', ctypes.byref(module), file.read())
        self('cuModuleGetFunction', ctypes.byref(function), module, name.encode())
        return function

    def time(self, function, args):
        """Milliseconds of a launch."""
        cells = (ctypes.c_void_p * len(args))(*[ctypes.addressof(each) for each in args])
        self('cuEventRecord', self.events[0], None)
        self('cuLaunchKernel', function, count // threads, 1, 1, threads, 1, 1, 0, None, cells, None)
        self('cuEventRecord', self.events[1], None)
        self('cuEventSynchronize', self.events[1])
        spent = ctypes.c_float()
        self('cuEventElapsedTime_v2' if hasattr(self.cu, 'cuEventElapsedTime_v2') else 'cuEventElapsedTime', ctypes.byref(spent), *self.events)
        return spent.value


def assemble(path):
    done = subprocess.run(['ptxas', '-arch=sm_90', path, '-o', path.replace('.ptx', '.cubin')], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.splitlines()[0]


def main(folder, out):
    with open(os.path.join(folder, 'names.txt')) as file:
        names = file.read().split()
    paths = [os.path.join(folder, f'{name}.{side}.ptx') for name in names for side in (1, 2)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        refused = {path: why for path, why in zip(paths, pool.map(assemble, paths)) if why}
    driver, random_words = Driver(), random.Random(1)
    a, b = [driver.buffer(memoryview(random_words.randbytes(4 * count)).cast('I').tolist()) for _ in range(2)]
    results, n = [driver.buffer([0] * count) for _ in range(2)], ctypes.c_int(count)
    rows = []
    for name in names:
        both = [os.path.join(folder, f'{name}.{side}.cubin') for side in (1, 2)]
        if any(path.replace('.cubin', '.ptx') in refused for path in both):
            rows.append({'name': name, 'refused': True})
            continue
        functions = [driver.function(path, f'm_{name}') for path in both]
        best = [1e9, 1e9]
        for _ in range(rounds):
            for side in (0, 1):
                best[side] = min(best[side], driver.time(functions[side], [a, b, results[side], n]))
        first, second = (driver.words(each) for each in results)
        different = 0 if first == second else sum(x != y for x, y in zip(memoryview(first).cast('I'), memoryview(second).cast('I')))
        rows.append({'name': name, 'times': best, 'ratio': best[1] / best[0], 'different': different})
    with open(out, 'w') as file:
        json.dump({'rows': rows, 'refused': refused}, file)
    timed = [row for row in rows if 'ratio' in row]
    product = 1.0
    for row in timed:
        product *= row['ratio'] ** (1 / len(timed))
    slow = sorted((row for row in timed if row['ratio'] > 1.25), key=lambda row: -row['ratio'])
    print(f'{len(timed)} functions, geometric mean {product:.3f}, {len(slow)} above 1.25:', ' '.join(f"{row['name']} {row['ratio']:.2f}" for row in slow))
    print('different:', ' '.join(f"{row['name']} {row['different']}" for row in timed if row['different']), 'refused:', len(refused))


main(*sys.argv[1:])
