/**
 * What instructions do for the order of accesses, by their text: copies that are asynchronous on a GPU, barriers in memory, groups of operations, and
 * fences of the asynchronous proxy. Source: PTX ISA 9.0, 8.6 (proxies), 9.7.9.25, 9.7.13 and 9.7.15.
 */
import type { Line } from '../../../../air/index.ts';
import type { SourceFile } from '../../../../base/source.ts';
import { instructionAt } from '../../source-text.ts';

/** Groups of operations that a thread waits for by their number. */
export type Group = 'bulk' | 'cp' | 'wgmma';

export type Role =
  /** Operations on an mbarrier; a `note` says that the copies of a thread arrive there. */
  | { readonly does: 'init' | 'arrive' | 'test' | 'note' }
  /** A copy whose writes of shared memory arrive at an mbarrier, or are of a group. */
  | { readonly does: 'fill'; readonly group: Group | undefined }
  /** Reads of shared memory by the asynchronous proxy. */
  | { readonly does: 'drain'; readonly group: Group }
  | { readonly does: 'commit'; readonly group: Group }
  /** A wait for all groups but some, also for what is in no group if `isAll`. */
  | { readonly does: 'wait'; readonly group: Group; readonly but: number; readonly isAll: boolean }
  | { readonly does: 'proxy' }
  /** The barrier of the cluster. */
  | { readonly does: 'cluster' };

const copy = /\b(cp\.async\.bulk|cp\.reduce\.async\.bulk|st\.async|red\.async)\.(?!prefetch|commit|wait)/;
const short = /\bcp\.async\.c[ag]\./;
const groups: readonly (readonly [Group, string])[] = [
  ['bulk', 'cp\\.async\\.bulk'],
  ['wgmma', 'wgmma'],
  ['cp', 'cp\\.async'],
];
/** By group: how it is closed, and waited for. */
const grouped = groups.map(
  ([group, opcode]) =>
    ({
      group,
      commit: new RegExp(`\\b${opcode}\\.commit_group`),
      wait: new RegExp(`\\b${opcode}\\.wait_group(?:\\.\\w+)*\\s+(\\w+)`),
      all: new RegExp(`\\b${opcode}\\.wait_all`),
    }) as const,
);

const barrierRoles = [
  [/\bmbarrier\.(init|inval)\b/, 'init'],
  [/\bmbarrier\.(test|try)_wait\b/, 'test'],
  [/\bmbarrier\./, 'arrive'],
  [/\bcp\.async\.mbarrier\.arrive\b/, 'note'],
] as const;

/** The role of an instruction. */
export function roleOf(text: string): Role | undefined {
  const barrier = barrierRoles.find(([pattern]) => pattern.test(text));
  // `cp.async.mbarrier.arrive` has the name of both.
  if (/\bcp\.async\.mbarrier\.arrive\b/.test(text)) return { does: 'note' };
  if (copy.test(text)) return copyRole(text);
  if (barrier) return { does: barrier[1] };
  if (short.test(text)) return { does: 'fill', group: 'cp' };
  if (/\bwgmma\.mma_async\b/.test(text)) return { does: 'drain', group: 'wgmma' };
  if (/\bfence\.proxy\.async\b/.test(text)) return { does: 'proxy' };
  if (/\bbarrier\.cluster\./.test(text)) return { does: 'cluster' };
  return groupRole(text);
}

function copyRole(text: string): Role | undefined {
  if (text.includes('.bulk_group')) return { does: 'drain', group: 'bulk' };
  return text.includes('mbarrier::complete_tx') ? { does: 'fill', group: undefined } : undefined;
}

function groupRole(text: string): Role | undefined {
  for (const { group, commit, wait, all } of grouped) {
    if (commit.test(text)) return { does: 'commit', group };
    const found = wait.exec(text);
    if (found) return { does: 'wait', group, but: Number(found[1]) || 0, isAll: false };
    if (all.test(text)) return { does: 'wait', group, but: 0, isAll: true };
  }
  return undefined;
}

/** Barriers of shared memory without a name in the source (`src/lower/passes/hidden-variables.ts`). */
const hiddenBarriers: ReadonlySet<string> = new Set(['cumetal.barriers', 'cumetal.groups']);
export const isHiddenBarrier = (line: Line | undefined): boolean => line?.reach !== undefined && hiddenBarriers.has(line.reach.name);

/** Whether an access is of tensor memory, which is hidden shared memory in front of the kernel's own. */
export const isHiddenMemory = (line: Line | undefined): boolean => line?.reach?.name === 'cumetal.tensor';

/** The roles of the instructions of a text, by line. */
export function rolesIn(source: SourceFile): (line: Line) => Role | undefined {
  const known = new Map<string, Role | undefined>();
  return (line) => {
    const key = `${line.line}:${line.column}`;
    if (!known.has(key)) known.set(key, roleOf(instructionAt(source, line)));
    return known.get(key);
  };
}

/** Whether an instruction names shared memory of its own block, rather than that of any block of a cluster. */
export const isOfOwnBlock = (source: SourceFile, line: Line): boolean => {
  const text = instructionAt(source, line);
  return /\.shared\b/.test(text) && !text.includes('::cluster');
};

const special =
  /\b(mbarrier\.|cp\.async\b|cp\.reduce\.async\b|st\.async\b|red\.async\b|wgmma\.|barrier\.cluster\.|shared::cluster\b|mapa\b|bar(rier)?(\.cta)?\.(arrive|red)\b|bar(rier)?(\.cta)?\.sync(\.aligned)?\s+(?!\s|0\s*;))/;

/** Whether threads of a kernel are ordered by more than barriers of the block, of the warp, and fences. Bodies of other kernels do not count. */
export function hasSpecialOrder(source: SourceFile | undefined, kernel: string): boolean {
  if (!source || !special.test(source.text)) return false;
  const parts = source.text.split(/^(?=[^\n/]*\.(?:entry|func)\b)/m);
  return parts.some((part) => {
    const entry = /^[^\n]*\.entry\s+([\w$%]+)/.exec(part)?.[1];
    return (entry === undefined || entry === kernel) && special.test(part);
  });
}
