/**
 * The options of NVRTC, in one table: what each one is for a compiler that takes the words of nvcc.
 * Source: NVRTC, "Supported Compile Options".
 */

/** `words` are given to the compiler under the first name of nvcc; `ignored` ones change nothing; `refused` ones ask for what there is not. */
type Effect = 'words' | 'architecture' | 'deviceByDefault' | 'noSourceFolder' | 'ignored' | 'refused';

interface Option {
  readonly names: readonly string[];
  /** Whether there is a value: behind an equals sign, joined to a short name, or as the next option. */
  readonly hasValue: boolean;
  /** What values may be; anything by default. */
  readonly values?: RegExp;
  readonly effect: Effect;
}

const flag = (effect: Effect, names: string): Option => ({ names: names.split(' '), hasValue: false, effect });
const valued = (effect: Effect, names: string, values?: RegExp): Option => ({
  names: names.split(' '),
  hasValue: true,
  effect,
  ...(values ? { values } : {}),
});
const truth = /^(true|false)$/;

export const nvrtcOptions: readonly Option[] = [
  valued('architecture', '--gpu-architecture -arch', /^(compute|sm)_\d{2,3}[af]?$/),
  valued('words', '-D --define-macro'),
  valued('words', '-U --undefine-macro'),
  valued('words', '-I --include-path'),
  valued('words', '-include --pre-include'),
  valued('words', '-std --std', /^c\+\+(03|11|14|17|20)$/),
  valued('words', '-fmad --fmad', truth),
  valued('words', '-rdc --relocatable-device-code', truth),
  flag('words', '-dc --device-c'),
  flag('deviceByDefault', '-default-device --device-as-default-execution-space'),
  flag('noSourceFolder', '-no-source-include --no-source-include'),
  // Code is always optimized, lines are always known, and results stay exact.
  valued('ignored', '--ftz -ftz --prec-sqrt -prec-sqrt --prec-div -prec-div', truth),
  valued('ignored', '--builtin-move-forward -builtin-move-forward --builtin-initializer-list -builtin-initializer-list', truth),
  valued(
    'ignored',
    '--dopt -dopt --Ofast-compile -Ofc --ptxas-options -Xptxas --maxrregcount -maxrregcount --split-compile -split-compile',
  ),
  valued('ignored', '--diag-error -diag-error --diag-suppress -diag-suppress --diag-warn -diag-warn --brief-diagnostics -brief-diag'),
  flag('ignored', '--use_fast_math -use_fast_math --extra-device-vectorization -extra-device-vectorization --modify-stack-limit'),
  flag('ignored', '--device-debug -G --generate-line-info -lineinfo --device-w -dw --extensible-whole-program -ewp --restrict -restrict'),
  flag('ignored', '--disable-warnings -w --device-int128 -device-int128 --device-stack-protector -device-stack-protector --no-cache'),
  flag('ignored', '--display-error-number -err-no --no-display-error-number -no-err-no'),
  flag('ignored', '--minimal -minimal --fdevice-syntax-only -fdevice-syntax-only --version-ident'),
  flag('refused', '--dlink-time-opt -dlto --gen-opt-lto --optix-ir -optix-ir'),
];

/** What options ask for. */
export interface NvrtcWords {
  /** Words of nvcc. */
  readonly words: readonly string[];
  /** Whether the code is asked for as that of a device, not as PTX. */
  readonly isForDevice: boolean;
  readonly isDeviceByDefault: boolean;
  /** Whether headers are searched in the folder of the source too. */
  readonly hasSourceFolder: boolean;
}

interface Found {
  readonly option: Option;
  readonly value: string | undefined;
}

/** The option of a text: its whole name, the name before an equals sign, or a short name with its value joined. */
function find(text: string): Found | undefined {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const exact = nvrtcOptions.find(({ names, hasValue }) => names.includes(name) && (hasValue || equals < 0));
  if (exact) return { option: exact, value: equals < 0 ? undefined : text.slice(equals + 1) };
  const short = nvrtcOptions.find(({ names, hasValue }) => hasValue && names.includes(text.slice(0, 2)) && text.length > 2);
  return short && { option: short, value: text.slice(2) };
}

/** Reads options; what is wrong with them as a sentence. */
export function readNvrtcOptions(given: readonly string[]): NvrtcWords | string {
  const words: string[] = [];
  let [isForDevice, isDeviceByDefault, hasSourceFolder] = [false, false, true];
  const rest = given.flatMap((text) => (/^\s*$/.test(text) ? [] : [text.trim()]));
  for (let text = rest.shift(); text !== undefined; text = rest.shift()) {
    const found = find(text);
    if (!found) return `unrecognized option ${text} found`;
    const { names, hasValue, values, effect } = found.option;
    if (effect === 'refused') return `${text} is refused: there is no code for the linker of NVIDIA`;
    const value = hasValue ? (found.value ?? rest.shift()) : '';
    if (value === undefined) return `no value for option ${text}`;
    if (values && !values.test(value)) return `invalid value for ${names[0]} (${value})`;
    if (effect === 'architecture') isForDevice = value.startsWith('sm_');
    if (effect === 'deviceByDefault') isDeviceByDefault = true;
    if (effect === 'noSourceFolder') hasSourceFolder = false;
    if (effect === 'words') words.push(names[0]!, ...(hasValue ? [value] : []));
  }
  return { words, isForDevice, isDeviceByDefault, hasSourceFolder };
}
