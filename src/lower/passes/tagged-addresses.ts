/**
 * Generic addresses that are numbers: where a kernel stores one, compares it, or chooses between spaces when it runs. Then a generic
 * address of shared, constant or local memory is the offset in its space with the number of the space in the four highest bits,
 * which no address of global memory has, and an access of which the space is open looks at these bits. PTX does not say what the
 * windows of the spaces are, only that they are apart. Source: PTX ISA 9.0, 5.1 (generic addressing).
 */
import {
  addBlock,
  addInst,
  addressOf,
  type Block,
  type Builder,
  builder,
  type Inst,
  isPointer,
  type Kernel,
  mapBlock,
  renumber,
  type Space,
  spaceOf,
  splitBlock,
  type Value,
} from '../../ir/index.ts';
import { type Distances, ownAddress } from '../../ptx/index.ts';

/** The tags in the highest bits. */
const tags = { global: 0n, shared: 1n, constant: 2n, local: 3n } as const;
type Tagged = keyof typeof tags;
const shift = 60n;
const tagBits = 64n - shift;

export interface Addresses {
  /** Generic addresses that `cvta` makes of addresses that are not global; each can be tagged. */
  readonly marked: ReadonlySet<Value>;
  /** Pointers into a space that `cvta.to` makes of generic addresses. */
  readonly spaced: ReadonlySet<Value>;
  /** Casts of generic addresses to pointers whose space is known. */
  readonly known: ReadonlyMap<Value, Space>;
  /** Of a kernel whose addresses in shared memory may be of another block of the cluster: their distances. */
  readonly remote: Distances | undefined;
  /** Whether the target has generic addresses itself. */
  readonly isNative: boolean;
}

/** Whether the space of a marked address has a number. */
export const canTag = (kernel: Kernel, marked: Value): boolean => spaceOfMarked(kernel, marked) !== undefined;

/** Adds the tags and the dispatch of accesses on them, in place. Blocks are no longer in the order in which control reaches them. */
export function useTags(kernel: Kernel, addresses: Addresses): void {
  const spaces = [...new Set([...addresses.marked].map((value) => spaceOfMarked(kernel, value)!))];
  tagMarked(kernel, addresses.marked);
  for (const block of [...kernel.blocks]) untag(kernel, block, addresses);
  // Blocks that are added on the way hold the rest of those that were split.
  for (let at = 0; at < kernel.blocks.length; at++) dispatchFirst(kernel, kernel.blocks[at]!, spaces, addresses.remote);
  renumber(kernel);
}

function spaceOfMarked(kernel: Kernel, value: Value): Tagged | undefined {
  const inst = kernel.insts[value]!;
  const type = inst.op === 'ptrtoint' ? kernel.insts[inst.a]!.type : undefined;
  const space = type && isPointer(type) ? spaceOf(type) : undefined;
  return space && Object.hasOwn(tags, space) ? (space as Tagged) : undefined;
}

/** Uses of marked addresses become uses of them with their tags. */
function tagMarked(kernel: Kernel, marked: ReadonlySet<Value>): void {
  const tagged = new Map<Value, Value>();
  for (const block of kernel.blocks)
    block.body = block.body.flatMap((value) => {
      if (!marked.has(value)) return [value];
      const b = addInst(kernel, { op: 'const', type: 'i64', bits: tags[spaceOfMarked(kernel, value)!] << shift }, kernel.locs[value]);
      // The address is put in below, lest it be replaced by its own result.
      const sum = addInst(kernel, { op: 'or', type: 'i64', a: b, b }, kernel.locs[value]);
      tagged.set(value, sum);
      return [value, b, sum];
    });
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, (value) => tagged.get(value) ?? value);
  for (const [value, sum] of tagged) kernel.insts[sum] = { ...(kernel.insts[sum] as Inst & { op: 'or' }), a: value };
}

