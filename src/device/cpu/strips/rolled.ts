/**
 * Long straight code: written once for one vector of four lanes, in a loop over the vectors of the strip, chunk by chunk. What one chunk hands on
 * to another stands in the record area of memory. Written out for every vector such code is larger than what a processor keeps decoded,
 * so that fetching it takes longer than running it, and has more live values than there are registers.
 */
import { bug } from '../../../base/bug.ts';
import {
  type Block,
  bytesOf,
  elementOf,
  type InstOf,
  isVector,
  operandsOf,
  specOf,
  terminatorOperands,
  type Value,
} from '../../../ir/index.ts';
import { isFree } from '../compile/plan.ts';
import { denseVector, firstAddress, isDense } from './access.ts';
import { fewestRolled, isLongRun } from './long-runs.ts';
import { partWriter } from './rules.ts';
import { longOf, type Strip, shapeOf } from './strip.ts';
import type { StripValues } from './values.ts';

/** Vector instructions of a chunk. */
const ofChunk = 96;

/** A stretch of a block's body: from one place to before another. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** The stretches of a block that are to be rolled. */
export function runsOf(s: Strip, { body }: Block): Run[] {
  if (s.plan.packs === 1 || body.length < fewestRolled) return [];
  const runs: Run[] = [];
  let [from, values]: [number, Value[]] = [0, []];
  for (let at = 0; at <= body.length; at++) {
    const value = body[at];
    if (value !== undefined && mayRoll(s, value)) {
      if (isRolled(s, value)) values.push(value);
      continue;
    }
    if (isLongRun(s.kernel, values)) runs.push({ from, to: at });
    [from, values] = [at + 1, []];
  }
  return runs;
}

/** What is written for each vector; what lanes share is worked out before. */
const isRolled = (s: Strip, value: Value): boolean => shapeOf(s, value) === 2 && !isFree(s.kernel.insts[value]!);

function mayRoll(s: Strip, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  if (isFree(inst) || (inst.op === 'load' && isDenseLoad(s, inst, value))) return true;
  const isPlain = [value, ...operandsOf(inst)].every((each) => !isVector(s.kernel.insts[each]!.type));
  if (specOf(inst.op).effect !== 'pure' || !isPlain) return false;
  if (inst.op === 'fma' && inst.type === 'f32' && s.fma === 'exact' && shapeOf(s, value) === 2) return false;
  return shapeOf(s, value) < 2 || partWriter(s, value) !== undefined;
}

/** Loads read alike before and behind each other; nothing of a stretch writes. */
const isDenseLoad = (s: Strip, inst: InstOf<'load'>, value: Value): boolean =>
  !inst.volatile && !isVector(inst.type) && (shapeOf(s, value) < 2 || isDense(s, inst.addr, value));

interface Rolled {
  readonly strip: Strip;
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
  /** By load: a local with the address of the first lane. */
  readonly addresses: ReadonlyMap<Value, number>;
  /** Locals: bytes of words before the vector at hand, and its place in the first slot. */
  readonly ahead: number;
  readonly base: number;
  /** Locals of vectors, which one chunk has after the other. */
  readonly locals: number[];
}

/** Writes a stretch. Gives the bytes of the record area that it takes, from `start` on. */
export function writeRolled(values: StripValues, block: Block, { from, to }: Run, start: number): number {
  const { strip } = values;
  const { code } = strip;
  const body = block.body.slice(from, to);
  for (const value of body) if (!isRolled(strip, value)) values.define(value);
  const { rolled, bytes } = planned(values, block, { from, to }, start);
  const { ahead, base } = rolled;
  const records = (): void => code.at('global.get', strip.host.globals.records);
  for (const value of rolled.inputs)
    for (let part = 0; part < values.parts(value); part++) {
      records();
      strip.part(value, part);
      code.access('v128.store', 4, placeOf(rolled, value, part));
    }
  for (const [load, local] of rolled.addresses) {
    firstAddress(strip, (strip.kernel.insts[load] as InstOf<'load'>).addr);
    code.at('local.set', local);
  }
  for (const chunk of rolled.chunks) {
    code.i32(0);
    code.at('local.set', ahead);
    code.open('loop');
    records();
    code.at('local.get', ahead);
    code.op('i32.add');
    code.at('local.set', base);
    writeChunk(rolled, chunk);
    code.at('local.get', ahead);
    code.i32(16);
    code.op('i32.add');
    code.at('local.tee', ahead);
    code.i32(16 * strip.plan.packs);
    code.op('i32.lt_u');
    code.at('br_if', 0);
    code.end();
  }
  for (const value of rolled.outputs)
    for (let part = 0; part < values.parts(value); part++) {
      records();
      code.access('v128.load', 4, placeOf(rolled, value, part));
      values.put(value, 0, part);
    }
  for (const value of body) if (isRolled(strip, value)) values.finish(operandsOf(strip.kernel.insts[value]!));
  return bytes;
}

/** Where one vector of a value stands: those of one half of long ones, or of all, one behind the other. */
function placeOf({ strip, slots, start }: Rolled, value: Value, part: number): number {
  const { packs } = strip.plan;
  const [pack, half] = longOf(strip, value) ? [part >> 1, part & 1] : [part, 0];
  return start + 16 * (packs * (slots.get(value)! + half) + pack);
}

