/** The module of a traced kernel: its declarations and its header, printed, parsed and checked. */
import { type Diagnostic, Diagnostics, type Label } from '../base/diagnostic.ts';
import { type Dim3, product } from '../base/dim3.ts';
import { parseAndCheck } from '../compile/index.ts';
import { type FunctionDirective, type Item, type Module, type PtxFunction, print, SourceFile, type Variable } from '../ptx/index.ts';
import { fail, failWith, fileAt } from './fail.ts';
import { placeOf } from './lines.ts';
import { type Need, needsOf } from './needs.ts';
import { variableNode } from './nodes.ts';
import type { Parameters, ParameterType } from './parameters.ts';
import { accessType } from './pointer.ts';
import type { Trace } from './trace.ts';

/** What a module states besides its body. */
export interface Stated {
  readonly block?: Dim3 | undefined;
  readonly maxThreads?: number;
  readonly minBlocks?: number;
  readonly target?: string;
}

const span = { start: 0, end: 0 };
const maxThreads = 1024;

/** The module of a kernel, printed and parsed. Throws CM5088 and what the checker reports, at lines of TypeScript. */
export function assemble(trace: Trace, parameters: Parameters, stated: Stated): { readonly source: SourceFile; readonly ast: Module } {
  const least = needsOf(trace.statements, trace.needs);
  const source = new SourceFile(`${trace.name}.ptx`, print(moduleOf(trace, parameters, { ...stated, least })));
  const diagnostics = new Diagnostics(source);
  const { ast } = parseAndCheck(source, { isStrict: true }, diagnostics);
  // What is legal PTX and cannot be compiled here may run on a device that takes PTX; loading it on another one says so.
  const faults = diagnostics.sorted().filter(({ code }) => !code.startsWith('CM20'));
  if (faults.some(({ severity }) => severity === 'error')) failWith(faults.map((each) => placed(each, source)));
  return { source, ast };
}

function moduleOf(trace: Trace, parameters: Parameters, stated: Stated & { readonly least: Need }): Module {
  const { least, target } = stated;
  const name = target ?? `sm_${least.sm}${least.isSpecific ? 'a' : ''}`;
  const files = [...trace.files].map(([path, index]): Item => ({ kind: 'directive', name: 'file', index, path, stamp: undefined, span }));
  return {
    file: new SourceFile('', ''),
    version: { ...versionOf(least.ptx, name), span },
    targets: [{ name, span }],
    addressSize: 64,
    headers: [],
    items: [...files, ...trace.declarations.values(), ...trace.globals.values(), entryOf(trace, parameters, stated)],
  };
}

/** The first versions of PTX with the architectures that a caller may name, where they are later than what a kernel needs. */
function versionOf(ptx: number, target: string): { readonly major: number; readonly minor: number } {
  const version = Math.max(ptx, target.endsWith('a') ? 8 : needsOf([], [{ ptx: 4, sm: Number(/\d+/.exec(target)![0]) }]).ptx);
  return { major: Math.floor(version), minor: Math.round(version * 10) % 10 };
}

function entryOf(trace: Trace, parameters: Parameters, stated: Stated): PtxFunction {
  const params = Object.entries(parameters).map(([name, type]) => parameter(name, type));
  const body = [...registersOf(trace), ...trace.variables, ...trace.statements];
  return {
    kind: 'function',
    isEntry: true,
    linkage: 'visible',
    name: trace.name,
    nameSpan: span,
    results: [],
    params,
    directives: directivesOf(stated),
    attributes: [],
    body,
    span,
  };
}

function parameter(name: string, type: ParameterType): Variable {
  if (!/^[A-Za-z_][\w$]*$/.test(name)) fail('CM5088', { what: `the parameter \`${name}\``, why: 'it is not an identifier of PTX' });
  if (type.kind === 'scalar') return variableNode({ space: 'param', type: accessType(type.name), name });
  const ptr = { space: type.space === 'generic' ? undefined : type.space, align: type.align };
  return variableNode({ space: 'param', type: 'u64', name, ptr });
}

const registerTypes: Readonly<Record<string, string>> = { p: 'pred', rs: 'b16', r: 'b32', rd: 'b64', f: 'f32', fd: 'f64' };

const registersOf = ({ registers }: Trace): Variable[] =>
  [...registers].map(([prefix, count]) =>
    variableNode({ space: 'reg', type: registerTypes[prefix]!, name: `%${prefix}`, regCount: count + 1 }),
  );

function directivesOf({ block, maxThreads: most, minBlocks }: Stated): FunctionDirective[] {
  if (block && product(block) > maxThreads)
    fail('CM5088', { what: 'the block', why: `${block.join(' × ')} are more than ${maxThreads} threads` });
  return [
    ...(block ? [{ name: 'reqntid', values: block, span }] : []),
    ...(most === undefined ? [] : [{ name: 'maxntid', values: [most, 1, 1], span }]),
    ...(minBlocks === undefined ? [] : [{ name: 'minnctapersm', values: [minBlocks], span }]),
  ];
}

/** A diagnostic of the PTX at the line of TypeScript that added the instruction. */
function placed(diagnostic: Diagnostic, source: SourceFile): Diagnostic {
  const [label] = diagnostic.labels;
  const place = label && placeOf(source, label.span.start);
  if (!place) return diagnostic;
  const start = source.text.lastIndexOf('\n', label.span.start - 1) + 1;
  const text = source.line(source.position(label.span.start).line).trimStart();
  const indent = source.text.slice(start).search(/\S/);
  const { file, start: at } = fileAt(place, text);
  const moved: Label = { ...label, span: { start: label.span.start - start - indent + at, end: label.span.end - start - indent + at } };
  return { ...diagnostic, file, labels: [moved] };
}
