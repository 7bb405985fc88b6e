/**
 * Arguments cut down for two cores. A program says in its usage what its arguments are: those that count repetitions become 1 at once, and the
 * others are divided where a run takes too long. `sizes.ts` has those of programs that say it otherwise.
 */
import { sizes } from './sizes.ts';

const repetition = /rep|iter|trial|loop|times?$|runs?$|passes|warm|n_?timing/i;

/** The names of arguments by place, of the usage that a source prints: `<width> <height> <repeat>`. */
function namesOf(source: string): string[] {
  const [, list = ''] = /[Uu]sage[^\n]*?%s([^\n"\\]*)/.exec(source) ?? [];
  return [...list.matchAll(/[<[(]([^>\])]*)[>\])]/g)].map(([, name]) => name!.trim());
}

const isNumber = (word: string): boolean => /^\d+$/.test(word);

/** The part of a number that stays: sizes keep their power of two, and are 16 at least. */
function divided(word: string, by: number): string {
  const n = Number(word);
  if (!isNumber(word) || n < 128) return word;
  const less = Math.floor(n / by);
  const step = 2 ** Math.min(5, Math.log2(n & -n) | 0);
  return String(Math.max(Math.min(n, 16), Math.ceil(less / step) * step));
}

/** Argument lists in the order in which they are tried: smaller ones where a run takes too long, larger ones where it fails. */
export function argumentLists(
  name: string,
  args: readonly string[],
  source: string,
): { readonly smaller: string[][]; readonly larger: string[][] } {
  const fixed = sizes[name];
  if (fixed !== undefined) return { smaller: [fixed.split(' ')], larger: [] };
  const names = namesOf(source);
  const byOption = args.map((_, i) => repetition.test(args[i - 1]?.startsWith('-') ? args[i - 1]! : ''));
  const isRepeated = args.map((_, i) => byOption[i] || (names.length === args.length && repetition.test(names[i]!)));
  // A last number behind others is a count of repetitions in nearly all of these programs, and so is a single round one.
  const last = args.length - 1;
  if (!isRepeated.includes(true) && isNumber(args[last] ?? '') && /^10+$|^[125]0+$|^10?$/.test(args[last]!) && names.length === 0)
    isRepeated[last] = true;
  const once = args.map((word, i) => {
    const [, head, value] = /^(-+\w+=)(\d+)$/.exec(word) ?? [];
    if (head && repetition.test(head) && Number(value) > 1) return `${head}1`;
    return isRepeated[i] && isNumber(word) ? '1' : word;
  });
  // Some programs want a few repetitions.
  const few = once.map((word, i) => (isRepeated[i] && word === '1' && Number(args[i]) >= 10 ? '10' : word));
  const smaller = [1, 16, 256].map((by) => once.map((word, i) => (isRepeated[i] ? word : divided(word, by))));
  // Where work grows faster than any power of a number.
  smaller.push(
    smaller
      .at(-1)!
      .map((word, i) => (isNumber(word) && !isRepeated[i] && Number(word) > 8 ? String(Math.max(8, Number(word) >> 1)) : word)),
  );
  const isNew = (list: readonly string[], i: number, all: readonly string[][]): boolean =>
    all.findIndex((each) => each.join(' ') === list.join(' ')) === i;
  return { smaller: smaller.filter(isNew), larger: [smaller[1]!, few, [...args]].filter(isNew) };
}
