/**
 * The constant variables of a module: their initial bytes, with the caller's function constants, after the module's constructors have
 * computed others from them.
 */

import { alignOf, hasMemoryForm, sizeOf } from '../../bitcode/layout.ts';
import type { GlobalVariable, Function as LlvmFunction, Module } from '../../bitcode/model.ts';
import { spell } from '../../bitcode/types.ts';
import { addBlock, builder, emptyKernel, type Kernel, renumber, type Variable } from '../../ir/index.ts';
import { interpret } from '../../ir/interpret.ts';
import { spaces } from '../targets.ts';
import { Refused } from '../types.ts';
import { inlineCall, raiseBlocks } from './blocks.ts';
import { fillConstant, maxVariableBytes } from './constant-bytes.ts';
import type { FunctionConstant } from './function-constants.ts';
import { raiseState } from './state.ts';

/** Values of function constants: bytes for those with a value. */
export interface ConstantValues {
  readonly constants: readonly FunctionConstant[];
  readonly bytes: ReadonlyMap<FunctionConstant, Uint8Array>;
}

/** Whether a function constant has a value, by its variable. */
export const definedIn =
  ({ constants, bytes }: ConstantValues) =>
  (variable: string): boolean | undefined => {
    const found = constants.find((each) => each.variable.name === variable);
    return found && bytes.has(found);
  };

/** The variables of a module that kernels can access, with the content of constant ones. */
export function raiseVariables(module: Module, values: ConstantValues): Variable[] {
  const variables = module.globals.filter(({ name }) => !name.startsWith('llvm.')).map(variable);
  for (const constant of values.constants) {
    const init = variables.find((each) => each.name === constant.variable.name)?.init;
    const given = values.bytes.get(constant);
    if (!init || (given && given.length > init.length)) throw new Refused(`the function constant \`${constant.name}\` without memory`);
    if (given) init.set(given);
  }
  runConstructors(module, variables, values);
  return variables;
}

function variable(global: GlobalVariable): Variable {
  const { space } = global.type;
  if (!hasMemoryForm(global.valueType)) throw new Refused(`the variable \`${global.name}\` of type ${spell(global.valueType)}`);
  const size = sizeOf(global.valueType);
  if (size > maxVariableBytes) throw new Refused(`the variable \`${global.name}\` of ${size} bytes`);
  const align = Math.max(global.align, alignOf(global.valueType));
  const common = { name: global.name, size, align, isDynamic: false, element: undefined };
  if (space === spaces.threadgroup) return { ...common, space: 'shared', init: undefined };
  if (space !== spaces.constant || !global.init) throw new Refused(`the variable \`${global.name}\` in address space ${space}`);
  const bytes = new Uint8Array(size);
  fillConstant(bytes, 0, global.init);
  return { ...common, space: 'constant', init: bytes };
}

/** The largest number of steps of all constructors; Apple's compiler emits a few for each function constant. */
const maxSteps = 1_000_000;

/** The constructors that run before any kernel, from `llvm.global_ctors`, sorted by priority. */
function constructorsOf(module: Module): LlvmFunction[] {
  const list = module.globals.find(({ name }) => name === 'llvm.global_ctors')?.init;
  const entries = list?.kind === 'constant' && list.form === 'aggregate' ? list.elements : [];
  const found = entries.flatMap((entry) => {
    const [priority, fn] = entry.kind === 'constant' && entry.form === 'aggregate' ? entry.elements : [];
    if (fn?.kind !== 'function') return [];
    return [{ fn, priority: priority?.kind === 'constant' && priority.form === 'int' ? priority.value : 0n }];
  });
  return found.sort((a, b) => Number(a.priority - b.priority)).map(({ fn }) => fn);
}

/** Interprets the constructors of a module: they only read and write constant variables. */
function runConstructors(module: Module, variables: readonly Variable[], values: ConstantValues): void {
  const constructors = constructorsOf(module);
  if (constructors.length === 0) return;
  const constants = variables.filter(({ space }) => space === 'constant');
  const starts: Record<string, bigint> = {};
  let size = 0;
  for (const { name, align, size: bytes } of constants) {
    starts[name] = BigInt(Math.ceil(size / align) * align);
    size = Number(starts[name]) + bytes;
  }
  const memory = new Uint8Array(size);
  for (const { name, init } of constants) memory.set(init!, Number(starts[name]));
  for (const fn of constructors) {
    const thread = { memory: { constant: memory }, params: [], variables: starts, sregs: {}, limit: maxSteps };
    const outcome = interpret(constructorKernel(fn, constants, values), thread);
    if (outcome.ended !== 'return') throw new Refused(`the constructor \`${fn.name}\`, which does more than compute constants,`);
  }
  for (const { name, init, size: bytes } of constants) init!.set(memory.subarray(Number(starts[name]), Number(starts[name]) + bytes));
}

function constructorKernel(fn: LlvmFunction, constants: readonly Variable[], values: ConstantValues): Kernel {
  const kernel = emptyKernel(fn.name);
  kernel.variables = [...constants];
  const budget = { left: maxSteps };
  const place = { within: [fn], returned: undefined, budget, inline: inlineCall, isDefined: definedIn(values) };
  raiseBlocks(raiseState(kernel, builder(kernel, addBlock(kernel)), place), fn);
  renumber(kernel);
  return kernel;
}
