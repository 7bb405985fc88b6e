/**
 * Value numbering over the dominator tree, with simpler forms of instructions: an instruction that computes what another one before it has computed is
 * replaced by that. Loads are equal where nothing between them changes memory; a load of what was stored there is the stored value.
 */
import { bug } from '../../base/bug.ts';
import { type Constants, newConstants } from './constants.ts';
import { dominatorsOf, type Loops, loopsOf, predecessors, reversePostorder } from './flow.ts';
import { type Computation, computationOf, isSameButVersion, type KnownResults, newKnownResults } from './known.ts';
import { mapEndUses, newReplacements, type Replacements } from './params.ts';
import type { Rewriter } from './rewriter.ts';
import { conditionOf, simplerForm } from './rules.ts';
import { effectOf, signatureOf } from './signature.ts';
import { type Block, bytesOfType, type Edge, type End, type Inst, type SsaFunction, type Value } from './types.ts';

interface Numbering {
  readonly fn: SsaFunction;
  readonly rewriter: Rewriter;
  readonly constants: Constants;
  readonly replaced: Replacements;
  readonly definitions: (Inst | undefined)[];
  /** The block that defines each value; the entry for constants. */
  readonly homes: number[];
  readonly known: KnownResults;
  readonly dominates: (above: number, block: number) => boolean;
  /** Versions of memory and, behind it, of globals, in the current block. */
  versions: Int32Array;
  nextVersion: number;
  /** Loads, and stores that later loads may read, since memory was changed in unknown places; at most `maxRecent`. */
  recent: Access[];
  /** The instructions of the current block so far. */
  out: Inst[];
  block: number;
  /** Whether an edge was removed. */
  isFlowChanged: boolean;
}

/** An access of memory whose value is known. */
interface Access {
  readonly load: Computation;
  readonly value: Value;
  /** The value from which its address is a constant distance, modulo 2^32. */
  readonly root: Value;
  readonly from: number;
  readonly bytes: number;
}

/** Accesses that are compared with a store. */
const maxRecent = 32;

/** Simplifies the instructions of a function whose blocks are all reached; says whether an edge was removed, so that blocks may not be reached. */
export function numberValues(fn: SsaFunction): boolean {
  const order = reversePostorder(fn.blocks);
  const before = predecessors(fn.blocks);
  const dominators = dominatorsOf(fn.blocks, order, before);
  const loops = loopsOf(fn.blocks, order, before, dominators);
  const n = newNumbering(fn, dominators.dominates);
  const versionsAtEnd: Int32Array[] = [];
  const entering = versionsOnEntry(fn, before, loops, versionsAtEnd, () => n.nextVersion++);
  for (const block of order) {
    n.block = block;
    n.versions = entering(block);
    numberBlock(n, fn.blocks[block]!);
    versionsAtEnd[block] = n.versions;
  }
  n.constants.finish();
  return n.isFlowChanged;
}

function newNumbering(fn: SsaFunction, dominates: Numbering['dominates']): Numbering {
  // Arrays without holes: values of constants are the largest numbers and come first.
  const definitions: (Inst | undefined)[] = Array(fn.types.length).fill(undefined);
  const homes: number[] = Array(fn.types.length).fill(0);
  const constants = newConstants(fn, (inst) => {
    definitions[inst.result!] = inst;
    homes[inst.result!] = 0;
  });
  const rewriter: Rewriter = {
    types: fn.types,
    make: () => bug('an instruction outside of a block'),
    definition: (value) => definitions[value],
    bits: (value) => definitions[value]?.bits,
    bytes: (value) => (definitions[value]?.op === 'v128.const' ? definitions[value]!.bytes : undefined),
    constant: constants.number,
    vector: constants.vector,
  };
  const n: Numbering = {
    fn,
    rewriter: {
      ...rewriter,
      make(op, ...args) {
        const result = fn.types.push(signatureOf(op)!.result!) - 1;
        keep(n, numberInst(n, { op, args, result }));
        return n.replaced.of(result);
      },
    },
    constants,
    replaced: newReplacements(),
    definitions,
    homes,
    known: newKnownResults(),
    dominates,
    versions: new Int32Array(0),
    nextVersion: 1,
    recent: [],
    out: [],
    block: 0,
    isFlowChanged: false,
  };
  return n;
}

/** What a loop changes: memory, and globals by number. */
interface Changes {
  readonly globals: Set<number>;
  calls: boolean;
}

