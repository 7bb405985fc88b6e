/**
 * What a function that may come to call itself keeps across such calls: the registers that are read after a call and were written before it,
 * and the parameters and `.param` variables whose bytes are. Source: Aho et al., "Compilers", 9.2.5 (live-variable analysis).
 */
import {
  type CheckedFunction,
  type CheckedInstruction,
  laneOf,
  lookUp,
  type Operand,
  partsOf,
  type Register,
  type Scope,
} from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { ownedBy } from './cells.ts';
import { leave, type SourceBlock } from './flow-graph.ts';

/** A register, or the memory of an argument or a result. */
type Place = Register | Variable;

export interface Kept {
  /** By call: the registers whose values are needed after it. */
  readonly registers: ReadonlyMap<CheckedInstruction, readonly Register[]>;
  /** Parameters, results and `.param` variables that have memory in each frame. */
  readonly variables: ReadonlySet<Variable>;
}

interface Effect {
  readonly reads: readonly Place[];
  /** Written whole, so that no earlier value is seen afterwards. */
  readonly writes: readonly Place[];
}

/** What is needed after the calls that `isSite` accepts. */
export function keptAcross(fn: CheckedFunction, blocks: readonly SourceBlock[], isSite: (item: CheckedInstruction) => boolean): Kept {
  const begins = firstWrites(blocks);
  const effects = new Map(blocks.map((block) => [block, block.code.map((item) => effectOf(item, begins))]));
  const ends = new Map(blocks.map((block) => [block, readsOfEnd(fn, block)]));
  const liveIn = liveAtStarts(blocks, effects, ends);
  const registers = new Map<CheckedInstruction, readonly Register[]>();
  const variables = new Set<Variable>(ownedBy(fn));
  for (const block of blocks) {
    const live = liveAtEnd(block, liveIn, ends.get(block)!);
    for (let i = block.code.length - 1; i >= 0; i--) {
      const item = block.code[i]!;
      const effect = effects.get(block)![i]!;
      if (isSite(item)) {
        const needed = [...live].filter((place) => !effect.writes.includes(place));
        registers.set(item, needed.filter(isRegister));
        for (const place of needed) if (!isRegister(place)) variables.add(place);
      }
      apply(live, effect);
    }
  }
  return { registers, variables };
}

const isRegister = (place: Place): place is Register => 'declared' in place;

function liveAtStarts(
  blocks: readonly SourceBlock[],
  effects: ReadonlyMap<SourceBlock, readonly Effect[]>,
  ends: ReadonlyMap<SourceBlock, readonly Place[]>,
): Map<number, Set<Place>> {
  const liveIn = new Map(blocks.map(({ index }) => [index, new Set<Place>()]));
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false;
    for (const block of [...blocks].reverse()) {
      const live = liveAtEnd(block, liveIn, ends.get(block)!);
      for (const effect of [...effects.get(block)!].reverse()) apply(live, effect);
      if (live.size > liveIn.get(block.index)!.size) hasGrown = true;
      liveIn.set(block.index, live);
    }
  }
  return liveIn;
}

function liveAtEnd({ end }: SourceBlock, liveIn: ReadonlyMap<number, ReadonlySet<Place>>, reads: readonly Place[]): Set<Place> {
  const next = [...(end.table?.to ?? [end.to]), ...(end.guard ? [end.next] : [])];
  return new Set([...reads, ...next.flatMap((to) => [...(liveIn.get(to) ?? [])])]);
}

function apply(live: Set<Place>, { reads, writes }: Effect): void {
  for (const place of writes) live.delete(place);
  for (const place of reads) live.add(place);
}

/** A branch reads its guard and its index; a return, the results. */
function readsOfEnd({ fn, scope }: CheckedFunction, { end }: SourceBlock): Place[] {
  const to = [...(end.table?.to ?? [end.to]), ...(end.guard ? [end.next] : [])];
  const results = to.includes(leave) ? fn.results.flatMap((result) => placesNamed(result.name, scope)) : [];
  const index = end.table ? placesIn(end.table.index.node, end.table.scope) : [];
  return [...(end.guard ? [end.guard.register] : []), ...index, ...results];
}

function effectOf(item: CheckedInstruction, begins: ReadonlySet<CheckedInstruction>): Effect {
  const { match, scope, guard, call } = item;
  const reads: Place[] = guard ? [guard.register] : [];
  const writes: Place[] = [];
  const isStore = match.instruction.opcode === 'st';
  for (const { node, slot } of call ? [] : match.operands) {
    const places = placesIn(node, scope);
    if (slot.isDestination && node.kind !== 'address') writes.push(...places);
    else if (isStore && node.kind === 'address') {
      reads.push(...places.filter(isRegister));
      if (begins.has(item)) writes.push(...places.filter((place) => !isRegister(place)));
    } else reads.push(...places);
  }
  if (call) {
    reads.push(...call.args.flatMap((arg) => placesIn(arg, scope)));
    if (call.choice) reads.push(...placesIn(call.choice.among.register, scope));
    writes.push(...call.results.flatMap((result) => placesIn(result, scope)));
  }
  return guard ? { reads, writes: [] } : { reads, writes };
}

/**
 * The stores that begin a use of a `.param` variable, as compilers write calls: all accesses are in one block, and the first is this one. What
 * such a variable held before is not seen.
 */
function firstWrites(blocks: readonly SourceBlock[]): Set<CheckedInstruction> {
  const first = new Map<Variable, { readonly item: CheckedInstruction; readonly block: SourceBlock; isBeginning: boolean }>();
  for (const block of blocks)
    for (const item of block.code)
      for (const place of accessedMemory(item)) {
        const known = first.get(place);
        const isWrite = !item.guard && item.match.instruction.opcode === 'st';
        if (!known) first.set(place, { item, block, isBeginning: isWrite });
        else if (known.block !== block) known.isBeginning = false;
      }
  return new Set([...first.values()].flatMap(({ item, isBeginning }) => (isBeginning ? [item] : [])));
}

function accessedMemory({ match, scope, call }: CheckedInstruction): Variable[] {
  const nodes = call ? [...call.args, ...call.results] : match.operands.map(({ node }) => node);
  return nodes.flatMap((node) => placesIn(node, scope)).flatMap((place) => (isRegister(place) ? [] : [place]));
}

/** The registers and the memory of arguments that an operand names. */
function placesIn(node: Operand, scope: Scope): Place[] {
  const found: Place[] = [];
  const work: Operand[] = [node];
  for (let at = work.pop(); at; at = work.pop()) {
    const lane = at.kind === 'element' ? laneOf(at, scope) : undefined;
    if (lane) found.push(lane);
    else if (at.kind === 'name' || at.kind === 'index') found.push(...placesNamed(at.name, scope));
    work.push(...partsOf(at));
  }
  return found;
}

function placesNamed(name: string, scope: Scope): Place[] {
  const symbol = lookUp(scope, name);
  if (symbol?.kind === 'register') return [symbol.register];
  if (symbol?.kind === 'vector') return [...symbol.lanes];
  if (symbol?.kind === 'param') return [symbol.variable];
  return symbol?.kind === 'variable' && symbol.variable.space === 'param' ? [symbol.variable] : [];
}
