/**
 * 64-bit atomics for Apple GPUs, which have 32-bit atomics only, in one of two forms.
 *
 * - **Halves.** If all 64-bit atomics of a kernel in a state space are the same one of `add`, `and`, `or` and `xor`, and no old value is used, each
 *   becomes one 32-bit atomic per half. These operations commute, so every order of the halves has the same result. The old value of the low half
 *   tells whether its sum carries into the high half. A plain access that is ordered after the atomics finds both halves done.
 * - **Locks.** Otherwise a lock protects the word; its hash selects the lock from a table, a hidden parameter (`src/ir/lock-table.ts`). Accesses to
 *   both halves are atomic, and fences order them with the lock, so targets without fences do not support this form.
 */
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import {
  accessOf,
  addBlock,
  addBlockParam,
  addHiddenParam,
  type Block,
  type Builder,
  builder,
  bytesOf,
  eachOperand,
  type InstOf,
  type Kernel,
  lockCount,
  lockTableName,
  renumber,
  splitBlock,
  terminatorOperands,
  type Value,
} from '../../ir/index.ts';
import { hasFences, type Target } from '../targets.ts';

/** An atomic of 64 bits. */
export type WideAtomic = InstOf<'atomic'> | InstOf<'cas'>;
type AtomicSpace = 'ptr.global' | 'ptr.shared';

/** How an atomic is expanded. */
type Form = 'halves' | 'lock';

/**
 * Expands the 64-bit atomics of a kernel in place; returns whether there were any. Reports CM2090 for an atomic that needs fences if the target has
 * none, and for a volatile access that could see half of an update.
 */
export function expandWideAtomics(kernel: Kernel, target: Target, diagnostics: Diagnostics): boolean {
  const forms = wideForms(kernel);
  if (forms.size === 0) return false;
  if (!canExpand(kernel, forms, target, diagnostics)) return false;
  const table = [...forms.values()].includes('lock') ? tableOf(kernel) : -1;
  for (let at = 0; at < kernel.blocks.length; at++) {
    const block = kernel.blocks[at]!;
    const index = block.body.findIndex((value) => forms.has(value));
    if (index < 0) continue;
    const value = block.body[index]!;
    // The rest of the block moves to a new block, which is visited later.
    if (forms.get(value) === 'halves') updateHalves(kernel, block, index);
    else updateLocked(kernel, block, index, table);
    forms.delete(value);
  }
  renumber(kernel);
  return true;
}

/** The parameter of the lock table. */
const tableOf = (kernel: Kernel): number => addHiddenParam(kernel, { name: lockTableName, size: 4, align: 4, element: 'i32', locks: true });

// ── the choice of a form ──

/** The form of each 64-bit atomic of a kernel. */
export function wideForms(kernel: Kernel): Map<Value, Form> {
  const forms = new Map<Value, Form>();
  for (const space of ['ptr.global', 'ptr.shared'] as const) chooseForms(kernel, space, forms);
  return forms;
}

const isAtomic = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.op === 'atomic' || kernel.insts[value]!.op === 'cas';

/** The atomics and volatile accesses of 64 bits in a state space. */
export function strongAccesses(kernel: Kernel, space: AtomicSpace): Value[] {
  return kernel.blocks.flatMap(({ body }) =>
    body.filter((value) => {
      const inst = kernel.insts[value]!;
      const access = accessOf(kernel, inst);
      if (!access || bytesOf(access.element) < 8 || kernel.insts[access.addr]!.type !== space) return false;
      return isAtomic(kernel, value) || ((inst.op === 'load' || inst.op === 'store') && inst.volatile);
    }),
  );
}

/** Pointers of one state space may have the same address, so all its atomics have one form. */
function chooseForms(kernel: Kernel, space: AtomicSpace, forms: Map<Value, Form>): void {
  const strong = strongAccesses(kernel, space);
  const form = strong.length > 0 && isSeparable(kernel, strong) ? 'halves' : 'lock';
  for (const value of strong) if (isAtomic(kernel, value)) forms.set(value, form);
}

