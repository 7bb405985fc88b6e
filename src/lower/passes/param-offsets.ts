/**
 * Addresses in parameters that are joined or chosen at run time, as in a loop over the elements of a parameter: each becomes
 * the start of its parameter and an offset. Buffers have no addresses that could be carried as numbers, so an address whose
 * parameter is not the same on all ways is refused (CM2049).
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { addInst, type Block, edgesOf, type Inst, type Kernel, mapBlock, type Value } from '../../ir/index.ts';

/** Rewrites pointers into parameters in place, once `recoverPointers` has made them pointers. */
export function useParamOffsets(kernel: Kernel, diagnostics: Diagnostics): void {
  const joined = kernel.blocks.flatMap(({ params, body }) => [...params, ...body].filter((value) => isJoined(kernel, value)));
  if (joined.length === 0) return;
  const roots = rootsOf(kernel);
  const unknown = joined.find((value) => typeof roots.get(value) !== 'number');
  if (unknown !== undefined) return refuse(kernel, unknown, diagnostics);
  const starts = new Map(kernel.blocks.map((block) => [block, splitParams(kernel, block, roots)]));
  const pointers = new Map([...starts.values()].flatMap(({ pointers }) => [...pointers]));
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, (value) => pointers.get(value) ?? value);
  for (const block of kernel.blocks) {
    const { code } = starts.get(block)!;
    block.body = [...code(), ...block.body.flatMap((value) => [...splitSelect(kernel, value, roots), value])];
    handOver(kernel, block, pointers);
  }
}

const isPointer = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.type === 'ptr.param';

/** Whether a value is a pointer into a parameter, and neither its start nor an offset from there. */
const isJoined = (kernel: Kernel, value: Value): boolean =>
  isPointer(kernel, value) && !['param', 'ptradd'].includes(kernel.insts[value]!.op);

function refuse(kernel: Kernel, value: Value, diagnostics: Diagnostics): void {
  const span = kernel.locs[value] ?? kernel.blocks.find(({ params }) => params.includes(value))?.endLoc;
  const why = 'it is only known at run time which parameter it is in';
  diagnostics.report('CM2049', { operand: 'an address of a parameter', why }, span ? { span } : {});
}

/** The number of the parameter that an address is in; `open` where it may be in several, or is a number. */
type Roots = ReadonlyMap<Value, number | 'open'>;

/** The parameters of all addresses. A value sinks from unknown to a parameter to `open`, so this ends, after few rounds in flow order. */
function rootsOf(kernel: Kernel): Roots {
  const roots = new Map<Value, number | 'open'>();
  let changed = true;
  const join = (value: Value, root: number | 'open' | undefined): void => {
    const before = roots.get(value);
    if (root === undefined || before === root || before === 'open') return;
    roots.set(value, before === undefined ? root : 'open');
    changed = true;
  };
  while (changed) {
    changed = false;
    for (const { body, end } of kernel.blocks) {
      for (const value of body.filter((each) => isPointer(kernel, each))) {
        const inst = kernel.insts[value]!;
        for (const root of sourcesOf(inst, roots)) join(value, root);
      }
      for (const { block, args } of edgesOf(end))
        for (const [i, arg] of args.entries()) if (isPointer(kernel, block.params[i]!)) join(block.params[i]!, roots.get(arg));
    }
  }
  return roots;
}

/** Parameters are where they are; a sum and a choice are where their operands are; what else makes a pointer takes a number for one. */
function sourcesOf(inst: Inst, roots: Roots): readonly (number | 'open' | undefined)[] {
  if (inst.op === 'param') return [inst.index];
  if (inst.op === 'ptradd') return [roots.get(inst.a)];
  return inst.op === 'select' ? [roots.get(inst.a), roots.get(inst.b)] : ['open'];
}

const startOf = (kernel: Kernel, value: Value, roots: Roots): Value =>
  addInst(kernel, { op: 'param', type: 'ptr.param', index: roots.get(value) } as Inst);

/** The pointers of a block become offsets; returns the pointers that replace them, and the code that makes those. */
function splitParams(kernel: Kernel, block: Block, roots: Roots): { pointers: Map<Value, Value>; code: () => Value[] } {
  const pointers = new Map<Value, Value>();
  const starts: Value[] = [];
  for (const param of block.params.filter((value) => isPointer(kernel, value))) {
    const start = startOf(kernel, param, roots);
    starts.push(start);
    pointers.set(param, addInst(kernel, { op: 'ptradd', type: 'ptr.param', a: start, b: param } as Inst));
    kernel.insts[param]!.type = 'i64';
  }
  return { pointers, code: () => [...starts, ...pointers.values()] };
}

/** A selection becomes a sum in place; gives the code before it. */
function splitSelect(kernel: Kernel, value: Value, roots: Roots): Value[] {
  const inst = kernel.insts[value]!;
  if (inst.op !== 'select' || inst.type !== 'ptr.param') return [];
  const code: Value[] = [];
  const start = startOf(kernel, value, roots);
  const [a, b] = [offsetOf(kernel, inst.a, code), offsetOf(kernel, inst.b, code)];
  const offset = addInst(kernel, { op: 'select', type: 'i64', cond: inst.cond, a, b } as Inst);
  kernel.insts[value] = { op: 'ptradd', type: 'ptr.param', a: start, b: offset } as Inst;
  return [...code, start, offset];
}

/** The offset of a pointer from the start of its parameter, with the code that adds it up. */
function offsetOf(kernel: Kernel, pointer: Value, code: Value[]): Value {
  const add = (inst: Inst): Value => {
    const made = addInst(kernel, inst);
    code.push(made);
    return made;
  };
  const terms: Value[] = [];
  for (let inst = kernel.insts[pointer]!; inst.op === 'ptradd'; inst = kernel.insts[inst.a]!) terms.push(inst.b);
  const [first, ...more] = terms.reverse();
  if (first === undefined) return add({ op: 'const', type: 'i64', bits: 0n } as Inst);
  return more.reduce((sum, term) => add({ op: 'add', type: 'i64', a: sum, b: term } as Inst), first);
}

/** Edges hand over offsets. */
function handOver(kernel: Kernel, from: Block, pointers: ReadonlyMap<Value, Value>): void {
  for (const edge of edgesOf(from.end))
    edge.block.params.forEach((param, i) => {
      if (pointers.has(param)) edge.args[i] = offsetOf(kernel, edge.args[i]!, from.body);
    });
}
