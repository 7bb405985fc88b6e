/**
 * Address checks. Vectorized code computes the low 32 bits of an address, which identify memory only if the whole address is below 4 GiB. Where
 * the analysis of sums does not show that, an `addressable` before the access checks the whole address.
 *
 * The first 64 KiB and the last 16 MiB of the 4 GiB are never allocated. An address that leaves the 4 GiB by less therefore faults anyway, so
 * parts of a sum in such a range need no check, and accesses that differ only by such parts share one.
 */
import {
  accessOf,
  addedIntervals,
  addInst,
  type Block,
  cfgOf,
  dominatorsOf,
  type Interval,
  isHidden,
  isInside,
  isPointer,
  type Kernel,
  scaledInterval,
  type Uniformity,
  uniformityOf,
  type Value,
} from '../../../ir/index.ts';
import type { AlignmentFacts } from '../../codegen/check-alignment.ts';
import { endGuardBytes } from '../../codegen/memory-margin.ts';
import { type AddressSum, type AddressSums, addressSums, integerSum } from '../analysis/address-sums.ts';

/** How far below and above the checked address an access may be: by half of what is never allocated, as lanes may be as far again. */
const slack: Interval = { min: -BigInt(endGuardBytes / 2), max: 32768n - 64n };
/** How far from a window of the launch an address may be without a check. */
const windowReach: Interval = { min: slack.min, max: BigInt(endGuardBytes / 2) };

/** What is known of the memory of a launch. */
export interface MemoryFacts extends AlignmentFacts {
  /** Bytes of memory below which all buffers are that a launch passes. */
  readonly memoryBytes: number;
}

/** The most that a factor of an extended integer is, either way. */
const maxFactor = 2n ** 31n;
/** Extended integers of an `addressable`. */
const maxExtended = 2;

interface State {
  readonly kernel: Kernel;
  readonly sums: AddressSums;
  /** How far from a buffer an address may be without a check. */
  readonly bufferReach: Interval;
  /** The checks that dominate the access, by their key. */
  readonly done: Set<string>;
}

/** The state while checks are written. */
interface Writing extends State {
  readonly uniformity: Uniformity;
  /** An i32 of 0, for operands that a check does not use; it is in the entry block. */
  readonly zero: Value;
}

/** The checks that a kernel needs in a launch, as text. Kernels with one text for two launches have the same code for both. */
export function neededAddressChecks(kernel: Kernel, facts?: MemoryFacts): string {
  // The analysis adds instructions.
  const own = { ...kernel, insts: [...kernel.insts], locs: [...kernel.locs] };
  return textOf(checksOf(newState(own, facts)));
}

/** Inserts the checks in place; returns them as text. Kernels with checks of a sanitizer need no others. */
export function checkAddresses(kernel: Kernel, facts?: MemoryFacts): string {
  const state = newState(kernel, facts);
  const checks = checksOf(state);
  if (checks.size === 0) return '';
  const zero = addInst(kernel, { op: 'const', type: 'i32', bits: 0n });
  const writing = { ...state, uniformity: uniformityOf(kernel), zero };
  const before = new Map([...checks].map(([access, check]) => [access, writeCheck(writing, check)]));
  for (const block of kernel.blocks) block.body = block.body.flatMap((value) => [...(before.get(value) ?? []), value]);
  kernel.blocks[0]!.body.unshift(zero);
  return textOf(checks);
}

const textOf = (checks: ReadonlyMap<Value, Check>): string => [...checks].map(([access, { key }]) => `${access}: ${key}`).join('\n');

const isChecked = ({ insts }: Kernel): boolean => insts.some(({ op }) => op === 'guard' || op === 'within');

function newState(kernel: Kernel, facts: MemoryFacts | undefined): State {
  const most = BigInt(facts?.memoryBytes ?? 2 ** 32 - endGuardBytes);
  const bufferReach = { min: slack.min, max: 2n ** 32n - most - BigInt(endGuardBytes / 2) };
  return { kernel, sums: addressSums(kernel, facts), bufferReach, done: new Set() };
}

/** By access: the check that it needs. It is found down the dominator tree, as a check holds in all blocks that its block dominates. */
function checksOf(state: State): Map<Value, Check> {
  const { kernel, done } = state;
  const found = new Map<Value, Check>();
  if (isChecked(kernel)) return found;
  const { children, root } = dominatorsOf(cfgOf(kernel));
  const stack: (number | (() => void))[] = [root];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item === 'function') item();
    else stack.push(visit(kernel.blocks[item]!), ...children[item]!);
  }
  return found;

  function visit({ id, body }: Block): () => void {
    const added: string[] = [];
    for (const value of body) {
      const access = accessOf(kernel, kernel.insts[value]!);
      const check = access && checkOf(state, access.addr, id);
      if (!check || done.has(check.key)) continue;
      done.add(check.key);
      added.push(check.key);
      found.set(value, check);
    }
    return () => {
      for (const key of added) done.delete(key);
    };
  }
}

/** The part of a sum that is checked. */
type Checked = Pick<AddressSum, 'parts' | 'constant'>;

interface Check extends Checked {
  /** Checks with one key are equal. */
  readonly key: string;
  readonly pointer: Value | undefined;
}

