/** Functions that call themselves, and `alloca`, on both engines of the CPU device; what is expected is computed here. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import type { Engine, LaunchRequest } from '../../src/device/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('lower/recursion');
const head = '.version 8.0\n.target sm_80\n.address_size 64\n';

interface Choice {
  readonly threads?: number;
  readonly words?: number;
  readonly more?: Partial<LaunchRequest>;
  readonly options?: CompileOptions;
}

/** The words that each engine leaves, which are the same, or what is reported. */
function run(text: string, { threads = 64, words = threads, more = {}, options = { target: 'cpu' } }: Choice = {}): number[] | string[] {
  const source = new SourceFile('k.ptx', head + text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { verifiesPasses: true, ...options }, diagnostics);
  if (!compiled) return diagnostics.list.map(({ code, message }) => `${code} ${message}`);
  const [lane, simd] = (['lane', 'simd'] as const).map((engine) => runOn(engine, compiled.metallib, { threads, words, more }));
  assert.equal(simd, lane, 'both engines');
  return lane!;
}

function runOn(engine: Engine, metallib: Uint8Array, { threads, words, more }: Required<Omit<Choice, 'options'>>): number[] | string[] {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine, threads: 1 });
  const buffer = device.allocate(4 * words, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000 } as const;
  const done = device
    .load(metallib, diagnostics)
    ?.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }], ...more }, diagnostics);
  const found = [...new Int32Array(buffer.read().buffer)];
  device.close();
  return done && diagnostics.list.length === 0 ? found : diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

/** A kernel that stores `%r0` for each thread; `%r1` is its number. */
const kernel = (code: string, more = ''): string => `.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f64 %fd<9>; ${more}
  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;
  ${code}
  st.global.u32 [%rd2], %r0; ret;
}
`;
const registers = '.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f64 %fd<9>;';
const unary = (name: string, code: string): string => `.func (.param .b32 r) ${name} (.param .b32 n) { ${registers} ${code} ret; }\n`;
/** `%to = f(%from)` by a call sequence as compilers write it. */
const call = (name: string, from: string, to: string, how = name): string =>
  `{ .param .b32 a; .param .b32 b; st.param.b32 [a], ${from}; call (b), ${how}, (a)${how === name ? '' : ', P'}; ld.param.b32 ${to}, [b]; }`;
const each = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));
const fibText = unary(
  'fib',
  `ld.param.u32 %r1, [n]; mov.u32 %r0, %r1; setp.lt.u32 %p1, %r1, 2; @%p1 bra END;
   sub.u32 %r2, %r1, 1; ${call('fib', '%r2', '%r3')} sub.u32 %r2, %r1, 2; ${call('fib', '%r2', '%r4')} add.u32 %r0, %r3, %r4;
   END: st.param.b32 [r], %r0;`,
);

test('lanes recurse to different depths', () => {
  const text = fibText + kernel(`rem.u32 %r2, %r1, 11; ${call('fib', '%r2', '%r0')}`);
  assert.equal(
    run(text, { threads: 70 }),
    each(70, (t) => fib(t % 11)),
  );
});

test('calls from several places, one behind another and in a function of its own', () => {
  const two = unary(
    'two',
    `ld.param.u32 %r1, [n]; ${call('fib', '%r1', '%r2')} add.u32 %r1, %r1, 1; ${call('fib', '%r1', '%r3')}
    shl.b32 %r3, %r3, 8; or.b32 %r3, %r3, %r2; st.param.b32 [r], %r3;`,
  );
  const text =
    fibText +
    two +
    kernel(`and.b32 %r2, %r1, 7; ${call('fib', '%r2', '%r3')} ${call('two', '%r2', '%r4')} mad.lo.u32 %r0, %r3, 65536, %r4;`);
  assert.equal(
    run(text),
    each(64, (t) => fib(t % 8) * 65537 + fib((t % 8) + 1) * 256),
  );
});

