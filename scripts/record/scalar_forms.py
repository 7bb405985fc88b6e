"""The scalar forms to record, each with its operand widths and the inputs to try. Pure data: no GPU needed.

A form is (instruction with its operands, result kind, operand kinds, input tuples); a kind is a PTX register type, `pred` for
results only. Inputs are bit patterns.
"""
import itertools
import random

from common import f16, f32, f64

rng = random.Random(20)
INTS = ['s8', 'u8', 's16', 'u16', 's32', 'u32', 's64', 'u64']
WIDE_INTS = INTS[2:]
ROUND = ['rn', 'rz', 'rm', 'rp']
INTEGER_ROUND = ['rni', 'rzi', 'rmi', 'rpi']
COMPARE_INT = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
COMPARE_FLOAT = COMPARE_INT + ['equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan']


def width(type_):
    return 16 if type_ == 'bf16' else int(type_[1:])


def register(type_):
    """The register that holds a type: there are none of 8 bits."""
    return f'b{max(16, width(type_))}'


# Integers

def edges(bits):
    top = 1 << bits - 1
    return [0, 1, 2, 7, 10, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 2 * top - 7]


def draws(bits, count):
    """Random integers of every magnitude."""
    return [rng.getrandbits(bits) >> rng.randrange(bits) for _ in range(count)]


def integer_pairs(bits):
    return list(itertools.product(edges(bits), repeat=2)) + list(zip(draws(bits, 24), draws(bits, 24)))


def integer_triples(bits, wide):
    some = [0, 1, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]
    last = [0, 1, (1 << wide - 1) - 1, 1 << wide - 1, (1 << wide) - 1]
    return list(itertools.product(some, some, last)) + list(zip(draws(bits, 16), draws(bits, 16), draws(wide, 16)))


def integer_forms():
    for type_ in WIDE_INTS:
        bits, reg = width(type_), register(type_)
        pairs = integer_pairs(bits)
        for op in ['add', 'sub', 'mul.lo', 'mul.hi', 'div', 'rem', 'min', 'max']:
            yield f'{op}.{type_} d, a, b', reg, [reg, reg], pairs
        for op in ['mad.lo', 'mad.hi']:
            yield f'{op}.{type_} d, a, b, c', reg, [reg] * 3, integer_triples(bits, bits)
        if bits < 64:
            wide = f'b{2 * bits}'
            yield f'mul.wide.{type_} d, a, b', wide, [reg, reg], pairs
            yield f'mad.wide.{type_} d, a, b, c', wide, [reg, reg, wide], integer_triples(bits, 2 * bits)
        if type_[0] == 's':
            for op in ['abs', 'neg']:
                yield f'{op}.{type_} d, a', reg, [reg], [(a,) for a in edges(bits) + draws(bits, 8)]
        for op in COMPARE_INT:
            yield f'setp.{op}.{type_} d, a, b', 'pred', [reg, reg], pairs[::2]
    for op in ['add.sat', 'sub.sat']:
        yield f'{op}.s32 d, a, b', 'b32', ['b32', 'b32'], integer_pairs(32)
    yield 'mad.hi.sat.s32 d, a, b, c', 'b32', ['b32'] * 3, integer_triples(32, 32)
    for compare, to, of in [('lt', 'u32', 's32'), ('lt', 's32', 'u32'), ('ge', 'f32', 's32'), ('lo', 'u32', 'u32'), ('hs', 'u32', 'u64')]:
        yield f'set.{compare}.{to}.{of} d, a, b', 'b32', [register(of)] * 2, integer_pairs(width(of))[::3]


def logic_forms():
    amounts = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x10001, 0x80000000, 0xFFFFFFFF]
    for bits in [16, 32, 64]:
        reg = f'b{bits}'
        values = [1, 1 << bits - 1, (1 << bits) - 1, (1 << bits - 1) - 1] + draws(bits, 2)
        for type_ in [f'shl.b{bits}', f'shr.b{bits}', f'shr.u{bits}', f'shr.s{bits}']:
            yield f'{type_} d, a, b', reg, [reg, 'b32'], list(itertools.product(values, amounts))
        for op in ['and', 'or', 'xor']:
            yield f'{op}.{reg} d, a, b', reg, [reg, reg], list(zip(draws(bits, 12), draws(bits, 12)))
        for op in ['not', 'cnot']:
            yield f'{op}.{reg} d, a', reg, [reg], [(a,) for a in edges(bits)]


# Floats

