"""Records what an NVIDIA GPU gives for what threads of a warp do together: fixtures/h200/warp.json.

usage: python3 scripts/record/warp.py OUT.json          on a machine with the GPU
       python3 scripts/record/warp.py --check           which kernels ptxas refuses (no GPU needed)

One block of threads, of which each reads two words a and b and stores four: what its code left in d0 to d3. The code of a form
stands between a head and a tail that all share; a recording holds those of d0 to d3 that the code writes. Code that the manual calls undefined (a
shuffle from a lane that takes no part, a thread that is not of its mask) does not occur.
"""
import random
import sys

import common
from block_forms import TAIL, head_of, kernel, record, words_of

rng = random.Random(5)
FULL = '0xffffffff'

HEAD = head_of(128, ['mov.u32 i, %ctaid.x;', 'mov.u32 n, %ntid.x;', 'mad.lo.s32 i, i, n, t;'], 'i')


def told(register):
    return f'selp.u32 {register}, 1, 0, p;'


def shuffles():
    """Whole warps: each mode with constant and with variable lanes, for each width of segments."""
    for mode in ['up', 'down', 'bfly', 'idx']:
        for width in [32, 16, 8, 4, 2, 1]:
            c = (32 - width) << 8 | (0 if mode == 'up' else 31)
            for by in [0, 1, 2, 5, 16, 31]:
                yield f'shfl.{mode} by {by} in {width}', [f'shfl.sync.{mode}.b32 d0|p, a, {by}, {c}, {FULL};', told('d1')], 96
        yield f'shfl.{mode} by a register', [f'shfl.sync.{mode}.b32 d0|p, a, b, {0 if mode == "up" else 31}, {FULL};', told('d1')], 96
        # Any clamp and any segments, and each thread its own.
        yield f'shfl.{mode} by registers', ['shr.u32 c, b, 7;', f'shfl.sync.{mode}.b32 d0|p, a, b, c, {FULL};', told('d1')], 96
        yield f'shfl.{mode} of floats', [f'shfl.sync.{mode}.b32 d0, a, 3, {0 if mode == "up" else 31}, {FULL};', 'add.f32 d0, d0, d0;'], 64


def votes():
    for block in [96, 80]:
        for low in [1, 3, 31]:
            test = [f'and.b32 x, a, {low};', 'setp.ne.u32 q, x, 0;']
            for mode in ['all', 'any', 'uni']:
                yield f'vote.{mode} of {low} in {block}', [*test, f'vote.sync.{mode}.pred p, q, {FULL};', told('d0'), f'vote.sync.{mode}.pred p, !q, {FULL};', told('d1')], block
            yield f'vote.ballot of {low} in {block}', [*test, f'vote.sync.ballot.b32 d0, q, {FULL};', f'vote.sync.ballot.b32 d1, !q, {FULL};'], block
        yield f'votes that agree in {block}', ['setp.eq.u32 q, a, a;', f'vote.sync.all.pred p, q, {FULL};', told('d0'), f'vote.sync.uni.pred p, !q, {FULL};', told('d1'), f'vote.sync.any.pred p, !q, {FULL};', told('d2')], block
        for low in [1, 3, 15]:
            key = f'and.b32 x, a, {low};'
            yield f'match.any of {low} in {block}', [key, f'match.any.sync.b32 d0, x, {FULL};'], block
            wide = ['and.b32 y, b, 1;', 'mov.b64 w, {y, x};']
            yield f'match.any of {low}, wide, in {block}', [key, *wide, f'match.any.sync.b64 d0, w, {FULL};'], block
            yield f'match.all of {low} in {block}', [key, f'match.all.sync.b32 d0|p, x, {FULL};', told('d1')], block
        yield f'match.all in {block}', ['mov.u32 x, %ctaid.x;', f'match.all.sync.b32 d0|p, x, {FULL};', told('d1'), 'mov.b64 w, {x, x};', f'match.all.sync.b64 d2|p, w, {FULL};', told('d3')], block
        yield f'match.all of high words in {block}', ['shr.u32 x, lane, 4;', 'mov.b64 w, {n, x};', f'match.all.sync.b64 d0|p, w, {FULL};', told('d1')], block
        for op, type_ in [('add', 'u32'), ('add', 's32'), ('min', 'u32'), ('min', 's32'), ('max', 'u32'), ('max', 's32'), ('and', 'b32'), ('or', 'b32'), ('xor', 'b32')]:
            yield f'redux.{op}.{type_} in {block}', [f'redux.sync.{op}.{type_} d0, a, {FULL};', 'or.b32 x, a, 0xffff;', f'redux.sync.{op}.{type_} d1, x, {FULL};'], block
        yield f'elect in {block}', [f'elect.sync d0|p, {FULL};', told('d1')], block
        yield f'activemask in {block}', ['activemask.b32 d0;'], block


