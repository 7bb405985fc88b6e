/**
 * Block parameters of the type that their bits are used as. PTX has registers of bits, so that floats that come together or go round a loop are
 * words there, with a conversion on each way in and at each use: the parameters become floats where that takes fewer conversions.
 * Source: LLVM's InstCombine, optimizeBitCastFromPhi.
 */
import { addInst } from '../build.ts';
import { type Block, type Edge, edgesOf, type Inst, type Kernel, typeOf, type Value } from '../kernel.ts';
import { eachOperand, mapOperands } from '../operands.ts';
import type { ScalarType, Type } from '../types.ts';
import { isOfMemory } from './load-types.ts';
import { replaceAll, substitution } from './substitution.ts';

/** Gives such parameters their types, in place; returns whether there were any. */
export function typeParams(kernel: Kernel): boolean {
  if (!hasConversions(kernel)) return false;
  const typed = websOf(kernel).filter((web) => web.type !== undefined);
  if (typed.length === 0) return false;
  for (const web of typed) for (const param of web.params) kernel.insts[param]!.type = web.type!;
  convert(kernel, typed);
  return true;
}

/** Whether any parameter, or anything that an edge passes, is converted. */
function hasConversions({ insts, blocks }: Kernel): boolean {
  const isConverted = (value: Value): boolean => insts[value]!.op === 'bitcast';
  return blocks.some(
    ({ body, end }) =>
      edgesOf(end).some(({ args }) => args.some(isConverted)) ||
      body.some((value) => {
        const inst = insts[value]!;
        return inst.op === 'bitcast' && insts[inst.a]!.op === 'arg';
      }),
  );
}

/** Parameters that edges pass to one another. */
interface Web {
  readonly params: Value[];
  /** What the parameters were. */
  readonly from: ScalarType;
  /** What they are to be, if anything else. */
  type: ScalarType | undefined;
}

/** What is counted of a web for a choice. */
interface Count {
  /** By type: the conversions to and from it that go. */
  readonly gains: Map<ScalarType, number>;
  /** What edges pass, by how many of its uses are edges into the web. */
  readonly passed: Map<Value, number>;
}

const none = -1;

/** Numbers of as many bits as a float. */
const isWord = (type: Type): boolean => type === 'i16' || type === 'i32' || type === 'i64';

function websOf(kernel: Kernel): Web[] {
  // By value: one on the way to the first of its web; none for what is no parameter of words.
  const parent = new Int32Array(kernel.insts.length).fill(none);
  const isMember = (value: Value): boolean => parent[value] !== none;
  const rootOf = (value: Value): Value => {
    let root: number = value;
    while (parent[root] !== root) root = parent[root]!;
    for (let at: number = value; at !== root; ) {
      const next = parent[at]!;
      parent[at] = root;
      at = next;
    }
    return root as Value;
  };
  // Those of the first block are the operands of a function.
  const params = kernel.blocks.slice(1).flatMap((block) => block.params.filter((param) => isWord(typeOf(kernel, param))));
  for (const param of params) parent[param] = param;
  for (const { end } of kernel.blocks)
    for (const { block, args } of edgesOf(end))
      args.forEach((arg, i) => {
        if (isMember(arg) && isMember(block.params[i]!)) parent[rootOf(arg)] = rootOf(block.params[i]!);
      });
  const webs: Web[] = [];
  // By value: the place of its web, one more than that.
  const places = new Int32Array(kernel.insts.length);
  for (const param of params) {
    const root = rootOf(param);
    places[root] ||= webs.push({ params: [], from: typeOf(kernel, param) as ScalarType, type: undefined });
    places[param] = places[root]!;
    webs[places[param]! - 1]!.params.push(param);
  }
  choose(kernel, webs, (value) => webs[places[value]! - 1]);
  return webs;
}

function choose(kernel: Kernel, webs: readonly Web[], webOf: (value: Value) => Web | undefined): void {
  const counts = new Map(webs.map((web): [Web, Count] => [web, { gains: new Map(), passed: new Map() }]));
  const { uses, asWords } = countUses(kernel, counts, webOf);
  for (const [web, { gains, passed }] of counts) {
    if (gains.size === 0 && ![...passed.keys()].some((value) => kernel.insts[value]!.op === 'bitcast')) continue;
    // Conversions that come with every type: of parameters that are used as words, and of words that edges pass.
    let comes = web.params.filter((param) => asWords.has(param)).length;
    for (const [value, count] of passed) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'const') continue;
      const isLast = uses[value] === count;
      if (inst.op === 'bitcast' && isOfMemory(typeOf(kernel, inst.a))) {
        const from = typeOf(kernel, inst.a) as ScalarType;
        // Of another type it is converted all the same.
        if (isLast) gains.set(from, (gains.get(from) ?? 0) + 1);
      } else if (!(isLast && isTypable(kernel, inst))) comes++;
    }
    const [type, gain] = [...gains].reduce((best, each) => (each[1] > best[1] ? each : best), ['i1', 0] as [ScalarType, number]);
    if (gain > comes) web.type = type;
  }
}