SPECIAL_32 = [
    0, 1 << 31, f32(1), f32(-1), f32(1.5), f32(3), 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F800001, 0xFFA00000,
    0x7FFFFFFF, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800001, 0x3F7FFFFF, 0x3EAAAAAB,
]
FEW_32 = [0, 1 << 31, f32(1), f32(-3), 0x7F800000, 0xFF800000, 0x7FC12345, 0x80000001, 0x007FFFFF, 0x7F7FFFFF, 0x3F800001]
SPECIAL_64 = [
    0, 1 << 63, f64(1), f64(-1), f64(3), 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8000000012345, (0x7FF << 52) + 1,
    1, (1 << 63) + 1, (1 << 52) - 1, 1 << 52, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF,
]
SPECIAL_16 = [
    0, 0x8000, 0x3C00, 0xBC00, 0x4200, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7D01, 0x7FFF, 1, 0x8001, 0x03FF, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x3C01, 0x3BFF,
]
SPECIALS = {'f16': SPECIAL_16, 'f32': SPECIAL_32, 'f64': SPECIAL_64, 'bf16': sorted({x >> 16 for x in SPECIAL_32})}
FEW = {'f16': SPECIAL_16[::2], 'f32': FEW_32, 'f64': SPECIAL_64[::2]}
MANTISSA = {'f16': 10, 'f32': 23, 'f64': 52, 'bf16': 7}


def float_draws(type_, count):
    """Half of them any bits, half of them near 1 so that sums round in interesting places."""
    bits, mantissa = width(type_), MANTISSA[type_]
    bias = (1 << bits - 2 - mantissa) - 1

    def near():
        return rng.getrandbits(1) << bits - 1 | bias + rng.randrange(-4, 5) << mantissa | rng.getrandbits(mantissa)

    return [near() if i % 2 else rng.getrandbits(bits) for i in range(count)]


def float_pairs(type_, values, count=40):
    return list(itertools.product(values, repeat=2)) + list(zip(float_draws(type_, count), float_draws(type_, count)))


def midpoint_triples():
    """a*b lies halfway between two floats, c tips it either way or not at all; then cancellations and subnormal results."""
    tips = [0, 1 << 31, f32(2.0**-100), f32(-(2.0**-100)), 1, 0x80000001]
    out = []
    while len(out) < 60:
        a, b = rng.randrange(1 << 11, 1 << 12) | 1, rng.randrange(1 << 12, 1 << 13) | 1
        if (a * b).bit_length() == 25:
            out += [(f32(a), f32(b), tip) for tip in tips]
            out += [(f32(-a), f32(b), tip) for tip in tips[2:4]]
    for _ in range(30):
        a, b = rng.randrange(1 << 23, 1 << 24), rng.randrange(1 << 23, 1 << 24)
        out.append((f32(a), f32(b), f32(-float(a * b))))
        out.append((f32(a * 2.0**-90), f32(b * 2.0**-90), rng.getrandbits(23)))
        out.append((f32(a * 2.0**-98), f32(b * 2.0**-98), f32(-(2.0**-149))))
    return out


def float_triples(type_, count=60):
    few = FEW[type_][:9]
    return list(itertools.product(few, few, few[::2])) + list(zip(*[float_draws(type_, count) for _ in range(3)]))


def float_forms():
    for type_ in ['f32', 'f64']:
        reg = f'b{width(type_)}'
        for mode in ROUND:
            values = SPECIALS[type_] if mode == 'rn' and type_ == 'f32' else FEW[type_]
            for op in ['add', 'sub', 'mul', 'div']:
                yield f'{op}.{mode}.{type_} d, a, b', reg, [reg, reg], float_pairs(type_, values)
            triples = float_triples(type_) + (midpoint_triples() if type_ == 'f32' else [])
            yield f'fma.{mode}.{type_} d, a, b, c', reg, [reg] * 3, triples if mode == 'rn' else triples[::4]
            for op in ['sqrt', 'rcp']:
                yield f'{op}.{mode}.{type_} d, a', reg, [reg], [(a,) for a in SPECIALS[type_] + float_draws(type_, 60)]
        for op in ['min', 'max']:
            yield f'{op}.{type_} d, a, b', reg, [reg, reg], float_pairs(type_, SPECIALS[type_], 16)
        for op in ['abs', 'neg']:
            yield f'{op}.{type_} d, a', reg, [reg], [(a,) for a in SPECIALS[type_]]
        for op in COMPARE_FLOAT:
            yield f'setp.{op}.{type_} d, a, b', 'pred', [reg, reg], float_pairs(type_, FEW[type_], 8)
    pairs = float_pairs('f32', FEW_32, 16)
    for op in ['add.sat', 'mul.sat', 'sub.sat', 'add.ftz', 'sub.ftz', 'mul.ftz', 'div.rn.ftz', 'min.ftz', 'max.ftz', 'min.NaN', 'max.NaN']:
        yield f'{op}.f32 d, a, b', 'b32', ['b32', 'b32'], pairs
    for op in ['fma.rn.sat', 'fma.rn.ftz']:
        yield f'{op}.f32 d, a, b, c', 'b32', ['b32'] * 3, float_triples('f32', 16)
    for op in ['sqrt.rn.ftz', 'rcp.rn.ftz', 'abs.ftz', 'neg.ftz']:
        yield f'{op}.f32 d, a', 'b32', ['b32'], [(a,) for a in SPECIAL_32]
    for op in ['lt', 'eq', 'neu']:
        yield f'setp.{op}.ftz.f32 d, a, b', 'pred', ['b32', 'b32'], pairs
    for compare, to in [('lt', 'u32'), ('lt', 's32'), ('geu', 'f32')]:
        yield f'set.{compare}.{to}.f32 d, a, b', 'b32', ['b32', 'b32'], pairs
    half = float_pairs('f16', SPECIAL_16, 24)
    for op in ['add', 'sub', 'mul', 'min', 'max']:
        yield f'{op}.f16 d, a, b', 'b16', ['b16', 'b16'], half
    yield 'fma.rn.f16 d, a, b, c', 'b16', ['b16'] * 3, float_triples('f16')
    for op in ['abs', 'neg']:
        yield f'{op}.f16 d, a', 'b16', ['b16'], [(a,) for a in SPECIAL_16]
    for op in COMPARE_FLOAT:
        yield f'setp.{op}.f16 d, a, b', 'pred', ['b16', 'b16'], float_pairs('f16', FEW['f16'], 8)


