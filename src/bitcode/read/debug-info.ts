/**
 * Nodes of debug information. Records of older LLVMs whose fields only moved are upgraded as LLVM 14 does; other old forms are
 * refused.
 */
import { type DebugRow, debugRowOf } from '../debug-info.ts';
import { Malformed } from '../malformed.ts';
import type { DebugFields, MetadataNode } from '../model.ts';
import { blocks } from '../records.ts';
import { signedVbr } from '../signed-vbr.ts';
import { fieldsOf } from './record-fields.ts';
import type { RawRecord } from './record-reader.ts';
import type { Dialect } from './types.ts';

type Word = number | bigint;

/** A node whose operands are resolved later, from ids of metadata plus 1, 0 for none. */
export interface DebugNode {
  readonly node: MetadataNode;
  readonly references: readonly Word[];
}

const codes = blocks.metadata.records;

/** The node of a record of debug information; undefined for other records. */
export function readDebugNode(record: RawRecord, dialect: Dialect): DebugNode | undefined {
  const { code, ops, bit } = record;
  // The first field of every node.
  const head = Number(ops[0] ?? 0);
  const make = (name: string, values: readonly Word[], references: readonly Word[], distinct = (head & 1) !== 0): DebugNode => {
    const debug: DebugFields = { name, values };
    return { node: { kind: 'node', distinct, operands: [], debug }, references };
  };
  if (dialect === 'latest') return latestNode(record, make);
  switch (code) {
    case codes.expression.code: {
      const { elements } = fieldsOf(codes.expression, record);
      // Before version 3 some operations had other meanings.
      if (head >> 1 < 3 && elements.length > 0) return refuse(bit, 'an expression');
      return make('DIExpression', elements, []);
    }
    case codes.generic.code: {
      const { tag = 0, version = 0, operands } = fieldsOf(codes.generic, record);
      return make('GenericDINode', [tag, version], operands);
    }
    case codes.enumerator.code:
      return readEnumerator(record, head, make);
    case codes.argList.code:
      return refuse(bit, 'a list of values');
  }
  const row = debugRowOf(code);
  return row && readRow(row, record, make);
}

/** Nodes that lead from a location to its file. Their fields are those of LLVM 14; later ones follow behind them. Others stay empty. */
const located: ReadonlySet<string> = new Set([
  'DILocation',
  'DIFile',
  'DICompileUnit',
  'DISubprogram',
  'DILexicalBlock',
  'DILexicalBlockFile',
]);

function latestNode({ code, ops }: RawRecord, make: Make): DebugNode {
  const row = debugRowOf(code);
  if (!row || !located.has(row.name)) return make(row?.name ?? `node.${code}`, [], []);
  const { fields } = row;
  const known = fields.map((_, i) => ops[i] ?? 0);
  const values = known.map((word, i) => (i > 0 && fields[i]!.kind === 'number' ? word : 0));
  return make(row.name, values, referencesIn(row, known), (Number(ops[0] ?? 0) & 1) !== 0);
}

const referencesIn = ({ fields }: DebugRow, known: readonly Word[]): Word[] =>
  known.flatMap((word, i) => {
    const { kind } = fields[i]!;
    return kind === 'ref' ? [word] : kind === 'id' ? [Number(word) + 1] : [];
  });

function readEnumerator(record: RawRecord, head: number, make: Make): DebugNode {
  const isWide = (head & 4) !== 0;
  if (!isWide) {
    const { value = 0, name = 0 } = fieldsOf(codes.oldEnumerator, record);
    return make('DIEnumerator', [head & 2, 64, fromOldWord(value)], [name]);
  }
  const { bits, name, value } = fieldsOf(codes.enumerator, record);
  return make('DIEnumerator', [head & 2, bits, ...value], [name]);
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

function readRow(row: DebugRow, record: RawRecord, make: Make): DebugNode {
  const { bit } = record;
  const ops = upgraded(row, record);
  const head = Number(ops[0] ?? 0) & ~1;
  if (head !== row.head && row.name !== 'DINamespace') return refuse(bit, row.name);
  const { fields } = row;
  if (ops.slice(fields.length).some((word) => Number(word) !== 0)) return refuse(bit, `${row.name} with more fields`);
  const known = ops.slice(0, fields.length);
  const values = known.map((word, i) => (i === 0 ? head : fields[i]!.kind === 'number' ? word : 0));
  return make(row.name, values, referencesIn(row, known), (Number(ops[0] ?? 0) & 1) !== 0);
}

/** The operands of LLVM 14 for a record of an older LLVM. Source: `MetadataLoader::parseOneMetadata`. */
function upgraded(row: DebugRow, record: RawRecord): readonly Word[] {
  const { ops } = record;
  if (row.name === 'DISubprogram' && (Number(ops[0]) & 4) === 0) return upgradedSubprogram(row, record);
  // Before LLVM 11 a module had no file.
  if (row.name === 'DIModule' && ops.length < 8) return [ops[0] ?? 0, 0, ...ops.slice(1)];
  return ops;
}

/** Before LLVM 8 the flags of a subprogram were fields of their own; all others have the names of today. */
function upgradedSubprogram({ fields }: DebugRow, record: RawRecord): readonly Word[] {
  const hasUnit = (Number(record.ops[0]) & 2) !== 0;
  if (!hasUnit || record.ops.length < 19) return refuse(record.bit, 'DISubprogram');
  const old = fieldsOf(codes.oldSubprogram, record);
  const bitOf = (field: Word, shift: number): number => (Number(field) !== 0 ? 1 << shift : 0);
  const isDefinition = Number(old.isDefinition) !== 0;
  const values: Readonly<Record<string, Word | undefined>> = {
    ...old,
    distinct: Number(old.head) | 4 | (isDefinition ? 1 : 0),
    spFlags: (Number(old.virtuality) & 3) | bitOf(old.isLocal, 2) | bitOf(old.isDefinition, 3) | bitOf(old.isOptimized, 4),
  };
  return fields.map(({ name }) => values[name] ?? 0);
}
