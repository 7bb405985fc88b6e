/**
 * The module's own memory: variables that a host reaches by name, laid out in one block that outlives launches. A kernel that names
 * one of them has the block as a parameter behind its own, which the loader of the module binds.
 *
 * `.global` variables are there, and so are the `.const` ones of a module where a host has to write some: those without initial value,
 * which no other module initializes, and those that others see (`.visible`, `.weak`). Then `.const` memory is a part of the block, its
 * addresses being those of global memory. The `.const` variables of other modules are constants of the kernels.
 */
import { addHiddenParam, apartBytes, type Kernel, type ModuleMemory, type ModuleSymbol, moduleMemoryName } from '../ir/index.ts';
import type { Module, Variable } from '../ptx/syntax/ast.ts';
import { type AddressInside, initialBytes, layoutFault, layoutOf } from './initializer.ts';

export interface GlobalMemory {
  readonly memory: ModuleMemory;
  /** Where each variable lies; absent for those that cannot be laid out, which are refused where they are used. */
  readonly offsets: ReadonlyMap<Variable, number>;
  /** The part that is `.const` memory, in bytes from the start; nothing where constants are those of the kernels. */
  readonly constants: { readonly start: number; readonly size: number } | undefined;
}

/** A variable with its bytes; addresses in them are not known before the launch. */
interface Candidate {
  readonly variable: Variable;
  readonly size: number;
  readonly align: number;
  readonly bytes: Uint8Array;
  readonly addresses: readonly AddressInside[];
}

/**
 * Lays out the variables of a module that hosts reach, global ones first, each kind in its order; `isApart` far from each other, where they
 * become variables again.
 */
export function globalMemoryOf({ items }: Module, functions: ReadonlyMap<string, bigint>, isApart = false): GlobalMemory {
  const all = items.filter((item): item is Variable => item.kind === 'variable' && item.linkage !== 'extern');
  const constants = all.filter(({ space }) => space === 'const');
  const isConstToo = constants.some(isWritten);
  const fitting = withinBytes([...all.filter(({ space }) => space === 'global'), ...(isConstToo ? constants : [])]);
  const chosen = resolvable(fitting.flatMap((variable) => candidate(variable).map((each) => withFunctions(each, functions))));
  const offsets = new Map<Variable, number>();
  let [size, align] = [0, 1];
  for (const { variable, ...layout } of chosen) {
    const offset = isApart ? (offsets.size + 1) * apartBytes : Math.ceil(size / layout.align) * layout.align;
    offsets.set(variable, offset);
    size = offset + layout.size;
    align = Math.max(align, layout.align);
  }
  const symbols = chosen.map((each) => symbolOf(each, chosen, offsets, isApart));
  const starts = chosen.flatMap(({ variable }) => (variable.space === 'const' ? [offsets.get(variable)!] : []));
  const start = starts[0] ?? size;
  return {
    memory: { size, align, symbols, ...(isApart ? { isApart } : {}) },
    offsets,
    constants: isConstToo ? { start, size: size - start } : undefined,
  };
}

/** The variables up to the limit of all; their bytes are not made yet. */
function withinBytes(variables: readonly Variable[]): Variable[] {
  let left = maxBytes;
  return variables.filter((variable) => {
    const layout = layoutOf(variable);
    const size = layout && !layoutFault(variable, layout) ? layout.size : 0;
    if (size > left) return false;
    left -= size;
    return true;
  });
}

/** Whether a `.const` variable is written by a host, or its value is not known before the launch. */
function isWritten(variable: Variable): boolean {
  return variable.init === undefined || variable.linkage !== undefined || (candidate(variable)[0]?.addresses.length ?? 0) > 0;
}

/** Of all variables, the largest buffer of the CPU device; variables beyond it are refused where they are used. */
const maxBytes = 2 ** 31;

/** Nothing for a variable that has no layout or no bytes, which is refused where it is used. */
function candidate(variable: Variable): Candidate[] {
  const layout = layoutOf(variable);
  if (!layout || layoutFault(variable, layout)) return [];
  const addresses: AddressInside[] = [];
  const bytes = initialBytes(variable, layout, addresses);
  return bytes instanceof Uint8Array ? [{ variable, size: layout.size, align: layout.align, bytes, addresses }] : [];
}

/** Functions have numbers for addresses, which are known. */
function withFunctions(candidate: Candidate, functions: ReadonlyMap<string, bigint>): Candidate {
  const view = new DataView(candidate.bytes.buffer);
  const addresses = candidate.addresses.filter(({ at, name, plus }) => {
    const number = plus === 0 ? functions.get(name) : undefined;
    if (number !== undefined) view.setBigUint64(at, number, true);
    return number === undefined;
  });
  return { ...candidate, addresses };
}

/** Those whose addresses are of variables that are in the block as well. */
function resolvable(candidates: readonly Candidate[]): readonly Candidate[] {
  const left = candidates.filter(({ addresses }) => addresses.every((address) => targetOf(address, candidates) !== undefined));
  return left.length === candidates.length ? left : resolvable(left);
}

/** The variable that an address points into, or just behind. */
function targetOf({ name, plus }: AddressInside, candidates: readonly Candidate[]): Variable | undefined {
  const found = candidates.find(({ variable }) => variable.name === name);
  return found && plus >= 0 && plus <= found.size ? found.variable : undefined;
}

function symbolOf(
  { variable, size, align, bytes, addresses }: Candidate,
  all: readonly Candidate[],
  offsets: ReadonlyMap<Variable, number>,
  isApart: boolean,
): ModuleSymbol {
  const init = variable.init ? bytes : undefined;
  const inside = addresses.map((address) => ({ at: address.at, to: offsets.get(targetOf(address, all)!)! + address.plus }));
  const isConst = isApart && variable.space === 'const' ? ({ isConst: true } as const) : {};
  return {
    name: variable.name,
    offset: offsets.get(variable)!,
    size,
    init,
    ...(isApart ? { align } : {}),
    ...isConst,
    ...(inside.length > 0 ? { addresses: inside } : {}),
  };
}

/** The index of the parameter that points to the module's memory, added at the first call. */
export function memoryParam(kernel: Kernel, memory: ModuleMemory): number {
  const known = kernel.params.findIndex((param) => param.memory !== undefined);
  if (known >= 0) return known;
  return addHiddenParam(kernel, { name: moduleMemoryName, size: 1, align: memory.align, element: undefined, memory });
}
