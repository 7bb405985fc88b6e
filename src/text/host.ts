/** Code of hosts that launch kernels with Metal, in Swift and in Objective-C: the pipeline of a kernel, and a launch with its parameters in their slots. */
import type { KernelReflection, ParamReflection } from '../air/index.ts';
import { gridWorkspaceBytes, lockTableBytes, printBufferBytes, type Service } from '../ir/index.ts';
import { newLines } from './lines.ts';

export type HostLanguage = 'swift' | 'objc';

/** A kernel with the initial bytes of its module's variables. */
export interface HostKernel {
  readonly reflection: KernelReflection;
  readonly variables: Uint8Array | undefined;
}

/** A parameter of a launch: what the caller gives, and how it is bound. */
interface HostParam {
  readonly name: string;
  readonly slot: number;
  /** Bytes from the start of the slot, in a slot of several values. */
  readonly offset: number | undefined;
  readonly kind: 'buffer' | 'scalar' | 'bytes';
  readonly size: number;
  readonly element: string | undefined;
  /** What the caller has to put into a buffer. */
  readonly note: string | undefined;
}

const words: Readonly<Record<HostLanguage, ReadonlySet<string>>> = {
  swift: new Set(
    'in inout is as let var func for if else while repeat switch case default return where self init encoder grid block sharedBytes values'.split(
      ' ',
    ),
  ),
  objc: new Set(
    'int char float double short long for if else while do switch case default return id in out self encoder pipeline grid block shared_bytes values'.split(
      ' ',
    ),
  ),
};

function hostParams({ reflection }: HostKernel, language: HostLanguage): HostParam[] {
  const taken = new Set(words[language]);
  const unique = (wanted: string): string => {
    const plain = wanted.startsWith(`${reflection.name}_param_`) ? wanted.slice(reflection.name.length + 1) : wanted;
    const word = plain.replaceAll(/\W+/g, '_').replace(/^(?=\d)|^$/, 'value_');
    let name = word;
    for (let i = 1; taken.has(name); i++) name = `${word}_${i}`;
    taken.add(name);
    return name;
  };
  const own = reflection.params.map((param): HostParam => {
    const { slot, size, offset } = param;
    return { name: unique(param.name), slot, offset, kind: kindOf(param), size, element: param.element, note: undefined };
  });
  const hidden = (slot: number, name: string, note: string): HostParam => ({
    name: unique(name),
    slot,
    offset: undefined,
    kind: 'buffer',
    size: 0,
    element: undefined,
    note,
  });
  const { memory, faults, printf, locks, services = [] } = reflection;
  return [
    ...own,
    ...(memory ? [hidden(memory.slot, 'variables', `${memory.size} bytes, the variables of the module, which outlive launches`)] : []),
    ...(faults ? [hidden(faults.slot, 'faults', `4 bytes of zeros; then 0, or the number of a reason: ${faults.texts.join('; ')}`)] : []),
    ...(printf
      ? [
          hidden(
            printf.slot,
            'printed',
            `${printBufferBytes} bytes of zeros but for the first word, their number of words behind three; then records (docs/abi.md)`,
          ),
        ]
      : []),
    ...(locks ? [hidden(locks.slot, 'locks', `${lockTableBytes} bytes of zeros`)] : []),
    ...services.map(({ service, slot }) => hidden(slot, service, serviceNotes[service])),
  ];
}

/** What the memory of each service is. */
const serviceNotes: Readonly<Record<Service, string>> = {
  grid: `${gridWorkspaceBytes} bytes of zeros`,
  cluster: 'the memory of clusters, which the CPU device supplies',
  group: `words: blocks of a cluster along x, y and z; 1 if the launch has clusters; bytes of shared memory of a block; threads of a block along x, y and z. A threadgroup is a whole cluster, in a row, with the shared memory of its blocks`,
  alone: 'nothing',
  heap: 'the heap, zeros but for its bytes in the 64 bits at byte 8, which outlives launches',
  launches: 'a table of kernels, and notes of what the kernel launches (docs/text.md)',
  stack: 'a word: the bytes of the stack of a thread',
};

const kindOf = ({ kind, element }: ParamReflection): HostParam['kind'] =>
  kind === 'buffer' ? 'buffer' : element === undefined ? 'bytes' : 'scalar';

