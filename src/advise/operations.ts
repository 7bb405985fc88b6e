/** The form of an operation's result, by the forms of its operands. */
import { bitsOf, evalOp, type IcmpPredicate, type Inst, type InstOf, isEvaluableInst, isInt, type Type } from '../ir/index.ts';
import {
  addForms,
  type Form,
  intervalOf,
  isConcrete,
  isUniform,
  type Linear,
  linear,
  modulo,
  mulForms,
  type Opaque,
  opaque,
  residueOf,
  sameForm,
  sameTerms,
  scaleForm,
  spanOf,
  type Truth,
  type Unknown,
  withSure,
} from './forms.ts';

/** What an operation knows of its kernel. */
export interface Surroundings {
  readonly typeOf: (operand: number) => Type;
  readonly of: (operand: number) => Form;
  /** Whether an interval of the value says that its arithmetic wraps around in all lanes or in none. */
  readonly isBounded: (spread: number) => boolean;
  /** An unknown number for a result that all lanes share. */
  readonly unknown: (isFixed: boolean) => Linear | Opaque;
  /** An unknown natural number for it. */
  readonly natural: (max: number, isFixed: boolean) => Unknown;
}

type Binary = { readonly a: number; readonly b: number };
const binary = (inst: Inst): Binary => inst as unknown as Binary;

const truth = (lanes: readonly number[], isSure: boolean, uniform = false): Truth => ({
  kind: 'truth',
  lanes,
  isUniform: uniform || (lanes[0] !== -1 && lanes.every((lane) => lane === lanes[0])),
  isSure,
});

/** The form of a pure operation; `operands` are its operands in order. */
export function formOfPure(inst: Inst, operands: readonly number[], at: Surroundings): Form {
  const forms = operands.map(at.of);
  const found = forms.some((form) => form.kind === 'opaque') ? undefined : special(inst, forms, at);
  if (found) return found;
  if (inst.op === 'select') return selected(forms as [Form, Form, Form], at);
  if (inst.type === 'i1' && forms.every((form) => form.kind === 'truth')) return logic(inst, forms as Truth[]) ?? undecided(forms);
  const each = eachLane(inst, operands, forms, at);
  if (each) return each;
  if (forms.length > 0 && forms.every(isUniform)) return inst.type === 'i1' ? undecided(forms) : at.unknown(forms.every(isFixedForm));
  return inst.type === 'i1' ? undecidedEach(forms) : spread(inst, forms);
}

const isFixedForm = (form: Form): boolean => form.kind === 'linear' && [...form.terms.keys()].every(({ isFixed }) => isFixed);

/** A condition of which nothing is known but that all lanes have the same, if so. */
const undecided = (forms: readonly Form[]): Truth => {
  const width = forms.reduce((most, form) => (form.kind === 'opaque' ? most : form.lanes.length), 1);
  return truth(
    new Array<number>(width).fill(-1),
    forms.every((form) => form.kind !== 'opaque' && form.isSure),
    forms.every(isUniform),
  );
};

const undecidedEach = (forms: readonly Form[]): Form => {
  const from = forms.find((form) => form.kind === 'opaque');
  return from ?? { ...undecided(forms), isUniform: false };
};

/** What varies by lane in a way that has no form. */
function spread(inst: Inst, forms: readonly Form[]): Opaque {
  const known = forms.flatMap((form) => (form.kind === 'opaque' ? [form] : []));
  if (known.some(({ from }) => from === 'memory')) return opaque('memory');
  if (known.length > 0) return known.reduce((most, form) => (form.rows > most.rows ? form : most));
  const factor = forms.find((form) => !isUniform(form));
  if ((inst.op !== 'mul' && inst.op !== 'shl') || factor?.kind !== 'linear') return opaque('other');
  return opaque('stride', new Set(factor.lanes).size);
}

// ── forms with terms ──

