/** Random programs of warp collectives in the independent oracle, compiled for macOS 15. */
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { launchOracle } from '../oracle.ts';
import { randomWarps, type WarpProgram, warpInput } from '../random-warps.ts';
import { poison } from './model.ts';
import { outputDigest, recordedWarps, wordsOf } from './recording.ts';

/** The orders of lanes that the oracle has. */
export const oracleOrders = ['fwd', 'rev', 'rand:7'] as const;
export type OracleOrder = (typeof oracleOrders)[number];

export interface OracleVerdict {
  /** `stopped`: the kernel has left a number in its fault word. `fails`: the oracle itself ends it. */
  readonly outcome: 'same' | 'stopped' | 'fails' | 'differs' | 'not recorded';
  readonly why: string;
  /** How the kernel checks its masks. */
  readonly masks: 'loop' | 'shape' | 'divergent' | 'none';
}

/** Runs a recorded program; files are kept in `folder`. */
export function judgeWarps(folder: string, number: number, order: OracleOrder): OracleVerdict {
  return judgeProgram(folder, randomWarps(number), recordedWarps().get(number)?.output, order);
}

/** Runs a program whose output has a digest; files are kept in `folder`. */
export function judgeProgram(folder: string, program: WarpProgram, wanted: string | undefined, order: OracleOrder): OracleVerdict {
  const source = new SourceFile('warps.ptx', program.ptx);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'macos15' }, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
  const [kernel] = compiled.reflection.kernels;
  const masks = kernel!.checkedMasks ?? 'none';
  if (wanted === undefined) return { outcome: 'not recorded', why: '', masks };
  const words = [warpInput(), new Uint32Array(wordsOf(program)).fill(poison)];
  const bytes = words.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  const { faults } = kernel!;
  const args = faults ? [...bytes, new Uint8Array(4)] : bytes;
  const shape = { grid: [program.blocks, 1, 1], block: [...program.block, 1] };
  const run = launchOracle(folder, compiled.metallib, { kernel: 'warps', ...shape, args, sharedBytes: undefined, order });
  if (run.status !== 0) return { outcome: 'fails', why: run.complaints, masks };
  const fault = faults ? new DataView(run.after[2]!.buffer, run.after[2]!.byteOffset).getUint32(0, true) : 0;
  if (fault !== 0) return { outcome: 'stopped', why: faults!.texts[fault - 1]!, masks };
  const output = new Uint32Array(run.after[1]!.slice().buffer);
  return outputDigest(output) === wanted ? { outcome: 'same', why: '', masks } : { outcome: 'differs', why: run.complaints, masks };
}
