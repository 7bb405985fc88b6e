/**
 * Random functions as the engine's modules have them: operations on lane groups, one vector after the other. Some groups are only nearly groups: a
 * member has another offset, other operands or another place, depends on another member, or there is a store or call between.
 */
import type { Block, Edge, Inst, SsaFunction, SsaType, Value } from '../../../src/native/ssa/types.ts';

/** The vectors of a lane group. */
type Group = readonly Value[];
type Immediates = Partial<Pick<Inst, 'offset' | 'lane' | 'bits' | 'bytes' | 'index'>>;

export interface GroupedOptions {
  /** Vectors of a lane group. */
  readonly parts: number;
  /** How often something spoils a group: 0 is never. */
  readonly spoiled: number;
}

/** The parameters: three bases of memory and two numbers. */
export const params = ['i32', 'i32', 'i32', 'i32', 'i32'] as const;

const binary = [
  'i32x4.add',
  'i32x4.sub',
  'i32x4.mul',
  'i32x4.min_s',
  'i32x4.max_u',
  'i32x4.gt_s',
  'i32x4.eq',
  'i64x2.add',
  'i64x2.sub',
  'i8x16.add_sat_u',
  'i16x8.mul',
  'i16x8.narrow_i32x4_u',
  'f32x4.add',
  'f32x4.mul',
  'f32x4.lt',
  'f64x2.add',
  'f32x4.pmin',
  'v128.and',
  'v128.or',
  'v128.xor',
  'v128.andnot',
  'i8x16.swizzle',
];
const unary = ['i32x4.neg', 'v128.not', 'i32x4.abs', 'f32x4.abs', 'f32x4.convert_i32x4_s', 'i32x4.extend_low_i16x8_s', 'i8x16.popcnt'];
const shifts = ['i32x4.shl', 'i32x4.shr_u', 'i64x2.shr_s', 'i16x8.shl'];
const halves = [
  ['i64x2.extend_low_i32x4_s', 'i64x2.extend_high_i32x4_s'],
  ['i32x4.extend_low_i16x8_u', 'i32x4.extend_high_i16x8_u'],
  ['f64x2.promote_low_f32x4', ''],
  ['f64x2.convert_low_i32x4_s', ''],
] as const;
const narrowings = [
  [0, 2, 4, 6],
  [1, 3, 5, 7],
  [0, 1, 4, 5],
];
const upperHalf = [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7];

