/** What a kernel becomes, in one table: the choices of the page, and how each text is made. */
import { Diagnostics, type Label } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { ptxOf, textOf } from '../cli/build-text.ts';
import { watOf } from '../cli/build-wat.ts';
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

/** The text of a printer whose comments name the lines of the source. What it reports is at the places of the source. */
function annotated(
  source: SourceFile,
  diagnostics: Diagnostics,
  print: (annotated: SourceFile, own: Diagnostics) => string | undefined,
): string | undefined {
  const { text, origin } = withOwnLines(parse(source, new Diagnostics(source)));
  const own = new Diagnostics();
  const printed = print(new SourceFile(source.path, text), own);
  const placed = ({ span, text: words }: Label): Label => ({ span: { start: origin(span.start), end: origin(span.end) }, text: words });
  diagnostics.addAll(own.list.map((each) => ({ ...each, file: source, labels: each.labels.map(placed) })));
  return printed;
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
      const text = annotated(source, diagnostics, (own, to) => textOf(own, 'msl', apple, to));
      return text === undefined ? undefined : ofComments(text);
    },
  },
  {
    name: 'opencl',
    title: 'OpenCL C',
    make(source, diagnostics) {
      const text = annotated(source, diagnostics, (own, to) => textOf(own, 'opencl', cpu, to));
      return text === undefined ? undefined : ofComments(text);
    },
  },
  {
    name: 'wgsl',
    title: 'WGSL',
    make(source, diagnostics) {
      const text = annotated(source, diagnostics, (own, to) => textOf(own, 'wgsl', cpu, to));
      return text === undefined ? undefined : ofComments(text);
    },
  },
  {
    name: 'ptx',
    title: 'PTX again',
    make(source, diagnostics) {
      const text = annotated(source, diagnostics, (own, to) => ptxOf(own, 'sm_90', cpu, to));
      return text === undefined ? undefined : ofLocs(text);
    },
  },
  {
    name: 'wat',
    title: 'WebAssembly',
    make(source, diagnostics) {
      const text = watOf(source, true, cpu, diagnostics);
      return text === undefined ? undefined : withoutLines(text);
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
  return { view: diagnostics.hasErrors ? undefined : view, diagnostics };
}
