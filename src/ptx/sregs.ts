/**
 * Special registers: what each is in the IR. Those absent from `table` are legal PTX that this version refuses.
 * Source: PTX ISA 9.0, chapter 10.
 */
import type { Builder, Sreg, Value } from '../ir/index.ts';

export interface SpecialRegister {
  /** As written, `%tid.x`. */
  readonly name: string;
  readonly type: 'u32';
  readonly sreg: Sreg;
  /** What it is of that register of the IR, where it is not the register itself. */
  readonly of?: (ir: Builder, value: Value) => Value;
  readonly doc: string;
  /** Had 16 bits in PTX 1.x; instructions of 16 bits still read the lower half. */
  readonly wasNarrow?: true;
}

const axes = ['x', 'y', 'z'] as const;

/** A register with a component for each axis; the fourth, `w`, is 0 and is not supported. */
const byAxis = (name: 'tid' | 'ntid' | 'ctaid' | 'nctaid', doc: string): SpecialRegister[] =>
  axes.map((axis) => ({ name: `%${name}.${axis}`, type: 'u32', sreg: `${name}.${axis}`, doc, wasNarrow: true }));

/** A mask of lanes: a constant whose bit 0 is moved to the own lane, and what is added to that. */
const laneMask = (name: string, bits: number, added: number, doc: string): SpecialRegister => ({
  name: `%lanemask_${name}`,
  type: 'u32',
  sreg: 'laneid',
  of: (ir, lane) => {
    const moved = ir.shl(ir.const('i32', bits), lane);
    return added === 0 ? moved : ir.add(moved, ir.const('i32', added));
  },
  doc,
});

const rows: readonly SpecialRegister[] = [
  ...byAxis('tid', 'Thread within its block (CTA), by axis.'),
  ...byAxis('ntid', 'Threads of a block, by axis.'),
  ...byAxis('ctaid', 'Block within the grid, by axis.'),
  ...byAxis('nctaid', 'Blocks of the grid, by axis.'),
  { name: '%laneid', type: 'u32', sreg: 'laneid', doc: 'Lane of the thread in its warp, 0 to 31.' },
  { name: '%warpid', type: 'u32', sreg: 'warpid', doc: 'Warp of the thread in its block.' },
  { name: '%nwarpid', type: 'u32', sreg: 'nwarpid', doc: 'Warps of a block.' },
  laneMask('eq', 1, 0, 'The bit of the own lane.'),
  laneMask('lt', 1, -1, 'The bits of the lanes below the own.'),
  // Of lane 31 the bit is moved out: 0 - 1 has all bits.
  laneMask('le', 2, -1, 'The bits of the own lane and of those below.'),
  laneMask('gt', -2, 0, 'The bits of the lanes above the own.'),
  laneMask('ge', -1, 0, 'The bits of the own lane and of those above.'),
];

/** By the name as written. */
export const specialRegisters: ReadonlyMap<string, SpecialRegister> = new Map(rows.map((row) => [row.name, row]));

/** Special registers of the manual that are not in the table. */
const others = new Set(
  `%smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank
  %clock %clock_hi %clock64 %globaltimer %globaltimer_lo
  %globaltimer_hi %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %total_smem_size %aggr_smem_size
  %dynamic_smem_size %current_graph_exec %tid %ntid %ctaid %nctaid`.split(/\s+/),
);

/** Whether a name is a special register of PTX that this version has no answer for. */
export const isOtherSpecialRegister = (name: string): boolean =>
  others.has(name.split('.')[0]!) || /^%(envreg\d+|pm\d+(_64)?|reserved_smem_offset_[01])$/.test(name);
