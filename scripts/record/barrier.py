"""Records what an NVIDIA GPU gives for barriers that compute over the block: fixtures/h200/barrier.json.

usage: python3 scripts/record/barrier.py OUT.json       on a machine with the GPU
       python3 scripts/record/barrier.py --check        which kernels ptxas refuses (no GPU needed)

The recording has the shape of that of warp.py: one block of threads, of which each reads two words a and b and stores what its
code left in d0 to d3. Where threads exit before a barrier they store nothing.
"""
import random
import sys

import common
from block_forms import TAIL, head_of, kernel, record, words_of

rng = random.Random(7)
MOST = 1024

HEAD = head_of(1024, ['mov.u32 n, %ntid.x;'], 't')


def told(register):
    return f'selp.u32 {register}, 1, 0, q;'


# How the predicate p comes about: of a bit, of few threads, of one, of all, of none.
PREDICATES = {
    'a bit': ['and.b32 x, a, 1;', 'setp.ne.u32 p, x, 0;'],
    'few': ['and.b32 x, a, 31;', 'setp.eq.u32 p, x, 0;'],
    'the last thread': ['sub.u32 x, n, 1;', 'setp.eq.u32 p, t, x;'],
    'all': ['setp.eq.u32 p, t, t;'],
    'none': ['setp.ne.u32 p, t, t;'],
}


def whole():
    for block in [1, 31, 32, 33, 96, 257]:
        for name, test in PREDICATES.items():
            yield f'red of {name} in {block}', [*test, 'bar.red.popc.u32 d0, 0, p;', 'barrier.red.popc.u32 d1, 0, !p;', 'bar.red.and.pred q, 0, p;', told('d2'), 'barrier.red.or.aligned.pred q, 0, p;', told('d3')], block
            yield f'red of not {name} in {block}', [*test, 'barrier.red.and.pred q, 0, !p;', told('d0'), 'bar.red.or.pred q, 0, !p;', told('d1'), 'barrier.red.popc.aligned.u32 d2, 0, p;'], block
    yield 'red in 1024', [*PREDICATES['a bit'], 'bar.red.popc.u32 d0, 0, p;', 'bar.red.and.pred q, 0, p;', told('d1'), 'bar.red.or.pred q, 0, p;', told('d2')], 1024


def exited():
    leaving = {
        'behind 40': ['setp.ge.u32 r, t, 40;'],
        'every third': ['rem.u32 x, t, 3;', 'setp.eq.u32 r, x, 0;'],
        'the first warp': ['setp.lt.u32 r, t, 32;'],
        'all but one': ['setp.ne.u32 r, t, 50;'],
        'by their words': ['and.b32 x, b, 3;', 'setp.eq.u32 r, x, 2;'],
    }
    for name, test in leaving.items():
        # `barrier` without `.aligned`: threads of a warp have parted.
        yield f'exited: {name}', [*test, '@r exit;', *PREDICATES['a bit'], 'barrier.red.popc.u32 d0, 0, p;', 'barrier.red.and.pred q, 0, p;', told('d1'), 'barrier.red.or.pred q, 0, !p;', told('d2'), 'barrier.red.popc.u32 d3, 0, !p;'], 90
        yield f'exited, all agree: {name}', [*test, '@r exit;', *PREDICATES['all'], 'barrier.red.popc.u32 d0, 0, p;', 'barrier.red.and.pred q, 0, p;', told('d1'), 'barrier.red.or.pred q, 0, !p;', told('d2')], 90
    yield 'warps that exit by turns', [
        'mov.u32 y, 0;', 'mov.u32 d0, 0;', 'mov.u32 d1, 0;', 'shr.u32 m, t, 5;',
        'turn:', 'shr.u32 x, a, y;', 'and.b32 x, x, 1;', 'setp.ne.u32 p, x, 0;',
        'bar.red.popc.u32 x, 0, p;', 'mad.lo.u32 d0, d0, 31, x;', 'bar.red.and.pred q, 0, p;', '@q add.u32 d1, d1, 1;',
        'setp.eq.u32 r, m, y;', '@r bra end;', 'add.u32 y, y, 1;', 'bra turn;'], 160


def flow():
    yield 'until none wants more', [
        'and.b32 y, a, 15;', 'mov.u32 d0, 0;', 'mov.u32 d1, 0;',
        'turn:', 'setp.gt.u32 p, y, 0;', 'bar.red.popc.u32 x, 0, p;', 'add.u32 d0, d0, x;', '@p sub.u32 y, y, 1;',
        'bar.red.or.pred q, 0, p;', '@q add.u32 d1, d1, 1;', '@q bra turn;'], 96
    yield 'after threads parted', [
        'setp.gt.u32 r, t, 20;', '@r bra high;', 'mov.u32 y, 0;',
        'low:', 'add.u32 y, y, 1;', 'setp.lt.u32 q, y, t;', '@q bra low;', 'and.b32 x, y, 1;', 'setp.ne.u32 p, x, 0;', 'bra join;',
        'high:', *PREDICATES['a bit'], 'join:', 'barrier.red.popc.u32 d0, 0, p;'], 75
    yield 'beside shared memory', [
        'mov.u32 base, cells;', 'shl.b32 x, t, 2;', 'add.u32 y, base, x;', 'st.shared.u32 [y], a;', 'setp.lt.u32 p, t, 70;', 'bar.red.popc.u32 d0, 0, p;',
        'sub.u32 x, 95, t;', 'shl.b32 x, x, 2;', 'add.u32 y, base, x;', 'ld.shared.u32 d1, [y];'], 96
    yield 'under guards that hold for all or none', [
        'setp.eq.u32 r, n, 48;', *PREDICATES['a bit'], 'setp.eq.u32 q, t, t;',
        '@r bar.red.popc.u32 d0, 0, p;', '@!r bar.red.popc.u32 d1, 0, p;', 'or.b32 d1, d1, 0;', '@r bar.red.and.pred q, 0, p;', told('d2')], 48


def forms():
    yield from whole()
    yield from exited()
    yield from flow()


if sys.argv[1:] == ['--check']:
    common.check((name, kernel(HEAD, code, TAIL)) for name, code, _ in forms())
else:
    record(sys.argv[1], 'barrier.py', forms(), HEAD, TAIL, words_of(MOST, rng))
