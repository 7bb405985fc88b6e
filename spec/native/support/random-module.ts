/**
 * Random modules: functions with locals of all types, arithmetic, accesses of memory, nested control flow and calls. Every run ends; results of float
 * arithmetic are made canonical where they are NaN, so that any two right compilers agree on all bytes.
 */
import { signatureOf } from '../../../src/native/ssa/signature.ts';
import { type Code, instructions, newModule, type ValueType, type WasmModule } from '../../../src/wasm/index.ts';
import { randomFractions } from '../../support/lcg.ts';

/** What a module is made of. */
export interface RandomChoice {
  readonly seed: number;
  /** Statements of the exported function, about. */
  readonly statements?: number;
  /** Whether accesses may be out of bounds, and divisions by zero. */
  readonly mayTrap?: boolean;
  /** Whether instructions on vectors are used; they are by default. */
  readonly hasVectors?: boolean;
}

/** Bytes of memory that the functions use. */
export const usedBytes = 1024;

/** A module that imports `memory` (one page) and `note` (i32 to i32) from `env`, and exports `run` (two i32 to i32) and a global `total` (i32). */
export function randomModule({ seed, statements = 40, mayTrap = false, hasVectors = true }: RandomChoice): Uint8Array {
  const random = randomFractions(seed);
  random();
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const note = module.importFunction('note', { params: ['i32'], results: ['i32'] });
  const globals = [module.global('i32', 'total'), module.global('i64'), module.global('f64')];
  const callees: Callee[] = [{ index: note, params: ['i32'], result: 'i32' }];
  const shared = { random, module, globals, mayTrap, hasVectors, callees };
  const types = valueTypes(hasVectors);
  for (let i = 0; i < 3; i++) {
    const params = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, types));
    const result = random() < 0.8 ? pick(random, types) : undefined;
    callees.push({ index: writeFunction(shared, params, result, Math.ceil(statements / 8)), params, result });
  }
  writeFunction(shared, ['i32', 'i32'], 'i32', statements, 'run');
  return module.finish();
}

interface Callee {
  readonly index: number;
  readonly params: readonly ValueType[];
  readonly result: ValueType | undefined;
}

interface Shared {
  readonly random: () => number;
  readonly module: WasmModule;
  readonly globals: readonly number[];
  readonly mayTrap: boolean;
  readonly hasVectors: boolean;
  readonly callees: Callee[];
}

interface Writer extends Shared {
  readonly code: Code;
  readonly locals: Readonly<Record<ValueType, readonly number[]>>;
  /** A local that counts down in each loop, by depth. */
  readonly counters: readonly number[];
  readonly result: ValueType | undefined;
  /** Open labels, innermost last: of a loop, or with the type of their result. */
  readonly labels: { readonly isLoop: boolean; readonly result: ValueType | undefined }[];
  left: number;
}

const valueTypes = (hasVectors: boolean): readonly ValueType[] => [
  'i32',
  'i64',
  'f32',
  'f64',
  ...(hasVectors ? ['v128' as const, 'v128' as const] : []),
];

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const below = ({ random }: Shared, count: number): number => Math.floor(random() * count);

