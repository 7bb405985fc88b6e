/**
 * Generic accesses: each gets the state space that its address is based in. One whose origin is not seen (a pointer loaded from
 * memory) is of global memory, as long as no other generic address gets out of sight: one of shared, constant or local memory
 * is an offset, whose number is not observed. Where an instruction looks at it or stores it, or an address may lie in several
 * spaces, addresses get tags (`tagged-addresses.ts`). Those of parameters of the kernel have none: such a use of them is refused (CM2094, CM2096).
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { addTo } from '../../base/group.ts';
import {
  type Base,
  basesOf,
  builder,
  eachOperand,
  edgesOf,
  type Inst,
  type Kernel,
  operandsOf,
  type Space,
  type Value,
} from '../../ir/index.ts';
import { type Distances, ownAddress } from '../../ptx/index.ts';
import { useGenericAddresses } from './generic-addresses.ts';
import { type Addresses, canTag, useTags } from './tagged-addresses.ts';

/**
 * Rewrites generic pointers in place. True where blocks were added, which then are no longer in the order in which control reaches
 * them.
 */
export function resolveSpaces(kernel: Kernel, addresses: Omit<Addresses, 'known'>, diagnostics: Diagnostics): boolean {
  const { marked, spaced, remote, isNative } = addresses;
  const { numbers } = usesOfAddresses(kernel, marked);
  const isLost = numbers.length > 0 || isOpenKernel(kernel);
  const casts = kernel.blocks.flatMap(({ body }) => body.filter((value) => isGenericCast(kernel.insts[value]!)));
  const bases = casts.length > 0 ? basesOf(kernel, undefined, isLost ? {} : { unknownIsGlobal: true }) : [];
  const known = new Map<Value, Space>();
  const open = questionsOf(kernel);
  for (const cast of casts) {
    const inst = kernel.insts[cast] as Inst & { op: 'inttoptr' };
    const space = spaceOfBase(bases[inst.a], isLost);
    if (space) known.set(cast, space);
    else open.push(cast);
  }
  if (isNative && (numbers.length > 0 || open.length > 0)) {
    useGenericAddresses(kernel, { ...addresses, known });
    return false;
  }
  if (numbers.length > 0 || open.length > 0) {
    const taggable = new Set([...marked].filter((value) => canTag(kernel, value)));
    const lost = usesOfAddresses(kernel, new Set([...marked].filter((value) => !taggable.has(value))));
    // Where no generic address has a tag, nothing says of what space one is.
    const unknown = taggable.size === 0 ? open : open.filter((value) => lost.derived.has(operandsOf(kernel.insts[value]!)[0]!));
    if (lost.numbers.length === 0 && unknown.length === 0) {
      useTags(kernel, { marked: taggable, spaced, known, remote, isNative });
      return true;
    }
    for (const value of lost.numbers) report(kernel, value, 'CM2096', diagnostics);
    for (const value of unknown) report(kernel, value, 'CM2094', diagnostics);
  }
  if (remote) findOwn(kernel, known, remote);
  retype(kernel, known);
  return false;
}

/** Whether instructions that stay as they are, or the caller of a function, give what may be an address of any space. */
export const isOpenKernel = ({ insts }: Kernel): boolean => insts.some(({ op, type }) => op === 'output' && type === 'i64');

function report(kernel: Kernel, value: Value, code: 'CM2094' | 'CM2096', diagnostics: Diagnostics): void {
  const span = kernel.locs[value];
  diagnostics.report(code, {}, span ? { span } : {});
}

/** The space of an address by its base; nothing where it may be of several. `isLost`: addresses that are not global escaped. */
function spaceOfBase(base: Base | undefined, isLost: boolean): Space | undefined {
  if (base === 'none') return isLost ? undefined : 'global';
  return base === 'mixed' || base === 'generic' ? undefined : base;
}

/**
 * Decides queries of the space of an address (`isspacep`), where it is known; returns whether there were any queries. In a function
 * that takes an address the result decides a branch.
 */
export function decideSpaces(kernel: Kernel, marked: ReadonlySet<Value>): boolean {
  const questions = questionsOf(kernel);
  if (questions.length === 0) return false;
  const isLost = isOpenKernel(kernel) || usesOfAddresses(kernel, marked).numbers.length > 0;
  const bases = basesOf(kernel, undefined, isLost ? {} : { unknownIsGlobal: true });
  let isAny = false;
  for (const value of questions) {
    const inst = kernel.insts[value] as Inst & { op: 'isspace' };
    const space = spaceOfBase(bases[inst.a], isLost);
    if (space === undefined) continue;
    kernel.insts[value] = { op: 'const', type: 'i1', bits: isWithin(space, inst.space) ? 1n : 0n };
    isAny = true;
  }
  return isAny;
}

