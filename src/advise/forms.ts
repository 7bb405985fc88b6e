/**
 * What an integer is in the threads of one warp: a number for each lane, plus multiples of unknown numbers that all lanes share. Sums, products
 * with numbers, shifts and masks keep that form, so that the distance between the addresses of two lanes is known where the addresses are not.
 */

/** A number that is unknown and the same in all threads of a warp. */
export interface Unknown {
  /** What it is, for people. */
  readonly name: string;
  /** Its interval, inclusive. */
  readonly min: number;
  readonly max: number;
  /** It is `residue` modulo `modulus`; 0 as a modulus: it is the residue. */
  readonly modulus: number;
  readonly residue: number;
  /** Whether it is the same in all threads of a block, and at every turn of every loop. */
  readonly isFixed: boolean;
}

/** Coefficients by unknown; none is 0. */
export type Terms = ReadonlyMap<Unknown, number>;

/** An integer: in each lane the number of the lane and the terms. */
export interface Linear {
  readonly kind: 'linear';
  readonly lanes: readonly number[];
  readonly terms: Terms;
  /** Whether arithmetic of the width of the value cannot have wrapped around. */
  readonly isSure: boolean;
}

/** A condition: 1, 0, or -1 where it is not known, by lane. */
export interface Truth {
  readonly kind: 'truth';
  readonly lanes: readonly number[];
  /** Whether unknown lanes have the same value. */
  readonly isUniform: boolean;
  readonly isSure: boolean;
}

/** Lanes whose values are not known. `memory`: they depend on what was loaded; `stride`: the lane times a number of the launch. */
export interface Opaque {
  readonly kind: 'opaque';
  readonly from: 'memory' | 'stride' | 'other';
  /** Of a stride: how many different multiples lanes have. */
  readonly rows: number;
}

export type Form = Linear | Truth | Opaque;

export const opaque = (from: Opaque['from'], rows = 0): Opaque => ({ kind: 'opaque', from, rows });

const noTerms: Terms = new Map();
/** Beyond this, numbers of JavaScript are not exact. */
const maxExact = 2 ** 52;

/** A form, or none that is known where numbers are not exact. */
export function linear(lanes: readonly number[], terms: Terms = noTerms, isSure = true): Linear | Opaque {
  if (lanes.some((lane) => Math.abs(lane) > maxExact)) return opaque('other');
  for (const coefficient of terms.values()) if (Math.abs(coefficient) > maxExact) return opaque('other');
  return { kind: 'linear', lanes, terms, isSure };
}

export const constantForm = (number: number, width: number): Linear | Opaque => linear(new Array<number>(width).fill(number));
export const unknownForm = (unknown: Unknown, width: number): Linear | Opaque =>
  linear(new Array<number>(width).fill(0), new Map([[unknown, 1]]));

/** Whether all lanes have the same value. */
export const isUniform = (form: Form): boolean =>
  form.kind === 'linear'
    ? form.lanes.every((lane) => lane === form.lanes[0])
    : form.kind === 'truth' && form.lanes.every((lane) => lane === form.lanes[0]) && (form.lanes[0] !== -1 || form.isUniform);

/** Whether every lane is a known number. */
export const isConcrete = (form: Form): form is Linear & { readonly terms: ReadonlyMap<never, never> } =>
  form.kind === 'linear' && form.terms.size === 0;

/** Whether two sets of terms are the same. */
export const sameTerms = (a: Terms, b: Terms): boolean =>
  a.size === b.size && [...a].every(([unknown, coefficient]) => b.get(unknown) === coefficient);

/** The sum of a form and a multiple of another one. */
export function addForms(a: Linear, b: Linear, by = 1): Linear | Opaque {
  const terms = new Map(a.terms);
  for (const [unknown, coefficient] of b.terms) {
    const sum = (terms.get(unknown) ?? 0) + by * coefficient;
    if (sum === 0) terms.delete(unknown);
    else terms.set(unknown, sum);
  }
  return linear(
    a.lanes.map((lane, i) => lane + by * b.lanes[i]!),
    terms,
    a.isSure && b.isSure,
  );
}

