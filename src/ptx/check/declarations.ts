/**
 * Checks declarations in modules and bodies: alignments, extents, types in their state spaces, and initial values.
 * Source: PTX ISA 9.0, 5.1, 5.2 and 5.4; where it leaves a rule open, ptxas 13.0 decides.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { bitsOfType } from '../model/types.ts';
import type { Module, PtxFunction, Section, Statement, Variable } from '../syntax/ast.ts';
import { limits } from '../syntax/limits.ts';
import { checkInitializer } from './initializer.ts';
import type { Scope } from './scope.ts';

/** The position of a declaration. */
type Where = 'module' | 'body' | 'head';

/** Reports CM1101 and CM1114 to CM1117 for the declarations of a module, its functions included. */
export function checkDeclarations(module: Module, scope: Scope, diagnostics: Diagnostics): void {
  for (const item of module.items) {
    if (item.kind === 'variable') checkVariable(item, 'module', scope, diagnostics);
    else if (item.kind === 'function') checkHead(item, diagnostics);
    if (item.kind === 'function') checkBodyDeclarations(item.body ?? [], diagnostics);
    if (item.kind === 'section') checkSection(item, diagnostics);
  }
}

/** As `checkDeclarations`, of a body. */
export function checkBodyDeclarations(body: readonly Statement[], diagnostics: Diagnostics): void {
  const work: (readonly Statement[])[] = [body];
  for (let statements = work.pop(); statements; statements = work.pop())
    for (const statement of statements) {
      if (statement.kind === 'block') work.push(statement.body);
      else if (statement.kind === 'variable') checkVariable(statement, 'body', undefined, diagnostics);
    }
}

function checkSection({ name, items }: Section, diagnostics: Diagnostics): void {
  for (const item of items) {
    if (item.kind !== 'data' || /^b(8|16|32|64)$/.test(item.type)) continue;
    const why = `its data are of .b8, .b16, .b32 or .b64, and not of .${item.type}`;
    diagnostics.report('CM1117', { name, why }, { span: { start: item.span.start, end: item.span.start + item.type.length + 1 } });
  }
}

function checkHead(fn: PtxFunction, diagnostics: Diagnostics): void {
  for (const variable of [...fn.results, ...fn.params]) {
    checkAlignment(variable, diagnostics);
    if (fn.isEntry && fn.results.includes(variable)) {
      refuse(variable, 'an entry returns nothing', diagnostics);
      continue;
    }
    const why = fn.isEntry && variable.space !== 'param' ? 'a parameter of an entry is in `.param` space' : invalidReason(variable, 'head');
    if (why !== undefined) refuse(variable, why, diagnostics);
    // The last parameter of a variadic function has no size.
    else if (fn.isEntry && hasNoSize(variable))
      diagnostics.report('CM1115', { name: variable.name, why: 'a parameter has at least one byte' }, at(variable));
  }
}

function checkVariable(variable: Variable, where: Where, scope: Scope | undefined, diagnostics: Diagnostics): void {
  checkAlignment(variable, diagnostics);
  const why = invalidReason(variable, where);
  if (why !== undefined) refuse(variable, why, diagnostics);
  else if (!checkSize(variable, diagnostics)) return;
  else if (variable.init) checkInitializer(variable, scope, diagnostics);
}

const at = ({ nameSpan }: Variable) => ({ span: nameSpan });

const refuse = (variable: Variable, why: string, diagnostics: Diagnostics): void =>
  diagnostics.report('CM1117', { name: variable.name, why }, at(variable));

/** Types that only instructions have, with their sizes in bits. Source: ptxas 13.0. */
const instructionTypes: ReadonlyMap<string, number> = new Map([
  ['bf16', 16],
  ['bf16x2', 32],
  ['tf32', 32],
  ['u16x2', 32],
  ['s16x2', 32],
  ['f32x2', 64],
]);

/** The reason why a count (`name<4>`) is invalid. Those that are valid have become variables of their own, except in registers. */
function countReason({ space, dims, init, regCount }: Variable, where: Where): string | undefined {
  if (regCount === undefined) return undefined;
  if (where === 'head') return 'a parameter is one variable';
  if (space === 'reg') return undefined;
  if (dims.length > 0 || init) return 'variables of a count have neither extents nor initial values';
  return `a count declares at most ${limits.names} variables`;
}

/** The reason why a declaration is invalid, regardless of its size and value. */
function invalidReason(variable: Variable, where: Where): string | undefined {
  const { space, type, vector, dims, linkage, init } = variable;
  const why = countReason(variable, where);
  if (why !== undefined) return why;
  if (type === 'pred' && (space !== 'reg' || vector !== undefined || dims.length > 0)) return 'predicates are single registers';
  const bits = instructionTypes.get(type);
  if (bits !== undefined) return `only instructions have the type .${type}; declare the variable as .b${bits}`;
  if (space === 'param' && (vector !== undefined || type === 'f16x2')) return 'a parameter cannot be a vector';
  if (space === 'reg' && dims.length > 0) return 'registers cannot form arrays';
  if (space === 'param' && where === 'module') return 'a parameter belongs to a function';
  if (linkage === 'common' && space !== 'global') return '`.common` is for variables in global memory';
  if (linkage !== undefined && where === 'body') return `\`.${linkage}\` is for variables of the module`;
  if (vector !== undefined && bitsOfType(type) * Number(vector[1]) > 128) return 'a vector has at most 128 bits';
  if (init && linkage === 'extern') return 'the module that defines an `.extern` variable gives its initial value';
  if (init && space !== 'global' && space !== 'const') return `\`.${space}\` variables have no initial values`;
  return undefined;
}

function checkAlignment({ name, nameSpan, align, ptr }: Variable, diagnostics: Diagnostics): void {
  for (const bytes of [align, ptr?.align])
    if (bytes !== undefined && !isPowerOfTwo(bytes)) diagnostics.report('CM1114', { name, align: bytes }, { span: nameSpan });
}

const isPowerOfTwo = (bytes: number): boolean => bytes >= 1 && bytes <= 2 ** 31 && Number.isInteger(Math.log2(bytes));

const hasNoSize = ({ dims }: Variable): boolean => dims.some((dim) => dim === undefined || dim === 0);

/** The first extent may be empty or 0 if something else determines it. */
function checkSize(variable: Variable, diagnostics: Diagnostics): boolean {
  const { name, dims, init, linkage } = variable;
  const rest = dims.slice(1);
  if (rest.includes(undefined) || rest.includes(0)) {
    diagnostics.report('CM1115', { name, why: 'only the first extent may be empty' }, at(variable));
    return false;
  }
  if (!hasNoSize(variable) || linkage === 'extern' || init !== undefined) return true;
  const why = dims.includes(0) ? 'an extent is 0' : 'its extent is empty, and no initial value determines it';
  diagnostics.report('CM1115', { name, why }, at(variable));
  return false;
}
