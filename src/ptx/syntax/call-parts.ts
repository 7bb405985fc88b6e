/** The parts of a `call` in every form: `call (results), callee, (arguments), label`. */
import type { Instruction, Operand } from './ast.ts';

export interface CallParts {
  readonly results: readonly Operand[];
  /** A function or a register, if the call is well-formed. */
  readonly callee: Operand | undefined;
  readonly args: readonly Operand[];
  /** The label of a prototype or of a list of targets. */
  readonly label: (Operand & { kind: 'name' }) | undefined;
  /** An operand that does not belong in a call. */
  readonly stray: Operand | undefined;
}

/** Source: PTX ISA 9.0, 9.7.12.5; ptxas 13.0, which also accepts results without a list of arguments. */
export function callParts({ operands }: Instruction): CallParts {
  const rest = [...operands];
  const results = takeList(rest) ?? [];
  const callee = rest.shift();
  const args = takeList(rest) ?? [];
  const label = rest[0]?.kind === 'name' ? rest[0] : undefined;
  return { results, callee, args, label, stray: rest[label ? 1 : 0] };
}

function takeList(rest: Operand[]): readonly Operand[] | undefined {
  const [first] = rest;
  if (first?.kind !== 'list') return undefined;
  rest.shift();
  return first.elements;
}
