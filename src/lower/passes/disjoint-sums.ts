/**
 * Sums that are written as `or`: nvcc adds an offset to the address of a variable so where the alignment of the variable leaves the
 * bits of the offset free. As sums they lead to the variable, whose memory they point into.
 */
import { bitsOf, type Inst, type Kernel, type ScalarType, type Value } from '../../ir/index.ts';

/** What is known of the values seen so far. */
interface Known {
  /** A power of two that divides a value, of addresses of variables alone. */
  readonly aligns: Map<Value, bigint>;
  /** What a value is at most, unsigned, where that is less than its type allows. */
  readonly most: Map<Value, bigint>;
}

/** Makes sums of those `or` of which one side is an aligned address and the other is below its alignment; blocks stand in order. */
export function sumDisjointParts(kernel: Kernel): void {
  const variables = new Map(kernel.variables.map(({ name, align }) => [name, BigInt(align)]));
  if (variables.size === 0) return;
  const known: Known = { aligns: new Map(), most: new Map() };
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'or' && (isDisjoint(known, inst.a, inst.b) || isDisjoint(known, inst.b, inst.a)))
        kernel.insts[value] = { op: 'add', type: inst.type, a: inst.a, b: inst.b };
      note(known.aligns, value, alignOf(kernel, kernel.insts[value]!, known, variables));
      note(known.most, value, mostOf(kernel, inst, known));
    }
}

function note(map: Map<Value, bigint>, value: Value, known: bigint | undefined): void {
  if (known !== undefined) map.set(value, known);
}

const isDisjoint = ({ aligns, most }: Known, address: Value, offset: Value): boolean => {
  const [align, bound] = [aligns.get(address), most.get(offset)];
  return align !== undefined && bound !== undefined && bound < align;
};

/** The alignment of a variable, of its address, and of what lies a known number of bytes behind it. */
function alignOf(kernel: Kernel, inst: Inst, { aligns }: Known, variables: ReadonlyMap<string, bigint>): bigint | undefined {
  switch (inst.op) {
    case 'variable':
      return variables.get(inst.name);
    case 'ptrtoint':
    case 'inttoptr':
      return aligns.get(inst.a);
    case 'ptradd':
    case 'add': {
      const [base, offset] = aligns.has(inst.a) ? [inst.a, inst.b] : [inst.b, inst.a];
      const [align, by] = [aligns.get(base), constantOf(kernel, offset)];
      return align === undefined || by === undefined ? undefined : least(align, lowestBit(by, align));
    }
    default:
      return undefined;
  }
}

const lowestBit = (value: bigint, ifNone: bigint): bigint => (value === 0n ? ifNone : value & -value);

function mostOf(kernel: Kernel, inst: Inst, { most }: Known): bigint | undefined {
  const limit = (value: Value): bigint => most.get(value) ?? (1n << BigInt(bitsOf(kernel.insts[value]!.type as ScalarType))) - 1n;
  switch (inst.op) {
    case 'const':
      return inst.bits;
    case 'and':
      return least(limit(inst.a), limit(inst.b));
    case 'zext':
      return limit(inst.a);
    case 'shl': {
      const [by, moved] = [constantOf(kernel, inst.b), limit(inst.a)];
      const width = BigInt(bitsOf(inst.type as ScalarType));
      return by !== undefined && by < width && moved << by < 1n << width ? moved << by : undefined;
    }
    case 'lshr': {
      const by = constantOf(kernel, inst.b);
      return by === undefined ? undefined : limit(inst.a) >> by;
    }
    default:
      return undefined;
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

function constantOf(kernel: Kernel, value: Value): bigint | undefined {
  const inst = kernel.insts[value]!;
  return inst.op === 'const' ? inst.bits : undefined;
}
