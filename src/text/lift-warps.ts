/**
 * Warp operations in the arms of branches that only some threads of a block take, for languages in which all threads of a block wait together:
 * `if (c) { A; operation; B }` becomes `if (c) { A }; operation; if (c) { B }`. The threads that do not take the arm bring a value to the operation that
 * changes nothing, and do not use its result.
 */
import { hasStates, type Regions, regionsOf, splitAtSyncPoints } from '../engine/index.ts';
import {
  addBlock,
  addBlockParam,
  type Block,
  type Builder,
  bitsOf,
  builder,
  cfgOf,
  copyOf,
  dominatorsOf,
  type Edge,
  edgesOf,
  type Fold,
  type Inst,
  isPointer,
  isVector,
  type Kernel,
  loopsOf,
  mapOperands,
  operandsOf,
  postDominatorsOf,
  renumber,
  splitBlock,
  terminatorOperands,
  uniformityOf,
  type Value,
} from '../ir/index.ts';

/** A kernel that is split where threads wait, with its warp operations in uniform code if all of them can be there. The kernel itself is changed. */
export function splitLifted(kernel: Kernel): { kernel: Kernel; regions: Regions } {
  const lifted = copyOf(kernel);
  splitAtSyncPoints(kernel);
  const regions = regionsOf(kernel);
  if (regions.schedule !== 'warp' || !liftWarpOps(lifted)) return { kernel, regions };
  splitAtSyncPoints(lifted);
  const ofLifted = regionsOf(lifted);
  return hasStates(ofLifted) ? { kernel, regions } : { kernel: lifted, regions: ofLifted };
}

/** Most operations that are lifted: analyses start anew behind each. */
const most = 64;

/** Lifts operations out of divergent branches in place; returns whether none is left in divergent code. */
function liftWarpOps(kernel: Kernel): boolean {
  for (let i = 0; i <= most; i++) {
    const found = nextPlace(kernel);
    if (found === 'done') return true;
    if (found === 'none' || i === most || !lift(kernel, found)) return false;
  }
  return false;
}

/** An operation in an arm of a branch, which every thread of the arm reaches. */
interface Place {
  readonly block: Block;
  readonly index: number;
  readonly branch: Block;
  readonly isThen: boolean;
}

const isWarpOp = ({ op }: Inst): boolean => op === 'shuffle' || op === 'ballot' || op === 'reduce' || op === 'syncwarp';

function nextPlace(kernel: Kernel): Place | 'done' | 'none' {
  const cfg = cfgOf(kernel);
  const post = postDominatorsOf(cfg);
  const { divergence } = uniformityOf(kernel, cfg, post);
  const id = cfg.order.find((each) => divergence[each] !== 0 && kernel.blocks[each]!.body.some((value) => isWarpOp(kernel.insts[value]!)));
  if (id === undefined) return 'done';
  const dominators = dominatorsOf(cfg);
  const { innermost } = loopsOf(cfg, dominators);
  const block = kernel.blocks[id]!;
  const index = block.body.findIndex((value) => isWarpOp(kernel.insts[value]!));
  // The branch that decides whether a thread comes here.
  let at = dominators.parent[id]!;
  while (at >= 0 && post.dominates(id, at)) at = dominators.parent[at]!;
  const branch = kernel.blocks[at];
  if (branch?.end.op !== 'condbr' || innermost[at] !== innermost[id]) return 'none';
  const { then: a, else: b } = branch.end;
  const isArm = ({ block: arm, args }: Edge): boolean =>
    args.length === 0 && cfg.predecessors[arm.id]!.length === 1 && dominators.dominates(arm.id, id) && post.dominates(id, arm.id);
  if (a.block === b.block || (!isArm(a) && !isArm(b))) return 'none';
  return { block, index, branch, isThen: isArm(a) };
}

/** The blocks from the start of an arm to the block of the operation. */
function blocksUpTo(start: Block, last: Block): Set<Block> {
  const found = new Set<Block>([start]);
  for (const each of found) if (each !== last) for (const edge of edgesOf(each.end)) found.add(edge.block);
  return found;
}

