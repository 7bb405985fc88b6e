/**
 * Gathers: the engine loads lanes at addresses of their own one after the other, each with a check of its bounds. A chain of such loads into one vector
 * becomes one instruction on the vector of addresses, which is packed as any other.
 */
import { effectOf } from '../ssa/signature.ts';
import type { Block, Inst, SsaFunction, Value } from '../ssa/types.ts';

/** What gathers lanes of so many bits: the load of the first lane, where it is no load of one lane, and the numbers of the lanes of the others. */
interface Chain {
  readonly first: string | undefined;
  readonly rest: string;
  readonly lanes: readonly number[];
}

const chains: Readonly<Record<8 | 16 | 32 | 64, Chain>> = {
  8: { first: undefined, rest: 'v128.load8_lane', lanes: [0, 4, 8, 12] },
  16: { first: undefined, rest: 'v128.load16_lane', lanes: [0, 2, 4, 6] },
  32: { first: 'v128.load32_zero', rest: 'v128.load32_lane', lanes: [1, 2, 3] },
  64: { first: 'v128.load64_zero', rest: 'v128.load64_lane', lanes: [1] },
};
const bitsOfLast = new Map(Object.entries(chains).map(([bits, { rest }]) => [rest, Number(bits) as keyof typeof chains]));

/** The facts about a block that chains are found by. */
interface Scene {
  readonly fn: SsaFunction;
  readonly definitions: ReadonlyMap<Value, Inst>;
  readonly uses: Int32Array;
  /** By instruction of the block: its number, and how many instructions before it may write memory. */
  readonly places: ReadonlyMap<Inst, number>;
}

/** Makes gathers of the chains of a function; says whether there were any. */
export function formGathers(fn: SsaFunction): boolean {
  const isLast = ({ op }: Inst): boolean => bitsOfLast.has(op);
  if (!fn.blocks.some(({ insts }) => insts.some(isLast))) return false;
  const uses = usesOf(fn);
  const definitions = new Map(
    fn.blocks.flatMap(({ insts }) => insts.flatMap((inst) => (inst.result === undefined ? [] : [[inst.result, inst]]))),
  );
  let isChanged = false;
  for (const block of fn.blocks) {
    if (!block.insts.some(isLast)) continue;
    const scene: Scene = { fn, definitions, uses, places: writesBefore(block) };
    const gathers = new Map<Inst, Inst>();
    const gone = new Set<Inst>();
    for (const inst of block.insts) {
      const found = isLast(inst) ? gatherOf(scene, inst) : undefined;
      if (!found) continue;
      gathers.set(inst, found.gather);
      for (const each of found.others) gone.add(each);
      isChanged = true;
    }
    block.insts = block.insts.flatMap((inst) => (gone.has(inst) ? [] : [gathers.get(inst) ?? inst]));
  }
  if (isChanged) removeUnused(fn);
  return isChanged;
}

function usesOf({ blocks, types }: SsaFunction): Int32Array {
  const uses = new Int32Array(types.length);
  const use = (values: readonly Value[]): void => {
    for (const value of values) uses[value]!++;
  };
  for (const { insts, end } of blocks) {
    for (const { args } of insts) use(args);
    if (end.op === 'jump') use(end.to.args);
    else if (end.op === 'branch') use([end.cond, ...end.then.args, ...end.else.args]);
    else if (end.op === 'switch') use([end.index, ...end.edges.flatMap(({ args }) => args)]);
    else if (end.op === 'return') use(end.values);
  }
  return uses;
}

/** How many instructions before each one of a block may write memory, trap in another way, or be seen to have run. */
function writesBefore({ insts }: Block): Map<Inst, number> {
  let count = 0;
  const places = new Map<Inst, number>();
  for (const inst of insts) {
    places.set(inst, count);
    const effect = effectOf(inst.op);
    if (effect !== 'pure' && effect !== 'constant' && effect !== 'load' && effect !== 'global.get') count++;
  }
  return places;
}

/** The gather that stands for a chain of loads with its last one, and the loads before that; undefined if there is no such chain. */
function gatherOf(scene: Scene, last: Inst): { readonly gather: Inst; readonly others: readonly Inst[] } | undefined {
  const bits = bitsOfLast.get(last.op)!;
  const { first, rest, lanes } = chains[bits];
  const loads: Inst[] = [];
  let inst: Inst | undefined = last;
  for (let i = lanes.length - 1; i >= 0; i--) {
    if (!inst || inst.op !== rest || inst.lane !== lanes[i] || !isPartOf(scene, inst, last)) return undefined;
    loads.unshift(inst);
    inst = scene.definitions.get(inst.args[1]!);
  }
  if (first === undefined) {
    if (inst?.op !== 'v128.const' || inst.bytes!.some((byte) => byte !== 0)) return undefined;
    // The word that ends in the bytes of the lane is loaded.
    if (last.offset! < 4 - bits / 8) return undefined;
  } else {
    if (inst?.op !== first || !isPartOf(scene, inst, last)) return undefined;
    loads.unshift(inst);
  }
  const addresses = addressesOf(scene, loads);
  if (!addresses) return undefined;
  const half = bits === 64 ? { lane: addresses.lane / 2 } : {};
  const gather = { op: `vector.load${bits}_gather`, args: [addresses.vector], offset: last.offset!, ...half, result: last.result };
  return { gather, others: loads.slice(0, -1) };
}

/** Whether a load can be done where the last load of its chain is, and is for nothing but the next one. */
const isPartOf = ({ places, uses }: Scene, inst: Inst, last: Inst): boolean =>
  inst.offset === last.offset && (inst === last || (uses[inst.result!] === 1 && places.get(inst) === places.get(last)));

/** The vector whose lanes are the addresses of loads, from which lane on. */
function addressesOf({ definitions }: Scene, loads: readonly Inst[]): { readonly vector: Value; readonly lane: number } | undefined {
  const extracts = loads.map(({ args }) => definitions.get(args[0]!));
  const [start] = extracts;
  if (start?.op !== 'i32x4.extract_lane') return undefined;
  const lane = start.lane!;
  const isRow = extracts.every((each, i) => each?.op === start.op && each.args[0] === start.args[0] && each.lane === lane + i);
  return isRow && lane % loads.length === 0 ? { vector: start.args[0]!, lane } : undefined;
}

/** Removes lanes that nothing needs any more. */
function removeUnused(fn: SsaFunction): void {
  const uses = usesOf(fn);
  for (const block of fn.blocks) block.insts = block.insts.filter(({ op, result }) => op !== 'i32x4.extract_lane' || uses[result!]! > 0);
}