test('registers of every width are kept, and a predicate', () => {
  const text =
    unary(
      'f',
      `ld.param.u32 %r1, [n]; mov.u32 %r0, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
       and.b32 %r2, %r1, 1; setp.ne.u32 %p2, %r2, 0; cvt.u16.u32 %h1, %r1; mul.wide.u32 %rd1, %r1, 65536; mul.lo.u64 %rd1, %rd1, 65536; cvt.rn.f64.u32 %fd1, %r1; shl.b32 %r8, %r1, 1;
       sub.u32 %r3, %r1, 1; ${call('f', '%r3', '%r4')}
       cvt.u32.u16 %r5, %h1; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r6, %rd1; cvt.rzi.u32.f64 %r7, %fd1; mad.lo.u32 %r0, %r4, 3, %r5; mad.lo.u32 %r0, %r6, 5, %r0; mad.lo.u32 %r0, %r7, 7, %r0; @%p2 add.u32 %r0, %r0, 1; @%p2 mov.u32 %r8, 5; add.u32 %r0, %r0, %r8;
       END: st.param.b32 [r], %r0;`,
    ) + kernel(`and.b32 %r2, %r1, 15; ${call('f', '%r2', '%r0')}`);
  const f = (n: number): number => (n === 0 ? 0 : f(n - 1) * 3 + n * 13 + (n & 1 ? 6 : 2 * n));
  assert.equal(
    run(text),
    each(64, (t) => f(t % 16) | 0),
  );
});

test('functions call one another, directly and through a table, under guards', () => {
  const table = '.visible .global .align 8 .u64 steps[3] = {down, up, plain};\n';
  const declared = ['down', 'up', 'plain'].map((name) => `.func (.param .b32 r) ${name} (.param .b32 n);\n`).join('');
  const next = (
    shift: number,
  ): string => `P: .callprototype (.param .b32 _) _ (.param .b32 _); add.u32 %r6, %r1, ${shift}; rem.u32 %r6, %r6, 3; mul.wide.u32 %rd1, %r6, 8;
    mov.u64 %rd3, steps; add.u64 %rd3, %rd3, %rd1; ld.global.u64 %rd4, [%rd3];`;
  const step = (name: string, shift: number, scale: number): string =>
    unary(
      name,
      `ld.param.u32 %r1, [n]; ${next(shift)} setp.gt.s32 %p1, %r1, 2; sub.u32 %r2, %r1, 2; mov.u32 %r3, ${scale}; .param .b32 a; .param .b32 b;
       st.param.b32 [a], %r2; @%p1 call (b), %rd4, (a), P; @%p1 ld.param.b32 %r3, [b]; mad.lo.u32 %r0, %r3, ${scale}, %r1; st.param.b32 [r], %r0;`,
    );
  const plain = unary('plain', 'ld.param.u32 %r1, [n]; mul.lo.u32 %r0, %r1, 11; st.param.b32 [r], %r0;');
  const text =
    declared +
    table +
    step('down', 1, 3) +
    step('up', 2, 5) +
    plain +
    kernel(`{ P: .callprototype (.param .b32 _) _ (.param .b32 _); .reg .b64 %f; rem.u32 %r2, %r1, 3; mul.wide.u32 %rd3, %r2, 8;
      mov.u64 %rd4, steps; add.u64 %rd4, %rd4, %rd3; ld.global.u64 %f, [%rd4]; ${call('', '%r1', '%r0', '%f')} }`);
  const f = (which: number, n: number): number => {
    if (which === 2) return n * 11;
    const [scale, shift] = which === 0 ? [3, 1] : [5, 2];
    return ((n > 2 ? f((n + shift) % 3, n - 2) : scale) * scale + n) | 0;
  };
  assert.equal(
    run(text),
    each(64, (t) => f(t % 3, t)),
  );
});

