/** Functions that a program names without a definition. */
import type { Function as LlvmFunction } from '../bitcode/index.ts';
import { refuse } from './refused.ts';
import { byValueOf, parameterName, parameterText } from './signatures.ts';
import type { ModuleState } from './state.ts';
import { nameOf } from './values.ts';

/** Functions of the system that a program may call; all others have to be defined. Source: "CUDA C++ Programming Guide", "Formatted Output", "Assertion", "Dynamic Global Memory Allocation". */
const system: ReadonlySet<string> = new Set(['vprintf', '__assertfail', 'malloc', 'free']);

/** What virtual tables name where a class has no definition: a call is an error of the program. Source: Itanium C++ ABI, 3.2.6. */
const pure: ReadonlySet<string> = new Set(['__cxa_pure_virtual', '__cxa_deleted_virtual']);

/** Declares a function that is called or whose address is taken, and that the program does not define. */
export function declareExtern(module: ModuleState, fn: LlvmFunction): void {
  if (pure.has(fn.name)) {
    module.externs.set(fn.name, `.func ${nameOf(module, fn)}()\n{\n\ttrap;\n\tret;\n}`);
    return;
  }
  if (!system.has(fn.name) && !module.isRelocatable) return refuse(`a call of ${fn.name}, which the program does not define`);
  const { result, params } = fn.functionType;
  const returned = result.kind === 'void' ? '' : `(${parameterText(result, 'func_retval0', false)}) `;
  const list = params.map((type, i) => parameterText(type, parameterName(fn.name, i), false, byValueOf(fn.attributes.params[i] ?? [])));
  module.externs.set(fn.name, `.extern .func ${returned}${nameOf(module, fn)}(${list.join(', ')});`);
}