# Conversions

EDGES = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
TO_INTEGER = [0.25, 0.5, 0.75, 1.5, 2.5, 3.5, 127.5, 128.5, 255.5, 32767.5, 65535.5, 8388607.5, 1e10, 1e30]


def float_to_integer_inputs(type_):
    """Halves, the ends of every integer type and their neighbours, what no integer can be; both signs."""
    encode = {'f16': f16, 'f32': f32, 'f64': f64}[type_]
    largest = 65504 if type_ == 'f16' else 2.0**127
    near = [encode(x) for x in EDGES if x <= largest]
    positive = [encode(x) for x in TO_INTEGER if x <= largest] + [n + step for n in near for step in (-1, 0, 1)] + SPECIALS[type_]
    return [(a,) for a in dict.fromkeys(positive + [a ^ 1 << width(type_) - 1 for a in positive])]


def narrowing_inputs(of, to):
    """Specials, random values, and values on and beside the midpoints of the narrower type."""
    drop = MANTISSA[of] - MANTISSA[to]
    exponent = {'f16': 15, 'bf16': 127, 'f32': 127, 'f64': 1023}
    bits, out = width(of), SPECIALS[of] + float_draws(of, 24)
    least = exponent[of] - exponent[to]
    for e in [least + 1, least + exponent[to], least + 2 * exponent[to], least - 1, least - MANTISSA[to], least - MANTISSA[to] - 1]:
        for kept in [0, 1, (1 << MANTISSA[to]) - 1]:
            base = e << MANTISSA[of] | kept << drop
            if 0 < e < 2 * exponent[of] + 1:
                out += [base, base | 1, base | 1 << drop - 1, base | (1 << drop - 1) + 1, base | (1 << drop - 1) - 1, base | (1 << drop) - 1]
    return [(a,) for a in dict.fromkeys(out + [a ^ 1 << bits - 1 for a in out[-40:]])]


def convert_forms():
    for of in INTS:
        inputs = [(a,) for a in edges(width(of)) + draws(width(of), 10)]
        narrow = [(a & (1 << width(register(of))) - 1,) for a, in inputs]
        noisy = narrow + [(a | rng.getrandbits(8) << 8,) for a, in narrow] if width(of) == 8 else narrow
        for to in INTS:
            for sat in ['', '.sat']:
                yield f'cvt{sat}.{to}.{of} d, a', f'b{max(32, width(to))}' if width(to) == 8 else register(to), [register(of)], noisy
        for to in ['f16', 'f32', 'f64']:
            for mode in ROUND:
                yield f'cvt.{mode}.{to}.{of} d, a', f'b{width(to)}', [register(of)], noisy + [(a,) for a in draws(width(of), 12)]
    for of in ['f16', 'f32', 'f64']:
        inputs = float_to_integer_inputs(of)
        for to in INTS:
            for mode in INTEGER_ROUND:
                yield f'cvt.{mode}.{to}.{of} d, a', f'b{max(32, width(to))}' if width(to) == 8 else register(to), [f'b{width(of)}'], inputs
        for mode in INTEGER_ROUND:
            yield f'cvt.{mode}.{of}.{of} d, a', f'b{width(of)}', [f'b{width(of)}'], inputs
    yield 'cvt.rzi.sat.s32.f32 d, a', 'b32', ['b32'], float_to_integer_inputs('f32')
    yield 'cvt.rzi.ftz.s32.f32 d, a', 'b32', ['b32'], float_to_integer_inputs('f32')
    for of, to in [('f32', 'f16'), ('f64', 'f16'), ('f64', 'f32'), ('f32', 'bf16')]:
        for mode in ROUND:
            yield f'cvt.{mode}.{to}.{of} d, a', f'b{width(to)}', [f'b{width(of)}'], narrowing_inputs(of, to)
    for of, to in [('f16', 'f32'), ('f16', 'f64'), ('f32', 'f64'), ('bf16', 'f32')]:
        yield f'cvt.{to}.{of} d, a', f'b{width(to)}', [f'b{width(of)}'], [(a,) for a in SPECIALS[of] + float_draws(of, 12)]
    for form, to, of in [('cvt.sat.f32.f32', 'b32', 'f32'), ('cvt.rn.sat.f16.f32', 'b16', 'f32'), ('cvt.rn.sat.f32.f64', 'b32', 'f64'), ('cvt.rn.relu.bf16.f32', 'b16', 'f32'), ('cvt.ftz.f32.f32', 'b32', 'f32')]:
        yield f'{form} d, a', to, [f'b{width(of)}'], [(a,) for a in SPECIALS[of] + float_draws(of, 12)]


