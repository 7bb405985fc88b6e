/**
 * Products whose sums go round a loop: with `--mma=fast` they do so in tiles, and come out of it as they come out of the exact form, for any
 * number of turns and wherever the loop is left.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit, type MmaMode } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { randomWords } from '../support/lcg.ts';

const test = suite('lower/matrix-loops');

const forms = {
  f32: { registers: 4, type: 'f32', line: 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' },
  f16: { registers: 2, type: 'b32', line: 'mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16' },
} as const;

const product = ({ registers, line }: (typeof forms)[keyof typeof forms]): string => {
  const c = `{${Array.from({ length: registers }, (_, i) => `c${i}`).join(', ')}}`;
  return `${line} ${c}, {a0, a1, a2, a3}, {b0, b1}, ${c};
  xor.b32 a1, a1, 0x80000000; mov.b32 x, a0; mov.b32 a0, a2; mov.b32 a2, x; add.u32 i, i, 1;`;
};

/** By where the loop is left: at its end, at its start, in the middle; `skip` keeps all threads of some blocks out of it. */
const loops: Readonly<Record<string, (body: string) => string>> = {
  end: (body) => `setp.eq.u32 p, turns, 0; @p bra done;\nturn: ${body}\nsetp.lt.u32 p, i, turns; @p bra turn;\ndone:`,
  start: (body) => `turn: setp.ge.u32 p, i, turns; @p bra done;\n${body}\nbra turn;\ndone:`,
  middle: (body) => `turn: ${body}\nsetp.ge.u32 p, i, turns; @p bra done;\n${body}\nbra turn;\ndone:`,
  two: (body) => `turn: setp.ge.u32 p, i, turns; @p bra done;\n${body}\nsetp.eq.u32 p, i, 3; @p bra done;\nbra turn;\ndone:`,
  skip: (body) => `mov.u32 x, %ctaid.x; setp.eq.u32 p, x, 1; @p bra done;\nturn: ${body}\nsetp.lt.u32 p, i, turns; @p bra turn;\ndone:`,
};

function source(form: (typeof forms)[keyof typeof forms], loop: string): SourceFile {
  const stored = Array.from({ length: form.registers }, (_, i) => `st.global.${form.type} [at+${32 + 4 * i}], c${i};`).join(' ');
  const loaded = Array.from({ length: form.registers }, (_, i) => `ld.global.${form.type} c${i}, [at+${32 + 4 * i}];`).join(' ');
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 count) {
  .reg .b64 at; .reg .b32 a<4>, b<2>, i, x, turns, thread; .reg .${form.type} c<4>; .reg .pred p;
  ld.param.u64 at, [data]; ld.param.u32 turns, [count];
  mov.u32 x, %ctaid.x; mov.u32 i, %ntid.x; mov.u32 thread, %tid.x; mad.lo.u32 thread, x, i, thread;
  mad.wide.u32 at, thread, 48, at; mov.u32 i, 0;
  ld.global.v4.u32 {a0, a1, a2, a3}, [at]; ld.global.v2.u32 {b0, b1}, [at+16]; ${loaded}
  ${loop}
  ${stored}
  ret;
}
`;
  return new SourceFile('k.ptx', text);
}

/** Halves between 1/8 and 2 of both signs, and for the sums words that are either kind of number. */
function words(count: number): Uint32Array {
  const next = randomWords(11);
  const half = (): number => {
    const word = next();
    return ((word >>> 31) << 15) | ((12 + ((word >>> 8) % 4)) << 10) | ((word >>> 16) & 0x3ff);
  };
  return Uint32Array.from({ length: count }, () => (half() << 16) | half());
}

const [blocks, threads] = [3, 64];
function run(from: SourceFile, turns: number, mma: MmaMode): Uint8Array {
  const diagnostics = new Diagnostics(from);
  const compiled = compile(from, { mma }, diagnostics);
  assert.equal(diagnostics.list, []);
  return launchMetallib(compiled!.metallib, { kernel: 'k', blocks, threads, args: [words(blocks * threads * 12), turns] })[0]!;
}

for (const [name, form] of Object.entries(forms))
  for (const [where, loop] of Object.entries(loops))
    test(`${name}, left at: ${where}`, () => {
      const from = source(form, loop(product(form)));
      const results = [0, 1, 2, 5].map((turns) => {
        const [exact, fast] = (['exact', 'fast'] as const).map((mma) => Buffer.from(run(from, turns, mma)).toString('hex'));
        assert.is(fast, exact, `${turns} turns`);
        return exact;
      });
      assert.is(results[2] === results[3], false);
      const ir = emit(from, 'ir', { mma: 'fast' }, new Diagnostics(from)) as string;
      const [turn] = ir.split(/^(?=b\d)/m).filter((block) => block.includes('= matmul'));
      // Of factors alone, where the loop has one way out.
      if (where !== 'two' && where !== 'middle') assert.is([...turn!.matchAll(/= shuffle/g)].length, 8);
    });

test.run();
