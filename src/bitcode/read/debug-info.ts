/**
 * Nodes of debug information that are read. Records of older LLVMs are taken as LLVM 14 takes them, where that is a matter of
 * other places for the same fields; what older ones meant otherwise is refused.
 */
import { type DebugRow, debugCodes, debugRowOf } from '../debug-info.ts';
import { Malformed } from '../malformed.ts';
import type { DebugFields, MetadataNode } from '../model.ts';
import { signedVbr } from '../signed-vbr.ts';
import type { RawRecord } from './record-reader.ts';

type Word = number | bigint;

/** A node whose operands are filled in later, and what they refer to: numbers of metadata with 1 added, 0 for none. */
export interface DebugNode {
  readonly node: MetadataNode;
  readonly references: readonly Word[];
}

/** The node of a record, where it is one of debug information. */
export function readDebugNode(record: RawRecord): DebugNode | undefined {
  const { code, ops, bit } = record;
  const head = Number(ops[0] ?? 0);
  const make = (name: string, values: readonly Word[], references: readonly Word[], distinct = (head & 1) !== 0): DebugNode => {
    const debug: DebugFields = { name, values };
    return { node: { kind: 'node', distinct, operands: [], debug }, references };
  };
  if (code === debugCodes.expression) {
    // Before version 3 some operations were other ones.
    if (head >> 1 < 3 && ops.length > 1) return refuse(bit, 'an expression');
    return make('DIExpression', ops.slice(1), []);
  }
  if (code === debugCodes.generic) return make('GenericDINode', [ops[1] ?? 0, ops[2] ?? 0], ops.slice(3));
  if (code === debugCodes.enumerator) {
    const isWide = (head & 4) !== 0;
    return isWide
      ? make('DIEnumerator', [head & 2, ops[1] ?? 0, ...ops.slice(3)], [ops[2] ?? 0])
      : make('DIEnumerator', [head & 2, 64, fromOldWord(ops[1] ?? 0)], [ops[2] ?? 0]);
  }
  if (code === debugCodes.argList) return refuse(bit, 'a list of values');
  const row = debugRowOf(code);
  return row && readRow(row, record, make);
}

/** Before LLVM 12 a negative number was its complement, with the lowest bit set. */
function fromOldWord(word: Word): Word {
  const bits = BigInt.asUintN(64, BigInt(word));
  return (bits & 1n) === 0n ? word : BigInt.asUintN(64, signedVbr(~(bits >> 1n)));
}

function refuse(bit: number, what: string): never {
  throw new Malformed(bit, 'metadata', `debug information of an LLVM that is not supported: ${what}`);
}

type Make = (name: string, values: readonly Word[], references: readonly Word[], distinct?: boolean) => DebugNode;

function readRow(row: DebugRow, { ops: written, bit }: RawRecord, make: Make): DebugNode {
  const ops = upgraded(row, written, bit);
  const head = Number(ops[0] ?? 0) & ~1;
  if (head !== row.head && row.name !== 'DINamespace') return refuse(bit, row.name);
  const { fields } = row;
  if (ops.slice(fields.length).some((word) => Number(word) !== 0)) return refuse(bit, `${row.name} with more fields`);
  const known = ops.slice(0, fields.length);
  const values = known.map((word, i) => (i === 0 ? head : fields[i]!.kind === 'number' ? word : 0));
  const references = known.flatMap((word, i) => {
    const { kind } = fields[i]!;
    return kind === 'ref' ? [word] : kind === 'id' ? [Number(word) + 1] : [];
  });
  return make(row.name, values, references, (Number(ops[0] ?? 0) & 1) !== 0);
}

/** Fields of LLVM 14 from those of an older one. Source: `MetadataLoader::parseOneMetadata`. */
function upgraded({ name }: DebugRow, ops: readonly Word[], bit: number): readonly Word[] {
  if (name === 'DISubprogram' && (Number(ops[0]) & 4) === 0) return upgradedSubprogram(ops, bit);
  // Before LLVM 11 a module did not say its file.
  if (name === 'DIModule' && ops.length < 8) return [ops[0] ?? 0, 0, ...ops.slice(1)];
  return ops;
}

/** Before LLVM 8 a subprogram had its flags one by one. */
function upgradedSubprogram(ops: readonly Word[], bit: number): readonly Word[] {
  const hasUnit = (Number(ops[0]) & 2) !== 0;
  if (!hasUnit || ops.length < 19) return refuse(bit, 'DISubprogram');
  const at = (i: number): Word => ops[i] ?? 0;
  const bitOf = (i: number, shift: number): number => (Number(at(i)) !== 0 ? 1 << shift : 0);
  const isDefinition = Number(at(8)) !== 0;
  const spFlags = (Number(at(11)) & 3) | bitOf(7, 2) | bitOf(8, 3) | bitOf(14, 4);
  const head = Number(at(0)) | 4 | (isDefinition ? 1 : 0);
  return [head, ...ops.slice(1, 7), at(9), at(10), spFlags, at(12), at(13), at(15), at(16), at(17), at(18), at(19), at(20)];
}
