/** The state of a printer over one kernel: what every language of the C family has in common. */
import { bug } from '../base/bug.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Kernel } from '../ir/index.ts';
import { addressesOf } from './addresses.ts';
import type { Body } from './body.ts';
import { atom } from './expression.ts';
import type { Language, Printer } from './language.ts';
import { newLines } from './lines.ts';
import { identifier, newNames, parameterName } from './names.ts';

export interface PrinterOptions {
  readonly language: Language;
  readonly kernel: Kernel;
  readonly source: SourceFile | undefined;
  readonly diagnostics: Diagnostics;
  /** The name of the target in messages. */
  readonly target: string;
  readonly helpers: Set<string>;
  /** Names that variables may not have, besides those of the language. */
  readonly taken?: Iterable<string>;
  helper(key: string): string;
}

export interface NewPrinter {
  readonly p: Printer;
  /** By special register: the variable that has it. */
  readonly sregs: ReadonlyMap<string, string>;
  /** Names of the parameters. */
  readonly parameters: readonly string[];
  /** Gives the printer its body, which is made with the printer. */
  attach(body: Body): void;
}

/** The name of the function of a kernel: its own, unless the language has it. */
export function functionName({ reserved }: Language, { name }: Kernel): string {
  const word = name.replaceAll(/\W/g, '_');
  return reserved.has(word) || !/^[A-Za-z_]/.test(word) ? `kernel_${word}` : word;
}

/** A printer over a kernel, or over the body of a function. */
export function newPrinter(options: PrinterOptions): NewPrinter {
  const { language, kernel, source, diagnostics, target, helpers, taken = [], helper } = options;
  const names = newNames(kernel, source, [...language.reserved, ...taken]);
  const parameters = kernel.params.map((_, index) => names.unique(parameterName(kernel, index)));
  const sregs = new Map<string, string>();
  let body: Body | undefined;
  const owned = (): Body => body ?? bug('a printer without a body');
  const p: Printer = {
    language,
    kernel,
    addresses: addressesOf(kernel),
    names,
    lines: newLines(),
    diagnostics,
    helpers,
    helper,
    use: (value) => owned().use(value),
    typeOf: (value) => kernel.insts[value]!.type,
    define: (value, expression) => owned().define(value, expression),
    variable: (value) => owned().variable(value),
    parameter: (index) => parameters[index]!,
    windowName: (space) => (space === 'constant' ? `constants_of_${functionName(language, kernel)}` : `${space}_memory`),
    sreg(name) {
      const known = sregs.get(name) ?? names.unique(identifier(name.replace('.', '_')));
      sregs.set(name, known);
      return atom(known);
    },
    refuse(value, what, why) {
      const span = kernel.locs[value];
      diagnostics.report('CM2090', { what, target, why }, span ? { span } : {});
      return atom('0');
    },
  };
  const attach = (made: Body): void => {
    body = made;
  };
  return { p, sregs, parameters, attach };
}
