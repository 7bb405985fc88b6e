/** Which mutants a spec reaches: the sources with probes in them, which note in a list of the process what has run. */
import type { Mutable, Mutation, Span } from './mutators.ts';

/** The environment's name for the file in which a spec, its processes and their threads note what they reach: a byte for each probe. */
export const reachedVariable = 'CUMETAL_MUTANTS_REACHED';

/** Maps the file, which outlives whatever is killed; threads of their own have none of the variables of a program. */
const head = `const reached$ = (globalThis.mutantsReached ??=
  globalThis.Bun && process.env.${reachedVariable} ? Bun.mmap(process.env.${reachedVariable}) : []); `.replaceAll('\n', '');

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** At one place: what closes before what opens, inner ones close first, outer ones open first. */
  readonly order: number;
}

/** A text with a probe for each mutation, with its number, and one for all functions of the file; where it has none, for whoever imports it. */
export function probed(
  text: string,
  { bodies }: Mutable,
  mutations: readonly { mutation: Mutation; probe: number }[],
  file: number,
): string {
  const run = (probe: number): string => `reached$[${probe}] = 1`;
  const around = ({ start, end }: Span, open: string, close: string): Insertion[] => [
    { at: start, text: open, order: 1e7 - end },
    { at: end, text: close, order: -1e7 - start },
  ];
  const insertions = [
    ...bodies.flatMap(({ isBlock, ...span }) =>
      isBlock ? [{ at: span.start + 1, text: ` ${run(file)};`, order: -1e9 }] : around(span, `(${run(file)}, `, ')'),
    ),
    ...mutations.flatMap(({ mutation: { probe }, probe: number }) =>
      probe.isStatement ? around(probe, `{ ${run(number)}; `, ' }') : around(probe, `(${run(number)}, `, ')'),
    ),
  ];
  insertions.sort((a, b) => a.at - b.at || a.order - b.order);
  let [result, from] = [bodies.length === 0 ? `${head}${run(file)}; ` : head, 0];
  for (const { at, text: inserted } of insertions) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}
