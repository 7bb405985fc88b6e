/** Kernels made at random: straight lines, a diamond and a loop, over integers and floats with the values at which ops go wrong. */
import {
  addBlock,
  addBlockParam,
  argsOf,
  type Block,
  type Builder,
  bitsOf,
  builder,
  emptyKernel,
  evaluableOps,
  fcmpPredicates,
  icmpPredicates,
  isFloat,
  isInt,
  type Kernel,
  type Op,
  ops,
  type ScalarType,
  scalarTypes,
  type Value,
} from '../../src/ir/index.ts';
import { pointerParam } from './kernels.ts';

/** Numbers that decide; each choice takes the next, and 0 when none is left. */
export type Choices = readonly number[];

/** Values by type. */
type Pool = Map<ScalarType, Value[]>;
export interface Making {
  readonly kernel: Kernel;
  readonly b: Builder;
  pool: Pool;
  /** One of `count` ways on. */
  readonly pick: (count: number) => number;
  stored: number;
}

/** Bytes of the buffer that the kernel reads, and of the one that it writes. */
export const inputSize = 64;
export const outputSize = 2048;

const memoryTypes = scalarTypes.filter((type) => type !== 'i1');
export const edges: Record<ScalarType, readonly bigint[]> = {
  i1: [0n, 1n],
  i8: [0n, 1n, 7n, 8n, 0x7fn, 0x80n, 0xffn],
  i16: [0n, 1n, 15n, 16n, 0xffn, 0x7fffn, 0x8000n, 0xffffn],
  i32: [0n, 1n, 31n, 32n, 0xffffn, 0x7fffffffn, 0x80000000n, 0xffffffffn],
  i64: [0n, 1n, 8n, 63n, 64n, 0xffffffffn, 0x7fffffffffffffffn, 0x8000000000000000n, 0xffffffffffffffffn],
  f16: [0n, 0x8000n, 1n, 0x3c00n, 0x7bffn, 0x7c00n, 0xfc00n, 0x7e00n],
  bf16: [0n, 0x8000n, 1n, 0x3f80n, 0x7f7fn, 0x7f80n, 0xff80n, 0x7fc0n],
  f32: [0n, 0x80000000n, 1n, 0x3f800000n, 0x7f7fffffn, 0x7f800000n, 0xff800000n, 0x7fc00000n],
  f64: [
    0n,
    0x8000000000000000n,
    1n,
    0x3ff0000000000000n,
    0x7fefffffffffffffn,
    0x7ff0000000000000n,
    0xfff0000000000000n,
    0x7ff8000000000000n,
  ],
};

/** A sound kernel with `ptr.global` parameters 0, which is read, and 1, which is read and written. */
export function randomKernel(choices: Choices, length: number): Kernel {
  const kernel = emptyKernel('random');
  kernel.params.push(pointerParam('in', 0, undefined, 'read'), pointerParam('out', 1, undefined, 'read_write'));
  let at = 0;
  const pick = (count: number): number => (choices[at++] ?? 0) % count;
  const m: Making = { kernel, b: builder(kernel, addBlock(kernel)), pool: new Map(), pick, stored: 0 };
  for (const type of scalarTypes) m.pool.set(type, [constant(m, type), constant(m, type)]);
  some(m, length);
  diamond(m, length);
  loop(m, length);
  some(m, length);
  for (const type of memoryTypes) store(m, type);
  return kernel;
}

const constant = (m: Making, type: ScalarType): Value => m.b.const(type, edges[type][m.pick(edges[type].length)]!);
const take = (m: Making, type: ScalarType): Value => {
  const values = m.pool.get(type)!;
  // Late values are taken more often, so that chains get long.
  return values[values.length - 1 - Math.min(m.pick(values.length), m.pick(values.length))]!;
};
const give = (m: Making, type: ScalarType, value: Value): void => void m.pool.get(type)!.push(value);
const copyOf = (pool: Pool): Pool => new Map([...pool].map(([type, values]) => [type, [...values]]));
const typeAmong = (m: Making, types: readonly ScalarType[]): ScalarType => types[m.pick(types.length)]!;

function some(m: Making, length: number): void {
  for (let i = 0; i < length; i++) step(m);
}

function step(m: Making): void {
  const kind = m.pick(12);
  if (kind === 0) load(m, typeAmong(m, memoryTypes));
  else if (kind === 1) store(m, typeAmong(m, memoryTypes));
  else if (kind === 2) {
    const type = typeAmong(m, scalarTypes);
    give(m, type, constant(m, type));
  } else compute(m, computed[m.pick(computed.length)]!);
}

function address(m: Making, index: number, offset: number): Value {
  const { b } = m;
  const back = 8 * m.pick(3);
  const first = b.ptradd(b.param('ptr.global', { index }), b.const('i64', offset - back));
  const pointer = b.ptradd(first, b.const('i64', back));
  return m.pick(2) === 0 ? pointer : b.inttoptr('ptr.global', b.ptrtoint('i64', pointer));
}

function load(m: Making, type: ScalarType): void {
  const attrs = { align: bitsOf(type) / 8, volatile: m.pick(4) === 0 };
  give(m, type, m.b.load(type, address(m, m.pick(2), 8 * m.pick(inputSize / 8)), attrs));
}

