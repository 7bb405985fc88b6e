"""Records what an NVIDIA GPU gives for its matrix instructions: fixtures/h200/matrix.json.

usage: python3 scripts/record/matrix.py OUT.json        on a machine with the GPU
       python3 scripts/record/matrix.py --check         which kernels ptxas refuses (no GPU needed)

Blocks of one warp, each a trial. A recording is code between a head and a tail, the pools of words that the head reads a, b and c from, the
number of trials, and the words that came out, in base64. In `registers` a thread has eight registers of each pool, and so many of d
come out; in `memory` a block has an image of 4 KiB in global memory and its copy in shared memory (`tile`), and an image comes out.
"""
import base64
import json
import random
import re
import struct
import sys

import common
import matrix_forms

rng = random.Random(9)
TRIALS = 4
IMAGE = 4096

HEAD = """.version 9.0
.target sm_90
.address_size 64

.visible .entry form(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)
{
  .reg .pred p;
  .reg .b32 lane, warp, i, n, row;
  .reg .b64 at, from, to, offset, tile64;
  .reg .bBITS a<8>, b<8>, c<8>, d<8>;
  .shared .align 128 .b8 tile[4096];
  mov.u32 lane, %tid.x;
  mov.u32 warp, %ctaid.x;
  mad.lo.u32 i, warp, 32, lane;
  mul.wide.u32 offset, i, EIGHT;
"""

TAIL = """  ret;
}
"""
FROM = """  ld.param.u64 from, [pa];
  mul.wide.u32 offset, warp, 4096;
  add.s64 from, from, offset;
"""
TO = """  ld.param.u64 to, [pd];
  mul.wide.u32 offset, warp, 4096;
  add.s64 to, to, offset;
"""
SHARE = """  mov.u32 row, tile;
  mad.lo.u32 row, lane, 4, row;
  mad.wide.u32 at, lane, 4, DIRECTION;
  mov.u32 n, 0;
copy:
  ld.SOURCE.u32 i, [FIRST];
  st.TARGET.u32 [SECOND], i;
  add.u32 row, row, 128;
  add.u64 at, at, 128;
  add.u32 n, n, 1;
  setp.lt.u32 p, n, 32;
  @p bra copy;
  bar.sync 0;
"""


def loaded(name, bits):
    """Eight registers of a pool."""
    lines = [f'  ld.param.u64 at, [p{name}];', '  add.s64 at, at, offset;']
    return '\n'.join(lines + [f'  ld.global.b{bits} {name}{r}, [at+{r * bits // 8}];' for r in range(8)]) + '\n'


def stored(bits):
    lines = ['  ld.param.u64 at, [pd];', '  add.s64 at, at, offset;']
    return '\n'.join(lines + [f'  st.global.b{bits} [at+{r * bits // 8}], d{r};' for r in range(8)]) + '\n'


def head(bits):
    return HEAD.replace('BITS', str(bits)).replace('EIGHT', str(bits))


def poisoned(bits):
    return ''.join(f'  mov.b{bits} d{r}, 0;\n' for r in range(8))


SHARED_IN = SHARE.replace('DIRECTION', 'from').replace('SOURCE', 'global').replace('FIRST', 'at').replace('TARGET', 'shared').replace('SECOND', 'row')
SHARED_OUT = SHARE.replace('copy', 'back').replace('DIRECTION', 'to').replace('SOURCE', 'shared').replace('FIRST', 'row').replace('TARGET', 'global').replace('SECOND', 'at')

# Head and tail by name.
FRAMES = {
    'registers': (head(32) + loaded('a', 32) + loaded('b', 32) + loaded('c', 32) + poisoned(32), stored(32) + TAIL),
    'doubles': (head(64) + loaded('a', 64) + loaded('b', 64) + loaded('c', 64) + poisoned(64), stored(64) + TAIL),
    'load': (head(32) + loaded('b', 32) + FROM + SHARED_IN + '  mul.wide.u32 offset, warp, 1024;\n  mad.wide.u32 offset, lane, 32, offset;\n' + poisoned(32), stored(32) + TAIL),
    'loadDoubles': (head(64) + FROM + SHARED_IN + '  mul.wide.u32 offset, warp, 2048;\n  mad.wide.u32 offset, lane, 64, offset;\n' + poisoned(64), stored(64) + TAIL),
    'store': (head(32) + loaded('b', 32) + loaded('c', 32) + FROM + TO + SHARED_IN, '  bar.sync 0;\n' + SHARED_OUT + TAIL),
    'storeGlobal': (head(32) + loaded('c', 32) + TO, TAIL),
    'storeDoubles': (head(64) + loaded('c', 64) + TO, TAIL),
}


