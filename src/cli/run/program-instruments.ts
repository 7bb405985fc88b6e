/** The instruments of a whole program: profiles summed by kernel, and the trace of a thread of one launch. */
import { namesMeant, readableName } from '../../base/demangle/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { LaunchRequest } from '../../device/device.ts';
import type { DevicePool, PoolStatistics } from '../../device/pool/index.ts';
import type { Profile, ProfileLine } from '../../device/profile.ts';
import type { Trace } from '../../device/trace.ts';
import { writeBytes } from '../../runtime/index.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonDocument } from '../terminal/json.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { sizeText } from '../terminal/size-text.ts';
import type { RunRequest } from './options.ts';
import { profileJson, profileText } from './profile-text.ts';
import { placeOn, roofs } from './roofline.ts';
import { traceJson, traceText } from './trace-text.ts';

/** The profile of all launches of a kernel. Its grid and block are those of the first. */
export interface SummedProfile extends Profile {
  readonly launches: number;
}

/** Adds the numbers of a value to those of another of the same shape; the rest is that of the first. */
function sum<T>(a: T, b: T): T {
  if (typeof a === 'number') return (a + (b as number)) as T;
  if (typeof a !== 'object' || a === null) return a;
  return Object.fromEntries(Object.entries(a).map(([name, value]) => [name, sum(value, (b as Record<string, unknown>)[name])])) as T;
}

/** A line with the counts of another one. */
function sumLines(a: ProfileLine, { line: _line, ...b }: ProfileLine): ProfileLine {
  const { line, ...rest } = a;
  return { line, ...sum(rest, b) };
}

/** Lines with one for each key, in the order of the first. */
function merged(lines: readonly ProfileLine[], keyOf: (line: ProfileLine) => string): ProfileLine[] {
  const all = new Map<string, ProfileLine>();
  for (const line of lines) {
    const known = all.get(keyOf(line));
    all.set(keyOf(line), known ? sumLines(known, line) : line);
  }
  return [...all.values()];
}

/** The profile of several launches of a kernel. */
export function sumProfiles(a: SummedProfile, b: Profile): SummedProfile {
  const { warps, footprint, total, operations } = sum(
    { warps: a.warps, footprint: a.footprint, total: a.total, operations: a.operations },
    { warps: b.warps, footprint: b.footprint, total: b.total, operations: b.operations },
  );
  const lines = merged([...a.lines, ...b.lines], ({ file, line }) => `${file}:${line}`);
  return { ...a, launches: a.launches + 1, warps, footprint, total, operations, lines };
}

/** The lines of the files that the kernel was compiled from; those of the PTX where it names none. */
export const bySource = (lines: readonly ProfileLine[]): ProfileLine[] =>
  merged(lines, ({ source, file, line }) => source ?? `${file}:${line}`);

interface Kept {
  readonly source: SourceFile | undefined;
  profile: SummedProfile;
}

export class ProgramInstruments {
  readonly #request: RunRequest;
  /** By kernel and source. */
  readonly #profiles = new Map<string, Kept>();
  /** Launches by the name of the kernel. */
  readonly #launches = new Map<string, number>();
  /** In the order in which the program made them. */
  readonly #pools: DevicePool[] = [];
  #trace: Trace | undefined;
  #isTraced = false;

  constructor(request: RunRequest) {
    this.#request = request;
  }