# Bit fields, permutations, small products

def field_inputs(bits, extra):
    places = [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000008]
    values = [0, 1 << bits - 1, (1 << bits) - 1, *draws(bits, 2)]
    return [(*v, p, n) for v in zip(values, *[draws(bits, 5) for _ in range(extra)]) for p in places for n in places[::2]]


def bit_forms():
    words = [(a,) for a in edges(32) + draws(32, 20)]
    doubles = [(a,) for a in edges(64) + draws(64, 20)]
    for op in ['popc', 'clz', 'brev']:
        yield f'{op}.b32 d, a', 'b32', ['b32'], words
        yield f'{op}.b64 d, a', 'b64' if op == 'brev' else 'b32', ['b64'], doubles
    for type_ in ['u32', 's32', 'u64', 's64']:
        inputs, reg = (words, 'b32') if width(type_) == 32 else (doubles, 'b64')
        for op in ['bfind', 'bfind.shiftamt']:
            yield f'{op}.{type_} d, a', 'b32', [reg], inputs
        yield f'bfe.{type_} d, a, b, c', reg, [reg, 'b32', 'b32'], field_inputs(width(type_), 0)
    for reg in ['b32', 'b64']:
        yield f'bfi.{reg} d, a, b, c, e', reg, [reg, reg, 'b32', 'b32'], field_inputs(width(reg), 1)
    counts = [0, 1, 5, 31, 32, 33, 64, 0xFFFFFFFF]
    for mode in ['clamp', 'wrap']:
        for type_ in ['u32', 's32']:
            yield f'szext.{mode}.{type_} d, a, b', 'b32', ['b32', 'b32'], list(itertools.product(edges(32), counts))
        yield f'bmsk.{mode}.b32 d, a, b', 'b32', ['b32', 'b32'], list(itertools.product(counts, counts))
        for direction in 'lr':
            some = list(itertools.product(draws(32, 3), draws(32, 3), counts + [4, 16]))
            yield f'shf.{direction}.{mode}.b32 d, a, b, c', 'b32', ['b32'] * 3, some
    for type_ in WIDE_INTS:
        yield f'sad.{type_} d, a, b, c', register(type_), [register(type_)] * 3, integer_triples(width(type_), width(type_))
    for type_ in ['u32', 's32']:
        for mode in ['lo', 'hi']:
            yield f'mul24.{mode}.{type_} d, a, b', 'b32', ['b32', 'b32'], integer_pairs(32) + integer_pairs(24)
            yield f'mad24.{mode}.{type_} d, a, b, c', 'b32', ['b32'] * 3, integer_triples(24, 32) + integer_triples(32, 32)
        for other in ['u32', 's32']:
            yield f'dp4a.{type_}.{other} d, a, b, c', 'b32', ['b32'] * 3, integer_triples(32, 32)
            for mode in ['lo', 'hi']:
                yield f'dp2a.{mode}.{type_}.{other} d, a, b, c', 'b32', ['b32'] * 3, integer_triples(32, 32)
    yield 'mad24.hi.sat.s32 d, a, b, c', 'b32', ['b32'] * 3, integer_triples(24, 32) + integer_triples(32, 32)
    for table in [0, 0xFF, 0x96, 0xE8, 0xCA, 0x80, 0x1F, 0xAA, 0x35]:
        yield f'lop3.b32 d, a, b, c, {table:#x}', 'b32', ['b32'] * 3, [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), *zip(*[draws(32, 8) for _ in range(3)])]
    selectors = [0x3210, 0x7654, 0x0123, 0x89AB, 0xCDEF, 0xFEDC, 0xFFFF3210, *draws(16, 8)]
    yield 'prmt.b32 d, a, b, c', 'b32', ['b32'] * 3, list(itertools.product([0x33221100, 0xFF807F01], [0x77665544, 0x80FF017F], selectors))
    for mode in ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16']:
        yield f'prmt.b32.{mode} d, a, b, c', 'b32', ['b32'] * 3, [(0x33221100, 0x77665544, c) for c in [0, 1, 2, 3, 4, 0xFFFFFFFF]]
    yield 'slct.b32.s32 d, a, b, c', 'b32', ['b32'] * 3, [(1, 2, c) for c in edges(32)]
    for ftz in ['', '.ftz']:
        yield f'slct{ftz}.b32.f32 d, a, b, c', 'b32', ['b32'] * 3, [(1, 2, c) for c in SPECIAL_32]
    for type_ in ['f32', 'f64']:
        reg = f'b{width(type_)}'
        yield f'copysign.{type_} d, a, b', reg, [reg, reg], float_pairs(type_, FEW[type_], 4)
        for op in ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal']:
            yield f'testp.{op}.{type_} d, a', 'pred', [reg], [(a,) for a in SPECIALS[type_]]


