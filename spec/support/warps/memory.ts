/** Exchange between lanes through shared memory, and spin loops. No word is accessed by two lanes without an order between them. */
import { ballot, type Group, leader, rank, split } from './groups.ts';
import type { Maker, Place } from './place.ts';

/** The address of a word of an area, in a register. */
function address(m: Maker, area: string, index: string): string {
  if (!m.areas.has(area)) m.areas.set(area, m.areas.size);
  const offset = 4 * m.threads * m.areas.get(area)!;
  return m.w.op('add.u32', m.w.op('mad.lo.u32', index, 4, offset), '%sh');
}

/** The number of a lane of this warp in the block. */
const tidOf = ({ w, tid, lane }: Maker, of: string): string => w.op('add.u32', w.op('sub.u32', tid, lane), of);

const barrier = ({ w }: Maker, { mask }: Group): void => w.emit(`bar.warp.sync ${mask};`);
const put = (m: Maker, at: string, value: string): void => m.w.emit(`st.shared.u32 [${at}], ${value};`);
const get = (m: Maker, at: string): string => m.w.op('ld.shared.u32', `[${at}]`);

/** A lane of a group: another one, if the sum is of the group, else the lowest. */
function partner(m: Maker, { alive }: Group): string {
  const { w } = m;
  const other = w.op('and.b32', w.op('add.u32', m.lane, w.once(2) ? 1 + w.pick(31) : m.value()), 31);
  const isThere = w.test('ne.u32', w.op('and.b32', w.op('shr.u32', alive, other), 1), 0);
  return w.op('selp.b32', other, w.lowest(alive), isThere);
}

/** Each lane writes a word and reads that of another lane. The second barrier keeps later writes behind the reads. */
export function exchange(m: Maker, group: Group): void {
  const from = partner(m, group);
  put(m, address(m, 'slots', m.tid), m.value());
  barrier(m, group);
  const word = get(m, address(m, 'slots', tidOf(m, from)));
  barrier(m, group);
  m.mix([word]);
}

/** One lane writes, the others read: the lanes wait in the two arms of a branch. */
export function broadcast(m: Maker, group: Group): void {
  const { w } = m;
  const one = w.lowest(group.alive);
  const at = address(m, 'slots', tidOf(m, one));
  w.ifElse(
    w.test('eq.u32', m.lane, one),
    () => {
      put(m, at, m.value());
      barrier(m, group);
    },
    () => {
      barrier(m, group);
      m.mix([get(m, at)]);
    },
  );
  barrier(m, group);
}

/** Two sides of a group answer each other for some rounds; each writes an area of its own, and reads a lane of the other side. */
export function pingPong(m: Maker, { own }: Place): void {
  const { w } = m;
  const { p, yes, no } = split(m, own);
  const rounds = 2 + w.pick(3);
  // A side without lanes has no partner: the lanes read a lane of their own, whose word on the other area is old.
  const of = (side: Group, instead: Group): string => {
    const isEmpty = w.test('eq.u32', side.alive, 0);
    return w.op('selp.b32', w.lowest(instead.alive), w.lowest(side.alive), isEmpty);
  };
  const [first, second] = [of(yes, no), of(no, yes)];
  const [mine, theirs] = [address(m, 'ping', m.tid), address(m, 'pong', tidOf(m, second))];
  const [myReply, heard] = [address(m, 'pong', m.tid), address(m, 'ping', tidOf(m, first))];
  const turns = (body: () => void): void => {
    const [i, top] = [w.op('mov.u32', 0), w.label()];
    w.emit(`${top}:`);
    body();
    w.emit(`add.u32 ${i}, ${i}, 1;`);
    w.emit(`@${w.test('lt.u32', i, rounds)} bra ${top};`);
  };
  const serve = (): void => {
    put(m, mine, m.value());
    barrier(m, own);
    barrier(m, own);
    m.mix([get(m, theirs)]);
  };
  const reply = (): void => {
    barrier(m, own);
    put(m, myReply, w.op('mad.lo.u32', get(m, heard), 5, m.value()));
    barrier(m, own);
  };
  const unrolled = (body: () => void): void => {
    for (let i = 0; i < rounds; i++) body();
  };
  w.ifElse(
    p,
    () => (w.once(2) ? turns(serve) : unrolled(serve)),
    () => (w.once(2) ? turns(reply) : unrolled(reply)),
  );
  barrier(m, own);
}

