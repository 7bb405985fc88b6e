/** The words of `run`: what to launch, and what to do with the buffers afterwards. */
import type { ConstantValue, GivenConstant } from '../../air/index.ts';
import { closest } from '../../base/closest.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CompileOptions } from '../../compile/index.ts';
import {
  type Denormals,
  type Dim3,
  type Engine,
  type EngineOptions,
  type Fma,
  type Order,
  type SanitizeKind,
  type SanitizeRequest,
  sanitizeKinds,
} from '../../device/device.ts';
import type { TraceRequest } from '../../device/trace.ts';
import { type ArgumentSpec, type Expectation, type LaunchPlan, parseArgument } from '../../runtime/index.ts';
import { allValues, has, lastValue, type Words } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';

export interface RunRequest {
  readonly plan: LaunchPlan;
  readonly prints: readonly { readonly index: number; readonly count: number | undefined }[];
  readonly outs: readonly { readonly index: number; readonly path: string }[];
  readonly checks: readonly { readonly index: number; readonly expect: Expectation }[];
  readonly device: 'auto' | 'metal' | 'cpu' | 'cuda';
  readonly engine: EngineOptions;
  readonly repeat: number;
  readonly timeoutMs: number;
  /** Whether what the launch expects is written and not compared. */
  readonly isRecording: boolean;
  /** What to look for while the kernel runs. */
  readonly sanitize: SanitizeRequest | undefined;
  /** In which order threads are taken. */
  readonly schedule: Order | undefined;
  /** The thread that is traced, and how far. */
  readonly trace: Omit<TraceRequest, 'take'> | undefined;
  /** Whether the launch is profiled, and where that goes; nowhere in particular where it is only shown. */
  readonly profile: { readonly path: string | undefined; readonly roofline: string } | undefined;
  readonly compile: CompileOptions;
  /** Values of function constants. */
  readonly constants: readonly GivenConstant[];
}

/** Words that say what to launch; they do not go together with a launch file. */
const launchWords = ['kernel', 'grid', 'block', 'shared', 'arg'] as const;

/** Which of the words that say what to launch were given beside `--launch`. */
export const clashing = (words: Words): string | undefined => launchWords.find((name) => has(words, name));

/** Words that only the CPU device understands, so that it is the one that is meant where no other is named, on a Mac as well. */
const cpuWords = ['sanitize', 'schedule', 'trace-thread', 'profile', 'denormals'] as const;

const cpuWord = (words: Words): string | undefined => cpuWords.find((name) => has(words, name));

function deviceOf(words: Words): RunRequest['device'] {
  const device = (lastValue(words, 'device') ?? 'auto') as RunRequest['device'];
  return device === 'auto' && cpuWord(words) !== undefined ? 'cpu' : device;
}

/** A file's own words before the typed ones, so that typed values win and lists grow. */
export function joinWords(first: Words, second: Words): Words {
  const options = new Map(first.options);
  for (const [name, values] of second.options) options.set(name, [...(options.get(name) ?? []), ...values]);
  return { positionals: [...first.positionals, ...second.positionals], options };
}

