/**
 * One chunk of rolled code, for the few vectors that one turn of its loop takes. Exact fused operations are done in doubles, and whether any of them is
 * in doubt is told once, at the end: then the chunk is run once more, with sums rounded to odd.
 */
import { bug } from '../../../base/bug.ts';
import { bytesOf, elementOf, type InstOf, type Value } from '../../../ir/index.ts';
import { denseAt, denseVector } from './access.ts';
import { alikeDoubles, isExactFma } from './fma.ts';
import { type Doubt, fused, newDoubt, type Tile } from './fma-chunk.ts';
import { partWriter } from './rules.ts';
import { longOf, type Strip, shapeOf } from './strip.ts';
import { upperHalf } from './vectors.ts';

export interface Rolled {
  readonly strip: Strip;
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
  /** By load: a local with the address of the first lane. */
  readonly addresses: ReadonlyMap<Value, number>;
  /** Locals: bytes of words before the vectors at hand, and their place in the first slot. */
  readonly ahead: number;
  readonly base: number;
  /** Locals of vectors, which one chunk has after the other. */
  readonly locals: number[];
}

/** Where one vector of a value stands: those of one half of long ones, or of all, one behind the other. */
export function placeOf({ strip, slots, start }: Rolled, value: Value, part: number): number {
  const { packs } = strip.plan;
  const [pack, half] = longOf(strip, value) ? [part >> 1, part & 1] : [part, 0];
  return start + 16 * (packs * (slots.get(value)! + half) + pack);
}

/** What every vector has alike. */
export const isAlike = (s: Strip, value: Value): boolean => s.kernel.insts[value]!.op === 'const' || shapeOf(s, value) === 0;

/** Where fewer than one in so many instructions is an exact fused operation, rounding each to odd at once takes less than a chunk that is there twice. */
const seldom = 8;

/** Writes one chunk for the vectors of one turn. */
export function writeChunk(rolled: Rolled, chunk: readonly Value[]): void {
  const { strip } = rolled;
  if (chunk.filter((value) => isExactFma(strip, value)).length < chunk.length / seldom) return writeOnce(rolled, chunk);
  const doubt = newDoubt(strip);
  writeOnce(rolled, chunk, doubt);
  doubt.push();
  strip.code.openRare();
  writeOnce(rolled, chunk);
  strip.code.end();
}

/** The chunk with what is told of doubt, or with every sum rounded to odd. */
function writeOnce(rolled: Rolled, chunk: readonly Value[], doubt?: Doubt): void {
  const { strip, base, tile: packs } = rolled;
  const { code } = strip;
  const vectors = localsOf(rolled, chunk);
  const inner: Strip = Object.assign(Object.create(strip) as Strip, {
    plan: { ...strip.plan, packs },
    mask: undefined,
    isRolled: true,
    part: vectors.part,
    element: (value: Value, _: number, part: number) => vectors.part(value, part),
    lane: () => bug('one lane of code that is rolled'),
    waits: () => false,
  });
  const tile: Tile = { strip: inner, packs, ...vectors };
  for (const value of chunk) {
    strip.pool.begin();
    const inst = strip.kernel.insts[value]!;
    if (inst.op === 'fma' && isExactFma(strip, value)) fused(tile, inst, value, doubt);
    else if (inst.op !== 'load') {
      const write = partWriter(inner, value) ?? bug('an instruction without vectors in code that is rolled');
      for (let part = 0; part < packs * (longOf(strip, value) ? 2 : 1); part++) {
        write(part, 0);
        code.at('local.set', vectors.own(value, part));
      }
    }
    if (!rolled.slots.has(value)) continue;
    for (let part = 0; part < packs * (longOf(strip, value) ? 2 : 1); part++) {
      code.at('local.get', base);
      vectors.part(value, part);
      code.access('v128.store', 4, placeOf(rolled, value, part));
    }
  }
}

/** The vectors of a chunk in locals, where those that other chunks or loads make are put when they are asked for. */
function localsOf(rolled: Rolled, chunk: readonly Value[]): Pick<Tile, 'part' | 'own' | 'double' | 'ownDouble'> {
  const { strip, base } = rolled;
  const { code, kernel } = strip;
  const isOfChunk = new Set(chunk);
  const [singles, doubles] = [new Map<Value, number[]>(), new Map<Value, number[]>()];
  let taken = 0;
  const localIn = (locals: Map<Value, number[]>, value: Value, part: number): number => {
    const own = locals.get(value) ?? [];
    locals.set(value, own);
    own[part] ??= rolled.locals[taken++] ??= code.local('v128');
    return own[part];
  };
  const own = (value: Value, part: number): number => localIn(singles, value, part);
  const ownDouble = (value: Value, half: number): number => localIn(doubles, value, half);
  const isMade = (value: Value): boolean => rolled.made.has(value) || rolled.inputs.has(value);
  const loadOf = (value: Value): InstOf<'load'> | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'load' && isOfChunk.has(value) ? inst : undefined;
  };
  const part = (value: Value, which: number): void => {
    if (!isMade(value)) return strip.part(value, which);
    const known = singles.get(value)?.[which];
    if (known !== undefined) return code.at('local.get', known);
    const load = loadOf(value);
    if (load) denseVector(strip, load, () => pushAddress(rolled, load, value), which);
    else {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rolled, value, which));
    }
    code.at('local.tee', own(value, which));
  };
  /** Two of a vector's four as doubles: from its local, or from where it stands. */
  const widen = (value: Value, half: number): void => {
    const single = singles.get(value)?.[half >> 1];
    const load = loadOf(value);
    if (single !== undefined) {
      code.at('local.get', single);
      if (half % 2 === 1) upperHalf(strip);
    } else if (load) {
      pushAddress(rolled, load, value);
      code.access('v128.load', 1, denseAt(8 * half));
    } else {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rolled, value, half >> 1) + 8 * (half % 2));
    }
    code.op('f64x2.promote_low_f32x4');
  };
  const double = (value: Value, half: number): void => {
    const place = rolled.alike.get(value);
    if (place !== undefined) {
      code.at('global.get', strip.host.globals.records);
      code.access('f64.load', 8, place);
      return code.op('f64x2.splat');
    }
    if (!isMade(value)) return alikeDoubles(strip, value);
    const known = doubles.get(value)?.[half];
    if (known !== undefined) return code.at('local.get', known);
    widen(value, half);
    code.at('local.tee', ownDouble(value, half));
  };
  return { part, own, double, ownDouble };
}

/** Puts the address of the first lane of the vectors at hand on the stack. */
function pushAddress({ strip: { code }, addresses, ahead }: Rolled, inst: InstOf<'load'>, value: Value): void {
  const bytes = bytesOf(elementOf(inst.type));
  code.at('local.get', addresses.get(value)!);
  code.at('local.get', ahead);
  if (bytes !== 4) {
    code.i32(Math.abs(Math.log2(bytes / 4)));
    code.op(bytes > 4 ? 'i32.shl' : 'i32.shr_u');
  }
  code.op('i32.add');
}