/** A barrier of the block, with a sum over its threads or, while all are there, words of other threads. */
export function phase(m: Maker, { own }: Place): void {
  const { w } = m;
  const spelling = w.oneOf(['bar.sync 0;', 'barrier.sync 0;', 'barrier.sync.aligned 0;']);
  if (m.hasExits || w.once(2)) return blockSum(m, newCell(m), spelling);
  put(m, address(m, 'block', m.tid), m.value());
  w.emit(spelling);
  const sum = w.op('add.u32', m.tid, 1 + w.pick(m.threads - 1));
  const isBehind = w.test('ge.u32', sum, m.threads);
  const other = w.op('selp.b32', w.op('sub.u32', sum, m.threads), sum, isBehind);
  m.mix([get(m, address(m, 'block', other))]);
  if (w.once(2)) w.emit(`bar.warp.sync ${own.mask};`);
  w.emit(spelling);
}

/** A word of shared memory that a sum of the block has for itself. */
export function newCell(m: Maker): number {
  const cell = [...m.areas.keys()].filter((name) => name.startsWith('cell')).length;
  m.areas.set(`cell${cell}`, m.areas.size);
  return cell;
}

/** A sum over the threads of the block: they add to a word before a barrier, and read it behind. */
export function blockSum(m: Maker, cell: number, spelling: string): void {
  const { w } = m;
  const at = address(m, `cell${cell}`, '3');
  const op = ['add.u32', 'max.u32', 'xor.b32'][cell % 3]!;
  w.emit(`red.shared.${op} [${at}], ${m.value()};`, spelling);
  m.mix([get(m, at)]);
}

/** The lanes with the same key add to a word of theirs by one atomic of their lowest lane, which hands out numbers to the others. */
export function aggregate(m: Maker, own: Group): void {
  const { w } = m;
  const site = [...m.areas.keys()].filter((name) => name.startsWith('sum')).length;
  const key = w.op('and.b32', m.value(), 3);
  const peers = w.op('match.any.sync.b32', key, own.mask);
  const first = w.lowest(peers);
  const at = address(m, `sum${site}`, w.op('mad.lo.u32', m.warp, 4, key));
  const before = w.op('mov.u32', 0);
  const isFirst = w.test('eq.u32', m.lane, first);
  w.ifElse(isFirst, () => w.emit(`atom.shared.add.u32 ${before}, [${at}], ${w.op('popc.b32', peers)};`));
  const base = w.op('shfl.sync.idx.b32', before, first, 31, peers);
  m.mix([w.op('add.u32', base, rank(m, { mask: peers, alive: peers }))]);
}

/** Waits until a word of shared memory holds a value that another thread stores. */
function spinUntil(m: Maker, at: string, comparison: string, value: string | number): void {
  const { w } = m;
  const top = w.label();
  w.emit(`${top}:`);
  const isWaiting = w.test(comparison, w.op('ld.volatile.shared.u32', `[${at}]`), value);
  w.emit(`@${isWaiting} bra ${top};`, fence(m));
}

const fence = ({ w }: Maker): string => w.oneOf(['membar.cta;', 'fence.acq_rel.cta;', 'fence.sc.cta;']);

function signal(m: Maker, at: string, value: string | number): void {
  const { w } = m;
  const word = w.op('mov.u32', value);
  if (w.once(3)) w.emit(fence(m), `atom.shared.exch.b32 ${w.word()}, [${at}], ${word};`);
  else w.emit(fence(m), `st.volatile.shared.u32 [${at}], ${word};`);
}

/** Lanes of a group wait for other lanes of it in a spin loop. `after` is what both sides do then. */
export function spin(m: Maker, place: Place, after: (own: Group) => void): void {
  const { w } = m;
  const { own } = place;
  const site = [...m.areas.keys()].filter((name) => name.startsWith('flag')).length;
  const one = leader(m, own);
  const at = tidOf(m, one);
  const [flag, data] = [address(m, `flag${site}`, at), address(m, `data${site}`, at)];
  const kind = w.pick(5);
  if (kind === 0) ring(m, own, flag, data);
  else if (kind === 1) lock(m, own, flag, data);
  else if (kind === 2) countdown(m, own, flag);
  else signalled(m, own, one, flag, data, after);
}

