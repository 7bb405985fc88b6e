/**
 * The fast sanitizer misses nothing: random programs, most of them with a fault, have the same reports and memory as with the precise
 * sanitizer. `CUMETAL_PROGRAMS` is the number of programs.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sanitizeKinds } from '../../src/device/device.ts';
import { runSanitized } from '../support/sanitized-launch.ts';

const test = suite('device/sanitizer-fast-random');

const count = Number(process.env.CUMETAL_PROGRAMS ?? 150);
const firstSeed = Number(process.env.CUMETAL_SEED ?? 1);

function randomOf(seed: number): (most: number) => number {
  let state = (seed * 2654435761) >>> 0;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    state ^= state >>> 12;
    return (state >>> 0) % most;
  };
}

/** A program of statements on two buffers, the second of which is half initialized, and a shared array; each has one word per thread of the block. */
function programOf(seed: number): { text: string; threads: number; blocks: number } {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const threads = pick([32, 32, 64, 96, 40]);
  const blocks = pick([1, 2, 3]);
  // Careful programs access only the thread's own words, so that some have no fault.
  const isCareful = random(3) === 0;
  const lines: string[] = [];
  let labels = 0;
  const index = (): string => {
    const hasUncheckedFault = [
      'add.s32 %i, %t, 1;',
      'sub.s32 %i, %t, 1;',
      'shl.b32 %i, %t, 1;',
      'xor.b32 %i, %t, 1;',
      `mov.u32 %i, ${random(4)};`,
      'and.b32 %i, %t, 7;',
      'and.b32 %i, %x, 31;',
      `mad.lo.s32 %i, %t, ${pick([3, -1, 5])}, ${threads - 1};`,
      'or.b32 %i, %gid, 1073741824;',
      `sub.s32 %i, ${threads - 1}, %t;`,
      'shr.u32 %i, %t, 5;',
    ];
    const own = ['mov.u32 %i, %gid;', 'mov.u32 %i, %gid;', 'add.s32 %i, %gid, 0;'];
    return isCareful || random(3) > 0 ? pick(own) : pick(hasUncheckedFault);
  };
  const address = (space: string, scale: number): void => {
    lines.push(space === 'shared' && random(4) > 0 ? 'mov.u32 %i, %t;' : index());
    if (space === 'shared') lines.push(`shl.b32 %o, %i, ${scale};`, 'mov.u32 %s, cells;', 'add.u32 %s, %s, %o;');
    else {
      lines.push(
        pick([
          `mul.wide.s32 %w, %i, ${2 ** scale};`,
          `mul.wide.u32 %w, %i, ${2 ** scale};`,
          `cvt.s64.s32 %w, %i; shl.b64 %w, %w, ${scale};`,
        ]),
      );
      lines.push(`add.s64 %at, ${space}, %w;`);
    }
  };
  const access = (): void => {
    const space = pick(['%a', '%a', '%b', 'shared', 'shared']);
    const kind = random(12);
    const width = random(6) === 0 ? pick(['u8', 'u16', 'v2.u32', 'u64']) : 'u32';
    const scale = { u8: 0, u16: 1, u32: 2, 'v2.u32': 3, u64: 3 }[width]!;
    const state = space === 'shared' ? 'shared' : 'global';
    const at = space === 'shared' ? '[%s]' : '[%at]';
    const value = { u8: '%h', u16: '%h', u32: '%x', 'v2.u32': '{%x, %y}', u64: '%l' }[width]!;
    address(space, kind > 9 ? 2 : scale);
    if (kind > 9) lines.push(`atom.${state}.add.u32 %x, ${at}, %y;`);
    else if (kind > 8) lines.push(random(2) === 0 ? `ld.volatile.${state}.u32 %x, ${at};` : `st.volatile.${state}.u32 ${at}, %x;`);
    else if (kind > 4) lines.push(`ld.${state}.${width} ${value}, ${at};`);
    else lines.push(`st.${state}.${width} ${at}, ${value};`);
  };
  const statement = (depth: number): void => {
    const kind = random(14);
    const label = `L${labels++}`;
    if (kind === 0 && depth < 2) {
      const compare = pick([
        `setp.lt.s32 %p, %t, ${1 + random(threads)};`,
        'and.b32 %o, %t, 1; setp.eq.u32 %p, %o, 0;',
        'setp.eq.u32 %p, %t, 0;',
        `setp.lt.s32 %p, %x, ${random(40)};`,
      ]);
      lines.push(compare, `@!%p bra ${label};`);
      for (let i = random(3); i >= 0; i--) statement(depth + 2);
      lines.push(`${label}:`);
    } else if (kind === 1 && depth === 0) {
      lines.push('mov.u32 %k, 0;', `${label}:`);
      for (let i = random(3); i >= 0; i--) statement(1);
      lines.push('add.u32 %k, %k, 1;', `setp.lt.u32 %q, %k, ${1 + random(4)};`, `@%q bra ${label};`);
    } else if (kind === 2 && depth === 0) {
      // A pointer that is advanced through a buffer.
      lines.push(
        'mov.u32 %k, 0;',
        'mul.wide.u32 %w, %gid, 4;',
        'add.s64 %c, %a, %w;',
        `${label}:`,
        `${pick(['ld.global.u32 %x, [%c];', 'st.global.u32 [%c], %x;'])}`,
      );
      lines.push(
        `add.s64 %c, %c, ${pick([4, 0, 64, -4])};`,
        'add.u32 %k, %k, 1;',
        `setp.lt.u32 %q, %k, ${1 + random(4)};`,
        `@%q bra ${label};`,
      );
    } else if (kind <= 5 && depth < 2) lines.push('bar.sync 0;');
    else if (kind === 6 && depth < 2)
      lines.push(
        pick([
          'bar.warp.sync 0xffffffff;',
          'membar.cta;',
          ...(threads % 32 === 0 ? ['shfl.sync.down.b32 %x, %x, 1, 31, 0xffffffff;'] : []),
        ]),
      );
    else if (kind === 7) lines.push('add.u32 %x, %x, %t;');
    else access();
  };
  if (random(2) === 0)
    lines.push('mov.u32 %s, cells;', 'shl.b32 %o, %t, 2;', 'add.u32 %s, %s, %o;', 'st.shared.u32 [%s], %t;', 'bar.sync 0;');
  for (let i = 2 + random(6); i > 0; i--) statement(0);
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry looked(.param .u64 pa, .param .u64 pb)
{
  .reg .pred %p, %q;
  .reg .b16 %h;
  .reg .b32 %t, %gid, %n, %i, %o, %s, %x, %y, %k;
  .reg .b64 %a, %b, %c, %w, %at, %l;
  .shared .align 16 .b32 cells[${threads}];
  mov.u32 %t, %tid.x;
  mov.u32 %gid, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mad.lo.s32 %gid, %gid, %n, %t;
  mov.u32 %x, %gid;
  mov.u32 %y, 1;
  mov.u16 %h, 3;
  mov.u64 %l, 5;
  ld.param.u64 %a, [pa];
  ld.param.u64 %b, [pb];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  ${lines.join('\n  ')}
  st.global.u32 [%a], %x;
  ret;
}
`;
  return { text: isCareful ? text.replace('  st.global.u32 [%a], %x;\n', '') : text, threads, blocks };
}

const totals = { clean: 0, fast: 0, fallback: 0, found: 0 };

for (let seed = firstSeed; seed < firstSeed + count; seed++)
  test(`program ${seed}`, () => {
    const { text, threads, blocks } = programOf(seed);
    const words = threads * blocks;
    const random = randomOf(seed + 1e6);
    const kinds = random(3) === 0 ? [sanitizeKinds[random(4)]!] : sanitizeKinds;
    const bytes = Uint8Array.from({ length: 4 * words }, (_, i) => i);
    const second =
      random(3) === 0 ? ({ same: 0 } as const) : { bytes: 4 * words, written: bytes.subarray(0, random(2) === 0 ? 2 * words : 4 * words) };
    const launch = { grid: [blocks, 1, 1], block: [threads, 1, 1], args: [bytes, second], kinds } as const;
    const [fast, precise] = [runSanitized(text, launch, false), runSanitized(text, launch, true)];
    assert.not.ok(precise.isFast);
    // Results of races and of out-of-bounds accesses that are not checked may differ from run to run.
    const all = { ...launch, kinds: sanitizeKinds };
    const isAll = kinds === sanitizeKinds;
    const isWild = !isAll && runSanitized(text, all, true).messages.some((message) => /^CM61[02]/.test(message));
    if (!isWild) assert.equal(fast.messages, precise.messages, text);
    if (isAll || (!isWild && !runSanitized(text, all, false).isFallback)) assert.equal(fast.buffers, precise.buffers, text);
    if (precise.messages.length > 0) totals.found++;
    else totals.clean++;
    if (fast.isFast && !fast.isFallback) totals.fast++;
    if (fast.isFallback) totals.fallback++;
  });

test('there are programs of every kind', () => {
  if (process.env.CUMETAL_PROGRAMS) console.log(JSON.stringify(totals));
  if (count >= 100) for (const each of Object.values(totals)) assert.ok(each >= count / 20, JSON.stringify(totals));
});

test.run();
