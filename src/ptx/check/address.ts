/** Checks of address operands. Source: PTX ISA 9.0, 6.4.1; ptxas 13.0 where the manual leaves a rule open. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Match } from '../model/row.ts';
import { bitsOfType } from '../model/types.ts';
import { instructionName, type Operand } from '../syntax/ast.ts';
import { constantValue } from '../syntax/constant.ts';
import { partsOf } from '../syntax/operand-parts.ts';
import type { FormMatch } from './match.ts';
import { lookUp, type Named, type Scope } from './scope.ts';
import { typeDeclared } from './suggest.ts';

const memorySpaces = ['global', 'shared', 'shared::cta', 'shared::cluster', 'local', 'const', 'param'] as const;

/** The expected and the actual kind of an address, in words. */
interface Fault {
  readonly wanted: string;
  readonly given: string;
}

/** The fault of an address that is more than a name and an offset; undefined if the brackets hold a constant. */
export function wrongBase(base: Operand, space: string | undefined): Fault | undefined {
  const wanted = 'a register or a variable, optionally plus a constant';
  if (base.kind === 'index') return undefined;
  if (base.kind === 'element') return { wanted, given: 'a part of a register' };
  if (base.kind === 'float') return { wanted, given: 'a float constant' };
  const [first] = namesOf(base);
  if (first === undefined) {
    if (space === 'local' || constantValue(base) === undefined) return undefined;
    return { wanted: 'a register or a variable', given: 'a constant, which only `.local` accesses accept' };
  }
  return addsToName(base) ? undefined : { wanted, given: 'another expression' };
}

/** Whether an expression starts with a name and a `+`, and contains no other name. */
function addsToName(base: Operand): boolean {
  if (namesOf(base).length !== 1) return false;
  let at = base;
  while (at.kind === 'binary' || at.kind === 'conditional') {
    const left: Operand = at.kind === 'binary' ? at.left : at.condition;
    if (left.kind === 'name') return at.kind === 'binary' && at.operator === '+';
    at = left;
  }
  return false;
}

function namesOf(operand: Operand): string[] {
  const names: string[] = [];
  const work = [operand];
  for (let node = work.pop(); node; node = work.pop()) {
    if ((node.kind === 'name' && node.name !== 'WARP_SZ') || node.kind === 'element' || node.kind === 'index') names.push(node.name);
    work.push(...partsOf(node));
  }
  return names;
}

/** Parameters of a function are read-only. */
export function wrongAccess(opcode: string, { isResult }: Named & { kind: 'param' }): Fault | undefined {
  return opcode === 'st' && !isResult ? { wanted: 'memory that can be written', given: 'a parameter of this function' } : undefined;
}

/** The state space of an instruction; undefined for a generic access. */
export function spaceOf({ modifiers }: FormMatch): string | undefined {
  const word = modifiers.space ?? memorySpaces.find((one) => modifiers[one] === true);
  return word === undefined ? undefined : String(word).replace(/::.*/, '');
}

/**
 * Checks 32-bit addresses in a module with 64-bit addresses: they reach shared, local, constant and parameter memory only. Reports CM1107.
 */
export function checkAddressWidth({ operands, row, modifiers, instruction }: Match, scope: Scope, diagnostics: Diagnostics): void {
  for (const { slot, node } of operands) {
    if (!slot.isAddress || node.kind !== 'address' || node.base.kind !== 'name') continue;
    const space = slot.space ?? spaceOf({ row, modifiers });
    if (space !== undefined && space !== 'global') continue;
    const symbol = lookUp(scope, node.base.name);
    if (symbol?.kind !== 'register' || bitsOfType(symbol.register.declared) !== 32) continue;
    const form = `an address of \`${instructionName(instruction)}\``;
    const holes = { operand: node.base.name, have: symbol.register.declared, form, want: 'b64' };
    diagnostics.report('CM1107', holes, { span: node.base.span, ...typeDeclared(symbol.register) });
  }
}
