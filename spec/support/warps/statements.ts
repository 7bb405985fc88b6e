/**
 * The statements of a program. The rule that makes it legal: at every place all lanes of a group that have not exited perform the same
 * collectives of the group in the same order. Where they stand meanwhile is up to each lane: in an arm of a branch, in an iteration of a
 * loop, or in a function.
 */
import { collective, needsAlive } from './collectives.ts';
import { callOf } from './functions.ts';
import { ballot, condition, type Group, partition, split } from './groups.ts';
import { aggregate, blockSum, broadcast, exchange, newCell, phase, pingPong, spin, warpSpin } from './memory.ts';
import type { Maker, Owed, Place, Statement } from './place.ts';

/** Statements of a place, among which all owed collectives are performed. */
export function body(m: Maker, place: Place, owed: readonly Owed[] = [], most = 3): void {
  const rest = [...owed];
  let count = m.w.pick(most + 1);
  while (rest.length > 0 || count > 0) {
    if (rest.length > 0 && (count === 0 || m.w.once(2))) take(m, place, rest);
    else {
      count--;
      statement(m, place);
    }
  }
}

/** Performs the first of the owed collectives, or several of them, in one of many ways. */
function take(m: Maker, place: Place, rest: Owed[]): void {
  const { w } = m;
  const same = rest.findIndex(({ opcode, group }) => opcode !== rest[0]!.opcode || group !== rest[0]!.group);
  const run = same < 0 ? rest.length : same;
  if (rest[0]!.cell === undefined && run > 1 && place.loops < 2 && w.once(2)) return loopOver(m, rest[0]!, rest.splice(0, run).length);
  const called = m.functions.filter(({ opcodes }) => isNext(rest, opcodes));
  if (called.length > 0 && w.once(2)) {
    const one = w.oneOf(called);
    return m.mix([callOf(m, one, rest.splice(0, one.opcodes.length)[0]!.group)]);
  }
  if (m.statements.includes('partition') && place.depth < 4 && w.once(8)) {
    const inside = { ...place, own: partition(m, place.own), depth: place.depth + 1, mayExit: false };
    return body(m, inside, rest.splice(0, 1 + w.pick(rest.length)), 1);
  }
  if (m.statements.includes('arms') && place.depth < 4 && m.left > 0 && w.once(3)) {
    m.left--;
    const some = rest.splice(0, 1 + w.pick(Math.min(3, rest.length)));
    return divide(
      m,
      place,
      some.flatMap((each) => (w.once(3) ? [...ownOnes(m, place, 1), each] : [each])),
    );
  }
  perform(m, rest.shift()!);
}

const isNext = (rest: readonly Owed[], opcodes: readonly string[]): boolean =>
  opcodes.every((opcode, i) => rest[i]?.opcode === opcode && rest[i]!.group === rest[0]!.group);

const ownOnes = (m: Maker, { own }: Place, count: number): Owed[] =>
  Array.from({ length: count }, () => ({ opcode: m.w.oneOf(m.opcodes), group: own }));

/** One owed collective, here. */
function perform(m: Maker, { opcode, group, cell }: Owed): void {
  if (cell !== undefined) blockSum(m, cell, 'barrier.sync 0;');
  else if (opcode.startsWith('ladder')) ladder(m, opcode.split(' ')[1]!, group);
  else if (opcode === 'exchange') exchange(m, group);
  else if (opcode === 'broadcast') broadcast(m, group);
  else m.mix(collective(m, opcode, group));
}

const ladderModes = ['bfly', 'down', 'idx'];

/** Shuffles by ever smaller or larger distances in a loop, as sums over a warp have them. */
function ladder(m: Maker, mode: string, group: Group): void {
  const { w } = m;
  const isDown = w.once(2);
  const opcode = `shfl.sync.${mode}.b32`;
  const [by, top] = [w.op('mov.u32', isDown ? 16 : 1), w.label()];
  const sum = w.op('mov.b32', m.value());
  w.emit(`${top}:`);
  const [lane, d] = [m.lane, w.word()];
  const from = opcode.includes('down') ? w.op('add.u32', lane, by) : w.op('xor.b32', lane, by);
  w.emit(`${opcode} ${d}, ${sum}, ${opcode.includes('idx') ? from : by}, 31, ${group.mask};`);
  // Beyond the last lane there is the own value.
  const isThere = w.op('shr.u32', w.op('and.b32', group.alive, w.op('shl.b32', 1, from)), from);
  const isDefined = w.test('ne.u32', w.op('or.b32', isThere, w.op('shr.u32', from, 5)), 0);
  w.emit(`add.u32 ${sum}, ${sum}, ${w.op('selp.b32', d, 1, isDefined)};`);
  w.emit(isDown ? `shr.u32 ${by}, ${by}, 1;` : `shl.b32 ${by}, ${by}, 1;`);
  w.emit(`@${w.test('ne.u32', w.op('and.b32', by, 31), 0)} bra ${top};`);
  m.mix([sum]);
}

