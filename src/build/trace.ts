/**
 * The kernel under construction: the statements so far, registers, labels, and the scopes of values. The body of a kernel is a function of
 * TypeScript that is called once; each operation in it adds instructions here, so that JavaScript's own `if` and `for` run while the kernel
 * is made.
 */
import type { Instruction, Item, Operand, Statement, Variable } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { type Condition, instructionNode, labelNode, locNode, nameNode } from './nodes.ts';
import { callerPlace, type Place } from './place.ts';
import { type TypeName, types } from './types.ts';

/** A region of the kernel in which values are defined; those of an open scope may be used. */
export interface Scope {
  readonly outer: Scope | undefined;
  /** The registers of computed values, by the instruction and its operands. */
  readonly known: Map<string, string>;
  isOpen: boolean;
}

/** A loop that is open. */
export interface Loop {
  readonly next: Label;
  readonly end: Label;
}

/** A label, printed only where something branches to it. */
export interface Label {
  readonly name: string;
  isUsed: boolean;
}

/** What the trace of a body is made with. */
export interface TraceOptions {
  /** The number of the newest architecture that the kernel may need; undefined for no limit. */
  readonly sm: number | undefined;
  /** Whether instructions name their lines of TypeScript. */
  readonly locations: boolean;
}

/** The kernel under construction. */
export class Trace {
  readonly name: string;
  readonly options: TraceOptions;
  readonly statements: Statement[] = [];
  /** Variables of the function: shared and local arrays. */
  readonly variables: Variable[] = [];
  /** Variables of the module, by name: dynamic shared memory, constants, globals, functions of the runtime. */
  readonly globals = new Map<string, Variable>();
  /** Functions without a body that are called, by name. */
  readonly declarations = new Map<string, Item>();
  /** The files of `.loc`, by path. */
  readonly files = new Map<string, number>();
  readonly loops: Loop[] = [];
  /** Special forms: what the target needs besides its instructions. */
  readonly needs: { sm: number; ptx: number }[] = [];
  /** What functions of the body say of the block: its threads along x alone, or the least number of them. */
  readonly block: { exactly?: number; least: number } = { least: 1 };
  scope: Scope = { outer: undefined, known: new Map(), isOpen: true };
  readonly #registers = new Map<string, number>();
  #labels = 0;
  #names = 0;
  #last: Place | undefined;

  constructor(name: string, options: TraceOptions) {
    this.name = name;
    this.options = options;
  }

  /** A new register for a value of a type. */
  fresh(type: TypeName): string {
    const { register } = types[type];
    const number = (this.#registers.get(register) ?? 0) + 1;
    this.#registers.set(register, number);
    return `%${register}${number}`;
  }

  /** The number of registers by prefix, of which the first is not used. */
  get registers(): ReadonlyMap<string, number> {
    return this.#registers;
  }

  /** A name for a variable. */
  named(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  /** A new label. */
  label(hint: string): Label {
    return { name: `$L_${hint}_${this.#labels++}`, isUsed: false };
  }

  /** Places a label, if something branches to it or will. */
  place(label: Label, always = false): void {
    if (always || label.isUsed) this.statements.push(labelNode(label.name));
  }

  /** Adds an instruction. */
  emit(name: string, operands: readonly Operand[] = [], guard?: Condition): void {
    this.add(instructionNode(name, operands, guard));
  }

  /** Adds an instruction that is made already. */
  add(instruction: Instruction): void {
    this.located();
    this.statements.push(instruction);
  }

  /** Adds a branch. */
  branch(label: Label, guard?: Condition): void {
    label.isUsed = true;
    this.emit('bra', [nameNode(label.name)], guard);
  }

  /** Runs a function in a scope of its own. */
  within<R>(run: () => R): R {
    this.open();
    try {
      return run();
    } finally {
      this.close();
    }
  }

  /** Opens a scope. */
  open(): void {
    this.scope = { outer: this.scope, known: new Map(), isOpen: true };
  }

  /** Closes the innermost scope: values of it cannot be used any more. */
  close(): void {
    this.scope.isOpen = false;
    this.scope = this.scope.outer!;
  }

  /** The register that has the result of an instruction already. */
  known(key: string): string | undefined {
    for (let scope: Scope | undefined = this.scope; scope; scope = scope.outer) {
      const found = scope.known.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Adds the line of TypeScript that adds what follows. */
  located(): void {
    if (!this.options.locations) return;
    const place = callerPlace();
    if (!place || (place.line === this.#last?.line && place.path === this.#last.path)) return;
    this.#last = place;
    const file = this.files.get(place.path) ?? this.files.size + 1;
    this.files.set(place.path, file);
    this.statements.push(locNode(file, place.line, place.column));
  }
}

let current: Trace | undefined;

/** The kernel under construction. Throws CM5084 outside of a kernel's body. */
export const trace = (what = 'an operation'): Trace => current ?? fail('CM5084', { what });

/** Runs the body of a kernel with a trace. */
export function tracing<R>(made: Trace, run: () => R): R {
  const outer = current;
  current = made;
  try {
    return run();
  } finally {
    current = outer;
    made.scope.isOpen = false;
  }
}
