"""Records what `printf` of an NVIDIA GPU prints: fixtures/h200/printf.json.

usage: python3 scripts/record/printf.py OUT.json

One kernel of one thread calls vprintf once for each format and keeps what each call gives. What the GPU prints as it stands
(`%zu`, `%hhd`, precisions that are arguments) is left out: there cumetal prints what C says.
"""
import json
import os
import struct
import sys
import tempfile

import cuda

INF, NAN = float('inf'), float('nan')
# Arguments: words, longs, doubles, strings.
FORMATS = [
    ('%*s', [('i', 6), ('s', 'ab')]),
    ('%-*s|', [('i', 6), ('s', 'ab')]),
    ('%.3s|', [('s', 'abcdef')]),
    ('%5.2s|', [('s', 'abcdef')]),
    ('%5c|', [('i', 65)]),
    ('%-5c|', [('i', 65)]),
    ('%+d % d', [('i', 5), ('i', 6)]),
    ('%#x %#X %#o', [('i', 255), ('i', 255), ('i', 8)]),
    ('%a %A', [('d', 1.5), ('d', -0.1)]),
    ('%G %E %g', [('d', 1e-10), ('d', 12345.678), ('d', 1e20)]),
    ('%hd %hu', [('i', -3), ('i', 65537)]),
    ('%i %o %X', [('i', -1), ('i', 64), ('i', 48879)]),
    ('%ld %llx %lx', [('l', -(2**40)), ('l', 2**63), ('l', 12345678901)]),
    ('%.0f %#.0f %08.3f', [('d', 2.5), ('d', 3.5), ('d', -3.14159)]),
    ('%-8d|%8d|%08d|', [('i', 42), ('i', -42), ('i', -42)]),
    ('%f %f %f', [('d', INF), ('d', -INF), ('d', NAN)]),
    ('%5.1f|%-10.2e|', [('d', 99.95), ('d', 0.00012345)]),
    ('%p %p', [('l', 0x1234), ('l', 0)]),
    ('%d%%', [('i', 50)]),
    ('%s', [('l', 0)]),
    ('%.10g %.17g', [('d', 0.1), ('d', 0.1)]),
    ('%f', [('d', 1e300)]),
    ('%.3d|%8.3d|%-8.3x|', [('i', 5), ('i', 5), ('i', 10)]),
    ('%*c|', [('i', 4), ('i', 66)]),
    ('%u', [('i', -1)]),
    ('%c%c%c', [('i', 72), ('i', 105), ('i', 33)]),
    ('%+.2e % f %+g', [('d', 1.0), ('d', 2.0), ('d', 0.0)]),
    ('%#g %#.3g', [('d', 1.0), ('d', 100000.0)]),
    ('%lu %llu', [('l', -1), ('l', -1)]),
    ('%li %lli', [('l', -1), ('l', -9)]),
    ('%05s|', [('s', 'ab')]),
    ('%+s|', [('s', 'ab')]),
    ('%.s|', [('s', 'ab')]),
    ('%.f|', [('d', 2.5)]),
    ('%ho', [('i', 65537)]),
    ('%-05d|', [('i', 3)]),
    ('%+ d|', [('i', 3)]),
    ('nothing to show', []),
]


def words_of(kind, value):
    """The bits of an argument and their width."""
    if kind == 'd':
        return struct.unpack('<Q', struct.pack('<d', value))[0], 64
    return (value & 0xFFFFFFFF, 32) if kind == 'i' else (value & (1 << 64) - 1, 64)


def kernel():
    strings, body = [], []

    def string(text):
        data = text.encode() + b'\0'
        strings.append(f'.global .align 1 .b8 s{len(strings)}[{len(data)}] = {{{", ".join(map(str, data))}}};')
        return f's{len(strings) - 1}'

    def address_of(text):
        name = string(text)
        body.append(f'  mov.u64 %{name}, {name}; cvta.global.u64 %g{name}, %{name};')
        return f'%g{name}'

    for number, (format_, args) in enumerate(FORMATS):
        at = 0
        for kind, value in args:
            bits, width = (address_of(value), 64) if kind == 's' else words_of(kind, value)
            at = -(-at // (width // 8)) * (width // 8)
            register = bits if kind == 's' else f'%v{width}'
            body.extend([] if kind == 's' else [f'  mov.b{width} %v{width}, 0x{bits:x};'])
            body.append(f'  st.local.b{width} [list+{at}], {register};')
            at += width // 8
        body.append(f'  {{ .param .b64 f; .param .b64 l; .param .b32 x; st.param.b64 [f], {address_of(format_ + chr(10))};')
        body.append(f'    st.param.b64 [l], {"%list" if args else "0"}; call.uni (x), vprintf, (f, l);')
        body.append(f'    ld.param.b32 %v32, [x]; st.global.u32 [%out+{4 * number}], %v32; }}')
    lines = ['.version 9.0', '.target sm_90', '.address_size 64', '.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 l);']
    lines += strings + ['.visible .entry k(.param .u64 out)', '{', f'  .reg .b64 %out, %list, %v64, %s<{len(strings)}>, %gs<{len(strings)}>;']
    lines += ['  .reg .b32 %v32;', '  .local .align 8 .b8 list[64];', '  ld.param.u64 %out, [out]; mov.u64 %v64, list;']
    return '\n'.join(lines + ['  cvta.local.u64 %list, %v64;'] + body + ['  ret;', '}', ''])


def printed(launch):
    """What a launch prints: the driver writes to the process's own output."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            result = launch()
        finally:
            os.dup2(kept, 1)
        file.seek(0)
        return result, file.read().decode()


def main():
    text = kernel()
    module = cuda.Module(text)
    after, lines = printed(lambda: module.launch('k', [1, 1, 1], [1, 1, 1], 0, [('buffer', b'\xa5' * (4 * len(FORMATS)))]))
    out = {
        'recordedOn': cuda.describe(),
        'recordedBy': 'scripts/record/printf.py',
        'results': list(struct.unpack(f'<{len(FORMATS)}i', after[0])),
        'lines': lines.split('\n'),
        'ptx': text.split('\n'),
    }
    with open(sys.argv[1], 'w') as file:
        file.write(json.dumps(out, indent=1) + '\n')
    print(f'{len(FORMATS)} formats')


if sys.argv[1:] == ['--show']:
    print(kernel())
else:
    main()
