/** Names of variables: those of the registers and parameters of the source, made unique and legal in C. */
import type { SourceFile, Span } from '../base/source.ts';
import type { Kernel, Value } from '../ir/index.ts';

export interface Names {
  /** The name of a value's variable, the same at each call. */
  of(value: Value): string;
  /** A name that nothing else has. */
  unique(wanted: string): string;
}

/** A text as an identifier. */
export function identifier(text: string): string {
  const word = text
    .replaceAll(/\W+/g, '_')
    .replaceAll(/__+/g, '_')
    .replace(/^_+|_+$/g, '');
  return /^[A-Za-z]/.test(word) ? word : `v${word === '' ? '' : `_${word}`}`;
}

/** The name of a parameter: `saxpy_param_0`, as nvcc names them, is `param_0`. */
export function parameterName(kernel: Kernel, index: number): string {
  const { name } = kernel.params[index]!;
  return identifier(name.startsWith(`${kernel.name}_param_`) ? name.slice(kernel.name.length + 1) : name);
}

/** The register that the instruction at a place of PTX writes: its first operand. */
function registerAt(source: SourceFile | undefined, span: Span | undefined): string | undefined {
  if (!source || !span) return undefined;
  const found = /^(?:@!?[%\w$.]+\s+)?[a-z][\w.:]*\s+\{?\s*%?([A-Za-z_$][\w$]*)\s*[,|}]/.exec(source.text.slice(span.start, span.end));
  return found?.[1];
}

/** Names in one kernel, none of them reserved. */
export function newNames(kernel: Kernel, source: SourceFile | undefined, reserved: Iterable<string>): Names {
  const taken = new Set(reserved);
  const names = new Map<Value, string>();
  const unique = (wanted: string): string => {
    let name = wanted;
    for (let i = 1; taken.has(name); i++) name = `${wanted}_${i}`;
    taken.add(name);
    return name;
  };
  return {
    unique,
    of(value) {
      const known = names.get(value);
      if (known !== undefined) return known;
      const register = registerAt(source, kernel.locs[value]);
      const name = unique(register === undefined ? `v${value}` : identifier(register));
      names.set(value, name);
      return name;
    },
  };
}
