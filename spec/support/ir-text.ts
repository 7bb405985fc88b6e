/** Kernels of specs as IR text. */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Kernel, parseModule, printKernel, verify } from '../../src/ir/index.ts';

/** The one kernel of a text, which must be sound. */
export function kernelOf(text: string): Kernel {
  const file = new SourceFile('a.ir', text);
  const diagnostics = new Diagnostics(file);
  const { kernels } = parseModule(file, diagnostics);
  assert.equal(diagnostics.list, []);
  assertSound(kernels[0]!);
  return kernels[0]!;
}

/** Fails where a kernel violates a rule of the verifier. */
export function assertSound(kernel: Kernel): void {
  const diagnostics = new Diagnostics();
  verify(kernel, diagnostics);
  assert.equal(
    diagnostics.list.map((d) => d.message),
    [],
  );
}

const param = (index: number): string => `  param "p${index}" pointer global size 4 align 4 slot ${index}\n`;
const variables = '  variable "table" constant size 16 align 4\n  variable "scratch" local size 16 align 4\n';
const head = `kernel "k" {\n${[0, 1, 2, 3].map(param).join('')}${variables}`;

/** Blocks as the text of a kernel with four global pointers, the constant variable `table` and the local variable `scratch`. */
export const kernelText = (blocks: string): string => `${head}${blocks.trim().replace(/^ {2}/gm, '')}\n}\n`;

/** A kernel of blocks, printed: values are numbered in print order, so that an expectation may number them freely. */
export const normalText = (blocks: string): string => printKernel(kernelOf(kernelText(blocks)));

/** Asserts that a pass has the expected result and reports a change, and that a second run changes nothing. */
export function assertGives(pass: (kernel: Kernel) => boolean, before: string, after: string): void {
  const kernel = kernelOf(kernelText(before));
  const expected = normalText(after);
  assert.is(pass(kernel), normalText(before) !== expected);
  assertSound(kernel);
  assert.is(printKernel(kernel), expected);
  assert.is(pass(kernel), false, 'a second run changes nothing');
}
