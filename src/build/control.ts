/** Control flow: branches and loops as functions of TypeScript. Each body is called once, and its instructions run as often as the loop says. */
import { fail } from './fail.ts';
import { computed, conditionOf, type Handle, nodeOf, type Operand, settled } from './handle.ts';
import { integerNode, nameNode } from './nodes.ts';
import { type Label, type Loop, type Trace, trace } from './trace.ts';
import { type IndexName, isSigned, types } from './types.ts';
import { type Typed, Value } from './value.ts';

/** Runs a part of the kernel if a condition holds, and another one if it does not. */
export function when(condition: Handle<'pred'>, then: () => void, otherwise?: () => void): void {
  const to = trace('when');
  const other = to.label('else');
  to.branch(other, conditionOf(condition, true));
  to.within(then);
  if (!otherwise) {
    to.place(other);
    return;
  }
  const end = to.label('endif');
  to.branch(end);
  to.place(other);
  to.within(otherwise);
  to.place(end);
}

/** What a counter is compared with: the type of the counter comes from a value, and is u32 if all are constants. */
type Bound<T extends IndexName> = Operand<T>;

/**
 * Runs a body with a counter from `from` to before `to`, by `step`. A step that is a negative constant counts down to before `to`; any other
 * step counts up, and the sum of it and of a bound that is a value has to fit the type. The bounds are read once.
 */
export function loop(from: number, to: number, step: number, body: (i: Value<'u32'>) => void): void;
/** Runs a body with a counter of the type of its bounds: that of the first one which is no constant. */
export function loop<T extends IndexName>(from: number | bigint, to: number | bigint, step: Typed<T>, body: (i: Value<T>) => void): void;
/** Runs a body with a counter of the type of its end. */
export function loop<T extends IndexName>(from: number | bigint, to: Typed<T>, step: Bound<NoInfer<T>>, body: (i: Value<T>) => void): void;
/** Runs a body with a counter of the type of its start. */
export function loop<T extends IndexName>(
  from: Typed<T>,
  to: Bound<NoInfer<T>>,
  step: Bound<NoInfer<T>>,
  body: (i: Value<T>) => void,
): void;
/** The implementation. */
export function loop(from: Operand<IndexName>, to: Operand<IndexName>, step: Operand<IndexName>, body: (i: Value<never>) => void): void {
  const counter = openLoop(from, to, step);
  counter.inside(() => body(counter.value as Value<never>));
  counter.end();
}

/**
 * A loop for JavaScript's `for`: `for (const i of range(0, n)) { … }`. The statement runs once while the kernel is made. `break` of JavaScript
 * ends the loop where it is; use `breakLoop` in a `when`.
 */
export function range(from: number, to: number, step?: number): Generator<Value<'u32'>, void>;
/** A loop with a counter of the type of its bounds: that of the first one which is no constant. */
export function range<T extends IndexName>(from: number | bigint, to: number | bigint, step: Typed<T>): Generator<Value<T>, void>;
/** A loop with a counter of the type of its end. */
export function range<T extends IndexName>(from: number | bigint, to: Typed<T>, step?: Bound<NoInfer<T>>): Generator<Value<T>, void>;
/** A loop with a counter of the type of its start. */
export function range<T extends IndexName>(from: Typed<T>, to: Bound<NoInfer<T>>, step?: Bound<NoInfer<T>>): Generator<Value<T>, void>;
/** The implementation. */
export function* range(from: Operand<IndexName>, to: Operand<IndexName>, step: Operand<IndexName> = 1): Generator<unknown, void> {
  const counter = openLoop(from, to, step);
  let isLeft = true;
  trace().open();
  try {
    yield counter.value;
    isLeft = false;
  } finally {
    if (isLeft) breakLoop();
    trace().close();
    counter.end();
  }
}

interface Counter {
  readonly value: Value<IndexName>;
  inside(run: () => void): void;
  end(): void;
}

const isTyped = (given: Operand<IndexName>): given is Exclude<Operand<IndexName>, number | bigint> => typeof given === 'object';

/** The type of a counter: that of a bound which has one. */
const counterType = (bounds: readonly Operand<IndexName>[]): IndexName =>
  bounds.find(isTyped)?.type ?? (bounds.some((bound) => Number(bound) < 0) ? 's32' : 'u32');

