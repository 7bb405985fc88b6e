/**
 * Addresses of accesses as an object and an index. Memory that a kernel declares (shared, constant, local) is one array for each space, its
 * window, in which a pointer is an offset in bytes; an access through a parameter is an element of what it points to.
 */
import { type Window, windowOf } from '../air/windows.ts';
import { alignUp } from '../base/bytes.ts';
import {
  addressOf,
  bytesOf,
  constantOf,
  elementOf,
  type Inst,
  isPointer,
  isVector,
  type Kernel,
  operandsOf,
  type PointerType,
  type ScalarType,
  type Space,
  spaceOf,
  type Type,
  type Value,
} from '../ir/index.ts';

/** A sum of scaled values and a constant, in units of the access or in bytes. */
export interface Terms {
  readonly terms: readonly { readonly value: Value; readonly scale: bigint }[];
  readonly constant: bigint;
}

/** Where an access is. */
export type Place =
  /** An element of a typed parameter. */
  | ({ readonly kind: 'element'; readonly param: number } & Terms)
  /** A scalar parameter as a whole. */
  | { readonly kind: 'scalar'; readonly param: number }
  /** A place in a window, in bytes. */
  | ({ readonly kind: 'window'; readonly space: WindowSpace } & Terms)
  /** Bytes behind a pointer. */
  | ({ readonly kind: 'pointer'; readonly pointer: Value } & Terms);

export type WindowSpace = Window['space'];

export interface Addresses {
  /** By access. */
  readonly places: ReadonlyMap<Value, Place>;
  readonly windows: ReadonlyMap<WindowSpace, WindowArray>;
  /** By pointer parameter: the type of all accesses through it, where every use of it is such an access. */
  readonly elements: ReadonlyMap<number, ScalarType>;
  /** Whether a pointer is an offset in a window. */
  isOffset(type: Type, value: Value): boolean;
  /** The values that an instruction uses as it is printed. */
  operands(value: Value): readonly Value[];
}

/** The array of a window. */
export interface WindowArray extends Window {
  /** The type of its elements: that of all accesses, or bytes. */
  readonly unit: ScalarType;
}

const isWindowSpace = (space: Space): space is WindowSpace => space === 'shared' || space === 'constant' || space === 'local';

/** The type that an access moves. */
export const movedType = ({ insts }: Kernel, inst: Inst): Type => (inst.op === 'store' ? insts[inst.value]!.type : inst.type);

/** The addresses of a kernel. */
export function addressesOf(kernel: Kernel): Addresses {
  const { insts } = kernel;
  const isOffset = (type: Type, value: Value): boolean =>
    isPointer(type) && isWindowSpace(spaceOf(type)) && !(spaceOf(type) === 'constant' && isObject(kernel, value));
  const accesses = kernel.blocks.flatMap(({ body }) => body.filter((value) => addressOf(insts[value]!) !== undefined));
  const elements = elementsOf(kernel, accesses);
  const windows = new Map<WindowSpace, WindowArray>();
  for (const space of ['shared', 'constant', 'local'] as const) {
    const window = windowWithParams(kernel, space);
    if (window) windows.set(space, { ...window, unit: unitOf(kernel, space, accesses) });
  }
  const places = new Map<Value, Place>();
  for (const value of accesses) {
    const place = placeOf(kernel, insts[value]!, { elements, isOffset, windows });
    places.set(value, place);
  }
  const operands = (value: Value): readonly Value[] => {
    const place = places.get(value);
    const inst = insts[value]!;
    if (!place) return operandsOf(inst);
    const address = addressOf(inst)!;
    const others = operandsOf(inst).filter((_, i) => i > 0);
    if (place.kind === 'scalar') return others;
    const terms = place.terms.map((term) => peeled(kernel, term.value));
    return place.kind === 'pointer' ? [place.pointer, ...terms, ...others] : address === undefined ? others : [...terms, ...others];
  };
  return { places, windows, elements, isOffset, operands };
}

/** A window; dynamic shared memory that is a parameter follows the variables. */
function windowWithParams(kernel: Kernel, space: WindowSpace): Window | undefined {
  const window = windowOf(kernel, space);
  if (space !== 'shared' || !kernel.params.some(({ kind }) => kind === 'threadgroup')) return window;
  const empty: Window = { space, offsets: new Map(), size: 0, align: 16, dynamicOffset: 0, element: 'i8', init: undefined };
  return window ? { ...window, dynamicOffset: window.dynamicOffset ?? alignUp(window.size, 16) } : empty;
}

/** Whether a constant pointer comes from a parameter, and is no offset. */
function isObject(kernel: Kernel, value: Value): boolean {
  let at = kernel.insts[value]!;
  while (at.op === 'ptradd') at = kernel.insts[at.a]!;
  return at.op === 'param';
}

/** The value of a term without the extension that the sum implies. */
export function peeled({ insts }: Kernel, value: Value): Value {
  const inst = insts[value]!;
  return (inst.op === 'zext' || inst.op === 'sext') && insts[inst.a]!.type === 'i32' ? inst.a : value;
}

/** The type of all accesses to a window. */
function unitOf({ insts, variables }: Kernel, space: WindowSpace, accesses: readonly Value[]): ScalarType {
  // Constants are an array of bytes, whose contents the text has.
  if (space === 'constant') return 'i8';
  const own = accesses.filter((value) => insts[addressOf(insts[value]!)!]!.type === `ptr.${space}`);
  const found = new Set(own.map((value) => elementOf(movedType({ insts } as Kernel, insts[value]!))));
  const isWide = own.some((value) => isVector(movedType({ insts } as Kernel, insts[value]!)) || isNarrow(insts[value]!));
  const [only] = found;
  const fits = only !== undefined && variables.every((v) => v.space !== space || v.isDynamic || v.size % bytesOf(only) === 0);
  return found.size === 1 && !isWide && fits ? only! : 'i8';
}

