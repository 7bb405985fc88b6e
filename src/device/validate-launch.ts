/** Validation of a launch request against its kernel and the device. It is done once, before a device is touched, and in the same words on every device. */
import type { KernelReflection, ParamReflection } from '../air/abi.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import { groupProblem } from './cluster-groups.ts';
import type { DeviceBuffer, DeviceInfo, LaunchArgument, LaunchRequest } from './device.ts';
import { clusterOfLaunch, sharedParts } from './launch-shape.ts';

/** The device that a launch is validated for. */
export interface LaunchValidator {
  readonly info: DeviceInfo;
  /** Why a buffer cannot be used, as a noun phrase (`a buffer that was freed`). Without it, buffers are not checked. */
  bufferProblem?(buffer: DeviceBuffer): string | undefined;
}

/** A validator for a device that finds its own buffers by `find`. */
export const validatorOf = (
  info: DeviceInfo,
  find: (buffer: DeviceBuffer) => { readonly isFree: boolean } | undefined,
): LaunchValidator => ({
  info,
  bufferProblem(buffer) {
    const found = find(buffer);
    if (!found) return 'a buffer of another device';
    return found.isFree ? 'a buffer that was freed' : undefined;
  },
});

/** Whether a number of milliseconds is a time limit: finite and not negative; 0 is no limit. */
export const isTimeLimit = (ms: number): boolean => Number.isFinite(ms) && ms >= 0;

/** Returns whether the launch is valid. Reports CM5011 to CM5013, CM5015, CM5020 to CM5022, CM5024, CM5026, CM5029, CM5054 and CM5077. */
export function validateLaunch(
  validator: LaunchValidator,
  kernel: KernelReflection,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  const before = diagnostics.list.length;
  if (areCounts(request, diagnostics)) {
    checkBlock(validator.info, kernel, request.block, diagnostics);
    checkShared(validator.info, kernel, request, diagnostics);
    checkCluster(validator.info, kernel, request, diagnostics);
  }
  if (!isTimeLimit(request.timeoutMs)) diagnostics.report('CM5077', { given: String(request.timeoutMs) });
  checkObservers(validator.info, kernel, request, diagnostics);
  checkArguments(validator, kernel, request.args, diagnostics);
  return diagnostics.list.length === before;
}

const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < 2 ** 31;

function areCounts({ grid, block, dynamicSharedBytes, dynamicSharedParts = [] }: LaunchRequest, diagnostics: Diagnostics): boolean {
  if (grid.every(isCount) && block.every(isCount) && isCount(dynamicSharedBytes) && dynamicSharedParts.every(isCount)) return true;
  const shared = [dynamicSharedBytes, ...dynamicSharedParts].find((bytes) => !isCount(bytes)) ?? dynamicSharedBytes;
  diagnostics.report('CM5024', { given: `grid ${grid.join(' x ')}, block ${block.join(' x ')}, shared ${shared}` });
  return false;
}

function checkBlock(
  { limits, name: device }: DeviceInfo,
  { name, requiredThreads, maxThreads = Number.POSITIVE_INFINITY }: KernelReflection,
  block: LaunchRequest['block'],
  diagnostics: Diagnostics,
): void {
  if (requiredThreads?.some((n, axis) => n !== block[axis])) {
    diagnostics.report('CM5020', { kernel: name, wanted: requiredThreads.join(' x '), given: block.join(' x ') });
    return;
  }
  const given = product(block);
  const limit = Math.min(maxThreads, limits.maxThreadsPerThreadgroup);
  const who = limit === maxThreads ? `\`.maxntid\` of \`${name}\`` : device;
  if (given > limit) diagnostics.report('CM5021', { given, limit, who });
}

/** Most bytes of threadgroup memory: kernels that are compiled for the CPU device may take more than `limits`, which are those of Apple GPUs. */
export const maxSharedOf = ({ kind, limits }: DeviceInfo, { maxSharedBytes }: KernelReflection): number =>
  (kind === 'cpu' ? maxSharedBytes : undefined) ?? limits.maxThreadgroupBytes;

function checkShared(info: DeviceInfo, kernel: KernelReflection, request: LaunchRequest, diagnostics: Diagnostics): void {
  const { sharedArguments: wanted = 1, staticSharedBytes, name } = kernel;
  const given = request.dynamicSharedParts?.length ?? 1;
  if (given !== wanted) diagnostics.report('CM5026', { kernel: name, wanted, given });
  const bytes = staticSharedBytes + sharedParts(request).size;
  const limit = maxSharedOf(info, kernel);
  if (bytes > limit) diagnostics.report('CM5022', { given: bytes, limit });
}