test('arrays of each call, whose addresses deeper calls have', () => {
  const text =
    `.func (.param .b32 r) walk (.param .b64 before, .param .b32 n) { ${registers} .local .align 8 .b8 own[24]; .reg .b64 %SP;
       ld.param.u64 %rd1, [before]; ld.param.u32 %r1, [n]; mov.u64 %rd2, own; cvta.local.u64 %SP, %rd2;
       ld.u32 %r2, [%rd1+4]; add.u32 %r3, %r2, %r1; st.u32 [%SP+4], %r3; st.u32 [%SP+20], %r1; mov.u32 %r0, 0;
       setp.eq.u32 %p1, %r1, 0; @%p1 bra END; sub.u32 %r4, %r1, 1;
       { .param .b64 a; .param .b32 c; .param .b32 b; st.param.b64 [a], %SP; st.param.b32 [c], %r4; call (b), walk, (a, c); ld.param.b32 %r0, [b]; }
       END: ld.u32 %r5, [%SP+4]; ld.u32 %r6, [%SP+20]; ld.u32 %r7, [%rd1+4]; add.u32 %r7, %r7, 1; st.u32 [%rd1+4], %r7;
       mad.lo.u32 %r0, %r0, 3, %r5; add.u32 %r0, %r0, %r6; st.param.b32 [r], %r0; ret; }\n` +
    kernel(
      `mov.u64 %rd3, first; cvta.local.u64 %rd3, %rd3; st.u32 [%rd3+4], %r1; and.b32 %r2, %r1, 7;
       { .param .b64 a; .param .b32 c; .param .b32 b; st.param.b64 [a], %rd3; st.param.b32 [c], %r2; call (b), walk, (a, c); ld.param.b32 %r0, [b]; } ld.u32 %r4, [%rd3+4]; mad.lo.u32 %r0, %r4, 65536, %r0;`,
      '.local .align 8 .b8 first[8];',
    );
  const walk = (before: number[], n: number): number => {
    const own = [before[0]! + n];
    const deeper = n === 0 ? 0 : walk(own, n - 1);
    before[0]!++;
    return deeper * 3 + own[0]! + n;
  };
  assert.equal(
    run(text),
    each(64, (t) => {
      const first = [t];
      const found = walk(first, t % 8);
      return (first[0]! * 65536 + found) | 0;
    }),
  );
});

test('parameters that are read after a call, structs, and parameters in registers', () => {
  const text =
    `.func (.param .align 4 .b8 r[8]) pair (.param .align 4 .b8 s[8], .param .b32 n) { ${registers}
       ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra BASE; sub.u32 %r2, %r1, 1;
       ld.param.b32 %r3, [s]; add.u32 %r3, %r3, %r1;
       { .param .align 4 .b8 a[8]; .param .b32 c; .param .align 4 .b8 b[8]; st.param.b32 [a], %r3; st.param.b32 [a+4], 7; st.param.b32 [c], %r2; call (b), pair, (a, c);
         ld.param.b32 %r4, [b]; ld.param.b32 %r5, [b+4]; }
       ld.param.b32 %r6, [s+4]; ld.param.b32 %r7, [n]; mad.lo.u32 %r5, %r5, 2, %r6; add.u32 %r4, %r4, %r7; st.param.b32 [r], %r4; st.param.b32 [r+4], %r5; ret;
       BASE: ld.param.b32 %r4, [s]; st.param.b32 [r], %r4; st.param.b32 [r+4], 1; ret; }
     .func (.reg .b32 x, .reg .b32 y) swap (.reg .b32 u, .reg .b32 v) { ${registers}
       setp.le.s32 %p1, u, 0; @%p1 bra BASE; sub.u32 %r1, u, 1; call (x, y), swap, (v, %r1); sub.u32 x, x, v; mad.lo.u32 y, y, 3, u; ret;
       BASE: mov.u32 x, v; mov.u32 y, 5; ret; }\n` +
    kernel(`and.b32 %r2, %r1, 7; { .param .align 4 .b8 a[8]; .param .b32 c; .param .align 4 .b8 b[8]; st.param.b32 [a], %r1; st.param.b32 [a+4], 9; st.param.b32 [c], %r2; call (b), pair, (a, c);
        ld.param.b32 %r4, [b]; ld.param.b32 %r5, [b+4]; } call (%r6, %r7), swap, (%r2, 6); mad.lo.u32 %r0, %r4, 31, %r5; mad.lo.u32 %r0, %r6, 1009, %r0; mad.lo.u32 %r0, %r7, 65537, %r0;`);
  const pair = ([a, b]: [number, number], n: number): [number, number] => {
    if (n === 0) return [a, 1];
    const [c, d] = pair([a + n, 7], n - 1);
    return [c + n, d * 2 + b];
  };
  const swap = (u: number, v: number): [number, number] => {
    if (u <= 0) return [v, 5];
    const [x, y] = swap(v, u - 1);
    return [x - v, y * 3 + u];
  };
  assert.equal(
    run(text),
    each(64, (t) => {
      const [[a, b], [x, y]] = [pair([t, 9], t % 8), swap(t % 8, 6)];
      return (a * 31 + b + x * 1009 + Math.imul(y, 65537)) | 0;
    }),
  );
});

