/**
 * Generic accesses: each gets the state space that its address is based in. One whose origin is not seen (a pointer loaded from
 * memory) is of global memory, since no other generic address gets out of sight: a generic address of shared, constant or local
 * memory is an offset here and another number on an NVIDIA GPU, so an instruction that looks at the number, or stores it, is
 * refused (CM2096). An address that may lie in several spaces is refused (CM2094).
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { type Base, basesOf, edgesOf, type Inst, type Kernel, operandsOf, type Space, type Value } from '../../ir/index.ts';

/** Rewrites generic pointers in place; `marked` are generic addresses of memory that is not global. */
export function resolveSpaces(kernel: Kernel, marked: ReadonlySet<Value>, diagnostics: Diagnostics): void {
  const numbers = usesAsNumber(kernel, marked);
  for (const value of numbers) report(kernel, value, 'CM2096', diagnostics);
  const casts = kernel.blocks.flatMap(({ body }) => body.filter((value) => isGenericCast(kernel.insts[value]!)));
  if (casts.length === 0) return;
  const bases = basesOf(kernel, undefined, numbers.length > 0 ? {} : { unknownIsGlobal: true });
  const spaces = new Map<Value, Space>();
  for (const cast of casts) {
    const inst = kernel.insts[cast] as Inst & { op: 'inttoptr' };
    const base = bases[inst.a];
    const space = spaceOfBase(base, numbers.length > 0);
    if (space) spaces.set(cast, space);
    else report(kernel, cast, 'CM2094', diagnostics);
  }
  retype(kernel, spaces);
}

function report(kernel: Kernel, value: Value, code: 'CM2094' | 'CM2096', diagnostics: Diagnostics): void {
  const span = kernel.locs[value];
  diagnostics.report(code, {}, span ? { span } : {});
}

/** The space of an address by what it is based in; nothing where it may be of several. `isLost`: addresses that are not global got out of sight. */
function spaceOfBase(base: Base | undefined, isLost: boolean): Space | undefined {
  if (base === 'none') return isLost ? undefined : 'global';
  return base === 'mixed' || base === 'generic' ? undefined : base;
}

/**
 * Answers what instructions ask of the space of an address (`isspacep`), where it is known; gives whether there was any such
 * question. In a function that is handed an address the answer says which way is taken.
 */
export function decideSpaces(kernel: Kernel, marked: ReadonlySet<Value>): boolean {
  const questions = questionsOf(kernel);
  if (questions.length === 0) return false;
  const isLost = usesAsNumber(kernel, marked).length > 0;
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

/** Refuses the questions that are left. */
export function refuseOpenQuestions(kernel: Kernel, diagnostics: Diagnostics): void {
  for (const value of questionsOf(kernel)) report(kernel, value, 'CM2094', diagnostics);
}

const questionsOf = (kernel: Kernel): Value[] =>
  kernel.blocks.flatMap(({ body }) => body.filter((value) => kernel.insts[value]!.op === 'isspace'));

const isGenericCast = (inst: Inst): boolean => inst.op === 'inttoptr' && inst.type === 'ptr.generic';

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

/** The instructions that take a marked address, or one based on it, for a number. */
function usesAsNumber(kernel: Kernel, marked: ReadonlySet<Value>): Value[] {
  if (marked.size === 0) return [];
  const found: Value[] = [];
  const { users, handedTo } = usesOf(kernel);
  const seen = new Set<Value>(marked);
  const follow = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    work.push(value);
  };
  const work = [...marked];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    for (const param of handedTo.get(value) ?? []) follow(param);
    for (const user of users.get(value) ?? []) {
      const use = kernel.insts[user]!;
      if (use.op === 'add' || use.op === 'select' || (use.op === 'sub' && use.b !== value)) follow(user);
      else if (use.op !== 'inttoptr' && use.op !== 'isspace') found.push(user);
    }
  }
  return found;
}

function usesOf(kernel: Kernel): { users: Map<Value, Value[]>; handedTo: Map<Value, Value[]> } {
  const [users, handedTo] = [new Map<Value, Value[]>(), new Map<Value, Value[]>()];
  const note = (map: Map<Value, Value[]>, key: Value, value: Value): void => {
    const known = map.get(key);
    if (known) known.push(value);
    else map.set(key, [value]);
  };
  for (const { body, end } of kernel.blocks) {
    for (const value of body) for (const operand of new Set(operandsOf(kernel.insts[value]!))) note(users, operand, value);
    for (const edge of edgesOf(end)) for (const [i, arg] of edge.args.entries()) note(handedTo, arg, edge.block.params[i]!);
  }
  return { users, handedTo };
}