function store(m: Making, type: ScalarType): void {
  m.stored = (m.stored + 8) % outputSize;
  m.b.store(address(m, 1, m.stored), take(m, type), { align: bitsOf(type) / 8, volatile: false });
}

/** Ops of scalars whose bits are certain; those of memory and addresses are made above. */
export const computed = evaluableOps.filter((op) => argsOf(op).length > 0 && !/^(ptr|inttoptr|vec|extract)/.test(op));
const ints = scalarTypes.filter(isInt);
const floats = scalarTypes.filter(isFloat);

/** The operand type, the result type where it is stated, by op. */
function typesOf(m: Making, op: Op): [operand: ScalarType, result?: ScalarType] {
  const wider = (types: readonly ScalarType[], from: ScalarType, sign: 1 | -1): ScalarType | undefined => {
    const fit = types.filter((type) => sign * bitsOf(type) > sign * bitsOf(from));
    return fit[m.pick(Math.max(1, fit.length))];
  };
  const domain = Object.values(ops[op].args)[op === 'select' ? 1 : 0];
  const operand = domain === 'f32' ? domain : typeAmong(m, domain === 'int' ? ints : domain === 'float' ? floats : scalarTypes);
  if (op === 'zext' || op === 'sext') return [operand, wider(ints, operand, 1)];
  if (op === 'trunc') return [operand, wider(ints, operand, -1)];
  if (op === 'fpext') return [operand, wider(floats, operand, 1)];
  if (op === 'fptrunc') return [operand, wider(floats, operand, -1)];
  if (op === 'fptosi' || op === 'fptoui') return [operand, typeAmong(m, ints)];
  if (op === 'sitofp' || op === 'uitofp') return [operand, typeAmong(m, floats)];
  return [operand, typeAmong(m, op === 'bitcast' ? scalarTypes.filter((type) => bitsOf(type) === bitsOf(operand)) : [operand])];
}

/** Adds an op of values that there are, if there is such a one. */
export function compute(m: Making, op: Op): void {
  const [operand, result] = typesOf(m, op);
  if (result === undefined) return;
  const operands = argsOf(op).map((name) => take(m, name === 'cond' ? 'i1' : operand));
  const given = (ops[op].type as string) === 'given' ? [result] : [];
  const predicates = op === 'icmp' ? icmpPredicates : op === 'fcmp' ? fcmpPredicates : undefined;
  const attrs = predicates ? [{ pred: predicates[m.pick(predicates.length)]! }] : [];
  const emit = (m.b[op as 'add'] as unknown as (...x: unknown[]) => Value).bind(m.b);
  const value = emit(...given, ...operands, ...attrs);
  give(m, m.b.typeOf(value) as ScalarType, value);
}

// ── graphs ──

const joinTypes = ['i32', 'f32', 'i1', 'i64'] as const;

/** An edge to a block, at times by way of blocks that only jump on. */
function edge(m: Making, block: Block, args: readonly Value[]): { block: Block; args: Value[] } {
  if (m.pick(3) > 0) return { block, args: [...args] };
  const between = addBlock(m.kernel);
  const passed = m.pick(2) === 0 ? [...args] : args.map((arg) => addBlockParam(m.kernel, between, m.b.typeOf(arg)));
  between.end = { op: 'br', to: { block, args: passed } };
  return { block: between, args: between.params.length > 0 ? [...args] : [] };
}

function diamond(m: Making, length: number): void {
  const [left, right, join] = [addBlock(m.kernel), addBlock(m.kernel), addBlock(m.kernel)];
  const cond = take(m, 'i1');
  m.b.block.end = { op: 'condbr', cond, then: edge(m, left, []), else: edge(m, m.pick(4) === 0 ? left : right, []) };
  const before = m.pool;
  for (const arm of [left, right]) {
    m.pool = copyOf(before);
    m.b.block = arm;
    some(m, m.pick(length + 1));
    arm.end = {
      op: 'br',
      to: edge(
        m,
        join,
        joinTypes.map((type) => take(m, type)),
      ),
    };
  }
  m.pool = before;
  enter(m, join);
}

function enter(m: Making, block: Block): void {
  m.b.block = block;
  for (const type of joinTypes) give(m, type, addBlockParam(m.kernel, block, type));
}

/** Up to three turns; what the body makes is used in the next turn and after the loop. */
function loop(m: Making, length: number): void {
  const [header, exit] = [addBlock(m.kernel), addBlock(m.kernel)];
  const [zero, one, turns] = [0, 1, 1 + m.pick(3)].map((n) => m.b.const('i32', n));
  const first = joinTypes.map((type) => take(m, type));
  m.b.block.end = { op: 'br', to: edge(m, header, [...first, zero!]) };
  enter(m, header);
  const turn = addBlockParam(m.kernel, header, 'i32');
  some(m, length);
  const next = m.b.add(turn, one!);
  const again = joinTypes.map((type, i) => (m.pick(3) === 0 ? header.params[i]! : take(m, type)));
  const cond = m.b.icmp(next, turns!, { pred: 'ult' });
  m.b.block.end = { op: 'condbr', cond, then: edge(m, header, [...again, next]), else: edge(m, exit, []) };
  m.b.block = exit;
}