/** Starts a loop: the counter, the test before the first round, and the label of the body. */
function openLoop(from: Operand<IndexName>, to: Operand<IndexName>, step: Operand<IndexName>): Counter {
  const made = trace('loop');
  const type = counterType([from, to, step]);
  if (step === 0 || step === 0n) fail('CM5088', { what: 'a loop', why: 'a step of 0 never ends it' });
  const isDown = !isTyped(step) && Number(step) < 0;
  const [first, last] = [nodeOf(type, from), bound(type, to)];
  const by = isDown ? nodeOf(type, -Number(step)) : bound(type, step);
  const until = lastStart(type, last, to, step);
  const register = made.fresh(type);
  const opened = openScope(made);
  made.emit(`mov.${type}`, [nameNode(register), first]);
  const isCertain = !isTyped(from) && !isTyped(to) && (isDown ? Number(from) > Number(to) : Number(from) < Number(to));
  if (!isCertain) {
    const truth = made.fresh('pred');
    made.emit(`setp.${isDown ? 'le' : 'ge'}.${type}`, [nameNode(truth), nameNode(register), last]);
    made.branch(opened.loop.end, { register: truth, negated: false });
  }
  made.place(opened.head, true);
  return {
    value: new Value(type, register),
    inside: (run) => made.within(run),
    end: () => {
      made.place(opened.loop.next);
      const truth = made.fresh('pred');
      const relation = `setp.${isDown ? 'gt' : 'lt'}.${type}`;
      if (until) made.emit(relation, [nameNode(truth), nameNode(register), until]);
      made.emit(`${isDown ? 'sub' : 'add'}.${type}`, [nameNode(register), nameNode(register), by]);
      if (!until) made.emit(relation, [nameNode(truth), nameNode(register), last]);
      made.branch(opened.head, { register: truth, negated: false });
      closeScope(made, opened.loop);
    },
  };
}

/** A bound that does not change while the loop runs. */
const bound = (type: IndexName, given: Operand<IndexName>): ReturnType<typeof nodeOf> => {
  const node = nodeOf(type, given);
  return node.kind === 'name' && isTyped(given) && 'register' in given ? nameNode(settled(given)) : node;
};

/**
 * The bound of counters that another round follows, where a step could leave the range of the type: what is compared before the step. Upwards
 * to a value the bound itself is compared after it, as in C, and a loop's documentation says that their sum fits.
 */
function lastStart(
  type: IndexName,
  last: ReturnType<typeof nodeOf>,
  to: Operand<IndexName>,
  step: Operand<IndexName>,
): ReturnType<typeof nodeOf> | undefined {
  if (isTyped(step) || Math.abs(Number(step)) === 1) return undefined;
  const by = BigInt(step);
  const { bits } = types[type];
  const [least, most] = isSigned(type) ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] : [0n, 2n ** BigInt(bits) - 1n];
  if (!isTyped(to)) {
    const limit = BigInt(to) - by;
    const isInside = by > 0n ? BigInt(to) + by <= most : BigInt(to) + by >= least;
    return isInside ? undefined : integerNode(limit);
  }
  if (by > 0n) return undefined;
  const kept = nameNode(computed(type, `min.${type}`, [last, integerNode(most + by)]));
  return nameNode(computed(type, `add.${type}`, [kept, integerNode(-by)]));
}

interface Opened {
  readonly head: Label;
  readonly loop: Loop;
}

function openScope(made: Trace): Opened {
  const loop = { next: made.label('next'), end: made.label('end') };
  made.loops.push(loop);
  made.open();
  return { head: made.label('loop'), loop };
}

function closeScope(made: Trace, { end }: Loop): void {
  made.close();
  made.loops.pop();
  made.place(end);
}

/** Runs a body as long as a condition holds, which is computed before each round. Variables (`local`) carry what changes. */
export function loopWhile(condition: () => Handle<'pred'>, body: () => void): void {
  const made = trace('loopWhile');
  const { head, loop: opened } = openScope(made);
  made.place(head, true);
  made.branch(opened.end, conditionOf(condition(), true));
  made.within(body);
  made.place(opened.next);
  made.branch(head);
  closeScope(made, opened);
}

/** Runs a body, and again as long as a condition holds, which the body returns. */
export function repeatWhile(body: () => Handle<'pred'>): void {
  const made = trace('repeatWhile');
  const { head, loop: opened } = openScope(made);
  made.place(head, true);
  const truth = body();
  made.place(opened.next);
  if (opened.next.isUsed) fail('CM5088', { what: '`continueLoop` in `repeatWhile`', why: 'the condition would not be computed' });
  made.branch(head, conditionOf(truth, false));
  closeScope(made, opened);
}

const innermost = (what: string): Loop =>
  trace(what).loops.at(-1) ?? fail('CM5088', { what: `\`${what}\``, why: 'there is no loop around it' });

/** Leaves the innermost loop. */
export const breakLoop = (): void => trace().branch(innermost('breakLoop').end);

/** Starts the next round of the innermost loop. */
export const continueLoop = (): void => trace().branch(innermost('continueLoop').next);

/** Ends the thread. */
export const exit = (): void => trace('exit').emit('ret');
