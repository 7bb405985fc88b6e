/**
 * Which instructions stay what they are in kernels that become PTX again because what they do is no arithmetic: they reach other blocks of a cluster,
 * textures, the copy engine or the stack. An instruction stays where the architecture has it. Those that share state with others, as barriers in memory
 * do with the copies that complete them, stay only if all of the module do.
 */
import type { Checked, CheckedFunction, Match } from '../ptx/index.ts';

/** An architecture of NVIDIA: `sm_90a` is 90 with `isSpecific`. */
export interface Architecture {
  readonly sm: number;
  /** Whether the text is for that architecture alone, and may have what later ones do not. */
  readonly isSpecific: boolean;
}

/** `sm_90a` as an architecture. */
export const architectureOf = (name: string): Architecture => ({ sm: Number.parseInt(name.slice(3), 10), isSpecific: name.endsWith('a') });

/** Words that came later than the rows that have them among others. */
const laterWords: readonly (readonly [pattern: RegExp, sm: number])[] = [
  [/\.(?:bf16|bf16x2|tf32|relu|satfinite)\b/, 80],
  [/\.(?:e4m3|e5m2)(?:x\d)?\b/, 89],
  [/^set\..*\.bf16/, 90],
  [/\bshared::cluster\b|\.cluster\b/, 90],
];

/** What architectures have that later ones may not have. Source: PTX ISA 9.0, 9.7.9.28, 9.7.15 and 9.7.19.5. */
const specific = /^(?:wgmma|setmaxnreg|tensormap\.replace)\./;

/** The words of an instruction. */
export const formOf = ({ instruction: { opcode, modifiers } }: Match): string => [opcode, ...modifiers].join('.');

/** The first architecture with a form. */
export function firstArchitecture(match: Match): number {
  const text = formOf(match);
  return Math.max(match.row.since.sm, ...laterWords.flatMap(([pattern, sm]) => (pattern.test(text) ? [sm] : [])));
}

/** Whether an architecture has a form. */
export const hasForm = ({ sm, isSpecific }: Architecture, match: Match): boolean =>
  firstArchitecture(match) <= sm && !(match.row.withdrawn && match.row.withdrawn.sm <= sm) && (isSpecific || !specific.test(formOf(match)));

/** Instructions by their first words that stay one by one. */
const single =
  /^(?:(?:tex|tld4|txq|suld|sust|sured|suq|istypep|alloca|stacksave|stackrestore|griddepcontrol|mapa|getctarank|nanosleep|setmaxnreg)\b|barrier\.cluster\b|(?:ld|st|atom|red|cvta|isspacep)\S*\.shared::cluster\b|fence\S*\.cluster\b)/;

/** Barriers in memory, the copies that complete them, and what orders these. */
const asynchronous =
  /^(?:mbarrier\.|cp\.async\b|cp\.reduce\.async\b|st\.async\b|red\.async\b|st\.bulk\b|tensormap\.|prefetch\S*\.tensormap\b|fence\.(?:proxy|mbarrier_init)\b)/;

/** Products of matrices by groups of warps. */
const groups = /^wgmma\./;

const families = [asynchronous, groups];

/** Which instructions stay what they are. */
export type Keeps = (match: Match) => boolean;

/** The instructions of a module that stay what they are for an architecture. */
export function nativeInstructions({ entries, functions }: Checked, architecture: Architecture): Keeps {
  const whole = new Set(families);
  for (const { items } of new Set<CheckedFunction>([...entries, ...functions.values()]))
    for (const item of items) {
      if (item.kind !== 'instruction' || item.call) continue;
      const family = families.find((each) => each.test(formOf(item.match)));
      if (family && !hasForm(architecture, item.match)) whole.delete(family);
    }
  return (match) => {
    const text = formOf(match);
    const family = families.find((each) => each.test(text));
    if (family) return whole.has(family);
    return (single.test(text) || match.row.control === 'barrier') && hasForm(architecture, match);
  };
}

/** Registers of clusters, which the architecture has itself. */
export const keepsRegister = ({ sm }: Architecture, name: string): boolean => sm >= 90 && /^%(?:cluster|ncluster|is_explicit)/.test(name);
