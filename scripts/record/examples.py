"""Records every example on an NVIDIA GPU: fixtures/examples/NAME/launch.json with a .npy of every buffer after the launch.

usage: python3 scripts/record/examples.py OUT_FOLDER [NAME...]

The launch is the one in the example's `//! cumetal:` lines; the arguments are made here, by the rules of docs/cli.md, sharing
no code with cumetal. A second run with the zero-filled buffers poisoned must give the same results, so that nothing recorded
depends on what was not written.
"""
import glob
import json
import os
import re
import shlex
import struct
import sys

import cuda

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
FORMATS = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'f16': 'e', 'u32': 'I', 'i32': 'i', 'f32': 'f', 'u64': 'Q', 'i64': 'q', 'f64': 'd'}
NPY = {'u8': '|u1', 'i8': '|i1', 'u16': '<u2', 'i16': '<i2', 'f16': '<f2', 'u32': '<u4', 'i32': '<i4', 'f32': '<f4', 'u64': '<u8', 'i64': '<i8', 'f64': '<f8'}
MASK = (1 << 64) - 1


def split_mix(seed):
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def pack(dtype, values):
    return struct.pack(f'<{len(values)}{FORMATS[dtype]}', *values)


def random_bytes(dtype, count, seed):
    draws, size = split_mix(seed), struct.calcsize(FORMATS[dtype])
    if dtype == 'f64':
        return pack(dtype, [(next(draws) >> 11) * 2.0**-53 for _ in range(count)])
    if dtype[0] == 'f':
        return pack(dtype, [(next(draws) >> 40) * 2.0**-24 for _ in range(count)])
    return b''.join((next(draws) & (1 << 8 * size) - 1).to_bytes(size, 'little') for _ in range(count))


def number(dtype, word):
    return float(word) if dtype[0] == 'f' else int(word, 0)


def read_argument(spec):
    """(argument of launch.json without its name, bytes before the launch)"""
    if spec.startswith('bytes@'):
        # A launch file names files of its own folder, so `record` copies this one there.
        path = spec[6:]
        return {'bytes': path}, open(os.path.join(ROOT, 'examples', path), 'rb').read()
    dtype, kind, rest = re.fullmatch(r'(\w+)([:=])(.*)', spec).groups()
    if kind == '=':
        value = number(dtype, rest)
        return {'type': dtype, 'value': value}, pack(dtype, [value])
    words, _, start = rest.partition('=')
    shape = [int(word) for word in words.split('x')]
    count = 1
    for n in shape:
        count *= n
    out = {'buffer': dtype, 'shape': shape}
    if start in ('', 'zeros'):
        return out, pack(dtype, [0] * count)
    call = re.fullmatch(r'(fill|rand)\((.*)\)', start)
    if call and call[1] == 'fill':
        value = number(dtype, call[2])
        return {**out, 'init': {'fill': value}}, pack(dtype, [value] * count)
    if call:
        return {**out, 'init': {'rand': int(call[2])}}, random_bytes(dtype, count, int(call[2]))
    return {**out, 'init': start}, pack(dtype, list(range(count)) if start == 'iota' else [1] * count)


def dim3(word):
    parts = [int(part) for part in word.split(',')]
    return parts + [1] * (3 - len(parts))


def read_launch(text):
    words = shlex.split(' '.join(line.split('cumetal:', 1)[1] for line in text.split('\n') if line.startswith('//! cumetal:')))
    options = {}
    for name, value in zip(words[::2], words[1::2]):
        options.setdefault(name, []).append(value)
    return options


def parameter_names(source, kernel):
    """The names in the parameter list of the .cu source."""
    listed = re.search(rf'__global__ void {kernel}\(([^)]*)\)', source)[1]
    return [part.split()[-1].lstrip('*') for part in listed.split(',')]


def write_npy(path, dtype, shape, data):
    text = f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), }}"
    length = (10 + len(text) + 1 + 63) // 64 * 64 - 10
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', length) + text.ljust(length - 1).encode() + b'\n' + data)


def layout(launch):
    """JSON with a line for each key and each argument."""
    lines = [f'  {json.dumps(key)}: {json.dumps(value)}' for key, value in launch.items() if key != 'args']
    args = ',\n'.join(f'    {json.dumps(arg)}' for arg in launch['args'])
    return '{\n' + ',\n'.join(lines) + ',\n  "args": [\n' + args + '\n  ]\n}\n'


def record(name, folder, recorded_on):
    text = open(os.path.join(ROOT, 'examples', f'{name}.ptx')).read()
    source = open(os.path.join(ROOT, 'examples', f'{name}.cu')).read()
    kernel = re.search(r'\.entry (\w+)', text)[1]
    options = read_launch(text)
    grid, block, shared = dim3(options['--grid'][0]), dim3(options['--block'][0]), int(options.get('--shared', ['0'])[0])
    entries, starts = zip(*[read_argument(spec) for spec in options['--arg']])
    kinds = ['buffer' if 'buffer' in entry else 'value' for entry in entries]
    module = cuda.Module(text)
    after = module.launch(kernel, grid, block, shared, list(zip(kinds, starts)))
    poisoned = [b'\xcd' * len(data) if kind == 'buffer' and 'init' not in entry else data for entry, kind, data in zip(entries, kinds, starts)]
    again = module.launch(kernel, grid, block, shared, list(zip(kinds, poisoned)))
    module.close()
    if after != again:
        print(f'{name}: results depend on what the buffers held before')
        return False
    os.makedirs(folder, exist_ok=True)
    names, args = parameter_names(source, kernel), []
    for index, entry in enumerate(entries):
        if 'bytes' in entry:
            with open(os.path.join(folder, entry['bytes']), 'wb') as copy:
                copy.write(starts[index])
        arg = {'name': names[index], **entry}
        if index in after:
            file = f'{names[index]}.npy'
            if after[index] != starts[index]:
                write_npy(os.path.join(folder, file), entry['buffer'], entry['shape'], after[index])
                arg['expect'] = {'file': file, 'recordedOn': recorded_on}
        args.append(arg)
    launch = {'module': f'../../../examples/{name}.ptx', 'kernel': kernel, 'grid': grid, 'block': block}
    if shared:
        launch['sharedBytes'] = shared
    with open(os.path.join(folder, 'launch.json'), 'w') as file:
        file.write(layout({**launch, 'args': args}))
    print(f'{name}: {sum(1 for arg in args if "expect" in arg)} buffers recorded')
    return True


def main():
    out, names = sys.argv[1], sys.argv[2:] or sorted(os.path.basename(path)[:-4] for path in glob.glob(os.path.join(ROOT, 'examples', '*.ptx')))
    recorded_on = cuda.describe()
    done = [record(name, os.path.join(out, name), recorded_on) for name in names]
    sys.exit(0 if all(done) else 1)


if __name__ == '__main__':
    main()
