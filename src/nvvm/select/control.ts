/** Branches, switches and returns. Values that phis take are copied at the end of each predecessor, or on the edge. */
import type { Block, InstructionOf } from '../../bitcode/index.ts';
import { partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { classOf, emit, type FunctionState, newLabel, newRegister, place } from '../state.ts';
import { addressIn, moveType, operand, placeOf, registersFor } from '../values.ts';
import { compareIntegers } from './integers.ts';

/** The phis of a block. */
export const phisOf = (block: Block): InstructionOf<'phi'>[] =>
  block.body.filter((inst): inst is InstructionOf<'phi'> => inst.op === 'phi');

const labelOf = (s: FunctionState, block: Block): string => s.labels.get(block) ?? refuse('a branch to a block of another function');

/** A jump along an edge, with the copies for its phis. */
function jump(s: FunctionState, from: Block, to: Block): void {
  copyToPhis(s, from, to);
  emit(s, `bra.uni ${labelOf(s, to)}`);
}

/** The label to branch to for an edge: that of the block, or of code that copies first, which is appended to `edges`. */
function edgeLabel(s: FunctionState, from: Block, to: Block, edges: (() => void)[]): string {
  if (phisOf(to).length === 0) return labelOf(s, to);
  const label = newLabel(s);
  edges.push(() => {
    place(s, label);
    jump(s, from, to);
  });
  return label;
}

export function selectBranch(s: FunctionState, from: Block, inst: InstructionOf<'br' | 'condbr'>): void {
  if (inst.op === 'br') return jump(s, from, inst.target);
  const condition = operand(s, inst.condition);
  if (inst.ifTrue === inst.ifFalse) return jump(s, from, inst.ifTrue);
  const edges: (() => void)[] = [];
  emit(s, `@${condition} bra ${edgeLabel(s, from, inst.ifTrue, edges)}`);
  jump(s, from, inst.ifFalse);
  for (const make of edges) make();
}

/** Cases below this number are compared one after the other; more are halved first. */
const maxChain = 4;

/** A switch as a search by halves. */
export function selectSwitch(s: FunctionState, from: Block, inst: InstructionOf<'switch'>): void {
  const { type } = inst.condition;
  if (type.kind !== 'int' || type.bits > 64) return refuse('a switch over integers of more than 64 bits');
  const { bits } = type;
  const value = operand(s, inst.condition);
  const edges: (() => void)[] = [];
  const labels = new Map<Block, string>();
  const labelFor = (block: Block): string => {
    const label = labels.get(block) ?? edgeLabel(s, from, block, edges);
    labels.set(block, label);
    return label;
  };
  const cases = inst.cases
    .map(({ value: of, block }) => ({
      n: of.kind === 'constant' && of.form === 'int' ? of.value : refuse('a case that is no integer'),
      block,
    }))
    .sort((a, b) => (a.n < b.n ? -1 : a.n > b.n ? 1 : 0));
  const text = (n: bigint): string => String(bits === 32 || bits === 64 ? BigInt.asIntN(bits, n) : n);
  const search = (low: number, high: number): void => {
    if (high - low <= maxChain) {
      for (const { n, block } of cases.slice(low, high)) emit(s, `@${equals(s, bits, value, n)} bra ${labelFor(block)}`);
      emit(s, `bra ${labelFor(inst.defaultBlock)}`);
      return;
    }
    const middle = (low + high) >> 1;
    const lower = newLabel(s);
    emit(s, `@${compareIntegers(s, 'ult', bits, value, text(cases[middle]!.n))} bra ${lower}`);
    search(middle, high);
    place(s, lower);
    search(low, middle);
  };
  search(0, cases.length);
  for (const make of edges) make();
}

function equals(s: FunctionState, bits: number, value: string, n: bigint): string {
  if (bits !== 1) return compareIntegers(s, 'eq', bits, value, String(bits === 32 || bits === 64 ? BigInt.asIntN(bits, n) : n));
  const p = newRegister(s, 'p');
  emit(s, n === 0n ? `not.pred ${p}, ${value}` : `mov.pred ${p}, ${value}`);
  return p;
}

/** Copies the values of an edge to the registers of the phis as if at once: those that a later copy reads go through others. */
function copyToPhis(s: FunctionState, from: Block, to: Block): void {
  const copies = phisOf(to).flatMap((phi) => {
    const { value } = phi.incoming.find(({ block }) => block === from) ?? refuse('a phi without a value for a predecessor');
    const targets = s.parts.get(phi) ?? refuse('a phi without registers');
    const parts = partsOf(phi.type);
    const sources = phi.type.kind === 'pointer' ? [addressIn(s, placeOf(s, value), phiSpace(s, phi))] : registersFor(s, value);
    return targets.map((target, i) => ({ target, source: sources[i]!, part: parts[i]!.part }));
  });
  const moved = copies.filter(({ target, source }) => target !== source);
  const written = new Set<string>();
  // A source that an earlier copy overwrites is saved first.
  const saved = moved.map((copy) => {
    const isLost = written.has(copy.source);
    written.add(copy.target);
    if (!isLost) return copy;
    const temporary = newRegister(s, classOf(copy.part));
    return { ...copy, source: temporary, from: copy.source };
  });
  for (const copy of saved) if ('from' in copy) emit(s, `mov.${moveType(copy.part)} ${copy.source}, ${copy.from}`);
  for (const { target, source, part } of saved) emit(s, `mov.${moveType(part)} ${target}, ${source}`);
}

/** The space of a phi of pointers: its type's own, or the one that all its values have. */
const phiSpace = (s: FunctionState, phi: InstructionOf<'phi'>): number =>
  phi.type.kind === 'pointer' && phi.type.space !== 0 ? phi.type.space : s.spaces.of(phi);
