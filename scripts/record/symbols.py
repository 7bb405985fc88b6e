"""Records variables that the host writes, addresses in their initial values, and calls through tables: fixtures/h200/symbols.json.

usage: python3 scripts/record/symbols.py OUT.json       on a machine with the GPU
       python3 scripts/record/symbols.py --check        which kernels ptxas refuses (no GPU needed)

Each module has one kernel, of which one thread leaves words. It runs several times, each time with another number and after
writes to its variables by name, which stay.
"""
import json
import struct
import sys

import common

WORDS = 8

HEAD = """.version 9.0
.target sm_90
.address_size 64
@DECLARED
.visible .entry form(.param .u64 pout, .param .u32 pi)
{
  .reg .u64 o, a, b; .reg .u32 i, x; .reg .f32 f; .reg .pred p, q;
  ld.param.u64 o, [pout];
  ld.param.u32 i, [pi];
"""


def module(declared, lines):
    return HEAD.replace('@DECLARED', '\n'.join(declared)) + ''.join(f'  {line}\n' for line in lines) + '  ret;\n}\n'


def told(register, at):
    return f'st.global.b32 [o+{4 * at}], {register};'


def spaces_of(address, at):
    """Which of four spaces a generic address is of, a bit for each."""
    lines = ['mov.u32 x, 0;']
    for bit, space in enumerate(['const', 'global', 'shared', 'local']):
        lines += [f'isspacep.{space} p, {address};', f'@p or.b32 x, x, {1 << bit};']
    return [*lines, told('x', at)]


def floats(*values):
    return struct.pack(f'<{len(values)}f', *values).hex()


def words(*values):
    return struct.pack(f'<{len(values)}I', *values).hex()


def forms():
    yield 'constants', module(
        ['.const .align 16 .f32 w[4];', '.const .u32 k = 7;', '.global .u32 g = 9;'],
        ['mul.wide.u32 a, i, 4;', 'mov.u64 b, w;', 'add.u64 b, b, a;', 'ld.const.f32 f, [b];', told('f', 0), 'ld.const.u32 x, [k];', told('x', 1),
         'cvta.const.u64 b, b;', 'ld.f32 f, [b];', told('f', 2), 'cvta.to.const.u64 b, b;', 'ld.const.f32 f, [b];', told('f', 3),
         'ld.const.v2.f32 {f, _}, [w+8];', told('f', 4), 'ld.global.u32 x, [g];', told('x', 5)],
    ), [(1, {}), (1, {'w': floats(1.5, 2.5, 3.5, 4.5)}), (3, {'k': words(70), 'g': words(90)})]
    yield 'visible constants', module(['.visible .const .u32 t[4] = {5, 6};'], [
        'mul.wide.u32 a, i, 4;', 'mov.u64 b, t;', 'add.u64 b, b, a;', 'ld.const.u32 x, [b];', told('x', 0), 'ld.const.v4.u32 {x, i, _, _}, [t];', told('i', 1),
    ]), [(0, {}), (1, {}), (2, {}), (2, {'t': words(1, 2, 3, 4)})]
    yield 'spaces', module(['.const .u32 before = 3;', '.const .u32 w[4];', '.global .u32 g;', '.shared .u32 s;'], [
        'mov.u64 a, w;', 'cvta.const.u64 a, a;', *spaces_of('a', 0), 'mov.u64 a, before;', 'cvta.const.u64 a, a;', *spaces_of('a', 1),
        'mov.u64 a, g;', 'cvta.global.u64 a, a;', *spaces_of('a', 2), *spaces_of('o', 3), 'mov.u64 a, s;', 'cvta.shared.u64 a, a;', *spaces_of('a', 4),
        # One of two spaces, which the thread learns when it runs.
        'mov.u64 b, w;', 'cvta.const.u64 b, b;', 'setp.eq.u32 p, i, 0;', '@p mov.u64 a, b;', *spaces_of('a', 5), 'st.shared.u32 [s], 44;', 'ld.u32 x, [a];', told('x', 6),
    ]), [(0, {}), (1, {}), (0, {'w': words(8, 9, 10, 11)})]
    masks = ', '.join(f'0xff{"00" * byte}(generic(g)+12)' for byte in range(8))
    yield 'addresses', module(
        ['.global .u32 g[4] = {10, 11, 12, 13};', '.const .u32 c[2] = {20, 21};', '.global .u64 list[5] = {generic(g), g+4, generic(g)+8, generic(c)+4, 30};',
         f'.global .align 8 .u8 packed[16] = {{1, 0, 0, 0, 0, 0, 0, 0, {masks}}};', '.const .u64 first = g;'],
        ['mul.wide.u32 a, i, 8;', 'mov.u64 b, list;', 'add.u64 b, b, a;', 'ld.global.u64 a, [b];', 'ld.u32 x, [a];', told('x', 0),
         'ld.global.u64 a, [packed+8];', 'ld.u32 x, [a];', told('x', 1), 'ld.const.u64 a, [first];', 'ld.global.u32 x, [a];', told('x', 2),
         'ld.global.u32 x, [packed];', told('x', 3), 'ld.global.u64 a, [list+32];', 'cvt.u32.u64 x, a;', told('x', 4)],
    ), [(0, {}), (1, {}), (2, {}), (3, {}), (2, {'g': words(50, 51, 52, 53), 'c': words(1, 2)}), (3, {})]
    yield from calls()


