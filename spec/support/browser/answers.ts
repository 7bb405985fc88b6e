/**
 * What a machine answers to cases: each compiled from its PTX and launched, and what it left. The same code runs in this process, over
 * the sources, and in a page, over the package that was built for pages.
 */
import { hexOf } from '../../../src/base/bytes.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import type * as devices from '../../../src/device/index.ts';
import type * as cumetal from '../../../src/index.ts';

/** A kernel and its launch, as JSON carries it. */
export interface Case {
  readonly name: string;
  readonly text: string;
  readonly options: cumetal.CompileOptions;
  readonly kernel: string;
  readonly grid: devices.Dim3;
  readonly block: devices.Dim3;
  readonly shared: number;
  /** Bytes in base 64, of buffers and of values. */
  readonly args: readonly { readonly bytes: string; readonly isBuffer: boolean }[];
  readonly timeoutMs: number;
  /** Has the launch watched for faults of memory. */
  readonly isWatched: boolean;
}

/** How a launch is made: waited for by the thread that calls, or started. */
export interface How {
  readonly threads: number;
  readonly isStarted: boolean;
}

/** What a case left: digests of the metallib and of each buffer, what it printed, what was said. */
export interface Answer {
  readonly name: string;
  readonly metallib: string;
  readonly buffers: readonly string[];
  readonly printed: string;
  readonly said: readonly string[];
}

/** The package. */
export interface Machine {
  readonly cumetal: Pick<typeof cumetal, 'compile' | 'Diagnostics' | 'SourceFile'>;
  readonly devices: Pick<typeof devices, 'openDevice'>;
}

const digest = (bytes: Uint8Array): string => hexOf(sha256(bytes)).slice(0, 16);
const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
const latin = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

/** Runs cases one after the other, each on a device of its own. */
export async function answersTo(machine: Machine, cases: readonly Case[], how: How): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const each of cases) answers.push(await answerTo(machine, each, how));
  return answers;
}

async function answerTo({ cumetal, devices }: Machine, each: Case, { threads, isStarted }: How): Promise<Answer> {
  const source = new cumetal.SourceFile(`${each.name}.ptx`, each.text);
  const diagnostics = new cumetal.Diagnostics(source);
  const said = (): string[] =>
    diagnostics.list.map(({ code, message, labels, notes }) => {
      const [place] = labels;
      const at = place ? ` at ${source.position(place.span.start).line}` : '';
      return [`${code}${at}: ${message}`, ...notes].join('; ');
    });
  const compiled = cumetal.compile(source, each.options, diagnostics);
  const metallib = compiled ? digest(compiled.metallib) : '';
  const device = devices.openDevice('cpu', diagnostics, { threads })!;
  const module = compiled && device.load(compiled.metallib, diagnostics, { kernels: [each.kernel] });
  if (!module) return { name: each.name, metallib, buffers: [], printed: '', said: said() };
  const args = each.args.map(({ bytes, isBuffer }): devices.LaunchArgument => {
    const given = bytesOf(bytes);
    if (!isBuffer) return { kind: 'bytes', bytes: given };
    const buffer = device.allocate(given.length, diagnostics)!;
    buffer.write(given);
    return { kind: 'buffer', buffer };
  });
  let printed = '';
  const { kernel, grid, block, shared: dynamicSharedBytes, timeoutMs } = each;
  const watch = each.isWatched ? { sanitize: { kinds: new Set(['memory'] as const), source } } : {};
  const print = (text: Uint8Array): void => {
    printed += latin(text);
  };
  const request: devices.LaunchRequest = { kernel, grid, block, dynamicSharedBytes, args, timeoutMs, print, ...watch };
  const result = isStarted ? await module.start!(request, diagnostics).done : module.launch(request, diagnostics);
  const buffers = args.flatMap((arg) => (result && arg.kind === 'buffer' ? [digest(arg.buffer.read())] : []));
  device.close();
  return { name: each.name, metallib, buffers, printed, said: said() };
}
