/** Variables that a kernel reaches, made when they are first named: shared, constant and local memory. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import type { Variable as IrVariable, Kernel } from '../ir/index.ts';
import { registerTypes } from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { initialBytes, type Layout, layoutFault, layoutOf } from './initializer.ts';

/** The kernel's variables by their declaration; nothing for one that was refused, which is reported once. */
export type Variables = (variable: Variable, use: Span) => IrVariable | undefined;

const spaces: Partial<Record<Variable['space'], IrVariable['space']>> = { shared: 'shared', const: 'constant', local: 'local' };

/** Reports CM2042 (global variables), CM2043 (initializers), CM2045 (types), CM2048 (variables of other modules) and CM2050 (sizes). */
export function variablesOf(kernel: Kernel, diagnostics: Diagnostics): Variables {
  const known = new Map<Variable, IrVariable | undefined>();
  return (variable, use) => {
    if (known.has(variable)) return known.get(variable);
    const made = makeVariable(variable, use, uniqueName(kernel, variable.name), diagnostics);
    known.set(variable, made);
    if (made) kernel.variables.push(made);
    return made;
  };
}

function makeVariable(variable: Variable, use: Span, name: string, diagnostics: Diagnostics): IrVariable | undefined {
  const space = spaces[variable.space];
  const layout = layoutOf(variable);
  const isModules = variable.space === 'global' && layout !== undefined;
  if (!space && !isModules) {
    diagnostics.report('CM2042', { name: variable.name, space: variable.space }, declaredAt(variable, use));
    return undefined;
  }
  if (!layout || variable.regCount !== undefined) {
    diagnostics.report('CM2045', { name: variable.name, type: variable.type }, declaredAt(variable, use));
    return undefined;
  }
  const fault = layoutFault(variable, layout);
  if (fault) {
    diagnostics.report('CM2050', { name: variable.name, why: fault }, { span: variable.nameSpan });
    return undefined;
  }
  const isDynamic = space === 'shared' && variable.linkage === 'extern' && variable.dims.includes(undefined);
  if (variable.linkage === 'extern' && !isDynamic) {
    diagnostics.report('CM2048', { name: variable.name }, declaredAt(variable, use));
    return undefined;
  }
  if (!space) {
    // The module's memory has no place for it: its initial value is at fault, or it is declared in a body.
    if (constantBytes(variable, layout, diagnostics))
      diagnostics.report('CM2042', { name: variable.name, space: variable.space }, declaredAt(variable, use));
    return undefined;
  }
  const init = space === 'constant' ? constantBytes(variable, layout, diagnostics) : undefined;
  const element = variable.type.startsWith('b') ? undefined : registerTypes[variable.type];
  return { name, space, size: isDynamic ? 0 : layout.size, align: layout.align, isDynamic, init, element };
}

const declaredAt = (variable: Variable, use: Span) => ({ span: use, more: [{ span: variable.nameSpan, text: 'declared here' }] });

function constantBytes(variable: Variable, layout: Layout, diagnostics: Diagnostics): Uint8Array | undefined {
  const bytes = initialBytes(variable, layout);
  if (bytes instanceof Uint8Array) return bytes;
  diagnostics.report('CM2043', { name: variable.name, why: reasons[bytes.why] }, { span: bytes.span });
  return undefined;
}

const reasons = {
  address: 'it holds an address that is not one of 64 bits into a `.global` or `.const` variable of the module',
  value: 'its type and that of the variable differ',
  count: 'it has more values than the variable has elements',
} as const;

/** By kernel: the names that are taken, with the number that was last put behind each. */
const taken = new WeakMap<Kernel, Map<string, number>>();

/** A name that no variable of the kernel has so far: scopes may hold several of one name. */
export function uniqueName(kernel: Kernel, name: string): string {
  const names = taken.get(kernel) ?? new Map<string, number>();
  taken.set(kernel, names);
  let unique = name;
  for (let n = names.get(name) ?? 0; names.has(unique); unique = `${name}.${n}`) names.set(name, ++n);
  names.set(unique, 0);
  return unique;
}
