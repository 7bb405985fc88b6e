/**
 * PTX: its syntax (grammar, parser, tree, printer) and its instructions (the table and the checker). This room knows syntax and meaning of
 * PTX; it does not know how to compile it. Start at `syntax/ast.ts`, then `syntax/parse.ts`; the grammar is `syntax/grammar.ohm`.
 */

export { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
export { SourceFile, type Span } from '../base/source.ts';
export { callsOf } from './check/call-graph.ts';
export type {
  Builtin,
  Checked,
  CheckedCall,
  CheckedFunction,
  CheckedInstruction,
  CheckedItem,
  Choices,
  Recursion,
} from './check/checked.ts';
export { forgetBody } from './check/checked.ts';
export { type ExplainedForm, explainForms, explainRow } from './check/explain.ts';
export { functionNumbers } from './check/function-addresses.ts';
export { immediateBits } from './check/immediate.ts';
export { type CheckOptions, check, type OpenedCheck, openCheck } from './check/index.ts';
export { type FormMatch, isMatch, matchForm, tryForm } from './check/match.ts';
export { laneOf, sink } from './check/operands.ts';
export {
  type Flat,
  flatten,
  functionScope,
  type LabelPlace,
  labelsOfList as labelsListed,
  lookUp,
  moduleScope,
  type Named,
  namesIn,
  placeOf,
  type Scope,
} from './check/scope.ts';
export * from './container/index.ts';
export { linkModules } from './link/index.ts';
export {
  clusterBarrierWord,
  clusterRank,
  clusterThreads,
  type Distances,
  distancesOf,
  endedThreads,
  ownAddress,
  rankOfAddress,
} from './model/clusters.ts';
export { type DeviceRuntimeKind, deviceRuntimeKind } from './model/device-runtime.ts';
export type {
  AccessSpace,
  AddressOperand,
  AnyLowered,
  AnySources,
  BarrierWord,
  ExchangeCode,
  Match,
  MatchedOperand,
  ProductExpansion,
  PtxType,
  PureCode,
  ReadingCode,
  ReadingOperands,
  Row,
  RowBuilder,
} from './model/row.ts';
export { specialRegisters } from './model/special-registers.ts';
export type { Register } from './model/types.ts';
export { isSignedType, lanesOfVariable, registerTypes } from './model/types.ts';
export * from './syntax/ast.ts';
export { type Constant, constantValue, integerConstant } from './syntax/constant.ts';
export { printAst } from './syntax/dump.ts';
export { partsOf } from './syntax/operand-parts.ts';
export { type ParseOptions, parse } from './syntax/parse.ts';
export { type Pieces, parsePieces } from './syntax/pieces.ts';
export { print, printFunctionHead, printInstruction, printOperand, printVariable } from './syntax/print.ts';
export { allRows, rowsByName } from './table/index.ts';