/** The parameters of the kernel lie within the window of constants. Source: PTX ISA 9.0, 5.1. */
const isWithin = (space: Space, window: Space): boolean => space === window || (space === 'param' && window === 'constant');

const questionsOf = (kernel: Kernel): Value[] =>
  kernel.blocks.flatMap(({ body }) => body.filter((value) => kernel.insts[value]!.op === 'isspace'));

const isGenericCast = (inst: Inst): boolean => inst.op === 'inttoptr' && inst.type === 'ptr.generic';

/** Addresses of shared memory may be of another block of the cluster. */
function findOwn(kernel: Kernel, known: ReadonlyMap<Value, Space>, remote: Distances): void {
  for (const block of kernel.blocks) {
    const b = builder(kernel, { ...block, body: [] });
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      b.loc = kernel.locs[value];
      if (inst.op === 'inttoptr' && known.get(value) === 'shared') kernel.insts[value] = { ...inst, a: ownAddress(b, inst.a, remote) };
      b.block.body.push(value);
    }
    block.body = b.block.body;
  }
}

/** Casts and the offsets on them take the type of their space. */
function retype(kernel: Kernel, spaces: Map<Value, Space>): void {
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'ptradd' && spaces.has(inst.a)) spaces.set(value, spaces.get(inst.a)!);
      const space = spaces.get(value);
      if (space) inst.type = `ptr.${space}`;
    }
}

/** What becomes of addresses. */
interface AddressUses {
  /** The instructions that take such an address, or one based on it, for a number. */
  readonly numbers: readonly Value[];
  /** The addresses themselves, and what is based on them. */
  readonly derived: ReadonlySet<Value>;
}

function usesOfAddresses(kernel: Kernel, addresses: ReadonlySet<Value>): AddressUses {
  if (addresses.size === 0) return { numbers: [], derived: addresses };
  const numbers: Value[] = [];
  const { users, handedTo } = usesOf(kernel);
  const derived = new Set<Value>(addresses);
  const follow = (value: Value): void => {
    if (derived.has(value)) return;
    derived.add(value);
    work.push(value);
  };
  const work = [...addresses];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    for (const param of handedTo.get(value) ?? []) follow(param);
    for (const user of users(value) as Iterable<Value>) {
      const use = kernel.insts[user]!;
      if (use.op === 'add' || use.op === 'select' || (use.op === 'sub' && use.b !== value)) follow(user);
      else if (use.op !== 'inttoptr' && use.op !== 'isspace') numbers.push(user);
    }
  }
  return { numbers, derived };
}

interface Uses {
  /** The instructions that use a value, each once, in order. */
  users(value: Value): Int32Array;
  /** The parameters that get a value from a jump. */
  readonly handedTo: ReadonlyMap<Value, readonly Value[]>;
}

/** Side arrays: a kernel has a million uses, most of them of other values than addresses. */
function usesOf(kernel: Kernel): Uses {
  const count = kernel.insts.length;
  const [starts, last] = [new Int32Array(count + 1), new Int32Array(count).fill(-1)];
  const eachUse = (visit: (operand: Value, user: Value) => void): void => {
    let user: Value;
    // One function for all instructions.
    const use = (operand: Value): void => {
      if (last[operand] === user) return;
      last[operand] = user;
      visit(operand, user);
    };
    for (const { body } of kernel.blocks) for (user of body) eachOperand(kernel.insts[user]!, use);
  };
  eachUse((operand) => void starts[operand + 1]!++);
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  last.fill(-1);
  const [all, at] = [new Int32Array(starts[count]!), starts.slice()];
  eachUse((operand, user) => {
    all[at[operand]!++] = user;
  });
  const handedTo = new Map<Value, Value[]>();
  for (const { end } of kernel.blocks)
    for (const edge of edgesOf(end)) for (const [i, arg] of edge.args.entries()) addTo(handedTo, arg, edge.block.params[i]!);
  return { users: (value) => all.subarray(starts[value]!, starts[value + 1]!), handedTo };
}
