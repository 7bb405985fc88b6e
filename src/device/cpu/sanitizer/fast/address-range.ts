/**
 * How far from their root addresses are, so that their low 32 bits tell where they are: each address is taken apart into numbers whose size
 * is known, and into others of which `within` has to say, while the kernel runs, that they are small enough.
 */
import { type Block, bitsOf, edgesOf, type InstOf, type Kernel, mostBlockThreads, type Roots, type Value } from '../../../../ir/index.ts';

/** What is to be said of a number: it is from minus the limit to the limit, or unsigned below it. */
export interface Within {
  readonly limit: bigint;
  readonly isSigned: boolean;
  readonly isWhole: boolean;
}

export interface Magnitudes {
  /** Whether an address can be held to less than `budget` bytes from its root, if what is asked for holds. */
  reach(pointer: Value, budget: bigint): boolean;
  /** What has to hold, by number. */
  readonly numbers: ReadonlyMap<Value, Within>;
  /** Addresses that come around in loops: these have to be near their root where their block starts. */
  readonly nears: ReadonlySet<Value>;
}

/** Bytes from its root that an address in a loop may be at the start of a turn. */
export const nearBytes = 2n ** 29n;
/** What the grid and the block of a launch that is looked at quickly have at most of threads in each direction, so that special registers are small. */
export const mostThreads = 2 ** 28;

/** Nothing is asked for yet. */
export function magnitudesOf(kernel: Kernel, roots: Roots): Magnitudes {
  const numbers = new Map<Value, Within>();
  const nears = new Set<Value>();
  const brought = incomingOf(kernel);
  const lower = (value: Value, limit: bigint, isSigned: boolean, isWhole = false): true => {
    const before = numbers.get(value);
    const least = before && before.limit < limit ? before.limit : limit;
    // What is small as an unsigned number is as a signed one.
    numbers.set(value, { limit: least, isSigned: isSigned && (before?.isSigned ?? true), isWhole: isWhole || (before?.isWhole ?? false) });
    return true;
  };
  const reach = (pointer: Value, budget: bigint): boolean => {
    const inst = kernel.insts[pointer]!;
    if (budget < 1n) return false;
    switch (inst.op) {
      case 'param':
      case 'variable':
        return true;
      case 'ptradd': {
        const bits = constantOf(kernel, inst.b);
        if (bits !== undefined) return reach(inst.a, budget - magnitude(bits, 64));
        return reach(inst.a, budget / 2n) && size(inst.b, budget / 2n);
      }
      case 'select':
        return reach(inst.a, budget) && reach(inst.b, budget);
      case 'arg':
        return near(pointer, budget, reach);
      case 'inttoptr':
        return address(inst.a, budget);
      default:
        return false;
    }
  };
  /** An address that comes around in a loop. */
  const near = (value: Value, budget: bigint, of: (value: Value, budget: bigint) => boolean): boolean => {
    if (budget < nearBytes) return false;
    if (nears.has(value)) return true;
    nears.add(value);
    return brought(value).every((each) => of(each, 2n * nearBytes));
  };
  /** The same of an address that is a number of 64 bits. */
  const address = (value: Value, budget: bigint): boolean => {
    const inst = kernel.insts[value]!;
    if (budget < 1n) return false;
    switch (inst.op) {
      case 'ptrtoint':
        return reach(inst.a, budget);
      case 'add':
      case 'sub': {
        const [at, by] = inst.op === 'sub' || roots(inst.a) !== undefined ? [inst.a, inst.b] : [inst.b, inst.a];
        const bits = constantOf(kernel, by);
        if (roots(at) === undefined || roots(by) !== undefined) return false;
        if (bits !== undefined) return address(at, budget - magnitude(bits, 64));
        return address(at, budget / 2n) && size(by, budget / 2n);
      }
      case 'select':
        return address(inst.a, budget) && address(inst.b, budget);
      case 'arg':
        return near(value, budget, address);
      default:
        return false;
    }
  };
  /** The same of a number of 64 bits. */
  const size = (value: Value, budget: bigint): boolean => {
    const inst = kernel.insts[value]!;
    if (budget < 1n) return false;
    switch (inst.op) {
      case 'const':
        return magnitude(inst.bits, 64) < budget;
      case 'add':
      case 'sub':
        return sum(inst, budget);
      case 'mul':
      case 'shl':
        return product(inst, value, budget);
      case 'sext':
      case 'zext':
        return extended(inst, budget);
      case 'select':
        return size(inst.a, budget) && size(inst.b, budget);
      case 'and': {
        const mask = constantOf(kernel, inst.b);
        if (mask !== undefined && BigInt.asIntN(64, mask) >= 0n) return mask < budget;
        // What is cut at its end becomes no larger than by what is cut.
        const isCut = mask !== undefined && magnitude(mask, 64) <= budget / 2n;
        return isCut ? size(inst.a, budget / 2n) : lower(value, budget, true, true);
      }
      case 'arg': {
        const limit = budget < nearBytes ? budget : nearBytes;
        const before = numbers.get(value);
        lower(value, limit, true);
        return before !== undefined || brought(value).every((each) => size(each, 2n * nearBytes));
      }
      default:
        return lower(value, budget, true, true);
    }
  };
  const sum = ({ a, b }: InstOf<'add'> | InstOf<'sub'>, budget: bigint): boolean => {
    const bits = constantOf(kernel, b);
    if (bits !== undefined) return size(a, budget - magnitude(bits, 64));
    return size(a, budget / 2n) && size(b, budget / 2n);
  };
  const product = (inst: InstOf<'mul'> | InstOf<'shl'>, value: Value, budget: bigint): boolean => {
    const by = constantOf(kernel, inst.b);
    if (by === undefined || (inst.op === 'shl' && by > 40n)) return lower(value, budget, true, true);
    const factor = inst.op === 'mul' ? magnitude(by, 64) : 1n << by;
    if (factor === 0n) return true;
    // An offset that AIR counts in elements: shifted to the right, and back again.
    const shifted = kernel.insts[inst.a]!;
    const isBack = (shifted.op === 'lshr' || shifted.op === 'ashr') && 1n << (constantOf(kernel, shifted.b) ?? 64n) === factor;
    return isBack ? size(shifted.a, budget - factor) : size(inst.a, budget / factor);
  };
  const extended = ({ op, a }: InstOf<'sext'> | InstOf<'zext'>, budget: bigint): boolean => {
    if (mostOf(kernel, a, op === 'sext') <= budget) return true;
    return bitsOf(kernel.insts[a]!.type) === 32 && lower(a, budget, op === 'sext');
  };
  return { reach, numbers, nears };
}

