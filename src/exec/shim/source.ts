/**
 * The C of the shim that is made from the table of the CUDA runtime: a function for each row, which sends its arguments to the process of the
 * device. Numbers of functions are places in the table, so that both sides of one build agree.
 */
import { nativeFunctions } from './functions.ts';
import { runtimeNames } from './names.ts';
import shim from './shim.c' with { type: 'text' };

/** The names of functions by their numbers. */
export const functionNames: readonly string[] = Object.keys(nativeFunctions);

type Row = (typeof nativeFunctions)[string];

const types = { pointer: 'void *', long: 'long long', size: 'size_t', int: 'int', uint: 'unsigned', float: 'float' } as const;

/**
 * Functions with parameters that are structs. WebAssembly's convention, that of the table, passes a pointer to them, and C passes them
 * themselves: the parameters' types by place.
 */
const structs: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  cudaLaunchCooperativeKernel: { 1: 'cm_dim3', 2: 'cm_dim3' },
  cudaMalloc3D: { 1: 'cm_extent' },
  cudaMalloc3DArray: { 2: 'cm_extent' },
  cudaMallocMipmappedArray: { 2: 'cm_extent' },
  cudaMemset3D: { 0: 'cm_pitched', 2: 'cm_extent' },
  cudaMemset3DAsync: { 0: 'cm_pitched', 2: 'cm_extent' },
};

/** The function of a row in C. */
function stubOf(name: string, { args, result }: Row): string {
  const types_ = args.map((type, i) => structs[name]?.[i] ?? types[type]);
  const params = types_.map((type, i) => `${type} a${i}`).join(', ') || 'void';
  const values = types_.map((type, i) => (type.startsWith('cm_') ? `(u64)&a${i}` : `(u64)a${i}`)).join(', ');
  const given = `${args.length}, (u64[]){${values || '0'}}`;
  const number = `cm_fn_${name}`;
  if (result === 'error') return `CM_EXPORT int ${name}(${params}) { return cm_error_call(${number}, ${given}); }`;
  // Functions of the driver note no last error.
  if (result === 'driver') return `CM_EXPORT int ${name}(${params}) { return (int)cm_call(${number}, ${given}, cm_devices_unavailable); }`;
  if (result === 'void') return `CM_EXPORT void ${name}(${params}) { cm_call(${number}, ${given}, 0); }`;
  return `CM_EXPORT ${types[result]} ${name}(${params}) { return (${types[result]})cm_call(${number}, ${given}, 0); }`;
}

/** Functions that the shim has in its own words. */
const own: readonly string[] = [...shim.matchAll(/^CM_EXPORT [\w *]+?\**(\w+)\(/gm)].map(([, name]) => name!);

/** A name that only says which stream is the default one, which changes nothing where every call is done when it returns. */
const otherNames = (name: string): string[] => (/^_*cuda(?!Register|Unregister)/.test(name) ? [`${name}_ptsz`, `${name}_ptds`] : []);

export interface ShimSource {
  readonly shim: string;
  /** The texts of the files that it includes, by name. */
  readonly included: Readonly<Record<string, string>>;
}

/** The texts of the shim. `wanted`: functions of CUDA that a program names, of which those that are missing say so when they are called. */
export function shimSource(wanted: readonly string[] = []): ShimSource {
  const made = functionNames.filter((name) => !own.includes(name));
  const known = new Set([...own, ...made]);
  const aliases = [...known].flatMap((name) =>
    otherNames(name)
      .filter((other) => !known.has(other))
      .map((other) => [other, name] as const),
  );
  for (const [other] of aliases) known.add(other);
  const missing = [...new Set(wanted)].filter((name) => !known.has(name) && /^\w+$/.test(name));
  const stubs = [
    ...made.map((name) => stubOf(name, nativeFunctions[name]!)),
    ...aliases.map(([other, name]) => `extern __typeof(${name}) ${other} CM_EXPORT __attribute__((alias("${name}")));`),
    ...missing.map((name) => `CM_EXPORT int ${name}(void) { return cm_unsupported("${name}"); }`),
    'static const cm_entry cm_table[] = {',
    ...[...known].map((name) => `  {"${name}", (void *)${name}},`),
    '  {0, 0}};',
    'static const char *const cm_api[] = {',
    ...runtimeNames.map((name) => `  "${name}",`),
    '  0};',
    '',
  ];
  const numbers = functionNames.map((name, i) => `#define cm_fn_${name} ${i}\n`).join('');
  return { shim, included: { 'functions.h': numbers, 'stubs.h': stubs.join('\n') } };
}
