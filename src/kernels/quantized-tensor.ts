/**
 * Products of quantized weights with vectors by tensor cores. A warp has 16 rows, whose bytes come to shared memory by asynchronous copies of windows of 16 bytes,
 * so that no alignment is needed. A vector of f32 is three vectors of bfloats, whose sum it is exactly; where scales are integers, it is digits of integers.
 */
import { partOf } from '../api/index.ts';
import {
  type Arguments,
  b32,
  bf16,
  blockIndex,
  commitCopies,
  constant,
  dynamicShared,
  f32,
  gridSize,
  kernel,
  local,
  loop,
  type Pointer,
  pack,
  ptr,
  shuffleXor,
  syncThreads,
  syncWarp,
  type TypedKernel,
  threadIndex,
  u8,
  u32,
  type Value,
  type Variable,
  v2,
  v4,
  waitCopies,
  warpIndex,
  when,
} from '../build/index.ts';
import { type Bits, type CodesName, codesOf } from './quantized-codes.ts';
import { type Copier, copier, pairCopier } from './quantized-copies.ts';
import { digitBytes, digitMultiplier, spreadDigits } from './quantized-digits.ts';
import {
  type Form,
  finisher,
  gap,
  type Inside,
  multiplier,
  parts,
  type Spread,
  type Sums,
  tileRows,
  unitWeights,
} from './quantized-multiply.ts';
import { refuse } from './refuse.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';
import { advance } from './stages.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
type Long = Value<'u64'>;

const parameters = { weights: ptr(u8), rows: u32, columns: u32, x: ptr(f32), y: ptr(f32), batch: u32, split: u32 };

/** How a block is divided. */
export interface QuantizedTile {
  /** The vectors of a block. */
  readonly vectors?: 1 | 2;
  /** The warps of a block. */
  readonly warps?: 8 | 16 | 32;
  /** The units of 256 weights of 16 rows in shared memory for each warp. */
  readonly stages?: number;
  /** The blocks of a multiprocessor: 1 by default. */
  readonly perProcessor?: number;
}

/** What a launch of `quantizedTensorGemm` is given. */
export type QuantizedTensorArguments = Omit<Arguments<typeof parameters>, 'batch' | 'split'> & {
  /** The number of vectors: rows of x and of y. 1 by default. */
  readonly batch?: number;
};

const largestShared = 227 * 1024;

/** The bytes of shared memory for rows of some columns. */
const sharedOf = ({ warps, stages, pitch, vectors, codes }: Form, columns: number): number => {
  const padded = Math.ceil(columns / unitWeights) * unitWeights;
  if (codes.integers) return warps * stages * tileRows * pitch + digitBytes(vectors, padded);
  return warps * stages * tileRows * pitch + vectors * (parts * (2 * padded + gap) + padded / 4);
};

function formOf(format: CodesName, { vectors = 1, warps = 16, stages = 2, perProcessor = 1 }: QuantizedTile): Form {
  const codes = codesOf[format];
  const together = codes.integers ? 2 : 1;
  const pitch = Math.ceil((together * codes.bytes + 16 - codes.align) / 16) * 16;
  return { codes, vectors, warps, stages, pitch, together, perProcessor };
}

/** Whether shared memory has room for rows of some columns. */
export const hasRoom = (format: CodesName, tile: QuantizedTile, columns: number): boolean =>
  sharedOf(formOf(format, tile), columns) <= largestShared;

/**
 * `quantizedGemm` by tensor cores from sm_80 on. Codes are bfloats exactly, and so are the parts of a vector, which is finite and below 3e38. With `q4_K` and
 * `q5_K` the elements of a vector are numbers of 31 bits, relative to the largest of each 256, and weights are summed as integers; an infinity or NaN
 * makes the products NaN. Rows have up to some 18000 columns; one or two vectors read the weights once. Rows are divided among the multiprocessors.
 * Deterministic.
 */
