/** Attribute lists of a module. */

import { Malformed } from '../malformed.ts';
import type { Attribute, AttributeList } from '../model.ts';
import { blocks } from '../records.ts';
import { fieldsOf } from './record-fields.ts';
import { textOf } from './record-reader.ts';
import { childBlocks, type RawBlock, records } from './stream-reader.ts';
import type { TypeTable } from './types.ts';

export interface AttributeTable {
  /** The list of a 1-based id; 0 is the empty list. */
  at(id: number | bigint | undefined, bit: number): AttributeList;
}

const none: AttributeList = { function: [], result: [], params: [] };
const functionIndex = 0xffffffff;
/** The writer of floor names this group, which no file has, where there are no attributes. */
const noGroup = 0x7fffffff;
/** Attributes of a parameter make lists for each parameter before it. */
const maxParameters = 256;

export function readAttributes(module: RawBlock, types: TypeTable): AttributeTable {
  const groups = new Map<number, { index: number; attributes: Attribute[] }>();
  for (const block of childBlocks(module, blocks.paramattrGroup.id))
    for (const record of records(block)) {
      const { group, index, attributes } = fieldsOf(blocks.paramattrGroup.records.entry, record);
      groups.set(Number(group), { index: Number(index), attributes: readGroup(attributes, record.bit, types) });
    }
  const lists = childBlocks(module, blocks.paramattr.id).flatMap((block) =>
    records(block).map((record) => {
      const list: { function: Attribute[]; result: Attribute[]; params: Attribute[][] } = { function: [], result: [], params: [] };
      const { groups: ids } = fieldsOf(blocks.paramattr.records.entry, record);
      for (const id of ids) if (Number(id) !== noGroup) addGroup(list, groups.get(Number(id)), record.bit);
      return list;
    }),
  );
  return {
    at(id, bit) {
      const n = Number(id ?? 0);
      if (n === 0) return none;
      return lists[n - 1] ?? missing(bit, n);
    },
  };
}

function missing(bit: number, id: number): never {
  throw new Malformed(bit, 'paramattr', `attribute list ${id} does not exist`);
}

function addGroup(
  list: { function: Attribute[]; result: Attribute[]; params: Attribute[][] },
  group: { index: number; attributes: Attribute[] } | undefined,
  bit: number,
): void {
  // Compilers that drop attributes refer to groups that became empty and do not exist; LLVM treats them as empty.
  if (!group) return;
  if (group.index === functionIndex) list.function.push(...group.attributes);
  else if (group.index === 0) list.result.push(...group.attributes);
  else {
    if (!(group.index <= maxParameters)) throw new Malformed(bit, 'paramattr', `attributes of parameter ${group.index}`);
    while (list.params.length < group.index) list.params.push([]);
    list.params[group.index - 1]!.push(...group.attributes);
  }
}

/** The operand behind a range of integers: its width in bits, and both ends. Ranges are bounds that the code does not need. */
function afterRange(ops: readonly (number | bigint)[], at: number): number {
  return Number(ops[at]) <= 64 ? at + 3 : afterWideRange(ops, at + 1);
}

/** Ends of more than 64 bits: the number of words of each in one operand, and the words. */
function afterWideRange(ops: readonly (number | bigint)[], at: number): number {
  const counts = BigInt(ops[at] ?? 0);
  return at + 1 + Number(counts & 0xffffffffn) + Number(counts >> 32n);
}

/** The operand behind a list of ranges: their number, their width, and the ends of each. */
function afterRanges(ops: readonly (number | bigint)[], start: number): number {
  const isWide = Number(ops[start + 1]) > 64;
  let at = start + 2;
  for (let left = Math.min(Number(ops[start]), ops.length); left > 0; left--) at = isWide ? afterWideRange(ops, at) : at + 2;
  return at;
}

function readGroup(ops: readonly (number | bigint)[], bit: number, types: TypeTable): Attribute[] {
  const found: Attribute[] = [];
  let at = 0;
  const text = (): string => {
    const end = ops.indexOf(0, at);
    if (end < 0) throw new Malformed(bit, 'paramattrGroup', 'a string attribute without end');
    const value = textOf({ ops, bit }, at, end);
    at = end + 1;
    return value;
  };
  const kind = (): number => {
    const n = Number(ops[at++]);
    if (!(n < 2 ** 32)) throw new Malformed(bit, 'paramattrGroup', `attribute ${n}`);
    return n;
  };
  while (at < ops.length) {
    const form = Number(ops[at++]);
    if (form === 0) found.push({ form: 'enum', kind: kind() });
    else if (form === 1) found.push({ form: 'int', kind: kind(), value: BigInt(ops[at++] ?? 0) });
    else if (form === 3) found.push({ form: 'string', key: text(), value: undefined });
    else if (form === 4) found.push({ form: 'string', key: text(), value: text() });
    else if (form === 5) found.push({ form: 'type', kind: kind(), type: undefined });
    else if (form === 6) found.push({ form: 'type', kind: kind(), type: types.at(ops[at++], bit) });
    else if (form === 7 && types.dialect === 'latest') at = afterRange(ops, at + 1);
    else if (form === 8 && types.dialect === 'latest') at = afterRanges(ops, at + 1);
    else throw new Malformed(bit, 'paramattrGroup', `attribute form ${form}`);
  }
  if (at > ops.length) throw new Malformed(bit, 'paramattrGroup', 'an attribute that is cut off');
  return found;
}
