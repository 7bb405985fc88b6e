/**
 * Random programs of warps: shuffles, votes, matches and reductions in branches and loops that lanes leave at different times, with the masks that ballots give,
 * barriers, and atomics on shared memory. Host code takes every step for all threads together.
 */
import { collectiveOnDevice, collectiveOnHost, collectives, type Operands } from './collectives.ts';
import { condition, expression } from './expressions.ts';
import { type CudaProgram, inputWords } from './program.ts';
import { allTypes, type Draw, newDraw, newScope, times } from './scope.ts';
import { bitsOf, statements } from './statements.ts';

const words = 8;

type Step =
  | { readonly kind: 'own'; readonly fn: string }
  | { readonly kind: 'collective'; readonly name: string; readonly operands: Operands }
  | { readonly kind: 'branch'; readonly fn: string; readonly then: readonly Step[]; readonly otherwise: readonly Step[] | undefined }
  /** Each lane takes as many turns as its word says, three at most. */
  | { readonly kind: 'loop'; readonly word: number; readonly body: readonly Step[] }
  | { readonly kind: 'repeat'; readonly count: number; readonly body: readonly Step[] }
  /** A word of another thread, by shared memory and a barrier. */
  | { readonly kind: 'exchange'; readonly from: number; readonly to: number; readonly factor: number; readonly offset: number }
  | { readonly kind: 'atomic'; readonly operation: Atomic; readonly place: number; readonly word: number; readonly places: number };

/** Atomics whose results in memory do not depend on their order, in host code of `x` and `v`, and what memory has before. */
const atomics = {
  Add: { host: 'x += v;', initial: '0' },
  Xor: { host: 'x ^= v;', initial: '0' },
  Or: { host: 'x |= v;', initial: '0' },
  And: { host: 'x &= v;', initial: '~0u' },
  Min: { host: 'x = v < x ? v : x;', initial: '~0u' },
  Max: { host: 'x = v > x ? v : x;', initial: '0' },
} as const;
type Atomic = keyof typeof atomics;

/** Draws steps, and the functions that they call. */
class Planner {
  readonly lines: string[] = [];
  readonly #draw: Draw;
  #functions = 0;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  steps(count: number, depth: number, isTogether: boolean): Step[] {
    return times(count, () => this.#step(depth, isTogether));
  }

  #some(depth: number, isTogether: boolean): Step[] {
    return this.steps(this.#draw.between(2, 5), depth, isTogether);
  }

