/** Structs that are passed by value and contain pointers: the addresses of buffers of the same launch are put into their bytes. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { LaunchArgument } from '../device/device.ts';
import type { ArgumentSpec, PointerField } from './argument.ts';

/** Bytes of a pointer. */
const pointerBytes = 8;

/**
 * The number of arguments after those of the parameters, if they are all buffers that a struct points to, and which the kernel reaches
 * through it; otherwise 0, so that the count of arguments is an error.
 */
export function reachedCount(args: readonly ArgumentSpec[], params: number): number {
  const reached = new Set(args.flatMap((spec) => (spec.kind === 'bytes' ? (spec.pointers ?? []) : [])).map(({ argument }) => argument));
  const more = args.slice(params);
  return more.every((spec, i) => (spec.kind === 'buffer' || spec.kind === 'file') && reached.has(params + i)) ? more.length : 0;
}

interface About {
  readonly kernel: string;
  readonly args: readonly ArgumentSpec[];
}

/** The arguments with the addresses of buffers in their structs; undefined after reporting CM5017. */
export function withPointers(
  args: readonly LaunchArgument[],
  { kernel, args: specs }: About,
  diagnostics: Diagnostics,
): readonly LaunchArgument[] | undefined {
  let isValid = true;
  const made = args.map((argument, index) => {
    const spec = specs[index];
    const pointers = spec?.kind === 'bytes' ? (spec.pointers ?? []) : [];
    if (argument.kind !== 'bytes' || pointers.length === 0) return argument;
    const bytes = argument.bytes.slice();
    const view = new DataView(bytes.buffer);
    for (const field of pointers) {
      const target = args[field.argument];
      const why = problemOf(field, target, bytes.length, pointers);
      if (why === undefined) view.setBigUint64(field.offset, (target as LaunchArgument & { kind: 'buffer' }).buffer.deviceAddress(), true);
      else diagnostics.report('CM5017', { index, kernel, target: field.argument, offset: field.offset, why });
      isValid &&= why === undefined;
    }
    return { ...argument, bytes };
  });
  return isValid ? made : undefined;
}

function problemOf(
  field: PointerField,
  target: LaunchArgument | undefined,
  size: number,
  all: readonly PointerField[],
): string | undefined {
  if (!target) return 'the launch has no such argument';
  if (target.kind !== 'buffer') return `argument ${field.argument} is ${target.kind === 'null' ? 'null' : 'a value'}, not a buffer`;
  if (field.offset + pointerBytes > size) return `the struct has ${size} bytes, and a pointer has ${pointerBytes}`;
  const overlaps = all.some((other) => other !== field && Math.abs(other.offset - field.offset) < pointerBytes);
  return overlaps ? 'it overlaps another pointer' : undefined;
}
