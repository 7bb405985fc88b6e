/**
 * Special registers: what each is in the IR. Those absent from `table` are legal PTX that this version refuses.
 * Source: PTX ISA 9.0, chapter 10.
 */
import type { Sreg } from '../ir/index.ts';

export interface SpecialRegister {
  /** As written, `%tid.x`. */
  readonly name: string;
  readonly type: 'u32';
  readonly sreg: Sreg;
  readonly doc: string;
  /** Had 16 bits in PTX 1.x; instructions of 16 bits still read the lower half. */
  readonly wasNarrow?: true;
}

const axes = ['x', 'y', 'z'] as const;

/** A register with a component for each axis; the fourth, `w`, is 0 and is not supported. */
const byAxis = (name: 'tid' | 'ntid' | 'ctaid' | 'nctaid', doc: string): SpecialRegister[] =>
  axes.map((axis) => ({ name: `%${name}.${axis}`, type: 'u32', sreg: `${name}.${axis}`, doc, wasNarrow: true }));

const rows: readonly SpecialRegister[] = [
  ...byAxis('tid', 'Thread within its block (CTA), by axis.'),
  ...byAxis('ntid', 'Threads of a block, by axis.'),
  ...byAxis('ctaid', 'Block within the grid, by axis.'),
  ...byAxis('nctaid', 'Blocks of the grid, by axis.'),
  { name: '%laneid', type: 'u32', sreg: 'laneid', doc: 'Lane of the thread in its warp, 0 to 31.' },
  { name: '%warpid', type: 'u32', sreg: 'warpid', doc: 'Warp of the thread in its block.' },
  { name: '%nwarpid', type: 'u32', sreg: 'nwarpid', doc: 'Warps of a block.' },
];

/** By the name as written. */
export const specialRegisters: ReadonlyMap<string, SpecialRegister> = new Map(rows.map((row) => [row.name, row]));

/** Special registers of the manual that are not in the table. */
const others = new Set(
  `%smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank
  %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo
  %globaltimer_hi %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %total_smem_size %aggr_smem_size
  %dynamic_smem_size %current_graph_exec %tid %ntid %ctaid %nctaid`.split(/\s+/),
);

/** Whether a name is a special register of PTX that this version has no answer for. */
export const isOtherSpecialRegister = (name: string): boolean =>
  others.has(name.split('.')[0]!) || /^%(envreg\d+|pm\d+(_64)?|reserved_smem_offset_[01])$/.test(name);