/** One chunk for one vector of lanes. */
function writeChunk(rolled: Rolled, chunk: readonly Value[]): void {
  const { strip, base } = rolled;
  const { code } = strip;
  const locals = new Map<Value, number[]>();
  let taken = 0;
  const localOf = (value: Value, part: number): number => {
    const own = locals.get(value) ?? [];
    locals.set(value, own);
    own[part] ??= rolled.locals[taken++] ??= code.local('v128');
    return own[part];
  };
  const part = (value: Value, half: number): void => {
    if (!rolled.made.has(value) && !rolled.inputs.has(value)) return strip.part(value, half);
    const known = locals.get(value)?.[half];
    if (known !== undefined) return code.at('local.get', known);
    code.at('local.get', base);
    code.access('v128.load', 4, placeOf(rolled, value, half));
    code.at('local.tee', localOf(value, half));
  };
  const inner: Strip = Object.assign(Object.create(strip) as Strip, {
    plan: { ...strip.plan, packs: 1 },
    mask: undefined,
    isRolled: true,
    part,
    element: (value: Value, _: number, half: number) => part(value, half),
    lane: () => bug('one lane of code that is rolled'),
    waits: () => false,
  });
  for (const value of chunk) {
    strip.pool.begin();
    const inst = strip.kernel.insts[value]!;
    const write = inst.op === 'load' ? (half: number) => loadAhead(rolled, inst, value, half) : partWriter(inner, value);
    if (!write) bug('an instruction without vectors in code that is rolled');
    for (let half = 0; half < (longOf(strip, value) ? 2 : 1); half++) {
      write(half, 0);
      code.at('local.set', localOf(value, half));
      if (!rolled.slots.has(value)) continue;
      code.at('local.get', base);
      code.at('local.get', localOf(value, half));
      code.access('v128.store', 4, placeOf(rolled, value, half));
    }
  }
}

/** Puts what lies side by side from the vector at hand on on the stack. */
function loadAhead({ strip, addresses, ahead }: Rolled, inst: InstOf<'load'>, value: Value, half: number): void {
  const { code } = strip;
  const bytes = bytesOf(elementOf(inst.type));
  denseVector(
    strip,
    inst,
    () => {
      code.at('local.get', addresses.get(value)!);
      code.at('local.get', ahead);
      if (bytes !== 4) {
        code.i32(Math.abs(Math.log2(bytes / 4)));
        code.op(bytes > 4 ? 'i32.shl' : 'i32.shr_u');
      }
      code.op('i32.add');
    },
    half,
  );
}

function planned(values: StripValues, block: Block, { from, to }: Run, start: number): { rolled: Rolled; bytes: number } {
  const { strip } = values;
  const all = block.body.slice(from, to).filter((value) => isRolled(strip, value));
  const count = Math.ceil(all.length / ofChunk);
  const each = Math.ceil(all.length / count);
  const chunks = Array.from({ length: count }, (_, i) => all.slice(i * each, (i + 1) * each));
  const made = new Map(chunks.flatMap((chunk, i) => chunk.map((value) => [value, i] as const)));
  const inputs = new Set<Value>();
  /** By value: the last chunk that uses it from its place. */
  const last = new Map<Value, number>();
  chunks.forEach((chunk, i) => {
    for (const value of chunk)
      for (const operand of vectorsTaken(strip, value)) {
        if (!made.has(operand) && isAlike(strip, operand)) continue;
        if (!made.has(operand)) inputs.add(operand);
        if (made.get(operand) !== i) last.set(operand, i);
      }
  });
  const behind = usedBehind(strip, block, to);
  const outputs = all.filter((value) => strip.plan.crosses[value] === 1 || behind.has(value));
  for (const value of outputs) last.set(value, count);
  const { slots, most } = placed(strip, { inputs, chunks, last });
  const addresses = new Map(
    all.filter((value) => strip.kernel.insts[value]!.op === 'load').map((value) => [value, strip.code.local('i32')]),
  );
  const [ahead, base] = [strip.temp('i32', 120), strip.temp('i32', 121)];
  return {
    rolled: { strip, start, chunks, made, slots, inputs, outputs, addresses, ahead, base, locals: [] },
    bytes: 16 * strip.plan.packs * most,
  };
}

/** Operands that a rolled instruction takes as vectors. */
const vectorsTaken = ({ kernel }: Strip, value: Value): readonly Value[] => {
  const inst = kernel.insts[value]!;
  return inst.op === 'load' ? [] : operandsOf(inst);
};

/** What every vector has alike. */
const isAlike = (s: Strip, value: Value): boolean => s.kernel.insts[value]!.op === 'const' || shapeOf(s, value) === 0;

/** What the rest of a block uses. */
const usedBehind = ({ kernel }: Strip, { body, end }: Block, to: number): ReadonlySet<Value> =>
  new Set([...body.slice(to).flatMap((value) => operandsOf(kernel.insts[value]!)), ...terminatorOperands(end)]);

/** Places, each given to another value when the last chunk that needs it is through. */
function placed(
  s: Strip,
  { inputs, chunks, last }: Pick<Rolled, 'inputs' | 'chunks'> & { readonly last: ReadonlyMap<Value, number> },
): { readonly slots: Map<Value, number>; readonly most: number } {
  const slots = new Map<Value, number>();
  const spare: Record<1 | 2, number[]> = { 1: [], 2: [] };
  let most = 0;
  const width = (value: Value): 1 | 2 => (longOf(s, value) ? 2 : 1);
  const give = (value: Value): void => {
    const known = spare[width(value)].pop();
    slots.set(value, known ?? most);
    if (known === undefined) most += width(value);
  };
  const ending = new Map<number, Value[]>();
  for (const [value, chunk] of last) ending.set(chunk, [...(ending.get(chunk) ?? []), value]);
  inputs.forEach(give);
  chunks.forEach((chunk, i) => {
    for (const value of chunk) if (last.has(value)) give(value);
    for (const value of ending.get(i) ?? []) spare[width(value)].push(slots.get(value)!);
  });
  return { slots, most };
}
