/** Trials of `wgmma` with random descriptors, and their comparison with the model. */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';
import { randomFractions } from './lcg.ts';
import {
  byteOf,
  type Descriptor,
  depthOf,
  type Element,
  eachSum,
  imageBytes,
  kernelOf,
  numberOf,
  type Operands,
  randomBytes,
  registersOf,
  type Trial,
} from './wgmma.ts';

type Random = (below: number) => number;

export const randomFrom = (seed: number): Random => {
  const next = randomFractions(seed);
  return (below) => Math.floor(below * next());
};

/** A descriptor whose elements are all in the image. */
function randomDescriptor(
  random: Random,
  element: Element,
  isTransposed: boolean,
  rows: number,
  depth: number,
  isWide: boolean,
): Descriptor {
  for (;;) {
    const mode = random(4) as Descriptor['mode'];
    if (isWide && mode === 3) continue;
    const base = random(4) === 0 ? random(8) : 0;
    const fits: Descriptor = { start: 16 * random(64), leading: 16 * random(256), stride: 16 * random(128), base, mode };
    let most = 0;
    for (const row of [rows - 8, rows - 1, 63 % rows])
      for (const k of [0, depth - 1]) most = Math.max(most, byteOf(fits, element, isTransposed, row, k));
    if (most + 1200 < imageBytes) return fits;
  }
}

export type Chosen = Pick<Trial, 'n' | 'a' | 'b' | 'd'> & { readonly inRegisters: boolean; readonly isSparse?: boolean };

export function randomTrial(random: Random, { inRegisters, isSparse = false, ...types }: Chosen): Trial {
  const { a, b, n } = types;
  const isHalf = a === 'f16' || a === 'bf16';
  const [isLeftTransposed, isRightTransposed] = [isHalf && !inRegisters && random(2) === 1, isHalf && random(2) === 1];
  const start: Trial = {
    ...types,
    left: undefined,
    right: { start: 0, leading: 0, stride: 0, base: 0, mode: 0 },
    isLeftTransposed,
    isRightTransposed,
    signs: ['s8', 'u8', 'b1'].includes(a) ? [1, 1] : [random(2) ? 1 : -1, random(2) ? 1 : -1],
    isAdded: random(4) > 0,
    isSaturated: (a === 's8' || a === 'u8') && random(2) === 1,
    isSparse,
    selector: isSparse && !['s8', 'u8', 'e4m3', 'e5m2'].includes(a) ? random(2) : 0,
  };
  const depth = depthOf(start);
  return {
    ...start,
    left: inRegisters ? undefined : randomDescriptor(random, a, isLeftTransposed, 64, isSparse ? depth / 2 : depth, false),
    right: randomDescriptor(random, b, isRightTransposed, n, depth, isSparse && !isRightTransposed),
  };
}

/** Positions of two of four elements in each nibble, or of one of two for `tf32`. */
function randomPositions(random: Random, a: Element): number {
  const pairs = a === 'tf32' ? [0b0100, 0b1110] : [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110];
  return Array.from({ length: 8 }, () => pairs[random(pairs.length)]!).reduce((all, each, i) => all | (each << (4 * i)), 0);
}

export function operandsOf(random: Random, trial: Trial): Operands {
  const seed = random(1 << 30);
  const words = new Uint32Array(randomBytes(trial.a, 128 * 32, seed + 1).buffer);
  for (let thread = 0; thread < 128; thread++) words[8 * thread + 4] = randomPositions(random, trial.a);
  const count = 128 * registersOf(trial);
  const before = new Uint32Array(randomBytes(trial.d === 'f16' ? 'f16' : trial.d === 'f32' ? 'tf32' : 's8', 4 * count, seed + 2).buffer);
  // Sums that saturate.
  if (trial.isSaturated) for (let i = 0; i < count; i += 3) before[i] = i % 2 ? 0x7fffff00 : 0x80000100;
  return { image: randomBytes(trial.b, imageBytes, seed), words, before };
}

export function metallibOf(text: string): Uint8Array {
  const source = new SourceFile('wgmma.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return compiled.metallib;
}

/** Runs a trial and compares every element of d. */
export function check(trial: Trial, operands: Operands, metallib = metallibOf(kernelOf(trial)), times = 1): void {
  const args = [operands.image, operands.words, operands.before];
  const after = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 128, shared: imageBytes, args })[2]!;
  compare(trial, operands, new Uint32Array(after.buffer, after.byteOffset, after.byteLength / 4), JSON.stringify(trial), { times });
}

/** Compares the registers of d of all threads with the model; `times`: how often the product is added, `kept`: bits of sums behind the terms. */
export function compare(trial: Trial, operands: Operands, after: Uint32Array, what: string, { times = 1, kept = 23 } = {}): void {
  const floats = new Float32Array(after.buffer, after.byteOffset, after.length);
  const count = registersOf(trial);
  const k = depthOf(trial);
  eachSum(trial, operands, (thread, index, c, once) => {
    const terms = Array.from({ length: times }, () => once).flat();
    const exact = terms.reduce((sum, each) => sum + each, c);
    const at = `${what}: thread ${thread}, element ${index}`;
    if (trial.d === 's32') {
      const want = trial.isSaturated ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, exact)) : exact | 0;
      return assert.is(after[thread * count + index]! | 0, want, at);
    }
    const isHalf = trial.d === 'f16';
    const got = isHalf
      ? numberOf('f16', (after[thread * count + (index >> 1)]! >>> (16 * (index & 1))) & 0xffff)
      : floats[thread * count + index]!;
    if (Number.isNaN(exact)) return assert.ok(Number.isNaN(got), `${at} is ${got}, not a NaN`);
    const size = terms.reduce((sum, each) => sum + Math.abs(each), Math.abs(c));
    const tolerance =
      Math.max((times * k + 1) * 2 ** -23, 2 ** -kept) * size + (isHalf ? Math.max(2 ** -24, Math.abs(exact) * 2 ** -11) : 0);
    assert.ok(Math.abs(got - exact) <= tolerance || (isHalf && Math.abs(exact) > 65000), `${at} is ${got}, not ${exact}`);
  });
}
