/**
 * Generic addresses for a target that has them, which is PTX again: `cvta` makes them and takes them apart, `isspacep` asks for their space, and
 * accesses whose space is not known stay generic.
 */
import {
  type Builder,
  builder,
  type Inst,
  type InstOf,
  isPointer,
  type Kernel,
  mapBlock,
  type Space,
  spaceOf,
  type Value,
} from '../../ir/index.ts';
import type { Addresses } from './tagged-addresses.ts';

const words: Readonly<Partial<Record<Space, string>>> = {
  shared: 'shared',
  constant: 'const',
  local: 'local',
  param: 'param',
  global: 'global',
};

/** The space of the address that a number is made of. */
function spaceOfNumber(kernel: Kernel, value: Value): Space | undefined {
  const inst = kernel.insts[value]!;
  const type = inst.op === 'ptrtoint' ? kernel.insts[inst.a]!.type : undefined;
  return type && isPointer(type) ? spaceOf(type) : undefined;
}

/** An instruction on an address. */
function instruction(b: Builder, text: string, type: 'i64' | 'i1', address: Value, since: number): Value {
  b.input(address, { index: 0 });
  b.asm({ text: text.replace('#', `#1:${type}`), declares: '', since });
  return b.output(type, { index: 1 });
}

/** Makes addresses generic where the source does, in place. */
export function useGenericAddresses(kernel: Kernel, { marked, spaced, known }: Addresses): void {
  const generic = new Map<Value, Value>();
  for (const block of kernel.blocks) {
    const b = builder(kernel, { ...block, body: [] });
    for (const value of block.body) {
      b.loc = kernel.locs[value];
      takeApart(kernel, b, value, { spaced, known });
      b.block.body.push(value);
      const space = marked.has(value) ? spaceOfNumber(kernel, value) : undefined;
      if (space && space !== 'global' && space !== 'generic')
        generic.set(value, instruction(b, `cvta.${words[space]}.u64 #, $0;`, 'i64', value, space === 'param' ? 7.7 : 2));
    }
    block.body = b.block.body;
  }
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, (value) => generic.get(value) ?? value);
  restoreInputs(kernel, generic);
}

/** The instructions that make an address generic take the one that is not. */
function restoreInputs(kernel: Kernel, generic: ReadonlyMap<Value, Value>): void {
  const plainOf = new Map([...generic].map(([plain, made]) => [made, plain]));
  for (const { body } of kernel.blocks)
    body.forEach((value, i) => {
      const plain = plainOf.get(value);
      if (plain === undefined) return;
      const input = body[i - 2]!;
      kernel.insts[input] = { ...(kernel.insts[input] as InstOf<'input'>), a: plain };
    });
}

/** Where the space of an address is known, it is made one of that space; queries ask the target. */
function takeApart(kernel: Kernel, b: Builder, value: Value, { spaced, known }: Pick<Addresses, 'spaced' | 'known'>): void {
  const inst = kernel.insts[value]!;
  const { type } = inst;
  if (inst.op === 'inttoptr' && isPointer(type)) {
    const space = known.get(value);
    const asked = space ?? (spaced.has(value) ? spaceOf(type) : undefined);
    if (asked === 'global') kernel.insts[value] = { ...inst, type: 'ptr.global' };
    else if (asked && asked !== 'generic' && asked !== 'param')
      kernel.insts[value] = { ...inst, type: `ptr.${asked}`, a: instruction(b, `cvta.to.${words[asked]}.u64 #, $0;`, 'i64', inst.a, 2) };
  }
  if (inst.op === 'ptradd') inst.type = kernel.insts[inst.a]!.type;
  if (inst.op === 'isspace') {
    const is = instruction(b, `isspacep.${words[inst.space] ?? inst.space} #, $0;`, 'i1', inst.a, 2);
    kernel.insts[value] = { op: 'or', type: 'i1', a: is, b: is } as Inst;
  }
}