  /** What the next launch of a kernel is observed by. */
  of(kernel: string, source: SourceFile | undefined): Pick<LaunchRequest, 'profile' | 'trace'> {
    const count = (this.#launches.get(kernel) ?? 0) + 1;
    this.#launches.set(kernel, count);
    const { profile, trace } = this.#request;
    const from = source ? { source } : {};
    return {
      ...(profile ? { profile: { ...from, take: (made) => this.#take(made, source) } } : {}),
      ...(trace && this.#isWanted(kernel, count) ? { trace: { ...trace, ...from, take: (made) => (this.#trace = made) } } : {}),
    };
  }

  /** Notes a pool of memory, whose statistics are part of the profile. */
  notePool(pool: DevicePool): void {
    this.#pools.push(pool);
  }

  /** Whether the launch is the one to be traced; the first of the program by default. */
  #isWanted(kernel: string, count: number): boolean {
    const { traceLaunch } = this.#request;
    if (this.#isTraced) return false;
    const isNamed = !traceLaunch || (namesMeant(traceLaunch.kernel, [kernel]).length > 0 && count === traceLaunch.number);
    this.#isTraced = isNamed;
    return isNamed;
  }

  #take(profile: Profile, source: SourceFile | undefined): void {
    const key = `${source?.path}\0${profile.kernel}`;
    const known = this.#profiles.get(key);
    if (known) known.profile = sumProfiles(known.profile, profile);
    else this.#profiles.set(key, { source, profile: { ...profile, launches: 1 } });
  }

  /** Writes what was observed to its files, or to standard error, since standard output is that of the program. False if it cannot. */
  finish(terminal: Terminal, traceOut: string | undefined): boolean {
    const diagnostics = new Diagnostics();
    if (this.#request.trace) this.#finishTrace(terminal, traceOut, diagnostics);
    if (this.#request.profile) this.#finishProfile(terminal, this.#request.profile, diagnostics);
    writeDiagnostics(diagnostics.list, terminal);
    return !diagnostics.hasErrors;
  }

  #finishTrace(terminal: Terminal, path: string | undefined, diagnostics: Diagnostics): void {
    const { traceLaunch } = this.#request;
    if (!this.#isTraced) {
      const all = [...this.#launches].map(([name, count]) => `${readableName(name)} (${count})`);
      const wanted = traceLaunch ? `launch ${traceLaunch.number} of \`${traceLaunch.kernel}\`` : 'launch';
      diagnostics.report('CM5083', { wanted }, { notes: [`launches of the program: ${all.length > 0 ? all.join(', ') : 'none'}`] });
      return;
    }
    if (!this.#trace) return;
    const text = path?.endsWith('.json') ? jsonDocument(traceJson(this.#trace)) : traceText(this.#trace);
    if (path === undefined) terminal.err(text);
    else writeBytes(terminal, path, new TextEncoder().encode(text), diagnostics);
  }

  #finishProfile(terminal: Terminal, { path, roofline }: NonNullable<RunRequest['profile']>, diagnostics: Diagnostics): void {
    // What was executed most comes first.
    const kept = [...this.#profiles.values()].sort((a, b) => b.profile.total.executed.warps - a.profile.total.executed.warps);
    const on = (profile: Profile): ReturnType<typeof placeOn> => placeOn(roofs[roofline]!, profile);
    if (path !== undefined) {
      const kernels = kept.map(({ profile }) => ({
        name: readableName(profile.kernel),
        ...profileJson(profile, on(profile)),
        sources: bySource(profile.lines),
      }));
      writeBytes(terminal, path, new TextEncoder().encode(jsonDocument({ kernels, pools: this.#usedPools() })), diagnostics);
      return;
    }
    if (kept.length === 0) terminal.err('no kernel was launched, so that there is no profile\n');
    const pools = this.#usedPools().map((pool, i) => poolText(pool, i + 1));
    terminal.err([...kept.map(({ profile, source }) => textOf(profile, source, on(profile))), ...pools].join('\n'));
  }

  /** Of pools that nothing was allocated from, there is nothing to say. */
  #usedPools(): PoolStatistics[] {
    return this.#pools.map(({ statistics }) => statistics).filter(({ usedPeak }) => usedPeak > 0);
  }
}

/** A line on the memory of a pool; numbers are those at the end of the program, but for peaks. */
function poolText({ usedPeak, reservedPeak, allocations, used, reserved, fragmentation }: PoolStatistics, number: number): string {
  const rest = allocations === 0 ? 'nothing' : `${sizeText(used)} in ${allocations} allocation${allocations === 1 ? '' : 's'}`;
  const gaps = reserved === 0 ? '' : `, fragmentation ${(100 * fragmentation).toFixed(0)} %`;
  return `memory pool ${number}: at most ${sizeText(usedPeak)} used and ${sizeText(reservedPeak)} reserved; at the end ${rest}${gaps}\n`;
}

/** The table of a kernel, by lines of its source. */
function textOf(profile: SummedProfile, source: SourceFile | undefined, on: ReturnType<typeof placeOn>): string {
  const origin = source?.origin;
  return profileText({ ...profile, lines: bySource(profile.lines) }, source, on, ({ line, source: place }) => {
    const [, file = '', number = ''] = /^(.*):(\d+)$/.exec(place ?? '') ?? [];
    if (number === '') return { number: '', text: source && line > 0 ? source.line(line) : '(no line)' };
    const isOrigin = origin !== undefined && (file === origin.path || file.endsWith(`/${origin.path}`));
    const isInside = isOrigin && Number(number) <= origin.lineStarts.length;
    return {
      number: isOrigin ? number : '',
      text: isInside ? origin.line(Number(number)) : (place ?? '').replace(/^.*\/cumetal\//, 'cumetal/'),
    };
  });
}