export function quantizedTensorGemm(
  format: CodesName,
  tile: QuantizedTile = {},
  multiprocessors = 132,
): Routine<typeof parameters, QuantizedTensorArguments> {
  const form = formOf(format, tile);
  const { codes, vectors, warps, stages, perProcessor } = form;
  const inFlight = multiprocessors * perProcessor;
  const name = named('gemm_tensor', format, vectors, warps, stages, perProcessor, multiprocessors);
  const threads = 32 * warps;
  const make = (key: string): TypedKernel<typeof parameters> =>
    kernel(key, parameters, (p) => body(p as unknown as Inside, form), { ...portable, block: threads, minBlocks: perProcessor });
  return routine(name, make, ({ batch = 1, ...given }): Plan<typeof parameters> => {
    const { rows, columns, weights } = given;
    if (columns % codes.weights !== 0)
      refuse(name, `\`columns\` is ${columns}, and a row of this format has a multiple of ${codes.weights} weights`);
    const address = typeof weights === 'bigint' ? weights : partOf(weights)?.address;
    if (address !== undefined && address % BigInt(codes.align) !== 0n) refuse(name, `\`weights\` is not aligned to ${codes.align} bytes`);
    const bytes = sharedOf(form, columns);
    if (bytes > largestShared) refuse(name, `${columns} columns need ${bytes} bytes of shared memory`);
    const groups = blocksFor(rows, tileRows);
    const units = blocksFor(columns, form.together * unitWeights);
    const split = splitOf({ groups, units, warps, multiprocessors: inFlight }, codes.sharing ?? 1);
    const blocks = blocksFor(groups, warps / split);
    return {
      grid: [Math.min(blocks, inFlight), blocksFor(batch, vectors)],
      block: threads,
      shared: bytes,
      args: { ...given, batch, split },
      sizes: { rows, columns, batch: batch > 65535 ? Number.NaN : batch },
      needs: { weights: (rows * columns * codes.bytes) / unitWeights, x: batch * columns, y: batch * rows },
    };
  });
}

/** The warps that share 16 rows: those that give the least rounds of units, and of equal ones as few, or as many up to a number. */
function splitOf(
  { groups, units, warps, multiprocessors }: Record<'groups' | 'units' | 'warps' | 'multiprocessors', number>,
  equal: number,
): number {
  const costOf = (split: number): number => Math.ceil(Math.ceil((groups * split) / warps) / multiprocessors) * Math.ceil(units / split);
  let best = 1;
  for (let split = 2; split <= warps; split *= 2)
    if (costOf(split) < costOf(best) || (split <= equal && costOf(split) === costOf(best))) best = split;
  return best;
}

/** The vectors in shared memory: three bfloats of each element, in fours of the order 0, 2, 1, 3, with zeros beyond the last. */
function spread(p: Inside, { vectors, warps, stages, pitch: rowPitch }: Form): Spread {
  const at = dynamicShared(u8, warps * stages * tileRows * rowPitch);
  const padded = p.columns.add(unitWeights - 1).and(~(unitWeights - 1) >>> 0);
  const pitch = padded.mul(2).add(gap);
  const sums = at.add(pitch.mul(parts * vectors)).as(f32);
  const first = blockIndex('y').mul(vectors);
  const step = 128 * warps;
  const batched = 4;
  const isAligned = (p.x.address() as Long).and(15).eq(0).and(p.columns.and(3).eq(0));
  for (let v = 0; v < vectors; v++) {
    const from = p.x.add(first.add(v).min(p.batch.sub(1)).mulWide(p.columns));
    loop(threadIndex().mul(4), padded, batched * step, (k) => {
      const values = Array.from({ length: batched }, () => Array.from({ length: 4 }, () => local(f32, 0)));
      const place = (i: number): Word => k.add(i * step);
      when(
        isAligned,
        () =>
          values.forEach((each, i) => {
            when(place(i).lt(p.columns), () =>
              from
                .add(place(i))
                .as(v4(f32))
                .at(0)
                .get()
                .lanes.forEach((lane, e) => {
                  each[e]!.set(lane);
                }),
            );
          }),
        () =>
          values.forEach((each, i) => {
            each.forEach((value, e) => {
              when(place(i).add(e).lt(p.columns), () => value.set(from.at(place(i), e)));
            });
          }),
      );
      values.forEach((each, i) => {
        when(place(i).lt(padded), () => spreadFour(each, place(i), { at, pitch, sums: sums.add(padded.shr(4).mul(v)) }, v));
      });
    });
  }
  return { at, pitch, sums };
}

