/** Registers of PTX: a kind for each width, as nvcc names them. Bits have the types `.b16` to `.b64`, which instructions on integers take as they are. */
import { bug } from '../../base/bug.ts';
import { isPointer, type Type } from '../../ir/index.ts';

const kinds = {
  p: { type: 'pred', bits: 1 },
  rs: { type: 'b16', bits: 16 },
  r: { type: 'b32', bits: 32 },
  rd: { type: 'b64', bits: 64 },
  f: { type: 'f32', bits: 32 },
  fd: { type: 'f64', bits: 64 },
} as const;
type Kind = keyof typeof kinds;

const kindOfType: Readonly<Record<string, Kind>> = {
  i1: 'p',
  i8: 'rs',
  i16: 'rs',
  f16: 'rs',
  bf16: 'rs',
  i32: 'r',
  i64: 'rd',
  f32: 'f',
  f64: 'fd',
};

const kindOf = (type: Type): Kind => (isPointer(type) ? 'rd' : (kindOfType[type] ?? bug(`no register for ${type}`)));

/** The type that `mov` and `selp` have for a value: `b32`, `pred`. */
export const moveType = (type: Type): string => kinds[kindOf(type)].type;

/** The type of the register with a name. */
export const typeOfRegister = (name: string): string => kinds[/^%([a-z]+)/.exec(name)![1] as Kind].type;

export interface Registers {
  /** A new register for a value of a type. */
  make(type: Type): string;
  /** A new register of the kind of another one. */
  makeLike(name: string): string;
  /** The declarations of all registers. */
  declarations(): string[];
}

/** The registers of one kernel, none at first. */
export function newRegisters(): Registers {
  const counts = new Map<Kind, number>();
  const next = (kind: Kind): string => {
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    return `%${kind}${number}`;
  };
  return {
    make: (type) => next(kindOf(type)),
    makeLike: (name) => next(/^%([a-z]+)/.exec(name)![1] as Kind),
    declarations: () =>
      (Object.keys(kinds) as Kind[]).flatMap((kind) => {
        const count = counts.get(kind);
        return count === undefined ? [] : [`.reg .${kinds[kind].type} %${kind}<${count + 1}>;`];
      }),
  };
}
