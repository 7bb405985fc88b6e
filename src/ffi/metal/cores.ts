/**
 * The number of GPU cores of a Mac. Metal does not report it; the IOKit registry does, through C functions.
 * Source: IOKit's and CoreFoundation's public headers; `ioreg -rc AGXAccelerator -k gpu-core-count` shows the same number.
 */
import { bunFfi } from '../bun.ts';
import { cText, type Functions } from '../types.ts';

/** Library paths; both may be the same library. */
export interface CoreLibraries {
  readonly ioKit: string;
  readonly coreFoundation: string;
}

const macCoreLibraries: CoreLibraries = {
  ioKit: '/System/Library/Frameworks/IOKit.framework/IOKit',
  coreFoundation: '/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation',
};

const ioKitTypes = {
  IOServiceMatching: { args: ['ptr'], returns: 'ptr' },
  IOServiceGetMatchingService: { args: ['u32', 'ptr'], returns: 'u32' },
  IORegistryEntrySearchCFProperty: { args: ['u32', 'ptr', 'ptr', 'ptr', 'u32'], returns: 'ptr' },
  IOObjectRelease: { args: ['u32'], returns: 'i32' },
} as const;

const coreFoundationTypes = {
  CFStringCreateWithCString: { args: ['ptr', 'ptr', 'u32'], returns: 'ptr' },
  CFNumberGetValue: { args: ['ptr', 'i64', 'ptr'], returns: 'u8' },
  CFRelease: { args: ['ptr'], returns: 'void' },
} as const;

/** kCFStringEncodingUTF8, kCFNumberSInt64Type, and kIORegistryIterateRecursively with kIORegistryIterateParents. */
const [utf8, signed64, inChildrenAndParents] = [0x0800_0100, 4, 3];

/** The number of GPU cores. Undefined on other systems, and if the registry does not have it, as in virtual machines. */
export function gpuCoreCount(libraries?: CoreLibraries): number | undefined {
  if (!libraries && process.platform !== 'darwin') return undefined;
  const ffi = bunFfi();
  if (!ffi) return undefined;
  const { ioKit, coreFoundation } = libraries ?? macCoreLibraries;
  try {
    const io = (ffi.dlopen(ioKit, ioKitTypes as never) as { symbols: unknown }).symbols as Functions<typeof ioKitTypes>;
    const cf = (ffi.dlopen(coreFoundation, coreFoundationTypes as never) as { symbols: unknown }).symbols as Functions<
      typeof coreFoundationTypes
    >;
    return readCount(io, cf);
  } catch {
    return undefined;
  }
}

function readCount(io: Functions<typeof ioKitTypes>, cf: Functions<typeof coreFoundationTypes>): number | undefined {
  // The call takes over the reference to the dictionary.
  const service = io.IOServiceGetMatchingService(0, io.IOServiceMatching(cText('AGXAccelerator')));
  if (service === 0) return undefined;
  const key = cf.CFStringCreateWithCString(null, cText('gpu-core-count'), utf8);
  const found = key && io.IORegistryEntrySearchCFProperty(service, cText('IOService'), key, null, inChildrenAndParents);
  const out = new BigUint64Array(1);
  const isNumber = found ? cf.CFNumberGetValue(found, signed64, out) !== 0 : false;
  for (const each of [found, key]) if (each) cf.CFRelease(each);
  io.IOObjectRelease(service);
  return isNumber && out[0]! > 0n && out[0]! < 4096n ? Number(out[0]) : undefined;
}
