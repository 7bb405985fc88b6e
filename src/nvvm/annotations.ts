/** Annotations of functions and variables: what headers say that LLVM has no attribute for. Source: LLVM Language Reference, `llvm.global.annotations`. */
import type { Constant, GlobalVariable, Function as LlvmFunction, Module } from '../bitcode/index.ts';

export interface Annotation {
  /** The function or variable. */
  readonly of: Constant | GlobalVariable | LlvmFunction | undefined;
  readonly text: string;
  /** The integers behind the text. */
  readonly numbers: readonly number[];
}

/** The annotations of a module. */
export function annotationsOf({ globals }: Module): Annotation[] {
  const list = globals.find(({ name }) => name === 'llvm.global.annotations')?.init;
  return partsOf(list).map((entry) => {
    const [of, text, , , numbers] = partsOf(entry).map(withoutCasts);
    return { of, text: textOf(contentOf(text)), numbers: partsOf(contentOf(numbers)).map(numberOf) };
  });
}

const partsOf = (value: Constant | undefined): readonly Constant[] =>
  value?.kind === 'constant' && value.form === 'aggregate' ? value.elements : [];

const contentOf = (value: Constant | undefined): Constant | undefined => (value?.kind === 'global' ? value.init : undefined);

const numberOf = (value: Constant): number => (value.kind === 'constant' && value.form === 'int' ? Number(value.value) : 0);

const withoutCasts = (value: Constant): Constant =>
  value.kind === 'constant' && value.form === 'cast' ? withoutCasts(value.value) : value;

/** The text of a C string. */
const textOf = (value: Constant | undefined): string => String.fromCharCode(...partsOf(value).slice(0, -1).map(numberOf));