def approximate_forms():
    near = [f32(sign * x) for x in [2.0**k for k in range(-30, 8)] + [0.1, 0.7, 1.3, 2.9, 3.14159, 6.28, 10.5, 88.7, 100.0, 126.5] for sign in (1, -1)]
    inputs = [(a,) for a in dict.fromkeys(SPECIAL_32 + near + float_draws('f32', 80))]
    for op in ['ex2', 'lg2', 'sin', 'cos', 'rsqrt', 'sqrt', 'rcp']:
        for ftz in ['', '.ftz']:
            yield f'{op}.approx{ftz}.f32 d, a', 'b32', ['b32'], inputs
    yield 'tanh.approx.f32 d, a', 'b32', ['b32'], inputs
    for op in ['div.approx', 'div.full', 'div.full.ftz']:
        yield f'{op}.f32 d, a, b', 'b32', ['b32', 'b32'], float_pairs('f32', FEW_32, 40)


def estimate_forms():
    inputs = [(a,) for a in dict.fromkeys(SPECIALS['f64'] + float_draws('f64', 120))]
    for op in ['rcp.approx.ftz', 'rsqrt.approx.ftz', 'rsqrt.approx']:
        yield f'{op}.f64 d, a', 'b64', ['b64'], inputs


# Directed rounding with the other modifiers

def directed_forms():
    """Results beside the least normal float, which `.ftz` takes for subnormal or not, and beside 0 and 1."""
    small = [(0x00FFFFFF, f32(0.5)), (0x00800001, f32(1) - 1), (0x00800000, f32(1) - 1), (0x00800001, f32(1) - 2), (0x1F800001, 0x207FFFFF), (0x20000000, 0x1FFFFFFF)]
    # Products just below 2^-126, nearer than half a step of its precision.
    small += [(0x203CEB3F, 0x1FAD7337), (0x20786330, 0x1F83EC45), (0x200AF438, 0x1FEBD1AF), (0x20426506, 0x1FA89078)]
    small += [(a | 1 << 31, b) for a, b in small]
    sums = [(0x00800001, 0x80000001), (0x00800000, 0x80000001), (0x00800001, 0x80800000), (0x00C00000, 0x80800001), (f32(1), 1), (f32(1), 0x80000001), (1, f32(-1))]
    pairs = float_pairs('f32', FEW_32[:9], 16) + small + sums
    triples = float_triples('f32', 24) + midpoint_triples()[::8] + [(a, b, 1 << 31) for a, b in small] + [(a, f32(1), b) for a, b in sums]
    for mode in ROUND:
        for extra in ['.ftz', '.sat', '.ftz.sat']:
            for op in ['add', 'sub', 'mul']:
                yield f'{op}.{mode}{extra}.f32 d, a, b', 'b32', ['b32', 'b32'], pairs
            yield f'fma.{mode}{extra}.f32 d, a, b, c', 'b32', ['b32'] * 3, triples
        yield f'div.{mode}.ftz.f32 d, a, b', 'b32', ['b32', 'b32'], pairs
        for op in ['rcp', 'sqrt']:
            yield f'{op}.{mode}.ftz.f32 d, a', 'b32', ['b32'], [(a,) for a in SPECIAL_32 + [0x7E800001, 0x7E800000, 0x7E7FFFFF]]
        yield f'mad.{mode}.f32 d, a, b, c', 'b32', ['b32'] * 3, triples
        if mode != 'rn':
            yield f'fma.{mode}.f32 d, a, b, c', 'b32', ['b32'] * 3, float_triples('f32', 40) + midpoint_triples()


# The carry flag: an instruction that leaves it, and one that takes it

def carry_forms():
    for type_ in ['u32', 's32', 'u64', 's64']:
        reg, inputs = register(type_), integer_triples(width(type_), width(type_))
        for first in ['add.cc', 'sub.cc']:
            yield f'{first}.{type_} d, a, b', reg, [reg, reg], [row[:2] for row in inputs]
            for second in ['addc', 'subc']:
                yield f'{first}.{type_} d, a, b; {second}.{type_} d, c, d', reg, [reg] * 3, inputs
                yield f'{first}.{type_} d, a, b; {second}.cc.{type_} d, c, d; addc.{type_} d, 0, 0', reg, [reg] * 3, inputs
                yield f'{first}.{type_} d, a, b; {second}.cc.{type_} d, c, d; subc.{type_} d, 0, 0', reg, [reg] * 3, inputs
        for half in ['lo', 'hi']:
            yield f'mad.{half}.cc.{type_} d, a, b, c', reg, [reg] * 3, inputs
            yield f'mad.{half}.cc.{type_} d, a, b, c; addc.{type_} d, 0, 0', reg, [reg] * 3, inputs
            yield f'mad.lo.cc.{type_} d, a, b, c; madc.{half}.{type_} d, a, b, c', reg, [reg] * 3, inputs
            yield f'mad.lo.cc.{type_} d, a, b, c; madc.{half}.cc.{type_} d, a, b, c; addc.{type_} d, 0, 0', reg, [reg] * 3, inputs


