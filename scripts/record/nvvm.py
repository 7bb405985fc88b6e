"""Records the kernels of fixtures/nvvm/features.cu on an NVIDIA GPU, as nvcc compiles them, and runs other PTX of them there.

usage: python3 scripts/record/nvvm.py OUT_FOLDER [PTX...]

Writes OUT_FOLDER/features.json: the input, and the output of each kernel. Each PTX, which is a translation of the same source by
cumetal, runs with the same input; kernels with another output are printed.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import cuda
from examples import split_mix

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
THREADS = 64
SPECIAL = [0, 1, 2, 3, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x80000001, 0x3F800000,
           0xBF800000, 0x3F000000, 0x3EFFFFFF, 0x4B000000, 0x40200000, 0x8000, 0xFF, 0x80, 0x7F, 0xFFFF]


def words():
    draws = split_mix(23)
    return [SPECIAL[next(draws) % len(SPECIAL)] if next(draws) % 3 == 0 else next(draws) >> (32 + 16 * (next(draws) % 2)) for _ in range(4 * THREADS)]


def arguments(kernel, data):
    buffers = [('buffer', data), ('buffer', bytes(THREADS * 32))]
    if kernel != 'parameters':
        return buffers
    small = struct.pack('<IBxxx', 0x1234, 77)
    large = struct.pack('<9I', *range(100, 109)) + struct.pack('<IBxxx', 5, 6) + struct.pack('<4xd', 9.75)
    values = [struct.pack('<B', 200), struct.pack('<h', -300), struct.pack('<Q', 1 << 40), struct.pack('<f', 1.5), struct.pack('<d', 0.1), small, large]
    return [('value', value) for value in values] + buffers + [('value', b'\1'), ('value', struct.pack('<H', 0x3C01)), ('value', struct.pack('<II', 7, 9))]


def run(text, data):
    module = cuda.Module(text)
    out = {}
    for kernel in re.findall(r'\.entry (\w+)\(', text):
        results = module.launch(kernel, (2, 1, 1), (THREADS // 2, 1, 1), 0, arguments(kernel, data))
        out[kernel] = struct.unpack(f'<{THREADS * 8}I', results[max(results)])
    module.close()
    return out


def main():
    folder, *others = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    given = words()
    data = struct.pack(f'<{len(given)}I', *given)
    with tempfile.TemporaryDirectory() as temporary:
        ptx = os.path.join(temporary, 'features.ptx')
        subprocess.run(['nvcc', '-arch=sm_80', '-ptx', '-w', '-o', ptx, os.path.join(ROOT, 'fixtures/nvvm/features.cu')], check=True)
        expected = run(open(ptx).read(), data)
    with open(os.path.join(folder, 'features.json'), 'w') as file:
        lists = ',\n'.join(f'    "{kernel}": {json.dumps(list(out), separators=(",", ":"))}' for kernel, out in expected.items())
        file.write(f'{{\n  "device": {json.dumps(cuda.describe())},\n  "in": {json.dumps(given, separators=(",", ":"))},\n  "out": {{\n{lists}\n  }}\n}}\n')
    for path in others:
        found = run(open(path).read(), data)
        different = [kernel for kernel in expected if found.get(kernel) != expected[kernel]]
        print(f'{path}: {len(expected) - len(different)} of {len(expected)} kernels agree', *different)


main()
