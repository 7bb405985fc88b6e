/**
 * Whether a kernel may wait where its barriers are: WGSL demands that control flow to a barrier does not depend on what threads differ in, and
 * proves it by rules of its own, which this file follows on the tree of a kernel; what they cannot prove goes to the scheduler.
 * Source: W3C, WebGPU Shading Language, "Uniformity".
 */
import { type Block, type Edge, type Kernel, operandsOf, specOf, type Value } from '../../ir/index.ts';
import type { Label, Statement } from '../structure.ts';

/** Special registers that all threads of a block share. */
const isShared = (name: string): boolean => /^(ntid|ctaid|nctaid|nwarpid)/.test(name);

/** What a list of statements does to control flow. */
interface Ways {
  /** Whether control is uniform behind it; undefined if it does not get there. */
  after: boolean | undefined;
  /** Jumps out of it, by label, and whether control is uniform at all of them; returns have the label -1. */
  readonly jumps: Map<Label, boolean>;
}

interface Walk {
  readonly kernel: Kernel;
  readonly varying: Set<Value>;
  /** Whether an instruction that waits was reached where control varies. */
  hasFailed: boolean;
}

const isWaiting = (kernel: Kernel, value: Value): boolean => {
  const { op } = kernel.insts[value]!;
  const { effect } = specOf(op);
  return effect === 'barrier' || effect === 'warp' || op === 'fence';
};

/** Whether every instruction that waits for other threads is reached by all of them, as WGSL can see it. */
export function isProvablyUniform(kernel: Kernel, tree: readonly Statement[]): boolean {
  const walk: Walk = { kernel, varying: new Set(), hasFailed: false };
  for (let known = -1; known < walk.varying.size; ) {
    known = walk.varying.size;
    walk.hasFailed = false;
    visitList(walk, tree, true);
  }
  return !walk.hasFailed;
}

function visitList(walk: Walk, list: readonly Statement[], start: boolean): Ways {
  const jumps = new Map<Label, boolean>();
  let control: boolean | undefined = start;
  for (const statement of list) {
    const found = visit(walk, statement, control ?? false);
    for (const [label, isUniform] of found.jumps) note(jumps, label, isUniform);
    control = found.after;
    if (control === undefined && statement === list.at(-1)) return { after: undefined, jumps };
    // What follows a jump is the end of a scope inside the same list.
    control ??= start && [...jumps.values()].every((isUniform) => isUniform);
  }
  return { after: control, jumps };
}

function note(jumps: Map<Label, boolean>, label: Label, isUniform: boolean): void {
  jumps.set(label, (jumps.get(label) ?? true) && isUniform);
}

const goesOn = (after: boolean): Ways => ({ after, jumps: new Map() });

function visit(walk: Walk, s: Statement, control: boolean): Ways {
  switch (s.kind) {
    case 'body':
      visitBody(walk, s.block, control);
      return goesOn(control);
    case 'declare':
      return goesOn(control);
    case 'transfer':
      visitEdge(walk, s.edge, control);
      return goesOn(control);
    case 'jump':
      return { after: undefined, jumps: new Map([[s.label, control]]) };
    case 'return':
      return { after: undefined, jumps: new Map([[-1, control]]) };
    case 'if':
      return visitIf(walk, s, control);
    case 'scope':
      return visitScope(walk, s, control);
    case 'loop':
      return visitLoop(walk, s, control);
    // A dispatch may be anywhere in any turn.
    default:
      walk.hasFailed ||= walk.kernel.blocks.some(({ body }) => body.some((value) => isWaiting(walk.kernel, value)));
      return goesOn(false);
  }
}

function visitBody(walk: Walk, block: Block, control: boolean): void {
  const { kernel, varying } = walk;
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    const { effect } = specOf(inst.op);
    const isOwn =
      (inst.op === 'sreg' && !isShared(inst.name)) ||
      effect === 'warp' ||
      inst.op === 'atomic' ||
      inst.op === 'cas' ||
      (effect === 'reads' && !isReadOnly(kernel, value));
    if (!control || isOwn || operandsOf(inst).some((operand) => varying.has(operand))) varying.add(value);
  }
  if (!control && block.body.some((value) => isWaiting(kernel, value))) walk.hasFailed = true;
}

/** Whether a load reads what no thread writes: a parameter by value, or a constant of the kernel. */
function isReadOnly({ insts, params }: Kernel, value: Value): boolean {
  const inst = insts[value]!;
  if (inst.op !== 'load' || inst.volatile) return false;
  let at = insts[inst.addr]!;
  while (at.op === 'ptradd') at = insts[at.a]!;
  if (at.op === 'param') return params[at.index]!.kind === 'value';
  return at.op === 'variable' && at.type === 'ptr.constant';
}

function visitEdge({ varying }: Walk, { block, args }: Edge, control: boolean): void {
  block.params.forEach((param, i) => {
    if (!control || varying.has(args[i]!)) varying.add(param);
  });
}

function visitIf(walk: Walk, s: Extract<Statement, { kind: 'if' }>, control: boolean): Ways {
  const inner = control && !walk.varying.has(s.cond);
  const arms = [s.then, s.else].map((list) => visitList(walk, list, inner));
  const jumps = new Map<Label, boolean>();
  for (const arm of arms) for (const [label, isUniform] of arm.jumps) note(jumps, label, isUniform);
  if (arms.every(({ after }) => after === undefined)) return { after: undefined, jumps };
  const isSame = [...jumps.values()].every((isUniform) => isUniform);
  return { after: control && isSame && (inner ? arms.every(({ after }) => after !== false) : true), jumps };
}

/** Threads are together again behind a scope, unless some of them have gone further out. */
function behind(control: boolean, jumps: Map<Label, boolean>, own: readonly Label[]): Ways {
  const outer = new Map([...jumps].filter(([label]) => !own.includes(label)));
  return { after: control && [...outer.values()].every((isUniform) => isUniform), jumps: outer };
}

function visitScope(walk: Walk, s: Extract<Statement, { kind: 'scope' }>, control: boolean): Ways {
  const { jumps } = visitList(walk, s.body, control);
  return behind(control, jumps, [s.label]);
}

function visitLoop(walk: Walk, s: Extract<Statement, { kind: 'loop' }>, control: boolean): Ways {
  let found = visitList(walk, s.body, control);
  // The next turn starts with the threads that are left.
  if ([...found.jumps.values()].some((isUniform) => !isUniform) || found.after === false) found = visitList(walk, s.body, false);
  const { jumps } = behind(control, found.jumps, [s.label]);
  return { after: undefined, jumps };
}