/** All lanes but one wait for that one, which comes in the other arm of a branch, or behind it. */
function signalled(m: Maker, own: Group, one: string, flag: string, data: string, after: (own: Group) => void): void {
  const { w } = m;
  const p = w.test('eq.u32', m.lane, one);
  const yes = ballot(m, p, own.mask);
  const rest = w.op('xor.b32', own.alive, yes);
  const set = (): void => {
    if (w.once(2)) m.mix([w.op('mul.lo.u32', m.value(), 7)]);
    put(m, data, m.value());
    signal(m, flag, 1);
  };
  const wait = (): void => {
    spinUntil(m, flag, 'eq.u32', 0);
    m.mix([get(m, data)]);
  };
  if (w.once(3)) {
    w.ifElse(w.test('ne.u32', m.lane, one), wait);
    w.ifElse(p, set);
    return;
  }
  w.ifElse(
    p,
    () => {
      set();
      if (w.once(2)) after({ mask: yes, alive: yes });
    },
    () => {
      wait();
      if (w.once(2)) after({ mask: rest, alive: rest });
    },
  );
}

/** The lanes of a group take turns, upwards or downwards: each waits for the one before it. */
function ring(m: Maker, own: Group, token: string, data: string): void {
  const { w } = m;
  const mine = rank(m, own);
  const turn = w.once(2) ? mine : w.op('sub.u32', w.op('sub.u32', w.op('popc.b32', own.alive), 1), mine);
  spinUntil(m, token, 'ne.u32', turn);
  const word = get(m, data);
  put(m, data, w.op('mad.lo.u32', word, 31, m.value()));
  signal(m, token, w.op('add.u32', turn, 1));
  m.mix([word]);
  barrier(m, own);
  m.mix([get(m, data)]);
}

/** Each lane adds to a word that a lock protects. */
function lock(m: Maker, own: Group, held: string, data: string): void {
  const { w } = m;
  const top = w.label();
  w.emit(`${top}:`);
  const before = w.op('atom.shared.cas.b32', `[${held}]`, 0, 1);
  w.emit(`@${w.test('ne.u32', before, 0)} bra ${top};`, fence(m));
  put(m, data, w.op(w.oneOf(['add.u32', 'xor.b32', 'max.u32']), get(m, data), m.value()));
  w.emit(fence(m), `atom.shared.exch.b32 ${w.word()}, [${held}], 0;`);
  barrier(m, own);
  m.mix([get(m, data)]);
}

/** Each lane counts itself and waits until all have. */
function countdown(m: Maker, own: Group, counter: string): void {
  const { w } = m;
  const count = w.op('popc.b32', own.alive);
  w.emit(`atom.shared.add.u32 ${w.word()}, [${counter}], 1;`);
  spinUntil(m, counter, 'lt.u32', count);
  m.mix([get(m, counter)]);
}

/** Each warp waits for the next one, or for the one before it; the last in line waits for none. */
export function warpSpin(m: Maker, { own }: Place): void {
  const { w } = m;
  const site = [...m.areas.keys()].filter((name) => name.startsWith('flag')).length;
  const isUpwards = w.once(3);
  const other = isUpwards ? w.op('sub.u32', m.warp, 1) : w.op('add.u32', m.warp, 1);
  const hasOther = isUpwards ? w.test('ne.u32', m.warp, 0) : w.test('lt.u32', other, Math.ceil(m.threads / 32));
  const [theirs, word] = [address(m, `flag${site}`, other), address(m, `data${site}`, other)];
  const [mine, data] = [address(m, `flag${site}`, m.warp), address(m, `data${site}`, m.warp)];
  const isOne = w.test('eq.u32', m.lane, w.lowest(own.alive));
  const isOnlyOne = w.once(2);
  w.ifElse(hasOther, () => {
    if (isOnlyOne) w.ifElse(isOne, () => spinUntil(m, theirs, 'eq.u32', 0));
    else spinUntil(m, theirs, 'eq.u32', 0);
    if (isOnlyOne) barrier(m, own);
    m.mix([get(m, word)]);
  });
  const sum = w.op('redux.sync.add.u32', m.value(), own.mask);
  w.ifElse(isOne, () => {
    put(m, data, sum);
    signal(m, mine, 1);
  });
}
