/** One collective of a group at one place, with operands of this place: another place of the same collective has others. */
import { type Group, hex, type Thread } from './groups.ts';

/** The opcodes with their qualifiers, by family. Lanes wait for each other only at the same ones. */
export const families = {
  shfl: ['idx', 'up', 'down', 'bfly'].map((mode) => `shfl.sync.${mode}.b32`),
  vote: ['vote.sync.ballot.b32', 'vote.sync.all.pred', 'vote.sync.any.pred', 'vote.sync.uni.pred'],
  match: ['match.any.sync.b32', 'match.all.sync.b32', 'match.any.sync.b64', 'match.all.sync.b64'],
  redux: [
    ...['add', 'min', 'max'].flatMap((op) => [`redux.sync.${op}.u32`, `redux.sync.${op}.s32`]),
    ...['and', 'or', 'xor'].map((op) => `redux.sync.${op}.b32`),
  ],
  elect: ['elect.sync'],
  bar: ['bar.warp.sync'],
} as const;
export type Family = keyof typeof families;

/** Whether the result depends on which lanes of the mask have exited, so that a place has to know them. */
export const needsAlive = (opcode: string): boolean => /^(shfl|exchange|broadcast|ladder)/.test(opcode);

/** Writes a collective; `guard` is `@%p ` or empty. Its results are words that are the same in every run. */
export function collective(t: Thread, opcode: string, group: Group, guard = ''): string[] {
  const { w } = t;
  const mask = w.once(4) ? w.op('mov.b32', group.mask) : group.mask;
  const run = (text: string): void => w.emit(`${guard}${text}`);
  if (opcode.startsWith('shfl')) return shuffle(t, opcode, mask, group.alive, guard);
  if (opcode.startsWith('bar')) {
    run(`${opcode} ${mask};`);
    return [];
  }
  if (opcode.startsWith('elect')) {
    const [d, p] = [w.once(3) ? '_' : fresh(t, guard), freshPredicate(t, guard)];
    run(`${opcode} ${d}|${p}, ${mask};`);
    return [...(d === '_' ? [] : [d]), w.asWord(p, w.pick(1000))];
  }
  if (opcode.startsWith('vote')) return vote(t, opcode, mask, guard);
  const d = fresh(t, guard);
  if (opcode.startsWith('redux')) {
    run(`${opcode} ${d}, ${t.value()}, ${mask};`);
    return [d];
  }
  const key = opcode.endsWith('b64') ? wideKey(t) : w.op('and.b32', t.value(), w.oneOf([0, 1, 3, 8]));
  if (opcode.startsWith('match.any') || w.once(3)) {
    run(`${opcode} ${d}, ${key}, ${mask};`);
    return [d];
  }
  const p = freshPredicate(t, guard);
  run(`${opcode} ${d}|${p}, ${key}, ${mask};`);
  return [d, w.asWord(p, w.pick(1000))];
}

/** A word that is defined where the guard of the instruction which writes it does not hold. */
const fresh = ({ w }: Thread, guard: string): string => (guard ? w.op('mov.b32', w.pick(1000)) : w.word());
const freshPredicate = ({ w, lane }: Thread, guard: string): string => (guard ? w.test('lt.u32', lane, w.pick(33)) : w.predicate());

function wideKey(t: Thread): string {
  const { w } = t;
  const [low, high, key] = [w.op('and.b32', t.value(), w.pick(3)), w.op('and.b32', t.value(), w.pick(3)), w.wide()];
  w.emit(`mov.b64 ${key}, {${low}, ${high}};`);
  return key;
}

function vote(t: Thread, opcode: string, mask: string, guard: string): string[] {
  const { w } = t;
  const input = w.once(6) ? t.always : w.test('ne.u32', w.op('and.b32', t.value(), w.oneOf([1, 2, 31])), 0);
  const operand = w.once(4) ? `!${input}` : input;
  const isBallot = opcode.endsWith('b32');
  const d = isBallot ? fresh(t, guard) : freshPredicate(t, guard);
  w.emit(`${guard}${opcode} ${d}, ${operand}, ${mask};`);
  return [isBallot ? d : w.asWord(d, w.pick(1000))];
}

/** A shuffle. The manual leaves the result open if the source lane is not in the mask or has exited; it is then replaced. */
function shuffle(t: Thread, opcode: string, mask: string, alive: string, guard: string): string[] {
  const { w, lane } = t;
  const mode = opcode.split('.')[2]!;
  const segments = w.oneOf([0, 0, 0x1000, 0x1800, 0x1c00, 0x1e00]);
  const clamp = mode === 'up' ? w.oneOf([0, 0, 0, 3]) : w.oneOf([31, 31, 31, 15]);
  const by = source(t, mode, alive);
  // A lane of the warp is always valid.
  const isValid = (mode === 'idx' || mode === 'bfly') && segments === 0 && clamp === 31;
  const c = w.once(4) ? w.op('mov.b32', segments | clamp) : segments | clamp;
  const [d, p] = [fresh(t, guard), isValid && w.once(2) ? undefined : freshPredicate(t, guard)];
  w.emit(`${guard}${opcode} ${d}${p ? `|${p}` : ''}, ${t.value()}, ${by}, ${c}, ${mask};`);
  const b = w.op('and.b32', by, 31);
  const j = {
    up: () => w.op('sub.u32', lane, b),
    down: () => w.op('add.u32', lane, b),
    bfly: () => w.op('xor.b32', lane, b),
    idx: () => w.op('or.b32', w.op('and.b32', lane, segments >> 8), w.op('and.b32', b, hex(~(segments >> 8)))),
  }[mode]!();
  const isSource = w.op('and.b32', w.op('shr.u32', alive, w.op('and.b32', j, 31)), 1);
  if (!p) return [w.op('selp.b32', d, w.pick(1000), w.test('ne.u32', isSource, 0))];
  // A lane without a valid source reads its own value.
  const isDefined = w.test('ne.u32', w.op('or.b32', isSource, w.asWord(p, 0, 1)), 0);
  return [w.op('selp.b32', d, w.pick(1000), isDefined), w.asWord(p, w.pick(1000))];
}

/** The operand b of a shuffle: a lane that takes part, a distance, or any word. */
function source(t: Thread, mode: string, alive: string): string {
  const { w } = t;
  if (mode === 'idx' && w.once(2)) return w.lowest(alive);
  if (mode === 'idx' && w.once(3)) return w.op('and.b32', w.op('add.u32', t.lane, 1 + w.pick(31)), 31);
  if (w.once(2)) return String(w.oneOf([1, 2, 4, 8, 16, 3, 7, 31]));
  return w.op('and.b32', t.value(), 31);
}