# ── inputs ──

EDGES16 = [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c00]
EDGES32 = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000]
EDGES64 = [0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x3ff0000000000000]
EDGESBF = [word >> 16 for word in EDGES32]
EDGES8 = [0, 0x80, 1, 0x81, 7, 8, 0x7e, 0xfe, 0x7f, 0xff, 0x7c, 0xfc, 0x38, 0x3c]


def floats(exponent_bits, fraction_bits, edges):
    """Of every trial a number: near one, of any finite magnitude, edges among numbers near one, small whole numbers."""
    bias = (1 << exponent_bits - 1) - 1
    sign = lambda: rng.getrandbits(1) << exponent_bits + fraction_bits
    near = lambda: sign() | rng.choice(range(bias - 3, bias + 3)) << fraction_bits | rng.getrandbits(fraction_bits)
    whole = lambda: sign() | bias + (power := rng.choice(range(min(4, fraction_bits + 1)))) << fraction_bits | (rng.getrandbits(power) << fraction_bits - power if power else 0)
    return [
        near,
        lambda: sign() | rng.randrange((1 << exponent_bits) - 1) << fraction_bits | rng.getrandbits(fraction_bits),
        lambda: rng.choice(edges) if rng.random() < 0.06 else near(),
        whole,
    ]


def packed(trial, bits):
    return lambda: sum(trial() << at for at in range(0, 32, bits))


INTS = [
    lambda: rng.getrandbits(32),
    lambda: sum(rng.choice([0x80, 0x7f, 0xff, 0, 0x88, 0x77]) << at for at in range(0, 32, 8)),
    lambda: 0x80808080,
    lambda: rng.choice([0x7f7f7f7f, 0x77777777, 0xffffffff]),
]
SUMS = [
    lambda: rng.getrandbits(32),
    lambda: rng.choice([0x7fffffff, 0x80000000, 0x7fffff00, 0x80000100]),
    lambda: 0x7ffffff0 - rng.getrandbits(10),
    lambda: 0x80000010 + rng.getrandbits(12),
]
HALVES = floats(5, 10, EDGES16)


def pool(trials):
    """Eight words of every thread of every trial."""
    return [trials[t]() for t in range(TRIALS) for _ in range(32 * 8)]


FACTORS = {
    'int': INTS,
    'f16': [packed(trial, 16) for trial in HALVES],
    'bf16': [packed(trial, 16) for trial in floats(8, 7, EDGESBF)],
    'tf32': floats(8, 23, EDGES32),
    'e4m3': [packed(trial, 8) for trial in floats(4, 3, EDGES8)],
    'e5m2': [packed(trial, 8) for trial in floats(5, 2, EDGES8)],
    'f64': floats(11, 52, EDGES64),
}

POOLS = {
    # Those of b have a mark.
    **{name: pool(trials) for name, trials in FACTORS.items()},
    **{f"{name}'": pool(trials) for name, trials in FACTORS.items()},
    's32': pool(SUMS),
    'f32': pool(floats(8, 23, EDGES32)),
    'rows': [rng.choice(range(0, 4096, 16)) for _ in range(TRIALS * 32 * 8)],
    # For `stmatrix`: rows of 16 bytes that do not overlap.
    'apart': [16 * row for _ in range(TRIALS) for row in rng.sample(range(256), 32) for _ in range(8)],
}


