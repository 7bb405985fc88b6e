/** Whether a launch request suits its kernel and the device: the last border before a device is touched. */
import type { KernelReflection, ParamReflection } from '../air/abi.ts';
import { alignUp } from '../base/bytes.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { product } from '../base/dim3.ts';
import type { DeviceBuffer, DeviceInfo, DeviceLimits, LaunchArgument, LaunchRequest } from './device.ts';

/** What a device says of itself and of a buffer that it is given. */
export interface Judge {
  readonly limits: DeviceLimits;
  /** What a person would call the device: `the CPU device`. */
  readonly who: string;
  /** Most bytes of threadgroup memory for this kernel. */
  readonly maxSharedBytes: number;
  /** Whether launches can be watched and put in order. */
  readonly canWatch?: boolean;
  /** Why the buffer cannot be used, in words; nothing for one of the device's own that is there. */
  whyNot(buffer: DeviceBuffer): string | undefined;
}

/** The judge of requests for a GPU that finds its own buffers among others. */
export const judgeOfGpu = (
  { limits, name }: DeviceInfo,
  find: (buffer: DeviceBuffer) => { readonly isFree: boolean } | undefined,
): Judge => ({
  limits,
  who: name,
  maxSharedBytes: limits.maxThreadgroupBytes,
  whyNot(buffer) {
    const ours = find(buffer);
    if (!ours) return 'a buffer of another device';
    return ours.isFree ? 'a buffer that was freed' : undefined;
  },
});

/** Where the parts of dynamic shared memory start, from the start of the first, and how many bytes they take in all. */
export function sharedParts({ dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] }: LaunchRequest): {
  starts: number[];
  size: number;
} {
  const starts: number[] = [];
  let size = 0;
  for (const bytes of dynamicSharedParts) {
    starts.push(alignUp(size, 16));
    size = starts[starts.length - 1]! + bytes;
  }
  return { starts, size: Math.max(size, dynamicSharedBytes) };
}

const watches = ['sanitize', 'profile', 'trace', 'schedule'] as const;

/** Reports CM5011 to CM5013, CM5015, CM5021 to CM5024, CM5026 and CM5029. */
export function checkRequest(judge: Judge, kernel: KernelReflection, request: LaunchRequest, diagnostics: Diagnostics): boolean {
  const before = diagnostics.list.length;
  const { params, name } = kernel;
  checkShape(judge, request, kernel, diagnostics);
  const watch = judge.canWatch ? undefined : watches.find((each) => request[each] !== undefined);
  if (watch) diagnostics.report('CM5029', { kernel: name, what: `\`${watch}\``, who: judge.who });
  if (params.length !== request.args.length) {
    const names = params.map((param) => `\`${param.name}\``).join(', ');
    const count = (n: number): string => `${n} argument${n === 1 ? '' : 's'}`;
    diagnostics.report('CM5011', {
      kernel: name,
      wanted: count(params.length),
      names,
      given: `${count(request.args.length)} ${request.args.length === 1 ? 'is' : 'are'}`,
    });
  } else params.forEach((param, index) => void checkArgument(judge, name, param, index, request.args[index]!, diagnostics));
  return diagnostics.list.length === before;
}

const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < 2 ** 31;
const areCounts = (list: readonly number[]): boolean => list.every(isCount);

function checkShape(
  { limits, who, maxSharedBytes }: Judge,
  request: LaunchRequest,
  { name, maxThreads, staticSharedBytes, sharedArguments = 1 }: KernelReflection,
  diagnostics: Diagnostics,
): void {
  const { grid, block, dynamicSharedBytes, dynamicSharedParts = [dynamicSharedBytes] } = request;
  if (!areCounts(grid) || !areCounts(block) || !isCount(dynamicSharedBytes) || !areCounts(dynamicSharedParts)) {
    diagnostics.report('CM5024', { given: `grid ${grid.join(' x ')}, block ${block.join(' x ')}, shared ${dynamicSharedBytes}` });
    return;
  }
  const threads = product(block);
  const limit = Math.min(limits.maxThreadsPerThreadgroup, maxThreads ?? limits.maxThreadsPerThreadgroup);
  if (threads > limit) diagnostics.report('CM5021', { given: threads, limit, who: limit === maxThreads ? 'the kernel' : who });
  if (dynamicSharedParts.length !== sharedArguments)
    diagnostics.report('CM5026', { kernel: name, wanted: sharedArguments, given: dynamicSharedParts.length });
  const shared = staticSharedBytes + sharedParts(request).size;
  if (shared > maxSharedBytes) diagnostics.report('CM5022', { given: shared, limit: maxSharedBytes });
}

function checkArgument(
  judge: Judge,
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
  else if (arg.kind === 'buffer') {
    const why = judge.whyNot(arg.buffer);
    const { offset = 0, buffer } = arg;
    if (why) mismatch(why);
    // Metal takes no place behind the last byte, so that no device does.
    else if (offset !== 0 && !(Number.isInteger(offset) && offset > 0 && offset < buffer.size))
      diagnostics.report('CM5015', { index, name: param.name, kernel, offset, size: buffer.size });
  }
}