export function scaleForm(form: Linear, by: number): Linear | Opaque {
  if (by === 0) return linear(form.lanes.map(() => 0));
  const terms = new Map([...form.terms].map(([unknown, coefficient]) => [unknown, coefficient * by] as const));
  return linear(
    form.lanes.map((lane) => lane * by),
    terms,
    form.isSure,
  );
}

/** The product of two forms: exact where one is the same known number in all lanes, or both are numbers. */
export function mulForms(a: Linear, b: Linear): Linear | Opaque | undefined {
  if (isConcrete(b) && isUniform(b)) return withSure(scaleForm(a, b.lanes[0]!), b.isSure);
  if (isConcrete(a) && isUniform(a)) return withSure(scaleForm(b, a.lanes[0]!), a.isSure);
  if (isConcrete(a) && isConcrete(b))
    return linear(
      a.lanes.map((lane, i) => lane * b.lanes[i]!),
      undefined,
      a.isSure && b.isSure,
    );
  return undefined;
}

export const withSure = (form: Linear | Opaque, isSure: boolean): Linear | Opaque =>
  form.kind === 'opaque' || isSure || !form.isSure ? form : { ...form, isSure: false };

/** The interval of the terms. */
export function spanOf(terms: Terms): { readonly min: number; readonly max: number } {
  let [min, max] = [0, 0];
  for (const [{ min: least, max: most }, coefficient] of terms) {
    min += coefficient > 0 ? coefficient * least : coefficient * most;
    max += coefficient > 0 ? coefficient * most : coefficient * least;
  }
  return { min, max };
}

/** The interval of all lanes. */
export function intervalOf({ lanes, terms }: Linear): { readonly min: number; readonly max: number } {
  const { min, max } = spanOf(terms);
  return { min: min + Math.min(...lanes), max: max + Math.max(...lanes) };
}

const gcd = (a: number, b: number): number => {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y > 0) [x, y] = [y, x % y];
  return x;
};

/** A remainder that is not negative. */
export const modulo = (number: number, by: number): number => ((number % by) + by) % by;

/** What the terms are modulo what; a modulus of 0 says that they are the residue. */
export function congruenceOf(terms: Terms): { readonly modulus: number; readonly residue: number } {
  let [modulus, residue] = [0, 0];
  for (const [unknown, coefficient] of terms) {
    modulus = gcd(modulus, coefficient * unknown.modulus);
    residue += coefficient * unknown.residue;
  }
  return { modulus, residue: modulus > 0 ? modulo(residue, modulus) : residue };
}

/** The congruence that two others imply together. */
export function joinCongruence(
  a: { readonly modulus: number; readonly residue: number },
  b: { readonly modulus: number; readonly residue: number },
): { readonly modulus: number; readonly residue: number } {
  const modulus = gcd(gcd(a.modulus, b.modulus), a.residue - b.residue);
  return { modulus, residue: modulus > 0 ? modulo(a.residue, modulus) : a.residue };
}

/** The residue of the terms modulo a power of two, where it is known. */
export function residueOf(terms: Terms, by: number): number | undefined {
  const { modulus, residue } = congruenceOf(terms);
  return modulus === 0 || modulus % by === 0 ? modulo(residue, by) : undefined;
}

/** Whether two forms differ by the same in every lane. */
export const haveSameShape = (a: Linear, b: Linear): boolean =>
  a.lanes.every((lane, i) => lane - a.lanes[0]! === b.lanes[i]! - b.lanes[0]!);

export const sameForm = (a: Form, b: Form): boolean => {
  if (a.kind !== b.kind) return false;
  if (a.kind === 'opaque') return a.from === (b as Opaque).from && a.rows === (b as Opaque).rows;
  const other = b as Linear | Truth;
  if (a.isSure !== other.isSure || !a.lanes.every((lane, i) => lane === other.lanes[i])) return false;
  return a.kind === 'truth' ? a.isUniform === (other as Truth).isUniform : sameTerms(a.terms, (other as Linear).terms);
};
