"""Records what an NVIDIA GPU gives for atomics: fixtures/h200/atomic.json.

usage: python3 scripts/record/atomic.py OUT.json        on a machine with the GPU
       python3 scripts/record/atomic.py --check         which kernels ptxas refuses (no GPU needed)

Each thread has a cell of memory of its own: m before, an operand b (and c), the value d that the atomic gives, m after. A
recording holds the PTX that was run.
"""
import itertools
import json
import random
import struct
import sys

import cuda
from common import check, f32, f64

rng = random.Random(21)
BLOCK = 64


def edges(bits):
    top = 1 << bits - 1
    return [0, 1, 2, 9, top - 1, top, top + 1, 2 * top - 1]


# Zeros, the least and the greatest subnormal, the least normal, ordinary numbers, the greatest, infinities, a NaN.
FLOATS = {
    'f32': [0, 1 << 31, 1, 0x007FFFFF, 0x807FFFFF, 0x00800000, f32(1.0), f32(-1.5), f32(16777216.0), 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000],
    'f64': [0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, f64(1.0), f64(-1.5), f64(2.0**53), (0x7FF << 52) - 1, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48],
}


# Zeros, subnormals, ordinary numbers, the greatest and one infinity: no sum of them is a NaN, of which two devices may have different ones.
HALVES = {
    'f16': [0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0xBC01, 0x6400, 0x7BFF, 0x7C00],
    'bf16': [0, 0x8000, 1, 0x807F, 0x0080, 0x3F80, 0xBF81, 0x4B00, 0x7F7F, 0x7F80],
}


def width(type_):
    """Bits in memory."""
    return {'f16': 16, 'bf16': 16, 'f16x2': 32, 'bf16x2': 32}.get(type_) or int(type_[1:])


def inputs(type_, count):
    """Tuples of the memory's value and the operands."""
    if type_ in HALVES:
        return list(itertools.product(HALVES[type_], repeat=2))
    if type_.endswith('x2'):
        halves = HALVES[type_[:-2]]
        pairs = [(low, halves[(3 * i + 1) % len(halves)]) for i, low in enumerate(halves)]
        words = [high << 16 | low for low, high in pairs]
        return list(itertools.product(words, repeat=2))
    if type_ in FLOATS:
        return list(itertools.product(FLOATS[type_], repeat=2))
    bits = int(type_[1:])
    some = [tuple(rng.getrandbits(bits) >> rng.randrange(bits) for _ in range(count)) for _ in range(16)]
    if count == 3:
        return [(m, b, c) for m in [0, 1, (1 << bits) - 1] for b in [0, 1, (1 << bits) - 1] for c in [5, 1 << bits - 1]] + some
    return list(itertools.product(edges(bits), repeat=2)) + some


OPERATIONS = {
    'add': ['u32', 's32', 'u64', 'f32', 'f64'],
    'and': ['b32', 'b64'],
    'or': ['b32', 'b64'],
    'xor': ['b32', 'b64'],
    'exch': ['b32', 'b64'],
    'min': ['u32', 's32', 'u64', 's64'],
    'max': ['u32', 's32', 'u64', 's64'],
    'inc': ['u32'],
    'dec': ['u32'],
    'cas': ['b32', 'b64'],
}


def forms():
    for opcode, space in itertools.product(['atom', 'red'], ['global', 'shared', 'generic']):
        for op, types in OPERATIONS.items():
            if opcode == 'red' and op in ['exch', 'cas']:
                continue
            for type_ in types:
                yield opcode, space, op, type_
    # With an order, which changes no result of a thread that is alone with its cell.
    for space, (opcode, op, type_) in itertools.product(['global', 'shared', 'generic'], ORDERED + SMALL):
        yield opcode, space, op, type_


ORDERED = [
    ('atom.acq_rel.gpu', 'add', 'u32'),
    ('atom.acquire.cta', 'cas', 'b32'),
    ('atom.release.sys', 'exch', 'b64'),
    ('atom.acquire', 'add', 'f32'),
    ('atom.release.gpu', 'max', 's32'),
    ('atom.acq_rel.cta', 'inc', 'u32'),
    ('red.release.gpu', 'and', 'b32'),
    ('red.release.cta', 'add', 'u64'),
    ('red.relaxed.sys', 'xor', 'b32'),
]
SMALL = [(opcode, 'add.noftz', type_) for opcode in ['atom', 'red'] for type_ in ['f16', 'bf16', 'f16x2', 'bf16x2']]
SMALL += [('atom', 'cas', 'b16'), ('atom.acq_rel.gpu', 'add.noftz', 'f16x2'), ('red.release.cta', 'add.noftz', 'bf16')]