function lift(kernel: Kernel, { block, index, branch, isThen }: Place): boolean {
  const { end } = branch;
  if (end.op !== 'condbr') return false;
  const [arm, other] = isThen ? [end.then, end.else] : [end.else, end.then];
  const own = blocksUpTo(arm.block, block);
  const value = block.body[index]!;
  const inside = new Set<Value>(
    [...own].flatMap((each) => (each === block ? [...each.params, ...each.body.slice(0, index)] : [...each.params, ...each.body])),
  );
  const passed = usedBehind(kernel, { own, block, index, inside });
  if (!passed) return false;
  const rest = splitBlock(kernel, block, index + 1);
  block.body.pop();
  const meeting = addBlock(kernel);
  const [b, m] = [builder(kernel, branch), builder(kernel, meeting)];
  b.loc = branch.endLoc;
  m.loc = kernel.locs[value];
  const toMeeting: { arm: Value[]; other: Value[] } = { arm: [], other: [] };
  const pass = (from: Value, instead: Value): Value => {
    toMeeting.arm.push(from);
    toMeeting.other.push(instead);
    return addBlockParam(kernel, meeting, kernel.insts[from]!.type);
  };
  const inst = kernel.insts[value]!;
  const brought = inst.op === 'ballot' || inst.op === 'reduce' ? pass(inst.a, b.const(b.typeOf(inst.a), neutralOf(inst))) : undefined;
  const renamed = new Map<Value, Value>();
  for (const each of passed.values) renamed.set(each, pass(each, b.const(b.typeOf(each), 0)));
  for (const each of passed.again) renamed.set(each, again(kernel, m, each, renamed));
  const map = (each: Value): Value => renamed.get(each) ?? each;
  meeting.body.push(value);
  for (const each of kernel.blocks) if (!own.has(each)) renameIn(kernel, each, map);
  if (brought !== undefined) mapOperands(inst, () => brought);
  block.end = { op: 'br', to: { block: meeting, args: toMeeting.arm } };
  const around: Edge = { block: meeting, args: toMeeting.other };
  branch.end = isThen ? { ...end, then: arm, else: around } : { ...end, then: around, else: arm };
  const [onward, back] = [
    { block: rest, args: [] },
    { block: other.block, args: [...other.args] },
  ];
  meeting.end = { op: 'condbr', cond: end.cond, then: isThen ? onward : back, else: isThen ? back : onward };
  meeting.endLoc = branch.endLoc;
  renumber(kernel);
  return true;
}

/** What a thread brings that changes nothing. */
function neutralOf(inst: Inst): bigint {
  const neutral: Readonly<Partial<Record<Fold, bigint>>> = {
    and: 0xffff_ffffn,
    umin: 0xffff_ffffn,
    smin: 0x7fff_ffffn,
    smax: 0x8000_0000n,
  };
  return inst.op === 'reduce' ? BigInt.asUintN(bitsOf(inst.type), neutral[inst.fold] ?? 0n) : 0n;
}

interface Cut {
  readonly own: ReadonlySet<Block>;
  readonly block: Block;
  readonly index: number;
  readonly inside: ReadonlySet<Value>;
}

/** The values of an arm that are used behind the operation, and those that are made again there; undefined where one can be neither. */
function usedBehind(kernel: Kernel, { own, block, index, inside }: Cut): { values: Value[]; again: Value[] } | undefined {
  const used = new Set<Value>();
  for (const each of kernel.blocks) {
    const isBehind = !own.has(each);
    const body = isBehind ? each.body : each === block ? each.body.slice(index) : [];
    for (const value of body) for (const operand of operandsOf(kernel.insts[value]!)) used.add(operand);
    if (isBehind || each === block) for (const operand of terminatorOperands(each.end)) used.add(operand);
  }
  const values = new Set<Value>();
  const again: Value[] = [];
  const visit = (value: Value): boolean => {
    if (!inside.has(value) || values.has(value) || again.includes(value)) return true;
    const inst = kernel.insts[value]!;
    if (isVector(inst.type) || inst.type === 'void') return false;
    if (isLeaf(inst) || isPointer(inst.type)) {
      if (!isLeaf(inst) && inst.op !== 'ptradd' && inst.op !== 'inttoptr') return false;
      if (!operandsOf(inst).every(visit)) return false;
      again.push(value);
      return true;
    }
    values.add(value);
    return true;
  };
  return [...used].every(visit) ? { values: [...values], again } : undefined;
}

const isLeaf = ({ op }: Inst): boolean => op === 'const' || op === 'param' || op === 'sreg' || op === 'variable';

/** Makes a value again, of operands that have other names. */
function again(kernel: Kernel, m: Builder, value: Value, renamed: ReadonlyMap<Value, Value>): Value {
  const made = kernel.insts.length as Value;
  const inst = { ...kernel.insts[value]! };
  mapOperands(inst, (operand) => renamed.get(operand) ?? operand);
  kernel.insts.push(inst);
  kernel.locs[made] = kernel.locs[value];
  m.block.body.push(made);
  return made;
}

function renameIn(kernel: Kernel, block: Block, map: (value: Value) => Value): void {
  for (const value of block.body) mapOperands(kernel.insts[value]!, map);
  const { end } = block;
  if (end.op === 'condbr') end.cond = map(end.cond);
  for (const edge of edgesOf(end)) edge.args = edge.args.map(map);
}
