/** A module in shares: the same bytes as in one, and the same findings in the same order. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { packedEntries, packedJob, unpackedEntries, unpackedJob } from '../../src/cli/jobs/protocol.ts';
import { type CompiledEntry, type CompileOptions, compile, compiledOfShares, compileShare, joined } from '../../src/compile/index.ts';
import { entriesOfShare } from '../../src/compile/shares.ts';

const test = suite('compile/shares');

const head = '.version 7.0\n.target sm_70\n.address_size 64\n.global .u32 count;\n.const .u32 table[2] = {3, 4};\n';
/** A function that entries share, a variable of the module, a constant. */
const helper = `.func (.param .u32 r) twice(.param .u32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.u32 %r2, %r1, %r1; st.param.u32 [r], %r2; ret; }\n`;
const entry = (name: string, lines: number): string => `.visible .entry ${name}(.param .u64 p) {
.reg .b64 %rd<2>; .reg .b32 %r<9>;
ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.const.u32 %r4, [table+4];
${Array.from({ length: lines }, (_, i) => `mad.lo.u32 %r1, %r1, ${i + 3}, %r4;`).join('\n')}
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), twice, (in); ld.param.b32 %r2, [out]; }
atom.global.add.u32 %r3, [count], %r2;
st.global.u32 [%rd1], %r3; ret; }\n`;
const text = head + helper + [9, 2, 40, 1, 7, 3].map((lines, i) => entry(`kernel${i}`, lines)).join('');

const sourceOf = (text: string): SourceFile => new SourceFile('k.ptx', text);

/** All shares, each of which has come out of its bytes as another process has it. */
function inShares(source: SourceFile, options: CompileOptions, count: number): (CompiledEntry[] | 'unchecked' | undefined)[] {
  return Array.from({ length: count }, (_, number) => {
    const { path, text, ...job } = unpackedJob(packedJob({ path: source.path, text: source.text, options, share: { number, count } }))!;
    const made = compileShare(new SourceFile(path, text), job.options, job.share, new Diagnostics());
    return typeof made === 'object' ? unpackedEntries(packedEntries(made.entries)) : made;
  });
}

test('the metallib and the reflection of all shares are those of the module', () => {
  for (const target of ['macos15', 'cpu'] as const)
    for (const count of [1, 2, 3, 8]) {
      const whole = compile(sourceOf(text), { target }, new Diagnostics())!;
      const parts = inShares(sourceOf(text), { target }, count) as CompiledEntry[][];
      const all = joined(parts, 6)!;
      const made = compiledOfShares(all, { target });
      assert.ok(Buffer.from(made.metallib).equals(whole.metallib), `${target} in ${count}`);
      assert.equal(made.reflection, JSON.parse(JSON.stringify(whole.reflection)));
    }
});

test('every entry is in one share, and the longest are apart', () => {
  const lengths = [5, 90, 7, 80, 3, 2];
  for (const count of [1, 2, 3, 9]) {
    const shares = Array.from({ length: count }, (_, number) => [...entriesOfShare(lengths, { number, count })]);
    assert.equal(
      shares.flat().sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    );
  }
  assert.not.ok(entriesOfShare(lengths, { number: 0, count: 2 }).has(3));
});

test('a share with findings is none, and a module with errors is not checked twice', () => {
  const large = entry('large', 1).replace('{', '{ .shared .b8 much[300000]; .reg .b64 %q; mov.u64 %q, much; st.global.u64 [%q], %q;');
  const parts = inShares(sourceOf(text + large), { target: 'macos15' }, 2);
  assert.is(parts.filter((part) => part === undefined).length, 1);
  assert.equal(inShares(sourceOf(`${text}nonsense`), { target: 'macos15' }, 2), ['unchecked', 'unchecked']);
  const own = new Diagnostics();
  compileShare(sourceOf(`${text}nonsense`), { target: 'macos15' }, { number: 1, count: 2 }, own);
  const whole = new Diagnostics();
  compile(sourceOf(`${text}nonsense`), { target: 'macos15' }, whole);
  assert.equal(own.list, whole.list);
});

test('entries that are missing, or there twice, are no module, and neither are bytes that were cut off', () => {
  const parts = inShares(sourceOf(text), {}, 2) as CompiledEntry[][];
  assert.is(joined([parts[0]!], 6), undefined);
  assert.is(joined([...parts, parts[0]!], 6), undefined);
  const bytes = packedEntries(parts[0]!);
  for (const length of [0, 3, 20, bytes.length - 1]) assert.is(unpackedEntries(bytes.subarray(0, length)), undefined, `${length}`);
});

test.run();
