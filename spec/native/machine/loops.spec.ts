/** What is promised of loops: accumulators stay in registers without moves, and what is not used in a loop is spilled around it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allocate } from '../../../src/native/machine/allocate.ts';
import type { AllocatedFunction, Step } from '../../../src/native/machine/allocated.ts';
import type { MachineBlock, MachineFunction, MachineInst, RegisterFile, RegisterInfo } from '../../../src/native/machine/types.ts';
import { withinCpuSeconds } from '../../support/cpu-time.ts';
import { checkAllocation } from './checker.ts';

const test = suite('native/machine/loops');

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const general = numbers(13).filter((number) => number !== 4);
const wide: RegisterFile = { general, vector: numbers(32) };
const narrow: RegisterFile = { general, vector: numbers(16) };

const emit = (): void => {};
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A function block by block. */
class Maker {
  readonly registers: RegisterInfo[] = [];
  readonly blocks: (Mutable<MachineBlock> & { insts: MachineInst[] })[] = [];

  block(loopDepth: number, params: readonly number[] = [], isRare = false): number {
    this.blocks.push({ params, insts: [], end: { uses: [], emit }, edges: [], loopDepth, isRare });
    return this.blocks.length - 1;
  }

  vector(more: Partial<RegisterInfo> = {}): number {
    return this.registers.push({ class: 'vector', bytes: 64, ...more }) - 1;
  }

  integer(): number {
    return this.registers.push({ class: 'general', bytes: 8 }) - 1;
  }

  add(block: number, inst: Omit<MachineInst, 'emit'>): void {
    this.blocks[block]!.insts.push({ ...inst, emit });
  }

  /** A new register with an instruction that defines it. */
  define(block: number, uses: readonly number[] = [], more: Partial<MachineInst> = {}, register = this.vector()): number {
    this.add(block, { def: register, uses, ...more });
    return register;
  }

  go(from: number, ...edges: MachineBlock['edges']): void {
    this.blocks[from]!.edges = edges;
  }

  get fn(): MachineFunction {
    return { registers: this.registers, blocks: this.blocks, outgoingBytes: 0 };
  }
}

/** The steps in blocks of at least this loop depth that are no instructions. */
const movesAtDepth = (allocated: AllocatedFunction, depth: number): Step[] =>
  allocated.blocks
    .filter(({ block }) => block.loopDepth >= depth && !block.isRare)
    .flatMap(({ steps }) => steps.filter(({ kind }) => kind !== 'inst'));

function allocateChecked(fn: MachineFunction, file: RegisterFile): AllocatedFunction {
  const allocated = allocate(fn, file);
  checkAllocation(fn, allocated, file);
  return allocated;
}

/** A matrix product's inner loop: rows × columns accumulators, each the sum of products of a loaded row and a loaded column. */
function product(rows: number, columns: number, passing: number): MachineFunction {
  const m = new Maker();
  const before = m.block(0);
  const through = numbers(passing).map(() => m.define(before));
  const address = m.define(before, [], {}, m.integer());
  const start = numbers(rows * columns).map(() => m.define(before));
  const sums = numbers(rows * columns).map(() => m.vector());
  const pointer = m.integer();
  const header = m.block(1, [pointer, ...sums]);
  m.go(before, { block: header, args: [address, ...start] });
  const b = numbers(columns).map(() => m.define(header, [pointer]));
  let next = sums;
  for (let step = 0; step < 4; step++) {
    const loaded = numbers(rows).map(() => -1);
    next = next.map((sum, i) => {
      const row = Math.floor(i / columns);
      if (loaded[row]! < 0) loaded[row] = m.define(header, [pointer]);
      return m.define(header, [sum, loaded[row]!, b[i % columns]!], { tied: 0 });
    });
  }
  const moved = m.define(header, [pointer], { tied: 0 }, m.integer());
  const latch = m.block(1);
  const exit = m.block(0);
  m.blocks[header]!.end = { uses: [moved], emit };
  m.go(header, { block: latch, args: [] }, { block: exit, args: [] });
  m.go(latch, { block: header, args: [moved, ...next] });
  for (const register of [...next, ...through]) m.add(exit, { uses: [register] });
  return m.fn;
}