/** The same collective several times, in a loop; each lane may begin some iterations later. */
function loopOver(m: Maker, owed: Owed, times: number): void {
  const { w } = m;
  if (w.once(2)) skewed(m, times, () => perform(m, owed));
  else
    counted(m, times, () => {
      perform(m, owed);
      if (w.once(2)) scalar(m);
    });
}

/** A loop with a constant number of iterations. */
function counted(m: Maker, times: number, inside: (i: string) => void): void {
  const { w } = m;
  const [i, top] = [w.op('mov.u32', 0), w.label()];
  w.emit(`${top}:`);
  inside(i);
  w.emit(`add.u32 ${i}, ${i}, 1;`);
  w.emit(`@${w.test('lt.u32', i, times)} bra ${top};`);
}

/** A loop in which each lane does something so many times, beginning at an iteration of its own. */
function skewed(m: Maker, times: number, inside: () => void): void {
  const { w } = m;
  const most = 1 + w.pick(3);
  const delay = w.op('min.u32', w.op('and.b32', w.once(2) ? m.lane : m.value(), 3), most);
  const [i, top, out] = [w.op('mov.u32', 0), w.label(), w.label()];
  const leavesEarly = w.once(2);
  w.emit(`${top}:`);
  if (w.once(2)) scalar(m);
  const at = w.op('sub.u32', i, delay);
  w.ifElse(w.test('lt.u32', at, times), inside, w.once(2) ? () => scalar(m) : undefined);
  w.emit(`add.u32 ${i}, ${i}, 1;`);
  if (leavesEarly) w.emit(`@${w.test('ge.s32', w.op('sub.u32', i, delay), times)} bra ${out};`);
  w.emit(`@${w.test('lt.u32', i, times + most)} bra ${top};`, `${out}:`);
}

/** Both arms of a branch perform the owed collectives. */
function divide(m: Maker, place: Place, owed: readonly Owed[]): void {
  const mayExit = place.mayExit && place.depth === 0 && !owed.some(({ opcode }) => needsAlive(opcode));
  if (m.w.once(6)) return divideByValue(m, { ...place, mayExit }, owed);
  const { p, yes, no } = split(m, place.own);
  const inside = (own: Group) => (): void => body(m, { ...place, own, depth: place.depth + 1, mayExit }, owed, 2);
  m.w.ifElse(p, inside(yes), owed.length > 0 || m.w.once(2) ? inside(no) : undefined);
}

/** Each of several arms performs the owed collectives; lanes of an arm find each other by the value that led them there. */
function divideByValue(m: Maker, place: Place, owed: readonly Owed[]): void {
  const { w } = m;
  const selector = w.op('min.u32', w.op('and.b32', m.value(), 3), 1 + w.pick(3));
  const mask = w.op('match.any.sync.b32', selector, place.own.mask);
  const arm = (): void => body(m, { ...place, own: { mask, alive: mask }, depth: place.depth + 1 }, owed, 1);
  w.choose(selector, [arm, arm, arm, arm]);
}

/** Work of a lane alone: an instruction, a branch, or a loop. */
function scalar(m: Maker): void {
  const { w } = m;
  const work = (): void =>
    m.mix([w.op(w.oneOf(['add.u32', 'sub.u32', 'xor.b32', 'mul.lo.u32', 'min.s32', 'max.u32']), m.value(), m.value())]);
  const kind = w.pick(5);
  if (kind === 4 && w.once(3)) late(m);
  else if (kind === 0) w.ifElse(w.test('ne.u32', w.op('and.b32', m.value(), 1), 0), work, w.once(2) ? work : undefined);
  else if (kind === 1) {
    const [i, top] = [w.op('and.b32', m.value(), 7), w.label()];
    w.emit(`${top}:`);
    work();
    w.emit(`sub.u32 ${i}, ${i}, 1;`);
    w.emit(`@${w.test('gt.s32', i, 0)} bra ${top};`);
  } else work();
}