function spreadFour(values: readonly Real[], k: Word, { at, pitch, sums }: Spread, v: number): void {
  let rest = values;
  for (let part = 0; part < parts; part++) {
    const rounded = rest.map((value) => value.to(bf16));
    rest = rest.map((value, e) => value.sub(rounded[e]!.to(f32)));
    const words = [pack(rounded[0]!, rounded[2]!), pack(rounded[1]!, rounded[3]!)].map((each) => each.as(b32)) as [Bits, Bits];
    at.add(pitch.mul(v * parts + part))
      .add(k.mul(2))
      .as(v2(b32))
      .at(0)
      .set(words);
  }
  let sum = values[0]!.add(values[1]!).add(values[2]!.add(values[3]!));
  for (const distance of [1, 2]) sum = sum.add(shuffleXor(sum, distance));
  when(threadIndex().and(3).eq(0), () => sums.at(k.shr(4)).set(sum));
}

/** Where a warp is: rounds over groups of rows, and in each of them steps over units of 256 weights. */
interface Walk {
  readonly group: Variable<'u32'>;
  readonly unit: Variable<'u32'>;
}

function body(p: Inside, form: Form): void {
  const { vectors, warps, stages, together } = form;
  const units = p.columns.add(together * unitWeights - 1).div(together * unitWeights);
  const groups = p.rows.add(tileRows - 1).div(tileRows);
  const perRound = constant(u32, warps).div(p.split);
  const [team, member] = [warpIndex().div(p.split), warpIndex().rem(p.split)];
  const walk = (): Walk => ({ group: local(u32, blockIndex().mul(perRound)), unit: local(u32, member) });
  // Every warp of a block takes the same number of steps, because they meet at barriers.
  const steps = units.add(p.split).sub(1).div(p.split);
  const forward = ({ group, unit }: Walk, copies?: Copier): void => {
    unit.set(unit.add(p.split));
    when(
      unit.ge(steps.mul(p.split)),
      () => {
        unit.set(member);
        group.set(group.add(gridSize().mul(perRound)));
        copies?.aim(group.add(team), unit);
      },
      copies?.step,
    );
  };
  const [ahead, now] = [walk(), walk()];
  const copies = form.codes.integers ? pairCopier(p, form) : copier(p, form);
  copies.aim(ahead.group.add(team), ahead.unit);
  const slots = stages - 1;
  const own = dynamicShared(u8).add(warpIndex().mul(stages * tileRows * form.pitch));
  const [writing, reading] = [local(u32, 0), local(u32, 0)];
  const fetch = (): void => {
    when(ahead.group.lt(groups).and(ahead.unit.lt(units)), () => copies.copy(own.add(writing.mul(tileRows * form.pitch)), ahead.unit));
    commitCopies();
    forward(ahead, copies);
    advance(writing, stages);
  };
  loop(0, slots, 1, fetch);
  const whole = form.codes.integers ? spreadDigits(p, form) : undefined;
  const vector = whole ? undefined : spread(p, form);
  syncThreads();
  const sums: Sums = {
    totals: [0, 1].map(() => [local(f32, 0), local(f32, 0)]),
    offsets: [0, 1].map(() => Array.from({ length: vectors }, () => local(f32, 0))),
  };
  const useDigits = whole && digitMultiplier(form, whole, sums);
  const useBits = vector && multiplier(p, form, vector, sums);
  const use = (from: Pointer<'u8', 'shared'>): void => {
    useBits?.(from, now.group.add(team), now.unit.get());
    if (!useDigits) return;
    const first = now.unit.mul(together);
    useDigits(from, first);
    for (let more = 1; more < together; more++)
      when(first.add(more).mul(unitWeights).lt(p.columns), () => useDigits(from.add(more * form.codes.bytes), first.add(more)));
  };
  const finish = finisher(p, form, sums, team);
  loop(blockIndex().mul(perRound), groups, gridSize().mul(perRound), () => {
    loop(constant(u32, 0), steps, 1, () => {
      waitCopies(slots - 1);
      // All lanes see the copies of all, and the slot that is written next is not read any more.
      syncWarp();
      fetch();
      when(now.unit.lt(units), () => use(own.add(reading.mul(tileRows * form.pitch))));
      advance(reading, stages);
      forward(now);
    });
    finish();
  });
  waitCopies(0);
}