FUNCTIONS = [
    '.func (.param .b32 r) twice (.param .b32 p)\n{ .reg .b32 x; ld.param.b32 x, [p]; add.u32 x, x, x; st.param.b32 [r], x; ret; }',
    '.func (.param .b32 r) third (.param .b32 p)\n{ .reg .b32 x; ld.param.b32 x, [p]; div.u32 x, x, 3; st.param.b32 [r], x; ret; }',
    # It calls one of the others in turn, by its address.
    '.func (.param .b32 r) odd (.param .b32 p)\n{ .reg .b32 x; .reg .b64 f; .reg .pred q; .param .b32 a; .param .b32 b; ld.param.b32 x, [p];'
    ' mov.u64 f, twice; setp.gt.u32 q, x, 50; @q mov.u64 f, third; st.param.b32 [a], x; T: .calltargets twice, third; call (b), f, (a), T; ld.param.b32 x, [b]; or.b32 x, x, 1; st.param.b32 [r], x; ret; }',
    '.func (.param .f32 r) scale (.param .f32 p, .param .f32 q)\n{ .reg .f32 x, y; ld.param.f32 x, [p]; ld.param.f32 y, [q]; mul.f32 x, x, y; st.param.f32 [r], x; ret; }',
    '.global .u32 noted;\n.func note ()\n{ .reg .b32 x; ld.global.b32 x, [noted]; add.u32 x, x, 5; st.global.b32 [noted], x; ret; }',
]
ONE = 'P: .callprototype (.param .b32 _) _ (.param .b32 _);'


def call_one(value):
    return f'{{ .param .b32 v; .param .b32 w; st.param.b32 [v], {value}; {ONE} call (w), a, (v), P; ld.param.b32 x, [w]; }}'


def calls():
    table = '.global .u64 table[4] = {twice, third, odd, twice};'
    pick = ['mul.wide.u32 b, i, 8;', 'mov.u64 a, table;', 'add.u64 a, a, b;', 'ld.global.u64 a, [a];']
    numbers = [(i, {}) for i in range(4)]
    yield 'functions of a table', module([*FUNCTIONS, table], [*pick, call_one(100), told('x', 0), call_one('x'), told('x', 1)]), numbers
    yield 'constant table', module([*FUNCTIONS, table.replace('.global', '.const')], [*(line.replace('global', 'const') for line in pick), call_one(77), told('x', 0)]), numbers
    yield 'functions that are compared', module([*FUNCTIONS, table], [
        *pick, 'mov.u64 b, twice;', 'setp.eq.u64 p, a, b;', 'selp.u32 x, 1, 0, p;', told('x', 0), 'setp.eq.u64 p, a, 0;', 'selp.u32 x, 1, 0, p;', told('x', 1),
        # Under a guard, and where no call takes place an address of nothing does no harm.
        'setp.lt.u32 q, i, 2;', '@!q mov.u64 a, 0;', 'mov.u32 x, 9;', f'{{ .param .b32 v; .param .b32 w; st.param.b32 [v], 60; {ONE} @q call (w), a, (v), P; ld.param.b32 i, [w]; @q mov.b32 x, i; }}', told('x', 2),
    ]), numbers
    yield 'functions of other kinds', module(FUNCTIONS, [
        'mov.u64 a, scale;', 'mov.u64 b, note;', '{ .param .f32 v; .param .f32 w; .param .f32 z; st.param.f32 [v], 0f40200000; st.param.f32 [w], 0f40400000; P: .callprototype (.param .f32 _) _ (.param .f32 _, .param .f32 _); call (z), a, (v, w), P; ld.param.f32 f, [z]; }', told('f', 0),
        '{ P: .callprototype _ (); call b, P; call.uni b, P; }', 'ld.global.u32 x, [noted];', told('x', 1),
    ]), [(0, {}), (0, {}), (0, {'noted': words(100)})]
    yield 'functions in a loop', module([*FUNCTIONS, table], [
        'mov.u32 x, 1000;', 'next:', *pick, call_one('x'), 'add.u32 i, i, 1;', 'setp.lt.u32 p, i, 4;', '@p bra next;', told('x', 0)]), numbers


def record(path):
    import cuda

    lines = []
    for name, text, runs in forms():
        loaded = cuda.Module(text)
        done = []
        for number, writes in runs:
            for symbol, data in writes.items():
                loaded.write(symbol, bytes.fromhex(data))
            after = loaded.launch('form', [1, 1, 1], [1, 1, 1], 0, [('buffer', b'\xa5' * 4 * WORDS), ('value', struct.pack('<I', number))])
            done.append({'number': number, 'writes': writes, 'words': ' '.join(format(word, 'x') for word in struct.unpack(f'<{WORDS}I', after[0]))})
        loaded.close()
        lines.append(json.dumps({'form': name, 'ptx': text, 'runs': done}))
    head = json.dumps({'recordedOn': cuda.describe(), 'recordedBy': 'scripts/record/symbols.py'})[1:-1]
    with open(path, 'w') as file:
        file.write('{' + head + ', "forms": [\n' + ',\n'.join(lines) + '\n]}\n')
    print(f'{len(lines)} forms')


if sys.argv[1:] == ['--check']:
    common.check((name, text) for name, text, _ in forms())
else:
    record(sys.argv[1])
