/** Kernels of the sweep for other forms: addresses, hints, fences, copies, control flow. */

import { type Code, leave, registerFor, take } from './kernel.ts';
import { copyBytes, generic, output, type Place, places } from './memory.ts';
import { threads } from './values.ts';
import type { Worded } from './words.ts';

type Maker = (form: Worded, at: number) => Code;

/** Operations that do not change a value. */
const around = (lines: readonly string[], declared: readonly string[] = []): Code => ({
  declared: ['.reg .b64 a;', ...declared],
  lines: [...take('a', 'b64', 0), ...lines, ...leave('a', 'b64', 0)],
});

const spaceOf = ({ modifiers }: Worded): string => String(modifiers.space);
/** Parameters are written down by name. */
const placeIn = (space: string): Place => {
  const place = places[space]!;
  return place.address === undefined ? place : { ...place, lines: ['mov.b64 ad, pbytes;'] };
};
const through = (form: Worded, lines: readonly string[], load: string): Code => {
  const place = placeIn(spaceOf(form));
  return {
    outside: place.outside ?? [],
    declared: [...place.declared, '.reg .b64 g, x;'],
    lines: [...place.lines, ...lines, `${load} x, [g+8];`, ...leave('x', 'b64', 0)],
  };
};

/** Several registers at once, two of which change places. */
const swapped: Maker = (form) => {
  const type = String(form.modifiers.type);
  const names = ['x', 'y', 'z', 'w'].slice(0, Number(String(form.modifiers.vec).slice(1)));
  const register = registerFor(type);
  return {
    declared: [`.reg .${register} ${names.join(', ')}; .reg .${form.modifiers.vec} .${register} v;`],
    lines: [
      ...names.flatMap((name, i) => take(name, type, i)),
      `${form.opcode} {${[names[1], names[0], ...names.slice(2)].join(', ')}}, {${names.join(', ')}};`,
      `${form.opcode} v, {${names.join(', ')}};`,
      `${form.opcode} {${[...names].reverse().join(', ')}}, v;`,
      // As they are, NaNs too.
      ...names.flatMap((name, i) => leave(name, register, i)),
    ],
  };
};

const addresses: Readonly<Record<string, Maker>> = {
  'mov.vec.type d, a': swapped,
  'cvta.space.size d, a': (form) => through(form, [`${form.opcode} g, ad;`], 'ld.u64'),
  'cvta.to.space.size d, a': (form) =>
    through(form, [`${form.opcode.replace('.to', '')} g, ad;`, `${form.opcode} g, g;`], `ld.${spaceOf(form)}.u64`),
  'isspacep.space d, a': (form) => {
    const each = ['global', 'shared', 'local', 'const'].map((space) => generic(placeIn(space), space));
    return {
      outside: each.flatMap(({ outside }) => outside ?? []),
      declared: [...new Set(each.flatMap(({ declared }) => declared.flatMap((line) => line.match(/\.[^;]*;/g)!)))].concat('.reg .pred d;'),
      lines: each.flatMap(({ lines }, i) => [...lines, `${form.opcode} d, ad;`, ...leave('d', 'pred', i)]),
    };
  },
};

const hinted = (place: Place, line: string): Code => {
  const code = around([...place.lines, line], place.declared);
  return { ...code, outside: place.outside ?? [] };
};

const hints: Readonly<Record<string, Maker>> = {
  'prefetch{.space}.level [a]': (form) => {
    const { space } = form.modifiers;
    return hinted(space === undefined ? generic(places.global!, 'global') : places[String(space)]!, `${form.opcode} [ad];`);
  },
  'prefetch.global.evict [a]': (form) => hinted(places.global!, `${form.opcode} [ad];`),
  'prefetchu.L1 [a]': (form) => hinted(generic(places.global!, 'global'), `${form.opcode} [ad];`),
  'applypriority{.global}.L2::evict_normal [a], size': (form) => around([`${form.opcode} [%in], 128;`]),
  'nanosleep.u32 a': (form) => around(['and.b32 %i, %t, 31;', `${form.opcode} %i;`]),
};