# Halves: singly, in pairs, bfloats

def paired(rows):
    """Two rows of halves as one of words."""
    return [tuple(high << 16 | low for high, low in zip(a, b)) for a, b in zip(rows, rows[1:] + rows[:1])]


def half_rows(type_, arity, count=60):
    few = SPECIALS[type_][::2]
    edges = list(itertools.product(few, repeat=2)) if arity == 2 else [(a, b, c) for a, b in zip(few, few[3:] + few[:3]) for c in few]
    return edges + list(zip(*[float_draws(type_, count) for _ in range(arity)]))


def bfloat_triples():
    """Products on the middle of two bfloats, with addends that tip them; products and sums that are subnormal."""
    out = []
    while len(out) < 120:
        a, b = rng.randrange(128, 256), rng.randrange(128, 256)
        if (a * b & 0x7F) == 0x40 and a * b < 1 << 15 or (a * b & 0xFF) == 0x80:
            sign = rng.getrandbits(1) << 15
            out += [(0x3F80 | a & 127, sign | 0x3F80 | b & 127, tip) for tip in [0, 0x2B80, 0xAB80, 1, 0x8001]]
    for _ in range(40):
        a, b, c = [rng.getrandbits(7) for _ in range(3)]
        out.append((60 + rng.randrange(6) << 7 | a, 0x8000 | 61 << 7 | b, rng.getrandbits(1) << 15 | rng.randrange(3) << 7 | c))
    return out


def half_forms():
    for type_, extras in [('f16', ['', '.ftz', '.sat', '.ftz.sat']), ('bf16', [''])]:
        pairs, triples = half_rows(type_, 2), half_rows(type_, 3) + (bfloat_triples() if type_ == 'bf16' else [])
        singles = [(a,) for a in SPECIALS[type_] + float_draws(type_, 40)]
        ftz = ['', '.ftz'] if type_ == 'f16' else ['']
        for packed, reg, two, three, one in [(type_, 'b16', pairs, triples, singles), (type_ + 'x2', 'b32', *map(paired, [pairs, triples, singles]))]:
            for extra in extras:
                for op in ['add', 'sub', 'mul']:
                    yield f'{op}{extra}.{packed} d, a, b', reg, [reg, reg], two
            for extra in extras + ['.relu']:
                yield f'fma.rn{extra}.{packed} d, a, b, c', reg, [reg] * 3, three
            for extra in ftz:
                for op in ['neg', 'abs']:
                    yield f'{op}{extra}.{packed} d, a', reg, [reg], one
                for op in ['min', 'max']:
                    for rest in ['', '.NaN', '.xorsign.abs', '.NaN.xorsign.abs']:
                        yield f'{op}{extra}{rest}.{packed} d, a, b', reg, [reg, reg], two
            yield f'tanh.approx.{packed} d, a', reg, [reg], one
            yield f'ex2.approx{".ftz" if type_ == "bf16" else ""}.{packed} d, a', reg, [reg], one
            for compare in COMPARE_FLOAT:
                for to in [packed, 'u32'] + (['s16'] if reg == 'b16' else []):
                    yield f'set.{compare}.{to}.{packed} d, a, b', register(to) if to[0] in 'us' else reg, [reg, reg], two[::5]
            if reg == 'b32':
                for compare in COMPARE_FLOAT:
                    yield f'setp.{compare}.{packed} d|done, a, b', 'pred', [reg, reg], two[::5]
                    yield f'setp.{compare}.{packed} done|d, a, b', 'pred', [reg, reg], two[::5]
    for extra in ['', '.ftz']:
        for op in ['min', 'max']:
            for rest in ['.xorsign.abs', '.NaN.xorsign.abs']:
                yield f'{op}{extra}{rest}.f32 d, a, b', 'b32', ['b32', 'b32'], float_pairs('f32', FEW_32, 16)
    for type_ in ['s16', 'u32', 'f32', 'b64']:
        for to in ['f16', 'bf16']:
            inputs = float_pairs('f32', FEW_32, 4) if type_ == 'f32' else integer_pairs(width(type_))[::3]
            yield f'set.{"eq" if type_ == "b64" else "lt"}.{to}.{type_} d, a, b', 'b16', [register(type_)] * 2, inputs


