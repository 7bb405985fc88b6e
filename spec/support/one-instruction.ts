/**
 * Kernels of one instruction: thread i reads its operands from the i-th cell of each input and writes the results to the i-th
 * cell of each output. A cell has 8 bytes. The kernel goes the whole road: PTX, metallib, CPU device.
 */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';

/** A register kind: `b16`, `b32`, `b64` or `pred`. */
export type Kind = 'b16' | 'b32' | 'b64' | 'pred';

export interface Instruction {
  /** With operands named as in `sources` and `results`. */
  readonly text: string;
  readonly sources: readonly { readonly name: string; readonly kind: Kind }[];
  readonly results: readonly { readonly name: string; readonly kind: Kind }[];
  /** What the module states; `sm_90`. */
  readonly architecture?: string;
}

/** The PTX around an instruction. */
export function kernelOf({ text, sources, results, architecture = 'sm_90' }: Instruction): string {
  const lines = ['.version 9.0', `.target ${architecture}`, '.address_size 64', '.visible .entry form('];
  lines.push([...sources, ...results].map(({ name }) => `  .param .u64 p_${name},`).join('\n'), '  .param .u32 p_count', ')', '{');
  lines.push(...[...sources, ...results].map(({ name, kind }) => `  .reg .${kind} ${name};`));
  lines.push('  .reg .pred done, set;', '  .reg .b32 i, n, t, size;', '  .reg .b64 at, bytes, cell;');
  lines.push('  mov.u32 t, %tid.x;', '  mov.u32 i, %ctaid.x;', '  mov.u32 size, %ntid.x;', '  mad.lo.s32 i, i, size, t;');
  lines.push('  ld.param.u32 n, [p_count];', '  setp.ge.u32 done, i, n;', '  @done bra end;', '  mul.wide.u32 bytes, i, 8;');
  for (const { name, kind } of sources) {
    lines.push(`  ld.param.u64 at, [p_${name}];`, '  add.s64 at, at, bytes;', '  ld.global.u64 cell, [at];');
    lines.push(fromCell(name, kind));
  }
  lines.push(`  ${text};`);
  for (const { name, kind } of results) {
    lines.push(`  ld.param.u64 at, [p_${name}];`, '  add.s64 at, at, bytes;', toCell(name, kind), '  st.global.u64 [at], cell;');
  }
  return [...lines, 'end:', '  ret;', '}', ''].join('\n');
}

function fromCell(name: string, kind: Kind): string {
  if (kind === 'pred') return `  setp.ne.u64 ${name}, cell, 0;`;
  return kind === 'b64' ? `  mov.b64 ${name}, cell;` : `  cvt.u${kind.slice(1)}.u64 ${name}, cell;`;
}

function toCell(name: string, kind: Kind): string {
  if (kind === 'pred') return `  selp.u64 cell, 1, 0, ${name};`;
  return kind === 'b64' ? `  mov.b64 cell, ${name};` : `  cvt.u64.u${kind.slice(1)} cell, ${name};`;
}

export type Outcome =
  | { readonly kind: 'refused'; readonly diagnostics: Diagnostics }
  | { readonly kind: 'ran'; readonly target: 'macos14' | 'cpu'; readonly results: readonly BigUint64Array[] };

/** Runs an instruction on columns of operands; `cpu` is the target where it is asked for, or no Apple GPU can say it. */
export function runInstruction(instruction: Instruction, columns: readonly (readonly bigint[])[], target?: 'cpu'): Outcome {
  const source = new SourceFile('form.ptx', kernelOf(instruction));
  const first = new Diagnostics(source);
  const apple = target ? undefined : compile(source, {}, first);
  const diagnostics = apple ? first : new Diagnostics(source);
  const isAboutTarget = first.list.every((d) => d.code.startsWith('CM209'));
  const compiled = apple ?? (isAboutTarget ? compile(source, { target: 'cpu' }, diagnostics) : undefined);
  if (!compiled) return { kind: 'refused', diagnostics: isAboutTarget ? diagnostics : first };
  return { kind: 'ran', target: apple ? 'macos14' : 'cpu', results: launch(compiled.metallib, instruction, columns) };
}

function launch(metallib: Uint8Array, { results }: Instruction, columns: readonly (readonly bigint[])[]): BigUint64Array[] {
  const count = columns[0]?.length ?? 1;
  const inputs = columns.map((column) => BigUint64Array.from(column));
  // A pattern that no result has by chance.
  const outputs = results.map(() => new BigUint64Array(count).fill(0xa5a5_5a5a_a5a5_5a5an));
  const threads = 128;
  const args = [...inputs, ...outputs, count];
  const after = launchMetallib(metallib, { kernel: 'form', blocks: Math.ceil(count / threads), threads, args });
  return after.slice(inputs.length).map((bytes) => new BigUint64Array(bytes.buffer));
}
