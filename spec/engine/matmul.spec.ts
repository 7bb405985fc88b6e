/** The op `matmul` on the CPU device, by itself and by way of AIR, for every combination of elements, against exact arithmetic. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, raiseModule, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule, writeModule } from '../../src/bitcode/index.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { runOnCpu } from '../support/cpu.ts';
import { kernelOf } from '../support/ir-text.ts';
import { bytes, coordinates, type Element, elements, expected, numbers, packed, unpacked } from '../support/matrices.ts';

const test = suite('engine/matmul');

type Types = readonly [d: Element, a: Element, b: Element, c: Element];

const param = (index: number, element: Element): string =>
  `  param "p${index}" pointer global size ${bytes[element]} align ${bytes[element]} slot ${index} element ${element}\n`;

/** Each lane reads its two elements of a, b and c, and writes those of d. */
function product([d, ...of]: Types): Kernel {
  const place = (index: number, element: Element): string => `  %${20 + index} = param ptr.global {index: ${index}}
  %${30 + index} = const i64 ${2 * bytes[element]}
  %${40 + index} = mul i64 %1, %${30 + index}
  %${50 + index} = ptradd ptr.global %${20 + index}, %${40 + index}
`;
  const load = (index: number, element: Element): string =>
    `${place(index, element)}  %${60 + index} = load v2.${element} %${50 + index} {align: ${2 * bytes[element]}, volatile: false}\n`;
  return kernelOf(`kernel "k" {
${[...of, d].map((element, i) => param(i, element)).join('')}b0:
  %0 = sreg i32 {name: laneid}
  %1 = zext i64 %0
${of.map((element, i) => load(i, element)).join('')}${place(3, d)}  %70 = matmul v2.${d} %60, %61, %62
  store %53, %70 {align: ${2 * bytes[d]}, volatile: false}
  ret
}
`);
}

/** The row-major index of each element in lane order, and conversions between the two orders. */
const places = Array.from({ length: 64 }, (_, i) => {
  const [row, column] = coordinates(i >> 1);
  return row * 8 + column + (i & 1);
});
const byLane = (matrix: readonly bigint[]): bigint[] => places.map((at) => matrix[at]!);
function byRow(spread: readonly bigint[]): bigint[] {
  const matrix: bigint[] = [];
  for (const [i, at] of places.entries()) matrix[at] = spread[i]!;
  return matrix;
}

const asBytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

function run(kernel: Kernel, types: Types, given: readonly (readonly bigint[])[]): bigint[] {
  const [d, ...of] = types;
  const memory = given.map((matrix, i) => asBytes(packed(of[i]!, byLane(matrix))));
  const after = runOnCpu(kernel, [...memory, new Uint8Array(64 * bytes[d])], { block: [32, 1, 1] });
  return byRow(unpacked(d, after[3]!));
}

/** The kernel after emission to AIR and raising. */
function throughAir(kernel: Kernel): { kernel: Kernel; text: string } {
  const diagnostics = new Diagnostics();
  const module = readModule(writeModule(emitKernel(kernel, targets.macos14, diagnostics)), diagnostics)!;
  const [raised] = raiseModule(module, diagnostics);
  assert.equal(diagnostics.list, []);
  return { kernel: raised!.kernel, text: disassemble(module) };
}

for (const d of elements)
  for (const a of elements)
    for (const b of elements)
      for (const c of elements)
        test(`${d} = ${a} * ${b} + ${c}`, () => {
          const types = [d, a, b, c] as const;
          const given = [numbers(a, 7), numbers(b, 8), numbers(c, 9)];
          assert.equal(run(product(types), types, given), expected(types, given));
          const { kernel, text } = throughAir(product(types));
          assert.equal(run(kernel, types, given), expected(types, given));
          // Apple's back-end treats a matrix constructed from bfloats as zeros.
          assert.match(text, /multiply_accumulate\.v64f(32|16)\./);
          assert.not.match(text, /v64bf16/);
        });

test.run();
