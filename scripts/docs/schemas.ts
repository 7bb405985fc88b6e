/** `schemas/`: a JSON Schema for the output of each command with `--json`, and for the files of the profiler and the trace. */
import { schemaVersion } from '../../src/cli/terminal/json.ts';

type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };
const count: Schema = { type: 'integer', minimum: 0 };
const number: Schema = { type: 'number' };
const boolean: Schema = { type: 'boolean' };
const oneOf = (...values: readonly string[]): Schema => ({ enum: values });
const list = (items: Schema): Schema => ({ type: 'array', items });
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const about = (schema: Schema, description: string): Schema => ({ ...schema, description });

/** An object with exactly these fields; a name that ends in `?` is optional. */
function object(fields: Readonly<Record<string, Schema>>, more: Schema = {}): Schema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), fields[name]!])),
    ...more,
  };
}

const element = about(
  { anyOf: [number, { type: 'string', pattern: '^(nan|-?inf|-?[0-9]+)$' }] },
  'a number; as a string what JSON cannot hold: nan, inf, -inf, and integers beyond 2^53',
);
const dtype = oneOf('u8', 'i8', 'u16', 'i16', 'f16', 'bf16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64');
const dim3: Schema = { type: 'array', items: count, minItems: 3, maxItems: 3 };
const place = { line: count, column: count, end_line: count, end_column: count };

const diagnostic = object({
  code: { type: 'string', pattern: '^CM[0-9]{4}$' },
  severity: oneOf('error', 'warning', 'note'),
  message: string,
  'file?': string,
  'line?': about(count, 'lines and columns count from 1, columns in code points'),
  'column?': count,
  'end_line?': count,
  'end_column?': count,
  labels: list(object({ ...place, text: string })),
  notes: list(string),
  'help?': string,
});

const check = object({
  index: count,
  name: string,
  pass: boolean,
  max_abs: element,
  max_rel: element,
  max_ulp: element,
  first_mismatch: orNull(count),
  mismatches: count,
  count,
});

const output = object({
  index: count,
  name: string,
  dtype: ref('dtype'),
  shape: list(count),
  'count?': about(count, 'elements of the buffer'),
  'truncated?': about(boolean, 'whether `data` has fewer elements than the buffer; `--json=full` gives all'),
  'data?': list(ref('element')),
  'file?': string,
});

const traceValue = object({ type: string, bits: list(string), text: string });
const trace = {
  kernel: string,
  block: dim3,
  thread: dim3,
  count: about(count, 'instructions of the thread'),
  truncated: about(boolean, 'whether steps are missing; `--trace-limit` raises the limit'),
  steps: list(
    object({
      line: count,
      column: count,
      file: string,
      text: string,
      starts: boolean,
      operations: list(object({ op: string, operands: list(traceValue), 'result?': traceValue })),
    }),
  ),
};

const executions = object({ warps: count, lanes: count });
const globalAccesses = object({ requests: count, lanes: count, bytes: count, sectors: count, lines: count, least_sectors: count });
const sharedAccesses = object({ requests: count, lanes: count, wavefronts: count, least_wavefronts: count });
const kinds = (of: Schema): Schema => object({ load: of, store: of, atomic: of });
const counts = {
  executed: executions,
  flops: object({ f16: count, f32: count, f64: count }),
  global: kinds(ref('global_accesses')),
  shared: kinds(ref('shared_accesses')),
  branches: object({ executed: count, diverged: count }),
};
const position = object({ intensity: number, most: number, bound: oneOf('memory', 'compute') });
const profile = {
  kernel: string,
  grid: dim3,
  block: dim3,
  warps: count,
  footprint: object({ read: count, written: count }),
  operations: { type: 'object', additionalProperties: executions },
  moved_bytes: count,
  roofline: orNull(object({ device: string, peak_flops: number, bandwidth: number, source: string, uncached: position, cached: position })),
  total: object(counts),
  lines: list(object({ line: count, file: string, 'source?': string, ...counts })),
};

const inventedParts = about(list(string), 'the parts of the launch that are not specified but invented, one sentence each');

const run = {
  kernel: orNull(about(string, 'the name in the library')),
  kernel_name: orNull(about(string, 'the name for people: that of a C++ function is not mangled')),
  device: orNull(oneOf('cpu', 'metal', 'cuda', 'opencl', 'webgpu')),
  device_name: orNull(string),
  grid: orNull(dim3),
  block: orNull(dim3),
  status: oneOf('ok', 'error'),
  compile_ms: orNull(number),
  duration_ms: orNull(about(number, 'the median of `durations_ms`')),
  durations_ms: list(number),
  made_up: inventedParts,
  notes: list(string),
  printed: about(string, 'what the kernel printed'),
  outputs: list(ref('output')),
  checks: list(ref('check')),
  'profile?': object(profile),
  'trace?': object(trace),
  diagnostics: list(ref('diagnostic')),
};

