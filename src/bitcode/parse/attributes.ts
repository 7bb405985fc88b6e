/** Attributes in LLVM text. */
import type { Attribute } from '../model.ts';
import { attributeNames } from '../names.ts';
import type { Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';
import { readType } from './types.ts';

const numbers: ReadonlyMap<string, number> = new Map(Object.entries(attributeNames).map(([number, name]) => [name, Number(number)]));
const alignKind = 1;
const noSecond = 0xffffffffn;
const packedPairs: ReadonlySet<string> = new Set(['allocsize', 'vscale_range']);

/** Attributes up to something else. `isGroup`: those of `attributes #0 = { … }`, where a number follows `=`. */
export function readAttributes(reader: TextReader, symbols: Symbols, isGroup = false): Attribute[] {
  const found: Attribute[] = [];
  for (;;) {
    if (reader.peek() === '"') {
      const key = reader.quoted();
      found.push({ form: 'string', key, value: reader.take('=') ? reader.quoted() : undefined });
      continue;
    }
    const word = reader.peekWord();
    const kind = numbers.get(word);
    if (kind === undefined) return inRecordOrder(found);
    reader.word();
    found.push(readOne(reader, symbols, kind, word, isGroup));
  }
}

/** LLVM's order in records: by number, then strings. */
const inRecordOrder = (found: readonly Attribute[]): Attribute[] => {
  const numberOf = (each: Attribute): number => (each.form === 'string' ? Number.POSITIVE_INFINITY : each.kind);
  return [...found].sort((a, b) => (numberOf(a) === numberOf(b) ? 0 : numberOf(a) - numberOf(b)));
};

function readOne(reader: TextReader, symbols: Symbols, kind: number, word: string, isGroup: boolean): Attribute {
  if (packedPairs.has(word)) {
    reader.expect('(');
    const [first = 0, second] = reader.list(')', () => reader.number());
    return { form: 'int', kind, value: (BigInt(first) << 32n) | (second === undefined ? noSecond : BigInt(second)) };
  }
  if (isGroup && reader.take('=')) return { form: 'int', kind, value: BigInt(reader.number()) };
  if (kind === alignKind) return { form: 'int', kind, value: BigInt(reader.number()) };
  if (!reader.take('(')) return { form: 'enum', kind };
  const isNumber = /\d/.test(reader.peek());
  const attribute: Attribute = isNumber
    ? { form: 'int', kind, value: BigInt(reader.number()) }
    : { form: 'type', kind, type: readType(reader, symbols) };
  reader.expect(')');
  return attribute;
}

/** ` #0`, or nothing. */
export function readGroup(reader: TextReader, { groups }: Symbols): readonly Attribute[] {
  const number = reader.match(/#(\d+)/y)?.[1];
  if (number === undefined) return [];
  return groups.get(Number(number)) ?? reader.fail(`the module has no attributes \`#${number}\``);
}
