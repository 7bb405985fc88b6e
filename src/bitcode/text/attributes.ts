/** Attributes as LLVM 14 writes them. */
import type { Attribute } from '../model.ts';
import { attributeNames } from '../names.ts';
import { spell } from '../types.ts';
import { quoted } from './constants.ts';

const nameOf = (kind: number): string => attributeNames[kind] ?? `attribute${kind}`;

/** Enum attributes by name, then type, integer and string attributes. */
function sorted(attributes: readonly Attribute[]): Attribute[] {
  const rank = { enum: 0, type: 1, int: 2, string: 3 } as const;
  const key = (a: Attribute): string => (a.form === 'string' ? a.key : nameOf(a.kind));
  return [...attributes].sort((a, b) => rank[a.form] - rank[b.form] || (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Attributes whose value is a pair of 32-bit numbers, always printed in parentheses. */
const packedPairs: ReadonlySet<string> = new Set(['allocsize', 'vscale_range']);
/** The second number of `allocsize` if it has only one. */
const noSecond = 0xffffffffn;

function pairText(value: bigint): string {
  const [first, second] = [value >> 32n, value & 0xffffffffn];
  return second === noSecond ? `${first}` : `${first},${second}`;
}

function attributeText(attribute: Attribute, inGroup: boolean): string {
  switch (attribute.form) {
    case 'enum':
      return nameOf(attribute.kind);
    case 'int':
      if (packedPairs.has(nameOf(attribute.kind))) return `${nameOf(attribute.kind)}(${pairText(attribute.value)})`;
      if (attribute.kind === 1) return inGroup ? `align=${attribute.value}` : `align ${attribute.value}`;
      return inGroup ? `${nameOf(attribute.kind)}=${attribute.value}` : `${nameOf(attribute.kind)}(${attribute.value})`;
    case 'type':
      return attribute.type ? `${nameOf(attribute.kind)}(${spell(attribute.type)})` : nameOf(attribute.kind);
    case 'string':
      return attribute.value === undefined ? quoted(attribute.key) : `${quoted(attribute.key)}=${quoted(attribute.value)}`;
  }
}

/** Attributes in the middle of a line: empty, or with a blank behind each. */
export const inlineAttributes = (attributes: readonly Attribute[]): string =>
  sorted(attributes)
    .map((a) => `${attributeText(a, false)} `)
    .join('');

/** The text between the braces of `attributes #0 = { … }`. */
const groupText = (attributes: readonly Attribute[]): string =>
  sorted(attributes)
    .map((a) => attributeText(a, true))
    .join(' ');

/** The comment in front of a function: all attributes except strings. */
export const commentText = (attributes: readonly Attribute[]): string =>
  sorted(attributes.filter((a) => a.form !== 'string'))
    .map((a) => attributeText(a, false))
    .join(' ');

/** Numbers of attribute groups in order of first use. */
export interface Groups {
  /** ` #0`, or nothing for an empty group. */
  reference(attributes: readonly Attribute[]): string;
  /** Lines at the end of the module. */
  lines(): string[];
}

export function attributeGroups(): Groups {
  const texts: string[] = [];
  return {
    reference(attributes) {
      if (attributes.length === 0) return '';
      const text = groupText(attributes);
      const known = texts.indexOf(text);
      return ` #${known >= 0 ? known : texts.push(text) - 1}`;
    },
    lines: () => texts.map((text, i) => `attributes #${i} = { ${text} }`),
  };
}
