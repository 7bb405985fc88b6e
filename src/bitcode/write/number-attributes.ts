/** Numbers of attribute groups, and of the attribute lists of functions and calls. */
import type { Attribute, AttributeList, Module } from '../model.ts';
import { spell } from '../types.ts';
import { numbering } from './numbering.ts';
import type { Scan } from './scan.ts';

export interface AttributeNumbers {
  readonly groups: readonly { readonly index: number; readonly attributes: readonly Attribute[] }[];
  readonly lists: readonly (readonly number[])[];
  /** 1-based; 0 for an empty list. */
  idOf(list: AttributeList): number;
}

const functionIndex = 0xffffffff;

/** A key that is equal for equal attributes. */
function keyOf(attribute: Attribute): string {
  switch (attribute.form) {
    case 'enum':
      return `${attribute.kind}`;
    case 'int':
      return `${attribute.kind}=${attribute.value}`;
    case 'string':
      return JSON.stringify([attribute.key, attribute.value]);
    case 'type':
      return `${attribute.kind}:${attribute.type && spell(attribute.type)}`;
  }
}

/** Numbers the groups and lists of all functions and calls. */
export function numberAttributes(module: Module, { attributes }: Scan): AttributeNumbers {
  const groups = numbering<string>();
  const lists = numbering<string>();
  const groupList: { index: number; attributes: readonly Attribute[] }[] = [];
  const listList: (readonly number[])[] = [];
  const groupId = (index: number, attributes: readonly Attribute[]): number => {
    const name = `${index} ${attributes.map(keyOf).join(' ')}`;
    if (!groups.has(name)) groupList.push({ index, attributes });
    return groups.add(name) + 1;
  };
  const groupsOf = (list: AttributeList): number[] =>
    [[functionIndex, list.function] as const, [0, list.result] as const, ...list.params.map((p, i) => [i + 1, p] as const)]
      .filter(([, attributes]) => attributes.length > 0)
      .map(([index, attributes]) => groupId(index, attributes));
  const known = new Map<AttributeList, number>();
  const idOf = (list: AttributeList): number => {
    const before = known.get(list);
    if (before !== undefined) return before;
    const id = makeId(list);
    known.set(list, id);
    return id;
  };
  const makeId = (list: AttributeList): number => {
    const of = groupsOf(list);
    if (of.length === 0) return 0;
    if (!lists.has(of.join())) listList.push(of);
    return lists.add(of.join()) + 1;
  };
  for (const fn of module.functions) idOf(fn.attributes);
  for (const list of attributes.keys()) idOf(list);
  return { groups: groupList, lists: listList, idOf };
}