/** Values of other types, a predicate and a word of local memory live across statements. */
function carry(m: Maker, inside: () => void): void {
  const { w } = m;
  const kind = w.pick(5);
  const [wide, at, real, half] = [w.wide(), w.wide(), w.register('d'), w.register('h')];
  const [one, other] = [m.value(), m.value()];
  const flag = w.test('lt.s32', one, other);
  if (kind === 0) w.emit(`mov.b64 ${wide}, {${one}, ${other}};`);
  else if (kind === 1) w.emit(`cvt.rn.f64.u32 ${real}, ${one};`);
  else if (kind === 2) w.emit(`cvt.u16.u32 ${half}, ${one};`);
  else if (kind === 3) {
    const offset = w.op('and.b32', other, 28);
    w.emit(`mov.u64 ${wide}, lo;`, `cvt.u64.u32 ${at}, ${offset};`, `add.u64 ${at}, ${at}, ${wide};`, `st.local.u32 [${at}], ${one};`);
  }
  inside();
  const [low, high] = [w.word(), w.word()];
  if (kind === 0) w.emit(`mov.b64 {${low}, ${high}}, ${wide};`, `xor.b32 ${low}, ${low}, ${high};`);
  else if (kind === 1) w.emit(`cvt.rzi.u32.f64 ${low}, ${real};`);
  else if (kind === 2) w.emit(`cvt.u32.u16 ${low}, ${half};`);
  else if (kind === 3) w.emit(`ld.local.u32 ${low}, [${at}];`);
  else w.emit(`selp.b32 ${low}, 5, 8, ${flag};`);
  m.mix([low]);
}

/** A lane that is late. */
function late(m: Maker): void {
  const { w } = m;
  const isLate = w.test('eq.u32', w.op('and.b32', m.value(), 15), 3);
  const [i, top] = [w.op('selp.b32', 300, 1, isLate), w.label()];
  w.emit(`${top}:`);
  m.mix([i]);
  w.emit(`sub.u32 ${i}, ${i}, 1;`);
  w.emit(`@${w.test('ne.u32', i, 0)} bra ${top};`);
}

/** A loop that lanes leave at different iterations; those that go on vote on it, or each set of lanes with the same count has a mask. */
function loop(m: Maker, place: Place): void {
  const { w } = m;
  const deeper = (own: Group): Place => ({
    ...place,
    own,
    depth: place.depth + 1,
    loops: place.loops + 1,
    mayExit: place.mayExit && place.depth === 0,
  });
  const trips = w.op('and.b32', m.value(), 3);
  const [i, top, out] = [w.op('mov.u32', 0), w.label(), w.label()];
  if (w.once(3)) {
    const mask = w.op('match.any.sync.b32', trips, place.own.mask);
    w.emit(`${top}:`);
    w.emit(`@${w.test('ge.u32', i, trips)} bra ${out};`);
    body(m, { ...deeper({ mask, alive: mask }), mayExit: false });
    w.emit(`add.u32 ${i}, ${i}, 1;`, `bra ${top};`, `${out}:`);
    return;
  }
  const mask = w.op('mov.b32', place.own.mask);
  const isBottom = w.once(3);
  const vote = (): void => {
    const goes = w.test('lt.u32', i, trips);
    const next = ballot(m, goes, mask);
    w.emit(`@!${goes} bra ${out};`, `mov.b32 ${mask}, ${next};`);
  };
  if (isBottom) w.emit(`mov.b32 ${mask}, ${place.own.alive};`);
  w.emit(`${top}:`);
  if (!isBottom) vote();
  const inside = deeper({ mask, alive: mask });
  body(m, inside);
  if (w.once(3)) {
    const leaves = condition(m, inside.own);
    const rest = w.op('vote.sync.ballot.b32', `!${leaves}`, mask);
    w.emit(`@${leaves} bra ${out};`, `mov.b32 ${mask}, ${rest};`);
    inside.own.alive = mask;
    body(m, inside, [], 2);
  }
  w.emit(`add.u32 ${i}, ${i}, 1;`);
  if (isBottom) vote();
  w.emit(`bra ${top};`, `${out}:`);
}

/** Some lanes perform a collective before a loop, the others behind it, so that they are an iteration apart. */
function peel(m: Maker, place: Place): void {
  const { w } = m;
  const { p, yes, no } = split(m, place.own);
  const opcode = w.oneOf(m.opcodes);
  const owed = [{ opcode, group: place.own }];
  const inside = (own: Group) => (): void => body(m, { ...place, own, depth: place.depth + 1, mayExit: false }, owed, 1);
  w.ifElse(p, inside(yes));
  counted(m, 1 + w.pick(3), () => {
    if (w.once(2)) scalar(m);
    perform(m, owed[0]!);
  });
  w.ifElse(p, () => scalar(m), inside(no));
}

/** A collective under a guard, of the lanes for which it holds or, as the other lanes perform it too, of the whole group. */
function guarded(m: Maker, { own }: Place): void {
  const { w } = m;
  const opcodes = m.opcodes.filter((opcode) => opcode.includes('.'));
  const opcode = w.oneOf(opcodes);
  if (w.once(3)) {
    const p = condition(m, own);
    m.mix([...collective(m, opcode, own, `@${p} `), ...collective(m, opcode, own, `@!${p} `)]);
    return;
  }
  const { p, yes, no } = split(m, own);
  m.mix(collective(m, opcode, yes, `@${p} `));
  if (w.once(2)) m.mix(collective(m, w.oneOf(opcodes), no, `@!${p} `));
}