def half_convert_forms():
    for mode in ['rn', 'rz']:
        for to in ['f16', 'bf16']:
            inputs = narrowing_inputs('f32', to)
            for extra in ['.relu', '.satfinite', '.relu.satfinite']:
                yield f'cvt.{mode}{extra}.{to}.f32 d, a', 'b16', ['b32'], inputs
            for extra in ['', '.relu', '.satfinite', '.relu.satfinite']:
                yield f'cvt.{mode}{extra}.{to}x2.f32 d, a, b', 'b32', ['b32', 'b32'], [(a, b) for (a,), (b,) in zip(inputs, inputs[7:] + inputs[:7])]
        yield f'cvt.{mode}.ftz.bf16.f32 d, a', 'b16', ['b32'], narrowing_inputs('f32', 'bf16')
    bfloats = [(a,) for a in SPECIALS['bf16'] + float_draws('bf16', 40)]
    yield 'cvt.ftz.f32.bf16 d, a', 'b32', ['b16'], bfloats
    yield 'cvt.f64.bf16 d, a', 'b64', ['b16'], bfloats
    yield 'cvt.bf16.bf16 d, a', 'b16', ['b16'], bfloats
    for type_ in ['f16', 'f64']:
        for extra in ['', '.sat']:
            yield f'cvt{extra}.{type_}.{type_} d, a', f'b{width(type_)}', [f'b{width(type_)}'], [(a,) for a in SPECIALS[type_]]
    to_integer = bfloats + [(f32(x) >> 16 | sign,) for x in TO_INTEGER + EDGES for sign in (0, 1 << 15)]
    for mode in INTEGER_ROUND:
        yield f'cvt.{mode}.bf16.bf16 d, a', 'b16', ['b16'], to_integer
        for to in INTS[2:]:
            yield f'cvt.{mode}.{to}.bf16 d, a', register(to), ['b16'], to_integer
    for mode in ROUND:
        yield f'cvt.{mode}.f16.bf16 d, a', 'b16', ['b16'], bfloats + [(0x3380 + step,) for step in range(-3, 4)] + [(0x4780 + step,) for step in range(-3, 4)]
        yield f'cvt.{mode}.bf16.f16 d, a', 'b16', ['b16'], [(a,) for a in SPECIAL_16 + float_draws('f16', 40)]
        yield f'cvt.{mode}.bf16.f64 d, a', 'b16', ['b64'], narrowing_inputs('f64', 'bf16')
        for of in INTS[2:]:
            bits = width(of)
            middles = [(257 << shift) + step for shift in range(bits - 9) for step in (-1, 0, 1)]
            yield f'cvt.{mode}.bf16.{of} d, a', 'b16', [register(of)], [(a & (1 << bits) - 1,) for a in edges(bits) + draws(bits, 12) + middles]
    words = integer_pairs(32)[::2]
    for type_ in ['u16', 's16']:
        yield f'cvt.pack.sat.{type_}.s32 d, a, b', 'b32', ['b32', 'b32'], words
    for type_ in ['u8', 's8', 'u4', 's4', 'u2', 's2']:
        yield f'cvt.pack.sat.{type_}.s32.b32 d, a, b, c', 'b32', ['b32'] * 3, [(a, b, a ^ 0x12345678) for a, b in words + integer_pairs(8)[::3]]


# Parts of registers, and the n-th bit

def video_forms():
    values = [0, 1, 0x7F, 0x80, 0xFFFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80FF7F01, 0x12345678]
    pairs = list(itertools.product(values, repeat=2))[::8]
    triples = [(a, b, c) for (a, b), c in zip(pairs, itertools.cycle(values + draws(32, 8)))] + list(zip(*[draws(32, 8) for _ in range(3)]))
    signs = ['u32', 's32']
    reg3 = ['b32'] * 3
    for compare in COMPARE_INT:
        for types in itertools.product(signs, repeat=2):
            for count in [2, 4]:
                for add in ['', '.add']:
                    yield f'vset{count}.{".".join(types)}.{compare}{add} d, a, b, c', 'b32', reg3, triples
    for count, mask, parts in [(2, '.h1', ('.h31', '.h02')), (4, '.b310', ('.b7310', '.b0426'))]:
        for op in ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax']:
            for types in itertools.product(signs, repeat=3):
                for rest in ['', '.sat', '.add']:
                    yield f'{op}{count}.{".".join(types)}{rest} d, a, b, c', 'b32', reg3, triples
                yield f'{op}{count}.{".".join(types)} d{mask}, a{parts[0]}, b{parts[1]}, c', 'b32', reg3, triples
    places = [(m, b, n & 0xFFFFFFFF) for m in values + draws(32, 4) for b in [0, 1, 15, 30, 31] for n in [0, 1, 2, 5, 32, 33, -1, -2, -7, -32, -33, 1 << 31]]
    yield 'fns.b32 d, a, b, c', 'b32', reg3, places


