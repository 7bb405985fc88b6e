/**
 * `ldmatrix` as a function of a metallib, which reads static and dynamic shared memory. Expected registers are worked out from PTX ISA 9.0, 9.7.14.5.15:
 * a thread has two elements of a row of each tile, or of a column with `.trans`, and lane 8 i + r names row r of tile i.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { compile } from '../../src/compile/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('air/ldmatrix');

type Memory = 'fixed' | 'sized';
interface Form {
  readonly count: 1 | 2 | 4;
  readonly isTransposed: boolean;
}

/** What the halves of each memory begin with, which are numbers from there on. */
const firsts: Readonly<Record<Memory, number>> = { fixed: 100, sized: 3000 };

/** The place of the row that a lane names: not its own, so that a row of a neighbor is seen. */
const placeOf = (lane: number): number => (5 * lane) & 31;

/** One warp: a thread writes eight halves to each memory, loads tiles from each, and writes its registers one behind the other. */
function textOf(memories: readonly Memory[], { count, isTransposed }: Form): string {
  const registers = ['%r4', '%r5', '%r6', '%r7'].slice(0, count);
  const form = `ldmatrix.sync.aligned.m8n8.x${count}${isTransposed ? '.trans' : ''}.shared.b16`;
  const fill = memories.flatMap((memory) => [
    `mov.u32 %r2, ${memory}; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;`,
    `mad.lo.u32 %r3, %r1, ${0x80008}, ${firsts[memory] * 0x10001 + 0x10000};`,
    ...[0, 4, 8, 12].map((at) => `st.shared.u32 [%r2+${at}], %r3; add.u32 %r3, %r3, ${0x20002};`),
  ]);
  const load = memories.flatMap((memory) => [
    `mul.lo.u32 %r3, %r1, 5; and.b32 %r3, %r3, 31; shl.b32 %r3, %r3, 4; mov.u32 %r2, ${memory}; add.u32 %r2, %r2, %r3;`,
    `${form} {${registers.join(', ')}}, [%r2];`,
    ...registers.map((register) => `st.global.u32 [%rd1], ${register}; add.u64 %rd1, %rd1, 4;`),
  ]);
  return `.version 8.0
.target sm_80
.address_size 64
${memories.includes('sized') ? '.extern .shared .align 16 .b8 sized[];' : ''}
.visible .entry tiles(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  ${memories.includes('fixed') ? '.shared .align 16 .b8 fixed[512];' : ''}
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, ${4 * count * memories.length};
  add.u64 %rd1, %rd1, %rd2;
  ${fill.join('\n  ')}
  bar.sync 0;
  ${load.join('\n  ')}
  ret;
}`;
}

function expected(memories: readonly Memory[], { count, isTransposed }: Form): number[] {
  const registers: number[] = [];
  for (let lane = 0; lane < 32; lane++)
    for (const memory of memories)
      for (let tile = 0; tile < count; tile++) {
        const half = (row: number, column: number): number => firsts[memory] + 8 * placeOf(8 * tile + row) + column;
        const [group, within] = [lane >> 2, 2 * (lane & 3)];
        const [low, high] = isTransposed ? [half(within, group), half(within + 1, group)] : [half(group, within), half(group, within + 1)];
        registers.push(low | (high << 16));
      }
  return registers;
}

const libraryOf = (text: string, target: 'macos14' | 'macos15' | 'cpu'): Uint8Array => {
  const file = new SourceFile('tiles.ptx', text);
  const diagnostics = new Diagnostics(file);
  const compiled = compile(file, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return compiled.metallib;
};

const forms = ([1, 2, 4] as const).flatMap((count) => [false, true].map((isTransposed): Form => ({ count, isTransposed })));

for (const memories of [['fixed'], ['sized'], ['fixed', 'sized']] as const satisfies readonly (readonly Memory[])[])
  test(`tiles of ${memories.join(' and ')} shared memory`, () => {
    for (const form of forms)
      for (const target of ['macos14', 'macos15', 'cpu'] as const) {
        const library = libraryOf(textOf(memories, form), target);
        const out = new Uint32Array(32 * form.count * memories.length);
        const [bytes] = launchMetallib(library, {
          kernel: 'tiles',
          blocks: 1,
          threads: 32,
          shared: (memories as readonly Memory[]).includes('sized') ? 512 : 0,
          args: [out],
        });
        assert.equal(
          [...new Uint32Array(bytes!.slice().buffer)],
          expected(memories, form),
          `x${form.count} ${form.isTransposed} ${target}`,
        );
      }
  });

test('each form is one function of the module, and has the pointer to dynamic memory where there is some', () => {
  const functionsOf = (memories: readonly Memory[]) => {
    const diagnostics = new Diagnostics();
    const [fn] = readMetallib(libraryOf(textOf(memories, { count: 4, isTransposed: true }), 'macos15'), diagnostics)!.functions;
    return readModule(fn!.bitcode, diagnostics)!.functions.filter(({ name }) => name.startsWith('cumetal.'));
  };
  assert.equal(
    functionsOf(['fixed']).map(({ name, args }) => [name, args.length]),
    [['cumetal.ldmatrix.x4.trans', 2]],
  );
  assert.equal(
    functionsOf(['fixed', 'sized']).map(({ name, args }) => [name, args.length]),
    [['cumetal.ldmatrix.x4.trans', 3]],
  );
});

test.run();
