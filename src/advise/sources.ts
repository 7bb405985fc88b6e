/** The forms of what a thread starts from: special registers, parameters, variables, and what it loads. */
import { bitsOf, givenValue, type InstOf, isInt, isPointer, spaceOf, type Value } from '../ir/index.ts';
import {
  addForms,
  constantForm,
  type Form,
  isConcrete,
  isUniform,
  type Linear,
  linear,
  type Opaque,
  opaque,
  type Unknown,
  unknownForm,
} from './forms.ts';
import { wrapped } from './operations.ts';
import { intervalAt, type State, seenFrom, unknownOf } from './state.ts';

/** The form of a special register. */
export function sregForm(state: State, { name }: InstOf<'sreg'>): Form {
  const { warp, all } = state;
  const { block } = all.launch;
  const [kind = '', axis = ''] = name.split('.');
  if (name === 'tid.linear' || name === 'laneid' || name === 'warpid' || name === 'nwarpid') return numberForm(state, name);
  if (kind === 'tid') {
    const lanes = warp[axis as 'x' | 'y' | 'z'];
    if (block) return linear(lanes);
    // Threads that follow one another along x: the first one of a warp is a multiple of 32.
    const start = unknownForm(namedUnknown(state, name, axis === 'x' ? 32 : 1), warp.width);
    return start.kind === 'linear' ? addForms(start, linear(lanes) as Linear) : start;
  }
  if (kind === 'gid') {
    const of = (part: 'ctaid' | 'ntid' | 'tid'): Form => sregForm(state, { name: `${part}.${axis}` } as InstOf<'sreg'>);
    const [ctaid, ntid, tid] = [of('ctaid'), of('ntid'), of('tid')];
    if (ctaid.kind !== 'linear' || ntid.kind !== 'linear' || tid.kind !== 'linear') return opaque('other');
    const starts = isConcrete(ntid)
      ? scaled(ctaid, ntid.lanes[0]!)
      : unknownForm(namedUnknown(state, `${name} start`, axis === 'x' ? 32 : 1), warp.width);
    const sum = starts.kind === 'linear' ? addForms(starts, tid) : starts;
    return wrapped(sum, 'i32', { isBounded: () => false });
  }
  if (kind === 'ctaid' && warp.of) return constantForm(warp.of['xyz'.indexOf(axis)]!, warp.width);
  const interval = all.facts.sreg(name);
  if (interval && interval.min === interval.max) return constantForm(Number(interval.min), warp.width);
  return unknownForm(namedUnknown(state, name, 1), warp.width);
}

const scaled = (form: Linear, by: number): Linear | Opaque =>
  linear(
    form.lanes.map((lane) => lane * by),
    new Map([...form.terms].map(([unknown, coefficient]) => [unknown, coefficient * by] as const)),
    form.isSure,
  );

function numberForm(state: State, name: 'tid.linear' | 'laneid' | 'warpid' | 'nwarpid'): Form {
  const { warp, all } = state;
  const lanes = Array.from({ length: warp.width }, (_, lane) => lane);
  if (name === 'laneid') return linear(lanes);
  if (warp.index !== undefined && all.launch.block) {
    const [x, y, z] = all.launch.block;
    if (name === 'nwarpid') return constantForm(Math.ceil((x * y * z) / 32), warp.width);
    return name === 'warpid' ? constantForm(warp.index, warp.width) : linear(lanes.map((lane) => warp.index! * 32 + lane));
  }
  const unknown = unknownForm(namedUnknown(state, name, name === 'tid.linear' ? 32 : 1), warp.width);
  return name === 'tid.linear' && unknown.kind === 'linear' ? addForms(unknown, linear(lanes) as Linear) : unknown;
}

/** The unknown number of a special register, a multiple of `modulus`; those of a thread are not the same in the whole block. */
const namedUnknown = (state: State, name: string, modulus: number): Unknown =>
  unknownOf(state, name, () => {
    const interval = name.includes(' ') ? undefined : state.all.facts.sreg(name as InstOf<'sreg'>['name']);
    const [min, max] = interval ? [Number(interval.min), Number(interval.max)] : [0, 2 ** 32 - 1];
    return { min, max, modulus, residue: 0, isFixed: !/^(tid|warpid|gid)/.test(name) };
  });

/** Buffers and variables: an unknown address that is a multiple of their alignment. Two of the same name are one. */
export function baseForm(state: State, inst: InstOf<'param'> | InstOf<'variable'>): Form {
  const { kernel, launch } = state.all;
  if (!isPointer(inst.type)) return opaque('other');
  if (inst.op === 'variable') {
    const align = kernel.variables.find(({ name }) => name === inst.name)?.align ?? 1;
    return unknownForm(addressUnknown(state, `variable ${inst.name}`, align, 2 ** 20), state.warp.width);
  }
  const param = kernel.params[inst.index]!;
  const align = spaceOf(inst.type) === 'global' && !param.memory ? 256 : Math.max(1, param.memory?.align ?? param.align);
  const form = unknownForm(
    addressUnknown(state, `param ${inst.index}`, align, spaceOf(inst.type) === 'shared' ? 2 ** 20 : 2 ** 48),
    state.warp.width,
  );
  const offset = launch.offsetOf?.(inst.index) ?? 0;
  return form.kind === 'linear' && offset > 0 ? addForms(form, constantForm(offset, state.warp.width) as Linear) : form;
}

/**
 * The address of a buffer or a variable. An access whose address is before the start of memory fails, so that a start away from 0 leaves out no
 * access that is executed.
 */
const addressUnknown = (state: State, name: string, modulus: number, max: number): Unknown =>
  unknownOf(state, name, () => ({ min: 2 ** 18, max, modulus, residue: 0, isFixed: true }));

/** The form of what a load gives; undefined while its address is not known. */
export function loadForm(state: State, inst: InstOf<'load'>, value: Value, block: number): Form | undefined {
  const { kernel, facts } = state.all;
  const type = kernel.insts[inst.addr]!.type;
  if (state.forms[inst.addr] === undefined) return undefined;
  if (!isInt(inst.type) && !isPointer(inst.type)) return opaque('memory');
  if (isPointer(type) && spaceOf(type) === 'param') {
    const given = givenValue(kernel, facts, inst);
    if (given !== undefined) return constantForm(Number(BigInt.asIntN(bitsOf(inst.type), given)), state.warp.width);
  }
  const address = seenFrom(state, inst.addr, block);
  if (inst.volatile || address.kind !== 'linear' || !isUniform(address)) return opaque('memory');
  const isFixed =
    isPointer(type) &&
    (spaceOf(type) === 'param' || spaceOf(type) === 'constant') &&
    [...address.terms.keys()].every((each) => each.isFixed);
  return unknownForm(
    unknownOf(state, `${value}`, () => ({ ...intervalAt(state, value, block), modulus: 1, residue: 0, isFixed })),
    state.warp.width,
  );
}
