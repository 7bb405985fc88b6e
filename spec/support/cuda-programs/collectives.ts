/** Collectives of random programs of warps: what device code calls, and what it gives by CUDA's programming guide, in host code. */

/** Where a collective takes its operands and leaves its result, of a thread's eight words. */
export interface Operands {
  /** The word of the result. For a shuffle by index it has the index before. */
  readonly to: number;
  readonly from: number;
  readonly amount: number;
  readonly width: number;
}

interface Shuffle {
  readonly call: (mask: string, operands: Operands) => string;
  /** The lane whose word a lane gets, of `lane` and its eight words `s`. */
  readonly source: (operands: Operands) => string;
}

/** Source: CUDA C++ Programming Guide, "Warp Shuffle Functions". */
const shuffles: Readonly<Record<string, Shuffle>> = {
  index: {
    call: (mask, { to, from, amount, width }) => `__shfl_sync(${mask}, s[${from}], (s[${to}] + ${amount}) & 31, ${width})`,
    source: ({ to, amount, width }) => `((lane & ~(${width} - 1u)) | ((s[${to}] + ${amount}) & (${width} - 1u)))`,
  },
  up: {
    call: (mask, { from, amount, width }) => `__shfl_up_sync(${mask}, s[${from}], ${amount}, ${width})`,
    source: ({ amount, width }) => `((lane & (${width} - 1u)) < ${amount} ? lane : lane - ${amount})`,
  },
  down: {
    call: (mask, { from, amount, width }) => `__shfl_down_sync(${mask}, s[${from}], ${amount}, ${width})`,
    source: ({ amount, width }) => `((lane & (${width} - 1u)) + ${amount} >= ${width} ? lane : lane + ${amount})`,
  },
  // Lanes of later segments are beyond the bound, those of earlier ones are not.
  xor: {
    call: (mask, { from, amount, width }) => `__shfl_xor_sync(${mask}, s[${from}], ${amount}, ${width})`,
    source: ({ amount, width }) => `(((lane ^ ${amount}) & ~(${width} - 1u)) > (lane & ~(${width} - 1u)) ? lane : lane ^ ${amount})`,
  },
  reverse: {
    call: (mask, { from }) => `__shfl_sync(${mask}, s[${from}], 31 - lane)`,
    source: () => '(31 - lane)',
  },
};

interface Reduction {
  readonly call: (mask: string, operand: string, amount: number) => string;
  readonly initial: string;
  /** Combines `result` with the word `v` of lane `k`; `own` is the word of the lane that gets the result. */
  readonly step: (amount: number) => string;
}

const vote =
  (name: string): Reduction['call'] =>
  (mask, operand, amount) =>
    `__${name}_sync(${mask}, ${operand} & ${amount})`;
const reduce =
  (name: string, type = ''): Reduction['call'] =>
  (mask, operand) =>
    `__reduce_${name}_sync(${mask}, ${type}${operand})`;

/** Source: CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Match Functions" and "Warp Reduce Functions". */
const reductions: Readonly<Record<string, Reduction>> = {
  ballot: { call: vote('ballot'), initial: '0', step: (amount) => `if (v & ${amount}) result |= 1u << k;` },
  any: { call: (...all) => `(${vote('any')(...all)} != 0)`, initial: '0', step: (amount) => `if (v & ${amount}) result = 1;` },
  all: { call: (...all) => `(${vote('all')(...all)} != 0)`, initial: '1', step: (amount) => `if (!(v & ${amount})) result = 0;` },
  match: { call: vote('match_any'), initial: '0', step: (amount) => `if ((v & ${amount}) == (own & ${amount})) result |= 1u << k;` },
  add: { call: reduce('add'), initial: '0', step: () => 'result += v;' },
  min: { call: reduce('min'), initial: '~0u', step: () => 'result = v < result ? v : result;' },
  max: { call: reduce('max'), initial: '0', step: () => 'result = v > result ? v : result;' },
  least: { call: reduce('min', '(i32)'), initial: '0x7fffffffu', step: () => 'result = (i32)v < (i32)result ? v : result;' },
  most: { call: reduce('max', '(i32)'), initial: '0x80000000u', step: () => 'result = (i32)v > (i32)result ? v : result;' },
  and: { call: reduce('and'), initial: '~0u', step: () => 'result &= v;' },
  or: { call: reduce('or'), initial: '0', step: () => 'result |= v;' },
  xorAll: { call: reduce('xor'), initial: '0', step: () => 'result ^= v;' },
};

export const collectives = [...Object.keys(shuffles), ...Object.keys(reductions)];

/** Device code of a collective. What a lane gets of one without the mask is undefined, and is not used. */
export function collectiveOnDevice(name: string, mask: string, operands: Operands): string[] {
  const { to, from, amount } = operands;
  const shuffle = shuffles[name];
  if (!shuffle) return [`s[${to}] = ${reductions[name]!.call(mask, `s[${from}]`, amount)};`];
  const value = `u32 source = ${shuffle.source(operands)}, value = ${shuffle.call(mask, operands)};`;
  return [`{ ${value} s[${to}] = ${mask} >> source & 1 ? value : 5; }`];
}

/** Host code of a collective, for the threads of the masks of all warps. */
export function collectiveOnHost(name: string, masks: string, operands: Operands): string[] {
  const { to, from, amount } = operands;
  const shuffle = shuffles[name];
  const own = 'const u32 *s = before[warp * 32 + lane];';
  const result = `state[warp * 32 + lane][${to}] =`;
  if (shuffle) {
    const source = `u32 source = ${shuffle.source(operands)};`;
    return [
      'note();',
      `EACH(${masks}) { ${own} (void)s; ${source} ${result} ${masks}[warp] >> source & 1 ? before[warp * 32 + source][${from}] : 5; }`,
    ];
  }
  const { initial, step } = reductions[name]!;
  const combine = `for (u32 k = 0; k < 32; k++) if (${masks}[warp] >> k & 1) { u32 v = before[warp * 32 + k][${from}]; ${step(amount)} }`;
  return ['note();', `EACH(${masks}) { ${own} u32 own = s[${from}], result = ${initial}; (void)own; ${combine} ${result} result; }`];
}