/**
 * The versions of memory and globals at the start of a block: those in which all blocks before it end, else new ones. At the header of a loop,
 * memory is always new, because another thread may be waited for; a global that the loop does not change is what it was.
 */
function versionsOnEntry(
  { blocks }: SsaFunction,
  before: readonly (readonly number[])[],
  { loops, innermost }: Loops,
  atEnd: readonly (Int32Array | undefined)[],
  fresh: () => number,
): (block: number) => Int32Array {
  const size =
    2 +
    blocks.reduce((most, { insts }) => insts.reduce((max, { index, op }) => (op === 'call' ? max : Math.max(max, index ?? -1)), most), -1);
  const changes = loops.map(({ blocks: inside }): Changes => changesIn([...inside].map((each) => blocks[each]!)));
  return (block) => {
    const known = before[block]!.map((each) => atEnd[each]).filter((each) => each !== undefined);
    if (known.length === 0) return Int32Array.from({ length: size }, fresh);
    if (before[block]!.length === 1) return known[0]!.slice();
    const isHeader = innermost[block]! >= 0 && loops[innermost[block]!]!.header === block;
    const change = isHeader ? changes[innermost[block]!]! : undefined;
    return known[0]!.map((version, i) => {
      const isChanged = change && (i === 0 || change.calls || change.globals.has(i - 1));
      return isChanged || known.some((each) => each[i] !== version) ? fresh() : version;
    });
  };
}

function changesIn(blocks: readonly Block[]): Changes {
  const changes: Changes = { globals: new Set(), calls: false };
  for (const { insts } of blocks)
    for (const { op, index } of insts) {
      if (op === 'call') changes.calls = true;
      if (op === 'global.set') changes.globals.add(index!);
    }
  return changes;
}

function numberBlock(n: Numbering, block: Block): void {
  for (const param of block.params) n.homes[param] = n.block;
  n.out = [];
  n.recent = [];
  for (const inst of block.insts) {
    keep(n, numberInst(n, inst));
    if (!isMisaligned(n, inst)) continue;
    // Code makes a trap by such an access, behind which nothing is reached.
    n.isFlowChanged ||= block.end.op !== 'trap';
    block.end = { op: 'trap' };
    break;
  }
  block.insts = n.out;
  mapEndUses(block.end, n.replaced.of);
  block.end = simplerEnd(n, block.end);
}

/** Whether an instruction is an atomic access at a constant address that is no multiple of its bytes, which traps. */
function isMisaligned({ rewriter }: Numbering, { op, args, offset }: Inst): boolean {
  if (offset === undefined || !op.includes('.atomic.')) return false;
  const address = rewriter.bits(args[0]!);
  const [, narrow] = /(?:load|store)(\d+)/.exec(op) ?? [];
  return address !== undefined && (Number(address) + offset) % (Number(narrow ?? op.slice(1, 3)) / 8) !== 0;
}

function keep(n: Numbering, inst: Inst | undefined): void {
  if (!inst) return;
  n.out.push(inst);
  if (inst.result === undefined) return;
  n.definitions[inst.result] = inst;
  n.homes[inst.result] = n.block;
}

/** The instruction in its simplest form; undefined where its result is another value. */
function numberInst(n: Numbering, given: Inst): Inst | undefined {
  for (let i = 0; i < given.args.length; i++) given.args[i] = n.replaced.of(given.args[i]!);
  if (effectOf(given.op) === 'constant') return replace(n, given, n.constants.of(given));
  let inst = given;
  for (let simpler = simplerForm(n.rewriter, inst); simpler; simpler = simplerForm(n.rewriter, inst)) {
    if ('value' in simpler) return replace(n, given, simpler.value);
    inst = { ...simpler.inst, args: [...simpler.inst.args], result: given.result };
  }
  const computation = computationIn(n, inst);
  if (computation === undefined) return inst;
  const known = n.known.get(computation);
  if (known !== undefined && n.dominates(n.homes[known]!, n.block)) return replace(n, given, known);
  const isLoad = effectOf(inst.op) === 'load';
  const outlived = isLoad ? n.recent.find(({ load }) => isSameButVersion(load, computation)) : undefined;
  n.known.set(computation, outlived?.value ?? inst.result!);
  if (outlived) return replace(n, given, outlived.value);
  if (isLoad) noteAccess(n, inst, computation, inst.result!);
  return inst;
}

function replace(n: Numbering, { result }: Inst, by: Value): undefined {
  n.replaced.set(result!, by);
  return undefined;
}