/** Copies up to 16 bytes of the input into shared memory; a policy is the result of `createpolicy` for lines that are evicted first. */
function copied(copy: string, wait: string): Code {
  const place = places.shared!;
  return {
    declared: place.declared,
    lines: [
      ...place.lines,
      'xor.b32 %i, %t, 21; and.b32 %i, %i, 31; mul.wide.u32 %at, %i, 32; add.u64 %at, %at, %in;',
      copy,
      wait,
      ...copyBytes(place.cells!, output),
    ],
  };
}
const wait = (at: number): string => (at % 2 === 0 ? 'cp.async.wait_all;' : 'cp.async.commit_group; cp.async.wait_group 0;');
const copyOf =
  (sizes: readonly number[]): Maker =>
  (form, at) => {
    const size = sizes[at % sizes.length]!;
    const isHinted = form.opcode.includes('cache_hint');
    const taken = at % 3 === 0 ? '' : at % 3 === 1 ? `, ${(at * 5) % (size + 1)}` : ', %k';
    // From zero bytes up to all of them.
    const few = `rem.u32 %k, %t, ${size + 1};`;
    return copied(`${few} ${form.opcode} [sm+16], [%at], ${size}${taken}${isHinted ? ', 0x12f0000000000000' : ''};`, wait(at));
  };
const plainCopy = 'cp.async.ca.shared.global [sm+16], [%at], 16;';

const copies: Readonly<Record<string, Maker>> = {
  'cp.async.ca.space.global{.L2::cache_hint}{.prefetch} [to], [a], size{, taken}{, policy}': copyOf([4, 8, 16]),
  'cp.async.cg.space.global{.L2::cache_hint}{.prefetch} [to], [a], size{, taken}{, policy}': copyOf([16]),
  'cp.async.commit_group': () => copied(plainCopy, wait(1)),
  'cp.async.wait_group n': () => copied(plainCopy, wait(1)),
  'cp.async.wait_all': () => copied(plainCopy, wait(0)),
};

const bell = '.shared .b32 count, sum;';
/** The last thread sees the writes of all: each thread writes, fences, and increments a counter. */
const handedOver: Maker = (form) => ({
  declared: ['.reg .b32 a, n, s; .reg .pred p;', bell],
  lines: [
    'mov.b32 n, 0; st.shared.b32 [count], n; bar.sync 0;',
    ...take('a', 'b32', 0),
    'add.u32 a, a, %t; st.global.b32 [%out+16], a;',
    `${form.opcode};`,
    'atom.shared.add.u32 n, [count], 1;',
    `setp.ne.u32 p, n, ${threads - 1}; @p bra told;`,
    `${form.opcode};`,
    'ld.param.u64 %at, [pout]; mov.b32 n, 0; mov.b32 s, 0;',
    'next: ld.global.b32 a, [%at+16]; mad.lo.u32 s, s, 31, a; add.u64 %at, %at, 32; add.u32 n, n, 1;',
    `setp.lt.u32 p, n, ${threads}; @p bra next;`,
    'st.shared.b32 [sum], s;',
    'told: bar.sync 0;',
    'ld.shared.b32 s, [sum];',
    ...leave('s', 'b32', 0),
  ],
});

const met: Maker = (form) => ({
  declared: ['.reg .b32 a, sm;', `.shared .b32 cells[${threads}];`],
  lines: [
    ...take('a', 'b32', 1),
    'mov.u32 sm, cells; mad.lo.u32 sm, %t, 4, sm; st.shared.b32 [sm], a;',
    `${form.opcode} 0;`,
    `mov.u32 sm, cells; sub.u32 %i, ${threads - 1}, %t; mad.lo.u32 sm, %i, 4, sm; ld.shared.b32 a, [sm];`,
    ...leave('a', 'b32', 0),
  ],
});

/** The predicate holds for some, all or none of the threads. */
const voted =
  (type: 'u32' | 'pred'): Maker =>
  (form) => ({
    declared: [`.reg .pred some, all; .reg .${type} d;`],
    lines: [
      ...take('some', 'pred', 2),
      'setp.eq.u32 all, %t, %t;',
      ...['some', 'all', '!all', '!some'].flatMap((p, i) => [`${form.opcode} d, 0, ${p};`, ...leave('d', type, i)]),
    ],
  });

const barriers: Readonly<Record<string, Maker>> = {
  'membar.scope': handedOver,
  'fence{.sem}.scope': handedOver,
  'fence.sem.scope': handedOver,
  'bar{.cta}.sync a{, b}': met,
  'barrier{.cta}.sync{.aligned} a{, b}': met,
  'bar{.cta}.red.popc.u32 d, a{, b}, {!}c': voted('u32'),
  'barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}c': voted('u32'),
  'bar{.cta}.red.op.pred d, a{, b}, {!}c': voted('pred'),
  'barrier{.cta}.red.op{.aligned}.pred d, a{, b}, {!}c': voted('pred'),
};

const store =
  '.func store (.param .b64 p, .param .b32 v)\n{ .reg .b64 x; .reg .b32 y; ld.param.b64 x, [p]; ld.param.b32 y, [v]; xor.b32 y, y, 0x5a5a; st.global.b32 [x], y; ret; }';
const twice =
  '.func (.param .b32 r) twice (.param .b32 v)\n{ .reg .b32 y; ld.param.b32 y, [v]; add.u32 y, y, y; st.param.b32 [r], y; ret; }';
