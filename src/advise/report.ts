/** Advice as diagnostics: one for each access, branch, loop and race that is worth one. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import type { AdvisedAccess } from './accesses.ts';
import { type AdvisedBranch, type AdvisedLoop, loopsWithoutEnd } from './flow.ts';
import { mend, mendedText } from './mend.ts';
import { racesOf, unwrittenReads } from './shared.ts';
import type { Prepared, WarpForms } from './state.ts';

/** What a report is made of. */
export interface Findings {
  readonly all: Prepared;
  /** The warps of one block, and those of every block where the grid is small. */
  readonly warps: readonly WarpForms[];
  readonly accesses: readonly AdvisedAccess[];
  readonly branches: readonly AdvisedBranch[];
}

/** Reports what was found in a kernel. */
export function reportFindings(found: Findings, source: SourceFile, diagnostics: Diagnostics): void {
  for (const access of found.accesses) reportAccess(found, access, diagnostics);
  for (const branch of found.branches) reportBranch(found, branch, diagnostics);
  for (const loop of loopsWithoutEnd(found.all, found.warps)) reportLoop(found, loop, diagnostics);
  for (const { access, name } of unwrittenReads(found.all, found.accesses)) diagnostics.report('CM2305', { name }, at(access.span));
  reportRaces(found, source, diagnostics);
}

const at = (span: Span | undefined): { readonly span?: Span } => (span ? { span } : {});

/** An access in words: `this load of f32`. */
export const accessText = ({ kind, type }: AdvisedAccess): string => `this ${kind} of ${type}`;

/** How lanes spread, in words. */
export function spreadText({ spread, stride }: Pick<AdvisedAccess, 'spread' | 'stride'>): string {
  switch (spread) {
    case 'uniform':
      return 'all threads have one address';
    case 'unit':
      return 'neighboring threads have neighboring elements';
    case 'strided':
      return `neighboring threads are ${Math.abs(stride ?? 0)} bytes apart`;
    case 'broadcast':
      return 'several threads share each address';
    case 'pattern':
      return 'the addresses follow from the thread numbers';
    case 'runtime':
      return 'a stride of run time';
    case 'gather':
      return 'the addresses depend on loaded values';
    case 'unknown':
      return 'the addresses are not known';
  }
}

/** A number of steps, with up to two digits behind the point. */
export const stepsText = (steps: number): string => String(Math.round(steps * 100) / 100);

function reportAccess({ all, warps, accesses }: Findings, access: AdvisedAccess, diagnostics: Diagnostics): void {
  const { steps, space } = access;
  if (space === 'global' && access.spread === 'runtime') diagnostics.report('CM2302', { what: accessText(access) }, at(access.span));
  if (!steps) return;
  const notes = noteOf(access);
  const holes = { what: accessText(access), steps: stepsText(steps.steps), least: stepsText(steps.least), spread: spreadText(access) };
  if (space === 'global') {
    if (steps.steps < 2 * steps.least || steps.steps - steps.least < 2) return;
    diagnostics.report('CM2301', { ...holes, efficiency: efficiencyOf(steps) }, { ...at(access.span), notes });
    return;
  }
  if (steps.steps <= steps.least || access.kind === 'atomic') return;
  const mended = mend(access, all, warps, accesses).map(mendedText);
  diagnostics.report('CM2303', holes, { ...at(access.span), notes, ...(mended.length > 0 ? { help: mended.join('; or ') } : {}) });
}

/** The part of the bytes of the sectors that are used, in percent. */
export const efficiencyOf = ({ steps, bytes }: { readonly steps: number; readonly bytes: number }): number =>
  Math.round((1000 * bytes) / (steps * 32)) / 10;

function noteOf({ steps }: AdvisedAccess): string[] {
  if (steps?.certainty === 'most') return ['the number is that of a warp with all of its threads; requests of fewer threads may need less'];
  if (steps?.certainty === 'assumed')
    return ['the number is that of 32 threads which follow one another along x, with indices that do not wrap around'];
  return [];
}

/** The fewest instructions of each side, and the least part of idle lanes, for a branch that is worth a note. */
const [minSide, minIdle] = [4, 0.25];

function reportBranch({ all }: Findings, { idle, sides, block, value }: AdvisedBranch, diagnostics: Diagnostics): void {
  if (idle === undefined || idle < minIdle || sides.some((count) => count < minSide)) return;
  const { kernel } = all;
  const span = kernel.blocks[block]!.endLoc ?? kernel.locs[value];
  diagnostics.report('CM2304', { idle: Math.round(100 * idle) }, at(span));
}

function reportLoop({ all }: Findings, { kind, header, value, isDivergent }: AdvisedLoop, diagnostics: Diagnostics): void {
  const { kernel } = all;
  const block = kernel.blocks[header]!;
  const own = [...block.body.map((each) => kernel.locs[each]), block.endLoc].find((span) => span !== undefined);
  const span = (value === undefined ? undefined : kernel.locs[value]) ?? own;
  if (kind === 'spin') {
    diagnostics.report('CM2307', {}, at(span));
    return;
  }
  const why = value === undefined ? 'it has no exit' : 'no turn changes the condition of its exit';
  diagnostics.report('CM2306', { where: isDivergent ? ', and some threads of a warp may not be in it' : '', why }, at(span));
}

function reportRaces({ all, warps, accesses }: Findings, source: SourceFile, diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  for (const { first, second, threads, isAcrossTurns } of racesOf(all, warps, accesses)) {
    const key = [first.span?.start, second.span?.start].sort().join(' ');
    if (seen.has(key) || !first.span) continue;
    seen.add(key);
    diagnostics.report(
      'CM2308',
      {
        a: threads[1],
        b: threads[0],
        line: source.position(first.span.start).line,
        turn: isAcrossTurns ? ', in the next turn of the loop' : '',
      },
      { ...at(second.span), more: [{ span: first.span, text: 'the other access' }] },
    );
  }
}
