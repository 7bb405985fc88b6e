/**
 * The threads of one warp through a kernel, without running it: the form of every value, and for every block the lanes that execute it
 * together. Threads reconverge where the profiler's model has them do so, at the immediate post-dominator of the branch at which they diverged.
 */
import { bitsOf, edgesOf, type InstOf, instOf, isInt, isPointer, operandsOf, specOf, type Value } from '../ir/index.ts';
import {
  congruenceOf,
  constantForm,
  type Form,
  haveSameShape,
  joinCongruence,
  type Linear,
  linear,
  opaque,
  sameForm,
  sameTerms,
  unknownForm,
} from './forms.ts';
import { lanesOfBlock, lanesOnEdges } from './lanes.ts';
import type { Warp } from './launch.ts';
import { formOfPure, type Surroundings } from './operations.ts';
import { baseForm, loadForm, sregForm } from './sources.ts';
import { intervalAt, type Lanes, type Prepared, type State, seenFrom, unknownOf, type WarpForms } from './state.ts';

/** The most turns of the search, behind which nothing is claimed. */
const maxTurns = 60;

/** The forms of a warp. */
export function formsOfWarp(all: Prepared, warp: Warp): WarpForms {
  const { kernel, cfg } = all;
  const state: State = {
    all,
    warp,
    forms: new Array(kernel.insts.length),
    unknowns: new Map(),
    lanes: new Array(kernel.blocks.length),
    sure: new Uint8Array(kernel.blocks.length).fill(1),
    open: new Uint8Array(kernel.blocks.length),
    changed: true,
  };
  let turns = 0;
  for (; state.changed && turns < maxTurns; turns++) {
    state.changed = false;
    for (const id of cfg.order) visitBlock(state, id);
  }
  const isDone = !state.changed;
  const of = (value: Value): Form => (isDone ? (state.forms[value] ?? opaque('other')) : opaque('other'));
  return {
    warp,
    of,
    at: (value, block) => (isDone ? seenFrom(state, value, block) : opaque('other')),
    lanesOf: (block) => (isDone ? (state.lanes[block] ?? 'none') : 'some'),
    isSure: (block) => isDone && state.sure[block] === 1,
    isOnce: (block) => isDone && state.open[block] === 0 && all.loops.innermost[block]! < 0,
  };
}

function visitBlock(state: State, id: number): void {
  const found = lanesOfBlock(state, id);
  if (found === undefined || found === 'none') return;
  const before = state.lanes[id];
  if (before !== found) {
    state.lanes[id] = before === undefined ? found : 'some';
    state.changed ||= before !== 'some';
  }
  const block = state.all.kernel.blocks[id]!;
  block.params.forEach((param, i) => void set(state, param, formOfParam(state, id, param, i)));
  for (const value of block.body) set(state, value, formOf(state, value, id));
}

function set(state: State, value: Value, form: Form | undefined): void {
  if (!form) return;
  const before = state.forms[value];
  if (before && sameForm(before, form)) return;
  state.forms[value] = form;
  state.changed = true;
}

// ── values ──

interface Incoming {
  readonly form: Form;
  readonly lanes: Lanes;
}

function formOfParam(state: State, id: number, param: Value, index: number): Form | undefined {
  const { kernel, cfg, uniformity, loops } = state.all;
  const incoming: Incoming[] = [];
  for (const from of new Set(cfg.predecessors[id])) {
    const lanes = lanesOnEdges(state, from, id);
    if (lanes === undefined || lanes === 'none') continue;
    for (const { block, args } of edgesOf(kernel.blocks[from]!.end))
      if (block.id === id && state.forms[args[index]!] !== undefined) incoming.push({ form: seenFrom(state, args[index]!, from), lanes });
  }
  const [first, ...others] = incoming;
  if (!first) return undefined;
  if (others.every(({ form }) => sameForm(form, first.form))) return first.form;
  const isHeader = loops.loops.some(({ header }) => header === id);
  if (uniformity.mixed[param] && !isHeader) return mixedForm(incoming);
  if (uniformity.mixed[param] || incoming.some(({ form }) => form.kind !== 'linear'))
    return incoming.some(({ form }) => form.kind === 'opaque' && form.from === 'memory') ? opaque('memory') : opaque('other');
  return carriedForm(
    state,
    param,
    id,
    incoming.map(({ form }) => form as Linear),
  );
}

