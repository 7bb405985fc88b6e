/** Kernels of specs: PTX in, IR out, and one thread of it run by the reference interpreter. */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Kernel, printKernel, type Sreg } from '../../src/ir/index.ts';
import { interpret } from '../../src/ir/interpret.ts';
import { lowerModule } from '../../src/lower/index.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { assertSound } from '../support/ir-text.ts';

const head = '.version 8.0\n.target sm_90\n.address_size 64\n';

export interface Lowered {
  readonly kernels: readonly Kernel[];
  /** `CODE line:column message`, in the order of the text. */
  readonly said: readonly string[];
}

/** Lowers a text that parses and checks without fault; three lines of directives stand before it where it brings none. */
export function lowered(text: string): Lowered {
  const file = new SourceFile('a.ptx', text.startsWith('.version') ? text : head + text);
  const diagnostics = new Diagnostics(file);
  const checked = check(parse(file, diagnostics), {}, diagnostics);
  assert.equal(
    diagnostics.list.map((d) => d.message),
    [],
  );
  const { kernels } = lowerModule(checked, diagnostics);
  const said = diagnostics.sorted().map(({ code, labels, message }) => {
    const place = labels[0] && file.position(labels[0].span.start);
    return `${code} ${place ? `${place.line}:${place.column}` : 'nowhere'} ${message}`;
  });
  return { kernels, said };
}

/** The one kernel of a text in which nothing is refused; it keeps the promises of the verifier. */
export function kernelOf(text: string): Kernel {
  const { kernels, said } = lowered(text);
  assert.equal(said, []);
  assertSound(kernels[0]!);
  return kernels[0]!;
}

/** A kernel with these parameters, module variables and body. */
export const entry = (params: string, body: string, variables = ''): string => `${variables}\n.entry k (${params})\n{\n${body}\nret;\n}\n`;

/** The text of the kernel without the places of the source. */
export const irOf = (text: string): string => printKernel(kernelOf(text)).replace(/ @\d+:\d+/g, '');

const registers =
  '.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\nld.param.u64 %rd0, [out]; ld.param.u32 %r0, [n];';

/** A kernel that has `out` in `%rd0` and the number `n` in `%r0`. */
export const writing = (body: string, variables = ''): string =>
  entry('.param .u64 out, .param .u32 n', `${registers}\n${body}`, variables);

/** Runs one thread of a kernel of `writing`: the words at `out` afterwards, the first `count` of them. */
export function wordsFrom(text: string, n = 0, count = 1, sregs: Partial<Record<Sreg, number>> = { 'tid.x': 0 }): number[] {
  return wordsOf(kernelOf(text), n, count, sregs);
}

/** The same of a kernel that has been lowered. */
export function wordsOf(kernel: Kernel, n: number, count: number, sregs: Partial<Record<Sreg, number>> = { 'tid.x': 0 }): number[] {
  const param = new Uint8Array(16);
  new DataView(param.buffer).setUint32(8, n, true);
  const global = new Uint8Array(256);
  const spaces = { shared: new Uint8Array(256), local: new Uint8Array(256), constant: new Uint8Array(256) };
  const variables: Record<string, bigint> = {};
  const next = { shared: 16, local: 32, constant: 48 };
  for (const { name, space, size, init } of kernel.variables) {
    variables[name] = BigInt(next[space]);
    spaces[space].set(init ?? [], next[space]);
    next[space] += Math.ceil(size / 16) * 16;
  }
  const outcome = interpret(kernel, { memory: { global, param, ...spaces }, params: [64n, 8n], variables, sregs, limit: 10000 });
  assert.equal(outcome, { ended: 'return' });
  return Array.from({ length: count }, (_, i) => new DataView(global.buffer).getUint32(64 + 4 * i, true));
}