const constantOf = (kernel: Kernel, value: Value): bigint | undefined => {
  const inst = kernel.insts[value]!;
  return inst.op === 'const' ? inst.bits : undefined;
};

const magnitude = (bits: bigint, width: number): bigint => {
  const number = BigInt.asIntN(width, bits);
  return number < 0n ? -number : number;
};

/** What a number of up to 32 bits is at most, apart from its sign. */
function mostOf(kernel: Kernel, value: Value, isSigned: boolean): bigint {
  const inst = kernel.insts[value]!;
  const bits = bitsOf(inst.type);
  if (inst.op === 'const') return isSigned ? magnitude(inst.bits, bits) : inst.bits;
  if (inst.op === 'sreg')
    return inst.name.startsWith('tid') || inst.name.startsWith('ntid') ? BigInt(mostBlockThreads) : BigInt(mostThreads);
  if (inst.op === 'and') {
    const mask = constantOf(kernel, inst.b);
    if (mask !== undefined && mask < 2n ** BigInt(bits - 1)) return mask;
  }
  if (inst.op === 'zext') return 2n ** BigInt(bitsOf(kernel.insts[inst.a]!.type));
  return 2n ** BigInt(isSigned ? bits - 1 : bits);
}

/** What edges bring for a parameter of a block. */
function incomingOf({ blocks }: Kernel): (param: Value) => Value[] {
  const places = new Map<Value, { readonly block: Block; readonly at: number }>();
  for (const block of blocks) block.params.forEach((param, at) => void places.set(param, { block, at }));
  return (param) => {
    const { block, at } = places.get(param)!;
    return blocks.flatMap(({ end }) => edgesOf(end).flatMap((edge) => (edge.block === block ? [edge.args[at]!] : [])));
  };
}
