/**
 * One chunk of rolled code, for the few vectors that one turn of its loop takes. Exact fused operations are done in doubles, and whether any of them is
 * in doubt is told once, at the end: then the chunk is run once more, with sums rounded to odd.
 */

import { bug } from '../../../base/bug.ts';
import { bytesOf, type InstOf, type Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { newScratch } from '../../codegen/scratch.ts';
import { writeConstant } from '../../codegen/values.ts';
import { type LaneGroup, longOf, numberOf, shapeOf, splat } from '../lanes/lane-group.ts';
import { constantWords } from '../lanes/leaf-values.ts';
import { upperHalf } from '../lanes/vectors.ts';
import { isExactFma, splatF64 } from '../rules/fma-f32.ts';
import { exactFmaOfTile, type HardCases, type Tile, withHardCases } from '../rules/fma-f32-rerolled.ts';
import { partWriter } from '../rules/index.ts';
import { denseAt, denseVector, isDense } from './memory-access.ts';
import { loadStrided, stridedAddresses } from './strided-access.ts';

export interface Rerolled {
  readonly strip: LaneGroup;
  /** Vectors of four lanes that one turn takes. */
  readonly tile: number;
  /** Offset in the record area of what chunks hand on. */
  readonly start: number;
  readonly chunks: readonly (readonly Value[])[];
  /** By value: the chunk that makes it. */
  readonly made: ReadonlyMap<Value, number>;
  /** By value that is handed on: its place. */
  readonly slots: ReadonlyMap<Value, number>;
  /** Values of before that chunks take from their places. */
  readonly inputs: ReadonlySet<Value>;
  /** Values that are used behind the stretch. */
  readonly outputs: readonly Value[];
  /** By number that lanes share and fused operations take: where it stands in the record area, as a double. */
  readonly alike: ReadonlyMap<Value, number>;
  /** The same of numbers that all else takes, as they are. */
  readonly numbers: ReadonlyMap<Value, number>;
  /** By load: a local with the address of the first lane. */
  readonly addresses: ReadonlyMap<Value, number>;
  /** Locals: where the record area starts, bytes of words before the vectors at hand, and the sum of both. */
  readonly records: number;
  readonly ahead: number;
  readonly base: number;
  /** Locals of vectors, which one chunk has after the other. */
  readonly locals: number[];
}

/** Where one vector of a value stands: those of one half of long ones, or of all, one behind the other. */
export function placeOf({ strip, slots, start }: Rerolled, value: Value, part: number): number {
  const { packs } = strip.plan;
  const [pack, half] = longOf(strip, value) ? [part >> 1, part & 1] : [part, 0];
  return start + 16 * (packs * (slots.get(value)! + half) + pack);
}

/** What every vector has alike. */
export const isAlike = (s: LaneGroup, value: Value): boolean => s.kernel.insts[value]!.op === 'const' || shapeOf(s, value) === 0;

/** Where fewer than one in so many instructions is an exact fused operation, rounding each to odd at once takes less than a chunk that is there twice. */
const rareFmaRatio = 8;

/** Writes one chunk for all vectors of a strip. One of several has a function of its own: engines do not optimise what is long. */
export function writeChunk(rerolled: Rerolled, chunk: readonly Value[]): void {
  if (rerolled.chunks.length === 1) return eachTurn(rerolled, chunk);
  const { own, call } = inFunction(rerolled, chunk);
  eachTurn(own, chunk);
  call(() => {});
}

/** Writes a loop over the vectors of a strip. */
function eachTurn(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { strip, records, base, ahead, tile } = rerolled;
  const { code } = strip;
  code.i32(0);
  code.at('local.set', ahead);
  code.open('loop');
  code.at('local.get', records);
  code.at('local.get', ahead);
  code.op('i32.add');
  code.at('local.set', base);
  writeTurn(rerolled, chunk);
  code.at('local.get', ahead);
  code.i32(16 * tile);
  code.op('i32.add');
  code.at('local.tee', ahead);
  code.i32(16 * strip.plan.packs);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}

/** Writes a chunk for the vectors of one turn. */
function writeTurn(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { strip } = rerolled;
  if (chunk.filter((value) => isExactFma(strip, value)).length < chunk.length / rareFmaRatio) return writeOnce(rerolled, chunk);
  withHardCases(strip, (hardCases) => {
    writeOnce(rerolled, chunk, hardCases);
    hardCases.push();
  });
  strip.code.openRare();
  callAgain(rerolled, chunk);
  strip.code.end();
}

/**
 * Runs a chunk once more, vector by vector, with every sum rounded to odd. A function does it: beside the code that is seldom left it would take
 * registers from that, and be most of what there is to compile.
 */
function callAgain(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { strip, tile, base, ahead } = rerolled;
  const { own, call } = inFunction(rerolled, chunk, ['base', 'ahead']);
  writeOnce({ ...own, tile: 1 }, chunk);
  for (let pack = 0; pack < tile; pack++)
    call(() => {
      for (const local of [base, ahead]) {
        strip.code.at('local.get', local);
        strip.code.i32(16 * pack);
        strip.code.op('i32.add');
      }
    });
}

/** A function for a chunk, which takes all from memory but where it loads, and the parameters that `call` is to put on the stack itself. */
function inFunction(
  { strip, ...rerolled }: Rerolled,
  chunk: readonly Value[],
  given: readonly ('base' | 'ahead')[] = [],
): { readonly own: Rerolled; readonly call: (pushGiven: () => void) => void } {
  const loads = chunk.filter((value) => rerolled.addresses.has(value));
  const { index, code } = strip.newFunction([...given, ...loads].map(() => 'i32'));
  const wordOf = (name: 'base' | 'ahead'): number => (given.includes(name) ? given.indexOf(name) : code.local('i32'));
  const records = code.local('i32');
  code.at('global.get', strip.host.globals.records);
  code.at('local.set', records);
  const own: Rerolled = {
    ...rerolled,
    strip: withNumbers(strip, code, { numbers: rerolled.numbers, records }),
    records,
    addresses: new Map(loads.map((load, i) => [load, given.length + i])),
    base: wordOf('base'),
    ahead: wordOf('ahead'),
    locals: [],
  };
  const call = (pushGiven: () => void): void => {
    pushGiven();
    for (const load of loads) strip.code.at('local.get', rerolled.addresses.get(load)!);
    strip.code.at('call', index);
  };
  return { own, call };
}

/** A strip for chunks, in a function of its own or not, where the numbers that lanes share stand in memory. */
export function withNumbers(strip: LaneGroup, code: Code, { numbers, records }: Pick<Rerolled, 'numbers' | 'records'>): LaneGroup {
  const own = Object.create(strip) as LaneGroup;
  const scalar = (value: Value): void => {
    const inst = strip.kernel.insts[value]!;
    if (inst.op === 'const') return writeConstant(code, numberOf(strip, value), inst.bits);
    code.at('local.get', records);
    code.access(`${numberOf(strip, value)}.load`, 4, numbers.get(value) ?? bug(`value ${value} is not handed to a chunk`));
  };
  const part = (value: Value): void => {
    const inst = strip.kernel.insts[value]!;
    if (inst.op === 'const') return code.v128(constantWords(strip, value, inst));
    splat(own, value, () => scalar(value));
  };
  return Object.assign(own, { code, mask: undefined, scalar, part, scratch: code === strip.code ? strip.scratch : newScratch(code) });
}

/** The chunk with what is told of doubt, or with every sum rounded to odd. */
function writeOnce(rerolled: Rerolled, chunk: readonly Value[], hardCases?: HardCases): void {
  const { strip, base, tile: packs } = rerolled;
  const { code } = strip;
  const vectors = localsOf(rerolled, chunk);
  const inner: LaneGroup = Object.assign(Object.create(strip) as LaneGroup, {
    plan: { ...strip.plan, packs },
    mask: undefined,
    isRerolled: true,
    part: vectors.part,
    element: (value: Value, _: number, part: number) => vectors.part(value, part),
    lane: () => bug('one lane of code that is rolled'),
    isDeferred: () => false,
  });
  const tile: Tile = { strip: inner, packs, ...vectors };
  for (const value of chunk) {
    strip.pool.begin();
    const inst = strip.kernel.insts[value]!;
    if (inst.op === 'fma' && isExactFma(strip, value)) exactFmaOfTile(tile, inst, value, hardCases);
    else if (inst.op !== 'load') {
      const write = partWriter(inner, value) ?? bug('an instruction without vectors in code that is rolled');
      for (let part = 0; part < packs * (longOf(strip, value) ? 2 : 1); part++) {
        write(part, 0);
        code.at('local.set', vectors.own(value, part));
      }
    }
    if (!rerolled.slots.has(value)) continue;
    for (let part = 0; part < packs * (longOf(strip, value) ? 2 : 1); part++) {
      code.at('local.get', base);
      vectors.part(value, part);
      code.access('v128.store', 4, placeOf(rerolled, value, part));
    }
  }
}

/** The vectors of a chunk in locals, where those that other chunks or loads make are put when they are asked for. */
function localsOf(rerolled: Rerolled, chunk: readonly Value[]): Pick<Tile, 'part' | 'own' | 'double' | 'ownDouble'> {
  const { strip, base } = rerolled;
  const { code, kernel } = strip;
  const isOfChunk = new Set(chunk);
  const [singles, doubles] = [new Map<Value, number[]>(), new Map<Value, number[]>()];
  let taken = 0;
  const localIn = (locals: Map<Value, number[]>, value: Value, part: number): number => {
    const own = locals.get(value) ?? [];
    locals.set(value, own);
    own[part] ??= rerolled.locals[taken++] ??= code.local('v128');
    return own[part];
  };
  const own = (value: Value, part: number): number => localIn(singles, value, part);
  const ownDouble = (value: Value, half: number): number => localIn(doubles, value, half);
  const isMade = (value: Value): boolean => rerolled.made.has(value) || rerolled.inputs.has(value);
  const loadOf = (value: Value): InstOf<'load'> | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'load' && isOfChunk.has(value) ? inst : undefined;
  };
  const part = (value: Value, which: number): void => {
    if (!isMade(value)) return strip.part(value, which);
    const known = singles.get(value)?.[which];
    if (known !== undefined) return code.at('local.get', known);
    const load = loadOf(value);
    if (load) loadPart(rerolled, load, value, which);
    else {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rerolled, value, which));
    }
    code.at('local.tee', own(value, which));
  };
  /** Two of a vector's four as doubles: from its local, or from where it stands. */
  const widen = (value: Value, half: number): void => {
    const isThere = singles.get(value)?.[half >> 1] !== undefined;
    const load = loadOf(value);
    if (!isThere && load && isDense(strip, load.addr, value)) {
      pushAddress(rerolled, load, value);
      code.access('v128.load', 1, denseAt(8 * half));
    } else if (!isThere && !load) {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rerolled, value, half >> 1) + 8 * (half % 2));
    } else {
      part(value, half >> 1);
      if (half % 2 === 1) upperHalf(strip);
    }
    code.op('f64x2.promote_low_f32x4');
  };
  const double = (value: Value, half: number): void => {
    const place = rerolled.alike.get(value);
    if (place !== undefined) {
      code.at('local.get', rerolled.records);
      code.access('f64.load', 8, place);
      return code.op('f64x2.splat');
    }
    if (!isMade(value)) return splatF64(strip, value);
    const known = doubles.get(value)?.[half];
    if (known !== undefined) return code.at('local.get', known);
    widen(value, half);
    // What others hand on stays where it is: a chunk may take more of it than there are registers.
    if (!isOfChunk.has(value)) return;
    code.at('local.tee', ownDouble(value, half));
  };
  return { part, own, double, ownDouble };
}

/** Puts one vector that a load makes on the stack. */
function loadPart(rerolled: Rerolled, inst: InstOf<'load'>, value: Value, which: number): void {
  const { strip } = rerolled;
  const push = (): void => pushAddress(rerolled, inst, value);
  if (isDense(strip, inst.addr, value)) return denseVector(strip, inst, push, which);
  const isLong = bytesOf(inst.type) === 8;
  loadStrided(strip, inst.type, stridedAddresses(strip, inst.addr, push, isLong ? which >> 1 : which), which & 1);
}

/** Puts the address of the first lane of the vectors at hand on the stack: `ahead` is by words before it in a strip. */
function pushAddress({ strip, addresses, ahead }: Rerolled, inst: InstOf<'load'>, value: Value): void {
  const { code } = strip;
  const stride = strip.plan.shapes.stride[inst.addr]!;
  code.at('local.get', addresses.get(value)!);
  code.at('local.get', ahead);
  if (stride % 4 !== 0) {
    code.i32(2);
    code.op('i32.shr_u');
  }
  const factor = stride % 4 === 0 ? stride / 4 : stride;
  if (factor !== 1) {
    code.i32(factor);
    code.op('i32.mul');
  }
  code.op('i32.add');
}
