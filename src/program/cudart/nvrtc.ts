/**
 * NVRTC: programs compile device code while they run. What compiles it is the caller's; the code is PTX, also where it is asked for as that of
 * a device, since devices load PTX. Source: NVRTC, "User Interface".
 */
import { cBytes } from '../memory.ts';
import { cudaVersion, keptText } from './devices.ts';
import { readNvrtcOptions } from './nvrtc-options.ts';
import { type Argument, plainRow, type Row, type Values } from './row.ts';
import type { CudaState, RuntimeSource } from './state.ts';
import { keepingLines, staticVariables, withPlainNames } from './static-variables.ts';

/** Results by number. */
const results = [
  'NVRTC_SUCCESS',
  'NVRTC_ERROR_OUT_OF_MEMORY',
  'NVRTC_ERROR_PROGRAM_CREATION_FAILURE',
  'NVRTC_ERROR_INVALID_INPUT',
  'NVRTC_ERROR_INVALID_PROGRAM',
  'NVRTC_ERROR_INVALID_OPTION',
  'NVRTC_ERROR_COMPILATION',
  'NVRTC_ERROR_BUILTIN_OPERATION_FAILURE',
  'NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION',
  'NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION',
  'NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID',
  'NVRTC_ERROR_INTERNAL_ERROR',
  'NVRTC_ERROR_TIME_FILE_WRITE_FAILED',
  'NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED',
  'NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED',
  'NVRTC_ERROR_PCH_CREATE',
  'NVRTC_ERROR_CANCELLED',
] as const;
type Result = (typeof results)[number];

interface RuntimeProgram {
  readonly name: string;
  readonly source: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Expressions, and the names of what they are, once it is compiled. */
  readonly names: Map<string, string | undefined>;
  isCompiled: boolean;
  ptx: string | undefined;
  isForDevice: boolean;
  log: string;
}

/** Programs by handle, of each running program. */
const programs = new WeakMap<CudaState, Map<bigint, RuntimeProgram>>();

function programsOf(state: CudaState): Map<bigint, RuntimeProgram> {
  const known = programs.get(state) ?? new Map<bigint, RuntimeProgram>();
  programs.set(state, known);
  return known;
}

/** Thrown by a function that fails, and caught where it was called. */
class NvrtcFailure extends Error {
  readonly result: Result;
  constructor(result: Result) {
    super(result);
    this.result = result;
  }
}
const fail = (result: Result): never => {
  throw new NvrtcFailure(result);
};
const must = (isWritten: boolean): void => (isWritten ? undefined : fail('NVRTC_ERROR_INVALID_INPUT'));

/** A function that returns a result. */
const nvrtcRow = <const List extends readonly Argument[]>(args: List, run: (state: CudaState, ...args: Values<List>) => void): Row =>
  plainRow(args, 'uint', (state, ...given) => {
    try {
      run(state, ...given);
      return 0;
    } catch (error) {
      if (!(error instanceof NvrtcFailure)) throw error;
      return results.indexOf(error.result);
    }
  });

const programAt = (state: CudaState, handle: bigint): RuntimeProgram =>
  programsOf(state).get(handle) ?? fail('NVRTC_ERROR_INVALID_PROGRAM');
const textAt = ({ memory }: CudaState, pointer: bigint): string => memory.cString(pointer) ?? fail('NVRTC_ERROR_INVALID_INPUT');

/** Texts of a list of pointers. */
const textsAt = (state: CudaState, list: bigint, count: number): string[] =>
  Array.from({ length: count }, (_, i) => textAt(state, state.memory.u64(list + BigInt(8 * i)) ?? fail('NVRTC_ERROR_INVALID_INPUT')));

/** Names of headers are below the folder that they are searched in. */
const isInside = (name: string): boolean => !(name.startsWith('/') || name === '' || name.split(/[/\\]/).includes('..'));

