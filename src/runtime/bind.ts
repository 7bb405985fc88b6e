/** Binding: each argument against the parameter it is for, and the bytes that go to the device. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Argument } from './argument.ts';
import { type Contents, describe, readContents } from './contents.ts';
import { type ElementType, elements, encodeValue, type Kernel, type Parameter } from './element.ts';
import { type Io, readBytes } from './io.ts';
import type { FullPlan } from './plan.ts';
import { initialContents } from './rand.ts';

/** An argument with its bytes. */
export type BoundArgument = { readonly argument: Argument; readonly parameter: Parameter } & (
  | { readonly kind: 'buffer'; readonly contents: Contents }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
);

/** One bound argument per parameter; nothing after reporting CM5011 to CM5013 or a fault of a file. CM5014 only warns. */
export function bindArguments(plan: FullPlan, kernel: Kernel, io: Io, diagnostics: Diagnostics): BoundArgument[] | undefined {
  const { params } = kernel;
  if (plan.args.length !== params.length) {
    const names = params.map((p) => p.name).join(', ') || 'none';
    const given = plan.args.length === 1 ? '1 was' : `${plan.args.length} were`;
    const wanted = params.length === 1 ? '1 argument' : `${params.length} arguments`;
    diagnostics.report('CM5011', { kernel: kernel.name, wanted, names, given }, { notes: params.map(paramLine) });
    return undefined;
  }
  const bound = plan.args.map((argument, index) => bindArgument(argument, { kernel, parameter: params[index]!, index }, io, diagnostics));
  return bound.every((b) => b !== undefined) ? bound : undefined;
}

const paramLine = (parameter: Parameter, index: number): string =>
  `parameter ${index} \`${parameter.name}\` is ${describeParameter(parameter)}`;

interface Target {
  readonly kernel: Kernel;
  readonly parameter: Parameter;
  readonly index: number;
}

function bindArgument(argument: Argument, target: Target, io: Io, diagnostics: Diagnostics): BoundArgument | undefined {
  const { parameter } = target;
  const isBuffer = argument.kind === 'buffer' || argument.kind === 'file';
  if (isBuffer !== (parameter.kind === 'buffer')) {
    diagnostics.report('CM5012', { ...place(argument, target), wanted: describeParameter(parameter), given: describeArgument(argument) });
    return undefined;
  }
  return isBuffer ? bindBuffer(argument, parameter, io, diagnostics) : bindBytes(argument, target, io, diagnostics);
}

function bindBuffer(
  argument: Argument & { kind: 'buffer' | 'file' },
  parameter: Parameter,
  io: Io,
  diagnostics: Diagnostics,
): BoundArgument | undefined {
  if (argument.kind === 'file') {
    const contents = readContents(io, argument.path, argument, diagnostics);
    return contents && { kind: 'buffer', argument, parameter, contents };
  }
  const { element, shape, init } = argument;
  return { kind: 'buffer', argument, parameter, contents: { element, shape, bytes: initialContents(element, shape, init) } };
}

function bindBytes(argument: Argument, target: Target, io: Io, diagnostics: Diagnostics): BoundArgument | undefined {
  const { parameter } = target;
  const bytes = valueBytes(argument, io, diagnostics);
  if (!bytes) return undefined;
  if (bytes.length !== parameter.size) {
    diagnostics.report('CM5013', { ...place(argument, target), wanted: parameter.size, given: bytes.length });
    return undefined;
  }
  const { element } = parameter;
  if (argument.kind === 'scalar' && element && isFloat(element) !== isFloat(argument.element)) {
    diagnostics.report('CM5014', { ...place(argument, target), wanted: element, given: argument.element });
  }
  return { kind: 'bytes', argument, parameter, bytes };
}

function valueBytes(argument: Argument, io: Io, diagnostics: Diagnostics): Uint8Array | undefined {
  if (argument.kind === 'scalar') return encodeValue(argument.element, argument.value);
  if (argument.kind === 'zero-bytes') return new Uint8Array(argument.size);
  return argument.kind === 'bytes' ? readBytes(io, argument.path, diagnostics) : undefined;
}

const isFloat = (element: ElementType): boolean => elements[element].kind === 'float';

const place = (argument: Argument, { kernel, parameter, index }: Target) => ({
  index,
  name: parameter.name,
  kernel: kernel.name,
  spec: argument.spec,
});

/** `a pointer to f32`, `4 bytes by value (u32)`. */
function describeParameter({ kind, size, element }: Parameter): string {
  if (kind === 'buffer') return element ? `a pointer to ${element}` : 'a pointer';
  return `${size} bytes by value${element ? ` (${element})` : ''}`;
}

function describeArgument(argument: Argument): string {
  switch (argument.kind) {
    case 'buffer':
      return `a buffer ${describe(argument.element, argument.shape)}`;
    case 'file':
      return `a buffer of ${argument.element}`;
    case 'scalar':
      return `a scalar ${argument.element}`;
    default:
      return 'a value of raw bytes';
  }
}
