/** Kernels as AIR text, as other compilers emit it, packed into metallibs by LLVM and our container writer. */
import { targets } from '../../src/air/index.ts';
import { type LibraryFunction, writeMetallib } from '../../src/metallib/index.ts';
import { assembled, scratch } from './llvm.ts';

const keep = scratch();

const head = `target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
`;

export interface AirParam {
  /** LLVM type, such as `i32 addrspace(1)*` or `<3 x i32>`. */
  readonly type: string;
  /** Kind in the metadata, such as `air.buffer` or `air.threads_per_grid`. */
  readonly kind: string;
}

export const buffer: AirParam = { type: 'i32 addrspace(1)*', kind: 'air.buffer' };

/** A module with the kernel `k`: parameters are `%0` and so on, the body starts at the block `entry`; `more` is added at module level. */
export function airModule(params: readonly AirParam[], body: string, more = ''): string {
  const types = params.map(({ type }) => type).join(', ');
  // Threadgroup arguments have slots of their own.
  const slots = { device: 0, threadgroup: 0 };
  const nodes = params.map(({ type, kind }, i) => {
    const space = Number(/addrspace\((\d)\)\*$/.exec(type)?.[1] ?? 1);
    return kind === 'air.buffer'
      ? `!${10 + i} = !{i32 ${i}, !"air.buffer", !"air.location_index", i32 ${slots[space === 3 ? 'threadgroup' : 'device']++}, i32 1, !"air.read_write", !"air.address_space", i32 ${space}, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"p${i}"}`
      : `!${10 + i} = !{i32 ${i}, !"${kind}", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"uint", !"air.arg_name", !"p${i}"}`;
  });
  return `${head}
define void @k(${params.map(({ type }, i) => `${type} %p${i}`).join(', ')}) {
entry:
${body}
  ret void
}
${more}
!air.version = !{!0}
!air.language_version = !{!1}
!air.kernel = !{!2}
!0 = !{i32 2, i32 6, i32 0}
!1 = !{!"Metal", i32 3, i32 1, i32 0}
!2 = !{void (${types})* @k, !3, !4}
!3 = !{}
!4 = !{${params.map((_, i) => `!${10 + i}`).join(', ')}}
${nodes.join('\n')}
`;
}

/** LLVM's bitcode of a text. */
export const airBitcode = (text: string): Uint8Array => assembled(keep('kernel.ll', new TextEncoder().encode(text)));

/** A metallib with the function `k` and others after it. */
export function airLibrary(
  text: string,
  more: Partial<LibraryFunction> = {},
  others: readonly Pick<LibraryFunction, 'name' | 'bitcode'>[] = [],
): Uint8Array {
  const common = { type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1] } as const;
  return writeMetallib({
    version: targets.macos14.container,
    platform: 'macos',
    os: targets.macos14.os,
    functions: [{ ...common, name: 'k', bitcode: airBitcode(text), ...more }, ...others.map((other) => ({ ...common, ...other }))],
  });
}