test('an argument of which a part is written before an earlier call', () => {
  const text =
    `.func (.param .b32 r) f (.param .align 4 .b8 s[8]) { ${registers} .param .align 4 .b8 a[8]; .param .b32 b;
       ld.param.u32 %r1, [s]; ld.param.u32 %r2, [s+4]; mov.u32 %r0, %r2; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; mov.u32 %r0, 0; mov.u32 %r3, 0; sub.u32 %r4, %r1, 1; add.u32 %r5, %r2, %r1;
       LOOP: st.param.b32 [a], %r4; setp.ne.u32 %p2, %r3, 0; @%p2 bra JOIN; st.param.b32 [a+4], %r5;
       JOIN: call (b), f, (a); ld.param.b32 %r6, [b]; mad.lo.u32 %r0, %r0, 3, %r6; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 2; @%p3 bra LOOP;
       END: st.param.b32 [r], %r0; ret; }\n` +
    kernel(
      'and.b32 %r2, %r1, 3; { .param .align 4 .b8 a[8]; .param .b32 b; st.param.b32 [a], %r2; st.param.b32 [a+4], %r1; call (b), f, (a); ld.param.b32 %r0, [b]; }',
    );
  const f = (n: number, v: number): number => (n === 0 ? v : 4 * f(n - 1, v + n));
  assert.equal(
    run(text),
    each(64, (t) => f(t % 4, t)),
  );
});

test('barriers and shuffles at every depth', () => {
  const text =
    '.shared .align 4 .b32 s[96];\n' +
    unary(
      'level',
      `ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; mov.u32 %r4, s; add.u32 %r5, %r4, %r3; ld.shared.u32 %r0, [%r5]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
       bar.sync 0; add.u32 %r6, %r2, %r1; rem.u32 %r6, %r6, 96; shl.b32 %r6, %r6, 2; add.u32 %r6, %r4, %r6; ld.shared.u32 %r7, [%r6]; bar.sync 0;
       mad.lo.u32 %r8, %r7, 2, %r1; st.shared.u32 [%r5], %r8; bar.sync 0; sub.u32 %r9, %r1, 1; ${call('level', '%r9', '%r10')} add.u32 %r0, %r10, %r7;
       shfl.sync.bfly.b32 %r11, %r0, 1, 31, -1; add.u32 %r0, %r0, %r11;
       END: st.param.b32 [r], %r0;`,
    ) +
    kernel(
      `mul.lo.u32 %r2, %r1, 3; shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r2; bar.sync 0; mov.u32 %r5, 5; ${call('level', '%r5', '%r0')}`,
    );
  const level = (s: number[], n: number): number[] => {
    if (n === 0) return s;
    const v = s.map((_, t) => s[(t + n) % 96]!);
    const deeper = level(
      v.map((x) => x * 2 + n),
      n - 1,
    );
    const own = deeper.map((x, t) => x + v[t]!);
    return own.map((x, t) => (x + own[t ^ 1]!) | 0);
  };
  assert.equal(
    run(text, { threads: 96 }),
    level(
      each(96, (t) => t * 3),
      5,
    ),
  );
});

