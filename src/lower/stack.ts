/** Taking memory of a thread's stack (`stack-memory.ts`): a kernel whose stack is too small stops. */
import { stackAlign, type Value } from '../ir/index.ts';
import { type Context, lowerWhen } from './context.ts';
import { lowerStop, placeOf } from './faults.ts';
import { serviceParam } from './hidden-params.ts';
import { setStackTop, stackAt, stackTop } from './stack-memory.ts';

/** The bytes of the stack, an i32. */
function limitOf(c: Context): Value {
  const word = c.ir.param('ptr.global', { index: serviceParam(c.kernel, 'stack') });
  return c.ir.load('i32', word, { align: 4, volatile: false });
}

const constant = ({ ir }: Context, value: number): Value => ir.const('i32', value);

/** Takes the bytes of a frame from the stack, which is too small for it where it is; gives their offset. */
export function pushFrame(c: Context, bytes: number, what: string): Value {
  const from = stackTop(c);
  const to = c.ir.add(from, constant(c, bytes));
  lowerWhen(c, c.ir.icmp(to, limitOf(c), { pred: 'ugt' }), () =>
    lowerStop(c, `the stack of a thread is too small for ${what}${placeOf(c)}`),
  );
  setStackTop(c, to);
  return from;
}

/** Bytes of the stack, aligned, as `alloca` takes them; gives their address in local memory, an i64. */
export function allocateOnStack(c: Context, size: Value, align: Value): Value {
  const { ir } = c;
  const plus = (value: Value, by: number): Value => ir.add(value, constant(c, by));
  const wide = ir.typeOf(size) === 'i64' ? size : ir.zext('i64', size);
  const mask = ir.sub(align, constant(c, 1));
  const from = ir.and(ir.add(stackTop(c), mask), ir.xor(mask, constant(c, -1)));
  const limit = limitOf(c);
  // Where the offset alone is beyond the end, there is no room for anything.
  const isBeyond = ir.icmp(from, limit, { pred: 'ugt' });
  const room = ir.zext('i64', ir.sub(limit, from));
  const isFull = ir.or(isBeyond, ir.icmp(wide, room, { pred: 'ugt' }));
  lowerWhen(c, isFull, () => lowerStop(c, `the stack of a thread is too small for what \`alloca\` takes${placeOf(c)}`));
  // So that frames need no alignment of their own; the stack itself is a multiple of it.
  setStackTop(c, ir.and(plus(ir.add(from, ir.trunc('i32', wide)), stackAlign - 1), constant(c, -stackAlign)));
  return ir.ptrtoint('i64', stackAt(c, from));
}

/** Sets the end of the stack to an earlier one; any other value stops the kernel where memory would be taken. */
export function restoreStack(c: Context, to: Value): void {
  const { ir } = c;
  const isBeyond = ir.icmp(to, stackTop(c), { pred: 'ugt' });
  const isBetween = ir.icmp(ir.and(to, constant(c, stackAlign - 1)), constant(c, 0), { pred: 'ne' });
  lowerWhen(c, ir.or(isBeyond, isBetween), () => lowerStop(c, `\`stackrestore\` of a value that \`stacksave\` has not given${placeOf(c)}`));
  setStackTop(c, to);
}
