/**
 * The static shared memory of an entry as `ptxas` counts it: the variables that the entry and the functions that it calls declare, used or not,
 * and the variables of the module that these name. Source: `ptxas` 13.0 ("uses too much shared data").
 */
import { alignUp } from '../base/bytes.ts';
import { type Checked, type CheckedFunction, callsOf } from '../ptx/index.ts';
import type { PtxFunction, Statement, Variable } from '../ptx/syntax/ast.ts';
import { layoutOf } from './initializer.ts';

/** Bytes of the static shared memory of an entry. */
export function staticSharedBytes({ module, functions }: Checked, entry: CheckedFunction): number {
  const own = module.items.filter((item): item is Variable => item.kind === 'variable' && isStaticShared(item));
  const bodies = reachedBodies(entry, functions).map(({ body = [] }) => body);
  const declared = bodies.flatMap((body) => variablesIn(body).filter(isStaticShared));
  const isNamed = (name: string): boolean => bodies.some((body) => namesOf(body).has(name));
  return sizeOf([...own.filter(({ name }) => isNamed(name)), ...declared]);
}

const isStaticShared = ({ space, linkage }: Variable): boolean => space === 'shared' && linkage !== 'extern';

function sizeOf(variables: readonly Variable[]): number {
  let bytes = 0;
  for (const variable of variables) {
    const layout = layoutOf(variable);
    if (layout) bytes = alignUp(bytes, layout.align) + layout.size;
  }
  return bytes;
}

/** The entry and the functions that it calls. */
function reachedBodies(entry: CheckedFunction, functions: Checked['functions']): PtxFunction[] {
  const found = new Set([entry]);
  for (const each of found)
    for (const { fn } of callsOf(each)) {
      const callee = functions.get(fn);
      if (callee) found.add(callee);
    }
  return [...found].map(({ fn }) => fn);
}

const variablesIn = (body: readonly Statement[]): Variable[] =>
  body.flatMap((statement) =>
    statement.kind === 'variable' ? [statement] : statement.kind === 'block' ? variablesIn(statement.body) : [],
  );

const known = new WeakMap<readonly Statement[], ReadonlySet<string>>();

/** The names that a body has among its operands, found once: many entries may call a function. */
function namesOf(body: readonly Statement[]): ReadonlySet<string> {
  const names = known.get(body) ?? new Set(namesIn(body));
  known.set(body, names);
  return names;
}

function namesIn(body: readonly Statement[]): string[] {
  const found: string[] = [];
  const see = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('kind' in node && node.kind === 'name' && 'name' in node) found.push(String(node.name));
    for (const part of Object.values(node)) see(part);
  };
  for (const statement of body) {
    if (statement.kind === 'instruction') see(statement.operands);
    else if (statement.kind === 'block') found.push(...namesIn(statement.body));
  }
  return found;
}
