/** Vectors, structs and arrays as registers: most of these instructions only rename parts. Source: LLVM Language Reference. */
import type { InstructionOf, Value } from '../../bitcode/index.ts';
import { spell } from '../../bitcode/index.ts';
import { partRange, partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { classOf, type FunctionState } from '../state.ts';
import { moveType, operand, partsFor, registersFor } from '../values.ts';
import { compareIntegers, selected } from './integers.ts';

export function extractValue(s: FunctionState, inst: InstructionOf<'extractvalue'>): readonly string[] {
  const { first, count } = partRange(inst.aggregate.type, inst.path);
  return partsFor(s, inst.aggregate).slice(first, first + count);
}

export function insertValue(s: FunctionState, inst: InstructionOf<'insertvalue'>): readonly string[] {
  const { first, count } = partRange(inst.type, inst.path);
  const parts = [...partsFor(s, inst.aggregate)];
  parts.splice(first, count, ...registersFor(s, inst.value));
  return parts;
}

const constantIndex = (index: Value): number | undefined =>
  index.kind === 'constant' && index.form === 'int' ? Number(index.value) : undefined;

/** Elements are chosen one after the other, so longer vectors are refused. */
const maxChosen = 64;

export function extractElement(s: FunctionState, inst: InstructionOf<'extractelement'>): readonly string[] {
  const { vector, index } = inst;
  const each = partsOf(inst.type).length;
  const elements = elementsOf(partsFor(s, vector), each);
  const n = constantIndex(index);
  if (n !== undefined) return elements[n] ?? elements[0]!;
  if (elements.length > maxChosen || each !== 1) return refuse(`an element of ${spell(vector.type)} by a variable index`);
  const at = operand(s, index);
  const { part } = partsOf(inst.type)[0]!;
  const chosen = elements
    .slice(1)
    .reduce(
      (found, [element], i) => selected(s, classOf(part), moveType(part), compareIndex(s, index, at, i + 1), element!, found),
      elements[0]![0]!,
    );
  return [chosen];
}

export function insertElement(s: FunctionState, inst: InstructionOf<'insertelement'>): readonly string[] {
  const { value, index } = inst;
  const each = partsOf(value.type).length;
  const elements = elementsOf(partsFor(s, inst.vector), each);
  const own = registersFor(s, value);
  const n = constantIndex(index);
  if (n !== undefined) return elements.flatMap((element, i) => (i === n ? own : element));
  if (elements.length > maxChosen || each !== 1) return refuse(`an element of ${spell(inst.type)} by a variable index`);
  const at = operand(s, index);
  const { part } = partsOf(value.type)[0]!;
  return elements.map(([element], i) => selected(s, classOf(part), moveType(part), compareIndex(s, index, at, i), own[0]!, element!));
}

function compareIndex(s: FunctionState, index: Value, at: string, n: number): string {
  return index.type.kind === 'int' ? compareIntegers(s, 'eq', index.type.bits, at, String(n)) : refuse('an index that is no integer');
}

/** Elements of both operands by a constant mask. */
export function shuffleVector(s: FunctionState, inst: InstructionOf<'shufflevector'>): readonly string[] {
  const { a, b, mask } = inst;
  const count = a.type.kind === 'vector' ? a.type.count : refuse('a shuffle of scalars');
  const each = partsOf(a.type).length / count;
  const elements = [...elementsOf(partsFor(s, a), each), ...elementsOf(partsFor(s, b), each)];
  return maskOf(mask).flatMap((n) => elements[n] ?? elements[0]!);
}

/** The elements that a mask names; undefined ones may be any. */
function maskOf(mask: Value): number[] {
  if (mask.kind !== 'constant' || mask.type.kind !== 'vector') return refuse('a shuffle by a variable mask');
  if (mask.form === 'null' || mask.form === 'undef' || mask.form === 'poison') return Array.from({ length: mask.type.count }, () => 0);
  if (mask.form !== 'aggregate') return refuse('a shuffle by a variable mask');
  return mask.elements.map((element) => (element.kind === 'constant' && element.form === 'int' ? Number(element.value) : 0));
}

const elementsOf = (parts: readonly string[], each: number): string[][] =>
  Array.from({ length: parts.length / each }, (_, i) => parts.slice(i * each, (i + 1) * each));

/** A selection; the condition of a vector may have an element for each of its own. */
export function selectBetween(s: FunctionState, inst: InstructionOf<'select'>): readonly string[] {
  const [conditions, a, b] = [partsFor(s, inst.condition), registersFor(s, inst.a), registersFor(s, inst.b)];
  const each = inst.condition.type.kind === 'vector' ? a.length / conditions.length : a.length;
  return partsOf(inst.type).map(({ part }, i) => {
    const condition = conditions[Math.floor(i / each)]!;
    return selected(s, classOf(part), moveType(part), condition, a[i]!, b[i]!);
  });
}

/** A value of which nothing is known becomes one fixed value, which its registers are. */
export const freeze = (s: FunctionState, inst: InstructionOf<'freeze'>): readonly string[] => partsFor(s, inst.value);

/** Parts of a vector's elements, with the type of the elements. */
export function mapElements(s: FunctionState, values: readonly Value[], compute: (operands: readonly string[]) => string): string[] {
  const lists = values.map((value) => partsFor(s, value));
  return lists[0]!.map((_, i) => compute(lists.map((list) => list[i]!)));
}
