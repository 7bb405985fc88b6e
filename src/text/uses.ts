/** Which values of a kernel are printed at all, where their uses are, and which of them are seen from every use. */
import { type Block, type Inst, type Kernel, specOf, terminatorOperands, type Value } from '../ir/index.ts';
import type { Label, Statement } from './structure.ts';

/** A list of statements and its tree. */
export interface Part {
  readonly tree: readonly Statement[];
  /** Whether it is a region, which a scheduler runs. */
  readonly isRegion: boolean;
}

export interface Uses {
  readonly count: Int32Array;
  /** The block of the one use, where all uses are in one block; -2 for several. */
  readonly block: Int32Array;
}

/** Whether an instruction is printed even if nothing uses its result. */
export function isKept(inst: Inst): boolean {
  const { effect } = specOf(inst.op);
  return (effect !== 'pure' && effect !== 'reads') || (inst.op === 'load' && inst.volatile);
}

/** Uses of each value as instructions are printed; what is only used by values that are not printed has none. */
export function usesOf(kernel: Kernel, operandsOf: (value: Value) => readonly Value[], result: Value | undefined): Uses {
  const count = new Int32Array(kernel.insts.length);
  const block = new Int32Array(kernel.insts.length).fill(-1);
  const seen = new Uint8Array(kernel.insts.length);
  const home = new Int32Array(kernel.insts.length).fill(-1);
  for (const { id, body, params } of kernel.blocks) for (const value of [...params, ...body]) home[value] = id;
  const work: { value: Value; at: number }[] = [];
  const visit = (value: Value, at: number): void => {
    count[value]!++;
    block[value] = block[value] === -1 || block[value] === at ? at : -2;
    if (seen[value]) return;
    seen[value] = 1;
    work.push({ value, at: home[value]! });
  };
  for (const each of kernel.blocks) {
    for (const value of each.body) {
      if (seen[value] || !isKept(kernel.insts[value]!)) continue;
      seen[value] = 1;
      work.push({ value, at: each.id });
    }
    for (const value of terminatorOperands(each.end)) visit(value, each.id);
  }
  if (result !== undefined) visit(result, 0);
  for (let next = work.pop(); next; next = work.pop()) for (const operand of operandsOf(next.value)) visit(operand, next.at);
  return { count, block };
}

/** The lists inside a statement, and whether each is in braces of its own. */
function inside(s: Statement, real: ReadonlySet<Label>): { readonly list: readonly Statement[]; readonly isBraced: boolean }[] {
  switch (s.kind) {
    case 'if':
      return [s.then, s.else].map((list) => ({ list, isBraced: true }));
    case 'scope':
      return [{ list: s.body, isBraced: real.has(s.label) }];
    case 'loop':
      return [{ list: s.body, isBraced: true }];
    case 'dispatch':
      return s.cases.map(({ body }) => ({ list: body, isBraced: true }));
    default:
      return [];
  }
}

/** By block: the braces it is in, from the outermost one in; none for a block that is in several parts. */
export function scopePaths(parts: readonly Part[], real: ReadonlyMap<Part, ReadonlySet<Label>>): Map<number, readonly number[]> {
  const paths = new Map<number, readonly number[]>();
  let next = 0;
  const visit = (list: readonly Statement[], path: readonly number[], labels: ReadonlySet<Label>): void => {
    for (const s of list) {
      if (s.kind === 'body') paths.set(s.block.id, paths.has(s.block.id) ? [] : path);
      for (const { list: inner, isBraced } of inside(s, labels)) visit(inner, isBraced ? [...path, next++] : path, labels);
    }
  };
  for (const part of parts) visit(part.tree, [next++], real.get(part)!);
  return paths;
}

export interface Homes {
  readonly paths: ReadonlyMap<number, readonly number[]>;
  readonly home: ReadonlyMap<Value, Block>;
  operandsOf(value: Value): readonly Value[];
  /** Values that are written outside their block, and use their operands there. */
  isApart(value: Value): boolean;
  /** Whether there are several parts. */
  readonly many: boolean;
}

/** Values that are used outside the braces of their definition, whose variables are declared before everything. */
export function hoistedValues(kernel: Kernel, { paths, home, operandsOf, isApart, many }: Homes): Set<Value> {
  const hoisted = new Set<Value>();
  const use = (value: Value, block: Block): void => {
    const from = home.get(value);
    if (!from || from === block || hoisted.has(value)) return;
    const [outer, inner] = [paths.get(from.id), paths.get(block.id)];
    const isSeen = outer !== undefined && inner !== undefined && outer.length > 0 && outer.every((each, i) => inner[i] === each);
    if (!isSeen) hoisted.add(value);
  };
  for (const block of kernel.blocks) {
    for (const value of block.body) for (const operand of operandsOf(value)) use(operand, block);
    for (const value of terminatorOperands(block.end)) use(value, block);
    for (const value of block.body.filter(isApart)) for (const operand of operandsOf(value)) hoisted.add(operand);
    if (paths.get(block.id)?.length === 0) for (const value of block.body) hoisted.add(value);
    // The code of a block may be in several parts, and its parameters are assigned elsewhere.
    if (many) for (const param of block.params) hoisted.add(param);
  }
  return hoisted;
}
