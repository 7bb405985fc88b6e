/**
 * Calls that are refused: one message at the call, with the name of the function. What only hands arguments over or takes
 * results is then no fault of its own. Checking of calls is in `check-calls.ts`.
 */
import type { Diagnostics, Where } from '../base/diagnostic.ts';
import type { Instruction } from './ast.ts';
import { lookUp, type Scope } from './scope.ts';

/** Functions that CUDA brings along: what they do that is not to be had, and what to do instead. */
const systemCalls: ReadonlyMap<string, readonly [why: string, instead: string]> = new Map([
  ['vprintf', ['it prints, and kernels have no console here', 'write the values into a buffer, and print them on the host']],
  ['malloc', ['it takes memory from a heap, which kernels have not here', 'allocate on the host, and pass the pointer to the kernel']],
  ['free', ['it gives memory back to a heap, which kernels have not here', 'allocate on the host, and pass the pointer to the kernel']],
  ['__assertfail', ['it stops the launch, which no Apple GPU can', 'compile with `-DNDEBUG`, which leaves assertions out']],
  ['cudaGetParameterBufferV2', ['it launches a kernel from a kernel, which Metal cannot', 'launch the kernel from the host']],
  ['cudaLaunchDeviceV2', ['it launches a kernel from a kernel, which Metal cannot', 'launch the kernel from the host']],
]);

/** Reports a call as CM2040, `where` its row says, but for functions that CUDA brings along. */
export function refuseCall({ operands }: Instruction, scope: Scope, where: Where, diagnostics: Diagnostics): void {
  const callee = operands.find((operand) => operand.kind === 'name');
  const name = callee ? callee.name : '';
  const isPointer = lookUp(scope, name)?.kind === 'register';
  const [label, help] = systemCalls.get(name) ?? [];
  const what = isPointer ? `a call through the pointer \`${name}\`` : `a call of \`${name}\``;
  diagnostics.report('CM2040', { what }, label === undefined || help === undefined ? where : { ...where, label, help });
}

/** Whether an instruction reads or writes a `.param` variable of a body: an argument or the result of a call. */
export function isArgumentAccess({ opcode, operands }: Instruction, scope: Scope): boolean {
  if (opcode !== 'ld' && opcode !== 'st') return false;
  const address = operands.find((operand) => operand.kind === 'address');
  const base = address?.base;
  const symbol = base?.kind === 'name' || base?.kind === 'index' ? lookUp(scope, base.name) : undefined;
  return symbol?.kind === 'variable' && symbol.variable.space === 'param';
}
