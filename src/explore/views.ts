/** What a kernel becomes, in one table: the choices of the page, and how each text is made. */
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { ptxOf, textOf } from '../cli/build-text.ts';
import { type CompileOptions, emit, toIr, toLegalIr } from '../compile/index.ts';
import { printModule } from '../ir/index.ts';
import { parse } from '../ptx/index.ts';
import { type Matched, ofComments, ofLocs, ofPlaces, withOwnLines } from './annotate.ts';

/** A text that a kernel becomes. */
export interface View {
  readonly name: string;
  readonly title: string;
  make(source: SourceFile, diagnostics: Diagnostics): Matched | undefined;
}

const apple: CompileOptions = { target: 'macos15' };
const cpu: CompileOptions = { target: 'cpu' };

/** The source whose printers name its lines. */
function annotated(source: SourceFile): SourceFile {
  return new SourceFile(source.path, withOwnLines(parse(source, new Diagnostics(source))));
}

const withoutLines = (text: string): Matched => ({ text, lines: [] });

/** The texts, in the order of the page. */
export const views: readonly View[] = [
  {
    name: 'ir',
    title: 'IR',
    make(source, diagnostics) {
      const module = toIr(source, cpu, diagnostics);
      return module && ofPlaces(printModule(module), source);
    },
  },
  {
    name: 'ir-apple',
    title: 'IR for Apple GPUs',
    make(source, diagnostics) {
      const module = toLegalIr(source, apple, diagnostics);
      return module && ofPlaces(printModule(module), source);
    },
  },
  {
    name: 'air',
    title: 'AIR (LLVM)',
    make(source, diagnostics) {
      const text = emit(source, 'air-ll', apple, diagnostics);
      return text === undefined ? undefined : withoutLines(typeof text === 'string' ? text : new TextDecoder().decode(text as Uint8Array));
    },
  },
  {
    name: 'msl',
    title: 'Metal',
    make(source, diagnostics) {
      const text = textOf(annotated(source), 'msl', apple, diagnostics);
      return text === undefined ? undefined : ofComments(text);
    },
  },
  {
    name: 'opencl',
    title: 'OpenCL C',
    make(source, diagnostics) {
      const text = textOf(annotated(source), 'opencl', cpu, diagnostics);
      return text === undefined ? undefined : ofComments(text);
    },
  },
  {
    name: 'ptx',
    title: 'PTX again',
    make(source, diagnostics) {
      const text = ptxOf(annotated(source), 'sm_90', cpu, diagnostics);
      return text === undefined ? undefined : ofLocs(text);
    },
  },
];

/** A view of a text, or what is wrong; places are those of the text. */
export function viewOf(
  name: string,
  path: string,
  text: string,
): { readonly view: Matched | undefined; readonly diagnostics: Diagnostics } {
  const source = new SourceFile(path, text);
  const diagnostics = new Diagnostics(source);
  const view = views.find((each) => each.name === name)?.make(source, diagnostics);
  if (view && !diagnostics.hasErrors) return { view, diagnostics };
  // The lines of the annotated text are others: the text itself says what is wrong at its own places.
  const own = new Diagnostics(source);
  toIr(source, name === 'air' || name === 'msl' || name === 'ir-apple' ? apple : cpu, own);
  const placeless = diagnostics.list.map(({ labels: _, ...each }) => ({ ...each, labels: [] }));
  if (own.hasErrors) return { view: undefined, diagnostics: own };
  diagnostics.list.splice(0, diagnostics.list.length, ...placeless);
  return { view: undefined, diagnostics };
}
