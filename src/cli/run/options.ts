/** The options of `run`: the launch, and the handling of its buffers. */
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
  type Fp,
  type OpenOptions,
  type Order,
  type SanitizeKind,
  type SanitizeRequest,
  sanitizeKinds,
  type Via,
} from '../../device/device.ts';
import type { TraceRequest } from '../../device/trace.ts';
import { type ArgumentSpec, type Expectation, type LaunchPlan, parseArgument } from '../../runtime/index.ts';
import { allValues, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import { readCount } from '../command/count.ts';

export interface RunRequest {
  readonly plan: LaunchPlan;
  readonly prints: readonly { readonly index: number; readonly count: number | undefined }[];
  readonly outs: readonly { readonly index: number; readonly path: string }[];
  readonly checks: readonly { readonly index: number; readonly expect: Expectation }[];
  readonly device: 'auto' | 'metal' | 'cpu' | 'cuda' | 'opencl' | 'webgpu';
  readonly engine: EngineOptions & Pick<OpenOptions, 'via' | 'fp'>;
  readonly repeat: number;
  readonly timeoutMs: number;
  /** Whether expected files are written instead of compared. */
  readonly isRecording: boolean;
  /** The kinds of faults that the sanitizer checks. */
  readonly sanitize: SanitizeRequest | undefined;
  /** The order of threads. */
  readonly schedule: Order | undefined;
  /** The traced thread, and the length of the trace. */
  readonly trace: Omit<TraceRequest, 'take'> | undefined;
  /** The launch of a whole program whose thread is traced, from 1 on. */
  readonly traceLaunch: { readonly kernel: string; readonly number: number } | undefined;
  /** The output file of the profile, if any, and the device of its roofline. */
  readonly profile: { readonly path: string | undefined; readonly roofline: string } | undefined;
  readonly compile: CompileOptions;
  /** The values of function constants. */
  readonly constants: readonly GivenConstant[];
}

/** Options that describe the launch; they conflict with a launch file. */
const launchOptions = ['kernel', 'grid', 'block', 'cluster', 'shared', 'arg', 'triton'] as const;

/** The first option that conflicts with `--launch`. */
export const conflictingOption = (parsed: ParsedArguments): string | undefined => launchOptions.find((name) => has(parsed, name));

/** Options of the CPU device. They select it when no device is named, on a Mac as well. */
const cpuOptions = ['cluster', 'cooperative', 'stack-size', 'sanitize', 'schedule', 'trace-thread', 'profile', 'denormals'] as const;

/** Those of them that other devices have as well. */
const otherOptions: Readonly<Record<string, readonly string[]>> = {
  cuda: ['cluster', 'cooperative'],
  metal: ['cluster'],
  opencl: ['cluster'],
  webgpu: ['cluster'],
};

const cpuOption = (parsed: ParsedArguments, device = ''): string | undefined =>
  cpuOptions.find((name) => has(parsed, name) && !otherOptions[device]?.includes(name));

function deviceOf(parsed: ParsedArguments): RunRequest['device'] {
  const device = (lastValue(parsed, 'device') ?? 'auto') as RunRequest['device'];
  return device === 'auto' && cpuOption(parsed) !== undefined ? 'cpu' : device;
}

/** Options that another device has. */
function deviceProblems(parsed: ParsedArguments, device: RunRequest['device']): string[] {
  const ofCpu = cpuOption(parsed, device);
  const wrong = (option: string, name: string): string => `\`--${option}\` requires the ${name} device, but \`--device\` is \`${device}\``;
  return [
    ...(has(parsed, 'via') && device !== 'metal' && device !== 'auto' ? [wrong('via', 'Metal')] : []),
    ...(has(parsed, 'fp') && device !== 'webgpu' ? [wrong('fp', 'WebGPU')] : []),
    ...(ofCpu !== undefined && device !== 'cpu' ? [wrong(ofCpu, 'CPU')] : []),
  ];
}

/** Reads every option. Returns the first usage error as a sentence; malformed kernel arguments are reported as CM5010 instead. */
export function readRequest(parsed: ParsedArguments, diagnostics: Diagnostics): RunRequest | string {
  const problems: string[] = [];
  const take = <T>(value: T | string): T | undefined => {
    if (typeof value !== 'string') return value;
    problems.push(value);
    return undefined;
  };
  const one = <T>(name: string, read: (value: string) => T | string): T | undefined => {
    const value = lastValue(parsed, name);
    return value === undefined ? undefined : take(read(value));
  };
  const device = deviceOf(parsed);
  problems.push(...deviceProblems(parsed, device));
  const [grid, block, cluster] = (['grid', 'block', 'cluster'] as const).map((name) => one(name, (word) => readDim3(name, word)));
  const sharedParts = one('shared', readShared);
  const repeat = one('repeat', (word) => readCount('repeat', word, 1, maxRepeat)) ?? 1;
  const timeoutMs = one('timeout', readTimeout) ?? 0;
  const threads = one('threads', (word) => readCount('threads', word, 1, maxThreads));
  const sanitize = has(parsed, 'sanitize') ? take(readKinds(lastValue(parsed, 'sanitize'))) : undefined;
  const schedule = one('schedule', readOrder);
  const limit = one('trace-limit', (word) => readCount('trace-limit', word, 0));
  const traced = one('trace-thread', readThread);
  const trace = traced && { ...traced, ...(limit === undefined ? {} : { limit }) };
  const traceLaunch = one('trace-launch', readTraceLaunch);
  if (traceLaunch && !trace) problems.push('`--trace-launch` requires `--trace-thread`');
  const profile = has(parsed, 'profile') ? take(readProfile(parsed)) : undefined;
  const prints = allValues(parsed, 'print').map((word) => take(readPrint(word)));
  const outs = allValues(parsed, 'out').map((word) => take(readOut(word)));
  const checks = allValues(parsed, 'check').map((word) => take(readCheck(word)));
  const constants = allValues(parsed, 'constant').map((word) => take(readConstant(word)));
  const named = take(readNamed(parsed));
  const args = has(parsed, 'arg') ? allValues(parsed, 'arg').map((word) => parseArgument(word, diagnostics)) : undefined;
  if (problems.length > 0) return problems[0]!;
  return {
    plan: {
      ...(sharedParts ? { sharedBytes: sharedParts.reduce((sum, bytes) => sum + bytes) } : {}),
      ...(sharedParts && sharedParts.length > 1 ? { sharedParts } : {}),
      constants: [],
      ...named,
      ...(grid ? { grid } : {}),
      ...(block ? { block } : {}),
      ...(cluster ? { cluster } : {}),
      ...(args ? { args: args.filter((a): a is ArgumentSpec => a !== undefined) } : {}),
    },
    prints: present(prints),
    outs: present(outs),
    checks: present(checks),
    device,
    engine: engineOptions(parsed, threads),
    repeat,
    timeoutMs,
    isRecording: has(parsed, 'record'),
    sanitize: sanitize && { kinds: sanitize },
    schedule,
    trace,
    traceLaunch,
    profile,
    compile: {
      // Marks require the CPU device, so its target costs nothing in portability.
      ...(trace || profile ? { target: 'cpu', marks: true } : {}),
      ...compileOptions(parsed),
      ...(sanitize ? { sanitize: true } : {}),
    },
    constants: present(constants),
  };
}

/** The kernel, and what a launch has on the CPU device alone. */
function readNamed(parsed: ParsedArguments): Pick<LaunchPlan, 'kernel' | 'cooperative' | 'stackBytes'> | string {
  const kernel = lastValue(parsed, 'kernel');
  const word = lastValue(parsed, 'stack-size');
  const stackBytes = word === undefined ? undefined : readCount('stack-size', word, 1, maxStackBytes);
  if (typeof stackBytes === 'string') return stackBytes;
  return {
    ...(kernel === undefined ? {} : { kernel }),
    ...(has(parsed, 'cooperative') ? { cooperative: true } : {}),
    ...(stackBytes === undefined ? {} : { stackBytes }),
  };
}

const present = <T>(values: readonly (T | undefined)[]): T[] => values.flatMap((v) => (v === undefined ? [] : [v]));

/** `--engine`, `--fma`, `--denormals`, `--lanes`, `--via` and `--fp`, whose choices the parser has checked, and `--threads`. */
function engineOptions(parsed: ParsedArguments, threads: number | undefined): RunRequest['engine'] {
  const via = lastValue(parsed, 'via');
  const fp = lastValue(parsed, 'fp');
  const engine = lastValue(parsed, 'engine');
  const fma = lastValue(parsed, 'fma');
  const denormals = lastValue(parsed, 'denormals');
  const lanes = lastValue(parsed, 'lanes');
  return {
    ...(engine ? { engine: engine as Engine } : {}),
    ...(fma ? { fma: fma as Fma } : {}),
    ...(denormals ? { denormals: denormals as Denormals } : {}),
    ...(threads === undefined ? {} : { threads }),
    ...(lanes ? { lanes: Number(lanes) as 32 } : {}),
    ...(via ? { via: via as Via } : {}),
    ...(fp ? { fp: fp as Fp } : {}),
  };
}

/** A comma-separated list of kinds; all of them by default. */
function readKinds(word: string | undefined): ReadonlySet<SanitizeKind> | string {
  if (word === undefined) return new Set(sanitizeKinds);
  const kinds = word.split(',');
  const wrong = kinds.find((kind) => !(sanitizeKinds as readonly string[]).includes(kind));
  if (wrong === undefined) return new Set(kinds as SanitizeKind[]);
  const near = closest(wrong, sanitizeKinds);
  return `invalid value \`${wrong}\` for \`--sanitize\`: expected ${sanitizeKinds.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

const orders = ['in-order', 'reverse', 'rand:SEED'];

/** `in-order`, `reverse`, or `rand:` and a 32-bit integer. */
function readOrder(word: string): Order | string {
  if (word === 'in-order' || word === 'reverse') return { kind: word };
  const seed = /^rand:(\d{1,10})$/.exec(word)?.[1];
  if (seed !== undefined && Number(seed) < 2 ** 32) return { kind: 'rand', seed: Number(seed) };
  const near = closest(word, orders);
  return `invalid value \`${word}\` for \`--schedule\`: expected one of ${orders.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
}

function readProfile(parsed: ParsedArguments): Exclude<RunRequest['profile'], undefined> | string {
  const path = lastValue(parsed, 'profile');
  if (path !== undefined && !/\.(html|json)$/.test(path))
    return `invalid value \`${path}\` for \`--profile\`: expected a \`.html\` or \`.json\` file`;
  return { path, roofline: lastValue(parsed, 'roofline') ?? 'm1' };
}

/** `B,T`: a block and a thread, each as a number or as `x.y.z`. */
function readThread(word: string): Pick<TraceRequest, 'block' | 'thread'> | string {
  const places = word.split(',').map((part) => (/^\d{1,10}(\.\d{1,10}\.\d{1,10})?$/.test(part) ? part.split('.').map(Number) : []));
  const [block, thread] = places.map((place) => (place.length === 3 ? (place as unknown as Dim3) : place[0]));
  if (places.length === 2 && block !== undefined && thread !== undefined) return { block, thread };
  return `invalid value \`${word}\` for \`--trace-thread\`: expected B,T, a block and a thread as numbers or as x.y.z`;
}

/** `NAME` or `NAME:N`: the first or the n-th launch of a kernel. A name may have colons. */
function readTraceLaunch(word: string): NonNullable<RunRequest['traceLaunch']> | string {
  const [, name = '', number = '1'] = /^(.*?)(?::(\d{1,9}))?$/s.exec(word) ?? [];
  return name !== '' && Number(number) > 0
    ? { kernel: name, number: Number(number) }
    : `invalid value \`${word}\` for \`--trace-launch\`: expected KERNEL or KERNEL:N, where N is at least 1`;
}

function readDim3(name: string, word: string): Dim3 | string {
  const parts = word.split(',');
  if (parts.length > 3 || parts.some((part) => !/^[1-9]\d{0,9}$/.test(part)))
    return `invalid value \`${word}\` for \`--${name}\`: expected X[,Y[,Z]], integers of at least 1`;
  const [x, y = 1, z = 1] = parts.map(Number);
  return [x!, y, z];
}

/** The largest `--repeat`, whose times are kept, and `--threads`, each of which is a worker. */
const [maxRepeat, maxThreads] = [1_000_000, 1024];
/** As much local memory as a thread of an NVIDIA GPU has. */
const maxStackBytes = 2 ** 19;

/** The size of dynamic shared memory in bytes, or of each threadgroup argument. */
function readShared(word: string): number[] | string {
  const counts = word.split(',').map((part) => readCount('shared', part, 0));
  return counts.find((count) => typeof count === 'string') ?? (counts as number[]);
}

function readTimeout(word: string): number | string {
  const seconds = /^(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : Number.NaN;
  return seconds > 0 && Number.isFinite(seconds * 1000)
    ? seconds * 1000
    : `invalid value \`${word}\` for \`--timeout\`: expected a number of seconds above 0`;
}

function readPrint(word: string): RunRequest['prints'][number] | string {
  const match = /^(\d{1,4})(?::(\d{1,12}))?$/.exec(word);
  if (!match) return `invalid value \`${word}\` for \`--print\`: expected I or I:COUNT`;
  return { index: Number(match[1]), count: match[2] === undefined ? undefined : Number(match[2]) };
}

function readOut(word: string): RunRequest['outs'][number] | string {
  const match = /^(\d{1,4})=(.+)$/s.exec(word);
  return match ? { index: Number(match[1]), path: match[2]! } : `invalid value \`${word}\` for \`--out\`: expected I=FILE`;
}

/** `I=FILE[:rtol[:atol]]`: a colon is part of the file name unless only numbers follow it. */
function readCheck(word: string): RunRequest['checks'][number] | string {
  const number = String.raw`\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?`;
  const match = new RegExp(`^(\\d{1,4})=(.+?)(?::(${number}))?(?::(${number}))?$`, 's').exec(word);
  if (!match) return `invalid value \`${word}\` for \`--check\`: expected I=FILE[:rtol[:atol]]`;
  const expect = { path: match[2]!, rtol: Number(match[3] ?? 0), atol: Number(match[4] ?? 0), ulp: 0 };
  return { index: Number(match[1]), expect };
}

/** `NAME=VALUE` or `NUMBER=VALUE`; the values of a vector are separated by commas. */
function readConstant(word: string): GivenConstant | string {
  const [, name = '', text = ''] = /^([^=]+)=(.+)$/s.exec(word) ?? [];
  const values = text.split(',').map(readValue);
  const known = values.filter((value) => value !== undefined);
  if (name === '' || known.length < values.length)
    return `invalid value \`${word}\` for \`--constant\`: expected NAME=VALUE or NUMBER=VALUE, with numbers, \`true\` or \`false\``;
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