function special(inst: Inst, forms: readonly Form[], at: Surroundings): Form | undefined {
  if (forms.some((form) => form.kind !== 'linear')) return undefined;
  const [a, b] = forms as readonly Linear[];
  switch (inst.op) {
    case 'add':
    case 'ptradd':
      return wrapped(addForms(a!, b!), inst.type, at);
    case 'sub':
      return wrapped(addForms(a!, b!, -1), inst.type, at);
    case 'mul': {
      const product = mulForms(a!, b!);
      return product && wrapped(product, inst.type, at);
    }
    case 'shl': {
      const by = constantOf(b!);
      return by === undefined || by < 0 || by >= bitsOf(inst.type)
        ? undefined
        : wrapped(withSure(scaleForm(a!, 2 ** by), b!.isSure), inst.type, at);
    }
    case 'zext':
      return extended(a!, bitsOf(at.typeOf(binary(inst).a)), false);
    case 'sext':
      return extended(a!, bitsOf(at.typeOf(binary(inst).a)), true);
    case 'trunc':
      return isConcrete(a!) ? undefined : wrapped(a!, inst.type, at);
    case 'ptrtoint':
    case 'inttoptr':
      return a;
    case 'icmp':
      return compared(inst, a!, b!);
    case 'smin':
    case 'smax':
    case 'umin':
    case 'umax':
      return extreme(inst, a!, b!);
    default:
      return withTerms(inst, a!, b, at);
  }
}

const constantOf = (form: Linear): number | undefined => (isConcrete(form) && isUniform(form) ? form.lanes[0] : undefined);

/** Masks, quotients and remainders by powers of two, where the unknown part is a multiple of one. */
function withTerms(inst: Inst, a: Linear, b: Linear | undefined, at: Surroundings): Form | undefined {
  if (!b || isConcrete(a) === isConcrete(b)) return undefined;
  const [form, other] = isConcrete(b) ? [a, b] : [b, a];
  const by = constantOf(other);
  switch (inst.op) {
    case 'and':
      return by !== undefined && by > 0 && isPowerOfTwo(by + 1) ? remainder(form, by + 1, b.isSure) : undefined;
    case 'urem':
    case 'srem':
      return form === a && by !== undefined && by > 0 && isPowerOfTwo(by) && intervalOf(form).min >= 0
        ? remainder(form, by, b.isSure)
        : undefined;
    case 'udiv':
    case 'sdiv':
      return form === a && by !== undefined && by > 0 && isPowerOfTwo(by) ? quotient(form, by, at) : undefined;
    case 'lshr':
      return form === a && by !== undefined && by >= 0 && by < 31 ? quotient(form, 2 ** by, at) : undefined;
    case 'or':
    case 'xor':
      return lowBits(inst, form, other);
    default:
      return undefined;
  }
}

const isPowerOfTwo = (number: number): boolean => number > 0 && Number.isInteger(Math.log2(number));

function remainder(form: Linear, by: number, isSure: boolean): Form | undefined {
  const residue = residueOf(form.terms, by);
  if (residue === undefined) return undefined;
  const lanes = form.lanes.map((lane) => modulo(lane + residue, by));
  // Powers of two up to the width divide what wrapping around adds.
  return linear(lanes, undefined, isSure && (form.isSure || by <= 2 ** 31));
}

function quotient(form: Linear, by: number, at: Surroundings): Form | undefined {
  const residue = residueOf(form.terms, by);
  if (residue === undefined || intervalOf(form).min < 0) return undefined;
  const lanes = form.lanes.map((lane) => Math.floor((lane + residue) / by));
  const isFixed = [...form.terms.keys()].every((unknown) => unknown.isFixed);
  const exact = [...form.terms].every(([, coefficient]) => coefficient % by === 0) && residue === 0;
  if (exact) return linear(lanes, new Map([...form.terms].map(([each, coefficient]) => [each, coefficient / by] as const)), form.isSure);
  const { max } = intervalOf(form);
  return linear(lanes, new Map([[at.natural(Math.floor(max / by), isFixed), 1]]), form.isSure);
}

/** `or` and `xor` with a number below the power of two that the unknown part is a multiple of. */
function lowBits(inst: Inst, form: Linear, other: Linear): Form | undefined {
  const most = Math.max(...other.lanes);
  if (Math.min(...other.lanes) < 0 || most >= 2 ** 30) return undefined;
  const by = 2 ** Math.ceil(Math.log2(Math.max(most + 1, Math.max(...form.lanes) + 1, 1)));
  const residue = residueOf(form.terms, by);
  if (residue !== 0 || Math.min(...form.lanes) < 0) return undefined;
  const lanes = form.lanes.map((lane, i) => (inst.op === 'or' ? lane | other.lanes[i]! : lane ^ other.lanes[i]!));
  return linear(lanes, form.terms, form.isSure && other.isSure);
}

