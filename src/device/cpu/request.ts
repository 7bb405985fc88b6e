/** Whether a launch request suits its kernel and the device: the last border before memory is touched. */
import type { KernelReflection, ParamReflection } from '../../air/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceBuffer, DeviceLimits, LaunchArgument, LaunchRequest } from '../device.ts';
import type { LoadedKernel } from './library.ts';
import type { DeviceMemory } from './memory.ts';

/** A buffer of the CPU device. */
export interface CpuBuffer extends DeviceBuffer {
  readonly owner: DeviceMemory;
  readonly address: number;
  readonly isFree: boolean;
}

const isCpuBuffer = (buffer: DeviceBuffer): buffer is CpuBuffer => 'owner' in buffer && 'address' in buffer;

/** Where a buffer of the CPU device starts. */
export const addressOf = (buffer: DeviceBuffer): number | undefined => (isCpuBuffer(buffer) ? buffer.address : undefined);

/** Where the parts of dynamic shared memory start, from the start of the first, and how many bytes they take in all. */
export function sharedParts({ dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] }: LaunchRequest): {
  starts: number[];
  size: number;
} {
  const starts: number[] = [];
  let size = 0;
  for (const bytes of dynamicSharedParts) {
    starts.push(Math.ceil(size / 16) * 16);
    size = starts[starts.length - 1]! + bytes;
  }
  return { starts, size: Math.max(size, dynamicSharedBytes) };
}

/** Reports CM5011 to CM5013, CM5021 to CM5024 and CM5026. */
export function checkRequest(
  memory: DeviceMemory,
  limits: DeviceLimits,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): boolean {
  const before = diagnostics.list.length;
  const { params, name } = kernel.reflection;
  checkShape(limits, request, kernel.reflection, diagnostics);
  if (params.length !== request.args.length) {
    const names = params.map((param) => `\`${param.name}\``).join(', ');
    const count = (n: number): string => `${n} argument${n === 1 ? '' : 's'}`;
    diagnostics.report('CM5011', {
      kernel: name,
      wanted: count(params.length),
      names,
      given: `${count(request.args.length)} ${request.args.length === 1 ? 'is' : 'are'}`,
    });
  } else params.forEach((param, index) => void checkArgument(memory, name, param, index, request.args[index]!, diagnostics));
  return diagnostics.list.length === before;
}

function checkShape(
  limits: DeviceLimits,
  request: LaunchRequest,
  { name, maxThreads, staticSharedBytes, maxSharedBytes, sharedArguments = 1 }: KernelReflection,
  diagnostics: Diagnostics,
): void {
  const { grid, block, dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] } = request;
  const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < 2 ** 31;
  if (![...grid, ...block, dynamicSharedBytes, ...dynamicSharedParts].every(isCount)) {
    diagnostics.report('CM5024', { given: `grid ${grid.join(' x ')}, block ${block.join(' x ')}, shared ${dynamicSharedBytes}` });
    return;
  }
  const threads = block[0] * block[1] * block[2];
  const limit = Math.min(limits.maxThreadsPerThreadgroup, maxThreads ?? limits.maxThreadsPerThreadgroup);
  if (threads > limit) diagnostics.report('CM5021', { given: threads, limit, who: limit === maxThreads ? 'the kernel' : 'the CPU device' });
  if (dynamicSharedParts.length !== sharedArguments)
    diagnostics.report('CM5026', { kernel: name, wanted: sharedArguments, given: dynamicSharedParts.length });
  const shared = staticSharedBytes + sharedParts(request).size;
  const most = maxSharedBytes ?? limits.maxThreadgroupBytes;
  if (shared > most) diagnostics.report('CM5022', { given: shared, limit: most });
}

function checkArgument(
  memory: DeviceMemory,
  kernel: string,
  param: ParamReflection,
  index: number,
  arg: LaunchArgument,
  diagnostics: Diagnostics,
): void {
  const spec = arg.kind;
  const wanted = param.kind === 'buffer' ? 'a buffer' : `${param.size} bytes by value`;
  const mismatch = (given: string): void => diagnostics.report('CM5012', { index, name: param.name, kernel, wanted, spec, given });
  if (arg.kind !== param.kind) mismatch(arg.kind === 'buffer' ? 'a buffer' : 'bytes by value');
  else if (arg.kind === 'bytes' && arg.bytes.length !== param.size)
    diagnostics.report('CM5013', { index, name: param.name, kernel, wanted: param.size, spec, given: arg.bytes.length });
  else if (arg.kind === 'bytes') return;
  else if (!isCpuBuffer(arg.buffer) || arg.buffer.owner !== memory) mismatch('a buffer of another device');
  else if (arg.buffer.isFree) mismatch('a buffer that was freed');
}