/** Loads can give any type (`load-types.ts`), and their elements too. */
const isTypable = (kernel: Kernel, inst: Inst): boolean =>
  inst.op === 'extract' ? isTypable(kernel, kernel.insts[inst.a]!) : inst.op === 'load' && !inst.volatile;

function countUses(kernel: Kernel, counts: ReadonlyMap<Web, Count>, webOf: (value: Value) => Web | undefined) {
  const uses = new Int32Array(kernel.insts.length);
  /** Parameters with uses that need the words. */
  const asWords = new Set<Value>();
  const use = (value: Value): void => {
    uses[value]!++;
    if (webOf(value) !== undefined) asWords.add(value);
  };
  for (const { body, end } of kernel.blocks) {
    for (const value of body) {
      const inst = kernel.insts[value]!;
      const web = inst.op === 'bitcast' && isOfMemory(inst.type) ? webOf(inst.a) : undefined;
      if (web === undefined) eachOperand(inst, use);
      else {
        const { gains } = counts.get(web)!;
        gains.set(inst.type as ScalarType, (gains.get(inst.type as ScalarType) ?? 0) + 1);
      }
    }
    if (end.op === 'condbr') use(end.cond);
    for (const { block, args } of edgesOf(end))
      args.forEach((arg, i) => {
        uses[arg]!++;
        const [into, of] = [webOf(block.params[i]!), webOf(arg)];
        if (into === undefined) {
          if (of !== undefined) asWords.add(arg);
        } else if (of === undefined) {
          const { passed } = counts.get(into)!;
          passed.set(arg, (passed.get(arg) ?? 0) + 1);
        }
      });
  }
  return { uses, asWords };
}

/** Puts conversions where the parameters meet words, and takes those away that convert to what they are now. */
function convert(kernel: Kernel, webs: readonly Web[]): void {
  const webOf = new Map(webs.flatMap((web) => web.params.map((param) => [param, web] as const)));
  const s = substitution(kernel.insts.length);
  for (const block of kernel.blocks) {
    const before = block.body;
    block.body = [];
    const words = new Map<Value, Value>();
    // Each block makes the words that it needs, in front of what needs them first.
    const asWord = (value: Value): Value => {
      const web = webOf.get(value);
      if (web === undefined) return value;
      const known = words.get(value) ?? placed(kernel, block, { op: 'bitcast', type: web.from, a: value });
      words.set(value, known);
      return known;
    };
    for (const value of before) {
      const inst = kernel.insts[value]!;
      const web = inst.op === 'bitcast' ? webOf.get(inst.a) : undefined;
      if (web !== undefined && web.type === inst.type) s.replace(value, (inst as { a: Value }).a);
      else if (web === undefined) mapOperands(inst, asWord);
      block.body.push(value);
    }
    convertEnd(kernel, block, webOf, asWord);
  }
  replaceAll(kernel, s);
}

function convertEnd(kernel: Kernel, block: Block, webOf: ReadonlyMap<Value, Web>, asWord: (value: Value) => Value): void {
  const { end } = block;
  const made = new Map<ScalarType, Map<Value, Value>>();
  const converted = (arg: Value, type: ScalarType): Value => {
    const ofType = made.get(type) ?? new Map<Value, Value>();
    made.set(type, ofType);
    const known = ofType.get(arg) ?? asType(kernel, block, arg, type);
    ofType.set(arg, known);
    return known;
  };
  const argsOf = ({ block: to, args }: Edge): Value[] =>
    args.map((arg, i) => {
      const web = webOf.get(to.params[i]!);
      if (web === undefined) return asWord(arg);
      return webOf.has(arg) ? arg : converted(arg, web.type!);
    });
  for (const edge of edgesOf(end)) edge.args = argsOf(edge);
}

/** A value as a type, at the end of a block. */
function asType(kernel: Kernel, block: Block, value: Value, type: ScalarType): Value {
  const inst = kernel.insts[value]!;
  if (inst.op === 'bitcast' && typeOf(kernel, inst.a) === type) return inst.a;
  return placed(kernel, block, inst.op === 'const' ? { ...inst, type } : { op: 'bitcast', type, a: value });
}

function placed(kernel: Kernel, block: Block, inst: Inst): Value {
  const value = addInst(kernel, inst);
  block.body.push(value);
  return value;
}