test('a component of functions calls another', () => {
  const text =
    fibText +
    unary(
      'outer',
      `ld.param.u32 %r1, [n]; mov.u32 %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; ${call('fib', '%r1', '%r2')} sub.u32 %r3, %r1, 1; ${call('outer', '%r3', '%r4')} ${call('fib', '%r3', '%r5')}
       mad.lo.u32 %r0, %r4, %r2, %r5; END: st.param.b32 [r], %r0;`,
    ) +
    kernel(`and.b32 %r2, %r1, 7; ${call('outer', '%r2', '%r0')}`);
  const outer = (n: number): number => (n === 0 ? 1 : outer(n - 1) * fib(n) + fib(n - 1));
  assert.equal(
    run(text),
    each(64, (t) => outer(t % 8)),
  );
});

const deep = unary(
  'deep',
  `ld.param.u32 %r1, [n]; mov.u32 %r0, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; sub.u32 %r2, %r1, 1;
   ${call('deep', '%r2', '%r3')} add.u32 %r0, %r3, %r1; END: st.param.b32 [r], %r0;`,
);

test('a stack that is too small stops the kernel at the call, and a launch may ask for a larger one', () => {
  const text = (n: number): string => deep + kernel(`mov.u32 %r2, ${n}; ${call('deep', '%r2', '%r0')}`);
  const stopped = /^CM6014 kernel `k` stopped itself: the stack of a thread is too small for a call of `deep` \(k\.ptx:\d+\)$/;
  assert.equal(
    run(text(500)),
    each(64, () => 125250),
  );
  assert.match(String(run(text(2000))), stopped);
  assert.equal(
    run(text(2000), { more: { stackBytes: 65536 } }),
    each(64, () => 2001000),
  );
  assert.match(String(run(text(60), { more: { stackBytes: 900 } })), stopped);
  assert.match(String(run(text(0x7fffffff))), stopped);
});

test('the sanitizer sees nothing wrong with a stack', () => {
  const source = new SourceFile('k.ptx', `${head}${fibText}${kernel(`rem.u32 %r2, %r1, 7; ${call('fib', '%r2', '%r0')}`)}`);
  const { metallib } = compile(source, { target: 'cpu', sanitize: true }, new Diagnostics(source))!;
  const more = { sanitize: { kinds: new Set(['memory', 'race', 'init', 'sync'] as const) } };
  assert.equal(
    runOn('auto', metallib, { threads: 40, words: 40, more }),
    each(40, (t) => fib(t % 7)),
  );
});

