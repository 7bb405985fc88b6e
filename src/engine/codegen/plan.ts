/** The plan of a scalar compilation: regions, live-in values, and the layout of variables in memory windows and of values in thread records. */
import { alignUp } from '../../base/bytes.ts';
import {
  bytesOf,
  cfgOf,
  definingBlocks,
  elementOf,
  type Inst,
  type Kernel,
  lanesOf,
  livenessOf,
  operandsOf,
  type Type,
  terminatorOperands,
  type Value,
  type Variable,
} from '../../ir/index.ts';
import { joinLatches } from './join-latches.ts';
import { stagingBytes } from './mma-frame.ts';
import { type Regions, regionsOf } from './regions.ts';
import { splitAtSyncPoints } from './split-at-sync-points.ts';

export interface Plan {
  readonly kernel: Kernel;
  readonly regions: Regions;
  /** Block in which each value is defined. */
  readonly home: Int32Array;
  /** By value: whether a block other than its own uses it. */
  readonly crosses: Uint8Array;
  /** By value: how often its own block uses it. */
  readonly uses: Int32Array;
  /** By entry block of a region: its live-in values. */
  readonly liveIns: ReadonlyMap<number, readonly Value[]>;
  /** By value that is live across regions: its byte offset in the thread record. */
  readonly slots: ReadonlyMap<Value, number>;
  /** By value of a collective: its operands, with the byte offset of each in the thread record. */
  readonly operandSlots: ReadonlyMap<Value, readonly OperandSlot[]>;
  /** Byte offset in the thread record of what a thread brings to a rendezvous; undefined if the kernel has none. */
  readonly exchange: number | undefined;
  /** Bytes of memory behind the thread records in which products of matrices are computed. */
  readonly stagingBytes: number;
  /** Bytes of a thread record: the memory that holds one thread's values between regions. */
  readonly recordBytes: number;
  /** Byte offset of each variable in the window of its space. */
  readonly offsets: ReadonlyMap<string, number>;
  /** Bytes of each window, without dynamic shared memory; of local memory for one thread. */
  readonly windows: Readonly<Record<Variable['space'], number>>;
}

/**
 * What a thread brings to a rendezvous, as byte offsets from `Plan.exchange`: two operands, its mask, the kind of the collective, where in its
 * record the result goes, and the region that it continues with. Unused results go to `unread`.
 */
export const exchangeFields = { a: 0, b: 4, members: 8, kind: 12, result: 16, next: 20, unread: 24 } as const;
const exchangeBytes = 32;

export interface OperandSlot {
  readonly operand: Value;
  readonly offset: number;
}

/** Whether a value is a leaf, which has no operands: leaves are rematerialized at every use rather than kept in a local. */
export const isLeaf = ({ op }: Inst): boolean => op === 'const' || op === 'param' || op === 'variable' || op === 'sreg';

/** Plans a kernel; joins its latches and splits its blocks at sync points in place. */
export function planOf(kernel: Kernel): Plan {
  joinLatches(kernel);
  splitAtSyncPoints(kernel);
  const regions = regionsOf(kernel);
  const home = definingBlocks(kernel);
  const liveIns = liveInValues(kernel, regions);
  const record = recordOf(kernel, regions, liveIns);
  return {
    kernel,
    regions,
    home,
    liveIns,
    stagingBytes: stagingOfKernel(kernel),
    ...countUses(kernel, home),
    ...record,
    ...windowsOf(kernel),
  };
}

/** Bytes of the staging area that the products of a kernel share. */
export const stagingOfKernel = ({ insts }: Kernel): number =>
  stagingBytes(new Set(insts.flatMap((inst) => (inst.op === 'mma' ? [inst.form] : []))));

function liveInValues(kernel: Kernel, regions: Regions): Map<number, Value[]> {
  const { liveIn } = livenessOf(kernel, cfgOf(kernel));
  const live = (entry: number): Value[] => [...liveIn[entry]!].filter((value) => !isLeaf(kernel.insts[value]!)).sort((a, b) => a - b);
  return new Map(regions.list.map(({ entry }) => [entry, entry === 0 ? [] : [...kernel.blocks[entry]!.params, ...live(entry)]]));
}