/** Some lanes exit: at the end of the program, or here, with or without an output. */
function exit(m: Maker, { own }: Place): void {
  const { w } = m;
  const p = condition(m, own);
  const rarer = w.predicate();
  w.emit(`and.pred ${rarer}, ${p}, ${w.test('eq.u32', w.op('and.b32', m.value(), 2), 0)};`);
  const form = w.pick(3);
  if (form === 0) w.emit(`@${rarer} bra END;`);
  else if (form === 1) w.emit(`@${rarer} ${w.oneOf(['exit;', 'ret;'])}`);
  else
    w.ifElse(rarer, () => {
      m.store();
      w.emit('exit;');
    });
  m.hasExits = m.isStale = true;
  own.alive = ballot(m, m.always, own.mask);
}

/** Which lanes are active together is up to the device, but they include the own lane and none that is elsewhere. */
function activemask(m: Maker, { own }: Place): void {
  const { w } = m;
  const active = w.op('activemask.b32');
  if (w.once(2) || own === m.all) m.mix([w.op('and.b32', w.op('shr.u32', active, m.lane), 1)]);
  else m.mix([w.op('and.b32', active, w.op('not.b32', m.exists))]);
}

/** Statements that are not possible at a place, or no longer. */
function isPossible(m: Maker, place: Place, kind: Statement): boolean {
  const isTop = place.depth === 0;
  const sites = [...m.areas.keys()].length;
  if (['split', 'arms', 'partition', 'loop', 'skew', 'peel', 'pingPong'].includes(kind)) {
    if (m.left <= 0 || place.depth >= 4) return false;
    return !['loop', 'skew'].includes(kind) || place.loops < 2;
  }
  if (kind === 'exit') return place.mayExit;
  if (kind === 'phase') return isTop && sites < 10;
  if (kind === 'aggregate') return place.own === m.all && sites < 10;
  if (kind === 'spin') return place.loops === 0 && sites < 10;
  if (kind === 'warpSpin') return isTop && sites < 10 && !m.hasExits;
  return kind !== 'call' || m.functions.length > 0;
}

/** A statement of the program's class. */
export function statement(m: Maker, place: Place): void {
  m.left--;
  const { w } = m;
  const chosen = w.oneOf(m.statements);
  const kind = isPossible(m, place, chosen) ? chosen : 'collective';
  const within = { ...place, depth: place.depth + 1, mayExit: place.mayExit && place.depth === 0 };
  const ways: Record<Statement, () => void> = {
    scalar: () => scalar(m),
    collective: () => perform(m, ownOnes(m, place, 1)[0]!),
    partition: () => body(m, { ...within, own: partition(m, place.own) }),
    split: () => divide(m, place, []),
    arms: () => divide(m, place, armsOf(m, place)),
    loop: () => loop(m, place),
    skew: () => skewed(m, 1 + w.pick(3), () => body(m, { ...place, depth: place.depth + 1, loops: place.loops + 1, mayExit: false })),
    peel: () => peel(m, place),
    call: () => m.mix([callOf(m, w.oneOf(m.functions), place.own)]),
    exit: () => exit(m, place),
    guard: () => guarded(m, place),
    exchange: () => exchange(m, place.own),
    broadcast: () => broadcast(m, place.own),
    pingPong: () => pingPong(m, place),
    phase: () => phase(m, place),
    spin: () => spin(m, place, (own) => body(m, { ...place, own, depth: place.depth + 1, mayExit: false }, [], 1)),
    warpSpin: () => warpSpin(m, place),
    activemask: () => activemask(m, place),
    ladder: () => ladder(m, w.oneOf(ladderModes), place.own),
    aggregate: () => aggregate(m, place.own),
    carry: () => carry(m, () => statement(m, place)),
  };
  ways[kind]();
  if (place.depth === 0 && m.isStale) {
    m.all.alive = ballot(m, m.always, m.all.mask);
    m.isStale = false;
  }
}

/** Collectives for both arms: several, one of them repeated, or those of a function; and barriers of the block. */
function armsOf(m: Maker, place: Place): Owed[] {
  const { w } = m;
  if (place.own === m.all && place.loops === 0 && m.areas.size < 8 && m.statements.includes('phase') && w.once(2))
    return [...ownOnes(m, place, w.pick(3)), { opcode: 'block', group: place.own, cell: newCell(m) }, ...ownOnes(m, place, w.pick(3))];
  if (m.functions.length > 0 && w.once(2)) return w.oneOf(m.functions).opcodes.map((opcode) => ({ opcode, group: place.own }));
  if (w.once(3)) return Array<Owed>(2 + w.pick(3)).fill(ownOnes(m, place, 1)[0]!);
  return ownOnes(m, place, 1 + w.pick(4));
}
