/**
 * Strings that are printed: their addresses go through the list of arguments, which is memory of the thread. A value that is
 * stored where such an address is loaded from is an address, so that a parameter with no other use is known to be a pointer.
 */
import { bytesOf, constantOf, elementOf, type Inst, type Kernel, operandsOf, type Value } from '../../ir/index.ts';

/** The values that are stored where one of `loads` reads, as far as both places are known. */
export function printedStrings(kernel: Kernel, loads: ReadonlySet<Value>): Value[] {
  const wanted = new Set<string>();
  for (const load of loads) {
    const inst = kernel.insts[load]!;
    const place = inst.op === 'load' ? placeOf(kernel, inst.addr) : undefined;
    if (place) wanted.add(nameOf(place));
  }
  if (wanted.size === 0) return [];
  return kernel.blocks.flatMap(({ body }) =>
    body.flatMap((value) => {
      const inst = kernel.insts[value]!;
      return inst.op === 'store' ? storedParts(kernel, inst).flatMap(([name, part]) => (wanted.has(name) ? [part] : [])) : [];
    }),
  );
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