def short_forms():
    pairs = [(a, b) for a, b in zip(draws(32, 40) + edges(32) * 2, draws(32, 40) + edges(32) + edges(32)[3:] + edges(32)[:3])] + [(0xFFFF8000, 0x1FFFF), (0x80007FFF, 0x7FFF8000)]
    for type_ in ['u16x2', 's16x2']:
        for op in ['add', 'min', 'max']:
            yield f'{op}.{type_} d, a, b', 'b32', ['b32', 'b32'], pairs
    for op in ['min', 'max']:
        for type_ in ['s16x2', 's32']:
            yield f'{op}.relu.{type_} d, a, b', 'b32', ['b32', 'b32'], pairs
    for op in ['or', 'and']:
        for table in [0, 0xC0, 0x96]:
            yield f'setp.ne.b32 done, a, 1; lop3.{op}.b32 t|d, a, b, c, {table}, done', 'pred', ['b32'] * 3, list(zip(edges(32) * 3, draws(32, 33), draws(32, 33)))


def small_float_forms():
    """Floats of 8 bits; those of 6 bits need another GPU."""
    for type_, bias, mantissa in [('e4m3', 7, 3), ('e5m2', 15, 2)]:
        middles = [f32((1 + k / 2 ** (mantissa + 1)) * 2.0**e) + step for e in (-bias, 1 - bias, 0, 8) for k in range(2 ** (mantissa + 1)) for step in (-1, 0, 1)]
        singles = SPECIAL_32 + middles + [a | 1 << 31 for a in middles[::5]] + [f32(x) for x in (448, 463.9, 464, 480, 57344, 61439, 61440, 65536, -1e9)]
        halves = [(a << 16 | b,) for a, b in zip(SPECIAL_16 + float_draws('f16', 60), SPECIAL_16[::-1] + float_draws('f16', 60))]
        for relu in ['', '.relu']:
            yield f'cvt.rn.satfinite{relu}.{type_}x2.f32 d, a, b', 'b16', ['b32', 'b32'], list(zip(singles, singles[11:] + singles[:11]))
            yield f'cvt.rn.satfinite{relu}.{type_}x2.f16x2 d, a', 'b16', ['b32'], halves
            yield f'cvt.rn{relu}.f16x2.{type_}x2 d, a', 'b32', ['b16'], [(a << 8 | 255 - a,) for a in range(256)]


def flushed_forms():
    yield 'div.approx.ftz.f32 d, a, b', 'b32', ['b32', 'b32'], float_pairs('f32', FEW_32, 16)


def tensor_float_forms():
    """Floats with the 10 bits of mantissa that tensor cores read: below their last place are 13 bits more."""
    middles = [base + step for base in (0x3F801000, 0x3F803000, 0x40490FDB, 0x00001000, 0x00003000, 0x007FF000, 0x7F7FE000, 0x7F7FF000, 0x7F7FEFFF) for step in (-1, 0, 1)]
    singles = [(a,) for a in SPECIAL_32 + middles + [a | 1 << 31 for a in middles] + draws(32, 40)]
    for mode in ['rna', 'rn', 'rz']:
        for relu in ['', '.relu'] if mode != 'rna' else ['']:
            yield f'cvt.{mode}{relu}.tf32.f32 d, a', 'b32', ['b32'], singles


def forms():
    for group in [integer_forms, logic_forms, float_forms, convert_forms, bit_forms, approximate_forms, directed_forms, carry_forms, half_forms, half_convert_forms, video_forms, short_forms, small_float_forms, estimate_forms, flushed_forms, tensor_float_forms]:
        yield from group()


def kernel(form, result, operands):
    """The PTX that runs one form on every input: a[i], b[i], c[i] in, out[i], each in a cell of 8 bytes."""
    names = 'abce'[: len(operands)]
    lines = ['.version 9.0', '.target sm_90', '.address_size 64', '', '.visible .entry form(']
    lines.append(',\n'.join(f'  .param .u64 p{name}' for name in [*names, 'd']) + ',\n  .param .u32 pn\n)\n{')
    lines += [f'  .reg .{kind} {name};' for name, kind in zip(names, operands)]
    lines += [f'  .reg .{result} d;', '  .reg .pred done;', '  .reg .b32 i, n, t, size;', '  .reg .b64 at, offset, cell;']
    lines += ['  mov.u32 t, %tid.x;', '  mov.u32 i, %ctaid.x;', '  mov.u32 size, %ntid.x;', '  mad.lo.s32 i, i, size, t;']
    lines += ['  ld.param.u32 n, [pn];', '  setp.ge.u32 done, i, n;', '  @done bra end;', '  mul.wide.u32 offset, i, 8;']
    for name, kind in zip(names, operands):
        lines += [f'  ld.param.u64 at, [p{name}];', '  add.s64 at, at, offset;', f'  ld.global.{kind} {name}, [at];']
    lines.append(f'  {form};')
    widen = {'pred': 'selp.u64 cell, 1, 0, d', 'b16': 'cvt.u64.u16 cell, d', 'b32': 'cvt.u64.u32 cell, d', 'b64': 'mov.b64 cell, d'}[result]
    lines += [f'  {widen};', '  ld.param.u64 at, [pd];', '  add.s64 at, at, offset;', '  st.global.u64 [at], cell;', 'end:', '  ret;', '}', '']
    return '\n'.join(lines)
