/**
 * Binding: the arguments of a launch from their specifications. Files are read and buffers filled on the host. Whether the
 * arguments suit the kernel is checked by the device (`src/device/validate-launch.ts`).
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { LaunchArgument } from '../device/device.ts';
import type { ArgumentSpec } from './argument.ts';
import { type Contents, readContents } from './contents.ts';
import { type ElementType, elements, encodeValue, type Kernel } from './element.ts';
import { type Io, readBytes } from './io.ts';
import type { FullPlan } from './plan.ts';
import { initialContents } from './rand.ts';

/** An argument before the device has memory for it: a buffer is its initial contents. */
export type HostArgument = LaunchArgument<Contents>;

/** One argument per specification; undefined after reporting a file that cannot be read, or CM5016. Warns with CM5014. */
export function bindArguments({ args }: FullPlan, kernel: Kernel, io: Io, diagnostics: Diagnostics): HostArgument[] | undefined {
  const bound = args.map((spec, index) => {
    const argument = bindArgument(spec, io, diagnostics);
    const isNumber = argument?.kind !== 'bytes' || isNumberKind(spec, argument.bytes.length, kernel, index, diagnostics);
    return isNumber ? argument : undefined;
  });
  return bound.every((argument) => argument !== undefined) ? bound : undefined;
}

function bindArgument(spec: ArgumentSpec, io: Io, diagnostics: Diagnostics): HostArgument | undefined {
  const { label } = spec;
  switch (spec.kind) {
    case 'buffer': {
      const { element, shape, init } = spec;
      return { label, kind: 'buffer', buffer: { element, shape, bytes: initialContents(element, shape, init) } };
    }
    case 'file': {
      const buffer = readContents(io, spec.path, spec, diagnostics);
      return buffer && { label, kind: 'buffer', buffer };
    }
    case 'scalar':
      return { label, kind: 'bytes', bytes: encodeValue(spec.element, spec.value) };
    case 'null':
    // It gets its buffer when that has memory (`withPointers`).
    case 'within':
      return { label, kind: 'null' };
    case 'zero-bytes':
      return { label, kind: 'bytes', bytes: new Uint8Array(spec.size) };
    case 'bytes': {
      const bytes = readBytes(io, spec.path, diagnostics);
      return bytes && { label, kind: 'bytes', bytes };
    }
  }
}

const isFloat = (element: ElementType): boolean => elements[element].kind === 'float';

/** Whether a number is of the kind of its parameter. A float for an integer is CM5016; an integer for a float may be its bits, and is CM5014. */
function isNumberKind(
  spec: ArgumentSpec,
  size: number,
  { name: kernel, params }: Kernel,
  index: number,
  diagnostics: Diagnostics,
): boolean {
  const param = params[index];
  if (spec.kind !== 'scalar' || param?.kind !== 'bytes' || param.size !== size || !param.element) return true;
  if (isFloat(param.element) === isFloat(spec.element)) return true;
  const holes = { index, name: param.name, kernel, spec: spec.label, wanted: param.element, given: spec.element };
  if (isFloat(param.element)) diagnostics.report('CM5014', holes);
  else diagnostics.report('CM5016', holes);
  return isFloat(param.element);
}