/** Reads every word, or says which is wrong; malformed arguments are reported as CM5010 instead. */
export function readRequest(words: Words, diagnostics: Diagnostics): RunRequest | string {
  const problems: string[] = [];
  const take = <T>(value: T | string): T | undefined => {
    if (typeof value !== 'string') return value;
    problems.push(value);
    return undefined;
  };
  const one = <T>(name: string, read: (word: string) => T | string): T | undefined => {
    const word = lastValue(words, name);
    return word === undefined ? undefined : take(read(word));
  };
  const device = deviceOf(words);
  const word = cpuWord(words);
  if (word !== undefined && device !== 'cpu') problems.push(`\`--${word}\` is for the CPU device, and not for \`${device}\``);
  const grid = one('grid', (word) => readDim3('grid', word));
  const block = one('block', (word) => readDim3('block', word));
  const sharedParts = one('shared', readShared) ?? [0];
  const sharedBytes = sharedParts.reduce((sum, bytes) => sum + bytes);
  const repeat = one('repeat', (word) => readCount('repeat', word, 1)) ?? 1;
  const timeoutMs = one('timeout', readTimeout) ?? 0;
  const threads = one('threads', (word) => readCount('threads', word, 1));
  const sanitize = has(words, 'sanitize') ? take(readKinds(lastValue(words, 'sanitize'))) : undefined;
  const schedule = one('schedule', readOrder);
  const limit = one('trace-limit', (word) => readCount('trace-limit', word, 0));
  const traced = one('trace-thread', readThread);
  const trace = traced && { ...traced, ...(limit === undefined ? {} : { limit }) };
  const profile = has(words, 'profile') ? take(readProfile(words)) : undefined;
  const prints = allValues(words, 'print').map((word) => take(readPrint(word)));
  const outs = allValues(words, 'out').map((word) => take(readOut(word)));
  const checks = allValues(words, 'check').map((word) => take(readCheck(word)));
  const constants = allValues(words, 'constant').map((word) => take(readConstant(word)));
  const args = has(words, 'arg') ? allValues(words, 'arg').map((word) => parseArgument(word, diagnostics)) : undefined;
  if (problems.length > 0) return problems[0]!;
  const kernel = lastValue(words, 'kernel');
  return {
    plan: {
      sharedBytes,
      ...(sharedParts.length > 1 ? { sharedParts } : {}),
      constants: [],
      ...(kernel === undefined ? {} : { kernel }),
      ...(grid ? { grid } : {}),
      ...(block ? { block } : {}),
      ...(args ? { args: args.filter((a): a is ArgumentSpec => a !== undefined) } : {}),
    },
    prints: present(prints),
    outs: present(outs),
    checks: present(checks),
    device,
    engine: engineOptions(words, threads),
    repeat,
    timeoutMs,
    isRecording: has(words, 'record'),
    sanitize: sanitize && { kinds: sanitize },
    schedule,
    trace,
    profile,
    compile: {
      // The CPU device alone understands marks, so there is no reason to do without what it has.
      ...(trace || profile ? { target: 'cpu', marks: true } : {}),
      ...compileOptions(words),
      ...(sanitize ? { sanitize: true } : {}),
    },
    constants: present(constants),
  };
}

const present = <T>(values: readonly (T | undefined)[]): T[] => values.flatMap((v) => (v === undefined ? [] : [v]));

/** `--engine`, `--fma` and `--denormals`, whose choices were checked before, and `--threads`. */
function engineOptions(words: Words, threads: number | undefined): EngineOptions {
  const engine = lastValue(words, 'engine');
  const fma = lastValue(words, 'fma');
  const denormals = lastValue(words, 'denormals');
  return {
    ...(engine ? { engine: engine as Engine } : {}),
    ...(fma ? { fma: fma as Fma } : {}),
    ...(denormals ? { denormals: denormals as Denormals } : {}),
    ...(threads === undefined ? {} : { threads }),
  };
}

/** Kinds with commas between; all where there are none. */
function readKinds(word: string | undefined): ReadonlySet<SanitizeKind> | string {
  if (word === undefined) return new Set(sanitizeKinds);
  const kinds = word.split(',');
  const wrong = kinds.find((kind) => !(sanitizeKinds as readonly string[]).includes(kind));
  if (wrong === undefined) return new Set(kinds as SanitizeKind[]);
  const near = closest(wrong, sanitizeKinds);
  return `\`--sanitize=${word}\`: the kinds are ${sanitizeKinds.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

const orders = ['in-order', 'reverse', 'rand:SEED'];

/** `in-order`, `reverse`, or `rand:` and an integer of 32 bits. */
function readOrder(word: string): Order | string {
  if (word === 'in-order' || word === 'reverse') return { kind: word };
  const seed = /^rand:(\d{1,10})$/.exec(word)?.[1];
  if (seed !== undefined && Number(seed) < 2 ** 32) return { kind: 'rand', seed: Number(seed) };
  const near = closest(word, orders);
  return `\`--schedule ${word}\`: the orders are ${orders.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

function readProfile(words: Words): Exclude<RunRequest['profile'], undefined> | string {
  const path = lastValue(words, 'profile');
  if (path !== undefined && !/\.(html|json)$/.test(path)) return `\`--profile=${path}\`: the file is to be called \`.html\` or \`.json\``;
  return { path, roofline: lastValue(words, 'roofline') ?? 'm1' };
}