test('alloca in a loop, given back at the end of a function or by stackrestore', () => {
  const sum = unary(
    'sum',
    `ld.param.u32 %r1, [n]; mov.u32 %r0, 0; mov.u64 %rd9, 0; mov.u32 %r2, 0;
     LOOP: setp.ge.u32 %p1, %r2, %r1; @%p1 bra BACK; add.u32 %r3, %r2, 16; cvt.u64.u32 %rd1, %r3; alloca.u64 %rd2, %rd1, 16;
     and.b64 %rd3, %rd2, 15; cvt.u32.u64 %r4, %rd3; add.u32 %r0, %r0, %r4; st.local.u64 [%rd2], %rd9; st.local.u32 [%rd2+8], %r2; mov.u64 %rd9, %rd2; add.u32 %r2, %r2, 1; bra LOOP;
     BACK: setp.eq.u32 %p2, %r2, 0; @%p2 bra END; ld.local.u32 %r5, [%rd9+8]; ld.local.u64 %rd9, [%rd9]; mad.lo.u32 %r0, %r0, 3, %r5; sub.u32 %r2, %r2, 1; bra BACK;
     END: st.param.b32 [r], %r0;`,
  );
  // 16 calls of up to 15 * 32 bytes, then 300 allocations of 64: neither would find room if nothing was given back.
  const text =
    sum +
    kernel(`mov.u32 %r0, 0; mov.u32 %r3, 0; and.b32 %r2, %r1, 15;
     LOOP: ${call('sum', '%r2', '%r4')} mad.lo.u32 %r0, %r0, 5, %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 16; @%p1 bra LOOP;
     stacksave.u64 %rd5; mov.u32 %r3, 0;
     AGAIN: alloca.u64 %rd6, 64; st.local.u32 [%rd6+60], %r3; ld.local.u32 %r4, [%rd6+60]; add.u32 %r0, %r0, %r4; stackrestore.u64 %rd5; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 300; @%p1 bra AGAIN;`);
  const expected = (t: number): number => {
    let own = 0;
    for (let i = (t % 16) - 1; i >= 0; i--) own = (Math.imul(own, 3) + i) | 0;
    let all = 0;
    for (let i = 0; i < 16; i++) all = (Math.imul(all, 5) + own) | 0;
    return (all + (299 * 300) / 2) | 0;
  };
  assert.equal(run(text, { more: { stackBytes: 1024 } }), each(64, expected));
});

test('a function that calls itself and takes memory', () => {
  const text =
    unary(
      'f',
      `ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 4; alloca.u32 %r3, %r2; st.local.u32 [%r3], %r1; mov.u32 %r0, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; sub.u32 %r4, %r1, 1;
       ${call('f', '%r4', '%r5')} mul.lo.u32 %r0, %r5, 3; END: ld.local.u32 %r6, [%r3]; add.u32 %r0, %r0, %r6; alloca.u32 %r3, 8; st.local.u32 [%r3], -1; st.local.u32 [%r3+4], -1; st.param.b32 [r], %r0;`,
    ) + kernel(`and.b32 %r2, %r1, 15; ${call('f', '%r2', '%r0')}`);
  const f = (n: number): number => (n === 0 ? 0 : (Math.imul(f(n - 1), 3) + n) | 0);
  assert.equal(
    run(text),
    each(64, (t) => f(t % 16)),
  );
});

test('too much memory stops the kernel, and so does a value that stacksave has not given', () => {
  assert.match(String(run(kernel('alloca.u64 %rd3, 9000; mov.u32 %r0, 1;'))), /CM6014 .*too small for what `alloca` takes \(k\.ptx:\d+\)/);
  assert.match(String(run(kernel('mov.u64 %rd4, -1; alloca.u64 %rd3, %rd4; mov.u32 %r0, 1;'))), /CM6014 .*too small/);
  assert.match(String(run(kernel('alloca.u64 %rd3, 8192; alloca.u64 %rd3, 1; mov.u32 %r0, 1;'))), /CM6014 .*too small/);
  assert.match(String(run(kernel('mov.u64 %rd4, -1; stackrestore.u64 %rd4; mov.u32 %r0, 1;'))), /CM6014 .*`stackrestore` of a value/);
});

test('what clang makes of an array of variable size', () => {
  const bitcode = readFileSync(new URL('../../fixtures/nvvm/alloca.bc', import.meta.url));
  const text = ptxOfBitcode(new Uint8Array(bitcode), new Diagnostics())!;
  const source = new SourceFile('alloca.ptx', text);
  const { metallib } = compile(source, { target: 'cpu' }, new Diagnostics(source))!;
  for (const n of [9, 2000]) {
    const launched = launchMetallib(metallib, { kernel: 'variable', blocks: 1, threads: 1, args: [Int32Array.of(0, n - 1), n] });
    assert.is(new Int32Array(launched[0]!.buffer)[0], n - 1);
  }
  assert.throws(
    () => launchMetallib(metallib, { kernel: 'variable', blocks: 1, threads: 1, args: [Int32Array.of(0, 1), 2100] }),
    /too small for what `alloca` takes/,
  );
});

