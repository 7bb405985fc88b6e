/** Nodes of debug information as LLVM 14 writes them. Source: `llvm/lib/IR/AsmWriter.cpp`. */
import { type DebugRow, type DebugText, debugRowNamed } from '../debug-info.ts';
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

/** A reference or what is in its place. */
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

/** The text of a field; nothing where it is left out. */
function valueText(
  { style, always, unless }: DebugText,
  { number, metadata, isMissing }: FieldValue,
  operand: OperandText,
): string | undefined {
  const named = (names: ReadonlyMap<number, string> | readonly string[], prefix: string): string | undefined => {
    if (Number(number) === 0 && !always) return undefined;
    const name = Array.isArray(names) ? names[Number(number)] : (names as ReadonlyMap<number, string>).get(Number(number));
    return name ? `${prefix}${name}` : String(number);
  };
  const n = Number(number);
  switch (style) {
    case 'int':
      return n === 0 && !always ? undefined : String(number);
    case 'signed':
      return n === 0 ? undefined : String(BigInt.asIntN(32, BigInt(number)));
    case 'space':
      return n === 0 ? undefined : String(n - 1);
    case 'ref':
      return metadata || always ? operand(metadata) : undefined;
    case 'text':
      return stringOf(metadata) || always ? quoted(stringOf(metadata)) : undefined;
    case 'bool':
      return isMissing || (unless !== undefined && n === unless) ? undefined : String(n !== 0);
    case 'bound':
      return metadata && boundText(metadata, operand);
    case 'flags':
      return n === 0 ? undefined : flagsText(splitFlags(n));
    case 'spFlags':
      return flagsText(splitSpFlags(n));
    case 'tag':
      return n === unless ? undefined : dwarfTags.get(n) ? `DW_TAG_${dwarfTags.get(n)}` : String(n);
    case 'language':
      return named(dwarfLanguages, 'DW_LANG_');
    case 'encoding':
      return named(dwarfEncodings, 'DW_ATE_');
    case 'convention':
      return named(dwarfConventions, 'DW_CC_');
    case 'macinfo':
      return named(dwarfMacinfo, 'DW_MACINFO_');
    case 'emission':
      return emissionKinds[n] ?? String(n);
    case 'nameTable':
      return n === 0 ? undefined : (nameTableKinds[n] ?? String(n));
    case 'checksum':
      return n === 0 ? undefined : (checksumKinds[n] ?? String(n));
  }
}

/** Bounds that are constants are spelled as numbers. */
function boundText(metadata: Metadata, operand: OperandText): string {
  if (metadata.kind !== 'value' || metadata.value.kind !== 'constant' || metadata.value.form !== 'int') return operand(metadata);
  return String(BigInt.asIntN(metadata.value.type.bits, metadata.value.value));
}

function flagsText({ names, rest }: { readonly names: readonly string[]; readonly rest: number }): string {
  return [...names, ...(rest !== 0 || names.length === 0 ? [String(rest)] : [])].join(' | ');
}

/** `!DIExpression(DW_OP_constu, 4)`; numbers alone where they are no whole operations. */
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
  const name = dwarfTags.get(Number(tag));
  const [header, ...rest] = node.operands;
  const words = [`tag: ${name ? `DW_TAG_${name}` : tag}`];
  if (stringOf(header)) words.push(`header: ${quoted(stringOf(header))}`);
  if (rest.length > 0) words.push(`operands: {${rest.map(operand).join(', ')}}`);
  return `!GenericDINode(${words.join(', ')})`;
}
