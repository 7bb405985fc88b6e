"""Compiles the kernels of fixtures/triton/kernels.py with Triton and records each on an NVIDIA GPU.

usage: python3 scripts/record/triton_kernels.py OUT_FOLDER

Writes NAME.ptx, NAME.launch.json and the expected .npy files to OUT_FOLDER/triton.tar.gz. The PTX is that for sm_80, which Triton writes
without wgmma; OUT_FOLDER/sm_90.tar.gz has that for sm_90.
"""
import importlib.util
import json
import os
import re
import shutil
import struct
import sys
import tarfile
import tempfile

import cuda
from examples import pack, split_mix

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
SIZES = {'f16': 2, 'bf16': 2, 'f32': 4, 'i8': 1, 'i32': 4}
TRITON = {'f16': 'fp16', 'bf16': 'bf16', 'f32': 'fp32', 'i8': 'i8', 'i32': 'i32'}
NPY = {'f16': '<f2', 'bf16': '<u2', 'f32': '<f4', 'i8': '|i1', 'i32': '<i4'}


def load_kernels():
    # PTX has the path of its source.
    path = os.path.join(tempfile.gettempdir(), 'kernels.py')
    shutil.copy(os.path.join(ROOT, 'fixtures/triton/kernels.py'), path)
    spec = importlib.util.spec_from_file_location('kernels', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def buffer(dtype, *shape, init='zeros', out=False, **tolerance):
    return {'buffer': dtype, 'shape': list(shape), 'init': init, 'out': out, 'tolerance': tolerance}


def rand(seed):
    return {'rand': seed}


def launches(tl):
    """name -> (kernel, grid, arguments by parameter, constants, options)"""
    def matmul(dtype, out, m, n, k, precision='ieee', **tolerance):
        arguments = {'a': buffer(dtype, m, k, init=rand(1)), 'b': buffer(dtype, k, n, init=rand(2)), 'c': buffer(out, m, n, out=True, **tolerance),
                     'm': ('i32', m), 'n': ('i32', n), 'k': ('i32', k)}
        constants = {'BM': 32, 'BN': 32, 'BK': 32, 'OUT': {'f32': tl.float32, 'f16': tl.float16, 'i32': tl.int32}[out], 'PRECISION': precision}
        return 'matmul', (-(-m // 32), -(-n // 32), 1), arguments, constants, {'num_stages': 3}

    def attention(causal):
        arguments = {name: buffer('f16', 2, 100, 64, init=rand(seed)) for seed, name in enumerate('qkv', 1)}
        arguments |= {'out': buffer('f16', 2, 100, 64, out=True, ulp=1), 'length': ('i32', 100), 'scale': ('f32', 0.18033688)}
        return 'attention', (2, 2, 1), arguments, {'D': 64, 'BM': 64, 'BN': 32, 'CAUSAL': causal}, {}

    # Tolerances are for functions that `.approx` computes, and for sums of products, whose order a GPU does not state.
    return {
        'add': ('add', (4, 1, 1), {'x': buffer('f32', 1000, init=rand(1)), 'y': buffer('f32', 1000, init=rand(2)), 'out': buffer('f32', 1000, out=True), 'n': ('i32', 1000)}, {'BLOCK': 256}, {}),
        'swiglu': ('swiglu', (3, 1, 1), {'gate': buffer('f16', 700, init=rand(1)), 'up': buffer('f16', 700, init=rand(2)), 'out': buffer('f16', 700, out=True), 'n': ('i32', 700)}, {'BLOCK': 256}, {}),
        'softmax': ('softmax', (5, 1, 1), {'x': buffer('f32', 5, 200, init=rand(3)), 'out': buffer('f32', 5, 200, out=True, ulp=4), 'stride': ('i32', 200), 'columns': ('i32', 200)}, {'BLOCK': 256}, {}),
        'layer_norm': ('layer_norm', (4, 1, 1), {'x': buffer('f32', 4, 300, init=rand(1)), 'weight': buffer('f32', 300, init=rand(2)), 'bias': buffer('f32', 300, init=rand(3)), 'out': buffer('f32', 4, 300, out=True, atol=1e-6, rtol=1e-6), 'mean_out': buffer('f32', 4, out=True, ulp=2), 'rstd_out': buffer('f32', 4, out=True, ulp=4), 'columns': ('i32', 300), 'eps': ('f32', 1e-5)}, {'BLOCK': 512}, {}),
        'rms_norm': ('rms_norm', (3, 1, 1), {'x': buffer('bf16', 3, 500, init=rand(1)), 'weight': buffer('bf16', 500, init=rand(2)), 'out': buffer('bf16', 3, 500, out=True), 'columns': ('i32', 500), 'eps': ('f32', 1e-6)}, {'BLOCK': 128}, {}),
        'matmul_f16': matmul('f16', 'f16', 70, 50, 90),
        'matmul_bf16': matmul('bf16', 'f32', 64, 64, 64, rtol=1e-6),
        'matmul_tf32': matmul('f32', 'f32', 64, 48, 96, 'tf32', rtol=2e-6),
        'matmul_f32': matmul('f32', 'f32', 40, 40, 70),
        'matmul_i8': matmul('i8', 'i32', 64, 64, 128),
        'attention': attention(False),
        'attention_causal': attention(True),
        'cross_entropy': ('cross_entropy', (4, 1, 1), {'logits': buffer('f32', 4, 150, init=rand(1)), 'targets': buffer('i32', 4, init='iota'), 'losses': buffer('f32', 4, out=True), 'gradient': buffer('f32', 4, 150, out=True, ulp=4), 'columns': ('i32', 150)}, {'BLOCK': 256}, {}),
        'dropout': ('dropout', (4, 1, 1), {'x': buffer('f32', 1000, init=rand(1)), 'out': buffer('f32', 1000, out=True, ulp=2), 'n': ('i32', 1000), 'p': ('f32', 0.25), 'seed': ('i32', 1234)}, {'BLOCK': 256}, {}),
        'cumsum': ('cumsum', (3, 1, 1), {'x': buffer('i32', 3, 250, init=rand(1)), 'out': buffer('i32', 3, 250, out=True), 'columns': ('i32', 250)}, {'BLOCK': 256}, {}),
        'cumsum_f32': ('cumsum', (3, 1, 1), {'x': buffer('f32', 3, 250, init=rand(1)), 'out': buffer('f32', 3, 250, out=True), 'columns': ('i32', 250)}, {'BLOCK': 256}, {}),
        'sort': ('sort', (4, 1, 1), {'x': buffer('i32', 512, init=rand(1)), 'out': buffer('i32', 512, out=True)}, {'BLOCK': 128}, {}),
        'argmax': ('argmax', (6, 1, 1), {'x': buffer('f32', 6, 100, init=rand(1)), 'out': buffer('i32', 6, out=True), 'best': buffer('f32', 6, out=True), 'columns': ('i32', 100)}, {'BLOCK': 128}, {}),
        'histogram': ('histogram', (4, 1, 1), {'x': buffer('i32', 1000, init='iota'), 'out': buffer('i32', 64, out=True), 'n': ('i32', 1000)}, {'BINS': 64, 'BLOCK': 256}, {}),
        'column_sums': ('column_sums', (2, 2, 1), {'x': buffer('i32', 50, 100, init=rand(1)), 'out': buffer('i32', 100, out=True), 'rows': ('i32', 50), 'columns': ('i32', 100)}, {'BM': 32, 'BN': 64}, {}),
        'quantize': ('quantize', (3, 1, 1), {'x': buffer('f32', 3, 200, init=rand(1)), 'out': buffer('i8', 3, 200, out=True), 'scales': buffer('f32', 3, out=True), 'columns': ('i32', 200)}, {'BLOCK': 256}, {}),
        'rope': ('rope', (5, 1, 1), {'x': buffer('f32', 5, 4, 64, init=rand(1)), 'cosines': buffer('f32', 5, 32, init=rand(2)), 'sines': buffer('f32', 5, 32, init=rand(3)), 'out': buffer('f32', 5, 4, 64, out=True)}, {'HEADS': 4, 'HALF': 32}, {}),
        'convolution': ('convolution', (20, 1, 1), {'x': buffer('f32', 20, 50, init=rand(1)), 'kernel': buffer('f32', 5, 5, init=rand(2)), 'out': buffer('f32', 20, 50, out=True), 'height': ('i32', 20), 'width': ('i32', 50)}, {'R': 2, 'BLOCK': 64}, {}),
        'embedding': ('embedding', (8, 1, 1), {'table': buffer('f32', 10, 100, init=rand(1)), 'tokens': buffer('i32', 8, init='iota'), 'out': buffer('f32', 8, 100, out=True), 'columns': ('i32', 100)}, {'BLOCK': 128}, {}),
        'adamw': ('adamw', (2, 1, 1), {'p': buffer('f32', 400, init=rand(1), out=True, ulp=2), 'g': buffer('f32', 400, init=rand(2)), 'm': buffer('f32', 400, init=rand(3), out=True), 'v': buffer('f32', 400, init=rand(4), out=True), 'n': ('i32', 400), 'lr': ('f32', 1e-3), 'beta1': ('f32', 0.9), 'beta2': ('f32', 0.999), 'eps': ('f32', 1e-8), 'decay': ('f32', 0.01), 'step': ('f32', 3.0)}, {'BLOCK': 256}, {}),
    }


def bf16(value):
    bits = struct.unpack('<I', struct.pack('<f', value))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def contents(dtype, count, init):
    """The initial bytes of a buffer, by the rules of docs/cli.md."""
    if init == 'zeros':
        return bytes(SIZES[dtype] * count)
    if init == 'iota':
        return pack(dtype, list(range(count)))
    draws = split_mix(init['rand'])
    if dtype[0] == 'i':
        return b''.join((next(draws) & (1 << 8 * SIZES[dtype]) - 1).to_bytes(SIZES[dtype], 'little') for _ in range(count))
    values = [(next(draws) >> 40) * 2.0**-24 for _ in range(count)]
    return b''.join(struct.pack('<H', bf16(value)) for value in values) if dtype == 'bf16' else pack(dtype, values)


def npy(dtype, shape, data):
    header = f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data


def compiled(function, arguments, constants, options, sm):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature = {name: f"*{TRITON[a['buffer']]}" if isinstance(a, dict) else TRITON[a[0]] for name, a in arguments.items()}
    signature |= {name: 'constexpr' for name in constants}
    ordered = {name: signature[name] for name in function.arg_names}
    # As the launcher specializes: pointers and sizes that 16 divides.
    names = function.arg_names
    attrs = {(names.index(name),): [['tt.divisibility', 16]] for name, a in arguments.items() if isinstance(a, dict) or (a[0] == 'i32' and a[1] % 16 == 0)}
    source = ASTSource(function, ordered, {(names.index(name),): value for name, value in constants.items()}, attrs)
    return triton.compile(source, target=GPUTarget('cuda', sm, 32), options={'num_warps': 4, **options})


def record(name, grid, arguments, kernel, where):
    metadata = json.loads(json.dumps(kernel.metadata._asdict(), default=str))
    # The path of Triton's own library says nothing.
    ptx, args, buffers = re.sub(r'"/[^"]*/(site-packages/)', r'"\1', kernel.asm['ptx']), [], []
    for parameter, a in arguments.items():
        if isinstance(a, dict):
            count = 1
            for size in a['shape']:
                count *= size
            buffers.append((parameter, a))
            args.append(('buffer', contents(a['buffer'], count, a['init'])))
        else:
            args.append(('value', struct.pack('<f' if a[0] == 'f32' else '<i', a[1])))
    declared = ptx[ptx.index('.entry'):ptx.index(')', ptx.index('.entry'))].count('.param')
    scratch = declared - len(args)
    module = cuda.Module(ptx)
    block = (32 * metadata['num_warps'], 1, 1)
    after = module.launch(metadata['name'], grid, block, metadata['shared'], args + [('value', bytes(8))] * scratch)
    files, out = {}, []
    for parameter, a in arguments.items():
        if not isinstance(a, dict):
            out.append({'name': parameter, 'type': a[0], 'value': a[1]})
            continue
        entry = {'name': parameter, 'buffer': a['buffer'], 'shape': a['shape'], 'init': a['init']}
        if a['out']:
            file = f'{name}.{parameter}.npy'
            files[file] = npy(a['buffer'], a['shape'], after[list(arguments).index(parameter)])
            entry['expect'] = {'file': file, **a['tolerance'], 'recordedOn': where}
        out.append(entry)
    out += [{'name': f'scratch{i}', 'null': True} for i in range(scratch)]
    launch = {'module': f'{name}.ptx', 'kernel': metadata['name'], 'grid': list(grid), 'block': list(block), 'sharedBytes': metadata['shared'], 'args': out}
    files |= {f'{name}.ptx': ptx.encode(), f'{name}.launch.json': json.dumps(launch, indent=1).encode()}
    return files


def main(folder):
    import io
    import triton
    import triton.language as tl
    kernels, where = load_kernels(), f'{cuda.describe()}, Triton {triton.__version__}'
    with tarfile.open(os.path.join(folder, 'triton.tar.gz'), 'w:gz') as tar, tarfile.open(os.path.join(folder, 'sm_90.tar.gz'), 'w:gz') as hopper:
        for name, (function, grid, arguments, constants, options) in launches(tl).items():
            try:
                files = record(name, grid, arguments, compiled(getattr(kernels, function), arguments, constants, options, 80), where)
                newer = {f'{name}.ptx': compiled(getattr(kernels, function), arguments, constants, options, 90).asm['ptx'].encode()}
                print(name, {file: len(data) for file, data in files.items()})
            except Exception as error:
                print(name, 'FAILED', repr(error)[:1500])
                continue
            for archive, found in ((tar, files), (hopper, newer)):
                for file, data in found.items():
                    info = tarfile.TarInfo(file)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))


main(sys.argv[1])