/** Whether the halves of each access may be updated one after the other. */
function isSeparable(kernel: Kernel, strong: readonly Value[]): boolean {
  const used = usedValues(kernel);
  const operations = strong.map((value) => {
    const inst = kernel.insts[value]!;
    return inst.op === 'atomic' && !used.has(value) ? inst.rmw : undefined;
  });
  const [first] = operations;
  const isCommutative = first === 'add' || first === 'and' || first === 'or' || first === 'xor';
  return isCommutative && operations.every((each) => each === first);
}

function usedValues(kernel: Kernel): Set<Value> {
  const used = new Set<Value>();
  for (const { body, end } of kernel.blocks) {
    for (const value of body) eachOperand(kernel.insts[value]!, (operand) => used.add(operand));
    for (const value of terminatorOperands(end)) used.add(value);
  }
  return used;
}

/** Reports what has no exact form. */
function canExpand(kernel: Kernel, forms: ReadonlyMap<Value, Form>, target: Target, diagnostics: Diagnostics): boolean {
  const report = (value: Value, what: string, why: string, help?: string): void => {
    const span = kernel.locs[value];
    const where = { ...(span ? { span } : {}), ...(help === undefined ? {} : { help }) };
    diagnostics.report('CM2090', { what, target: target.name, why }, where);
  };
  let isExact = true;
  for (const [value, form] of forms) {
    if (form === 'halves' || hasFences(target)) continue;
    const inst = kernel.insts[value] as WideAtomic;
    const what = `an atomic \`${inst.op === 'cas' ? 'cas' : inst.rmw}\` of ${inst.type}`;
    report(value, what, 'Apple GPUs have 32-bit atomics only, and a lock needs fences', 'compile with `--target macos15`');
    isExact = false;
  }
  // Volatile accesses to global memory have a rule of their own.
  for (const value of strongAccesses(kernel, 'ptr.shared')) {
    const { op } = kernel.insts[value]!;
    if (isAtomic(kernel, value) || !isLockedIn(kernel, forms, 'ptr.shared')) continue;
    report(value, `a volatile ${op} of 64 bits`, 'the kernel has 64-bit atomics in shared memory, which Apple GPUs execute in two halves');
    isExact = false;
  }
  return isExact;
}

const isLockedIn = (kernel: Kernel, forms: ReadonlyMap<Value, Form>, space: AtomicSpace): boolean =>
  [...forms.keys()].some((value) => kernel.insts[(kernel.insts[value] as WideAtomic).a]!.type === space);

// ── halves ──

/** The addresses of the halves of a word. */
const halvesAt = (b: Builder, pointer: Value): readonly [low: Value, high: Value] => [pointer, b.ptradd(pointer, b.const('i64', 4))];

/** The halves of an i64. */
const halvesOf = (b: Builder, word: Value): readonly [low: Value, high: Value] => [
  b.trunc('i32', word),
  b.trunc('i32', b.lshr(word, b.const('i64', 32))),
];

/** Replaces an atomic whose old value is not used by an atomic on each half. */
function updateHalves(kernel: Kernel, block: Block, at: number): void {
  const value = block.body[at]!;
  const { a: pointer, b: operand, rmw } = kernel.insts[value] as InstOf<'atomic'>;
  const rest = splitBlock(kernel, block, at + 1);
  block.body.pop();
  const b = builder(kernel, block);
  b.loc = kernel.locs[value];
  const [low, high] = halvesAt(b, pointer);
  const [lowOperand, highOperand] = halvesOf(b, operand);
  const before = b.atomic(low, lowOperand, { rmw });
  if (rmw !== 'add') {
    b.atomic(high, highOperand, { rmw });
    block.end = { op: 'br', to: { block: rest, args: [] } };
    return;
  }
  const carry = b.zext('i32', b.icmp(b.add(before, lowOperand), lowOperand, { pred: 'ult' }));
  const addend = b.add(highOperand, carry);
  const carrying = addBlock(kernel);
  // Most sums of small numbers do not change the high half.
  const isNeeded = b.icmp(addend, b.const('i32', 0), { pred: 'ne' });
  block.end = { op: 'condbr', cond: isNeeded, then: { block: carrying, args: [] }, else: { block: rest, args: [] } };
  b.block = carrying;
  b.atomic(high, addend, { rmw });
  carrying.end = { op: 'br', to: { block: rest, args: [] } };
}

// ── locks ──

