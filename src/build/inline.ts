/** Instructions of PTX as text, for what has no function here: parsed where they are written. */
import { Diagnostics } from '../base/diagnostic.ts';
import { type Item, type PtxFunction, parse, printOperand, SourceFile } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { type Handle, inRegister, nodeOf, type Operand } from './handle.ts';
import { trace } from './trace.ts';
import type { Type, TypeName } from './types.ts';
import { Value } from './value.ts';

type Results<R extends readonly Type[]> = { readonly [I in keyof R]: R[I] extends Type<infer T> ? Value<T> : never };

/**
 * Instructions as text. `%0`, `%1` and so on are the results in order, and behind them the operands, which are values in registers; `%%` is a
 * percent sign, as of special registers. What the parser does not take is CM5089 at this line; what the checker does not take is reported when
 * the kernel is made.
 * @example const [high] = inline('mul.hi.u32 %0, %1, %2;', [u32], [a, b]);
 */
export function inline<const R extends readonly Type[]>(text: string, results: R, operands: readonly Handle[] = []): Results<R> {
  const to = trace('inline');
  const made = results.map(({ name }) => new Value(name, to.fresh(name)));
  const names = [...made.map(({ register }) => register), ...operands.map((each) => printOperand(inRegister(each.type, each)))];
  const filled = text.replace(/%(%|\d+)/g, (_, word: string) => {
    if (word === '%') return '%';
    return names[Number(word)] ?? fail('CM5088', { what: `\`%${word}\``, why: `there are ${names.length} results and operands` });
  });
  for (const statement of bodyOf(filled)) {
    if (statement.kind === 'instruction') to.add(statement);
    else to.statements.push(statement);
  }
  return made as unknown as Results<R>;
}

function bodyOf(text: string): NonNullable<PtxFunction['body']> {
  const items = itemsOf(`.func inlined() {\n${text}\n}`);
  const [item] = items;
  return (item?.kind === 'function' && item.body) || fail('CM5089', { text, why: 'there is no instruction' });
}

/** The items of a text that is a part of a module. Throws CM5089. */
export function itemsOf(text: string): readonly Item[] {
  const diagnostics = new Diagnostics();
  const { items } = parse(new SourceFile('inline', text), diagnostics);
  const [error] = diagnostics.list;
  return error ? fail('CM5089', { text: text.replace(/^\.func.*\n|\n\}$/g, ''), why: error.message }) : items;
}

/** An operand as text. @internal */
export const textOf = (type: TypeName, operand: Operand<TypeName>): string => printOperand(nodeOf(type, operand));
