/** The values and blocks of a function in text, which instructions refer to before they are defined. */
import type { Block, Instruction, Function as LlvmFunction, Value } from '../model.ts';
import { type Type, types } from '../types.ts';
import { readConstant } from './constants.ts';
import type { Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';
import { readType } from './types.ts';

export class Body {
  readonly reader: TextReader;
  readonly symbols: Symbols;
  readonly fn: LlvmFunction;
  private readonly values = new Map<string, Value>();
  private readonly blocks = new Map<string, Block>();
  /** Types under which instructions were referred to before their definition. */
  private readonly expected = new Map<Value, Type>();
  private readonly defined = new Set<object>();

  constructor(reader: TextReader, symbols: Symbols, fn: LlvmFunction) {
    this.reader = reader;
    this.symbols = symbols;
    this.fn = fn;
  }

  addArgument(name: string, value: Value): void {
    this.values.set(name, value);
    this.defined.add(value);
  }

  /** A block by name, which may be defined later. */
  block(name: string): Block {
    const known = this.blocks.get(name) ?? { kind: 'block', name: isNumber(name) ? undefined : name, body: [] };
    this.blocks.set(name, known);
    return known;
  }

  defineBlock(name: string): Block {
    const block = this.block(name);
    if (this.defined.has(block)) this.reader.fail(`block \`%${name}\` is defined twice`);
    this.defined.add(block);
    return block;
  }

  label(): Block {
    if (!this.reader.takeWord('label')) this.reader.fail('expected `label`');
    return this.block(this.reader.name('%'));
  }

  /** Gives a name its instruction; what referred to it before refers to it now. */
  define(name: string, inst: Instruction): Instruction {
    const known = this.values.get(name);
    if (known && this.defined.has(known)) this.reader.fail(`\`%${name}\` is defined twice`);
    const wanted = known && this.expected.get(known);
    if (wanted !== undefined && wanted !== inst.type) this.reader.fail(`\`%${name}\` is used as another type before`);
    const value = Object.assign(known ?? {}, inst, isNumber(name) ? {} : { name }) as Instruction;
    this.values.set(name, value);
    this.defined.add(value);
    return value;
  }

  /** Fails if something was used and not defined. */
  finish(): void {
    for (const [name, value] of this.values) if (!this.defined.has(value)) this.reader.fail(`\`%${name}\` is not defined`);
    for (const [name, block] of this.blocks) if (!this.defined.has(block)) this.reader.fail(`block \`%${name}\` is not defined`);
  }

  type(): Type {
    return readType(this.reader, this.symbols);
  }

  /** A type and a value of it. */
  typed(): Value {
    return this.value(this.type());
  }

  /** A value of a type. */
  value(type: Type): Value {
    if (this.reader.peek() !== '%') return readConstant(this.reader, this.symbols, type);
    return this.named(this.reader.name('%'), type);
  }

  /** The value of a name, which has a type. */
  named(name: string, type: Type): Value {
    const known = this.values.get(name);
    if (!known) return this.later(name, type);
    const own = this.defined.has(known) ? known.type : this.expected.get(known);
    return own === type ? known : this.reader.fail(`\`%${name}\` has another type`);
  }

  private later(name: string, type: Type): Value {
    const made = { kind: 'instruction', type } as Instruction;
    this.values.set(name, made);
    this.expected.set(made, type);
    return made;
  }

  integer(): number {
    return this.reader.number();
  }

  /** An `i32` constant of 1: the count of an `alloca` without one. */
  one(): Value {
    return { kind: 'constant', form: 'int', type: types.i32, value: 1n };
  }
}

export const isNumber = (name: string): boolean => /^\d+$/.test(name);
