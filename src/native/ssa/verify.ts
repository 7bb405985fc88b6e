/** Checks that a function is well formed. Passes are followed by it in specs. */
import type { WasmModuleRead } from '../../wasm/index.ts';
import { dominatorsOf, loopsOf, predecessors, reversePostorder } from './flow.ts';
import { signatureOf } from './signature.ts';
import { bytesOfType, type End, edgesOf, type Inst, type SsaFunction, type SsaType, type Value } from './types.ts';

/** What is wrong with a function, one fault per line; nothing for a function that is well formed. Types of calls and globals need its module. */
export function verifySsa(fn: SsaFunction, module?: WasmModuleRead): string[] {
  const faults: string[] = [];
  const places = definitions(fn, faults);
  if (faults.length > 0) return faults;
  checkBlocks(fn, faults);
  if (faults.length > 0) return faults;
  checkUses(fn, places, faults);
  fn.blocks.forEach(({ insts, end }, block) => {
    for (const inst of insts) {
      const fault = faultOf(inst, fn.types, module);
      if (fault) faults.push(`b${block}: ${inst.op} ${inst.result === undefined ? '' : `v${inst.result} `}${fault}`);
    }
    faultsOfEnd(fn, end, (fault) => faults.push(`b${block}: ${fault}`));
  });
  return faults;
}

interface Place {
  readonly block: number;
  /** The number of the instruction; -1 for a parameter. */
  readonly at: number;
}

function definitions({ blocks, types, params }: SsaFunction, faults: string[]): Map<Value, Place> {
  const places = new Map<Value, Place>();
  const define = (value: Value, place: Place): void => {
    if (types[value] === undefined) faults.push(`v${value} has no type`);
    if (places.has(value)) faults.push(`v${value} is defined twice`);
    places.set(value, place);
  };
  blocks.forEach((block, i) => {
    for (const param of block.params) define(param, { block: i, at: -1 });
    block.insts.forEach(({ result }, at) => {
      if (result !== undefined) define(result, { block: i, at });
    });
  });
  if (blocks[0]!.params.map((param) => types[param]).join() !== params.join())
    faults.push('the entry has other parameters than the function');
  return places;
}

/** Blocks are reached, follow their dominators, and those of a loop are contiguous; edges have as many values as their block has parameters. */
function checkBlocks({ blocks, types }: SsaFunction, faults: string[]): void {
  blocks.forEach(({ end }, i) => {
    for (const { block, args } of edgesOf(end)) {
      const params = blocks[block]?.params;
      if (!params || block === 0) faults.push(`b${i}: an edge to b${block}`);
      else if (params.map((param) => types[param]).join() !== args.map((arg) => types[arg]).join())
        faults.push(`b${i}: an edge to b${block} with values of other types than its parameters`);
    }
  });
  if (faults.length > 0) return;
  const order = reversePostorder(blocks);
  if (order.length < blocks.length) faults.push('a block is not reached');
  const before = predecessors(blocks);
  const dominators = dominatorsOf(blocks, order, before);
  dominators.immediate.forEach((above, block) => {
    if (above > block) faults.push(`b${block} stands before its dominator b${above}`);
  });
  const { loops, innermost } = loopsOf(blocks, order, before, dominators);
  for (const { header, blocks: inside } of loops) {
    const last = Math.max(...inside);
    if (Math.min(...inside) !== header || last - header + 1 !== inside.size) faults.push(`the loop of b${header} is not contiguous`);
  }
  blocks.forEach(({ loopDepth }, i) => {
    const depth = innermost[i]! < 0 ? 0 : loops[innermost[i]!]!.depth;
    if (loopDepth !== depth) faults.push(`b${i} is at loop depth ${depth}, not ${loopDepth}`);
  });
}

function checkUses({ blocks }: SsaFunction, places: ReadonlyMap<Value, Place>, faults: string[]): void {
  const { dominates } = dominatorsOf(blocks);
  const use = (value: Value, block: number, at: number): void => {
    const place = places.get(value);
    if (!place) faults.push(`b${block}: v${value} is not defined`);
    else if (place.block === block ? place.at >= at : !dominates(place.block, block))
      faults.push(`b${block}: v${value} is used before it is defined`);
  };
  blocks.forEach(({ insts, end }, block) => {
    insts.forEach(({ args }, at) => {
      for (const arg of args) use(arg, block, at);
    });
    for (const value of usesOfEnd(end)) use(value, block, insts.length);
  });
}

const usesOfEnd = (end: End): Value[] => [
  ...(end.op === 'branch' ? [end.cond] : end.op === 'switch' ? [end.index] : end.op === 'return' ? end.values : []),
  ...edgesOf(end).flatMap(({ args }) => args),
];

