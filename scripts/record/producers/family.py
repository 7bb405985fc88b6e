"""What the recordings of other compilers' kernels share: arguments in the words of docs/cli.md, launches, and the file of a family.

A family is `fixtures/producers/NAME.json.gz`: `producer` and `recordedOn` say what made it, and each of `kernels` has its PTX, its launch and the
contents of the buffers that the launch changed.
"""
import base64
import gzip
import importlib.util
import json
import os
import re
import struct

MASK = (1 << 64) - 1

FORMATS = {'u8': 'B', 'i8': 'b', 'u16': 'H', 'i16': 'h', 'f16': 'e', 'bf16': 'H', 'u32': 'I', 'i32': 'i', 'f32': 'f', 'u64': 'Q', 'i64': 'q', 'f64': 'd'}


def _driver():
    # By its path: NVIDIA's package has the name `cuda`, too.
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cuda.py')
    spec = importlib.util.spec_from_file_location('driver_of_recordings', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _driver()


def split_mix(seed):
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def size_of(dtype):
    return struct.calcsize(FORMATS[dtype])


def bf16(value):
    bits = struct.unpack('<I', struct.pack('<f', value))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def random_bytes(dtype, count, seed):
    draws, size = split_mix(seed), size_of(dtype)
    if dtype == 'f64':
        return struct.pack(f'<{count}d', *[(next(draws) >> 11) * 2.0**-53 for _ in range(count)])
    if dtype == 'bf16':
        return struct.pack(f'<{count}H', *[bf16((next(draws) >> 40) * 2.0**-24) for _ in range(count)])
    if dtype[0] == 'f':
        return struct.pack(f'<{count}{FORMATS[dtype]}', *[(next(draws) >> 40) * 2.0**-24 for _ in range(count)])
    return b''.join((next(draws) & (1 << 8 * size) - 1).to_bytes(size, 'little') for _ in range(count))


def packed(dtype, values):
    if dtype == 'bf16':
        return struct.pack(f'<{len(values)}H', *[bf16(value) for value in values])
    return struct.pack(f'<{len(values)}{FORMATS[dtype]}', *values)


def argument(name, spec):
    """An argument of the recording, with its bytes before the launch under `before`."""
    if spec == 'null':
        return {'name': name, 'null': True, 'before': bytes(8)}
    dtype, kind, rest = re.fullmatch(r'(\w+)([:=])(.*)', spec).groups()
    if kind == '=':
        value = float(rest) if dtype[0] in 'fb' else int(rest, 0)
        return {'name': name, 'type': dtype, 'value': value, 'before': packed(dtype, [value])}
    words, _, start = rest.partition('=')
    count = 1
    for word in words.split('x'):
        count *= int(word)
    out = {'name': name, 'buffer': dtype, 'count': count}
    call = re.fullmatch(r'(rand|fill|list)\((.*)\)', start)
    if start in ('', 'zeros'):
        return {**out, 'init': 'zeros', 'before': bytes(count * size_of(dtype))}
    if start == 'iota':
        limit = 1 << 8 * size_of(dtype) if dtype[0] == 'u' else count
        return {**out, 'init': 'iota', 'before': packed(dtype, [value % limit for value in range(count)])}
    if call[1] == 'rand':
        return {**out, 'init': {'rand': int(call[2])}, 'before': random_bytes(dtype, count, int(call[2]))}
    values = [float(word) if dtype[0] in 'fb' else int(word) for word in call[2].split(',')]
    return data_argument(name, dtype, packed(dtype, values * count if call[1] == 'fill' else values))


def data_argument(name, dtype, data):
    return {'name': name, 'buffer': dtype, 'count': len(data) // size_of(dtype), 'init': {'data': base64.b64encode(data).decode()}, 'before': data}


def launched(name, ptx, entry, grid, block, shared, arguments, **more):
    """The record of a launch on this machine's GPU. Two runs have to agree."""
    given = [('buffer' if 'buffer' in a else 'value', a['before']) for a in arguments]
    # The driver does not optimise what is for a debugger.
    module = driver.Module(ptx, 0 if re.search(r'^\.target .*\bdebug\b', ptx, re.M) else 4)
    after, again = (module.launch(entry, grid, block, shared, given, 20) for _ in range(2))
    module.close()
    args = []
    for index, a in enumerate(arguments):
        kept = {key: value for key, value in a.items() if key != 'before'}
        if index in after and after[index] != a['before']:
            kept['after'] = base64.b64encode(after[index]).decode()
            if again[index] != after[index]:
                kept['unsteady'] = True
        args.append(kept)
    return {'name': name, 'ptx': ptx, 'kernel': entry, 'grid': list(grid), 'block': list(block), 'sharedBytes': shared, 'args': args, **more}


def write_family(path, producer, kernels):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    family = {'producer': producer, 'recordedOn': driver.describe(), 'kernels': kernels}
    with open(path, 'wb') as file:
        file.write(gzip.compress(json.dumps(family, separators=(',', ':')).encode(), 9, mtime=0))