/** Whether a device has what only the CPU device has, and a CUDA device whose driver says so. */
const canDo = ({ kind, properties }: DeviceInfo, what: 'clusterLaunch' | 'cooperativeLaunch'): boolean =>
  kind === 'cpu' || (kind === 'cuda' && properties?.[what] === 1);

/** The most blocks of a cluster. Source: CUDA C++ Programming Guide, "Thread Block Clusters"; 16 is that of an H100 with the attribute for it. */
export const maxClusterBlocks = 16;

function checkCluster(info: DeviceInfo, kernel: KernelReflection, request: LaunchRequest, diagnostics: Diagnostics): void {
  // Others run a kernel that needs clusters with a whole one as a block.
  const has = info.kind !== 'cuda' || canDo(info, 'clusterLaunch') || !clusterOfLaunch(kernel, request);
  const why = has ? (clusterProblem(kernel, request) ?? groupProblem(info, kernel, request)) : `${info.name} has no clusters`;
  if (why) diagnostics.report('CM5054', { kernel: kernel.name, why });
}

/** Why the blocks of a launch cannot run in its clusters. */
export function clusterProblem(kernel: KernelReflection, request: Pick<LaunchRequest, 'cluster' | 'grid'>): string | undefined {
  const { required, isExplicit, most = maxClusterBlocks } = kernel.cluster ?? {};
  const { cluster = required, grid } = request;
  const text = (dims: readonly number[]): string => dims.join(' x ');
  if (!cluster) return isExplicit ? 'the launch has to give the size of clusters (`.explicitcluster`)' : undefined;
  if (required?.some((n, axis) => n !== cluster[axis]))
    return `it requires clusters of ${text(required)} blocks (\`.reqnctapercluster\`), but the launch gives ${text(cluster)}`;
  if (!cluster.every((n) => Number.isInteger(n) && n > 0)) return `${text(cluster)} is no size of a cluster`;
  const limit = Math.min(most, maxClusterBlocks);
  if (product(cluster) > limit) return `clusters have at most ${limit} ${limit === 1 ? 'block' : 'blocks'}, and not ${text(cluster)}`;
  if (grid.some((n, axis) => n % cluster[axis]! !== 0))
    return `the grid of ${text(grid)} blocks is not a multiple of clusters of ${text(cluster)}`;
  return undefined;
}

/** Most threads of a grid with barriers that the sanitizer has numbers for. */
const maxWatchedThreads = 65_536;

const observers = ['sanitize', 'profile', 'trace', 'schedule'] as const;

/**
 * Whether the blocks of a grid can wait for each other. Those of OpenCL leave the kernel meanwhile. Metal promises nothing, but a core runs a block at
 * a time at least, so that as many blocks as cores run together.
 */
function runsTogether(info: DeviceInfo, blocks: number): boolean {
  if (info.kind === 'metal') return blocks <= Math.max(1, Number.parseInt(String(info.properties?.multiProcessorCount), 10) || 0);
  return info.kind === 'opencl' || canDo(info, 'cooperativeLaunch');
}

/** Only the CPU device observes launches. */
function checkObservers(info: DeviceInfo, kernel: KernelReflection, request: LaunchRequest, diagnostics: Diagnostics): void {
  const { kind, name } = info;
  const { cooperative = false, grid } = request;
  // Observers follow one block after the other.
  const uses = (which: 'grid' | 'cluster'): boolean => kernel.services?.some(({ service }) => service === which) === true;
  const isInCluster = uses('cluster') && product(clusterOfLaunch(kernel, request) ?? [1, 1, 1]) > 1;
  const isGroup = kernel.cluster?.group !== undefined;
  const isGrid = uses('grid') && product(grid) > 1;
  const isTogether = isGrid || isInCluster || isGroup;
  // The sanitizer takes turns with the blocks of a cluster or of a grid.
  const isTaken = isGrid ? !isInCluster && product(grid) * product(request.block) <= maxWatchedThreads : isInCluster;
  const taken = isTaken ? 'sanitize' : undefined;
  const wanted = kind === 'cpu' && !isTogether ? undefined : observers.find((each) => request[each] !== undefined && each !== taken);
  const isTooLarge = wanted === 'sanitize' && isGrid && !isInCluster;
  const ofGrid = isTooLarge ? `a grid with barriers of more than ${maxWatchedThreads} threads` : 'a kernel with barriers of the grid';
  if (wanted && kind === 'cpu')
    diagnostics.report('CM5029', {
      kernel: kernel.name,
      what: `\`${wanted}\``,
      who: isInCluster || isGroup ? 'a kernel with clusters of blocks' : ofGrid,
    });
  else if (cooperative && !runsTogether(info, product(grid)))
    diagnostics.report('CM5029', {
      kernel: kernel.name,
      what: '`cooperative`',
      who: kind === 'metal' ? `${name} for more blocks than cores` : name,
    });
  else if (wanted) diagnostics.report('CM5029', { kernel: kernel.name, what: `\`${wanted}\``, who: name });
}

