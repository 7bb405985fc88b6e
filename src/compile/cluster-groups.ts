/**
 * Clusters of blocks on devices that have none: a whole cluster becomes one block, whose threads find the place that they have in the source. The
 * shared memory of the blocks lies one behind the other in dynamic shared memory, so that what an address of another block is, is a distance, and the
 * barrier of the cluster is that of the block. The launch says how many blocks and threads there are (`groupHead`).
 */
import { windowOf } from '../air/index.ts';
import {
  addressOf,
  type Builder,
  builder,
  groupHead,
  type Inst,
  type Kernel,
  replaceAll,
  type Service,
  type Sreg,
  specOf,
  substitution,
  type Value,
} from '../ir/index.ts';
import { isBarrierMemory } from '../lower/index.ts';

const axes = ['x', 'y', 'z'] as const;
type Axis = (typeof axes)[number];

/** The variable that holds the shared memory of all blocks. */
const memoryName = 'cumetal.group';

/** Whether lowering has left a kernel to be one of whole clusters: it waits for other blocks, or reaches their memory. */
const isWanted = ({ cluster }: Kernel): boolean => cluster?.group !== undefined;

const group: Service = 'group';

/** Makes a kernel one of whole clusters, in place, if it has to be; returns whether it does. */
export function formGroups(kernel: Kernel): boolean {
  if (!isWanted(kernel)) return false;
  dropAlignment(kernel);
  const isOfWarps = kernel.blocks.some(({ body }) => body.some((value) => specOf(kernel.insts[value]!.op).effect === 'warp'));
  const { size: sharedBytes = 0, dynamicOffset } = windowOf(kernel, 'shared') ?? {};
  const isDynamic = dynamicOffset !== undefined;
  const { requiredThreads, maxThreads } = kernel;
  const [entry] = kernel.blocks;
  const s = substitution();
  const b = builder(kernel, { ...entry!, body: [] });
  const places = placesOf(b, isOfWarps);
  const area = b.zext('i64', b.mul(places.rank, places.word(groupHead.areaBytes)));
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'sreg') s.replace(value, places.of(inst.name));
    }
  replaceAll(kernel, s);
  const cleared = mergeVariables(kernel);
  clear(b, cleared);
  entry!.body = [...b.block.body, ...entry!.body];
  for (const block of kernel.blocks) moveAccesses(kernel, block, area);
  kernel.cluster = {
    ...kernel.cluster,
    group: {
      sharedBytes,
      isOfWarps,
      isDynamic,
      ...(requiredThreads ? { requiredThreads } : {}),
      ...(maxThreads === undefined ? {} : { maxThreads }),
    },
  };
  kernel.requiredThreads = undefined;
  kernel.maxThreads = undefined;
  return true;
}

/**
 * Takes the meetings of warps before aligned instructions away where no others of a warp act together: their blocks need not be whole warps, as warps of the
 * device have to be.
 */
function dropAlignment({ blocks, insts }: Kernel): void {
  const isAlignment = (value: Value): boolean => {
    const inst = insts[value]!;
    return inst.op === 'warpsync' && !inst.isFence;
  };
  const isOfWarps = blocks.some(({ body }) => body.some((value) => specOf(insts[value]!.op).effect === 'warp' && !isAlignment(value)));
  if (isOfWarps) return;
  for (const block of blocks) block.body = block.body.filter((value) => !isAlignment(value));
}

interface Places {
  /** The number of the block in its cluster. */
  readonly rank: Value;
  /** A word of what the launch says. */
  word(offset: number): Value;
  /** What a special register is in the source. */
  of(name: Sreg): Value;
}