test('Apple GPUs have a stack in the memory of each thread', () => {
  const text = deep + kernel(`mov.u32 %r2, 4; ${call('deep', '%r2', '%r0')}`);
  assert.equal(run(text, { options: { target: 'macos15' } }), run(text));
  const large = kernel('alloca.u64 %rd3, 9000; st.local.u32 [%rd3], 1; mov.u32 %r0, 1;');
  assert.match(String(run(large, { options: { target: 'macos15' } })), /too small for what `alloca` takes/);
});

const nvcc = readFileSync(new URL('../../fixtures/linking/recursion.ptx', import.meta.url), 'utf8');
const nvccFile = new SourceFile('recursion.ptx', nvcc);
const nvccModule = compile(nvccFile, { target: 'cpu', verifiesPasses: true }, new Diagnostics(nvccFile))!.metallib;
const runNvcc = (kernel: string, threads: number, bytes: Uint8Array, more: LaunchRequest['args'] = []): Int32Array => {
  const device = openCpuDevice({ threads: 1 });
  const diagnostics = new Diagnostics();
  const buffer = device.allocate(bytes.length, diagnostics)!;
  buffer.write(bytes);
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000 } as const;
  const args = [{ kind: 'buffer', buffer } as const, ...more];
  device.load(nvccModule, diagnostics, { kernels: [kernel] })!.launch({ kernel, ...shape, args }, diagnostics);
  assert.equal(diagnostics.list, [], kernel);
  const found = new Int32Array(buffer.read().slice().buffer);
  device.close();
  return found;
};

test('what nvcc makes of recursive functions', () => {
  const recorded = readFileSync(new URL('../../fixtures/linking/recursion.txt', import.meta.url), 'utf8')
    .trim()
    .split(' ')
    .slice(1)
    .map(Number);
  assert.equal([...runNvcc('_Z4fibsPi', 70, new Uint8Array(280))], recorded, 'an H200');
  const unsorted = Int32Array.from({ length: 64 * 37 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >> 8);
  const n = { kind: 'bytes', bytes: new Uint8Array(Int32Array.of(37).buffer) } as const;
  const rows = each(64, (t) => [...unsorted.slice(37 * t, 37 * t + 37)].sort((a, b) => a - b));
  assert.equal([...runNvcc('_Z5sortsPii', 64, new Uint8Array(unsorted.buffer), [n])], rows.flat());
  type Big = readonly number[];
  const combine = (b: Big, depth: number): Big => {
    if (depth === 0) return b;
    const c = each(6, (i) => b[(i + depth) % 6]! + i * depth);
    return combine(c, depth - 1).map((x, i) => x ^ c[5 - i]!);
  };
  const structs = each(33, (t) =>
    combine(
      each(6, (i) => t * i),
      t % 11,
    ),
  );
  assert.equal([...runNvcc('_Z7structsPi', 33, new Uint8Array(33 * 24))], structs.flat());
  const up = (x: number, d: number): number => (d === 0 ? -x : [down, up][x & 1]!(x * 2, d - 1) - 1);
  const down = (x: number, d: number): number => (d === 0 ? x : [down, up][(x ^ d) & 1]!(x - 3, d - 1) + 1);
  const pointers = each(64, (t) => [down, up][t & 1]!(t, t % 13));
  assert.equal([...runNvcc('_Z8pointersPi', 64, new Uint8Array(256))], pointers);
  const sums = each(64, (t) => each(32, (l) => (Math.floor(t / 32) * 32 + l) ** 2).reduce((a, b) => a + b));
  assert.equal([...runNvcc('_Z4sumsPi', 64, new Uint8Array(256))], sums);
});

test.run();
