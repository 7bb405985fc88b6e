/**
 * Strings that are printed: their addresses go through the list of arguments, which is memory of the thread. A value that is
 * stored where such an address is loaded from is an address, so that a parameter with no other use is known to be a pointer.
 * Calls use the same memory one after the other, so that only the stores count that reach the load.
 */
import { bytesOf, cfgOf, constantOf, elementOf, type Inst, type Kernel, operandsOf, type Value } from '../../ir/index.ts';

/** The values that one of `loads` may read, as far as the places of the load and of the stores are known. */
export function printedStrings(kernel: Kernel, loads: ReadonlySet<Value>): Set<Value> {
  const found = new Set<Value>();
  const wanted = new Map<Value, string>();
  for (const load of loads) {
    const inst = kernel.insts[load]!;
    const place = inst.op === 'load' ? placeOf(kernel, inst.addr) : undefined;
    if (place) wanted.set(load, nameOf(place));
  }
  if (wanted.size === 0) return found;
  const names = new Set(wanted.values());
  const stores = kernel.blocks.map(({ body }) => body.flatMap((value, i) => storesAt(kernel, value, i, names)));
  const { predecessors } = cfgOf(kernel);
  kernel.blocks.forEach(({ body }, block) => {
    for (const [i, value] of body.entries()) {
      const name = wanted.get(value);
      if (name !== undefined) addReaching(stores, predecessors, { block, before: i, name }, found);
    }
  });
  return found;
}

/** A store to a place that is read: where it is in its block, the place, and the scalar that is stored. */
interface Store {
  readonly at: number;
  readonly name: string;
  readonly value: Value;
}

function storesAt(kernel: Kernel, value: Value, at: number, names: ReadonlySet<string>): Store[] {
  const inst = kernel.insts[value]!;
  if (inst.op !== 'store') return [];
  return storedParts(kernel, inst).flatMap(([name, part]) => (names.has(name) ? [{ at, name, value: part }] : []));
}

interface Read {
  readonly block: number;
  readonly before: number;
  readonly name: string;
}

/** Adds what the last stores write that come before a read, on each way to it. */
function addReaching(
  stores: readonly (readonly Store[])[],
  predecessors: readonly (readonly number[])[],
  { block, before, name }: Read,
  found: Set<Value>,
): void {
  const seen = new Set<number>();
  const work = [{ block, before }];
  for (let place = work.pop(); place; place = work.pop()) {
    const { before } = place;
    const last = stores[place.block]!.filter((store) => store.name === name && store.at < before).at(-1);
    if (last) found.add(last.value);
    else
      for (const from of predecessors[place.block]!)
        if (!seen.has(from)) {
          seen.add(from);
          work.push({ block: from, before: Number.POSITIVE_INFINITY });
        }
  }
}

/** A place in a variable, in bytes from its start. */
interface Place {
  readonly variable: string;
  readonly at: bigint;
}

const nameOf = ({ variable, at }: Place): string => `${at} ${variable}`;

/** The scalars that a store writes, each with its place. */
function storedParts(kernel: Kernel, { addr, value }: Inst & { op: 'store' }): [name: string, part: Value][] {
  const place = placeOf(kernel, addr);
  if (!place) return [];
  const stored = kernel.insts[value]!;
  const parts = stored.op === 'vec2' || stored.op === 'vec4' ? operandsOf(stored) : [value];
  const step = BigInt(bytesOf(elementOf(stored.type)));
  return parts.map((part, i) => [nameOf({ ...place, at: place.at + BigInt(i) * step }), part]);
}

/** Where an address is that is a variable's with constants added, as a pointer or as an integer. */
function placeOf(kernel: Kernel, address: Value): Place | undefined {
  const constant = (value: Value): bigint | undefined => {
    const bits = constantOf(kernel, value);
    return bits === undefined ? undefined : BigInt.asIntN(64, bits);
  };
  let at = 0n;
  for (let value = address; ; ) {
    const inst = kernel.insts[value]!;
    if (inst.op === 'variable') return { variable: inst.name, at };
    if (inst.op === 'inttoptr' || inst.op === 'ptrtoint') value = inst.a;
    else if (inst.op === 'add' || inst.op === 'ptradd') {
      const more = constant(inst.b);
      if (more === undefined) return undefined;
      at += more;
      value = inst.a;
    } else return undefined;
  }
}