/** Where a thread is in the source, computed at the start of the kernel. */
function placesOf(b: Builder, isOfWarps: boolean): Places {
  const { kernel } = b;
  const index = kernel.params.findIndex(({ service }) => service === group);
  const given = b.param('ptr.constant', { index });
  const once = memo();
  const word = (offset: number): Value =>
    once(`word ${offset}`, () => b.load('i32', b.ptradd(given, b.const('i64', offset)), { align: 4, volatile: false }));
  const own = (name: Sreg): Value => once(name, () => b.sreg('i32', { name }));
  const threads = (axis: Axis): Value => word(groupHead.threads[axes.indexOf(axis)]!);
  const blocks = (axis: Axis): Value => word(groupHead.blocks[axes.indexOf(axis)]!);
  const size = b.mul(b.mul(threads('x'), threads('y')), threads('z'));
  const number = own('tid.x');
  const [rank, thread] = [b.udiv(number, size), b.urem(number, size)];
  /** The place along an axis of a number among as many. */
  const along = (number: Value, axis: Axis, count: (axis: Axis) => Value): Value => {
    if (axis === 'x') return b.urem(number, count('x'));
    const behind = b.udiv(number, count('x'));
    return axis === 'y' ? b.urem(behind, count('y')) : b.udiv(behind, count('y'));
  };
  const block = (axis: Axis): Value =>
    once(`block ${axis}`, () => b.add(b.mul(own(`ctaid.${axis}`), blocks(axis)), along(rank, axis, blocks)));
  const place = (axis: Axis): Value => once(`thread ${axis}`, () => along(thread, axis, threads));
  const of = (name: Sreg): Value => {
    const [kind, axis] = name.split('.') as [string, Axis];
    if (name === 'tid.linear') return thread;
    switch (kind) {
      case 'tid':
        return place(axis);
      case 'ntid':
        return threads(axis);
      case 'ctaid':
        return block(axis);
      case 'nctaid':
        return once(name, () => b.mul(b.sreg('i32', { name }), blocks(axis)));
      case 'gid':
        return once(`own ${name}`, () => b.add(b.mul(block(axis), threads(axis)), place(axis)));
      case 'laneid':
        // A block of whole warps has the warps of the device.
        return isOfWarps ? own('laneid') : once('lane', () => b.and(thread, b.const('i32', 31)));
      case 'warpid':
        return once('warp', () => b.lshr(thread, b.const('i32', 5)));
      default:
        return once('warps', () => b.lshr(b.add(size, b.const('i32', 31)), b.const('i32', 5)));
    }
  };
  return { rank, word, of };
}

/** Values by their keys, each computed once. */
function memo(): (key: string, compute: () => Value) => Value {
  const known = new Map<string, Value>();
  return (key, compute) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = compute();
    known.set(key, made);
    return made;
  };
}

/** Bytes of shared memory that begin as zeros. */
interface Cleared {
  readonly offset: number;
  readonly size: number;
}

/** Writes zeros where barriers in memory are. All threads do, with the same result, and wait for each other. */
function clear(b: Builder, parts: readonly Cleared[]): void {
  if (parts.length === 0) return;
  const memory = b.variable('ptr.shared', { name: memoryName });
  const zero = b.const('i32', 0);
  for (const { offset, size } of parts)
    for (let at = 0; at < size; at += 4) b.store(b.ptradd(memory, b.const('i64', offset + at)), zero, { align: 4, volatile: false });
  b.barrier();
}

/** Puts all shared variables into dynamic memory, each where it was in that of a block; gives those that begin as zeros. */
function mergeVariables(kernel: Kernel): Cleared[] {
  const window = windowOf(kernel, 'shared');
  const cleared = kernel.variables
    .filter(({ name, space }) => space === 'shared' && isBarrierMemory(name))
    .map(({ name, size }) => ({ offset: window!.offsets.get(name)!, size }));
  for (const block of kernel.blocks)
    block.body = block.body.flatMap((value) => {
      const inst = kernel.insts[value]!;
      if (inst.op !== 'variable' || inst.type !== 'ptr.shared') return [value];
      const b = builder(kernel, { ...block, body: [] });
      const memory = b.variable('ptr.shared', { name: memoryName });
      const offset = b.const('i64', window?.offsets.get(inst.name) ?? 0);
      kernel.insts[value] = { op: 'ptradd', type: 'ptr.shared', a: memory, b: offset };
      return [...b.block.body, value];
    });
  const element = window?.element;
  kernel.variables = kernel.variables.filter(({ space }) => space !== 'shared');
  kernel.variables.push({
    ...{ name: memoryName, space: 'shared', size: 0, align: Math.max(16, window?.align ?? 16), isDynamic: true, init: undefined },
    element,
  });
  return cleared;
}

/** Accesses of shared memory become those of the area of the block. */
function moveAccesses(kernel: Kernel, block: Kernel['blocks'][number], area: Value): void {
  block.body = block.body.flatMap((value) => {
    const inst = kernel.insts[value]!;
    const address = addressOf(inst);
    if (address === undefined || kernel.insts[address]!.type !== 'ptr.shared') return [value];
    const b = builder(kernel, { ...block, body: [] });
    b.loc = kernel.locs[value];
    const moved = b.ptradd(address, area);
    kernel.insts[value] = ('addr' in inst ? { ...inst, addr: moved } : { ...inst, a: moved }) as Inst;
    return [...b.block.body, value];
  });
}