function writeFunction(
  shared: Shared,
  params: readonly ValueType[],
  result: ValueType | undefined,
  statements: number,
  name?: string,
): number {
  const { index, code } = shared.module.fn({ params, results: result ? [result] : [] }, name);
  const locals: Record<ValueType, number[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  params.forEach((type, i) => void locals[type].push(i));
  for (const type of Object.keys(locals) as ValueType[]) for (let i = 0; i < 3; i++) locals[type].push(code.local(type));
  const counters = [code.local('i32'), code.local('i32'), code.local('i32')];
  const w: Writer = { ...shared, code, locals, counters, result, labels: [{ isLoop: false, result }], left: statements };
  while (w.left > 0) statement(w, 0);
  if (result) expression(w, result, 2);
  return index;
}

type Statement = (w: Writer, depth: number) => void;

/** Statements with how often they are chosen. */
const statements: readonly (readonly [number, Statement])[] = [
  [10, assign],
  [6, store],
  [2, setGlobal],
  [3, ifStatement],
  [2, blockStatement],
  [2, loopStatement],
  [1, tableStatement],
  [2, callStatement],
  [2, branchOut],
];

function statement(w: Writer, depth: number): void {
  w.left--;
  const total = statements.reduce((sum, [weight]) => sum + weight, 0);
  let at = w.random() * total;
  for (const [weight, write] of statements) {
    at -= weight;
    if (at < 0) return write(w, depth);
  }
}

function assign(w: Writer): void {
  const type = pick(w.random, valueTypes(w.hasVectors));
  expression(w, type, 3);
  const local = pick(w.random, w.locals[type]);
  if (w.random() < 0.2) {
    w.code.at('local.tee', local);
    w.code.op('drop');
  } else w.code.at('local.set', local);
}

const storesOf: Readonly<Record<ValueType, readonly string[]>> = {
  i32: ['i32.store', 'i32.store8', 'i32.store16'],
  i64: ['i64.store', 'i64.store8', 'i64.store32'],
  f32: ['f32.store'],
  f64: ['f64.store'],
  v128: ['v128.store'],
};

const loadsOf: Readonly<Record<ValueType, readonly string[]>> = {
  i32: ['i32.load', 'i32.load8_u', 'i32.load16_s'],
  i64: ['i64.load', 'i64.load8_s', 'i64.load32_u'],
  f32: ['f32.load'],
  f64: ['f64.load'],
  v128: ['v128.load', 'v128.load32_splat', 'v128.load8x8_u', 'v128.load64_zero', 'v128.load16x4_s'],
};

/** An address inside the used bytes, often at a small distance from another one, and its constant offset; or sometimes any address. */
function address(w: Writer): number {
  if (w.mayTrap && w.random() < 0.02) {
    expression(w, 'i32', 1);
    return below(w, 70000);
  }
  if (w.random() < 0.5) w.code.at('local.get', w.locals.i32[0]!);
  else expression(w, 'i32', 1);
  w.code.i32(usedBytes / 2 - 1);
  w.code.op('i32.and');
  const kind = w.random();
  if (kind < 0.3) return below(w, 64);
  if (kind < 0.6) return below(w, usedBytes / 2 - 64);
  if (kind < 0.8) {
    w.code.i32(below(w, 32));
    w.code.op('i32.add');
    return below(w, 32);
  }
  // A bias is subtracted from the address, and the offset has it.
  w.code.i32(16);
  w.code.op('i32.or');
  w.code.i32(16);
  w.code.op('i32.sub');
  return 16 + 4 * below(w, 8);
}

function store(w: Writer): void {
  const type = pick(w.random, valueTypes(w.hasVectors));
  const offset = address(w);
  expression(w, type, 2);
  w.code.access(pick(w.random, storesOf[type]) as never, 1, offset);
}

const globalTypes = ['i32', 'i64', 'f64'] as const;

function setGlobal(w: Writer): void {
  const which = below(w, globalTypes.length);
  expression(w, globalTypes[which]!, 2);
  w.code.at('global.set', w.globals[which]!);
}

function some(w: Writer, depth: number): void {
  for (let count = 1 + below(w, 3); count > 0; count--) statement(w, depth);
}

function ifStatement(w: Writer, depth: number): void {
  if (depth > 3) return assign(w);
  const result = w.random() < 0.3 ? pick(w.random, valueTypes(w.hasVectors)) : undefined;
  expression(w, 'i32', 2);
  const isRare = !result && w.random() < 0.3;
  if (isRare) w.code.openRare();
  else w.code.open('if', result);
  w.labels.push({ isLoop: false, result });
  some(w, depth + 1);
  if (result) expression(w, result, 2);
  if (result || w.random() < 0.5) {
    w.code.else();
    some(w, depth + 1);
    if (result) expression(w, result, 2);
  }
  w.labels.pop();
  w.code.end();
  if (result) w.code.at('local.set', pick(w.random, w.locals[result]));
}

function blockStatement(w: Writer, depth: number): void {
  if (depth > 3) return assign(w);
  const result = w.random() < 0.4 ? pick(w.random, valueTypes(w.hasVectors)) : undefined;
  w.code.open('block', result);
  w.labels.push({ isLoop: false, result });
  some(w, depth + 1);
  branchOut(w);
  some(w, depth + 1);
  if (result) expression(w, result, 2);
  w.labels.pop();
  w.code.end();
  if (result) w.code.at('local.set', pick(w.random, w.locals[result]));
}

/** A loop of a few rounds: each jump to its header counts down, also one from inside. */
function loopStatement(w: Writer, depth: number): void {
  const counter = w.counters[w.labels.filter(({ isLoop }) => isLoop).length];
  if (counter === undefined || depth > 3) return assign(w);
  w.code.i32(1 + below(w, 5));
  w.code.at('local.set', counter);
  w.code.open('block');
  w.labels.push({ isLoop: false, result: undefined });
  w.code.open('loop');
  w.labels.push({ isLoop: true, result: undefined });
  w.code.at('local.get', counter);
  w.code.op('i32.eqz');
  w.code.at('br_if', 1);
  w.code.at('local.get', counter);
  w.code.i32(1);
  w.code.op('i32.sub');
  w.code.at('local.set', counter);
  some(w, depth + 1);
  w.code.at('br', 0);
  w.labels.pop();
  w.code.end();
  w.labels.pop();
  w.code.end();
}

/** A switch whose cases fall through. */
function tableStatement(w: Writer, depth: number): void {
  if (depth > 2) return assign(w);
  const cases = 2 + below(w, 3);
  for (let i = 0; i < cases; i++) {
    w.code.open('block');
    w.labels.push({ isLoop: false, result: undefined });
  }
  expression(w, 'i32', 2);
  if (w.random() < 0.7) {
    w.code.i32(7);
    w.code.op('i32.and');
  }
  w.code.table(
    Array.from({ length: cases + 1 }, () => below(w, cases)),
    below(w, cases),
  );
  for (let i = 0; i < cases; i++) {
    w.labels.pop();
    w.code.end();
    some(w, depth + 1);
  }
}

function callStatement(w: Writer): void {
  const { index, params, result } = pick(w.random, w.callees);
  for (const type of params) expression(w, type, 2);
  w.code.at('call', index);
  if (result) w.code.at('local.set', pick(w.random, w.locals[result]));
}

/** A jump to a label that is open, by a condition or in any case; a return; or a trap that is seldom met. */
function branchOut(w: Writer): void {
  const depth = below(w, w.labels.length);
  const { isLoop, result } = w.labels.at(-1 - depth)!;
  const given = isLoop ? undefined : result;
  const kind = w.random();
  if (kind < 0.1 && w.labels.length > 1) {
    if (w.result) expression(w, w.result, 1);
    w.code.op('return');
  } else if (kind < 0.15 && w.mayTrap && w.labels.length > 2) w.code.op('unreachable');
  else if (kind < 0.3 && w.labels.length > 1) {
    if (given) expression(w, given, 1);
    w.code.at('br', depth);
  } else {
    if (given) expression(w, given, 1);
    expression(w, 'i32', 2);
    w.code.at('br_if', depth);
    if (given) w.code.op('drop');
  }
}

/** Instructions without an immediate by the type of their result; those that may trap apart. */
const opsBy = new Map<ValueType, string[]>();
const trapping: string[] = [];
for (const [name, { immediate }] of instructions) {
  const signature = signatureOf(name);
  if (!signature?.result || immediate !== 'none' || name.includes('atomic') || name.includes('relaxed')) continue;
  if (/^i\d+\.(div|rem|trunc_f)/.test(name)) trapping.push(name);
  else opsBy.set(signature.result, [...(opsBy.get(signature.result) ?? []), name]);
}

const laneOps: Readonly<Record<ValueType, readonly (readonly [string, number])[]>> = {
  i32: [
    ['i32x4.extract_lane', 4],
    ['i8x16.extract_lane_s', 16],
    ['i16x8.extract_lane_u', 8],
  ],
  i64: [['i64x2.extract_lane', 2]],
  f32: [['f32x4.extract_lane', 4]],
  f64: [['f64x2.extract_lane', 2]],
  v128: [
    ['i32x4.replace_lane', 4],
    ['f64x2.replace_lane', 2],
    ['i8x16.replace_lane', 16],
    ['i64x2.replace_lane', 2],
  ],
};

/** Writes an expression of a type. */
function expression(w: Writer, type: ValueType, depth: number): void {
  const kind = w.random();
  if (depth === 0 || kind < 0.2) return leaf(w, type);
  if (kind < 0.28) {
    const offset = address(w);
    w.code.access(pick(w.random, loadsOf[type]) as never, 1, offset);
  } else if (kind < 0.34) {
    expression(w, type, depth - 1);
    expression(w, type, depth - 1);
    expression(w, 'i32', depth - 1);
    if (type === 'v128' || w.random() < 0.5) w.code.choose(type);
    else w.code.op('select');
  } else if (kind < 0.42 && w.hasVectors) {
    const [name, lanes] = pick(w.random, laneOps[type]);
    for (const param of signatureOf(name)!.params) expression(w, param, depth - 1);
    w.code.lane(name as never, below(w, lanes));
  } else if (kind < 0.46 && type === 'v128') {
    expression(w, 'v128', depth - 1);
    expression(w, 'v128', depth - 1);
    w.code.shuffle(Array.from({ length: 16 }, () => below(w, 32)));
  } else operation(w, type, depth);
}

function operation(w: Writer, type: ValueType, depth: number): void {
  const isTrapping = w.mayTrap && w.random() < 0.05;
  const candidates = isTrapping ? trapping.filter((name) => signatureOf(name)!.result === type) : opsBy.get(type)!;
  const usable = candidates.filter((name) => w.hasVectors || !signatureOf(name)!.params.includes('v128'));
  if (usable.length === 0) return leaf(w, type);
  const name = pick(w.random, usable);
  for (const param of signatureOf(name)!.params) expression(w, param, depth - 1);
  w.code.op(name as never);
  if (makesNaN(name)) canonical(w, name);
}

const makesNaN = (name: string): boolean =>
  /^f(32|64)(x\d)?\.(add|sub|mul|div|sqrt|min|max|ceil|floor|trunc|nearest|demote|promote)/.test(name);

/** Puts the canonical NaN into the place of each NaN that the instruction has made. */
function canonical(w: Writer, name: string): void {
  const shape = name.slice(0, name.indexOf('.'));
  const type = (shape.includes('x') ? 'v128' : shape) as ValueType;
  const local = w.locals[type].at(-1)!;
  w.code.at('local.set', local);
  if (shape === 'f32') w.code.f32(0x7fc00000);
  else if (shape === 'f64') w.code.f64(0x7ff8000000000000n);
  else w.code.v128(shape === 'f32x4' ? Array(4).fill(0x7fc00000) : [0, 0x7ff80000, 0, 0x7ff80000]);
  for (let i = 0; i < 3; i++) w.code.at('local.get', local);
  w.code.op(`${shape}.ne` as never);
  if (type === 'v128') w.code.op('v128.bitselect');
  else w.code.op('select');
  w.code.at('local.tee', local);
}

const words = [0, 1, -1, 31, 0x7fffffff, -0x80000000, 0xff, 0x3f800000, -0x40800000, 65536, 16];

function leaf(w: Writer, type: ValueType): void {
  const { random, code } = w;
  if (random() < 0.7) return code.at('local.get', pick(random, w.locals[type]));
  const globalOf = globalTypes.indexOf(type as 'i32');
  if (globalOf >= 0 && random() < 0.3) return code.at('global.get', w.globals[globalOf]!);
  const word = (): number => (random() < 0.6 ? pick(random, words) : below(w, 2 ** 32) | 0);
  switch (type) {
    case 'i32':
      return code.i32(word());
    case 'i64':
      return code.i64((BigInt(word()) << 32n) ^ BigInt(word()));
    case 'f32':
      return code.f32(pick(random, [0, 0x80000000, 0x3f800000, 0xc0490fdb, 0x7f800000, 0x4f7fffff, 1]));
    case 'f64':
      return code.f64(pick(random, [0n, 1n << 63n, 0x3ff0000000000000n, 0x41efffffffe00000n, 0xfff0000000000000n, 0x3fb999999999999an]));
    case 'v128':
      return code.v128(random() < 0.3 ? Array(4).fill(word()) : [word(), word(), word(), word()]);
  }
}
