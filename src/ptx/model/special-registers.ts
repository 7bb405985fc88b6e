/**
 * Special registers and their values in the IR. Registers missing from `table` are legal PTX that this version refuses.
 * Source: PTX ISA 9.0, chapter 10.
 */
import type { Clock, Service, Sreg, Value } from '../../ir/index.ts';
import {
  type Axis,
  blockInCluster,
  blocksAlong,
  clusterAt,
  clusterRank,
  clusterSize,
  clustersAlong,
  isExplicitCluster,
} from './clusters.ts';
import type { RowBuilder } from './row-builder.ts';

export interface SpecialRegister {
  /** As written: `%tid.x`. */
  readonly name: string;
  readonly type: 'u32' | 'u64' | 'pred';
  /** The value, an i32 or i64. */
  readonly read: (ir: RowBuilder) => Value;
  readonly doc: string;
  /** A 16-bit register in PTX 1.x; 16-bit instructions still read its lower half. */
  readonly wasNarrow?: true;
}

const axes = ['x', 'y', 'z'] as const;

const own =
  (name: Sreg) =>
  (ir: RowBuilder): Value =>
    ir.sreg('i32', { name });

/** A register with one component per axis. The fourth, `w`, is 0 and is not supported. */
const byAxis = (name: 'tid' | 'ntid' | 'ctaid' | 'nctaid', doc: string): SpecialRegister[] =>
  axes.map((axis) => ({ name: `%${name}.${axis}`, type: 'u32', read: own(`${name}.${axis}`), doc, wasNarrow: true }));

/** A lane mask: a constant shifted left by the lane index, plus an addend. */
const laneMask = (name: string, bits: number, added: number, doc: string): SpecialRegister => ({
  name: `%lanemask_${name}`,
  type: 'u32',
  read: (ir) => {
    const moved = ir.shl(ir.const('i32', bits), own('laneid')(ir));
    return added === 0 ? moved : ir.add(moved, ir.const('i32', added));
  },
  doc,
});

/** A clock, and its two halves. */
const clock = (name: string, of: Clock, half: 'low' | 'high' | undefined, doc: string): SpecialRegister => ({
  name,
  type: half ? 'u32' : 'u64',
  read: (ir) => {
    const value = ir.clock('i64', { name: of });
    if (!half) return value;
    return ir.trunc('i32', half === 'low' ? value : ir.lshr(value, ir.const('i64', 32)));
  },
  doc: `${doc} Requires \`--target cpu\`: AIR has no clock.`,
});
/** A half of the address of what a service has. */
const halfOf = (service: Service, name: string, half: 'low' | 'high', doc: string): SpecialRegister => ({
  name,
  type: 'u32',
  read(ir) {
    const address = ir.service(service);
    return ir.trunc('i32', half === 'low' ? address : ir.lshr(address, ir.const('i64', 32)));
  },
  doc: `${doc} Requires \`--target cpu\`.`,
});
/** A register of clusters with one component per axis. */
const ofCluster = (name: string, read: (ir: RowBuilder, axis: Axis) => Value, doc: string): SpecialRegister[] =>
  axes.map((axis) => ({ name: `%${name}.${axis}`, type: 'u32', read: (ir) => read(ir, axis), doc: `${doc} ${needsCpu}` }));
const needsCpu = 'Requires `--target cpu`.';
const counted = 'A counter that never decreases. It counts nanoseconds, as the clock of a 1 GHz GPU would.';

