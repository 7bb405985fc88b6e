/**
 * Expands warp matrix products (`matmul`) into shuffles and fused multiply-adds: each lane gathers the row of a and the two columns of b that its
 * own two elements of the result need.
 */
import {
  type Block,
  type Builder,
  builder,
  elementOf,
  type FloatType,
  type InstOf,
  type Kernel,
  matrixLayout,
  matrixSize,
  type Value,
} from '../../ir/index.ts';

/** Expands every `matmul` of a kernel in place; returns whether there was any. */
export function expandMatmul(kernel: Kernel): boolean {
  const blocks = kernel.blocks.filter(({ body }) => body.some((value) => kernel.insts[value]!.op === 'matmul'));
  for (const block of blocks) expandIn(kernel, block);
  return blocks.length > 0;
}

function expandIn(kernel: Kernel, block: Block): void {
  const b = builder(kernel, { ...block, body: [] });
  const lanes = laneMaker(b);
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    if (inst.op === 'matmul') {
      b.loc = kernel.locs[value];
      const [first, second] = product(b, lanes, inst);
      kernel.insts[value] = { op: 'vec2', type: inst.type, a: first, b: second };
    }
    b.block.body.push(value);
  }
  block.body = b.block.body;
}

/** The number of the lane whose bits are those of the current lane, except for the given bits (bit number to value). */
type Lanes = (given: ReadonlyMap<number, number>) => Value;

function laneMaker(b: Builder): Lanes {
  const known = new Map<string, Value>();
  return (given) => {
    const mask = [...given.keys()].reduce((rest, bit) => rest & ~(1 << bit), 31);
    const fixed = [...given].reduce((sum, [bit, value]) => sum | (value << bit), 0);
    const name = `${mask} ${fixed}`;
    const found = known.get(name) ?? b.or(b.and(b.sreg('i32', { name: 'laneid' }), b.const('i32', mask)), b.const('i32', fixed));
    known.set(name, found);
    return found;
  };
}

/** Assigns the bits of a number to bits of the lane's number. */
const laneBits = (bits: readonly number[], value: number): Map<number, number> => new Map(bits.map((bit, i) => [bit, (value >> i) & 1]));

/** Both elements of a lane as f32. */
function asF32(b: Builder, pair: Value): [Value, Value] {
  const type = elementOf(b.typeOf(pair));
  const [first, second] = [0, 1].map((lane) => {
    const element = b.extract(type, pair, { lane });
    return type === 'f32' ? element : b.fpext('f32', element);
  }) as [Value, Value];
  return [first, second];
}

function product(b: Builder, lanes: Lanes, inst: InstOf<'matmul'>): [Value, Value] {
  const [a, right, c] = [inst.a, inst.b, inst.c].map((pair) => asF32(b, pair)) as [Value[], Value[], [Value, Value]];
  const row = Array.from({ length: matrixSize }, (_, k) => b.shuffle(a[k & 1]!, lanes(laneBits(matrixLayout.column, k >> 1))));
  const columns = right.map((element) =>
    Array.from({ length: matrixSize }, (_, k) => b.shuffle(element, lanes(laneBits(matrixLayout.row, k)))),
  );
  const type = elementOf(inst.type) as FloatType;
  const [first, second] = columns.map((column, i) => {
    const sum = column.reduce((before, element, k) => b.fma(row[k]!, element, before), c[i]!);
    return type === 'f32' ? sum : b.fptrunc(type, sum);
  }) as [Value, Value];
  return [first, second];
}
