/**
 * The kinds of input that come from anyone, one row each: examples, how to damage one, and what reads it. `scripts/fuzz.ts` and
 * `spec/hostile/corpus.spec.ts` derive from this table. A reader returns how far it came, and throws if a guarantee is violated.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { diagnosticJson } from '../../../src/cli/terminal/formats.ts';
import { renderDiagnostic } from '../../../src/cli/terminal/render.ts';
import { validateBytes } from '../../../src/cli/validate.ts';
import { compile, verifies } from '../../../src/compile/index.ts';
import { readMetallib } from '../../../src/metallib/index.ts';
import { chooseImage, imageEntries, imageText, readContainer } from '../../../src/ptx/container/index.ts';
import { check, parse } from '../../../src/ptx/index.ts';
import {
  type ArgumentSpec,
  elements,
  type Io,
  isProblem,
  launch,
  readContents,
  readLaunchFile,
  readNpy,
  writeNpy,
} from '../../../src/runtime/index.ts';
import { exampleNames, exampleText, root } from '../examples.ts';
import { fakeDevice, kernel, pointer, scalar } from '../fake-device.ts';
import { mutatedLibrary, mutatedModule } from '../mutate-bytes.ts';
import { realFiles } from '../real.ts';
import { surviveLibrary, surviveModule } from '../survive.ts';
import { damagedContainer } from './container.ts';
import { damagedJson } from './json.ts';
import { damagedNpy } from './npy.ts';
import { damagedText, type Random } from './ptx.ts';
import { damagedWords, exampleLines, readWords } from './words.ts';

export interface InputKind {
  /** Whole inputs, made on the first use. */
  readonly examples: () => readonly Uint8Array[];
  readonly damage: (bytes: Uint8Array, next: Random) => Uint8Array;
  /** How far the input came, in a word. */
  readonly read: (bytes: Uint8Array) => string;
  /** The memory that reading may take: so many times the input, and what any small input takes, in bytes. */
  readonly memory: readonly [times: number, any: number];
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const onText =
  (damage: (text: string, next: Random) => string) =>
  (bytes: Uint8Array, next: Random): Uint8Array =>
    bytesOf(damage(textOf(bytes), next));

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The number of diagnostics that `check` prints as text. */
const maxRendered = 50;

/** How a list of diagnostics ends; each is rendered, and its places lie in the text. */
function outcomeOf(diagnostics: Diagnostics, done: string): string {
  for (const d of diagnostics.list.slice(0, maxRendered)) renderDiagnostic(d, true);
  for (const d of diagnostics.list) {
    diagnosticJson(d);
    for (const { span } of d.labels) {
      const end = d.file?.text.length ?? 0;
      if (!(span.start >= 0 && span.start <= span.end && span.end <= end + 1))
        throw new Error(`${d.code} at ${JSON.stringify(span)} of ${end}`);
    }
  }
  return diagnostics.hasErrors ? 'refused' : done;
}

const maxCompiled = 40_000;

function readPtx(bytes: Uint8Array): string {
  const file = new SourceFile('hostile.ptx', textOf(bytes));
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), { functions: 'faults', lints: true }, diagnostics);
  // Most damaged texts end at their first error.
  if (!diagnostics.hasErrors && bytes.length < maxCompiled) verifies(file, { target: 'cpu' }, diagnostics);
  return outcomeOf(diagnostics, 'compiled');
}

const ownLibraries = once(() =>
  exampleNames.flatMap((name) => {
    const source = new SourceFile(name, exampleText(name));
    return compile(source, { target: 'macos15' }, new Diagnostics(source))?.metallib ?? [];
  }),
);
const bySize = (list: readonly Uint8Array[]): Uint8Array[] => [...list].sort((a, b) => a.length - b.length);
const libraries = once(() => bySize([...ownLibraries(), ...realFiles().map(({ bytes }) => bytes)]));

const filesBelow = (folder: string, pattern: RegExp): Uint8Array[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => new Uint8Array(readFileSync(join(root, folder, name))));

function readFatbinary(bytes: Uint8Array): string {
  const diagnostics = new Diagnostics();
  const container = readContainer(bytes, diagnostics);
  const image = chooseImage(container, undefined, diagnostics);
  for (const each of container.images.slice(0, 64)) imageEntries(each);
  const text = image && imageText(image, diagnostics);
  if (text === undefined) return outcomeOf(diagnostics, 'no text');
  readPtx(bytesOf(text));
  return outcomeOf(diagnostics, 'text');
}