test('28 accumulators of a loop stay in 32 registers, without a move', () => {
  assert.equal(movesAtDepth(allocateChecked(product(14, 2, 0), wide), 1), []);
});

test('12 accumulators of a loop stay in 16 registers, without a move', () => {
  assert.equal(movesAtDepth(allocateChecked(product(6, 2, 0), narrow), 1), []);
});

test('what lives through a loop without a use is spilled around it', () => {
  for (const passing of [1, 5, 40]) assert.equal(movesAtDepth(allocateChecked(product(14, 2, passing), wide), 1), [], `${passing}`);
});

/** A loop in which a register is made, that a block behind the loop needs after more than all registers have been in use. */
function storedBehind(file: RegisterFile): MachineFunction {
  const m = new Maker();
  const before = m.block(0);
  const first = m.define(before);
  const sum = m.vector();
  const header = m.block(1, [sum]);
  m.go(before, { block: header, args: [first] });
  const next = m.define(header, [sum], { tied: 0 });
  const latch = m.block(1);
  const exit = m.block(0);
  m.go(header, { block: latch, args: [] }, { block: exit, args: [] });
  m.go(latch, { block: header, args: [next] });
  const many = numbers(file.vector.length).map(() => m.define(exit));
  for (const register of many) m.add(exit, { uses: [register] });
  m.add(exit, { uses: [next] });
  return m.fn;
}

test('a register that is defined in a loop and spilled behind it is stored behind it', () => {
  const allocated = allocateChecked(storedBehind(wide), wide);
  assert.equal(movesAtDepth(allocated, 1), []);
  assert.is(allocated.blocks.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'store')).length, 1);
});

/** A loop from `header` on, through some blocks to its end; behind it is a block that reads registers. */
function closeLoop(m: Maker, header: number, end: number, next: readonly number[], read: readonly number[]): void {
  const latch = m.block(1);
  const exit = m.block(0);
  m.go(end, { block: latch, args: [] }, { block: exit, args: [] });
  m.go(latch, { block: header, args: next });
  for (const register of read) m.add(exit, { uses: [register] });
}

/** From a block to two others, the first of which is rare if asked; returns them and the block in which they meet. */
function diamond(m: Maker, from: number, isRare: boolean, params: readonly number[] = []): readonly [number, number, number] {
  const arms = [m.block(1, [], isRare), m.block(1)] as const;
  m.go(from, { block: arms[0], args: [] }, { block: arms[1], args: [] });
  return [...arms, m.block(1, params)];
}

const call = { uses: [], clobbers: { general: -1, vector: -1 } };

test('calls in rare blocks of a loop cost nothing in the others', () => {
  for (const calls of [1, 3]) {
    const m = new Maker();
    const before = m.block(0);
    const [kept, first] = [m.define(before), m.define(before)];
    const sum = m.vector();
    const header = m.block(1, [sum]);
    m.go(before, { block: header, args: [first] });
    const next = m.define(header, [sum, kept], { tied: 0 });
    let at = header;
    for (let i = 0; i < calls; i++) {
      const [rare, usual, meet] = diamond(m, at, true);
      m.add(rare, call);
      m.go(rare, { block: meet, args: [] });
      m.go(usual, { block: meet, args: [] });
      at = meet;
    }
    closeLoop(m, header, at, [next], [next]);
    assert.equal(movesAtDepth(allocateChecked(m.fn, wide), 1), [], `${calls}`);
  }
});