const rows: readonly SpecialRegister[] = [
  ...byAxis('tid', 'The thread’s index in its block (CTA), by axis.'),
  ...byAxis('ntid', 'The number of threads in a block, by axis.'),
  ...byAxis('ctaid', 'The block’s index in the grid, by axis.'),
  ...byAxis('nctaid', 'The number of blocks in the grid, by axis.'),
  { name: '%laneid', type: 'u32', read: own('laneid'), doc: 'The thread’s lane in its warp, 0 to 31.' },
  { name: '%warpid', type: 'u32', read: own('warpid'), doc: 'The warp’s index in its block.' },
  { name: '%nwarpid', type: 'u32', read: own('nwarpid'), doc: 'The number of warps in a block.' },
  laneMask('eq', 1, 0, 'A mask with the bit of the thread’s own lane.'),
  laneMask('lt', 1, -1, 'A mask of the lanes below the thread’s own.'),
  // In lane 31 the bit is shifted out, and 0 - 1 has all bits set.
  laneMask('le', 2, -1, 'A mask of the thread’s own lane and the lanes below.'),
  laneMask('gt', -2, 0, 'A mask of the lanes above the thread’s own.'),
  laneMask('ge', -1, 0, 'A mask of the thread’s own lane and the lanes above.'),
  clock('%clock64', 'counter', undefined, counted),
  clock('%clock', 'counter', 'low', `The lower half of \`%clock64\`.`),
  clock('%clock_hi', 'counter', 'high', `The upper half of \`%clock64\`.`),
  clock('%globaltimer', 'time', undefined, 'Nanoseconds since 1970.'),
  clock('%globaltimer_lo', 'time', 'low', `The lower half of \`%globaltimer\`.`),
  clock('%globaltimer_hi', 'time', 'high', `The upper half of \`%globaltimer\`.`),
  ...ofCluster('cluster_ctaid', blockInCluster, 'The block’s index in its cluster, by axis.'),
  ...ofCluster('cluster_nctaid', blocksAlong, 'The number of blocks in a cluster, by axis.'),
  ...ofCluster('clusterid', clusterAt, 'The cluster’s index in the grid, by axis.'),
  ...ofCluster('nclusterid', clustersAlong, 'The number of clusters in the grid, by axis.'),
  { name: '%cluster_ctarank', type: 'u32', read: clusterRank, doc: `The number of the block in its cluster. ${needsCpu}` },
  { name: '%cluster_nctarank', type: 'u32', read: clusterSize, doc: `The number of blocks in a cluster. ${needsCpu}` },
  {
    name: '%is_explicit_cluster',
    type: 'pred',
    read: isExplicitCluster,
    doc: `Whether the launch or the kernel says how large clusters are. ${needsCpu}`,
  },
  {
    name: '%reserved_smem_offset_1',
    type: 'u32',
    read: (ir) => ir.trunc('i32', ir.ptrtoint('i64', ir.reservedShared())),
    doc: 'The start of the shared memory that is reserved for the barriers of cooperative groups. Its initial content is not specified.',
  },
  halfOf('grid', '%envreg1', 'high', 'The upper half of the address of the workspace of the launch, which `grid.sync()` reads.'),
  halfOf('grid', '%envreg2', 'low', 'The lower half of that address.'),
  halfOf(
    'launches',
    '%envreg28',
    'low',
    'The lower half of the address of the launches that kernels make. The manual leaves the register to the driver.',
  ),
  halfOf('launches', '%envreg29', 'high', 'The upper half of that address.'),
  halfOf(
    'heap',
    '%envreg30',
    'low',
    'The lower half of the address of the heap, of which `malloc` gives memory. The manual leaves the register to the driver.',
  ),
  halfOf('heap', '%envreg31', 'high', 'The upper half of that address.'),
];

/** Keyed by the name as written. */
export const specialRegisters: ReadonlyMap<string, SpecialRegister> = new Map(rows.map((row) => [row.name, row]));

/** Special registers of the manual that are not in the table. */
const unsupportedRegisters = new Set(
  `%smid %nsmid %gridid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid
  %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %total_smem_size %aggr_smem_size
  %dynamic_smem_size %current_graph_exec %tid %ntid %ctaid %nctaid`.split(/\s+/),
);

/** An alternative to an unsupported special register, if there is one. */
export function alternativeTo(name: string): string | undefined {
  if (/^%envreg\d/.test(name))
    return 'its value is the driver’s own. Code that NVIDIA compiles of OpenCL reads the offset of the range in it; add the offset to the pointers, or pass it as a parameter';
  return /^%(n?(tid|ctaid|clusterid)|cluster_n?ctaid)$/.test(name) ? 'read its axes separately, from `.x` on' : undefined;
}

/** Whether a name is a special register of PTX that this version does not support. */
export const isUnsupportedSpecialRegister = (name: string): boolean =>
  unsupportedRegisters.has(name.split('.')[0]!) || /^%(envreg\d+|pm\d+(_64)?|reserved_smem_offset_0)$/.test(name);
