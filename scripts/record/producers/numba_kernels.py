"""Compiles fixtures/producers/numba_kernels.py with Numba for sm_80 and records each kernel on an NVIDIA GPU.

usage: python3 scripts/record/producers/numba_kernels.py OUT_FOLDER

Writes OUT_FOLDER/numba.json.gz. An array is seven or more parameters: two pointers of the owner, the number and the size of its elements, the
data, the shape and the strides.
"""
import importlib.util
import os
import re
import shutil
import sys
import tempfile

import numpy

# Older versions of Numba want a name that NumPy has dropped.
numpy.row_stack = getattr(numpy, 'row_stack', numpy.vstack)
import numba_cuda
from numba import cuda, types

from family import argument, launched, size_of, write_family

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
ELEMENTS = {'f32': types.float32, 'f64': types.float64, 'i32': types.int32}
# name -> (function, options, grid, block, arguments)
LAUNCHES = {
    'saxpy': ('saxpy', {}, (2, 1, 1), (128, 1, 1), {'a': 'f32=2.5', 'x': 'f32:200=rand(1)', 'y': 'f32:200=rand(2)', 'out': 'f32:200'}),
    'saxpy-lines': ('saxpy', {'lineinfo': True}, (2, 1, 1), (128, 1, 1), {'a': 'f32=2.5', 'x': 'f32:200=rand(1)', 'y': 'f32:200=rand(2)', 'out': 'f32:200'}),
    'matmul': ('matmul', {}, (3, 2, 1), (8, 8, 1), {'a': 'f32:16x32=rand(1)', 'b': 'f32:32x24=rand(2)', 'c': 'f32:16x24'}),
    'special': ('special', {}, (1, 1, 1), (64, 1, 1), {'x': 'f64:60=rand(1)', 'out': 'f64:60'}),
    'special-fast': ('special', {'fastmath': True}, (1, 1, 1), (64, 1, 1), {'x': 'f32:60=rand(1)', 'out': 'f32:60'}),
    'histogram': ('histogram', {}, (3, 1, 1), (128, 1, 1), {'x': 'f32:300=rand(1)', 'bins': 'i32:16', 'lost': 'i32:1'}),
    'complexes': ('complexes', {}, (1, 1, 1), (128, 1, 1), {'x': 'f32:100=rand(1)', 'out': 'f32:100'}),
    'quotients-debug': ('quotients', {'debug': True, 'opt': False}, (1, 1, 1), (128, 1, 1), {'x': 'i32:100=rand(1)', 'out': 'i32:100'}),
}


def shape_of(spec):
    return [int(word) for word in re.match(r'\w+:([\dx]+)', spec)[1].split('x')]


def type_of(spec):
    dtype = ELEMENTS[re.match(r'\w+', spec)[0]]
    return types.Array(dtype, len(shape_of(spec)), 'C') if ':' in spec else dtype


def parameters_of(name, spec):
    if ':' not in spec:
        return [argument(name, spec)]
    shape, size = shape_of(spec), size_of(re.match(r'\w+', spec)[0])
    strides = [size]
    for count in shape[:0:-1]:
        strides.insert(0, strides[0] * count)
    count = strides[0] * shape[0] // size
    whole = [argument(f'{name}.owner', 'null'), argument(f'{name}.parent', 'null'), argument(f'{name}.count', f'i64={count}'), argument(f'{name}.size', f'i64={size}'), argument(name, spec)]
    return whole + [argument(f'{name}.shape{i}', f'i64={n}') for i, n in enumerate(shape)] + [argument(f'{name}.stride{i}', f'i64={n}') for i, n in enumerate(strides)]


def load_kernels():
    path = os.path.join(tempfile.gettempdir(), 'numba_kernels.py')
    shutil.copy(os.path.join(ROOT, 'fixtures/producers/numba_kernels.py'), path)
    spec = importlib.util.spec_from_file_location('kernels', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder):
    kernels, recorded = load_kernels(), []
    for name, (function, options, grid, block, arguments) in LAUNCHES.items():
        try:
            signature = types.void(*[type_of(spec) for spec in arguments.values()])
            ptx, _ = cuda.compile_ptx(getattr(kernels, function), signature, cc=(8, 0), **options)
            entry = re.search(r'\.entry (\w+)', ptx)[1]
            if options.get('debug'):
                # Its pointers pass through the thread's memory, so that no parameter is one.
                recorded.append({'name': name, 'ptx': ptx, 'kernel': entry})
                continue
            given = [parameter for each, spec in arguments.items() for parameter in parameters_of(each, spec)]
            recorded.append(launched(name, ptx, entry, grid, block, 0, given))
            print(name, len(ptx), [a['name'] for a in recorded[-1]['args'] if 'after' in a], flush=True)
        except Exception as error:
            print(name, 'FAILED', repr(error)[:600], flush=True)
    write_family(os.path.join(folder, 'numba.json.gz'), f'numba-cuda {numba_cuda.__version__}', recorded)


main(sys.argv[1])