def image(word_of):
    return [word_of(t, i) & 0xffffffff for t in range(TRIALS) for i in range(IMAGE // 4)]


def numbered(bits):
    """An image whose elements are their own numbers; where these do not fit, trials hold further bits of them."""
    def word(t, i):
        if bits >= 32:
            return i
        count = 32 // bits
        return sum(((i * count + j) >> t * bits & (1 << bits) - 1) << j * bits for j in range(count))
    return image(word)


IMAGES = {
    'numbered16': numbered(16),
    'numbered8': numbered(8),
    'numbered4': numbered(4),
    'numbered32': numbered(32),
    'numbered1': image(lambda t, i: sum((((i * 32 + j) >> t) & 1) << j for j in range(32))),
    'random': image(lambda t, i: rng.getrandbits(32)),
}
POOLS.update(IMAGES)


# ── forms: name, frame, code, pools of a, b and c, words of a thread (registers) or of a trial (memory) that come out ──


def regs(name, count):
    return '{' + ', '.join(f'{name}{r}' for r in range(count)) + '}'


def products():
    for form, (d, a, b, c), pools in matrix_forms.mma():
        yield form, frame_of(pools), [f'{form} {regs("d", d)}, {regs("a", a)}, {regs("b", b)}, {regs("c", c)};'], marked(pools), d
    for form, (d, a, b, c), pools in matrix_forms.wmma():
        # Modifiers of the sum are the same for all layouts.
        if pools[0] == 'twice' or ('.row.col.' not in form and ('satfinite' in form or re.search(r'\.r[nzmp]\.', form))):
            continue
        yield form, frame_of(pools), [f'{form} {regs("d", d)}, {regs("a", a)}, {regs("b", b)}, {regs("c", c)};'], marked(pools), d
    # Halves are held twice: what loads give, of matrices of numbers of every kind.
    for form, (d, a, b, c), pools in matrix_forms.wmma():
        if pools[0] != 'twice':
            continue
        al, bl, shape = form.split('.')[4:7]
        code = [
            f'wmma.load.a.sync.aligned.{al}.{shape}.global.f16 {regs("a", 8)}, [from];',
            f'wmma.load.b.sync.aligned.{bl}.{shape}.global.f16 {regs("b", 8)}, [to];',
            f'{form} {regs("d", d)}, {regs("a", 8)}, {regs("b", 8)}, {regs("c", c)};',
        ]
        yield form, 'halves', code, ('f16', "f16'", pools[2]), d


FRAMES['halves'] = (head(32) + loaded('c', 32) + '  ld.param.u64 from, [pa];\n  ld.param.u64 to, [pb];\n  mul.wide.u32 at, warp, 1024;\n  add.s64 from, from, at;\n  add.s64 to, to, at;\n' + poisoned(32), stored(32) + TAIL)


def marked(pools):
    """The pools of a, b and c: a and b do not have the same words."""
    a, b, c = pools
    return a, f"{b}'", c


def frame_of(pools):
    return 'doubles' if pools[0] == 'f64' else 'registers'


def moves():
    for num, count in [('x1', 1), ('x2', 2), ('x4', 4)]:
        for trans in ['', '.trans']:
            load = f'ldmatrix.sync.aligned.m8n8.{num}{trans}.shared.b16'
            yield load, 'load', ['mov.u32 row, tile;', 'add.u32 row, row, b0;', f'{load} {regs("d", count)}, [row];'], ('random', 'rows', 'rows'), count
            store = f'stmatrix.sync.aligned.m8n8.{num}{trans}.shared.b16'
            yield store, 'store', ['mov.u32 row, tile;', 'add.u32 row, row, b0;', f'{store} [row], {regs("c", count)};'], ('random', 'apart', 'int'), IMAGE // 4
    generic = 'ldmatrix.sync.aligned.m8n8.x4.b16'
    yield generic, 'load', ['mov.u64 tile64, tile;', 'cvta.shared.u64 tile64, tile64;', 'cvt.u64.u32 at, b0;', 'add.u64 tile64, tile64, at;', f'{generic} {regs("d", 4)}, [tile64];'], ('random', 'rows', 'rows'), 4
    yield 'movmatrix', 'registers', ['movmatrix.sync.aligned.m8n8.trans.b16 d0, a0;'], ('int', 'int', 'int'), 1


def fragments():
    for which, layout, shape, type_, count, rows, columns, bits in matrix_forms.fragments():
        narrow = columns if layout == 'row' else rows
        step = max(128 // bits, 4) if bits > 4 else 32 if bits == 4 else 128
        is_wide = bits == 64
        name = 'numbered32' if bits >= 32 else f'numbered{bits}'
        for stride in ['', f', {narrow + step}']:
            if stride and (type_ in ['bf16', 's8'] or layout == 'col'):
                continue
            load = f'wmma.load.{which}.sync.aligned.{layout}.{shape}.global.{type_}'
            yield f'{load}{stride}', 'loadDoubles' if is_wide else 'load', [f'{load} {regs("d", count)}, [from]{stride};'], (name, 'int', 'int'), count
            if which != 'c':
                continue
            store = f'wmma.store.d.sync.aligned.{layout}.{shape}.global.{type_}'
            extent = ((rows if layout == 'row' else columns) * (narrow + (step if stride else 0))) * bits // 32
            yield f'{store}{stride}', 'storeDoubles' if is_wide else 'storeGlobal', [f'{store} [to], {regs("c", count)}{stride};'], ('int', 'int', 'f64' if is_wide else 'int'), extent
    shared = 'wmma.load.a.sync.aligned.row.m16n16k16.shared.f16'
    yield shared, 'load', [f'{shared} {regs("d", 8)}, [tile+64], 24;'], ('random', 'int', 'int'), 8
    generic = 'wmma.load.b.sync.aligned.col.m16n16k16.f16'
    yield generic, 'load', [f'{generic} {regs("d", 8)}, [from+64], 24;'], ('random', 'int', 'int'), 8


FRAMES['storeSharedDoubles'] = (head(64) + loaded('c', 64) + FROM + TO + SHARED_IN, '  bar.sync 0;\n' + SHARED_OUT + TAIL)


def spaces():
    """Each shape and type once in shared memory, by either of its names; the layouts are those of `fragments`."""
    for space in ['shared', 'shared::cta']:
        seen = set()
        for which, layout, shape, type_, count, *_, bits in matrix_forms.fragments():
            if (which, shape, type_) in seen:
                continue
            seen.add((which, shape, type_))
            load = f'wmma.load.{which}.sync.aligned.{layout}.{shape}.{space}.{type_}'
            yield load, 'loadDoubles' if bits == 64 else 'load', [f'{load} {regs("d", count)}, [tile];'], ('random', 'int', 'int'), count
            if which != 'c':
                continue
            store = f'wmma.store.d.sync.aligned.{layout}.{shape}.{space}.{type_}'
            frame = 'storeSharedDoubles' if bits == 64 else 'store'
            yield store, frame, [f'{store} [tile], {regs("c", count)};'], ('random', 'int', 'f64' if bits == 64 else 'int'), IMAGE // 4
    load, store = [f'{name}.sync.aligned.m8n8.x1.shared::cta.b16' for name in ['ldmatrix', 'stmatrix']]
    yield load, 'load', ['mov.u32 row, tile;', 'add.u32 row, row, b0;', f'{load} {{d0}}, [row];'], ('random', 'rows', 'rows'), 1
    yield store, 'store', ['mov.u32 row, tile;', 'add.u32 row, row, b0;', f'{store} [row], {{c0}};'], ('random', 'apart', 'int'), IMAGE // 4


def forms():
    yield from moves()
    yield from fragments()
    yield from products()
    yield from spaces()


def text_of(frame, code):
    start, end = FRAMES[frame]
    return start + ''.join(f'  {line}\n' for line in code) + end


def trials_of(name, frame, pools):
    """How many trials are recorded: where only the layout is new, or an image tells all at once, fewer than of what computes."""
    if pools[0] in ('numbered16', 'numbered32') or frame.startswith('store') or (frame.startswith('load') and 'wmma' in name and 'shared' in name):
        return 1
    if pools[0] in ('numbered8', 'numbered4'):
        return 2 if pools[0] == 'numbered8' else 3
    return 1 if name.startswith('wmma.mma') and '.row.col.' not in name else TRIALS


def words_out(frame):
    """Words that a thread of a block, or the block, has room for."""
    return {'registers': 8, 'halves': 8, 'load': 8, 'doubles': 16, 'loadDoubles': 16}.get(frame)


def packed_words(words, wide):
    return struct.pack(f'<{len(words)}{"Q" if wide else "I"}', *words)


def run(frame, code, pools, trials):
    import cuda
    module = cuda.Module(text_of(frame, code))
    room = 32 * (words_out(frame) or IMAGE // 128)
    poison = [0xa5a5a5a5] * trials * room
    args = [('buffer', packed_words(POOLS[name], name.startswith('f64'))) for name in pools] + [('buffer', packed_words(poison, False))]
    after = module.launch('form', [trials, 1, 1], [32, 1, 1], 0, args)
    module.close()
    return after[3]


def kept(frame, out, count, trials):
    """Of what came out, the registers that were written, or the start of each image."""
    per_thread = words_out(frame)
    if per_thread is None:
        return b''.join(out[t * IMAGE:t * IMAGE + 4 * count] for t in range(trials))
    used = count * per_thread // 8
    return b''.join(out[4 * at * per_thread:4 * (at * per_thread + used)] for at in range(32 * trials))


def record(path):
    import cuda
    lines = []
    for name, frame, code, pools, count in forms():
        trials = trials_of(name, frame, pools)
        out = kept(frame, run(frame, code, pools, trials), count, trials)
        said = {'form': name, 'frame': frame, 'code': code, 'pools': pools, 'count': count, 'trials': trials}
        lines.append(json.dumps({**said, 'd': base64.b64encode(out).decode()}))
    text = lambda words, wide: base64.b64encode(packed_words(words, wide)).decode()
    shared = {'frames': FRAMES, 'pools': {name: text(words, name.startswith('f64')) for name, words in POOLS.items()}}
    start = json.dumps({'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/matrix.py', **shared})[1:-1]
    with open(path, 'w') as file:
        file.write('{' + start + ', "forms": [\n' + ',\n'.join(lines) + '\n]}\n')
    print(f'{len(lines)} forms')


if sys.argv[1:] == ['--check']:
    common.check((name, text_of(frame, code)) for name, frame, code, _, _ in forms())
elif __name__ == '__main__':
    record(sys.argv[1])