const note = '.shared .b32 met;\n.func note ()\n{ .reg .b32 y; mov.u32 y, 77; st.shared.b32 [met], y; ret; }';
const thrice = twice.replace('twice', 'thrice').replace('add.u32 y, y, y', 'mul.lo.u32 y, y, 3');
/** The address of one of two functions: the first one if all threads call the same. */
const picked = (form: Worded, first: string, second: string): string =>
  `mov.u64 %at, ${first}; ${some} ${form.opcode.endsWith('.uni') ? '' : `@p mov.u64 %at, ${second};`}`;
const some = 'setp.lt.u32 p, %i, 12;';
const a = ['.reg .b32 a; .reg .pred p;'];
const passed = '{ .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %out; st.param.b32 [p1], a;';

/** A label that all threads jump to, as `.uni` promises, or some. */
const left = (form: Worded, word: string): string => (form.opcode.endsWith('.uni') ? `${word};` : `@p ${word};`);

const flow: Readonly<Record<string, Maker>> = {
  'bra{.uni} a': (form) => ({
    declared: a,
    lines: [
      ...take('a', 'b32', 0),
      some,
      left(form, `${form.opcode} over`),
      'not.b32 a, a;',
      'over: add.u32 a, a, 1;',
      ...leave('a', 'b32', 0),
    ],
  }),
  'brx.idx{.uni} a, t': (form) => ({
    declared: a,
    lines: [
      ...take('a', 'b32', 0),
      form.opcode.endsWith('.uni') ? 'mov.b32 %k, 1;' : 'and.b32 %k, %i, 3;',
      'list: .branchtargets L0, L1, L2, L1;',
      `${form.opcode} %k, list;`,
      'L0: not.b32 a, a;',
      'L1: add.u32 a, a, 5; bra out;',
      'L2: mul.lo.u32 a, a, 7;',
      'out:',
      ...leave('a', 'b32', 0),
    ],
  }),
  'ret{.uni}': (form) => ({
    declared: a,
    lines: [...take('a', 'b32', 0), ...leave('a', 'b32', 0), some, left(form, form.opcode), ...leave('a', 'b32', 1)],
  }),
  exit: (form) => ({
    declared: a,
    lines: [...take('a', 'b32', 0), ...leave('a', 'b32', 0), some, left(form, form.opcode), ...leave('a', 'b32', 1)],
  }),
  'call{.uni} (d), f, (a)': (form) => ({
    outside: [twice],
    declared: a,
    lines: [
      ...take('a', 'b32', 0),
      `{ .param .b32 p0; .param .b32 p1; st.param.b32 [p0], a; ${form.opcode} (p1), twice, (p0); ld.param.b32 a, [p1]; }`,
      ...leave('a', 'b32', 0),
    ],
  }),
  'call{.uni} f, (a)': (form) => ({
    outside: [store],
    declared: a,
    lines: [...take('a', 'b32', 0), `${passed} ${form.opcode} store, (p0, p1); }`],
  }),
  'call{.uni} (d), f, (a), t': (form) => ({
    outside: [twice, thrice],
    declared: a,
    lines: [
      ...take('a', 'b32', 0),
      picked(form, 'twice', 'thrice'),
      '{ .param .b32 p0; .param .b32 p1; st.param.b32 [p0], a; T: .callprototype (.param .b32 _) _ (.param .b32 _);',
      `${form.opcode} (p1), %at, (p0), T; ld.param.b32 a, [p1]; }`,
      ...leave('a', 'b32', 0),
    ],
  }),
  'call{.uni} f, (a), t': (form) => ({
    outside: [store, store.replace(/store/, 'other').replace('0x5a5a', '0x3333')],
    declared: a,
    lines: [
      ...take('a', 'b32', 0),
      picked(form, 'store', 'other'),
      `${passed} T: .callprototype _ (.param .b64 _, .param .b32 _); ${form.opcode} %at, (p0, p1), T; }`,
    ],
  }),
  'call{.uni} f, t': (form) => ({
    outside: [note],
    declared: a,
    lines: ['mov.u64 %at, note;', `T: .calltargets note; ${form.opcode} %at, T;`, 'ld.shared.b32 a, [met];', ...leave('a', 'b32', 0)],
  }),
  'call{.uni} f': (form) => ({
    outside: [note],
    declared: a,
    lines: [`${form.opcode} note;`, 'ld.shared.b32 a, [met];', ...leave('a', 'b32', 0)],
  }),
};

/** By the syntax line of the row. */
export const otherCode: Readonly<Record<string, Maker>> = { ...addresses, ...hints, ...copies, ...barriers, ...flow };