function create(
  state: CudaState,
  to: bigint,
  sourceAt: bigint,
  nameAt: bigint,
  count: number,
  headersAt: bigint,
  includesAt: bigint,
): void {
  if (to === 0n || sourceAt === 0n || count < 0) fail('NVRTC_ERROR_INVALID_INPUT');
  const names = textsAt(state, includesAt, count);
  if (!names.every(isInside)) fail('NVRTC_ERROR_INVALID_INPUT');
  const texts = textsAt(state, headersAt, count);
  const handle = state.newHandle();
  must(state.memory.putU64(to, handle));
  programsOf(state).set(handle, {
    name: nameAt === 0n ? 'default_program' : textAt(state, nameAt),
    source: textAt(state, sourceAt),
    headers: new Map(names.map((name, i) => [name, texts[i]!])),
    names: new Map(),
    isCompiled: false,
    ptx: undefined,
    isForDevice: false,
    log: '',
  });
}

/** A variable for each expression of a name, whose contents name it in the code. */
const variable = '__cumetal_lowered_name_';
const expressionLines = (names: Iterable<string>): string =>
  [...names]
    .map((name, i) => `extern "C" __device__ const void *const volatile ${variable}${i} = (const void *)&${name.replace(/^\s*&/, '')};\n`)
    .join('');
const variableLine = new RegExp(String.raw`^.*\b${variable}(\d+)\b[^=;\n]*=\s*([^;]*);.*\n`, 'gm');

