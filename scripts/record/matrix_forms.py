"""The matrix instructions that are recorded, with the registers of their fragments. Source: PTX ISA 9.0, 9.7.14."""

FLOATS = ['f16', 'f32']
LAYOUTS = ['row', 'col']
WMMA = ['m16n16k16', 'm8n32k16', 'm32n8k16']
# Registers of a and b by shape, of 16 and of 8 bits an element.
HALF = {'m16n16k16': (4, 4), 'm8n32k16': (2, 8), 'm32n8k16': (8, 2)}
BYTE = {'m16n16k16': (2, 2), 'm8n32k16': (1, 4), 'm32n8k16': (4, 1)}


def size(shape):
    """m, n and k of `m16n8k16`."""
    m, rest = shape[1:].split('n')
    n, k = rest.split('k')
    return int(m), int(n), int(k)


def mma_registers(shape, bits):
    """Registers of a, b, and of c with 32 bits an element, where all lanes hold each element once."""
    m, n, k = size(shape)
    return m * k * bits // 1024, n * k * bits // 1024, m * n // 32


def signs(*types):
    return [(a, b) for a in types for b in types]


def product(form, counts, pools):
    """(form, (registers of d, a, b, c), (pool of a, b, c))"""
    return form, counts, pools


def mma():
    for al in LAYOUTS:
        for bl in LAYOUTS:
            for d, c in [('f16', 'f16'), ('f32', 'f16'), ('f32', 'f32')]:
                count = {'f16': 4, 'f32': 8}
                yield product(f'mma.sync.aligned.m8n8k4.{al}.{bl}.{d}.f16.f16.{c}', (count[d], 2, 2, count[c]), ('f16', 'f16', c))
    for shape in ['m16n8k8', 'm16n8k16']:
        a, b, count = mma_registers(shape, 16)
        for type_ in FLOATS:
            n = count if type_ == 'f32' else count // 2
            yield product(f'mma.sync.aligned.{shape}.row.col.{type_}.f16.f16.{type_}', (n, a, b, n), ('f16', 'f16', type_))
        yield product(f'mma.sync.aligned.{shape}.row.col.f32.bf16.bf16.f32', (count, a, b, count), ('bf16', 'bf16', 'f32'))
    for shape in ['m16n8k4', 'm16n8k8']:
        a, b, count = mma_registers(shape, 32)
        yield product(f'mma.sync.aligned.{shape}.row.col.f32.tf32.tf32.f32', (count, a, b, count), ('tf32', 'tf32', 'f32'))
    for shape in ['m16n8k16', 'm16n8k32']:
        a, b, count = mma_registers(shape, 8)
        for left, right in signs('e4m3', 'e5m2'):
            for type_ in FLOATS:
                n = count if type_ == 'f32' else count // 2
                yield product(f'mma.sync.aligned.{shape}.row.col.{type_}.{left}.{right}.{type_}', (n, a, b, n), (left, right, type_))
    for shape in ['m8n8k4', 'm16n8k4', 'm16n8k8', 'm16n8k16']:
        a, b, count = [n // 2 if i < 2 else n for i, n in enumerate(mma_registers(shape, 64))]
        for rounding in ['', '.rn', '.rz', '.rm', '.rp']:
            yield product(f'mma.sync.aligned.{shape}.row.col{rounding}.f64.f64.f64.f64', (count, a, b, count), ('f64', 'f64', 'f64'))
    for bits, types, shapes in [(8, ['u8', 's8'], ['m8n8k16', 'm16n8k16', 'm16n8k32']), (4, ['u4', 's4'], ['m8n8k32', 'm16n8k32', 'm16n8k64'])]:
        for shape in shapes:
            a, b, count = mma_registers(shape, bits)
            for left, right in signs(*types):
                for saturated in ['', '.satfinite']:
                    yield product(f'mma.sync.aligned.{shape}.row.col{saturated}.s32.{left}.{right}.s32', (count, a, b, count), ('int', 'int', 's32'))
    for shape in ['m8n8k128', 'm16n8k128', 'm16n8k256']:
        a, b, count = mma_registers(shape, 1)
        for op in ['xor', 'and']:
            yield product(f'mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc', (count, a, b, count), ('int', 'int', 's32'))


def wmma():
    count = {'f16': 4, 'f32': 8}
    for al in LAYOUTS:
        for bl in LAYOUTS:
            for shape in WMMA:
                head = f'wmma.mma.sync.aligned.{al}.{bl}.{shape}'
                for d in FLOATS:
                    for c in FLOATS:
                        yield product(f'{head}.{d}.{c}', (count[d], 8, 8, count[c]), ('twice', 'twice', c))
                for type_ in ['s8', 'u8']:
                    for saturated in ['', '.satfinite']:
                        yield product(f'{head}.s32.{type_}.{type_}.s32{saturated}', (8, *BYTE[shape], 8), ('int', 'int', 's32'))
                yield product(f'{head}.f32.bf16.bf16.f32', (8, *HALF[shape], 8), ('bf16', 'bf16', 'f32'))
            yield product(f'wmma.mma.sync.aligned.{al}.{bl}.m16n16k8.f32.tf32.tf32.f32', (8, 4, 4, 8), ('tf32', 'tf32', 'f32'))
            for rounding in ['', '.rn', '.rz', '.rm', '.rp']:
                yield product(f'wmma.mma.sync.aligned.{al}.{bl}.m8n8k4{rounding}.f64.f64.f64.f64', (2, 1, 1, 2), ('f64', 'f64', 'f64'))
    for type_ in ['s4', 'u4']:
        for saturated in ['', '.satfinite']:
            yield product(f'wmma.mma.sync.aligned.row.col.m8n8k32.s32.{type_}.{type_}.s32{saturated}', (2, 1, 1, 2), ('int', 'int', 's32'))
    for op in ['xor', 'and']:
        yield product(f'wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32', (2, 1, 1, 2), ('int', 'int', 's32'))


def fragments():
    """(which, layout, shape, type, registers, rows, columns, bits of an element) of all that `wmma.load` reads and `wmma.store` writes."""
    for shape in WMMA:
        m, n, k = size(shape)
        for layout in LAYOUTS:
            for type_, counts, bits in [('f16', (8, 8), 16), ('bf16', HALF[shape], 16), ('s8', BYTE[shape], 8), ('u8', BYTE[shape], 8)]:
                yield 'a', layout, shape, type_, counts[0], m, k, bits
                yield 'b', layout, shape, type_, counts[1], k, n, bits
            for type_, count, bits in [('f16', 4, 16), ('f32', 8, 32), ('s32', 8, 32)]:
                yield 'c', layout, shape, type_, count, m, n, bits
    for layout in LAYOUTS:
        yield 'a', layout, 'm16n16k8', 'tf32', 4, 16, 8, 32
        yield 'b', layout, 'm16n16k8', 'tf32', 4, 8, 16, 32
        yield 'c', layout, 'm16n16k8', 'f32', 8, 16, 16, 32
        yield 'a', layout, 'm8n8k4', 'f64', 1, 8, 4, 64
        yield 'b', layout, 'm8n8k4', 'f64', 1, 4, 8, 64
        yield 'c', layout, 'm8n8k4', 'f64', 2, 8, 8, 64
        for shape in ['m8n8k32', 'm8n8k128']:
            yield 'c', layout, shape, 's32', 2, 8, 8, 32
    for type_ in ['s4', 'u4']:
        yield 'a', 'row', 'm8n8k32', type_, 1, 8, 32, 4
        yield 'b', 'col', 'm8n8k32', type_, 1, 32, 8, 4
    yield 'a', 'row', 'm8n8k128', 'b1', 1, 8, 128, 1
    yield 'b', 'col', 'm8n8k128', 'b1', 1, 128, 8, 1