/** By value: whether a block other than its own uses it, and how often its own does. */
export function countUses(kernel: Kernel, home: Int32Array): Pick<Plan, 'crosses' | 'uses'> {
  const crosses = new Uint8Array(kernel.insts.length);
  const uses = new Int32Array(kernel.insts.length);
  for (const block of kernel.blocks) {
    const use = (value: Value): void => {
      if (home[value] === block.id) uses[value]!++;
      else crosses[value] = 1;
    };
    for (const value of block.body) operandsOf(kernel.insts[value]!).forEach(use);
    terminatorOperands(block.end).forEach(use);
  }
  return { crosses, uses };
}

function recordOf(
  kernel: Kernel,
  { collectives, rendezvous }: Regions,
  liveIns: ReadonlyMap<number, readonly Value[]>,
): Pick<Plan, 'slots' | 'operandSlots' | 'exchange' | 'recordBytes'> {
  const slots = new Map<Value, number>();
  let bytes = 0;
  const place = (value: Value): number => {
    const at = bytes;
    bytes += slotBytes(kernel.insts[value]!.type);
    return at;
  };
  for (const values of liveIns.values()) for (const value of values) if (!slots.has(value)) slots.set(value, place(value));
  // Operands have slots besides those of the values: other threads read them when the owner may have run on. All collectives share these bytes,
  // since a thread is at one collective at a time.
  const operandSlots = new Map<Value, readonly OperandSlot[]>();
  const start = bytes;
  let recordBytes = start;
  for (const { values } of collectives) {
    const offsets = new Map<Value, number>();
    bytes = start;
    const last = new Map(values.flatMap((value) => operandsOf(kernel.insts[value]!).map((operand) => [operand, value] as const)));
    for (const value of values) {
      const inst = kernel.insts[value]!;
      operandSlots.set(
        value,
        operandsOf(inst).map((operand) => slotOf(offsets, operand)),
      );
      // A product that another one of the sync point adds to takes the place of its own addend.
      if (inst.op !== 'mma' || !last.has(value)) continue;
      const free = last.get(inst.c) === value && !slots.has(inst.c) ? offsets.get(inst.c) : undefined;
      offsets.set(value, slots.get(value) ?? free ?? place(value));
    }
    recordBytes = Math.max(recordBytes, bytes);
  }
  const exchange = rendezvous.length > 0 ? recordBytes : undefined;
  return { slots, operandSlots, exchange, recordBytes: recordBytes + (exchange === undefined ? 0 : exchangeBytes) };

  function slotOf(offsets: Map<Value, number>, operand: Value): OperandSlot {
    const offset = offsets.get(operand) ?? place(operand);
    offsets.set(operand, offset);
    return { operand, offset };
  }
}

/** Bytes of a slot. Elements of a vector take at least 4 bytes each, as the i32 that holds them. */
const slotBytes = (type: Type): number => alignUp(lanesOf(type) * Math.max(4, bytesOf(elementOf(type))), 8);

/** Byte offsets of variables in the windows of their address spaces, and the sizes of the windows. */
export function windowsOf(kernel: Kernel): Pick<Plan, 'offsets' | 'windows'> {
  const offsets = new Map<string, number>();
  const windows = { shared: 0, constant: 0, local: 0 };
  for (const variable of kernel.variables) {
    if (variable.isDynamic) continue;
    const at = alignUp(windows[variable.space], variable.align);
    offsets.set(variable.name, at);
    windows[variable.space] = at + variable.size;
  }
  const shared = alignUp(windows.shared, 16);
  // Dynamic shared memory follows static shared memory, both as a variable and as a parameter.
  for (const variable of kernel.variables) if (variable.isDynamic) offsets.set(variable.name, shared);
  return { offsets, windows: { shared, constant: windows.constant, local: alignUp(windows.local, 16) } };
}