const halfAccess = { align: 4, volatile: true } as const;

/**
 * Replaces an atomic by a loop in which a thread tries to take the lock, updates the word if it has it, and frees the lock in the same iteration. A
 * lane therefore never waits for another lane of its simdgroup. The loop ends when the value that was in the lock before it was freed is 1. A driver's
 * compiler does not know this value, so it cannot move the update behind the loop, where it would wait for the lanes that are still in it.
 */
function updateLocked(kernel: Kernel, block: Block, at: number, table: number): void {
  const value = block.body[at]!;
  const inst = kernel.insts[value] as WideAtomic;
  const [attempt, update, after] = [addBlock(kernel), addBlock(kernel), addBlock(kernel)];
  const rest = splitBlock(kernel, block, at + 1);
  block.body.pop();
  const b = builder(kernel, block);
  b.loc = kernel.locs[value];
  const lock = lockOf(b, inst.a, table);
  const [low, high] = halvesAt(b, inst.a);
  const [free, taken, nothing] = [b.const('i32', 0), b.const('i32', 1), b.const('i64', 0)];
  block.end = { op: 'br', to: { block: attempt, args: [] } };
  b.block = attempt;
  const seen = b.atomic(lock, taken, { rmw: 'exch' });
  // 0, because a lock that is not free is 1.
  const failed = b.sub(seen, taken);
  const isFree = b.icmp(seen, free, { pred: 'eq' });
  attempt.end = { op: 'condbr', cond: isFree, then: { block: update, args: [] }, else: { block: after, args: [failed, nothing] } };
  b.block = update;
  const scope = b.typeOf(inst.a) === 'ptr.shared' ? 'block' : 'device';
  b.fence({ scope });
  const [lowBefore, highBefore] = [b.load('i32', low, halfAccess), b.load('i32', high, halfAccess)];
  const before = b.or(b.zext('i64', lowBefore), b.shl(b.zext('i64', highBefore), b.const('i64', 32)));
  const [newLow, newHigh] = halvesOf(b, replacement(b, inst, before));
  b.store(low, newLow, halfAccess);
  b.store(high, newHigh, halfAccess);
  b.fence({ scope });
  const held = b.atomic(lock, free, { rmw: 'exch' });
  update.end = { op: 'br', to: { block: after, args: [held, before] } };
  const [state, found] = [addBlockParam(kernel, after, 'i32'), addBlockParam(kernel, after, 'i64')];
  b.block = after;
  const isDone = b.icmp(state, free, { pred: 'ne' });
  after.end = { op: 'condbr', cond: isDone, then: { block: rest, args: [] }, else: { block: attempt, args: [] } };
  // The old value keeps the number of the atomic, so that its uses stay unchanged.
  kernel.insts[value] = { op: 'bitcast', type: inst.type, a: found };
  rest.body.unshift(value);
}

/** The address of the lock of a word. The words of all blocks at one shared address would have the same lock, so the block selects it too. */
function lockOf(b: Builder, pointer: Value, table: number): Value {
  const word = b.trunc('i32', b.lshr(b.ptrtoint('i64', pointer), b.const('i64', 3)));
  const other =
    b.typeOf(pointer) === 'ptr.shared'
      ? b.mul(b.sreg('i32', { name: 'ctaid.x' }), b.const('i32', 0x9e37_79b1))
      : b.lshr(word, b.const('i32', Math.log2(lockCount)));
  const index = b.and(b.xor(word, other), b.const('i32', lockCount - 1));
  return b.ptradd(b.param('ptr.global', { index: table }), b.shl(b.zext('i64', index), b.const('i64', 2)));
}

/** The value that an atomic leaves where `before` was, both as an i64. */
export function replacement(b: Builder, inst: WideAtomic, before: Value): Value {
  if (inst.op === 'cas') return b.select(b.icmp(before, inst.b, { pred: 'eq' }), inst.c, before);
  switch (inst.rmw) {
    case 'exch':
      return inst.b;
    case 'fadd':
      return b.bitcast('i64', b.fadd(b.bitcast('f64', before), inst.b));
    case 'inc':
    case 'dec':
      return bug(`\`${inst.rmw}\` has 32 bits`);
    default:
      return b[inst.rmw](before, inst.b);
  }
}