/** The check that an address needs; undefined if it needs none. */
function checkOf(state: State, address: Value, block: number): Check | undefined {
  const { kernel, sums } = state;
  const sum = sums.of(address);
  const pointers = [...sum.parts].filter(([value]) => isPointer(kernel.insts[value]!.type));
  const [pointer, by] = pointers[0] ?? [undefined, 1n];
  // An address of several pointers is checked as it is, and one that is cut by more than the slack.
  if (pointers.length > 1 || by !== 1n || !isInside(sum.rounding, slack))
    return { key: `whole ${address}`, pointer: address, parts: new Map(), constant: 0n };
  const ranges = rangesOf(sums, sum, pointer, block);
  const total = ranges.reduce((all, { range }) => addedIntervals(all, range), constantRange(sum));
  if (pointer !== undefined && isRoot(kernel, pointer) && isInside(total, reachOf(state, pointer))) return undefined;
  const rest = withoutBounded(sum, ranges, pointer);
  const key = [pointer, ...[...rest.parts].sort(([a], [b]) => a - b), rest.constant].join(' ');
  return { key, pointer, ...rest };
}

const isRoot = ({ insts }: Kernel, pointer: Value): boolean => insts[pointer]!.op === 'param' || insts[pointer]!.op === 'variable';

/** How far from a parameter or a variable an address may be. */
function reachOf({ kernel, bufferReach }: State, pointer: Value): Interval {
  const inst = kernel.insts[pointer]!;
  const param = inst.op === 'param' ? kernel.params[inst.index]! : undefined;
  return param?.kind === 'pointer' && !isHidden(param) ? bufferReach : windowReach;
}

interface PartRange {
  readonly value: Value;
  readonly range: Interval;
}

/** The intervals of the parts that are no pointers, times their factors. */
const rangesOf = (sums: AddressSums, { parts }: AddressSum, pointer: Value | undefined, block: number): PartRange[] =>
  [...parts].flatMap(([value, by]) => (value === pointer ? [] : [{ value, range: scaledInterval(sums.rangeAt(value, block), by) }]));

/** The interval of the constant, and of what cleared bits take away. */
const constantRange = ({ constant, rounding }: AddressSum): Interval => addedIntervals(rounding, { min: constant, max: constant });

/** A sum without its pointer and without what the slack covers: parts with a small range, and the low bits of the constant. */
function withoutBounded(sum: AddressSum, ranges: readonly PartRange[], pointer: Value | undefined): Checked {
  const parts = new Map(sum.parts);
  if (pointer !== undefined) parts.delete(pointer);
  const low = sum.constant & 4095n;
  let covered = addedIntervals(sum.rounding, { min: 0n, max: low });
  for (const { value, range } of ranges) {
    const wider = addedIntervals(covered, range);
    if (!isInside(wider, slack)) continue;
    parts.delete(value);
    covered = wider;
  }
  return { parts, constant: sum.constant - low };
}

/** The extended integers that the check takes by themselves: the lanes of others would need 64 bits where they vary. */
function extendedParts({ kernel, uniformity }: Writing, { parts }: Checked): Value[] {
  const isExtended = ([value, by]: [Value, bigint]): boolean => {
    const inst = kernel.insts[value]!;
    return (inst.op === 'sext' || inst.op === 'zext') && kernel.insts[inst.a]!.type === 'i32' && by < maxFactor && by > -maxFactor;
  };
  const found = [...parts].filter(isExtended).map(([value]) => value);
  return found.sort((a, b) => uniformity.variance[b]! - uniformity.variance[a]!).slice(0, maxExtended);
}

function writeCheck(state: Writing, { pointer, parts, constant }: Check): Value[] {
  const { kernel, sums, zero } = state;
  const extended = extendedParts(state, { parts, constant });
  sums.place(parts.keys());
  const written: Value[] = [];
  const whole = new Map([...parts].filter(([value]) => !extended.includes(value)));
  const base = writeBase(kernel, pointer, { parts: whole, constant }, written);
  const [b, c] = extended.map((value) => {
    const inst = kernel.insts[value]!;
    if (inst.op !== 'sext' && inst.op !== 'zext') return undefined;
    return { value: inst.a, by: Number(parts.get(value)!), isSigned: inst.op === 'sext' };
  });
  const check = {
    a: base,
    b: b?.value ?? zero,
    c: c?.value ?? zero,
    byB: b?.by ?? 0,
    byC: c?.by ?? 0,
    isSignedB: b?.isSigned ?? false,
    isSignedC: c?.isSigned ?? false,
  };
  written.push(addInst(kernel, { op: 'addressable', type: 'void', ...check }));
  return written;
}

/** The part of a checked address that is computed in 64 bits, or a pointer alone. */
function writeBase(kernel: Kernel, pointer: Value | undefined, sum: Checked, written: Value[]): Value {
  const isAlone = sum.parts.size === 0 && sum.constant === 0n;
  if (pointer !== undefined && isAlone) return pointer;
  const integer = integerSum(kernel, sum, [], written);
  if (pointer === undefined) return integer;
  // A copy of the instruction, so that only this pointer has 64 bits.
  const own = isRoot(kernel, pointer) ? addInst(kernel, { ...kernel.insts[pointer]! }) : pointer;
  if (own !== pointer) written.push(own);
  const base = addInst(kernel, { op: 'ptradd', type: kernel.insts[pointer]!.type, a: own, b: integer });
  written.push(base);
  return base;
}