function faultsOfEnd({ types, results }: SsaFunction, end: End, report: (fault: string) => void): void {
  if (end.op === 'branch' && types[end.cond] !== 'i32') report('a condition that is no i32');
  if (end.op === 'switch' && (types[end.index] !== 'i32' || end.edges.length === 0)) report('a switch without a number or edges');
  if (end.op === 'return' && end.values.map((value) => types[value]).join() !== results.join()) report('results of other types');
}

const isVector = (type: SsaType | undefined): boolean => type === 'v128' || type === 'v256' || type === 'v512';

/** What is wrong with an instruction by its types and immediates. */
function faultOf(inst: Inst, types: readonly SsaType[], module: WasmModuleRead | undefined): string | undefined {
  const args = inst.args.map((arg) => types[arg]!);
  const result = inst.result === undefined ? undefined : types[inst.result];
  const special = specialFaults[inst.op];
  if (special) return special(inst, args, result, module);
  const signature = signatureOf(inst.op);
  if (!signature) return 'is unknown';
  // All vectors of an instruction are equally wide, and at least one v128 stands for them in its signature.
  const wide = [result, ...args].find(isVector) ?? 'v128';
  const widened = (type: SsaType | undefined): SsaType | undefined => (type === 'v128' ? wide : type);
  const expected = `${signature.params.map(widened).join()} -> ${widened(signature.result)}`;
  const found = `${args.join()} -> ${result}`;
  if (expected !== found) return `has the types ${found} instead of ${expected}`;
  if (wide !== 'v128' && /extract_lane|replace_lane|_lane$|load\d+_zero$/.test(inst.op)) return 'has no wide form';
  if (/\.(load|store)|atomic\.(load|store|rmw)/.test(inst.op) && inst.offset === undefined) return 'has no offset';
  if (/_lane/.test(inst.op) && inst.lane === undefined) return 'has no lane';
  if (/^[if]\d+\.const$/.test(inst.op)) return inst.bits === undefined ? 'has no bits' : undefined;
  if (inst.op === 'v128.const') return inst.bytes?.length === bytesOfType(result!) ? undefined : 'has other bytes than its type';
  return inst.op === 'i8x16.shuffle' && inst.bytes?.length !== 16 ? 'has no 16 bytes' : undefined;
}

type SpecialFault = (
  inst: Inst,
  args: readonly SsaType[],
  result: SsaType | undefined,
  module: WasmModuleRead | undefined,
) => string | undefined;

const specialFaults: Readonly<Record<string, SpecialFault>> = {
  select: (_, [a, b, cond], result) => (a === b && a === result && cond === 'i32' ? undefined : 'has other types'),
  call({ index }, args, result, module) {
    if (index === undefined) return 'has no function';
    const callee = module?.functions[index];
    if (!module) return undefined;
    return callee?.params.join() === args.join() && callee.results[0] === result ? undefined : 'has the types of another function';
  },
  'global.get': ({ index }, args, result, module) =>
    index !== undefined && args.length === 0 && (!module || module.globals[index]?.type === result) ? undefined : 'has other types',
  'global.set': ({ index }, args, result, module) =>
    index !== undefined && result === undefined && (!module || module.globals[index]?.type === args[0]) ? undefined : 'has other types',
  'vector.part': ({ lane }, [from], result) =>
    result === 'v128' && lane !== undefined && lane < bytesOf(from) / 16 && bytesOf(from) > 16 ? undefined : 'has no such part',
  'vector.join': (_, args, result) =>
    args.length > 1 && args.every((arg) => arg === args[0] && isVector(arg)) && bytesOf(result) === args.length * bytesOf(args[0])
      ? undefined
      : 'has other parts',
  'vector.words'({ words }, args, result) {
    const known = args.reduce((sum, arg) => sum + bytesOf(arg) / 4, 0);
    const isRight = words?.length === bytesOf(result) / 4 && words.every((word) => word >= 0 && word < known);
    return isRight && (args.length === 1 || args.length === 2) && args.every((arg) => arg === args[0]) ? undefined : 'has other words';
  },
  'vector.widen': ({ kind }, args, result) =>
    kind !== undefined && args.length === 1 && isVector(args[0]) && isVector(result) ? undefined : 'has other types',
  'vector.load8_gather': faultOfGather,
  'vector.load16_gather': faultOfGather,
  'vector.load32_gather': faultOfGather,
  'vector.load64_gather'({ offset, lane }, [from], result) {
    const isHalf =
      result === 'v128' ? from === 'v128' && (lane === 0 || lane === 1) : isVector(result) && 2 * bytesOf(from) === bytesOf(result);
    return isHalf && offset !== undefined ? undefined : 'has other types, or no offset';
  },
};

function faultOfGather({ offset, args }: Inst, [from]: readonly SsaType[], result: SsaType | undefined): string | undefined {
  return args.length === 1 && from === result && isVector(result) && offset !== undefined ? undefined : 'has other types, or no offset';
}

const bytesOf = (type: SsaType | undefined): number => (isVector(type) ? bytesOfType(type!) : 0);
