/** Nodes of debug information as LLVM 14 writes them. Source: `llvm/lib/IR/AsmWriter.cpp`. */
import { type DebugRow, type DebugStyle, type DebugText, debugRowNamed } from '../debug-info.ts';
import {
  checksumKinds,
  dwarfConventions,
  dwarfEncodings,
  dwarfLanguages,
  dwarfMacinfo,
  dwarfTags,
  emissionKinds,
  nameTableKinds,
  operandCount,
  operationName,
  splitFlags,
  splitSpFlags,
} from '../dwarf.ts';
import type { DebugFields, Metadata, MetadataNode } from '../model.ts';
import { fromSignedVbr } from '../signed-vbr.ts';
import { quoted } from './constants.ts';

/** The text of an operand: a reference, an inline node or `null`. */
type OperandText = (metadata: Metadata | undefined) => string;

/** `!DIFile(filename: "a.metal", directory: "/")` */
export function debugText(node: MetadataNode, debug: DebugFields, operand: OperandText): string {
  if (debug.name === 'DIExpression') return expressionText(debug.values);
  if (debug.name === 'DIEnumerator') return enumeratorText(node, debug);
  if (debug.name === 'GenericDINode') return genericText(node, debug, operand);
  const row = debugRowNamed(debug.name);
  if (!row) return '!{}';
  const fields = row.text.flatMap((text) => fieldText(text, fieldValue(row, text.from, node, debug), operand) ?? []);
  return `!${debug.name}(${fields.join(', ')})`;
}

interface FieldValue {
  readonly number: number | bigint;
  readonly metadata: Metadata | undefined;
  readonly isMissing: boolean;
}

function fieldValue({ fields }: DebugRow, name: string, node: MetadataNode, { values }: DebugFields): FieldValue {
  const at = fields.findIndex((field) => field.name === name);
  const before = fields.slice(0, at).filter((field) => field.kind !== 'number').length;
  const metadata = fields[at]!.kind === 'number' ? undefined : node.operands[before];
  return { number: values[at] ?? 0, metadata, isMissing: at >= values.length };
}

const stringOf = (metadata: Metadata | undefined): string => (metadata?.kind === 'string' ? metadata.value : '');

function fieldText(text: DebugText, value: FieldValue, operand: OperandText): string | undefined {
  const content = valueText(text, value, operand);
  return content === undefined ? undefined : `${text.name}: ${content}`;
}

/** The names of a style, with their prefix. */
interface Names {
  readonly prefix: string;
  readonly name: (number: number) => string | undefined;
}

const dwarfNames: Partial<Record<DebugStyle, Names>> = {
  language: { prefix: 'DW_LANG_', name: (n) => dwarfLanguages.get(n) },
  encoding: { prefix: 'DW_ATE_', name: (n) => dwarfEncodings.get(n) },
  convention: { prefix: 'DW_CC_', name: (n) => dwarfConventions.get(n) },
  macinfo: { prefix: 'DW_MACINFO_', name: (n) => dwarfMacinfo.get(n) },
  nameTable: { prefix: '', name: (n) => nameTableKinds[n] },
  checksum: { prefix: '', name: (n) => checksumKinds[n] },
};

/** The text of a field's value; undefined if it is left out. */
function valueText(text: DebugText, value: FieldValue, operand: OperandText): string | undefined {
  const { style, always, unless } = text;
  const { metadata, isMissing } = value;
  const n = Number(value.number);
  switch (style) {
    case 'ref':
      return metadata || always ? operand(metadata) : undefined;
    case 'text':
      return stringOf(metadata) || always ? quoted(stringOf(metadata)) : undefined;
    case 'bound':
      return metadata && boundText(metadata, operand);
    case 'bool':
      return isMissing || n === unless ? undefined : String(n !== 0);
    case 'spFlags':
      return flagsText(splitSpFlags(n));
    case 'tag':
      return n === unless ? undefined : tagText(value.number);
    case 'emission':
      return emissionKinds[n] ?? String(n);
    default:
      return n === 0 && !always ? undefined : numberText(style, value.number);
  }
}

/** The text of a number that is left out if it is 0. */
function numberText(style: DebugStyle, number: number | bigint): string {
  const n = Number(number);
  switch (style) {
    case 'signed':
      return String(BigInt.asIntN(32, BigInt(number)));
    case 'space':
      return String(n - 1);
    case 'flags':
      return flagsText(splitFlags(n));
    default: {
      const names = dwarfNames[style];
      const name = names?.name(n);
      return names && name ? `${names.prefix}${name}` : String(number);
    }
  }
}

function tagText(tag: number | bigint): string {
  const name = dwarfTags.get(Number(tag));
  return name ? `DW_TAG_${name}` : String(tag);
}

/** Constant bounds are printed as numbers. */
function boundText(metadata: Metadata, operand: OperandText): string {
  if (metadata.kind !== 'value' || metadata.value.kind !== 'constant' || metadata.value.form !== 'int') return operand(metadata);
  return String(BigInt.asIntN(metadata.value.type.bits, metadata.value.value));
}

function flagsText({ names, rest }: { readonly names: readonly string[]; readonly rest: number }): string {
  return [...names, ...(rest !== 0 || names.length === 0 ? [String(rest)] : [])].join(' | ');
}

/** `!DIExpression(DW_OP_constu, 4)`; only numbers if they are not complete operations. */
function expressionText(values: readonly (number | bigint)[]): string {
  const words: string[] = [];
  for (let i = 0; i < values.length; ) {
    const operation = Number(values[i]);
    const count = operandCount(operation);
    const name = operationName(operation);
    if (!name || i + count >= values.length) return `!DIExpression(${values.join(', ')})`;
    words.push(`DW_OP_${name}`);
    const isConversion = name === 'LLVM_convert';
    for (let k = 1; k <= count; k++) {
      const word = values[i + k]!;
      const encoding = isConversion && k === 2 ? dwarfEncodings.get(Number(word)) : undefined;
      words.push(encoding ? `DW_ATE_${encoding}` : String(word));
    }
    i += 1 + count;
  }
  return `!DIExpression(${words.join(', ')})`;
}

function enumeratorText(node: MetadataNode, { values: [head, bits, ...words] }: DebugFields): string {
  const width = Math.min(Number(bits), 65536);
  const sum = words.reduce<bigint>((all, word, i) => all | (BigInt.asUintN(64, fromSignedVbr(word)) << BigInt(64 * i)), 0n);
  const isUnsigned = Number(head) !== 0;
  const value = isUnsigned ? BigInt.asUintN(width, sum) : BigInt.asIntN(width, sum);
  return `!DIEnumerator(name: ${quoted(stringOf(node.operands[0]))}, value: ${value}${isUnsigned ? ', isUnsigned: true' : ''})`;
}

function genericText(node: MetadataNode, { values: [tag] }: DebugFields, operand: OperandText): string {
  const [header, ...rest] = node.operands;
  const words = [`tag: ${tagText(tag ?? 0)}`];
  if (stringOf(header)) words.push(`header: ${quoted(stringOf(header))}`);
  if (rest.length > 0) words.push(`operands: {${rest.map(operand).join(', ')}}`);
  return `!GenericDINode(${words.join(', ')})`;
}
