/**
 * How far addresses are from their root, so that their low 32 bits identify them: each address is decomposed into numbers whose range is known,
 * and others that a `within` has to bound while the kernel runs. All distances and limits are in bytes, and inclusive.
 */
import {
  type Block,
  bitsOf,
  constantOf,
  edgesOf,
  type InstOf,
  type Kernel,
  magnitude,
  type Op,
  type RangeOptions,
  type Roots,
  sregMax,
  sregs,
  type Value,
  type ValueRanges,
  valueRanges,
} from '../../../../ir/index.ts';

/** What has to hold of a number: it is from minus the limit to the limit, or from 0 to it as an unsigned number. */
export interface Within {
  readonly limit: bigint;
  readonly isSigned: boolean;
  readonly isWhole: boolean;
}

export interface AddressRanges {
  /** Whether an address can be held to at most `budget` bytes from its root, if what has to hold does. */
  reach(pointer: Value, budget: bigint): boolean;
  /** What has to hold, by number. */
  readonly numbers: ReadonlyMap<Value, Within>;
  /** Addresses that loops carry: these have to be near their root where their block starts. */
  readonly nears: ReadonlySet<Value>;
}

/** Bytes from its root that an address in a loop may be at the start of a turn. */
export const nearBytes = 2n ** 29n;
/** The most threads, in each direction, of a launch that the fast sanitizer takes, so that special registers are small. */
export const maxGridThreads = 2 ** 28;

/** What is used of the value-range analysis: special registers within the limits of a launch, constant masks, zero extensions. */
const facts: RangeOptions = {
  through: new Set<Op>(['and', 'zext']),
  sregs: { ...Object.fromEntries(sregs.map((name) => [name, BigInt(maxGridThreads)])), ...sregMax },
  depth: 1,
};

interface Search {
  readonly kernel: Kernel;
  readonly roots: Roots;
  readonly ranges: ValueRanges;
  readonly numbers: Map<Value, Within>;
  readonly nears: Set<Value>;
  /** What edges pass for a parameter of a block. */
  readonly incoming: (param: Value) => Value[];
}

/** Ranges of which nothing has to hold yet. */
export function addressRanges(kernel: Kernel, roots: Roots): AddressRanges {
  const search: Search = {
    kernel,
    roots,
    ranges: valueRanges(kernel, facts),
    numbers: new Map(),
    nears: new Set(),
    incoming: incomingOf(kernel),
  };
  return { reach: (pointer, budget) => pointerReaches(search, pointer, budget), numbers: search.numbers, nears: search.nears };
}

/** Whether a value can be held to `budget` bytes: from its root, or from 0. */
type Reaches = (search: Search, value: Value, budget: bigint) => boolean;

function pointerReaches(search: Search, pointer: Value, budget: bigint): boolean {
  const { kernel } = search;
  const inst = kernel.insts[pointer]!;
  if (budget < 1n) return false;
  switch (inst.op) {
    case 'param':
    case 'variable':
      return true;
    case 'ptradd':
      return sumReaches(search, pointerReaches, { base: inst.a, offset: inst.b }, budget);
    case 'select':
      return pointerReaches(search, inst.a, budget) && pointerReaches(search, inst.b, budget);
    case 'arg':
      return isNear(search, pointer, budget, pointerReaches);
    case 'inttoptr':
      return addressReaches(search, inst.a, budget);
    default:
      return false;
  }
}

/** The same of an address that is a number of 64 bits. */
function addressReaches(search: Search, value: Value, budget: bigint): boolean {
  const { kernel, roots } = search;
  const inst = kernel.insts[value]!;
  if (budget < 1n) return false;
  switch (inst.op) {
    case 'ptrtoint':
      return pointerReaches(search, inst.a, budget);
    case 'add':
    case 'sub': {
      const [base, offset] = inst.op === 'sub' || roots(inst.a) !== undefined ? [inst.a, inst.b] : [inst.b, inst.a];
      if (roots(base) === undefined || roots(offset) !== undefined) return false;
      return sumReaches(search, addressReaches, { base, offset }, budget);
    }
    case 'select':
      return addressReaches(search, inst.a, budget) && addressReaches(search, inst.b, budget);
    case 'arg':
      return isNear(search, value, budget, addressReaches);
    default:
      return false;
  }
}

/** A sum may be as far as its parts together: a constant takes its share of the budget, other offsets take half. */
function sumReaches(
  search: Search,
  reaches: Reaches,
  { base, offset }: { readonly base: Value; readonly offset: Value },
  budget: bigint,
): boolean {
  const bits = constantOf(search.kernel, offset);
  if (bits !== undefined) return reaches(search, base, budget - magnitude(bits, 64));
  return reaches(search, base, budget / 2n) && numberReaches(search, offset, budget / 2n);
}