const types: Readonly<Record<HostLanguage, Readonly<Record<string, string>>>> = {
  swift: {
    u8: 'UInt8',
    i8: 'Int8',
    u16: 'UInt16',
    i16: 'Int16',
    f16: 'Float16',
    bf16: 'UInt16',
    u32: 'UInt32',
    i32: 'Int32',
    f32: 'Float',
    u64: 'UInt64',
    i64: 'Int64',
    f64: 'Double',
  },
  objc: {
    u8: 'uint8_t',
    i8: 'int8_t',
    u16: 'uint16_t',
    i16: 'int16_t',
    f16: '_Float16',
    bf16: 'uint16_t',
    u32: 'uint32_t',
    i32: 'int32_t',
    f32: 'float',
    u64: 'uint64_t',
    i64: 'int64_t',
    f64: 'double',
  },
};

/** The limits of a block, as a comment. */
function limitsOf({ requiredThreads, maxThreads }: KernelReflection): string | undefined {
  if (requiredThreads) return `A block has ${requiredThreads.join(' x ')} threads.`;
  return maxThreads === undefined ? undefined : `A block has at most ${maxThreads} threads.`;
}

/** Comments about a launch: its block, its buffers. */
function remarks({ reflection }: HostKernel, params: readonly HostParam[]): string[] {
  const limits = limitsOf(reflection);
  return [...(limits ? [limits] : []), ...params.flatMap(({ name, note }) => (note ? [`${name}: ${note}`] : []))];
}

/** Values that share a slot. */
const packedOf = (params: readonly HostParam[]): HostParam[] => params.filter(({ offset }) => offset !== undefined);
const packedBytes = (packed: readonly HostParam[]): number => Math.max(0, ...packed.map(({ offset = 0, size }) => offset + size));

function swiftKernel(kernel: HostKernel): string {
  const { reflection, variables } = kernel;
  const { name, usesDynamicShared } = reflection;
  const params = hostParams(kernel, 'swift');
  const packed = packedOf(params);
  const lines = newLines();
  const type = `${name.replaceAll(/\W/g, '_').replace(/^./, (first) => first.toUpperCase())}Kernel`;
  const declared = params.flatMap((param) => {
    if (param.kind === 'buffer') return [`${param.name}: MTLBuffer`, ...(param.note ? [] : [`${param.name}Offset: Int = 0`])];
    return [`${param.name}: ${param.kind === 'scalar' ? types.swift[param.element!] : '[UInt8]'}`];
  });
  const bind = ({ name: own, slot, kind, size, offset, note }: HostParam): string[] => {
    if (kind === 'buffer') return [`encoder.setBuffer(${own}, offset: ${note ? 0 : `${own}Offset`}, index: ${slot})`];
    const check = kind === 'bytes' ? [`precondition(${own}.count == ${size})`] : [`var ${own} = ${own}`];
    if (offset !== undefined)
      return kind === 'bytes'
        ? [...check, `values.replaceSubrange(${offset}..<${offset + size}, with: ${own})`]
        : [...check, `withUnsafeBytes(of: &${own}) { values.replaceSubrange(${offset}..<${offset + size}, with: $0) }`];
    return [
      ...check,
      kind === 'bytes'
        ? `encoder.setBytes(${own}, length: ${size}, index: ${slot})`
        : `encoder.setBytes(&${own}, length: ${size}, index: ${slot})`,
    ];
  };
  lines.add(`/// The kernel \`${name}\`.`);
  lines.add(`public struct ${type} {`);
  lines.indent(() => {
    lines.add('public let pipeline: MTLComputePipelineState');
    if (variables)
      lines.add(
        `/// What \`variables\` holds at first, in Base64.\n  public static let initialVariables = "${Buffer.from(variables).toString('base64')}"`,
      );
    lines.add('');
    lines.add('public init(library: MTLLibrary) throws {');
    lines.indent(() => {
      lines.add(`guard let function = library.makeFunction(name: "${name}") else {`);
      lines.indent(() =>
        lines.add(`throw NSError(domain: "${name}", code: 0, userInfo: [NSLocalizedDescriptionKey: "the library has no kernel ${name}"])`),
      );
      lines.add('}');
      lines.add('pipeline = try library.device.makeComputePipelineState(function: function)');
    });
    lines.add('}');
    lines.add('');
    lines.add('/// Encodes a launch of `grid` blocks of `block` threads.');
    for (const remark of remarks(kernel, params)) lines.add(`/// ${remark}`);
    const shared = usesDynamicShared ? ['sharedBytes: Int'] : [];
    lines.add(
      `public func encode(to encoder: MTLComputeCommandEncoder, grid: MTLSize, block: MTLSize${['', ...shared, ...declared].join(', ')}) {`,
    );
    lines.indent(() => {
      lines.add('encoder.setComputePipelineState(pipeline)');
      if (packed.length > 0) lines.add(`var values = [UInt8](repeating: 0, count: ${packedBytes(packed)})`);
      for (const param of params) for (const line of bind(param)) lines.add(line);
      if (packed.length > 0) lines.add(`encoder.setBytes(values, length: values.count, index: ${packed[0]!.slot})`);
      if (usesDynamicShared) lines.add('encoder.setThreadgroupMemoryLength((sharedBytes + 15) / 16 * 16, index: 0)');
      lines.add('encoder.dispatchThreadgroups(grid, threadsPerThreadgroup: block)');
    });
    lines.add('}');
  });
  lines.add('}');
  return lines.text();
}

