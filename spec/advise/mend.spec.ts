/** Suggested layouts of shared memory, applied to the kernel by hand and counted by the profiler. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Mended, placed } from '../../src/advise/mend.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import type { Profile } from '../../src/device/profile.ts';
import { launch, parseArgument } from '../../src/runtime/index.ts';
import { adviceOf, type Short, shortText } from '../support/advised.ts';
import { diskIo, messages } from '../support/examples.ts';

const test = suite('advise/mend');

/** A kernel that stores and loads words of some bytes, `stride` bytes apart, at the places that `layout` (PTX on `%r3`, an offset) gives. */
function kernel(stride: number, bytes: 4 | 8 | 16, layout: string): Short {
  const values = Array.from({ length: bytes / 4 }, (_, i) => `%r${20 + i}`);
  const type = bytes === 4 ? 'u32' : `v${bytes / 4}.u32`;
  const list = bytes === 4 ? values[0] : `{${values.join(', ')}}`;
  const set = values.map((value) => `mov.u32 ${value}, %r1;`).join(' ');
  return {
    head: '.shared .align 16 .b8 s[40960];',
    grid: 1,
    block: 128,
    n: 128,
    body: `${set} mul.lo.u32 %r3, %r1, ${stride}; ${layout} mov.u32 %r4, s; add.u32 %r5, %r4, %r3;
  st.shared.${type} [%r5], ${list};
  bar.sync 0;
  ld.shared.${type} ${list}, [%r5];
  st.global.u32 [%rd2], ${values[0]};`,
  };
}

function profileOf(short: Short): Profile {
  const source = new SourceFile('k.ptx', shortText(short));
  const diagnostics = new Diagnostics(source);
  const device = openCpuDevice();
  const module = device.load(compile(source, { target: 'cpu', marks: true }, diagnostics)!.metallib, diagnostics)!;
  let profile: Profile | undefined;
  const take = (taken: Profile): void => {
    profile = taken;
  };
  const args = ['u32:128', 'u32=128'].map((word) => parseArgument(word, diagnostics)!);
  const plan = { kernel: 'k', grid: [1, 1, 1], block: [128, 1, 1], args, constants: [] } as const;
  launch(device, module, plan, { repeat: 1, timeoutMs: 0, observe: { profile: { source, take } } }, { io: diskIo, diagnostics });
  device.close();
  if (!profile) throw new Error(messages(diagnostics).join('; '));
  return profile;
}

/** The layouts of a help. */
function layoutsOf(help: string): Omit<Mended, 'wavefronts'>[] {
  return help.split('; or ').map((text) => {
    const [, rowBytes, padding] = /^pad each row of (\d+) bytes by (\d+) bytes/.exec(text) ?? [];
    if (rowBytes) return { rowBytes: Number(rowBytes), padding: Number(padding), swizzle: undefined };
    const [, unit, row, count] = /each (\d+)-byte unit in its row of (\d+) bytes with the row's number modulo (\d+)/.exec(text)!;
    return { rowBytes: Number(row), padding: undefined, swizzle: { unit: Number(unit), count: Number(count) } };
  });
}

/** The layout as PTX on the offset in `%r3`. */
function ptxOf({ rowBytes, padding, swizzle }: Omit<Mended, 'wavefronts'>): string {
  if (padding !== undefined) return `div.u32 %r10, %r3, ${rowBytes}; mad.lo.u32 %r3, %r10, ${padding}, %r3;`;
  const { unit, count } = swizzle!;
  return `div.u32 %r10, %r3, ${rowBytes}; and.b32 %r10, %r10, ${count - 1}; mul.lo.u32 %r10, %r10, ${unit}; xor.b32 %r3, %r3, %r10;`;
}

for (const [stride, bytes] of [
  [128, 4],
  [256, 4],
  [16, 8],
  [128, 8],
  [32, 16],
  [128, 16],
] as const)
  test(`words of ${bytes} bytes, ${stride} bytes apart: every suggestion removes the conflict`, () => {
    const before = kernel(stride, bytes, '');
    const found = adviceOf(before).list.filter(({ code }) => code === 'CM2303');
    assert.is(found.length, 2);
    assert.ok(profileOf(before).total.shared.load.wavefronts > profileOf(before).total.shared.load.leastWavefronts);
    const layouts = layoutsOf(found[1]!.help!);
    assert.is(layouts.length, 2, 'a padding and an exchange');
    for (const layout of layouts) {
      const { load, store } = profileOf(kernel(stride, bytes, ptxOf(layout))).total.shared;
      assert.is(load.wavefronts, load.leastWavefronts, JSON.stringify(layout));
      assert.is(store.wavefronts, store.leastWavefronts, JSON.stringify(layout));
    }
  });

test('an exchange gives every byte a place of its own', () => {
  const layout = { rowBytes: 128, padding: undefined, swizzle: { unit: 4, count: 32 } };
  const places = new Set(Array.from({ length: 8192 }, (_, offset) => placed(offset, layout)));
  assert.is(places.size, 8192);
  assert.is(Math.max(...places), 8191);
});

test.run();