def kernel(opcode, space, op, type_):
    """In: m, b, c in cells of 8 bytes; out: m and d in their cells; shared memory holds the cells of a block."""
    bits = width(type_)
    where = '' if space == 'generic' else f'.{space}'
    operands = (['d'] if opcode.startswith('atom') else []) + ['[at]', 'b'] + (['c'] if op == 'cas' else [])
    lines = ['.version 9.0', '.target sm_90', '.address_size 64', '', '.visible .entry form(']
    lines += ['  .param .u64 pm, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u32 pn', ')', '{']
    lines += [f'  .reg .b{bits} m, b, c, d;', '  .reg .pred done;', '  .reg .b32 i, n, t, size, s;', '  .reg .b64 at, cell, offset, base;']
    lines += [f'  .shared .align 8 .b8 cells[{8 * BLOCK}];'] if space == 'shared' else []
    lines += ['  mov.u32 t, %tid.x;', '  mov.u32 i, %ctaid.x;', '  mov.u32 size, %ntid.x;', '  mad.lo.s32 i, i, size, t;']
    lines += ['  ld.param.u32 n, [pn];', '  setp.ge.u32 done, i, n;', '  @done bra end;', '  mul.wide.u32 offset, i, 8;']
    for name in 'bc':
        lines += [f'  ld.param.u64 cell, [p{name}];', '  add.s64 cell, cell, offset;', f'  ld.global.b{bits} {name}, [cell];']
    lines += [f'  mov.b{bits} d, 0;', '  ld.param.u64 cell, [pm];', '  add.s64 cell, cell, offset;']
    if space == 'shared':
        lines += ['  mul.wide.u32 at, t, 8;', '  mov.u64 base, cells;', '  add.s64 at, at, base;']
        lines += [f'  ld.global.b{bits} m, [cell];', f'  st.shared.b{bits} [at], m;']
    else:
        lines += ['  mov.b64 at, cell;']
    lines += [f'  {opcode}{where}.{op}.{type_} {", ".join(operands)};']
    if space == 'shared':
        lines += [f'  ld.shared.b{bits} m, [at];', f'  st.global.b{bits} [cell], m;']
    lines += ['  ld.param.u64 cell, [pd];', '  add.s64 cell, cell, offset;', f'  st.global.b{bits} [cell], d;', 'end:', '  ret;', '}', '']
    return '\n'.join(lines)


def run(text, rows):
    count = len(rows)
    columns = [list(column) for column in zip(*rows)]
    columns += [[0] * count] * (4 - len(columns))
    args = [('buffer', struct.pack(f'<{count}Q', *column)) for column in columns] + [('value', struct.pack('<I', count))]
    module = cuda.Module(text)
    after = module.launch('form', [(count + BLOCK - 1) // BLOCK, 1, 1], [BLOCK, 1, 1], 0, args)
    module.close()
    return [list(struct.unpack(f'<{count}Q', after[at])) for at in (0, 3)]


def record(path):
    lines, cases = [], 0
    for form in forms():
        text = kernel(*form)
        rows = inputs(form[3], 3 if form[2] == 'cas' else 2)
        m, d = run(text, rows)
        cases += len(rows)
        shown = [' '.join(format(word, 'x') for word in (*row, after, old)) for row, after, old in zip(rows, m, d)]
        where = '' if form[1] == 'generic' else f'.{form[1]}'
        name = f'{form[0]}{where}.{form[2]}.{form[3]}'
        lines.append(json.dumps({'form': name, 'type': form[3], 'ptx': text, 'cases': shown}))
    head = json.dumps({'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/atomic.py', 'block': BLOCK})[1:-1]
    with open(path, 'w') as file:
        file.write('{' + head + ', "forms": [\n' + ',\n'.join(lines) + '\n]}\n')
    print(f'{len(lines)} forms, {cases} cases')


if sys.argv[1:] == ['--check']:
    check((form, kernel(*form)) for form in forms())
else:
    record(sys.argv[1])