/** A random function. */
export function groupedFunction(random: () => number, { parts, spoiled }: GroupedOptions): SsaFunction {
  const types: SsaType[] = [];
  const newBlock = (loopDepth: number, isRare = false): Block => ({ params: [], insts: [], end: { op: 'trap' }, loopDepth, isRare });
  const blocks: Block[] = [];
  let block = newBlock(0);
  const start = (next: Block): Block => {
    blocks.push(next);
    block = next;
    return next;
  };
  const numberOf = (next: Block): number => blocks.indexOf(next);
  const newValue = (type: SsaType): Value => types.push(type) - 1;
  const below = (count: number): number => Math.floor(random() * count);
  const chance = (share: number): boolean => random() < share;
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const add = (op: string, args: readonly Value[], type: SsaType | undefined, immediates: Immediates = {}): Value => {
    const result = type && newValue(type);
    block.insts.push({ op, args: [...args], result, ...immediates });
    return result ?? -1;
  };
  const number = (bits: number): Value => add('i32.const', [], 'i32', { bits: BigInt(bits >>> 0) });

  start(block);
  for (const type of params) block.params.push(newValue(type));
  const bases = block.params.slice(0, 3);
  /** What can be used here. */
  let scalars: Value[] = block.params.slice(3);
  let groups: Group[] = [];

  const row = <T>(make: (part: number) => T): T[] => Array.from({ length: parts }, (_, part) => make(part));
  const offset = (): number => 16 * below(16) + 4 * below(3);
  const spoil = (): boolean => chance(spoiled);

  /** Something between two members: a store, a call, a number. */
  const between = (): void => {
    const what = below(5);
    if (what === 0) add('i32.store', [pick(bases), pick(scalars)], undefined, { offset: 4 * below(64) });
    else if (what === 1) add('call', [], undefined, { index: 0 });
    else if (what === 2 && groups.length > 0)
      add('v128.store32_lane', [pick(bases), pick(pick(groups))], undefined, { offset: offset(), lane: below(4) });
    else if (what === 3 && groups.length > 0) scalars.push(add('i32x4.extract_lane', [pick(pick(groups))], 'i32', { lane: below(4) }));
    else scalars.push(add('i32.load', [pick(bases)], 'i32', { offset: 4 * below(64) }));
  };
  const spoilBetween = (): void => {
    if (spoil()) between();
  };
  const any = (group: Group, part: number, made: readonly Value[]): Value => {
    if (!spoil()) return group[part]!;
    return chance(0.3) && made.length > 0 ? made.at(-1)! : pick(pick(groups));
  };

  /** The operations of a group: each gives what one member is. */
  const recipes: (() => (part: number, made: readonly Value[]) => Value)[] = [
    () => {
      const [base, from] = [pick(bases), offset()];
      // Some addresses are sums with constants.
      const moved = (): Value => (chance(0.2) ? add('i32.add', [base, number(16 * below(3) + 4 * below(2))], 'i32') : base);
      const whole = moved();
      const isApart = chance(0.2);
      return (part) => {
        if (isApart && part > 0) return add('v128.load', [add('i32.add', [base, number(16 * part)], 'i32')], 'v128', { offset: from });
        return add('v128.load', [spoil() ? moved() : whole], 'v128', { offset: from + 16 * (spoil() ? below(8) : part) });
      };
    },
    () => {
      const scalar = pick(scalars);
      const once = chance(0.5) ? add('i32x4.splat', [scalar], 'v128') : undefined;
      return () => once ?? add('i32x4.splat', [spoil() ? pick(scalars) : scalar], 'v128');
    },
    () => {
      const equal = Array.from({ length: 16 }, () => below(256));
      const isEqual = chance(0.5);
      return () => add('v128.const', [], 'v128', { bytes: isEqual ? equal : Array.from({ length: 16 }, () => below(256)) });
    },
    () => {
      const [base, from] = [pick(bases), offset()];
      return () => add('v128.load32_splat', [base], 'v128', { offset: spoil() ? offset() : from });
    },
    () => {
      const [op, a, b] = [pick(binary), pick(groups), pick(groups)];
      return (part, made) => {
        const args = [any(a, part, made), any(b, part, made)];
        return add(spoil() ? pick(binary) : op, spoil() ? args.reverse() : args, 'v128');
      };
    },
    () => {
      const [op, a] = [pick(unary), pick(groups)];
      return (part, made) => add(spoil() ? pick(unary) : op, [any(a, part, made)], 'v128');
    },
    () => {
      const [op, a, by] = [pick(shifts), pick(groups), pick(scalars)];
      return (part, made) => add(op, [any(a, part, made), spoil() ? pick(scalars) : by], 'v128');
    },
    () => {
      const [op, a, b, c] = [pick(['v128.bitselect', 'f32x4.relaxed_madd']), pick(groups), pick(groups), pick(groups)];
      return (part, made) => add(op, [any(a, part, made), any(b, part, made), any(c, part, made)], 'v128');
    },
    () => {
      const [a, b, bytes] = [pick(groups), pick(groups), Array.from({ length: 16 }, () => below(32))];
      return (part, made) => add('i8x16.shuffle', [any(a, part, made), any(b, part, made)], 'v128', { bytes: spoil() ? upperHalf : bytes });
    },
    () => {
      const [a, b, cond] = [pick(groups), pick(groups), pick(scalars)];
      return (part, made) => add('select', [any(a, part, made), any(b, part, made), cond], 'v128');
    },
    () => {
      const [[low, high], source, first] = [pick(halves), pick(groups), chance(0.5) ? 0 : parts / 2];
      return (part) => {
        const from = source[first + (part >> 1)]!;
        if (spoil() || part % 2 === 0) return add(low, [from], 'v128');
        return high === ''
          ? add(low, [add('i8x16.shuffle', [from, from], 'v128', { bytes: upperHalf })], 'v128')
          : add(high, [from], 'v128');
      };
    },
    () => {
      const [a, b, words] = [pick(groups), pick(groups), pick(narrowings)];
      const second = a === b ? parts / 2 : 0;
      const isJoin = chance(0.4);
      return (part) => {
        const at = (2 * part) % parts;
        const [first, other] = [(2 * part < parts ? a : b)[at]!, (2 * part < parts ? a : b)[spoil() ? second : at + 1]!];
        if (isJoin) return add('f64x2.replace_lane', [first, add('f64x2.extract_lane', [other], 'f64', { lane: 0 })], 'v128', { lane: 1 });
        return add('i8x16.shuffle', [first, other], 'v128', {
          bytes: words.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
        });
      };
    },
    () => {
      // Rows of a stencil: loads of one group are those of another one at a distance.
      const [base, from, distance, op] = [pick(bases), offset(), 1 + below(2), pick(binary)];
      const row = Array.from({ length: parts + distance }, (_, i) => add('v128.load', [base], 'v128', { offset: from + 16 * i }));
      return (part) => add(op, chance(spoiled) ? [row[0]!, row[part]!] : [row[part]!, row[part + distance]!], 'v128');
    },
    () => {
      // Lanes at a distance: words of neighbors, and of the last vector alone.
      const [a, b, first] = [pick(groups), pick(groups), 1 + below(3)];
      const words = [0, 1, 2, 3].map((word) => word + first);
      const bytes = (list: readonly number[]): number[] => list.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));
      return (part) => {
        if (part === parts - 1)
          return add('i8x16.shuffle', [a[part]!, a[part]!], 'v128', { bytes: bytes(words.map((word) => Math.min(word, 3))) });
        return add('i8x16.shuffle', [a[part]!, (chance(0.1) ? b : a)[part + 1]!], 'v128', { bytes: bytes(words) });
      };
    },
  ];

  /** Some groups, one operation after the other or one member after the other. */
  const compute = (): void => {
    if (chance(0.5) || groups.length === 0) {
      const make = (groups.length === 0 ? recipes[0]! : pick(recipes))();
      const made: Value[] = [];
      for (let part = 0; part < parts; part++) {
        made.push(make(part, made));
        spoilBetween();
      }
      groups.push(made);
      return;
    }
    const makes = Array.from({ length: 3 }, () => pick(recipes)());
    const made = makes.map((): Value[] => []);
    for (let part = 0; part < parts; part++)
      makes.forEach((make, i) => {
        made[i]!.push(make(part, made[i]!));
        spoilBetween();
      });
    groups.push(...made);
  };
  const store = (): void => {
    const [root, from, group] = [pick(bases), offset(), pick(groups)];
    const base = chance(0.3) ? add('i32.add', [root, number(16 * below(3) - 4 * below(2))], 'i32') : root;
    for (let part = 0; part < parts; part++) {
      add('v128.store', [base, any(group, part, [])], undefined, { offset: from + 16 * (spoil() ? below(8) : part) });
      spoilBetween();
    }
  };
  /** A number that says whether any or all lanes are set, or which. */
  const test = (): Value => {
    const group = pick(groups);
    const kind = below(5);
    const chain = (values: readonly Value[], op: string, type: SsaType): Value => values.reduce((a, b) => add(op, [a, b], type));
    if (kind === 4) return add('v128.any_true', [chain(group, pick(['v128.or', 'v128.or', 'v128.and']), 'v128')], 'i32');
    if (kind === 3) return add('i32x4.bitmask', [chain(group, pick(['v128.or', 'v128.and']), 'v128')], 'i32');
    if (kind === 0) return add('i32.eqz', [add('i32x4.bitmask', [chain(group, 'v128.or', 'v128')], 'i32')], 'i32');
    if (kind === 1)
      return add('i32.eq', [add('i32x4.bitmask', [chain(group, 'v128.and', 'v128')], 'i32'), number(spoil() ? 14 : 15)], 'i32');
    const bits = group.map((vector, part) => {
      const own = add(spoil() ? 'i64x2.bitmask' : 'i32x4.bitmask', [vector], 'i32');
      return part === 0 ? own : add('i32.shl', [own, number(4 * (spoil() ? below(8) : part))], 'i32');
    });
    return chain(bits, 'i32.or', 'i32');
  };
  const scalar = (): void => {
    const what = below(5);
    if (what === 0) scalars.push(add('i32x4.extract_lane', [pick(pick(groups))], 'i32', { lane: below(4) }));
    else if (what === 1) scalars.push(add('i32.add', [pick(scalars), pick(scalars)], 'i32'));
    else if (what === 2) add('i32.store', [pick(bases), pick(scalars)], undefined, { offset: 4 * below(64) });
    else scalars.push(test());
  };
  const straight = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const what = random();
      if (what < 0.65 || groups.length === 0) compute();
      else if (what < 0.8) store();
      else scalar();
    }
  };
  /** Parameters for some groups, in a block that is started, and what they get there. */
  const paramsFor = (into: Block, from: readonly Group[]): Group[] => {
    const news = from.map(() => row(() => newValue('v128')));
    const inOrder = chance(0.7) ? news.flat() : row((part) => news.map((group) => group[part]!)).flat();
    into.params.push(...inOrder);
    return news;
  };
  const argsFor = (into: Block, news: readonly Group[], from: readonly Group[]): Value[] => {
    const args = new Map<Value, Value>();
    for (const [i, group] of news.entries())
      for (const [part, param] of group.entries()) args.set(param, spoil() ? pick(from[i]!) : from[i]![part]!);
    return into.params.filter((param) => args.has(param)).map((param) => args.get(param)!);
  };
  const edge = (to: Block, args: readonly Value[] = []): Edge => ({ block: numberOf(to), args: [...args] });

  /** A loop of three turns around what is made by `inside`. */
  const loop = (inside: () => void): void => {
    const before = block;
    const entering = Array.from({ length: 1 + below(3) }, () => pick(groups));
    const header = newBlock(before.loopDepth + 1);
    const zero = number(0);
    const outer = { scalars: [...scalars], groups: [...groups] };
    start(header);
    const turn = newValue('i32');
    header.params.push(turn);
    const carried = paramsFor(header, entering);
    before.end = { op: 'jump', to: edge(header, [zero, ...argsFor(header, carried, entering)]) };
    groups.push(...carried);
    inside();
    const next = add('i32.add', [turn, number(1)], 'i32');
    const cond = add('i32.lt_u', [next, number(3)], 'i32');
    const back = carried.map(() => pick(groups.slice(-6)));
    const latch = block;
    const args = [next, ...argsFor(header, carried, back)];
    ({ scalars, groups } = outer);
    start(newBlock(before.loopDepth));
    groups.push(...back);
    latch.end = { op: 'branch', cond, then: edge(header, args), else: edge(block) };
  };
  /** Two ways, which join. */
  const diamond = (inside: () => void): void => {
    const before = block;
    const cond = chance(0.5) ? test() : pick(scalars);
    const outer = { scalars: [...scalars], groups: [...groups] };
    const ends = [0, 1].map((way) => {
      scalars = [...outer.scalars];
      groups = [...outer.groups];
      const first = start(newBlock(before.loopDepth, way === 0 && chance(0.2)));
      if (way === 0 || chance(0.5)) inside();
      return { first, last: block, results: [0, 1].map(() => pick(groups)) };
    });
    ({ scalars, groups } = outer);
    const after = start(newBlock(before.loopDepth));
    const joined = paramsFor(after, ends[0]!.results);
    for (const { last, results } of ends) last.end = { op: 'jump', to: edge(after, argsFor(after, joined, results)) };
    before.end = { op: 'branch', cond, then: edge(ends[0]!.first), else: edge(ends[1]!.first) };
    groups.push(...joined);
  };
  const segment = (depth: number): void => {
    straight(2 + below(4));
    if (depth < 3 && chance(0.4)) loop(() => segment(depth + 1));
    if (depth < 3 && chance(0.4)) diamond(() => segment(depth + 1));
    if (depth < 3 && chance(0.4)) straight(2);
  };
  segment(0);
  segment(1);
  for (const group of groups.slice(-3)) {
    const base = pick(bases);
    const from = offset();
    for (const [part, value] of group.entries()) add('v128.store', [base, value], undefined, { offset: from + 16 * part });
  }
  block.end = { op: 'return', values: [] };
  return { index: 1, params, results: [], types, blocks };
}