/** An address that a loop carries is checked where its block starts; a turn may add as much again. */
function isNear(search: Search, value: Value, budget: bigint, reaches: Reaches): boolean {
  if (budget < nearBytes) return false;
  if (search.nears.has(value)) return true;
  search.nears.add(value);
  return search.incoming(value).every((each) => reaches(search, each, 2n * nearBytes));
}

/** Whether a number of 64 bits can be held to `budget`, apart from its sign. */
function numberReaches(search: Search, value: Value, budget: bigint): boolean {
  const { kernel } = search;
  const inst = kernel.insts[value]!;
  if (budget < 1n) return false;
  switch (inst.op) {
    case 'const':
      return magnitude(inst.bits, 64) <= budget;
    case 'add':
    case 'sub':
      return sumReaches(search, numberReaches, { base: inst.a, offset: inst.b }, budget);
    case 'mul':
    case 'shl':
      return productReaches(search, inst, value, budget);
    case 'sext':
    case 'zext':
      return extensionReaches(search, inst, budget);
    case 'select':
      return numberReaches(search, inst.a, budget) && numberReaches(search, inst.b, budget);
    case 'and':
      return maskReaches(search, inst, value, budget);
    case 'arg':
      return parameterReaches(search, value, budget);
    default:
      return bound(search, value, { limit: budget, isSigned: true, isWhole: true });
  }
}

function productReaches(search: Search, inst: InstOf<'mul'> | InstOf<'shl'>, value: Value, budget: bigint): boolean {
  const { kernel } = search;
  const by = constantOf(kernel, inst.b);
  if (by === undefined || (inst.op === 'shl' && by > 40n)) return bound(search, value, { limit: budget, isSigned: true, isWhole: true });
  const factor = inst.op === 'mul' ? magnitude(by, 64) : 1n << by;
  if (factor === 0n) return true;
  // An offset that AIR counts in elements: shifted to the right, and back again.
  const shifted = kernel.insts[inst.a]!;
  const isBack = (shifted.op === 'lshr' || shifted.op === 'ashr') && 1n << (constantOf(kernel, shifted.b) ?? 64n) === factor;
  return isBack ? numberReaches(search, shifted.a, budget - factor) : numberReaches(search, inst.a, budget / factor);
}

function extensionReaches(search: Search, { op, a }: InstOf<'sext'> | InstOf<'zext'>, budget: bigint): boolean {
  const isSigned = op === 'sext';
  const max = isSigned ? search.ranges.signedMagnitude(a) : search.ranges.unsignedMax(a);
  if (max !== undefined && max <= budget) return true;
  return bitsOf(search.kernel.insts[a]!.type) === 32 && bound(search, a, { limit: budget, isSigned, isWhole: false });
}

function maskReaches(search: Search, { a, b }: InstOf<'and'>, value: Value, budget: bigint): boolean {
  const mask = constantOf(search.kernel, b);
  if (mask !== undefined && BigInt.asIntN(64, mask) >= 0n) return mask <= budget;
  // A mask of high bits clears low bits, and adds at most what it clears to the distance.
  const isCut = mask !== undefined && magnitude(mask, 64) <= budget / 2n;
  return isCut ? numberReaches(search, a, budget / 2n) : bound(search, value, { limit: budget, isSigned: true, isWhole: true });
}

/** A number that a loop carries is checked in each turn. */
function parameterReaches(search: Search, value: Value, budget: bigint): boolean {
  const isKnown = search.numbers.has(value);
  bound(search, value, { limit: budget < nearBytes ? budget : nearBytes, isSigned: true, isWhole: false });
  return isKnown || search.incoming(value).every((each) => numberReaches(search, each, 2n * nearBytes));
}

/** Notes what has to hold of a number, together with what had to before. */
function bound({ numbers }: Search, value: Value, { limit, isSigned, isWhole }: Within): true {
  const before = numbers.get(value);
  const least = before && before.limit < limit ? before.limit : limit;
  // What is small as an unsigned number is as a signed one.
  numbers.set(value, { limit: least, isSigned: isSigned && (before?.isSigned ?? true), isWhole: isWhole || (before?.isWhole ?? false) });
  return true;
}

function incomingOf({ blocks }: Kernel): (param: Value) => Value[] {
  const places = new Map<Value, { readonly block: Block; readonly at: number }>();
  for (const block of blocks) block.params.forEach((param, at) => void places.set(param, { block, at }));
  return (param) => {
    const { block, at } = places.get(param)!;
    return blocks.flatMap(({ end }) => edgesOf(end).flatMap((edge) => (edge.block === block ? [edge.args[at]!] : [])));
  };
}
