"""Records the kernels that XLA makes of fixtures/producers/xla_functions.py, on an NVIDIA GPU.

usage: python3 scripts/record/producers/xla_kernels.py OUT_FOLDER

XLA writes no PTX, so that a program in the place of ptxas keeps what it is given. Where a function is one kernel, its parameters are the
function's arguments and results, and its launch is recorded if they are in the same order; of the others the PTX is. Writes OUT_FOLDER/xla.json.gz.
"""
import base64
import glob
import importlib.util
import os
import re
import shutil
import stat
import sys

DUMP, KEPT, TOOLS = '/tmp/xla-dump', '/tmp/xla-ptx', '/tmp/xla-tools'
KEEP = '''#!/bin/sh
for word; do [ -f "$word" ] && grep -q '^\\.version' "$word" && cp "$word" %s/$$.ptx; done
exec %s "$@"
'''


def put_keeper():
    for folder in (DUMP, KEPT, os.path.join(TOOLS, 'bin')):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    path = os.path.join(TOOLS, 'bin', 'ptxas')
    with open(path, 'w') as file:
        file.write(KEEP % (KEPT, shutil.which('ptxas')))
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    os.environ['PATH'] = f'{TOOLS}/bin:' + os.environ['PATH']
    # Without the libraries XLA calls the program.
    libraries = '--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false'
    os.environ['XLA_FLAGS'] = f'--xla_dump_to={DUMP} --xla_dump_hlo_as_text --xla_gpu_cuda_data_dir={TOOLS} {libraries}'
    os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'


put_keeper()
import jax
import jax.numpy as jnp
import numpy

from family import argument, launched, random_bytes, write_family

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
DTYPES = {'float32': 'f32', 'float16': 'f16', 'bfloat16': 'bf16', 'int32': 'i32', 'uint32': 'u32', 'float64': 'f64'}


def spec_of(array, seed=None):
    return f"{DTYPES[str(array.dtype)]}:{max(array.size, 1)}" + (f'=rand({seed})' if seed else '')


def main(folder):
    spec = importlib.util.spec_from_file_location('xla_functions', os.path.join(ROOT, 'fixtures/producers/xla_functions.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recorded = []
    for function, makers in module.FUNCTIONS.items():
        name = function.__name__
        try:
            given = []
            for seed, (_, shape, dtype) in enumerate(makers, 1):
                data = random_bytes(DTYPES[dtype], int(numpy.prod(shape)), seed)
                given.append(jnp.asarray(numpy.frombuffer(data, dtype=dtype).reshape(shape)))
            for place in (KEPT, DUMP):
                shutil.rmtree(place)
                os.makedirs(place)
            results = jax.tree.leaves(jax.jit(function).lower(*given).compile()(*given))
            texts = [open(path).read() for path in sorted(glob.glob(f'{KEPT}/*.ptx'))]
            thunks = open(glob.glob(f'{DUMP}/*jit_{name}*thunk_sequence.txt')[0]).read()
            kernels = re.findall(r'(\S+) grid: \[(\d+), (\d+), (\d+)\] threads: \[(\d+), (\d+), (\d+)\]\s+shared_memory: (\d+)', thunks)
            print(name, [len(text) for text in texts], thunks.count('\n'), [kernel[0] for kernel in kernels], flush=True)
            entries = {entry: text for text in texts for entry in re.findall(r'\.entry (\w+)', text)}
            for entry, *numbers in kernels:
                grid, block, shared = list(map(int, numbers[:3])), list(map(int, numbers[3:6])), int(numbers[6])
                text = entries[entry]
                count = text[text.index(f'.entry {entry}'):].split(')')[0].count('.param')
                if len(kernels) > 1 or count != len(given) + len(results):
                    recorded.append({'name': f'{name}.{entry}', 'ptx': text, 'kernel': entry})
                    continue
                arguments = [argument(f'x{i}', spec_of(x, i + 1)) for i, x in enumerate(given)] + [argument(f'out{i}', spec_of(x)) for i, x in enumerate(results)]
                record = launched(f'{name}.{entry}', text, entry, grid, block, shared, arguments)
                after = [base64.b64decode(a.get('after', '')) for a in record['args'][len(given):]]
                if any(data != numpy.asarray(x).tobytes() for data, x in zip(after, results)):
                    record = {'name': f'{name}.{entry}', 'ptx': text, 'kernel': entry}
                recorded.append(record)
                print('  launched', [a['name'] for a in record.get('args', []) if 'after' in a], flush=True)
        except Exception as error:
            print(name, 'FAILED', repr(error)[:400], flush=True)
    write_family(os.path.join(folder, 'xla.json.gz'), f'JAX {jax.__version__}', recorded)


main(sys.argv[1])
