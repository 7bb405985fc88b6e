/** Lines of the source: `.file` and `.loc` for the locations of instructions. Source: PTX ISA 9.0, 11.5. */
import { type Instruction, locationFields, locationOf, type Metadata, type MetadataNode } from '../bitcode/index.ts';

/** A line and column, counted from 1, and the number of the file. */
interface Location {
  readonly file: number;
  readonly line: number;
  readonly column: number;
}

/** The files of a module in order of their first use. */
export interface Lines {
  /** The location of an instruction; undefined if it has none. */
  at(inst: Instruction): Location | undefined;
  /** The directives that declare the files. */
  files(): string[];
  /** `FILE:LINE:COLUMN` for messages. */
  spell(location: Location): string;
}

export function newLines(): Lines {
  const paths: string[] = [];
  const numbers = new Map<string, number>();
  const known = new Map<MetadataNode, Location | undefined>();
  const numberOf = (path: string): number => {
    const before = numbers.get(path);
    if (before !== undefined) return before;
    paths.push(path);
    numbers.set(path, paths.length);
    return paths.length;
  };
  const locate = (node: MetadataNode): Location | undefined => {
    const { line, column } = locationFields(node.debug?.values ?? []);
    const path = line > 0 ? pathOf(node.operands[0]) : undefined;
    return path === undefined ? undefined : { file: numberOf(path), line, column: Math.max(1, column) };
  };
  return {
    at(inst) {
      const { location } = locationOf(inst);
      if (!location) return undefined;
      if (!known.has(location)) known.set(location, locate(location));
      return known.get(location);
    },
    files: () => paths.map((path, i) => `.file ${i + 1} "${path.replace(/["\\\n]/g, '_')}"`),
    spell: ({ file, line, column }) => `${paths[file - 1]}:${line}:${column}`,
  };
}

/** Levels of scopes that are followed; more would be a cycle of a damaged file. */
const maxScopes = 1000;

/** The path of the file of a scope: its own, or that of a scope around it. */
function pathOf(start: Metadata | undefined): string | undefined {
  let scope = start;
  for (let i = 0; scope?.kind === 'node' && i < maxScopes; i++) {
    if (scope.debug?.name === 'DIFile') return pathIn(scope);
    scope = scope.operands.find((each) => each?.kind === 'node' && each.debug?.name === 'DIFile') ?? scope.operands[0];
  }
  return undefined;
}

function pathIn({ operands: [name, folder] }: MetadataNode): string | undefined {
  if (name?.kind !== 'string') return undefined;
  const isWhole = name.value.startsWith('/') || folder?.kind !== 'string' || folder.value === '' || folder.value === '/';
  return isWhole ? name.value : `${folder.value}/${name.value}`;
}