/** Takes these variables out of the code. Returns what they name, by their numbers. */
function takeNames(ptx: string): { readonly code: string; readonly lowered: ReadonlyMap<number, string> } {
  const lowered = new Map<number, string>();
  const code = ptx.replace(variableLine, (_line, number: string, value: string) => {
    lowered.set(Number(number), value.replace(/generic\s*\(|[(){}\s]/g, ''));
    return '';
  });
  return { code, lowered };
}

function compile(state: CudaState, handle: bigint, count: number, list: bigint): void {
  const program = programAt(state, handle);
  if (count < 0) fail('NVRTC_ERROR_INVALID_INPUT');
  const options = readNvrtcOptions(textsAt(state, list, count));
  Object.assign(program, { isCompiled: false, ptx: undefined, log: '' });
  if (typeof options === 'string') {
    program.log = `nvrtc: error: ${options}\n`;
    fail('NVRTC_ERROR_INVALID_OPTION');
    return;
  }
  const { words, isForDevice, isDeviceByDefault, hasSourceFolder } = options;
  const names = [...program.names.keys()];
  const kept = staticVariables(program.source);
  const source: RuntimeSource = {
    name: program.name,
    text: program.source,
    headers: program.headers,
    words,
    isDeviceByDefault,
    hasSourceFolder,
    suffix: names.length + kept.length === 0 ? '' : `\n${expressionLines(names)}${keepingLines(kept)}`,
  };
  const made = state.options.compile?.(source) ?? {
    ptx: undefined,
    log: 'error: nothing compiles device code here while a program runs\n',
  };
  program.log = made.log;
  if (made.ptx === undefined) fail('NVRTC_ERROR_COMPILATION');
  const { code, lowered } = takeNames(withPlainNames(made.ptx!, kept));
  names.forEach((name, i) => {
    program.names.set(name, lowered.get(i));
  });
  Object.assign(program, { isCompiled: true, ptx: code, isForDevice });
}

const codeOf = (state: CudaState, handle: bigint): string => programAt(state, handle).ptx ?? fail('NVRTC_ERROR_INVALID_PROGRAM');

/** The size of a text, and the text: both with its zero byte. */
const sized = (textOf: (state: CudaState, handle: bigint) => string): readonly [size: Row, text: Row] => [
  nvrtcRow(['pointer', 'pointer'], (state, handle, to) => must(state.memory.putU64(to, cBytes(textOf(state, handle)).length))),
  nvrtcRow(['pointer', 'pointer'], (state, handle, to) => must(state.memory.put(to, cBytes(textOf(state, handle))))),
];
const [nvrtcGetPTXSize, nvrtcGetPTX] = sized(codeOf);
const [nvrtcGetProgramLogSize, nvrtcGetProgramLog] = sized((state, handle) => programAt(state, handle).log);

/** Code of a kind that is never made has no bytes. */
const noSize = nvrtcRow(['pointer', 'pointer'], (state, handle, to) => {
  programAt(state, handle);
  must(state.memory.putU64(to, 0n));
});
const noCode = nvrtcRow(['pointer', 'pointer'], () => fail('NVRTC_ERROR_INVALID_PROGRAM'));

/** Architectures that options may name, up to that which CUDA's version has. */
const architectures = [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 120];

export const nvrtc: Readonly<Record<string, Row>> = {
  nvrtcGetErrorString: plainRow(['uint'], 'pointer', (state, number) => keptText(state, results[number] ?? 'NVRTC_ERROR unknown')),
  nvrtcVersion: nvrtcRow(['pointer', 'pointer'], (state, major, minor) => {
    must(state.memory.putU32(major, Math.floor(cudaVersion / 1000)));
    must(state.memory.putU32(minor, Math.floor((cudaVersion % 1000) / 10)));
  }),
  nvrtcGetNumSupportedArchs: nvrtcRow(['pointer'], (state, to) => must(state.memory.putU32(to, architectures.length))),
  nvrtcGetSupportedArchs: nvrtcRow(['pointer'], (state, to) => {
    for (const [i, each] of architectures.entries()) must(state.memory.putU32(to + BigInt(4 * i), each));
  }),
  nvrtcCreateProgram: nvrtcRow(['pointer', 'pointer', 'pointer', 'int', 'pointer', 'pointer'], create),
  nvrtcDestroyProgram: nvrtcRow(['pointer'], (state, at) => {
    const handle = state.memory.u64(at) ?? fail('NVRTC_ERROR_INVALID_PROGRAM');
    if (!programsOf(state).delete(handle)) fail('NVRTC_ERROR_INVALID_PROGRAM');
    must(state.memory.putU64(at, 0n));
  }),
  nvrtcCompileProgram: nvrtcRow(['pointer', 'int', 'pointer'], compile),
  nvrtcGetPTXSize,
  nvrtcGetPTX,
  nvrtcGetProgramLogSize,
  nvrtcGetProgramLog,
  // Without an architecture of a device there is only PTX.
  nvrtcGetCUBINSize: nvrtcRow(['pointer', 'pointer'], (state, handle, to) => {
    const bytes = cBytes(codeOf(state, handle)).length;
    must(state.memory.putU64(to, programAt(state, handle).isForDevice ? bytes : 0));
  }),
  nvrtcGetCUBIN: nvrtcRow(['pointer', 'pointer'], (state, handle, to) => {
    if (!programAt(state, handle).isForDevice) fail('NVRTC_ERROR_INVALID_PROGRAM');
    must(state.memory.put(to, cBytes(codeOf(state, handle))));
  }),
  nvrtcGetLTOIRSize: noSize,
  nvrtcGetLTOIR: noCode,
  nvrtcGetOptiXIRSize: noSize,
  nvrtcGetOptiXIR: noCode,
  nvrtcAddNameExpression: nvrtcRow(['pointer', 'pointer'], (state, handle, at) => {
    const program = programAt(state, handle);
    if (program.isCompiled) fail('NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION');
    program.names.set(textAt(state, at), undefined);
  }),
  nvrtcGetLoweredName: nvrtcRow(['pointer', 'pointer', 'pointer'], (state, handle, at, to) => {
    const program = programAt(state, handle);
    if (!program.isCompiled) fail('NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION');
    const name = program.names.get(textAt(state, at)) ?? fail('NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID');
    must(state.memory.putU64(to, keptText(state, name)));
  }),
};