/** What lanes bring that come from different sides of a branch. */
function mixedForm(incoming: readonly Incoming[]): Form {
  const [first] = incoming;
  const forms = incoming.map(({ form }) => form);
  if (forms.some((form) => form.kind !== 'linear' || !sameTerms(form.terms, (first!.form as Linear).terms)))
    return forms.some((form) => form.kind === 'opaque' && form.from === 'memory') ? opaque('memory') : opaque('other');
  if (incoming.some(({ lanes }) => typeof lanes !== 'number')) return opaque('other');
  const own = (lane: number): Linear => (incoming.find(({ lanes }) => (((lanes as number) >>> lane) & 1) === 1) ?? first!).form as Linear;
  const { lanes, terms } = first!.form as Linear;
  return linear(
    lanes.map((_, lane) => own(lane).lanes[lane]!),
    terms,
    forms.every((form) => (form as Linear).isSure),
  );
}

/** A number that paths give different values which differ by the same in all lanes: an unknown number and the distances of the lanes. */
function carriedForm(state: State, param: Value, block: number, forms: readonly Linear[]): Form {
  const [first, ...others] = forms as [Linear, ...Linear[]];
  if (!others.every((form) => haveSameShape(form, first))) return opaque('other');
  const start = first.lanes[0]!;
  const numbers = forms.map((form) => {
    const { modulus, residue } = congruenceOf(form.terms);
    return { modulus, residue: residue + form.lanes[0]! };
  });
  const { modulus, residue } = numbers.reduce(joinCongruence);
  const unknown = unknownOf(state, `${param}`, () => ({ ...intervalAt(state, param, block), modulus, residue, isFixed: false }));
  // Each turn can only weaken what is known of it.
  const joined = joinCongruence(unknown, { modulus, residue });
  const kept = joined.modulus === unknown.modulus && joined.residue === unknown.residue ? unknown : { ...unknown, ...joined };
  state.unknowns.set(`${param}`, kept);
  const lanes = first.lanes.map((lane) => lane - start);
  return linear(
    lanes,
    new Map([[kept, 1]]),
    forms.every(({ isSure }) => isSure),
  );
}

function formOf(state: State, value: Value, block: number): Form | undefined {
  const { kernel } = state.all;
  const inst = instOf(kernel, value);
  switch (inst.op) {
    case 'const':
      return isInt(inst.type) || isPointer(inst.type) ? constantOf(state, inst) : opaque('other');
    case 'sreg':
      return sregForm(state, inst);
    case 'param':
    case 'variable':
      return baseForm(state, inst);
    case 'load':
      return loadForm(state, inst, value, block);
    case 'atomic':
    case 'cas':
      return opaque('memory');
    default:
      break;
  }
  if (inst.type === 'void') return undefined;
  const operands = operandsOf(inst);
  if (operands.some((operand) => state.forms[operand] === undefined && state.all.home[operand]! >= 0)) return undefined;
  if (specOf(inst.op).effect !== 'pure') return fromMemory(state, operands, block) ? opaque('memory') : opaque('other');
  return formOfPure(inst, operands, surroundingsOf(state, value, block));
}

const fromMemory = (state: State, operands: readonly Value[], block: number): boolean =>
  operands.some((operand) => {
    const form = seenFrom(state, operand, block);
    return form.kind === 'opaque' && form.from === 'memory';
  });

function constantOf({ warp }: State, { bits, type }: InstOf<'const'>): Form {
  if (type === 'i1') return { kind: 'truth', lanes: new Array<number>(warp.width).fill(Number(bits)), isUniform: true, isSure: true };
  return constantForm(Number(BigInt.asIntN(isPointer(type) ? 64 : bitsOf(type), bits)), warp.width);
}

function surroundingsOf(state: State, value: Value, block: number): Surroundings {
  const { kernel, ranges, zeros } = state.all;
  const unknown = (isFixed: boolean) =>
    unknownForm(
      unknownOf(state, `${value}`, () => ({
        ...intervalAt(state, value, block),
        modulus: 2 ** Math.min(zeros[value]!, 30),
        residue: 0,
        isFixed,
      })),
      state.warp.width,
    );
  return {
    typeOf: (operand) => kernel.insts[operand]!.type,
    of: (operand) => seenFrom(state, operand as Value, block),
    isBounded: (spread) => {
      const { type } = kernel.insts[value]!;
      const { min, max } = ranges.at(value, block);
      return Number(max - min) + spread < 2 ** bitsOf(type);
    },
    unknown,
    natural: (max, isFixed) => unknownOf(state, `${value}`, () => ({ min: 0, max, modulus: 1, residue: 0, isFixed })),
  };
}