// ── widths ──

/** A form of a type: sure where its numbers fit, or where all lanes wrap around together. */
export function wrapped(form: Linear | Opaque, type: Type, at: Pick<Surroundings, 'isBounded'>): Form {
  if (form.kind === 'opaque') return form;
  const bits = isInt(type) ? bitsOf(type) : 64;
  if (bits === 64) return form;
  const { min, max } = intervalOf(form);
  if (min >= -(2 ** (bits - 1)) && max < 2 ** bits) return form;
  if (isConcrete(form))
    return linear(
      form.lanes.map((lane) => Number(BigInt.asIntN(bits, BigInt(lane)))),
      undefined,
      form.isSure,
    );
  const spreadOf = Math.max(...form.lanes) - Math.min(...form.lanes);
  return at.isBounded(spreadOf) ? form : withSure(form, false);
}

/** The numbers of a narrower type as signed or as unsigned ones. */
function extended(form: Linear, bits: number, isSigned: boolean): Form {
  if (isConcrete(form))
    return linear(
      form.lanes.map((lane) => Number(isSigned ? BigInt.asIntN(bits, BigInt(lane)) : BigInt.asUintN(bits, BigInt(lane)))),
      undefined,
      form.isSure,
    );
  const { min, max } = intervalOf(form);
  const fits = isSigned ? min >= -(2 ** (bits - 1)) && max < 2 ** (bits - 1) : min >= 0 && max < 2 ** bits;
  // One sign for all lanes moves all of them by the same multiple of the width.
  const isAlike = isSigned ? min >= 2 ** (bits - 1) : max < 0;
  return fits || isAlike ? form : withSure(form, form.isSure && fits);
}

// ── conditions ──

const negatedOf: Readonly<Record<'ne' | 'sge' | 'sgt' | 'uge' | 'ugt', 'eq' | 'slt' | 'sle' | 'ult' | 'ule'>> = {
  ne: 'eq',
  sge: 'slt',
  sgt: 'sle',
  uge: 'ult',
  ugt: 'ule',
};

function compared({ pred }: InstOf<'icmp'>, a: Linear, b: Linear): Form {
  if (pred in negatedOf) return inverted(compared({ pred: negatedOf[pred as 'ne'] } as InstOf<'icmp'>, a, b) as Truth);
  const difference = addForms(a, b, -1);
  const width = a.lanes.length;
  const isSure = a.isSure && b.isSure;
  if (difference.kind === 'opaque') return truth(new Array<number>(width).fill(-1), isSure, isUniform(a) && isUniform(b));
  const { min, max } = spanOf(difference.terms);
  // Numbers that are all natural compare alike with and without a sign.
  const isUnsigned = pred === 'ult' || pred === 'ule';
  const areNatural = !isUnsigned || (intervalOf(a).min >= 0 && intervalOf(b).min >= 0);
  const lanes = difference.lanes.map((lane) => (areNatural ? decided(pred, lane + min, lane + max, difference) : -1));
  return truth(lanes, isSure, isUniform(difference));
}

/** Whether a difference in an interval is as a predicate says: 1, 0, or -1 where that depends. */
function decided(pred: IcmpPredicate, min: number, max: number, { terms }: Linear): number {
  if (pred === 'eq') {
    if (min === 0 && max === 0) return 1;
    if (min > 0 || max < 0) return 0;
    return terms.size === 0 && min !== 0 ? 0 : -1;
  }
  const limit = pred === 'slt' || pred === 'ult' ? 0 : 1;
  return max < limit ? 1 : min >= limit ? 0 : -1;
}

/** The smaller or larger one of two forms, where it is known in every lane which one that is. */
function extreme(inst: Inst, a: Linear, b: Linear): Form | undefined {
  const isMin = inst.op.endsWith('min');
  const below = compared({ pred: inst.op.startsWith('u') ? 'ule' : 'sle' } as InstOf<'icmp'>, a, b);
  if (below.kind !== 'truth' || below.lanes.includes(-1)) return undefined;
  const isOfA = below.lanes.map((lane) => (lane === 1) === isMin);
  const isSure = a.isSure && b.isSure;
  if (isOfA.every((own) => own)) return withSure(a, isSure);
  if (isOfA.every((own) => !own)) return withSure(b, isSure);
  if (!sameTerms(a.terms, b.terms)) return undefined;
  return linear(
    isOfA.map((own, i) => (own ? a : b).lanes[i]!),
    a.terms,
    isSure,
  );
}