/** Whether an access promises less alignment than its type has. */
const isNarrow = (inst: Inst): boolean => (inst.op === 'load' || inst.op === 'store') && inst.align < bytesOf(elementOf(inst.type));

/** By parameter: the element of all accesses, for parameters that are used in no other way than `ptradd`s of accesses. */
function elementsOf(kernel: Kernel, accesses: readonly Value[]): Map<number, ScalarType> {
  const { insts } = kernel;
  const found = new Map<number, ScalarType | 'mixed'>();
  const rootParam = (pointer: Value): number | undefined => {
    let at = insts[pointer]!;
    while (at.op === 'ptradd') at = insts[at.a]!;
    return at.op === 'param' && kernel.params[at.index]!.kind === 'pointer' && at.type !== 'ptr.shared' ? at.index : undefined;
  };
  for (const value of accesses) {
    const inst = insts[value]!;
    const param = rootParam(addressOf(inst)!);
    if (param === undefined) continue;
    const moved = movedType(kernel, inst);
    const unit = isNarrow(inst) ? 'mixed' : elementOf(moved);
    const known = found.get(param);
    found.set(param, known === undefined || known === unit ? unit : 'mixed');
  }
  return new Map([...found].flatMap(([param, unit]) => (unit === 'mixed' ? [] : [[param, unit] as const])));
}

function placeOf(kernel: Kernel, inst: Inst, known: Pick<Addresses, 'elements' | 'isOffset' | 'windows'>): Place {
  const { insts } = kernel;
  const address = addressOf(inst)!;
  const moved = movedType(kernel, inst);
  const size = BigInt(bytesOf(elementOf(moved)));
  const sum = { terms: [] as { value: Value; scale: bigint }[], constant: 0n };
  let at = address;
  for (let root = insts[at]!; root.op === 'ptradd'; root = insts[at]!) {
    addTerm(kernel, root.b, 1n, sum);
    at = root.a;
  }
  const root = insts[at]!;
  if (root.op === 'param') {
    const param = kernel.params[root.index]!;
    if (
      param.kind === 'value' &&
      sum.terms.length === 0 &&
      sum.constant === 0n &&
      isScalarParam(kernel, root.index) &&
      BigInt(param.size) === size &&
      !isVector(moved)
    )
      return { kind: 'scalar', param: root.index };
    const divides = [...sum.terms.map(({ scale }) => scale), sum.constant].every((n) => n % size === 0n);
    if (known.elements.has(root.index) && divides && !isVector(moved))
      return {
        kind: 'element',
        param: root.index,
        terms: sum.terms.map(({ value, scale }) => ({ value, scale: scale / size })),
        constant: sum.constant / size,
      };
  }
  if (known.isOffset(insts[address]!.type, address)) {
    const space = spaceOf(insts[address]!.type as PointerType) as WindowSpace;
    if (root.op === 'variable')
      return { kind: 'window', space, ...sum, constant: sum.constant + BigInt(known.windows.get(space)!.offsets.get(root.name)!) };
    if (root.op === 'inttoptr') {
      addTerm(kernel, root.a, 1n, sum);
      return { kind: 'window', space, ...sum };
    }
    return { kind: 'window', space, terms: [{ value: at, scale: 1n }, ...sum.terms], constant: sum.constant };
  }
  return { kind: 'pointer', pointer: at, ...sum };
}

/** Whether a parameter by value is printed as a scalar: it has the size of one, and is only read as a whole. */
export function isScalarParam(kernel: Kernel, index: number): boolean {
  const { size, kind, packed } = kernel.params[index]!;
  if (kind !== 'value' || packed || ![1, 2, 4, 8].includes(size)) return false;
  return kernel.blocks.every(({ body }) =>
    body.every((value) => {
      const inst = kernel.insts[value]!;
      const used = operandsOf(inst).filter((each) => {
        const of = kernel.insts[each]!;
        return of.op === 'param' && of.index === index;
      });
      return used.length === 0 || (inst.op === 'load' && !isVector(inst.type) && bytesOf(inst.type) === size);
    }),
  );
}

/** Splits an i64 sum into scaled terms. */
function addTerm(kernel: Kernel, value: Value, scale: bigint, sum: { terms: { value: Value; scale: bigint }[]; constant: bigint }): void {
  const inst = kernel.insts[value]!;
  const by = 'b' in inst && inst.b !== undefined ? constantOf(kernel, inst.b as Value) : undefined;
  if (inst.op === 'const') sum.constant += scale * BigInt.asIntN(64, inst.bits);
  else if (inst.op === 'add' || inst.op === 'sub') {
    addTerm(kernel, inst.a, scale, sum);
    addTerm(kernel, inst.b, inst.op === 'add' ? scale : -scale, sum);
  } else if (inst.op === 'mul' && by !== undefined) addTerm(kernel, inst.a, scale * BigInt.asIntN(64, by), sum);
  else if (inst.op === 'shl' && by !== undefined && by < 32n) addTerm(kernel, inst.a, scale << by, sum);
  else sum.terms.push({ value, scale: BigInt.asIntN(64, scale) });
}
