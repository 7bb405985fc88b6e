/** Functions of a kernel that read global memory, with branches and loops: long code of rows, which a kernel calls at each use (`fetch`). */
import { addBlock, addBlockParam, type Block, type Builder, type Kernel, type Value } from '../ir/index.ts';
import type { ReadingCode, ReadingOperands, RowBuilder } from '../ptx/index.ts';
import { addFunction } from './pure-function.ts';

/** The value of the function of a name, whose code is the same wherever the name is. */
export function callReading(kernel: Kernel, ir: Builder, name: string, operands: ReadingOperands, code: ReadingCode): Value {
  const types = operands.map((value) => ir.typeOf(value));
  const made = addFunction(
    kernel,
    name,
    types,
    (own, rows, inside) => code(branching(own, rows), inside as unknown as ReadingOperands),
    'reads',
  );
  const [a, b, c] = operands;
  return ir.fetch(made.body.insts[made.result]!.type, a, b, c, { fn: name });
}

/** Gives a builder for straight code of rows branches and loops. */
function branching(ir: Builder, straight: RowBuilder): RowBuilder {
  const { kernel } = ir;
  const choose: RowBuilder['choose'] = (cond, yes, no) => {
    const from = ir.block;
    const inside = (compute: () => readonly Value[]): { first: Block; last: Block; values: readonly Value[] } => {
      const first = addBlock(kernel);
      ir.block = first;
      const values = compute();
      return { first, last: ir.block, values };
    };
    const arms = [inside(yes), inside(no)] as const;
    const [then, otherwise] = arms;
    from.end = { op: 'condbr', cond, then: { block: then.first, args: [] }, else: { block: otherwise.first, args: [] } };
    ir.block = addBlock(kernel);
    for (const { last, values } of arms) last.end = { op: 'br', to: { block: ir.block, args: [...values] } };
    return then.values.map((value) => addBlockParam(kernel, ir.block, ir.typeOf(value)));
  };
  const repeat: RowBuilder['repeat'] = (count, first, body) => {
    const head = addBlock(kernel);
    ir.block.end = { op: 'br', to: { block: head, args: [ir.const('i32', 0), ...first] } };
    const i = addBlockParam(kernel, head, 'i32');
    const values = first.map((value) => addBlockParam(kernel, head, ir.typeOf(value)));
    ir.block = head;
    const cond = ir.icmp(i, count, { pred: 'ult' });
    const inside = addBlock(kernel);
    ir.block = inside;
    const next = [ir.add(i, ir.const('i32', 1)), ...body(i, values)];
    ir.block.end = { op: 'br', to: { block: head, args: next } };
    const after = addBlock(kernel);
    head.end = { op: 'condbr', cond, then: { block: inside, args: [] }, else: { block: after, args: [] } };
    ir.block = after;
    return values;
  };
  return Object.assign(straight, {
    choose,
    repeat,
    either: (cond: Value, yes: () => Value, no: () => Value): Value =>
      choose(
        cond,
        () => [yes()],
        () => [no()],
      )[0]!,
  });
}