/** `B,T`: a block and a thread in it, each by its number or by three. */
function readThread(word: string): Pick<TraceRequest, 'block' | 'thread'> | string {
  const places = word.split(',').map((part) => (/^\d{1,10}(\.\d{1,10}\.\d{1,10})?$/.test(part) ? part.split('.').map(Number) : []));
  const [block, thread] = places.map((place) => (place.length === 3 ? (place as unknown as Dim3) : place[0]));
  if (places.length === 2 && block !== undefined && thread !== undefined) return { block, thread };
  return `\`--trace-thread ${word}\`: B,T is wanted, a block and a thread by their numbers or as x.y.z`;
}

function readDim3(name: string, word: string): Dim3 | string {
  const parts = word.split(',');
  if (parts.length > 3 || parts.some((part) => !/^[1-9]\d{0,9}$/.test(part)))
    return `\`--${name} ${word}\`: X[,Y[,Z]] of integers of at least 1 is wanted`;
  const [x, y = 1, z = 1] = parts.map(Number);
  return [x!, y, z];
}

function readCount(name: string, word: string, least: number): number | string {
  const value = /^\d{1,12}$/.test(word) ? Number(word) : Number.NaN;
  return value >= least ? value : `\`--${name} ${word}\`: an integer of at least ${least} is wanted`;
}

/** Bytes of dynamic shared memory, or of each threadgroup argument. */
function readShared(word: string): number[] | string {
  const counts = word.split(',').map((part) => readCount('shared', part, 0));
  return counts.find((count) => typeof count === 'string') ?? (counts as number[]);
}

function readTimeout(word: string): number | string {
  const seconds = /^(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : Number.NaN;
  return seconds > 0 ? seconds * 1000 : `\`--timeout ${word}\`: a number of seconds above 0 is wanted`;
}

function readPrint(word: string): RunRequest['prints'][number] | string {
  const match = /^(\d{1,4})(?::(\d{1,12}))?$/.exec(word);
  if (!match) return `\`--print ${word}\`: I or I:COUNT is wanted`;
  return { index: Number(match[1]), count: match[2] === undefined ? undefined : Number(match[2]) };
}

function readOut(word: string): RunRequest['outs'][number] | string {
  const match = /^(\d{1,4})=(.+)$/s.exec(word);
  return match ? { index: Number(match[1]), path: match[2]! } : `\`--out ${word}\`: I=FILE is wanted`;
}

/** `I=FILE[:rtol[:atol]]`: colons belong to the file unless numbers follow them to the end. */
function readCheck(word: string): RunRequest['checks'][number] | string {
  const number = String.raw`\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?`;
  const match = new RegExp(`^(\\d{1,4})=(.+?)(?::(${number}))?(?::(${number}))?$`, 's').exec(word);
  if (!match) return `\`--check ${word}\`: I=FILE[:rtol[:atol]] is wanted`;
  const expect = { path: match[2]!, rtol: Number(match[3] ?? 0), atol: Number(match[4] ?? 0), ulp: 0 };
  return { index: Number(match[1]), expect };
}

/** `NAME=VALUE` or `NUMBER=VALUE`; of a vector the values with commas between them. */
function readConstant(word: string): GivenConstant | string {
  const [, name = '', text = ''] = /^([^=]+)=(.+)$/s.exec(word) ?? [];
  const values = text.split(',').map(readValue);
  const known = values.filter((value) => value !== undefined);
  if (name === '' || known.length < values.length)
    return `\`--constant ${word}\`: NAME=VALUE or NUMBER=VALUE is wanted, values being numbers, \`true\` or \`false\``;
  const value: ConstantValue = known.length === 1 ? known[0]! : known;
  return { constant: /^\d{1,5}$/.test(name) ? Number(name) : name, value };
}

function readValue(text: string): number | bigint | boolean | undefined {
  const trimmed = text.trim();
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  const [, sign, digits] = /^([+-]?)(\d+|0x[0-9a-f]+)$/i.exec(trimmed) ?? [];
  if (digits && !(sign === '-' && /^0+$/.test(digits))) return sign === '-' ? -BigInt(digits) : BigInt(digits);
  const special = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, '+inf': Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY };
  if (Object.hasOwn(special, trimmed)) return special[trimmed as keyof typeof special];
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : undefined;
}
