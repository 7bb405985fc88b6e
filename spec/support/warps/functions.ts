/** Functions of a program: collectives of a group that the caller names, in the function's own flow. */
import { collective } from './collectives.ts';
import type { Group, Thread } from './groups.ts';
import type { DeviceFunction } from './place.ts';
import { Writer } from './writer.ts';

/** Calls a function whose collectives are of a group; gives its result. */
export function callOf({ w, value }: Thread, { name }: DeviceFunction, { mask, alive }: Group): string {
  const d = w.word();
  w.emit('{', ...['x', 'y', 'z', 'u', 'v'].map((each) => `.param .b32 ${each};`));
  for (const [param, each] of Object.entries({ x: value(), y: value(), z: mask, u: alive }))
    w.emit(`st.param.b32 [${param}], ${w.op('mov.b32', each)};`);
  w.emit(`call (v), ${name}, (x, y, z, u);`, `ld.param.b32 ${d}, [v];`, '}');
  return d;
}

/** A function of the words x and y, with the group's mask z and the lanes u of it that have not exited. */
export function deviceFunction(
  draw: () => bigint,
  number: number,
  opcodes: readonly string[],
  others: readonly DeviceFunction[],
): DeviceFunction {
  const name = `f${number}`;
  const w = new Writer(draw, name);
  const [x, y, mask, alive] = ['x', 'y', 'z', 'u'].map((each) => w.op('ld.param.b32', `[${name}${each}]`)) as [
    string,
    string,
    string,
    string,
  ];
  const lane = w.op('mov.u32', '%laneid');
  const sum = w.op('mov.b32', x);
  const thread: Thread = {
    w,
    lane,
    warp: w.op('shr.u32', w.op('mov.u32', '%tid.x'), 5),
    exists: alive,
    always: w.test('eq.u32', lane, lane),
    isPartial: false,
    value: () => w.oneOf([x, y, sum, sum, lane]),
  };
  const chosen = w.once(3)
    ? Array<string>(2 + w.pick(2)).fill(w.oneOf(opcodes))
    : Array.from({ length: 1 + w.pick(2) }, () => w.oneOf(opcodes));
  const mix = (words: readonly string[]): void =>
    w.emit(...words.map((each) => `mad.lo.u32 ${sum}, ${sum}, ${3 + 2 * w.pick(20)}, ${each};`));
  const perform = (opcode: string) => (): void => mix(collective(thread, opcode, { mask, alive }));
  const isRun = chosen.length > 1 && chosen.every((each) => each === chosen[0]);
  if (isRun) {
    const [i, top] = [w.op('mov.u32', 0), w.label()];
    w.emit(`${top}:`);
    perform(chosen[0]!)();
    w.emit(`add.u32 ${i}, ${i}, 1;`);
    w.emit(`@${w.test('lt.u32', i, chosen.length)} bra ${top};`);
  } else
    for (const opcode of chosen) {
      if (w.once(2)) w.ifElse(w.test('lt.u32', w.op('and.b32', y, 7), 1 + w.pick(6)), perform(opcode), perform(opcode));
      else perform(opcode)();
      if (w.once(2)) w.ifElse(w.test('ne.u32', w.op('and.b32', sum, 1), 0), () => mix([y]));
    }
  const inner = others.length > 0 && w.once(2) ? w.oneOf(others) : undefined;
  if (inner) mix([callOf(thread, inner, { mask, alive })]);
  const params = ['x', 'y', 'z', 'u'].map((each) => `.param .b32 ${name}${each}`).join(', ');
  const lines = w.text([], [`st.param.b32 [${name}v], ${sum};`, 'ret;']);
  return {
    name,
    opcodes: [...chosen, ...(inner?.opcodes ?? [])],
    lines: [`.func (.param .b32 ${name}v) ${name}(${params})`, '{', ...lines, '}'],
  };
}
