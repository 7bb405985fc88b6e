/** What the printers of structured code spell differently: declarations, jumps and scopes, in C and in WGSL. */

export interface Syntax {
  /** A variable without a value. */
  declaration(type: string, name: string): string;
  /** A variable that has its value from its declaration on, and no other. */
  definition(type: string, name: string, value: string): string;
  /** A variable with a first value. */
  variable(type: string, name: string, value: string): string;
  /** An expression whose value nothing uses. */
  statement(expression: string): string;
  /** The type of the variables of control flow. */
  readonly word: string;
  /** The type of an offset in a window. */
  readonly offset: string;
  /** `if (condition) break;` in one line. */
  jumpIf(condition: string, jump: string): string;
  /** The condition and the jump of such a line. */
  readonly jumpPattern: RegExp;
  /** A construct that runs once, and that `break` leaves. */
  readonly scope: string;
  /** Its end, behind a jump or not. */
  scopeEnd(isBehindJump: boolean): readonly string[];
  readonly forever: string;
  /** A way out of a loop without one, which no thread takes, where the language demands one. */
  readonly wayOut?: string;
  /** Whether a loop may have its condition at its end. */
  readonly hasDoWhile: boolean;
  case(number: number): string;
  /** What ends the cases of a switch. */
  readonly otherwise: readonly string[];
  /** The parts of a line that declares a variable without a value. */
  declared(line: string): { readonly indent: string; readonly name: string; with(value: string): string } | undefined;
}

const cDeclaration = /^(\s*)((?:\w+ )+|(?:\w+ )+\w+ \*)(\w+);$/;

export const cSyntax: Syntax = {
  declaration: (type, name) => `${type} ${name};`,
  definition: (type, name, value) => `${type} ${name} = ${value};`,
  variable: (type, name, value) => `${type} ${name} = ${value};`,
  statement: (expression) => `${expression};`,
  word: 'uint',
  offset: 'ulong',
  jumpIf: (condition, jump) => `if (${condition}) ${jump}`,
  jumpPattern: /^\s*if \((.*)\) break;$/,
  scope: 'do {',
  scopeEnd: () => ['} while (0);'],
  forever: 'for (;;) {',
  hasDoWhile: true,
  case: (number) => `case ${number}: {`,
  otherwise: [],
  declared(line) {
    const [, indent, type, name] = cDeclaration.exec(line) ?? [];
    if (name === undefined || type!.trim() === 'return') return undefined;
    return { indent: indent!, name, with: (value) => `${indent}${type}${name} = ${value};` };
  },
};

const wgslDeclaration = /^(\s*)var (\w+): (.*);$/;

export const wgslSyntax: Syntax = {
  declaration: (type, name) => `var ${name}: ${type};`,
  definition: (_, name, value) => `let ${name} = ${value};`,
  variable: (_, name, value) => `var ${name} = ${value};`,
  statement: (expression) => `_ = ${expression};`,
  word: 'u32',
  offset: 'u64',
  jumpIf: (condition, jump) => `if (${condition}) { ${jump} }`,
  jumpPattern: /^\s*if \((.*)\) \{ break; \}$/,
  scope: 'loop {',
  scopeEnd: (isBehindJump) => (isBehindJump ? ['}'] : ['  break;', '}']),
  forever: 'loop {',
  // The word is zero.
  wayOut: 'if (launch[6] != 0u) { break; }',
  hasDoWhile: false,
  case: (number) => `case ${number}u: {`,
  otherwise: ['default: {', '}'],
  declared(line) {
    const [, indent, name, type] = wgslDeclaration.exec(line) ?? [];
    if (name === undefined || type!.includes('=')) return undefined;
    return { indent: indent!, name, with: (value) => `${indent}var ${name}: ${type} = ${value};` };
  },
};
