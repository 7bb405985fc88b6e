/**
 * Instructions of doubles by chance, in branches and loops, that keep to integers of less than 2^46: exact in double precision and
 * in pairs of floats alike. Registers %d0 to %d5 hold values, %d6 and %d7 are scratch; `%rd0` differs by thread.
 */
import type { Draw } from './pair-errors.ts';

const registers = 6;

/** The body of a kernel; its result is in %d4. */
export function randomDoubles(draw: Draw): string {
  let labels = 0;
  const { below, of } = draw;
  const any = (): string => `%d${below(registers)}`;
  const value = (): string => (below(6) ? any() : of(['0.0', '1.0', '-3.0', '42.0', '0.0', '7.0']));
  const condition = (): string =>
    of([
      () => `setp.${of(['lt', 'le', 'eq', 'neu', 'gt', 'num'])}.f64 %p1, ${any()}, ${value()};`,
      () => `and.b64 %rd6, %rd0, ${1 + below(3)}; setp.eq.u64 %p1, %rd6, 0;`,
    ])();
  // Factors are at most 2^12, so that products and addends stay far below 2^46.
  const limited = (d: string, s: string): string => `max.f64 ${d}, ${s}, 0dC0B0000000000000; min.f64 ${d}, ${d}, 0d40B0000000000000;`;
  const factors = (): string => `${limited('%d6', any())} ${limited('%d7', any())}`;
  const simple = [
    () => `${of(['add', 'sub'])}.f64 ${any()}, ${any()}, ${value()};`,
    () => `${of(['add', 'sub'])}.f64 %d6, ${any()}, ${value()}; ${limited(any(), '%d6')}`,
    () => `${factors()} mul.f64 ${any()}, %d6, %d7;`,
    () => `${factors()} fma.rn.f64 ${any()}, %d6, %d7, ${value()};`,
    () => `${of(['neg', 'abs'])}.f64 ${any()}, ${any()};`,
    () => `mov.f64 ${any()}, ${any()};`,
    () => `${condition()} selp.f64 ${any()}, ${value()}, ${any()}, %p1;`,
    () => `${condition()} @%p1 add.f64 ${any()}, ${any()}, ${any()};`,
    () =>
      `add.f64 %d6, ${any()}, ${any()}; st.local.f64 [spill+${8 * below(4)}], %d6; ld.local.f64 %d7, [spill+${8 * below(4)}]; ${limited(any(), '%d7')}`,
    () => `cvt.rzi.s32.f64 %r4, ${any()}; cvt.rn.f64.s32 ${any()}, %r4;`,
    () => `mov.b64 %rd6, ${any()}; mov.b64 ${any()}, %rd6;`,
    () => `add.rz.f64 %d6, ${any()}, ${any()}; ${limited(any(), '%d6')}`,
  ];
  const statements = (depth: number): string => Array.from({ length: 2 + below(5) }, () => statement(depth)).join('\n');
  const statement = (depth: number): string => {
    if (depth === 0 || below(3)) return of(simple)();
    const label = `L${labels++}`;
    if (below(2)) return `${condition()} @%p1 bra ${label};\n${statements(depth - 1)}\n${label}:`;
    const counter = `%r${4 + depth}`;
    return `mov.u32 ${counter}, 0;\n${label}: setp.ge.u32 %p2, ${counter}, ${below(4)}; @%p2 bra ${label}_END; add.u32 ${counter}, ${counter}, 1;
${statements(depth - 1)}\nbra ${label};\n${label}_END:`;
  };
  const start = `mov.f64 %d0, 0.0; neg.f64 %d4, %d1; mov.f64 %d5, 0d3FF0000000000000;`;
  const clear = [0, 8, 16, 24].map((at) => `st.local.f64 [spill+${at}], %d${1 + ((at >> 3) % 3)};`).join(' ');
  return `${start} ${clear}\n${statements(2)}\n${statements(2)}`;
}
