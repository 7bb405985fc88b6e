/**
 * Debug information of AIR (line tables): written if a compilation asks for it, read from any metallib.
 * Source: `llvm/docs/SourceLevelDebugging.rst` of LLVM 14; the verifier requires the flag, the unit, and a subprogram per function.
 */
import type { SourceFile, Span } from '../base/source.ts';
import { debugRowNamed } from '../bitcode/debug-info.ts';
import type { Attachment, Instruction, Function as LlvmFunction, Metadata, MetadataNode, Module } from '../bitcode/model.ts';
import { node } from './metadata-values.ts';

/** A source location with line and column only. */
export interface Line extends Span {
  readonly line: number;
  /** 0 if unknown. */
  readonly column: number;
  readonly file: string;
  /** For an access: the variable that its address is based on, by its range in the window of its space. */
  readonly reach?: Reach | undefined;
}

/** The variable that the address of an access is based on; offset and size are in bytes. */
export interface Reach {
  readonly name: string;
  /** `shared`, `constant` or `local`; one source instruction may become accesses to several spaces. */
  readonly space: string;
  readonly offset: number;
  readonly size: number;
}

/** The metadata kind of the attachment. */
const reachKind = 'cumetal.reach';

/** The location as a `Line`, if it was read from AIR. */
export const lineOf = (span: Span | undefined): Line | undefined => (span && 'line' in span ? (span as Line) : undefined);

const location = 'DILocation';
const definition = 8;
const lineTablesOnly = 2;
/** C, which is in for any language without classes. Source: DWARF 5, 7.12. */
const language = 12;

const debug = (name: string, distinct: boolean, values: readonly number[], operands: (Metadata | undefined)[]): MetadataNode => ({
  kind: 'node',
  distinct,
  operands,
  debug: { name, values: [debugRowNamed(name)!.head, ...values] },
});

/** Attaches source locations to the instructions of a function. */
export interface LineWriter {
  /** Attaches a location, and to memory accesses also their reach. */
  mark(insts: Iterable<Instruction>, span: Span | undefined, reach: Reach | undefined): void;
}

/** Adds a unit and a subprogram for a function to its module. */
export function lineWriter(module: Module, fn: LlvmFunction, source: SourceFile): LineWriter {
  const text = (value: string): Metadata => ({ kind: 'string', value });
  const file = debug('DIFile', false, [0, 0, 0, 0], [text(source.path), text(''), undefined]);
  const unit = debug(
    'DICompileUnit',
    true,
    [language, 0, 0, 0, 0, 0, 0, lineTablesOnly, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0],
    [file, text('cumetal'), ...Array.from({ length: 9 }, () => undefined)],
  );
  const type = debug('DISubroutineType', false, [0, 0, 0], [node()]);
  const subprogram = debug(
    'DISubprogram',
    true,
    [0, 0, 0, 0, 1, 0, 1, 0, definition, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [file, text(fn.name), undefined, file, type, undefined, unit, ...Array.from({ length: 5 }, () => undefined)],
  );
  module.namedMetadata.find(({ name }) => name === 'llvm.module.flags')!.nodes.push(node(2, 'Debug Info Version', 3));
  module.namedMetadata.push({ name: 'llvm.dbg.cu', nodes: [unit] });
  fn.metadata.push({ kind: 'dbg', node: subprogram });
  const known = new Map<number, MetadataNode>();
  const place = ({ start }: Span): MetadataNode => {
    const before = known.get(start);
    if (before) return before;
    const { line, column } = source.position(start);
    const made = debug(location, false, [line, column, 0, 0, 0], [subprogram, undefined]);
    known.set(start, made);
    return made;
  };
  return {
    mark(insts, span, reach) {
      for (const inst of insts) {
        if (span) inst.metadata = [{ kind: 'dbg', node: place(span) }, ...(inst.metadata ?? [])];
        const isAccess = inst.op === 'load' || inst.op === 'store' || inst.op === 'call';
        if (reach && isAccess) {
          const { name, space, offset, size } = reach;
          inst.metadata = [...(inst.metadata ?? []), { kind: reachKind, node: node(name, space, offset, size) }];
        }
      }
    },
  };
}

/** The location of an instruction from its debug information; for an inlined instruction, its original location. */
export function readLine({ metadata }: Instruction): Line | undefined {
  const [first] = metadata ?? [];
  const fields = first?.node.debug;
  if (first?.kind !== 'dbg' || fields?.name !== location) return undefined;
  const place = { start: 0, end: 0, line: Number(fields.values[1]), column: Number(fields.values[2]) };
  return { ...place, file: fileOf(first.node.operands[0]), reach: readReach(metadata) };
}

function readReach(metadata: readonly Attachment[] = []): Reach | undefined {
  const [name, space, offset, size] = metadata.find(({ kind }) => kind === reachKind)?.node.operands ?? [];
  if (name?.kind !== 'string' || space?.kind !== 'string') return undefined;
  const numberOf = (of: Metadata | undefined): number | undefined =>
    of?.kind === 'value' && of.value.kind === 'constant' && of.value.form === 'int' ? Number(of.value.value) : undefined;
  const [at, bytes] = [numberOf(offset), numberOf(size)];
  return at === undefined || bytes === undefined ? undefined : { name: name.value, space: space.value, offset: at, size: bytes };
}

/** The file name of a scope, from the scope itself or an enclosing one. */
function fileOf(scope: Metadata | undefined): string {
  for (let at = scope, depth = 0; at?.kind === 'node' && depth < 64; at = at.operands[0], depth++) {
    const file = at.operands.find((each) => each?.kind === 'node' && each.debug?.name === 'DIFile');
    const name = file?.kind === 'node' ? file.operands[0] : undefined;
    if (name?.kind === 'string') return name.value;
  }
  return '';
}
