/**
 * The specs that a change asks for. Specs mirror the sources, so the room of a file (the folder below `src/`, `fixtures/` or the
 * root) names the folder of its specs; imports tell the rest.
 */
import { type Imports, reachedBy } from './imports.ts';

export interface Affected {
  /** Specs that changed themselves. */
  readonly changed: readonly string[];
  /** Specs that import a changed file or mirror its path, and the rules of the house, which read every source. */
  readonly near: readonly string[];
  /** The other specs of the rooms. */
  readonly rooms: readonly string[];
}

/** Each spec once, in the first group that has it. `imports` are those of `src/` and `spec/`. */
export function affectedBy(files: readonly string[], specs: readonly string[], imports: Imports): Affected {
  const reached = new Map(specs.map((spec) => [spec, reachedBy(spec, imports)]));
  const importing = (wanted: (file: string) => boolean): string[] => specs.filter((spec) => [...reached.get(spec)!].some(wanted));
  const changed = specs.filter((spec) => files.includes(spec));
  const near = [
    ...(files.length > 0 ? specs.filter((spec) => spec.startsWith('spec/house/')) : []),
    ...importing((file) => files.includes(file)),
    ...files.flatMap((file) => mirrorsOf(file, specs)),
  ];
  const rooms = [...new Set(files.flatMap((file) => roomOf(file) ?? []))].flatMap((room) => specsOfRoom(room, specs, imports, importing));
  return distinct({ changed, near, rooms });
}

/** `ptx` for `src/ptx/table/float.ts`, `h200` for `fixtures/h200/sweep.json`, `examples` for what is in that folder. */
function roomOf(file: string): string | undefined {
  const [top, room, ...rest] = file.split('/');
  if (top === 'src' || top === 'fixtures') return rest.length > 0 ? room : undefined;
  return room === undefined || top === 'spec' ? undefined : top;
}

/** The specs in the folder of a room; where it has none, those that import it and those of the rooms that do. */
function specsOfRoom(
  room: string,
  specs: readonly string[],
  imports: Imports,
  importing: (wanted: (file: string) => boolean) => string[],
): string[] {
  const inFolder = (name: string): string[] => specs.filter((spec) => spec.startsWith(`spec/${name}/`));
  const own = inFolder(room);
  if (own.length > 0) return own;
  const isInside = (file: string): boolean => file.startsWith(`src/${room}/`);
  const users = [...imports].flatMap(([file, targets]) => (file.startsWith('src/') && targets.some(isInside) ? (roomOf(file) ?? []) : []));
  return [...importing(isInside), ...[...new Set(users)].flatMap(inFolder)];
}

/** The specs of the longest part of a path that any has: `src/ptx/table/float.ts` has `spec/ptx/table.spec.ts`. */
function mirrorsOf(file: string, specs: readonly string[]): string[] {
  if (!file.startsWith('src/')) return [];
  const parts = file.replace(/\.ts$/, '').split('/').slice(1);
  for (let length = parts.length; length > 1; length--) {
    const path = `spec/${parts.slice(0, length).join('/')}`;
    const found = specs.filter((spec) => spec === `${path}.spec.ts` || spec.startsWith(`${path}/`));
    if (found.length > 0) return found;
  }
  return [];
}

function distinct({ changed, near, rooms }: Affected): Affected {
  const seen = new Set<string>();
  const fresh = (list: readonly string[]): string[] => list.filter((spec) => seen.size < seen.add(spec).size).sort();
  return { changed: fresh(changed), near: fresh(near), rooms: fresh(rooms) };
}