/** What an instruction computes; undefined for one that has to be done, whose effect is noted. Versions count from 1. */
function computationIn(n: Numbering, inst: Inst): Computation | undefined {
  const { op, args, index, result } = inst;
  switch (effectOf(op)) {
    case 'pure':
    case 'trap':
      return computationOf(inst, n.fn.types[result!]!, 0);
    case 'load':
      return computationOf(inst, n.fn.types[result!]!, n.versions[0]!);
    case 'global.get':
      return computationOf(inst, n.fn.types[result!]!, n.versions[index! + 1]!);
    case 'store':
      noteStore(n, inst);
      return undefined;
    case 'global.set': {
      const [value] = args;
      n.versions[index! + 1] = n.nextVersion++;
      const read = { op: 'global.get', args: [], result: value!, index: index! };
      n.known.set(computationOf(read, n.fn.types[value!]!, n.versions[index! + 1]!), value!);
      return undefined;
    }
    case 'call':
      n.recent = [];
      for (let i = 0; i < n.versions.length; i++) n.versions[i] = n.nextVersion++;
      return undefined;
    case 'constant':
      return bug(`a constant v${result} among numbered values`);
  }
}

const loadOfStore: Readonly<Record<string, string>> = {
  'i32.store': 'i32.load',
  'i64.store': 'i64.load',
  'f32.store': 'f32.load',
  'f64.store': 'f64.load',
  'v128.store': 'v128.load',
};

/** Notes a value that is in memory: what an access has read or stored. */
function noteAccess(n: Numbering, access: Inst, load: Computation, value: Value): void {
  if (n.recent.length < maxRecent) n.recent.push({ load, value, ...placeOf(n, access, value) });
}

/** Where an access is, and the bytes from there on that it accesses at most. */
function placeOf({ rewriter, fn }: Numbering, { args, offset }: Inst, value: Value): Pick<Access, 'root' | 'from' | 'bytes'> {
  const address = args[0]!;
  const added = rewriter.definition(address);
  const c = added?.op === 'i32.add' ? rewriter.bits(added.args[1]!) : undefined;
  const [root, distance] = c === undefined ? [address, 0] : [added!.args[0]!, Number(c)];
  return { root, from: (distance + offset!) % 2 ** 32, bytes: bytesOfType(fn.types[value]!) };
}

/**
 * Memory has a new version, in which the stored value is known; what accesses of other bytes have read or stored outlives the store. Addresses of one root
 * differ by a constant modulo 2^32, and no access reaches beyond 2^32.
 */
function noteStore(n: Numbering, inst: Inst): void {
  n.versions[0] = n.nextVersion++;
  const { op, args } = inst;
  if (inst.offset === undefined || op.includes('atomic')) {
    n.recent = [];
    return;
  }
  const stored = args[1]!;
  const { root, from, bytes } = placeOf(n, inst, stored);
  n.recent = n.recent.filter(
    (each) => each.root === root && (each.from - from + 2 ** 32) % 2 ** 32 >= bytes && (from - each.from + 2 ** 32) % 2 ** 32 >= each.bytes,
  );
  const read = loadOfStore[op];
  if (!read) return;
  const load = computationOf({ ...inst, op: read, args: [args[0]!], result: stored }, n.fn.types[stored]!, n.versions[0]!);
  n.known.set(load, stored);
  noteAccess(n, inst, load, stored);
}

const isSameEdge = (a: Edge, b: Edge): boolean => a.block === b.block && a.args.every((arg, i) => arg === b.args[i]);

/** An end whose condition is known or simpler. */
function simplerEnd(n: Numbering, end: End): End {
  if (end.op === 'branch') {
    const bits = n.rewriter.bits(end.cond);
    if (bits !== undefined) return oneWay(n, bits === 0n ? end.else : end.then);
    if (isSameEdge(end.then, end.else)) return oneWay(n, end.then);
    const { cond, isOpposite } = conditionOf(n.rewriter, end.cond);
    // The side that is seldom taken is the first one.
    if (isOpposite && end.isRare) return end;
    if (isOpposite) return { ...end, cond, then: end.else, else: end.then };
    end.cond = cond;
    return end;
  }
  if (end.op !== 'switch') return end;
  const bits = n.rewriter.bits(end.index);
  if (bits !== undefined) return oneWay(n, end.edges[Math.min(Number(bits), end.edges.length - 1)]!);
  return end.edges.every((edge) => isSameEdge(edge, end.edges[0]!)) ? oneWay(n, end.edges[0]!) : end;
}

function oneWay(n: Numbering, to: Edge): End {
  n.isFlowChanged = true;
  return { op: 'jump', to };
}