/** Where the space of an address is known, its offset is taken; queries of spaces test the tag. */
function untag(kernel: Kernel, block: Block, { spaced, known, remote }: Addresses): void {
  const b = builder(kernel, { ...block, body: [] });
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    b.loc = kernel.locs[value];
    const space = known.get(value);
    // An access of shared memory takes a generic address as well, since the window of shared memory starts at a multiple of 2^32 on NVIDIA's GPUs (recorded
    // on an H200; that of local memory does not). In a cluster such an address has been untagged where it was read.
    if (inst.op === 'inttoptr' && (space || spaced.has(value) || (!remote && inst.type === 'ptr.shared'))) {
      const plain = space === 'global' || space === 'param' ? inst.a : untagged(b, inst.a);
      const a = space === 'shared' && remote ? ownAddress(b, plain, remote) : plain;
      kernel.insts[value] = { ...inst, a, type: space ? `ptr.${space}` : inst.type };
    }
    if (inst.op === 'ptradd') inst.type = kernel.insts[inst.a]!.type;
    if (inst.op === 'isspace') kernel.insts[value] = question(b, inst);
    if (inst.op === 'ptrtoint' && kernel.insts[inst.a]!.type === 'ptr.generic')
      kernel.insts[value] = { op: 'bitcast', type: 'i64', a: integerOf(b, inst.a) };
    b.block.body.push(value);
  }
  block.body = b.block.body;
}

/** The offset of an address in its space. One in front of the space is negative, and an access may add to it what leads back into the space. */
export function untagged(b: Builder, address: Value): Value {
  const by = b.const('i64', tagBits);
  return b.ashr(b.shl(address, by), by);
}

function question(b: Builder, { a, space }: Inst & { op: 'isspace' }): Inst {
  const tag = Object.hasOwn(tags, space) ? tags[space as Tagged] : 15n;
  return { op: 'icmp', type: 'i1', pred: 'eq', a: b.lshr(a, b.const('i64', shift)), b: b.const('i64', tag) };
}

/** The first access of a block through a pointer of open space becomes one for each space; the rest of the block becomes a block of its own. */
function dispatchFirst(kernel: Kernel, block: Block, spaces: readonly Tagged[], remote: Distances | undefined): void {
  const at = block.body.findIndex((value) => isOpen(kernel, value));
  if (at < 0) return;
  const value = block.body[at]!;
  const inst = kernel.insts[value]!;
  const join = splitBlock(kernel, block, at + 1);
  block.body.pop();
  const b = builder(kernel, block);
  b.loc = kernel.locs[value];
  const address = integerOf(b, addressOf(inst)!);
  const tag = b.lshr(address, b.const('i64', shift));
  for (const space of spaces.filter((each) => hasAccess(each, inst))) {
    const [inside, next] = [addBlock(kernel), addBlock(kernel)];
    const cond = b.icmp(tag, b.const('i64', tags[space]), { pred: 'eq' });
    b.block.end = { op: 'condbr', cond, then: { block: inside, args: [] }, else: { block: next, args: [] } };
    b.block = inside;
    const plain = untagged(b, address);
    const own = space === 'shared' && remote ? ownAddress(b, plain, remote) : plain;
    accessIn(b, inst, b.inttoptr(`ptr.${space}`, own), join);
    b.block = next;
  }
  accessIn(b, inst, b.inttoptr('ptr.global', address), join);
  if (inst.type === 'void') return;
  // The result of the access that ran takes the number of the original.
  kernel.insts[value] = { op: 'arg', type: inst.type };
  join.params.push(value);
}

/** Constants are only read, and atomics are on global and shared memory: of others the manual leaves open what they do (9.7.13.5). */
function hasAccess(space: Tagged, { op }: Inst): boolean {
  if (op === 'load') return true;
  return op === 'store' ? space !== 'constant' : space === 'shared' || space === 'global';
}

/** An access through a generic pointer. */
function isOpen(kernel: Kernel, value: Value): boolean {
  const address = addressOf(kernel.insts[value]!);
  return address !== undefined && kernel.insts[address]!.type === 'ptr.generic';
}

/** The same access by another pointer, and on to the block behind. */
function accessIn(b: Builder, inst: Inst, pointer: Value, join: Block): void {
  const own = 'addr' in inst ? { ...inst, addr: pointer } : { ...inst, a: pointer };
  const done = addInst(b.kernel, own as Inst, b.loc);
  b.block.body.push(done);
  b.block.end = { op: 'br', to: { block: join, args: inst.type === 'void' ? [] : [done] } };
}

/** The address of a generic pointer as a number. */
function integerOf(b: Builder, pointer: Value): Value {
  const inst = b.kernel.insts[pointer]!;
  if (inst.op === 'inttoptr') return inst.a;
  if (inst.op === 'ptradd') return b.add(integerOf(b, inst.a), inst.b);
  return b.ptrtoint('i64', pointer);
}
