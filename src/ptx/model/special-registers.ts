/**
 * Special registers: what each is in the IR. Those absent from `table` are legal PTX that this version refuses.
 * Source: PTX ISA 9.0, chapter 10.
 */
import type { Clock, Sreg, Value } from '../../ir/index.ts';
import type { RowBuilder } from './row-builder.ts';

export interface SpecialRegister {
  /** As written, `%tid.x`. */
  readonly name: string;
  readonly type: 'u32' | 'u64';
  /** Its value, of an i32 or i64. */
  readonly read: (ir: RowBuilder) => Value;
  readonly doc: string;
  /** Had 16 bits in PTX 1.x; instructions of 16 bits still read the lower half. */
  readonly wasNarrow?: true;
}

const axes = ['x', 'y', 'z'] as const;

const own =
  (name: Sreg) =>
  (ir: RowBuilder): Value =>
    ir.sreg('i32', { name });

/** A register with a component for each axis; the fourth, `w`, is 0 and is not supported. */
const byAxis = (name: 'tid' | 'ntid' | 'ctaid' | 'nctaid', doc: string): SpecialRegister[] =>
  axes.map((axis) => ({ name: `%${name}.${axis}`, type: 'u32', read: own(`${name}.${axis}`), doc, wasNarrow: true }));

/** A mask of lanes: a constant whose bit 0 is moved to the own lane, and what is added to that. */
const laneMask = (name: string, bits: number, added: number, doc: string): SpecialRegister => ({
  name: `%lanemask_${name}`,
  type: 'u32',
  read: (ir) => {
    const moved = ir.shl(ir.const('i32', bits), own('laneid')(ir));
    return added === 0 ? moved : ir.add(moved, ir.const('i32', added));
  },
  doc,
});

/** A clock, and the halves of one. */
const clock = (name: string, of: Clock, half: 'low' | 'high' | undefined, doc: string): SpecialRegister => ({
  name,
  type: half ? 'u32' : 'u64',
  read: (ir) => {
    const value = ir.clock('i64', { name: of });
    if (!half) return value;
    return ir.trunc('i32', half === 'low' ? value : ir.lshr(value, ir.const('i64', 32)));
  },
  doc: `${doc} With \`--target cpu\` alone: AIR has no clock.`,
});
const counted = 'A counter that never runs backwards; it counts nanoseconds, as the clock of a GPU of 1 GHz.';

const rows: readonly SpecialRegister[] = [
  ...byAxis('tid', 'Thread within its block (CTA), by axis.'),
  ...byAxis('ntid', 'Threads of a block, by axis.'),
  ...byAxis('ctaid', 'Block within the grid, by axis.'),
  ...byAxis('nctaid', 'Blocks of the grid, by axis.'),
  { name: '%laneid', type: 'u32', read: own('laneid'), doc: 'Lane of the thread in its warp, 0 to 31.' },
  { name: '%warpid', type: 'u32', read: own('warpid'), doc: 'Warp of the thread in its block.' },
  { name: '%nwarpid', type: 'u32', read: own('nwarpid'), doc: 'Warps of a block.' },
  laneMask('eq', 1, 0, 'The bit of the own lane.'),
  laneMask('lt', 1, -1, 'The bits of the lanes below the own.'),
  // Of lane 31 the bit is moved out: 0 - 1 has all bits.
  laneMask('le', 2, -1, 'The bits of the own lane and of those below.'),
  laneMask('gt', -2, 0, 'The bits of the lanes above the own.'),
  laneMask('ge', -1, 0, 'The bits of the own lane and of those above.'),
  clock('%clock64', 'counter', undefined, counted),
  clock('%clock', 'counter', 'low', `The lower half of \`%clock64\`.`),
  clock('%clock_hi', 'counter', 'high', `The upper half of \`%clock64\`.`),
  clock('%globaltimer', 'time', undefined, 'Nanoseconds since 1970.'),
  clock('%globaltimer_lo', 'time', 'low', `The lower half of \`%globaltimer\`.`),
  clock('%globaltimer_hi', 'time', 'high', `The upper half of \`%globaltimer\`.`),
  {
    name: '%reserved_smem_offset_1',
    type: 'u32',
    read: (ir) => ir.trunc('i32', ir.ptrtoint('i64', ir.reservedShared())),
    doc: 'Where shared memory for the barriers of cooperative groups starts. What is there at first is not specified.',
  },
];

/** By the name as written. */
export const specialRegisters: ReadonlyMap<string, SpecialRegister> = new Map(rows.map((row) => [row.name, row]));

/** Special registers of the manual that are not in the table. */
const others = new Set(
  `%smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank
  %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %total_smem_size %aggr_smem_size
  %dynamic_smem_size %current_graph_exec %tid %ntid %ctaid %nctaid`.split(/\s+/),
);

/** What to do where a special register is not supported, as far as there is something. */
export function insteadOf(name: string): string | undefined {
  if (/^%envreg\d/.test(name))
    return '`grid.sync()` reads it, which waits for all blocks of the grid and needs a cooperative launch: launch one kernel for each part between';
  return /^%n?(tid|ctaid)$/.test(name) ? 'read its axes one by one, from `.x` on' : undefined;
}

/** Whether a name is a special register of PTX that this version has no answer for. */
export const isOtherSpecialRegister = (name: string): boolean =>
  others.has(name.split('.')[0]!) || /^%(envreg\d+|pm\d+(_64)?|reserved_smem_offset_0)$/.test(name);