def parts():
    """Parts of warps, after threads parted."""
    def below(k, code):
        return [f'setp.ge.u32 q, lane, {k};', '@q bra end;', *code]

    for k in [1, 5, 13, 16, 31]:
        mask = (1 << k) - 1
        yield f'shfl of the first {k}', below(k, ['add.u32 x, lane, 1;', f'rem.u32 x, x, {k};', f'shfl.sync.idx.b32 d0|p, a, x, 31, {mask};', told('d1')]), 96
        yield f'votes of the first {k}', below(k, ['setp.lt.s32 p, a, 0;', f'vote.sync.ballot.b32 d0, p, {mask};', f'vote.sync.any.pred p, p, {mask};', told('d1'), f'redux.sync.add.u32 d2, a, {mask};', f'match.any.sync.b32 d3, t, {mask};']), 96
        yield f'elect of the first {k}', below(k, [f'elect.sync d0|p, {mask};', told('d1'), 'activemask.b32 d2;']), 96
        yield f'elect of all but the first {k}', [f'setp.lt.u32 q, lane, {k};', '@q bra end;', f'elect.sync d0|p, {0xFFFFFFFF & ~mask};', told('d1'), f'vote.sync.ballot.b32 d2, p, {0xFFFFFFFF & ~mask};'], 96
    yield 'both sides', ['and.b32 x, lane, 1;', 'setp.eq.u32 q, x, 0;', '@q bra even;',
                         'shfl.sync.bfly.b32 d0, a, 2, 31, 0xaaaaaaaa;', 'redux.sync.add.u32 d1, a, 0xaaaaaaaa;', 'bra join;',
                         'even:', 'shfl.sync.bfly.b32 d0, b, 4, 31, 0x55555555;', 'redux.sync.add.u32 d1, b, 0x55555555;',
                         'join:', f'bar.warp.sync {FULL};', f'shfl.sync.bfly.b32 d2, d0, 1, 31, {FULL};'], 96
    yield 'a guard', ['and.b32 x, lane, 3;', 'setp.lt.u32 q, x, 2;', f'vote.sync.ballot.b32 m, q, {FULL};',
                      '@q shfl.sync.bfly.b32 d0, a, 1, 31, m;', '@!q shfl.sync.bfly.b32 d0, b, 1, 31, 0xcccccccc;'], 96
    yield 'a loop that threads leave by turns', [
        'mov.u32 m, 0xffffffff;', 'mov.u32 c, 0;', 'mov.u32 d0, 0;', 'mov.u32 d1, 0;', 'and.b32 n, b, 7;',
        'turn:', 'setp.le.u32 q, c, n;', 'vote.sync.ballot.b32 x, q, m;', '@!q bra out;', 'mov.u32 m, x;',
        'brev.b32 y, m;', 'clz.b32 y, y;', 'shfl.sync.idx.b32 y, a, y, 31, m;', 'xor.b32 d0, d0, y;', 'add.u32 d0, d0, 1;',
        'redux.sync.add.u32 y, c, m;', 'add.u32 d1, d1, y;', 'add.u32 c, c, 1;', 'bra turn;',
        'out:', f'bar.warp.sync {FULL};', f'shfl.sync.down.b32 d2|p, d0, 1, 31, {FULL};', told('d3')], 96
    yield 'a loop with a part that only some do', [
        'mov.u32 c, 0;', 'mov.u32 d0, 0;', 'mov.u32 d1, 0;',
        'turn:', 'add.u32 x, c, lane;', 'and.b32 x, x, 3;', 'setp.ne.u32 q, x, 0;', f'vote.sync.ballot.b32 m, q, {FULL};', '@!q bra skip;',
        'redux.sync.xor.b32 y, a, m;', 'xor.b32 d0, d0, y;', 'add.u32 d1, d1, m;',
        'skip:', f'shfl.sync.up.b32 d0, d0, 1, 0, {FULL};', 'add.u32 c, c, 1;', 'setp.lt.u32 q, c, 6;', '@q bra turn;'], 96
    yield 'a loop in a loop', [
        'mov.u32 c, 0;', 'mov.u32 d0, 0;', 'mov.u32 d1, 0;',
        'turn:', 'mov.u32 y, 0;', 'mov.u32 m, 0xffffffff;', 'and.b32 n, lane, c;',
        'inner:', 'setp.le.u32 q, y, n;', 'vote.sync.ballot.b32 x, q, m;', '@!q bra out;', 'mov.u32 m, x;', 'redux.sync.add.u32 x, a, m;', 'add.u32 d0, d0, x;', 'add.u32 y, y, 1;', 'bra inner;',
        'out:', f'bar.warp.sync {FULL};', f'redux.sync.max.u32 x, d0, {FULL};', 'add.u32 d1, d1, x;', 'add.u32 c, c, 1;', 'setp.lt.u32 q, c, 5;', '@q bra turn;'], 96
    yield 'either of two conditions', [
        'and.b32 x, a, 1;', 'setp.ne.u32 p, x, 0;', 'and.b32 x, b, 1;', 'setp.ne.u32 q, x, 0;', 'or.pred r, p, q;', f'vote.sync.ballot.b32 m, r, {FULL};',
        '@p bra take;', 'add.u32 d1, lane, 100;', '@q bra take;', 'bra end;',
        'take:', 'redux.sync.add.u32 d0, a, m;', 'vote.sync.ballot.b32 d2, p, m;'], 96
    yield 'threads that left', ['setp.ge.u32 q, lane, 20;', '@q bra leave;',
                                f'shfl.sync.up.b32 d0|p, a, 1, 0, {FULL};', told('d1'), f'vote.sync.ballot.b32 d2, p, {FULL};', f'redux.sync.add.u32 d3, a, {FULL};', 'bra end;',
                                'leave:', 'exit;'], 96
    yield 'through shared memory', [
        'mov.u32 base, cells;', 'shl.b32 x, t, 2;', 'add.u32 x, base, x;', 'st.shared.u32 [x], a;', f'bar.warp.sync {FULL};',
        'xor.b32 y, t, 7;', 'shl.b32 y, y, 2;', 'add.u32 y, base, y;', 'ld.shared.u32 d0, [y];', f'bar.warp.sync {FULL};', 'st.shared.u32 [y], d0;',
        'bar.sync 0;', 'ld.shared.u32 d1, [base];'], 96
    yield 'by the first warp alone', [
        f'redux.sync.add.u32 x, a, {FULL};', 'mov.u32 base, cells;', 'shr.u32 y, t, 5;', 'shl.b32 y, y, 2;', 'add.u32 y, base, y;', 'setp.eq.u32 p, lane, 0;', '@p st.shared.u32 [y], x;',
        'bar.sync 0;', 'setp.gt.u32 q, t, 31;', '@q bra end;', 'mov.u32 d0, 0;', 'setp.lt.u32 p, lane, 3;', 'shl.b32 y, lane, 2;', 'add.u32 y, base, y;', '@p ld.shared.u32 d0, [y];',
        *[line for by in [16, 8, 4, 2, 1] for line in (f'shfl.sync.bfly.b32 x, d0, {by}, 31, {FULL};', 'add.u32 d0, d0, x;')]], 96


def forms():
    yield from shuffles()
    yield from votes()
    yield from parts()


if sys.argv[1:] == ['--check']:
    common.check((name, kernel(HEAD, code, TAIL)) for name, code, _ in forms())
else:
    record(sys.argv[1], 'warp.py', forms(), HEAD, TAIL, words_of(96, rng))
