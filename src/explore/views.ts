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

type Print = (annotated: SourceFile, own: Diagnostics) => string | undefined;

/** The text of a printer whose comments name the lines of the source. What it reports is at the places of the source. */
function annotated(source: SourceFile, diagnostics: Diagnostics, print: Print): string | undefined {
  const { text, origin } = withOwnLines(parse(source, new Diagnostics(source)));
  const own = new Diagnostics();
  const printed = print(new SourceFile(source.path, text), own);
  const placed = ({ span, text: words }: Label): Label => ({ span: { start: origin(span.start), end: origin(span.end) }, text: words });
  diagnostics.addAll(own.list.map((each) => ({ ...each, file: source, labels: each.labels.map(placed) })));
  return printed;
}

/** A view by a printer that names lines; `match` takes them out of its text. */
const printedView = (name: string, title: string, match: (text: string) => Matched, print: Print): View => ({
  name,
  title,
  make(source, diagnostics) {
    const text = annotated(source, diagnostics, print);
    return text === undefined ? undefined : match(text);
  },
});

/** A view of IR, which has places of the source. */
const irView = (name: string, title: string, toModule: typeof toIr, options: CompileOptions): View => ({
  name,
  title,
  make(source, diagnostics) {
    const module = toModule(source, options, diagnostics);
    return module && ofPlaces(printModule(module), source);
  },
});

const withoutLines = (text: string): Matched => ({ text, lines: [] });

/** The texts, in the order of the page. */
export const views: readonly View[] = [
  {
    name: 'given',
    title: 'PTX',
    make: ({ text }) => ({ text, lines: text.split('\n').map((_, i) => i + 1) }),
  },
  irView('ir', 'IR', toIr, cpu),
  irView('ir-apple', 'IR for Apple GPUs', toLegalIr, apple),
  {
    name: 'air',
    title: 'AIR (LLVM)',
    make(source, diagnostics) {
      const text = emit(source, 'air-ll', apple, diagnostics);
      return text === undefined ? undefined : withoutLines(typeof text === 'string' ? text : new TextDecoder().decode(text as Uint8Array));
    },
  },
  printedView('msl', 'Metal', ofComments, (own, to) => textOf(own, 'msl', apple, to)),
  printedView('opencl', 'OpenCL C', ofComments, (own, to) => textOf(own, 'opencl', cpu, to)),
  printedView('wgsl', 'WGSL', ofComments, (own, to) => textOf(own, 'wgsl', cpu, to)),
  printedView('ptx', 'PTX again', ofLocs, (own, to) => ptxOf(own, 'sm_90', cpu, to)),
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