function checkArguments(
  validator: LaunchValidator,
  kernel: KernelReflection,
  args: readonly LaunchArgument[],
  diagnostics: Diagnostics,
): void {
  const { params, name } = kernel;
  if (params.length === args.length) {
    const takesAddresses = mayPassAddresses(kernel);
    const check = (param: ParamReflection, index: number): void =>
      checkArgument(validator, { kernel: name, param, index, takesAddresses }, args[index]!, diagnostics);
    params.forEach(check);
    return;
  }
  const count = (n: number): string => `${n} argument${n === 1 ? '' : 's'}`;
  diagnostics.report(
    'CM5011',
    {
      kernel: name,
      wanted: count(params.length),
      names: params.map((param) => `\`${param.name}\``).join(', ') || 'none',
      given: `${count(args.length)} ${args.length === 1 ? 'is' : 'are'}`,
    },
    { notes: params.map((param, index) => `parameter ${index} \`${param.name}\` is ${describeParameter(param)}`) },
  );
}

/**
 * Whether a kernel only passes an address on: one that launches kernels has pointers that it does not follow itself, which are 64 bits by value as far
 * as can be seen. A buffer is an argument for them as well.
 */
const mayPassAddresses = ({ services }: KernelReflection): boolean => services?.some(({ service }) => service === 'launches') === true;

/** The parameter that an argument is for. */
interface Target {
  readonly kernel: string;
  readonly param: ParamReflection;
  readonly index: number;
  readonly takesAddresses: boolean;
}

function checkArgument(
  validator: LaunchValidator,
  { kernel, param, index, takesAddresses }: Target,
  arg: LaunchArgument,
  diagnostics: Diagnostics,
): void {
  const common = { index, name: param.name, kernel };
  const argument = arg.label === undefined ? 'the argument' : `argument \`${arg.label}\``;
  const isAddress = takesAddresses && param.kind === 'bytes' && param.size === 8 && arg.kind === 'buffer';
  const problem = isAddress ? validator.bufferProblem?.(arg.buffer) : kindProblem(validator, param, arg);
  if (problem) diagnostics.report('CM5012', { ...common, argument, wanted: describeParameter(param), given: problem });
  else if (arg.kind === 'null') return;
  else if (arg.kind === 'bytes') {
    const given = arg.bytes.length;
    if (given !== (param.kind === 'buffer' ? 8 : param.size))
      diagnostics.report('CM5013', { ...common, argument, wanted: param.size, given });
  } else {
    const { offset = 0, buffer, isOutside = false } = arg;
    // Metal refuses an offset behind the last byte, so every device does where nothing else is said.
    const isInside = offset === 0 || (Number.isInteger(offset) && offset > 0 && offset < buffer.size);
    const isAllowed = isOutside && Number.isInteger(offset) && (validator.info.kind === 'cpu' || validator.info.kind === 'cuda');
    if (!isInside && !isAllowed) diagnostics.report('CM5015', { ...common, offset, size: buffer.size });
  }
}

/** What is wrong with the kind of an argument, as a noun phrase that says what the argument is. */
function kindProblem({ bufferProblem, info }: LaunchValidator, param: ParamReflection, arg: LaunchArgument): string | undefined {
  if (param.isUnused && arg.kind !== 'bytes') return arg.kind === 'buffer' ? bufferProblem?.(arg.buffer) : undefined;
  // Metal defines no address for an argument without a buffer, so that only a pointer that is never followed may be null there.
  if (arg.kind === 'null')
    return param.kind === 'buffer' && (info.kind !== 'metal' || param.element === undefined) ? undefined : nullOn(info, param);
  if (arg.kind === 'bytes' && arg.isHandle && info.kind === 'cuda') return undefined;
  if (arg.kind !== param.kind) return arg.kind === 'buffer' ? 'a buffer' : `${arg.bytes.length} bytes by value`;
  return arg.kind === 'buffer' ? bufferProblem?.(arg.buffer) : undefined;
}

const nullOn = ({ name }: DeviceInfo, { kind }: ParamReflection): string =>
  kind === 'buffer' ? `null, which ${name} cannot give to a kernel that reads or writes there` : 'null';

/** `a pointer to f32`, `4 bytes by value (u32)`. */
function describeParameter({ kind, size, element }: ParamReflection): string {
  if (kind === 'buffer') return element ? `a pointer to ${element}` : 'a pointer';
  return `${size} bytes by value${element ? ` (${element})` : ''}`;
}
