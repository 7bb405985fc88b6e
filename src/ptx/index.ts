/**
 * PTX: its syntax (grammar, parser, tree, printer) and its instructions (the table and the checker). This room knows what
 * can be written and what it means; it does not know how it is compiled. Start at `ast.ts`, then `parse.ts`; the syntax
 * itself is `grammar.ohm`.
 */
export * from './ast.ts';
export { callsOf } from './call-graph.ts';
export { type CheckOptions, check } from './check.ts';
export { laneOf, sink } from './check-operands.ts';
export type { Builtin, Checked, CheckedCall, CheckedFunction, CheckedInstruction, CheckedItem, Choices } from './checked.ts';
export { type Constant, constantValue, integerConstant } from './constant.ts';
export * from './container/index.ts';
export { printAst } from './dump.ts';
export { functionNumbers } from './function-addresses.ts';
export { immediateBits } from './immediate.ts';
export { isMatch, matchForm } from './match.ts';
export { partsOf } from './operand-parts.ts';
export { type ParseOptions, parse } from './parse.ts';
export { print, printInstruction, printOperand, printVariable } from './print.ts';
export type { AccessSpace, AddressOperand, AnyLowered, AnySources, Match, MatchedOperand, PtxType, Row, RowBuilder } from './row.ts';
export { type LabelPlace, labelsListed, lookUp, type Named, type Register, type Scope } from './scope.ts';
export { specialRegisters } from './sregs.ts';
export { allRows, rowsByName } from './table/index.ts';
export { isSignedType, lanesOfVariable, registerTypes } from './types.ts';
