/**
 * Pointers to buffers of the same launch: in the bytes of structs that are passed by value, in the initial contents of buffers, and as arguments
 * that lie within another.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { LaunchArgument } from '../device/device.ts';
import type { ArgumentSpec, PointerField } from './argument.ts';
import type { HostArgument } from './bind.ts';

/** Bytes of a pointer. */
const pointerBytes = 8;

/** The arguments that an argument points to. */
function targetsOf(spec: ArgumentSpec): readonly number[] {
  if (spec.kind === 'within') return [spec.argument];
  return 'pointers' in spec ? (spec.pointers ?? []).map(({ argument }) => argument) : [];
}

/**
 * The number of arguments after those of the parameters, if they are all buffers that another argument points to, and which the kernel reaches
 * through it; otherwise 0, so that the count of arguments is an error.
 */
export function reachedCount(args: readonly ArgumentSpec[], params: number): number {
  const reached = new Set(args.flatMap(targetsOf));
  const more = args.slice(params);
  return more.every((spec, i) => (spec.kind === 'buffer' || spec.kind === 'file') && reached.has(params + i)) ? more.length : 0;
}

interface About {
  readonly kernel: string;
  readonly args: readonly ArgumentSpec[];
}

/** The arguments with the addresses of buffers; those in buffers are put into the contents in `host`. Undefined after reporting CM5017. */
export function withPointers(
  args: readonly LaunchArgument[],
  host: readonly HostArgument[],
  { kernel, args: specs }: About,
  diagnostics: Diagnostics,
): readonly LaunchArgument[] | undefined {
  let isValid = true;
  const refuse = (index: number, { argument: target, offset }: PointerField, why: string): void => {
    diagnostics.report('CM5017', { index, kernel, target, offset, why });
    isValid = false;
  };
  const made = args.map((argument, index) => {
    const spec = specs[index];
    if (spec?.kind === 'within') {
      const target = args[spec.argument];
      const why = targetProblem(target, spec.argument, spec.offset);
      if (why === undefined && target?.kind === 'buffer') return { ...target, label: spec.label, offset: spec.offset };
      refuse(index, spec, why!);
      return argument;
    }
    const pointers = spec && 'pointers' in spec ? (spec.pointers ?? []) : [];
    const from = host[index];
    const bytes = from?.kind === 'buffer' ? from.buffer.bytes : argument.kind === 'bytes' ? argument.bytes.slice() : undefined;
    if (!bytes || pointers.length === 0) return argument;
    const what = argument.kind === 'bytes' ? 'the struct' : 'the buffer';
    putPointers({ what, bytes, pointers }, args, (field, why) => refuse(index, field, why));
    return argument.kind === 'bytes' ? { ...argument, bytes } : argument;
  });
  return isValid ? made : undefined;
}

interface Holder {
  /** For messages. */
  readonly what: string;
  readonly bytes: Uint8Array;
  readonly pointers: readonly PointerField[];
}

function putPointers(
  { what, bytes, pointers }: Holder,
  args: readonly LaunchArgument[],
  refuse: (field: PointerField, why: string) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const taken = new Set<number>();
  for (const field of pointers) {
    const { offset, argument, at = 0 } = field;
    const target = args[argument];
    const near = Array.from({ length: 2 * pointerBytes - 1 }, (_, i) => offset - pointerBytes + 1 + i);
    const isOutside = offset + pointerBytes > bytes.length;
    const why = isOutside ? `${what} has ${bytes.length} bytes, and a pointer has ${pointerBytes}` : targetProblem(target, argument, at);
    if (why !== undefined) refuse(field, why);
    else if (near.some((byte) => taken.has(byte))) refuse(field, 'it overlaps another pointer');
    else if (target?.kind === 'buffer') view.setBigUint64(offset, target.buffer.deviceAddress() + BigInt(at), true);
    taken.add(offset);
  }
}

function targetProblem(target: LaunchArgument | undefined, argument: number, at: number): string | undefined {
  if (!target) return 'the launch has no such argument';
  if (target.kind !== 'buffer') return `argument ${argument} is ${target.kind === 'null' ? 'null' : 'a value'}, not a buffer`;
  return at > target.buffer.size ? `argument ${argument} has ${target.buffer.size} bytes` : undefined;
}
