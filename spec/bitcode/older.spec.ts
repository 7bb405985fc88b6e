/**
 * Records of older LLVMs and of others' writers, made from those of LLVM 14 by moving their fields: read as LLVM 14 reads the
 * same bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule } from '../../src/bitcode/index.ts';
import { readStream } from '../../src/bitcode/read/stream-reader.ts';
import { blocks } from '../../src/bitcode/records.ts';
import { assembled, llvmText, scratch } from '../support/llvm.ts';
import { encoded, type Item, type Tree } from '../support/mutate-bytes.ts';
import { need } from '../support/need.ts';

const test = suite('bitcode of older writers');
const file = scratch();
const tools = ['llvm-as-14', 'llvm-dis-14'];

const bitcodeOf = (text: string): Uint8Array => assembled(file('older.ll', new TextEncoder().encode(text)));
/** Without its triple, by which LLVM would wrap the bitcode as Darwin has it. */
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../fixtures/bitcode', name), 'utf8').replace(/^target triple.*$/m, '');

/** The records of a kind, in all blocks; changed in place. */
function each(tree: Tree, block: number, code: number, change: (record: Item) => void): number {
  let found = 0;
  for (const item of tree.items) {
    if (item.kind === 'block') found += each(item, block, code, change);
    else if (tree.id === block && item.code === code) {
      change(item);
      found++;
    }
  }
  return found;
}

/** Takes out what says where other records stand: they stand elsewhere once the stream is written anew. */
function withoutPlaces(tree: Tree): void {
  const { module, metadata, valueSymtab } = blocks;
  const places = new Set<string>([
    `${module.id} ${module.records.vstOffset.code}`,
    `${metadata.id} ${metadata.records.indexOffset.code}`,
    `${metadata.id} ${metadata.records.index.code}`,
  ]);
  tree.items = tree.items.filter((item) =>
    item.kind === 'block' ? !(tree.id === module.id && item.id === valueSymtab.id) : !places.has(`${tree.id} ${item.code}`),
  );
  for (const item of tree.items) if (item.kind === 'block') withoutPlaces(item);
}

/** The bitcode of a text with records of a kind changed. */
function rewritten(text: string, block: number, code: number, change: (record: Item) => void): Uint8Array {
  const trees = structuredClone(readStream(bitcodeOf(text))) as unknown as Tree[];
  let found = 0;
  for (const tree of trees) {
    withoutPlaces(tree);
    found += each(tree, block, code, change);
  }
  assert.ok(found > 0, 'there is such a record');
  return encoded(trees);
}

function readsAsLlvm(bytes: Uint8Array): string {
  const diagnostics = new Diagnostics();
  const module = readModule(bytes, diagnostics);
  assert.ok(module, diagnostics.list.map((d) => d.message).join());
  const text = disassemble(module!);
  assert.is(text, llvmText(file('older.bc', bytes)));
  return text;
}

const metadata = blocks.metadata.id;
const [enumerator, subprogram, module] = [14, 21, 32];

need(test, tools, 'without a change', () => {
  readsAsLlvm(rewritten(fixture('debug/nodes.ll'), metadata, subprogram, () => {}));
});

need(test, tools, 'subprograms before LLVM 8, whose flags stand one by one', () => {
  const bytes = rewritten(fixture('debug/nodes.ll'), metadata, subprogram, (record) => {
    const at = (i: number): number => Number(record.ops[i] ?? 0);
    const flags = at(9);
    const bit = (n: number): number => (flags >> n) & 1;
    record.ops = [
      2 | (at(0) & 1),
      ...record.ops.slice(1, 7),
      bit(2),
      bit(3),
      ...[at(7), at(8), flags & 3, at(10), at(11), bit(4)],
      ...record.ops.slice(12, 18),
    ];
  });
  assert.match(readsAsLlvm(bytes), /spFlags: DISPFlagVirtual \| DISPFlagDefinition \| DISPFlagOptimized/);
});

need(test, tools, 'modules before LLVM 11, which do not say their file', () => {
  const bytes = rewritten(fixture('debug/nodes.ll'), metadata, module, (record) => {
    record.ops = [record.ops[0]!, ...record.ops.slice(2, 7)];
  });
  assert.match(readsAsLlvm(bytes), /!DIModule\(scope: null, name: "m", configMacros: "-D", includePath: "\/i", apinotes: "\/a"\)/);
});

need(test, tools, 'enumerators before LLVM 12, whose value is one word', () => {
  const bytes = rewritten(fixture('debug/nodes.ll'), metadata, enumerator, (record) => {
    const [head, bits, name, word] = record.ops.map(BigInt) as [bigint, bigint, bigint, bigint];
    // Wider numbers had no form.
    if (bits > 64n) return;
    const value = (word & 1n) === 0n ? word >> 1n : -(word >> 1n);
    const signed = (head & 2n) === 0n ? BigInt.asIntN(Number(bits), value) : value;
    record.ops = [head & 3n, BigInt.asUintN(64, signed < 0n ? ~(signed << 1n) : signed << 1n), name];
  });
  assert.match(readsAsLlvm(bytes), /!DIEnumerator\(name: "A", value: -5\)/);
});

need(test, tools, 'attribute lists with a group that no file has, where there are none', () => {
  const none = 0x7fffffff;
  const text = 'define void @f(i32* nocapture %0) #0 {\n  ret void\n}\nattributes #0 = { nounwind }\n';
  const bytes = rewritten(text, blocks.paramattr.id, blocks.paramattr.records.entry.code, (record) => {
    record.ops = [none, ...record.ops, none, none];
  });
  assert.match(readsAsLlvm(bytes), /define void @f\(i32\* nocapture %0\) #0/);
});

need(test, tools, 'loads before LLVM 3.7, which do not name their type', () => {
  const text =
    'define i32 @f(i32* %0, i32** %1) {\n  %3 = load i32, i32* %0, align 4\n  %4 = load volatile i32*, i32** %1, align 8\n  ret i32 %3\n}\n';
  const bytes = rewritten(text, blocks.function.id, blocks.function.records.load.code, (record) => {
    assert.is(record.ops.length, 4);
    record.ops = record.ops.filter((_, i) => i !== 1);
  });
  assert.match(readsAsLlvm(bytes), /load volatile i32\*, i32\*\* %1, align 8/);
});

test.run();
