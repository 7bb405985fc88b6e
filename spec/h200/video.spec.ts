/**
 * Scalar video instructions against an NVIDIA H200 (`scripts/record/video`): every seventh of the forms that the recorder makes of all opcodes, types,
 * selectors, second operations and signs, and every third saturated shift to the left, on 16 triples of operands each.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('h200/video');

interface Recorded {
  /** Triples of words. */
  readonly inputs: string;
  /** By the number in the recorder, which says where its inputs start. */
  readonly forms: readonly (readonly [number: number, form: string])[];
  readonly results: string;
}
const path = new URL('../../fixtures/h200/video/recorded.json.gz', import.meta.url);
const { inputs, forms, results } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as Recorded;
const wordsOf = (text: string): Uint32Array => new Uint32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
const [given, wanted] = [wordsOf(inputs), wordsOf(results)];
const triples = given.length / 3;
const threads = 16;
const perKernel = 64;

const head = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 input, .param .u64 output) {
.reg .b32 a, b, c, d, t; .reg .b64 p, q, o;
ld.param.u64 p, [input]; ld.param.u64 q, [output]; mov.u32 t, %tid.x;
mul.wide.u32 o, t, 4; add.u64 q, q, o; mul.wide.u32 o, t, 12; add.u64 p, p, o;
`;
/** The inputs of a form are 16 triples from a multiple of 16 on. */
const lines = ([number, form]: readonly [number, string], i: number): string => {
  const at = ((number * threads) % triples) * 12;
  return `ld.global.u32 a, [p+${at}]; ld.global.u32 b, [p+${at + 4}]; ld.global.u32 c, [p+${at + 8}];
${form}; st.global.u32 [q+${64 * i}], d;`;
};

for (let from = 0; from < forms.length; from += perKernel) {
  const some = forms.slice(from, from + perKernel);
  test(`${some[0]![1]} to ${some.at(-1)![1]}`, () => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', `${head}${some.map(lines).join('\n')}\nret;\n}\n`));
    const made = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
    assert.ok(made, diagnostics.list.map(({ message }) => message).join('; '));
    const args = [given, new Uint32Array(threads * some.length)];
    const [, out] = launchMetallib(made.metallib, { kernel: 'k', blocks: 1, threads, args });
    const found = new Uint32Array(out!.slice().buffer);
    for (const [i, [, form]] of some.entries()) {
      const of = (list: Uint32Array, at: number): string[] =>
        [...list.subarray(threads * at, threads * (at + 1))].map((word) => word.toString(16));
      assert.equal(of(found, i), of(wanted, from + i), form);
    }
  });
}

test.run();