test('what only a rare block of a loop reads gives way to what the others read', () => {
  const m = new Maker();
  const before = m.block(0);
  const rarely = m.define(before);
  const often = numbers(20).map(() => m.define(before));
  const first = numbers(12).map(() => m.define(before));
  const sums = numbers(12).map(() => m.vector());
  const header = m.block(1, sums);
  m.go(before, { block: header, args: first });
  const [rare, usual, meet] = diamond(m, header, true);
  m.add(rare, { uses: [rarely] });
  m.go(rare, { block: meet, args: [] });
  m.go(usual, { block: meet, args: [] });
  const next = sums.map((sum, i) => m.define(meet, [sum, often[i]!], { tied: 0 }));
  for (const register of often) m.add(meet, { uses: [register] });
  closeLoop(m, header, meet, next, next);
  assert.equal(movesAtDepth(allocateChecked(m.fn, wide), 1), []);
});

test('a register of before a loop that leaves its place in it is stored before it', () => {
  const m = new Maker();
  const before = m.block(0);
  const kept = m.define(before);
  const first = m.define(before);
  const sum = m.vector();
  const header = m.block(1, [sum]);
  m.go(before, { block: header, args: [first] });
  const next = m.define(header, [sum, kept], { tied: 0 });
  const many = numbers(32).map(() => m.define(header));
  for (const register of many) m.add(header, { uses: [register] });
  closeLoop(m, header, header, [next], [next]);
  const moves = movesAtDepth(allocateChecked(m.fn, wide), 1);
  assert.is(moves.filter((step) => step.kind === 'store' && step.register === kept).length, 0);
});

test('the next values of parameters are made in their places', () => {
  const m = new Maker();
  const before = m.block(0);
  const first = numbers(6).map(() => m.define(before));
  const params = numbers(6).map(() => m.vector());
  const header = m.block(1, params);
  m.go(before, { block: header, args: first });
  // All parameters end before the first next value, the last of which is made first; another register lives in between.
  const sum = m.define(header, params);
  const other = m.define(header);
  const next = numbers(6).map(() => m.vector());
  for (let i = 5; i >= 0; i--) m.define(header, [sum, other], {}, next[i]);
  closeLoop(m, header, header, next, next);
  assert.equal(movesAtDepth(allocateChecked(m.fn, wide), 1), []);
});

test('the next values of parameters are made in their places on both ways through a loop', () => {
  const m = new Maker();
  const before = m.block(0);
  const first = numbers(6).map(() => m.define(before));
  const params = numbers(6).map(() => m.vector());
  const header = m.block(1, params);
  m.go(before, { block: header, args: first });
  const sum = m.define(header, params);
  const next = numbers(6).map(() => m.vector());
  const [one, other, meet] = diamond(m, header, false, next);
  for (const arm of [one, other]) {
    const made = numbers(6).map(() => m.vector());
    for (let i = 5; i >= 0; i--) m.define(arm, [sum], {}, made[i]);
    m.go(arm, { block: meet, args: made });
  }
  closeLoop(m, header, meet, next, next);
  assert.equal(movesAtDepth(allocateChecked(m.fn, wide), 1), []);
});

test('chains of tied operands end in the places of parameters', () => {
  const m = new Maker();
  const before = m.block(0);
  const first = numbers(6).map(() => m.define(before));
  const params = numbers(6).map(() => m.vector());
  const header = m.block(1, params);
  m.go(before, { block: header, args: first });
  const sum = m.define(header, params);
  let made = numbers(6)
    .map(() => m.define(header, [sum]))
    .reverse();
  for (let step = 0; step < 3; step++)
    made = made.map((register) => m.define(header, [sum, register], step === 1 ? { tied: 0, tiedChoices: [1] } : { tied: 1 }));
  closeLoop(m, header, header, made, made);
  m.add(header, { uses: [sum] });
  assert.equal(movesAtDepth(allocateChecked(m.fn, wide), 1), []);
});