  /** A step that all threads of the block take, where `isTogether`. */
  #step(depth: number, isTogether: boolean): Step {
    const draw = this.#draw;
    const word = () => draw.below(words);
    const kind = draw.weighted([
      [35, 'own'] as const,
      [30, 'collective'] as const,
      [depth < 3 ? 10 : 0, 'branch'] as const,
      [depth < 2 ? 10 : 0, 'loop'] as const,
      [depth < 2 ? 5 : 0, 'repeat'] as const,
      [isTogether ? 5 : 0, 'exchange'] as const,
      [isTogether ? 5 : 0, 'atomic'] as const,
    ]);
    if (kind === 'own') return { kind, fn: this.#own() };
    if (kind === 'branch') {
      const [fn, then] = [this.#condition(), this.#some(depth + 1, false)];
      return { kind, fn, then, otherwise: draw.chance(0.5) ? this.#some(depth + 1, false) : undefined };
    }
    if (kind === 'loop') return { kind, word: word(), body: this.#some(depth + 1, false) };
    if (kind === 'repeat') return { kind, count: draw.between(1, 3), body: this.#some(depth + 1, isTogether) };
    if (kind === 'exchange') return { kind, from: word(), to: word(), factor: draw.of([1, 3, 5, 7]), offset: draw.below(100) };
    if (kind === 'atomic')
      return { kind, operation: draw.of(Object.keys(atomics) as Atomic[]), place: word(), word: word(), places: draw.of([1, 4, 16]) };
    const operands = { to: word(), from: word(), amount: draw.of([1, 2, 4, 8, 16, 3, 7, 31]), width: draw.of([32, 32, 16, 8]) };
    return { kind, name: draw.of(collectives), operands };
  }

  /** A scope in a function of a thread: its number and its words. */
  #scope() {
    const named = ['tid', 's[0]', 's[1]'].map((name) => ({ name, type: 'u32' }) as const);
    const scope = newScope(this.#draw, named);
    scope.arrays.push({ name: 's', length: words });
    return scope;
  }

  #condition(): string {
    const draw = this.#draw;
    const name = `c${this.#functions++}`;
    const spread = `(tid * ${draw.of([1, 3, 5])} + ${draw.below(10)}) >> ${draw.below(7)} & 1`;
    const value = draw.chance(0.6) ? `${condition(this.#scope(), 2)} ? 1u : 0u` : spread;
    this.lines.push(`SHARED_CODE u32 ${name}(u32 tid, const u32 *s) { return ${value}; }`);
    return name;
  }

  #own(): string {
    const [draw, scope, name] = [this.#draw, this.#scope(), `p${this.#functions++}`];
    this.lines.push(`${draw.of(['SHARED_CODE', 'SHARED_CODE', 'CALLED'])} void ${name}(u32 tid, u32 *s) {`);
    this.lines.push(...statements(scope, draw.between(1, 4), 2).map((line) => `  ${line}`));
    const type = draw.of(allTypes);
    this.lines.push(`  s[${draw.below(words)}] = (u32)${bitsOf(type, expression(scope, type, 3))};`, '}');
    return name;
  }
}

type Names = () => string;
const newNames = (): Names => {
  let count = 0;
  return () => `m${++count}`;
};
const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

/** Device code of steps that the lanes of a mask take. */
function onDevice(steps: readonly Step[], mask: string, names: Names): string[] {
  const inner = (some: readonly Step[], own: string) => indented(onDevice(some, own, names));
  return steps.flatMap((step): string[] => {
    if (step.kind === 'own') return [`${step.fn}(tid, s);`];
    if (step.kind === 'collective') return collectiveOnDevice(step.name, mask, step.operands);
    if (step.kind === 'repeat') {
      const turn = names();
      return [`for (u32 ${turn} = 0; ${turn} < ${step.count}; ${turn}++) {`, ...inner(step.body, mask), '}'];
    }
    if (step.kind === 'exchange') {
      const { from, to, factor, offset } = step;
      return [`shared[tid] = s[${from}]; __syncthreads(); s[${to}] = shared[(tid * ${factor} + ${offset}) % THREADS]; __syncthreads();`];
    }
    if (step.kind === 'atomic') {
      const { operation, place, word, places } = step;
      const start = `if (tid < 16) shared[tid] = ${atomics[operation].initial}; __syncthreads();`;
      const add = `atomic${operation}(&shared[s[${place}] % ${places}], s[${word}]); __syncthreads();`;
      return [`${start} ${add} s[${word}] ^= shared[s[${place}] % ${places}]; __syncthreads();`];
    }
    const own = names();
    if (step.kind === 'loop') {
      const head = [`u32 ${own} = ${mask}, turns = s[${step.word}] & 3;`, `for (u32 turn = 0;; turn++) {`];
      const leave = [`  u32 stays = turn < turns; ${own} = __ballot_sync(${own}, stays); if (!stays) break;`];
      return ['{', ...indented([...head, ...leave, ...inner(step.body, own), '}', `__syncwarp(${mask});`]), '}'];
    }
    const decide = [`u32 chosen = ${step.fn}(tid, s), ${own} = __ballot_sync(${mask}, chosen);`, 'if (chosen) {', ...inner(step.then, own)];
    const others = step.otherwise && ['} else {', `  u32 ${own}_not = ${mask} & ~${own};`, ...inner(step.otherwise, `${own}_not`)];
    return ['{', ...indented([...decide, ...(others ?? []), '}', `__syncwarp(${mask});`]), '}'];
  });
}

/** Host code of steps that the threads of the masks of all warps take. */
function onHost(steps: readonly Step[], masks: string, names: Names): string[] {
  const inner = (some: readonly Step[], own: string) => indented(onHost(some, own, names));
  const thread = 'warp * 32 + lane';
  return steps.flatMap((step): string[] => {
    if (step.kind === 'own') return [`EACH(${masks}) ${step.fn}(${thread}, state[${thread}]);`];
    if (step.kind === 'collective') return collectiveOnHost(step.name, masks, step.operands);
    if (step.kind === 'repeat') {
      const turn = names();
      return [`for (u32 ${turn} = 0; ${turn} < ${step.count}; ${turn}++) {`, ...inner(step.body, masks), '}'];
    }
    if (step.kind === 'exchange') {
      const { from, to, factor, offset } = step;
      return ['note();', `for (u32 t = 0; t < THREADS; t++) state[t][${to}] = before[(t * ${factor} + ${offset}) % THREADS][${from}];`];
    }
    if (step.kind === 'atomic') {
      const { operation, place, word, places } = step;
      const start = `u32 shared[16]; for (u32 i = 0; i < 16; i++) shared[i] = ${atomics[operation].initial}; note();`;
      const where = `u32 &x = shared[before[t][${place}] % ${places}];`;
      const add = `for (u32 t = 0; t < THREADS; t++) { ${where} u32 v = before[t][${word}]; ${atomics[operation].host} }`;
      // A word that is both the place and the operand is read before it is written.
      return [`{ ${start} ${add} for (u32 t = 0; t < THREADS; t++) { ${where} state[t][${word}] ^= x; } }`];
    }
    const own = names();
    if (step.kind === 'loop') {
      const head = [`u32 ${own}[THREADS / 32]; static u32 ${own}_turns[THREADS]; memcpy(${own}, ${masks}, sizeof(${own}));`];
      const turns = `for (u32 t = 0; t < THREADS; t++) ${own}_turns[t] = state[t][${step.word}] & 3;`;
      const leave = `  EACH(${own}) if (turn >= ${own}_turns[${thread}]) ${own}[warp] &= ~(1u << lane);`;
      return ['{', ...indented([...head, turns, 'for (u32 turn = 0; turn < 3; turn++) {', leave, ...inner(step.body, own), '}']), '}'];
    }
    const decide = [
      `u32 ${own}[THREADS / 32] = {0}, ${own}_not[THREADS / 32] = {0};`,
      `EACH(${masks}) (${step.fn}(${thread}, state[${thread}]) ? ${own} : ${own}_not)[warp] |= 1u << lane;`,
    ];
    return ['{', ...indented(decide), ...inner(step.then, own), ...inner(step.otherwise ?? [], `${own}_not`), '}'];
  });
}

const blocks = 3;

/** The program of a number. A thread leaves its words. */
export function warpProgram(seed: number): CudaProgram {
  const draw = newDraw(seed);
  const threads = draw.of([32, 64, 96, 128, 256]);
  const planner = new Planner(draw);
  const steps = planner.steps(draw.between(5, 10), 0, true);
  const [result, place] = [`data[${inputWords} + (block * ${threads} + tid) * ${words} + i]`, 'for (u32 i = 0; i < 8; i++)'];
  const first = `data[(tid * ${words} + i + block * 77) & ${inputWords - 1}]`;
  const source = [
    ...['#include "prelude.h"', `#define THREADS ${threads}`],
    ...planner.lines,
    '#ifdef __CUDACC__',
    'extern "C" __global__ void k(u32 *data) {',
    '  __shared__ u32 shared[THREADS];',
    `  u32 tid = threadIdx.x, block = blockIdx.x, lane = tid & 31, s[${words}];`,
    `  ${place} s[i] = ${first};`,
    ...indented(onDevice(steps, '0xffffffffu', newNames())),
    `  ${place} ${result} = s[i];`,
    '}',
    ...['#else', '#include "warps.h"'],
    'static void run_all(u32 *data) {',
    `  for (u32 block = 0; block < ${blocks}; block++) {`,
    '    u32 every[THREADS / 32];',
    '    for (u32 &mask : every) mask = ~0u;',
    `    for (u32 tid = 0; tid < THREADS; tid++) ${place} state[tid][i] = ${first};`,
    ...indented(indented(onHost(steps, 'every', newNames()))),
    `    for (u32 tid = 0; tid < THREADS; tid++) ${place} ${result} = state[tid][i];`,
    '  }',
    '}',
    ...['#include "host.h"', '#endif'],
  ].join('\n');
  return { source, blocks, threads, outputWords: blocks * threads * words };
}
