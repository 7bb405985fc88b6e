/** The accesses of a kernel to global and shared memory: what a warp requests, for all warps of a launch. */
import type { Span } from '../base/source.ts';
import { addressOf, bytesOf, type Inst, type Kernel, type PointerType, spaceOf, type Value } from '../ir/index.ts';
import type { Form, Linear } from './forms.ts';
import { warpThreads } from './launch.ts';
import { type AccessKind, type AccessShape, activeOf, requestOf, type Spread, type Steps, spreadOf, strideOf } from './requests.ts';
import type { WarpForms } from './state.ts';

/**
 * How certain the steps of a request are. `exact`: of every request; `most`: no request needs more; `assumed`: of a warp with all of its lanes
 * that is in one row of its block, where the launch or the width of its arithmetic is not known.
 */
export type Certainty = 'exact' | 'most' | 'assumed';

/** An access and its requests. */
export interface AdvisedAccess extends AccessShape {
  readonly value: Value;
  readonly block: number;
  readonly span: Span | undefined;
  /** What is moved, as IR writes it: `f32`, `v4.f32`. */
  readonly type: string;
  readonly spread: Spread;
  /** Bytes between lanes that follow one another, where that is one number. */
  readonly stride: number | undefined;
  /** Sectors or wavefronts of a request; undefined where the addresses are not known. */
  readonly steps: (Steps & { readonly certainty: Certainty }) | undefined;
}

/** The shape of an instruction that accesses global or shared memory. */
export function shapeOf(kernel: Kernel, inst: Inst): AccessShape | undefined {
  const addr = addressOf(inst);
  if (addr === undefined) return undefined;
  const space = spaceOf(kernel.insts[addr]!.type as PointerType);
  if (space !== 'global' && space !== 'shared') return undefined;
  const kind: AccessKind = inst.op === 'load' || inst.op === 'store' ? inst.op : 'atomic';
  const size = bytesOf(movedType(kernel, inst) as PointerType);
  return { space, kind, size, align: 'align' in inst ? (inst.align as number) : size };
}

const movedType = (kernel: Kernel, inst: Inst): string => (inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type);

/** The accesses of a kernel in the order of its text. `isKnown`: whether the shape of its blocks is. */
export function accessesOf(kernel: Kernel, warps: readonly WarpForms[], isKnown: boolean): AdvisedAccess[] {
  const found: AdvisedAccess[] = [];
  for (const { id, body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      const shape = shapeOf(kernel, inst);
      if (!shape) continue;
      const own = adviseOn(shape, addressOf(inst)!, id, warps, isKnown);
      if (own) found.push({ ...shape, ...own, value, block: id, span: kernel.locs[value], type: movedType(kernel, inst) });
    }
  return found.sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
}

type Found = Pick<AdvisedAccess, 'spread' | 'stride' | 'steps'>;

/** What one warp asks for. */
interface Asked {
  readonly form: Linear;
  readonly lanes: readonly number[];
  readonly isExact: boolean;
  /** Whether the warp executes the access exactly once. */
  readonly isOnce: boolean;
}

/** What all warps that execute an access have in common; undefined if none of them does. */
function adviseOn(shape: AccessShape, addr: Value, block: number, warps: readonly WarpForms[], isKnown: boolean): Found | undefined {
  const asked: Asked[] = [];
  for (const warp of warps) {
    const lanes = warp.lanesOf(block);
    if (lanes === 'none') continue;
    const form = warp.at(addr, block);
    if (form.kind !== 'linear') return { spread: spreadOfForm(form), stride: undefined, steps: undefined };
    const all = activeOf(-1, warp.warp.width);
    const active = lanes === 'some' ? all : activeOf(lanes, warp.warp.width);
    asked.push({
      form,
      lanes: active,
      isExact: lanes !== 'some' && warp.isSure(block) && form.isSure && isKnown,
      isOnce: warp.isOnce(block),
    });
  }
  return asked.length === 0 ? undefined : describe(shape, asked, isKnown);
}

function mean(all: readonly Steps[]): Steps {
  const of = (key: keyof Steps): number => all.reduce((sum, each) => sum + each[key], 0) / all.length;
  return { steps: of('steps'), least: of('least'), bytes: of('bytes') };
}

function spreadOfForm(form: Form): Spread {
  if (form.kind !== 'opaque') return 'unknown';
  // Where several lanes have the same multiple, they may still be side by side.
  return form.from === 'memory' ? 'gather' : form.from === 'stride' && form.rows >= warpThreads ? 'runtime' : 'unknown';
}

function describe(shape: AccessShape, asked: readonly Asked[], isKnown: boolean): Found {
  const offsetsOf = ({ form, lanes }: Asked): number[] => lanes.map((lane) => form.lanes[lane]!);
  const spreads = asked.map((each) => spreadOf(offsetsOf(each), shape.size));
  const spread = spreads.every((each) => each === spreads[0]) ? spreads[0]! : 'pattern';
  const strides = asked.map((each) => strideOf(offsetsOf(each)));
  const stride = strides.every((each) => each === strides[0]) ? strides[0] : undefined;
  const requests = asked.map(({ form, lanes }) => requestOf(shape, form, lanes));
  if (requests.some((each) => !each)) return { spread, stride, steps: undefined };
  const known = requests.map((each) => each!);
  const many = known.map(({ many: most }) => most).reduce((a, b) => (b.steps > a.steps ? b : a));
  const isOne = known.every(({ few, many: most }) => few.steps === many.steps && most.steps === many.steps);
  const isSure = isKnown && asked.every(({ form }) => form.isSure);
  if (!isSure) return { spread, stride, steps: { ...many, certainty: 'assumed' } };
  if (!asked.every(({ isExact }) => isExact) || known.some(({ few, many: most }) => few.steps !== most.steps))
    return { spread, stride, steps: { ...many, certainty: 'most' } };
  if (isOne) return { spread, stride, steps: { ...many, certainty: 'exact' } };
  // Where each warp has one request, the number of a request is the mean of all.
  const isMean = asked.every(({ isOnce }) => isOnce);
  return { spread, stride, steps: isMean ? { ...mean(known.map(({ few }) => few)), certainty: 'exact' } : { ...many, certainty: 'most' } };
}

/** Whether all accesses have numbers that hold for each of their requests. */
export const areExact = (accesses: readonly AdvisedAccess[]): boolean => accesses.every(({ steps }) => steps?.certainty === 'exact');