const inverted = (form: Truth): Truth => ({ ...form, lanes: form.lanes.map((lane) => (lane < 0 ? lane : 1 - lane)) });

function logic({ op }: Inst, [a, b]: readonly Truth[]): Truth | undefined {
  if (!a || !b) return undefined;
  const isSure = a.isSure && b.isSure;
  const uniform = isUniform(a) && isUniform(b);
  const each = (f: (x: number, y: number) => number): Truth =>
    truth(
      a.lanes.map((x, i) => f(x, b.lanes[i]!)),
      isSure,
      uniform,
    );
  if (op === 'and') return each((x, y) => (x === 0 || y === 0 ? 0 : Math.min(x, y)));
  if (op === 'or') return each((x, y) => (x === 1 || y === 1 ? 1 : x < 0 || y < 0 ? -1 : 0));
  if (op === 'xor') return each((x, y) => (x < 0 || y < 0 ? -1 : x ^ y));
  return undefined;
}

function selected([cond, a, b]: [Form, Form, Form], at: Surroundings): Form {
  if (sameForm(a, b)) return a;
  if (cond.kind === 'truth' && a.kind === 'linear' && b.kind === 'linear') {
    if (cond.lanes.every((lane) => lane === 1)) return withSure(a, cond.isSure);
    if (cond.lanes.every((lane) => lane === 0)) return withSure(b, cond.isSure);
    if (cond.lanes.every((lane) => lane >= 0) && sameTerms(a.terms, b.terms))
      return linear(
        a.lanes.map((lane, i) => (cond.lanes[i] === 1 ? lane : b.lanes[i]!)),
        a.terms,
        cond.isSure && a.isSure && b.isSure,
      );
    if (isUniform(cond) && isUniform(a) && isUniform(b)) return at.unknown(false);
  }
  if (cond.kind === 'truth' && a.kind === 'truth' && b.kind === 'truth') {
    const lanes = cond.lanes.map((lane, i) =>
      lane < 0 ? (a.lanes[i] === b.lanes[i] ? a.lanes[i]! : -1) : lane === 1 ? a.lanes[i]! : b.lanes[i]!,
    );
    return truth(lanes, cond.isSure && a.isSure && b.isSure, isUniform(cond) && isUniform(a) && isUniform(b));
  }
  return [cond, a, b].some((form) => form.kind === 'opaque' && form.from === 'memory') ? opaque('memory') : opaque('other');
}

// ── known numbers ──

/** The exact result in each lane, where all operands are integers that are known. */
function eachLane(inst: Inst, operands: readonly number[], forms: readonly Form[], at: Surroundings): Form | undefined {
  if (!isEvaluableInst(inst) || !isInt(inst.type) || forms.length === 0) return undefined;
  const types = operands.map(at.typeOf);
  if (types.some((type) => !isInt(type)) || !forms.every((form) => isConcrete(form) || (form.kind === 'truth' && !form.lanes.includes(-1))))
    return undefined;
  const known = forms as readonly (Linear | Truth)[];
  const isSure = known.every((form) => form.isSure);
  const width = Math.max(...known.map(({ lanes }) => lanes.length));
  const bits = bitsOf(inst.type);
  const resultOf = (lane: number): bigint =>
    evalOp(
      inst,
      known.map(({ lanes }, i) => BigInt.asUintN(bitsOf(types[i]!), BigInt(lanes[lane]!))),
      types,
    );
  const count = known.every(isUniform) ? 1 : width;
  const results = Array.from({ length: count }, (_, lane) => resultOf(lane));
  const lanes = Array.from({ length: width }, (_, lane) => results[count === 1 ? 0 : lane]!);
  if (inst.type === 'i1') return truth(lanes.map(Number), isSure);
  return linear(
    lanes.map((result) => Number(BigInt.asIntN(bits, result))),
    undefined,
    isSure,
  );
}
