/**
 * PTX: its syntax (grammar, parser, tree, printer) and its instructions (the table and the checker). This room knows what
 * can be written and what it means; it does not know how it is compiled. Start at `ast.ts`, then `parse.ts`; the syntax
 * itself is `grammar.ohm`.
 */
export * from './ast.ts';
export { type Constant, constantValue, integerConstant } from './constant.ts';
export { printAst } from './dump.ts';
export { type ParseOptions, parse } from './parse.ts';
export { print, printInstruction, printOperand, printVariable } from './print.ts';