function objcKernel(kernel: HostKernel): string {
  const { reflection, variables } = kernel;
  const { name, usesDynamicShared } = reflection;
  const params = hostParams(kernel, 'objc');
  const packed = packedOf(params);
  const lines = newLines();
  const word = name.replaceAll(/\W/g, '_');
  const declared = params.flatMap((param) => {
    if (param.kind === 'buffer') return [`id<MTLBuffer> ${param.name}`, ...(param.note ? [] : [`NSUInteger ${param.name}_offset`])];
    return [param.kind === 'scalar' ? `${types.objc[param.element!]} ${param.name}` : `const void *${param.name}`];
  });
  const bind = ({ name: own, slot, kind, size, offset, note }: HostParam): string => {
    if (kind === 'buffer') return `[encoder setBuffer:${own} offset:${note ? 0 : `${own}_offset`} atIndex:${slot}];`;
    const from = kind === 'scalar' ? `&${own}` : own;
    return offset === undefined
      ? `[encoder setBytes:${from} length:${size} atIndex:${slot}];`
      : `memcpy(values + ${offset}, ${from}, ${size});`;
  };
  if (variables)
    lines.add(
      `/* What \`variables\` of ${word} holds at first, in Base64. */\nstatic const char *const ${word}_initial_variables = "${Buffer.from(variables).toString('base64')}";\n`,
    );
  lines.add(`/* The pipeline of the kernel \`${name}\`; nil with an error. */`);
  lines.add(`static inline id<MTLComputePipelineState> ${word}_pipeline(id<MTLLibrary> library, NSError **error) {`);
  lines.indent(() => {
    lines.add(`id<MTLFunction> function = [library newFunctionWithName:@"${name}"];`);
    lines.add('return function ? [library.device newComputePipelineStateWithFunction:function error:error] : nil;');
  });
  lines.add('}');
  lines.add('');
  const about = ['Encodes a launch of `grid` blocks of `block` threads.', ...remarks(kernel, params)].map((remark) =>
    remark.replaceAll('*/', '* /'),
  );
  lines.add(`/* ${about.join('\n   ')} */`);
  const shared = usesDynamicShared ? ['NSUInteger shared_bytes'] : [];
  const first = ['id<MTLComputeCommandEncoder> encoder', 'id<MTLComputePipelineState> pipeline', 'MTLSize grid', 'MTLSize block'];
  lines.add(`static inline void ${word}_encode(${[...first, ...shared, ...declared].join(', ')}) {`);
  lines.indent(() => {
    lines.add('[encoder setComputePipelineState:pipeline];');
    if (packed.length > 0) lines.add(`unsigned char values[${packedBytes(packed)}] = {0};`);
    for (const param of params) lines.add(bind(param));
    if (packed.length > 0) lines.add(`[encoder setBytes:values length:sizeof values atIndex:${packed[0]!.slot}];`);
    if (usesDynamicShared) lines.add('[encoder setThreadgroupMemoryLength:(shared_bytes + 15) / 16 * 16 atIndex:0];');
    lines.add('[encoder dispatchThreadgroups:grid threadsPerThreadgroup:block];');
  });
  lines.add('}');
  return lines.text();
}

/** A file with the launches of kernels. */
export function hostFile(kernels: readonly HostKernel[], language: HostLanguage): string {
  const head =
    language === 'swift'
      ? '// Launches of kernels with Metal, written by cumetal.\nimport Foundation\nimport Metal\n'
      : '/* Launches of kernels with Metal, written by cumetal. */\n#import <Foundation/Foundation.h>\n#import <Metal/Metal.h>\n#include <string.h>\n';
  return [head, ...kernels.map((kernel) => (language === 'swift' ? swiftKernel(kernel) : objcKernel(kernel)))].join('\n');
}
