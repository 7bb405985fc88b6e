/** Promises M1 to M5: accesses, parameters and variables. */
import type { Kernel, KernelParam, Variable } from '../kernel.ts';
import { isPointer, spaceOf, type Type } from '../types.ts';
import type { Report, Rule } from './report.ts';

type Broken = [rule: Rule, why: string][];

const isPowerOfTwo = (n: number): boolean => Number.isInteger(Math.log2(n)) && n >= 1;

/** M1 and M2 of a load, or of a store to `target`. */
export function checkAccess(type: Type, align: number, hasMemoryForm: boolean, target?: Type): Broken {
  const broken: Broken = [];
  if (!hasMemoryForm) broken.push(['M1', `${type} has no form in memory`]);
  if (!isPowerOfTwo(align)) broken.push(['M1', `${align} is no alignment`]);
  if (target === 'ptr.constant' || target === 'ptr.param') broken.push(['M2', `${target.slice(4)} memory is not written`]);
  return broken;
}

/** M3. */
export function checkParam(type: Type, param: KernelParam | undefined): Broken {
  if (!param) return [['M3', 'there is no such parameter']];
  const wanted = `ptr.${param.space}`;
  return type === wanted ? [] : [['M3', `the result is ${type}, not ${wanted}`]];
}

/** M4. */
export function checkVariable(type: Type, variable: Variable | undefined): Broken {
  if (!variable) return [['M4', 'there is no such variable']];
  return isPointer(type) && spaceOf(type) === variable.space ? [] : [['M4', `the result is ${type}, not ptr.${variable.space}`]];
}

/** M5. */
export function checkVariables(kernel: Kernel, report: Report): void {
  const names = new Set<string>();
  for (const variable of kernel.variables) {
    if (names.has(variable.name)) report('M5', `two variables are named \`${variable.name}\``);
    names.add(variable.name);
    for (const why of faultsOf(variable)) report('M5', `the variable \`${variable.name}\` ${why}`);
  }
}

function faultsOf({ space, size, align, isDynamic, init }: Variable): string[] {
  const faults: string[] = [];
  if (!Number.isSafeInteger(size) || size < 0) faults.push(`has the size ${size}`);
  if (!isPowerOfTwo(align)) faults.push(`has the alignment ${align}`);
  if (isDynamic && (space !== 'shared' || size !== 0)) faults.push('is dynamic without being shared memory of size 0');
  if (init && space !== 'constant') faults.push(`has initial bytes in ${space} memory`);
  if (init && init.length !== size) faults.push(`has ${init.length} initial bytes for ${size}`);
  return faults;
}