const difference = object({
  device: string,
  index: count,
  name: string,
  dtype: ref('dtype'),
  shape: list(count),
  pass: boolean,
  rtol: number,
  atol: number,
  ulp: number,
  max_abs: element,
  max_rel: element,
  max_ulp: element,
  mismatches: count,
  count,
  first_mismatch: orNull(
    object({
      index: count,
      reference: element,
      value: element,
      ulp: element,
      writer: orNull(object({ thread: dim3, block: dim3, line: orNull(count) })),
    }),
  ),
});

const diff = {
  status: oneOf('same', 'differs', 'failed'),
  devices: list(object({ device: string, kind: string, device_name: string })),
  launches: list(
    object({
      file: string,
      status: oneOf('same', 'differs', 'failed'),
      kernel: orNull(string),
      grid: orNull(dim3),
      block: orNull(dim3),
      made_up: inventedParts,
      notes: list(string),
      runs: list(object({ device: string, duration_ms: number })),
      outputs: list(difference),
      diagnostics: list(ref('diagnostic')),
    }),
  ),
};

/** What a warp asks of global or shared memory. */
const request = object({
  certainty: about(
    oneOf('exact', 'most', 'assumed'),
    'exact: of every request of the launch; most: no request needs more; assumed: for 32 threads that follow one another along x',
  ),
  'sectors?': number,
  'wavefronts?': number,
  least: about(number, 'the fewest that could do'),
  'efficiency?': about(number, 'the part of the bytes of the sectors that is used'),
});
const advised = object({
  name: string,
  grid: orNull(dim3),
  block: orNull(dim3),
  accesses: list(
    object({
      line: count,
      space: oneOf('global', 'shared'),
      kind: oneOf('load', 'store', 'atomic'),
      type: string,
      bytes: about(count, 'of one thread'),
      spread: oneOf('uniform', 'unit', 'strided', 'broadcast', 'pattern', 'runtime', 'gather', 'unknown'),
      stride: orNull(about(integer, 'bytes between neighboring threads')),
      request: orNull(request),
    }),
  ),
  branches: list(
    object({
      line: count,
      diverges: orNull(boolean),
      diverging_warps: count,
      known_warps: count,
      idle: orNull(about(number, 'the part of lanes that are idle while a warp executes both sides')),
    }),
  ),
  occupancy: orNull(
    object({ arch: string, blocks: count, warps: count, max_warps: count, limited_by: oneOf('threads', 'blocks', 'shared memory') }),
  ),
});

/** Fields that a reflection adds are no incompatible change. */
const open = { additionalProperties: true };
const range = object({ name: string, offset: count, size: count, 'parts?': list(ref('range')) });
const library = object({
  schemaVersion: { const: schemaVersion },
  file: string,
  bytes: count,
  'version?': string,
  'platform?': string,
  'os?': string,
  'uuid?': string,
  'sections?': list(ref('range')),
  'functions?': list(
    object({
      name: string,
      type: string,
      air_version: list(count),
      metal_version: list(count),
      bitcode_bytes: count,
      'hash?': string,
      kernel: orNull(object({ name: string, params: list({ type: 'object' }) }, open)),
      not_run: list(ref('diagnostic')),
    }),
  ),
  diagnostics: list(ref('diagnostic')),
});
const container = object({
  schemaVersion: { const: schemaVersion },
  file: string,
  bytes: count,
  format: oneOf('fatbinary', 'cubin', 'elf'),
  images: list(
    object({
      image: count,
      kind: oneOf('ptx', 'sass', 'lto', 'other'),
      arch: string,
      'ptx_version?': string,
      compression: string,
      bytes: count,
      stored_bytes: count,
      'source?': string,
      kernels: orNull(list(string)),
    }),
  ),
  diagnostics: list(ref('diagnostic')),
});

const limits = object({ max_threads_per_threadgroup: count, max_threadgroup_bytes: count, max_buffer_bytes: count, simd_width: count });
const entry = {
  severity: oneOf('error', 'warning', 'note'),
  title: string,
  message: string,
  'help?': string,
  'alias?': string,
  page: string,
};
const stored = list(object({ key: string, bytes: count, used: string }));
const document = (fields: Readonly<Record<string, Schema>>): Schema => object({ schemaVersion: { const: schemaVersion }, ...fields });