test('parameters that find no place share the slots of their arguments', () => {
  const m = new Maker();
  const before = m.block(0);
  const first = numbers(48).map(() => m.define(before));
  const params = numbers(48).map(() => m.vector());
  const header = m.block(1, params);
  m.go(before, { block: header, args: first });
  // All parameters end before the first next value, the last of which is made first.
  let sum = m.define(header);
  for (const param of params) sum = m.define(header, [sum, param], { tied: 0, inMemory: 1 });
  const next = numbers(48).map(() => m.vector());
  for (let i = 47; i >= 0; i--) m.define(header, [sum], {}, next[i]);
  closeLoop(m, header, header, next, next);
  const { blocks, slotOf } = allocateChecked(m.fn, wide);
  const back = blocks.find(({ block }) => block.loopDepth > 0 && block.insts.length === 0)!;
  assert.is(back.steps.filter((step) => step.kind === 'load' && step.slot === slotOf[step.register]).length, 0);
});

test('registers that live over a division are not in the way of it', () => {
  const m = new Maker();
  const block = m.block(0);
  const kept = numbers(6).map(() => m.define(block, [], {}, m.integer()));
  const [a, b] = [m.define(block, [], {}, m.integer()), m.define(block, [], {}, m.integer())];
  const clobbers = { general: 0b101, vector: 0 };
  m.define(block, [a, b], { fixedUses: [0, undefined], fixedDef: 0, clobbers }, m.integer());
  for (const register of kept) m.add(block, { uses: [register] });
  const { steps } = allocateChecked(m.fn, wide).blocks[0]!;
  assert.equal(
    steps.filter(({ kind }) => kind !== 'inst'),
    [],
  );
});

test('the result is computed in the operand that dies, where several could be taken', () => {
  for (const dying of [0, 1, 2]) {
    const m = new Maker();
    const block = m.block(0);
    const operands = numbers(3).map(() => m.define(block));
    const result = m.define(block, operands, { tied: 0, tiedChoices: [1, 2] });
    for (const register of [result, ...operands.filter((_, i) => i !== dying)]) m.add(block, { uses: [register] });
    const steps = allocateChecked(m.fn, wide).blocks[0]!.steps;
    assert.ok(
      steps.every(({ kind }) => kind === 'inst'),
      `operand ${dying}`,
    );
  }
});

test('an operand whose load would serve one instruction is read from its slot', () => {
  const m = new Maker();
  const block = m.block(0);
  const spilled = m.define(block);
  const many = numbers(32).map(() => m.define(block));
  for (const register of many) m.add(block, { uses: [register] });
  m.define(block, [many[0]!, spilled], { inMemory: 1 });
  const steps = allocateChecked(m.fn, wide).blocks[0]!.steps;
  assert.is(steps.filter((step) => step.kind === 'inst' && step.slotOf === spilled).length, 1);
  assert.is(steps.filter(({ kind }) => kind === 'load').length, 0);
});

test('what can be computed anew is neither stored nor loaded', () => {
  const m = new Maker();
  const block = m.block(0);
  const constant = m.define(block, [], {}, m.vector({ remake: emit }));
  const many = numbers(32).map(() => m.define(block));
  for (const register of [...many, constant]) m.add(block, { uses: [register] });
  const kinds = new Set(allocateChecked(m.fn, wide).blocks[0]!.steps.map(({ kind }) => kind));
  assert.equal([...kinds].sort(), ['inst', 'remake']);
});

test('registers that do not live at the same time share a slot', () => {
  const m = new Maker();
  const block = m.block(0);
  for (let round = 0; round < 20; round++) {
    const many = numbers(40).map(() => m.define(block));
    for (const register of many) m.add(block, { uses: [register] });
  }
  const { slots } = allocateChecked(m.fn, wide);
  assert.ok(slots.length <= 8, `${slots.length} slots`);
});

test('allocation takes time in proportion to the size', () => {
  const m = new Maker();
  const block = m.block(0);
  const recent: number[] = [];
  for (let i = 0; i < 50_000; i++) {
    const uses = i < 40 ? [] : [recent[(i * 7) % 40]!, recent[(i * 11) % 40]!];
    recent[i % 40] = m.define(block, uses);
  }
  withinCpuSeconds(1.5, () => allocate(m.fn, wide), '50,000 instructions');
});

test.run();