/** A kernel of these arguments, which does nothing. */
const kernelFor = (args: readonly ArgumentSpec[]) =>
  kernel(
    'k',
    args.map((arg, i) =>
      'element' in arg && arg.kind !== 'scalar'
        ? pointer(`p${i}`, arg.element)
        : scalar(`p${i}`, arg.kind === 'scalar' ? elements[arg.element].size : 4, undefined),
    ),
  );
/** Memory for small buffers, and no files. */
const noFiles: Io = { readFile: () => ({ why: 'no such file' }), writeFile: () => ({ why: 'read-only' }), availableMemory: () => 2 ** 24 };

function readLaunch(bytes: Uint8Array): string {
  const diagnostics = new Diagnostics();
  const file = readLaunchFile('case/launch.json', textOf(bytes), diagnostics);
  if (file) {
    for (const arg of file.args ?? []) if ('path' in arg && !arg.path.startsWith('case/')) throw new Error(`reaches ${arg.path}`);
    const { device, module } = fakeDevice([kernelFor(file.args ?? [])], () => true);
    launch(device, module, { ...file, kernel: 'k' }, { repeat: 1, timeoutMs: 0 }, { io: noFiles, diagnostics });
  } else if (!diagnostics.hasErrors) throw new Error('refused without a diagnostic');
  return outcomeOf(diagnostics, 'launched');
}

function readArray(bytes: Uint8Array): string {
  const array = readNpy(bytes);
  const diagnostics = new Diagnostics();
  const io: Io = { ...noFiles, readFile: () => bytes };
  const found = readContents(io, 'a.npy', { element: 'f32' }, diagnostics);
  if (found && found.bytes.length !== 4 * found.shape.reduce((a, b) => a * b, 1)) throw new Error('a shape of another size');
  if (typeof array === 'string' && found) throw new Error('read although it is malformed');
  return typeof array === 'string' || isProblem(array) ? 'refused' : outcomeOf(diagnostics, 'read');
}

const mebibyte = 2 ** 20;

/** Every kind of input, by its name. */
export const inputKinds: Readonly<Record<string, InputKind>> = {
  ptx: {
    examples: once(() => exampleNames.map((name) => bytesOf(exampleText(name)))),
    damage: onText(damagedText),
    read: readPtx,
    memory: [3000, 96 * mebibyte],
  },
  metallib: {
    examples: libraries,
    damage: mutatedLibrary,
    read: (bytes) => `${surviveLibrary(bytes)}, ${validateBytes(bytes, new Diagnostics()) ? 'valid' : 'invalid'}`,
    memory: [64, 16 * mebibyte],
  },
  bitcode: {
    examples: once(() =>
      bySize(libraries().flatMap((bytes) => readMetallib(bytes, new Diagnostics())?.functions.map((fn) => fn.bitcode) ?? [])),
    ),
    damage: mutatedModule,
    read: surviveModule,
    memory: [64, 16 * mebibyte],
  },
  fatbinary: {
    examples: once(() => filesBelow('fixtures/container', /\.(fatbin|cubin|o|so)$/)),
    damage: damagedContainer,
    read: readFatbinary,
    memory: [3000, 128 * mebibyte],
  },
  launch: {
    examples: once(() => filesBelow('fixtures', /launch\.json$/)),
    damage: onText(damagedJson),
    read: readLaunch,
    memory: [1000, 64 * mebibyte],
  },
  npy: {
    examples: once(() => [
      ...filesBelow('fixtures/examples', /(saxpy|scan|hash)\/.*\.npy$/),
      writeNpy({ descr: '<f4', shape: [2, 3], data: new Uint8Array(24) }),
      writeNpy({ descr: '|u1', shape: Array<number>(30_000).fill(1), data: new Uint8Array(1) }),
    ]),
    damage: damagedNpy,
    read: readArray,
    memory: [64, 8 * mebibyte],
  },
  words: {
    examples: once(() => exampleLines().map(bytesOf)),
    damage: onText(damagedWords),
    read: (bytes) => readWords(textOf(bytes)),
    memory: [1000, 32 * mebibyte],
  },
};