/** The shape of each output, by the name of its command or file. */
const outputs: Readonly<Record<string, Schema>> = {
  run: document(run),
  build: document({
    status: oneOf('ok', 'error'),
    emit: string,
    output: string,
    'bytes?': count,
    compile_ms: number,
    diagnostics: list(ref('diagnostic')),
  }),
  check: document({ diagnostics: list(ref('diagnostic')) }),
  analyze: document({ files: list(object({ path: string, kernels: list(advised) })), diagnostics: list(ref('diagnostic')) }),
  inspect: { oneOf: [library, container] },
  validate: document({ file: string, valid: boolean, diagnostics: list(ref('diagnostic')) }),
  devices: document({
    devices: list(
      object({
        kind: oneOf('cpu', 'metal', 'cuda', 'opencl', 'webgpu'),
        'ordinal?': count,
        name: string,
        limits,
        'emulates_fma?': about({ type: 'boolean' }, 'whether a fused multiply-add takes several instructions'),
        'vector_bits?': about(count, 'of the vectors in which the CPU device runs kernels'),
        properties: about({ type: 'object' }, 'by the names of cudaDeviceProp'),
      }),
    ),
  }),
  targets: document({
    targets: list(
      object({
        name: string,
        output: oneOf('metallib', 'opencl', 'msl', 'wgsl', 'ptx'),
        title: string,
        option: about(string, 'how it is chosen on the command line'),
        'shared_bytes?': about(count, 'that a kernel may declare; of the device if absent'),
        'total_shared_bytes?': about(count, 'with those of the launch'),
        constructs: about({ type: 'object' }, 'by construct: `form`, which is native, expanded or refused, and `how`'),
      }),
    ),
  }),
  doctor: document({
    version: string,
    findings: list(object({ what: string, state: oneOf('works', 'absent', 'broken'), words: string, 'next?': string })),
  }),
  explain: {
    oneOf: [
      document({ code: string, ...entry }),
      document({ codes: list(object({ code: string, ...entry })) }),
      document({ instruction: string, forms: list(object({ syntax: string, doc: string, source: string, status: string, text: string })) }),
    ],
  },
  diff: document(diff),
  bench: document({
    device: string,
    device_name: string,
    rows: list(object({ name: string, value: number, unit: string, times: integer })),
    is_invented: about(boolean, 'whether the launch is invented, and not specified'),
  }),
  tune: document({
    device: string,
    sm: count,
    file: string,
    kernels: list(object({ routine: string, type: string, kernel: string, tflops: number })),
  }),
  cache: {
    oneOf: [
      document({ folder: string }),
      document({ folder: string, bytes: count, entries: stored }),
      document({ folder: string, bytes: count, removed: stored }),
    ],
  },
  profile: document(profile),
  trace: document(trace),
};

const definitions: Readonly<Record<string, Schema>> = {
  diagnostic,
  check,
  output,
  element,
  dtype,
  range,
  global_accesses: globalAccesses,
  shared_accesses: sharedAccesses,
};

/** The definitions that a schema refers to, and those that these refer to. */
function usedDefinitions(schema: Schema): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const visit = (of: Schema): void => {
    for (const [, name] of JSON.stringify(of).matchAll(/"#\/\$defs\/(\w+)"/g)) {
      if (found[name!]) continue;
      found[name!] = definitions[name!]!;
      visit(definitions[name!]!);
    }
  };
  visit(schema);
  return found;
}

const titles: Readonly<Record<string, string>> = {
  profile: 'the file of `cumetal run --profile=FILE.json`',
  trace: 'the file of `cumetal run --trace-out FILE.json`',
};

const page = (name: string, schema: Schema) => ({
  path: `schemas/${name}.schema.json`,
  text: (): string =>
    `${JSON.stringify(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `urn:cumetal:schema:${name}:${schemaVersion}`,
        title: titles[name] ?? `the output of \`cumetal ${name} --json\``,
        ...schema,
        $defs: usedDefinitions(schema),
      },
      undefined,
      2,
    )}\n`,
});

export const runSchema = page('run', outputs.run!);
export const buildSchema = page('build', outputs.build!);
export const checkSchema = page('check', outputs.check!);
export const analyzeSchema = page('analyze', outputs.analyze!);
export const inspectSchema = page('inspect', outputs.inspect!);
export const validateSchema = page('validate', outputs.validate!);
export const devicesSchema = page('devices', outputs.devices!);
export const targetsSchema = page('targets', outputs.targets!);
export const doctorSchema = page('doctor', outputs.doctor!);
export const explainSchema = page('explain', outputs.explain!);
export const diffSchema = page('diff', outputs.diff!);
export const benchSchema = page('bench', outputs.bench!);
export const tuneSchema = page('tune', outputs.tune!);
export const cacheSchema = page('cache', outputs.cache!);
export const profileSchema = page('profile', outputs.profile!);
export const traceSchema = page('trace', outputs.trace!);
