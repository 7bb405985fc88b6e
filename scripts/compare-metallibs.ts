/**
 * `bun scripts/compare-metallibs.ts OURS.metallib THEIRS.metallib [--all]`: two metal libraries field by field: header, header
 * extension, sections and tags, then for each pair of functions (by name where both have it, else by their order) the bitstream’s
 * blocks and records, the module’s strings, flags, versions, options, attributes, declarations and the node of each kernel parameter. Prints each field
 * that differs, with `--all` every field; names of kernels, parameters and files are left aside, and so are bytes that follow from
 * the rest (sizes, offsets, hashes). Ends with 1 where anything differs.
 */
import { readFileSync } from 'node:fs';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { type Attribute, type AttributeList, disassemble, type Module, readModule, spell } from '../src/bitcode/index.ts';
import { attributeNames } from '../src/bitcode/names.ts';
import { type RawBlock, readStream } from '../src/bitcode/read/stream-reader.ts';
import { blockName } from '../src/bitcode/records.ts';
import { type ByteRange, type LibraryFunction, type ReadLibrary, readMetallib, type Version } from '../src/metallib/index.ts';

type Fields = Map<string, string>;

const args = process.argv.slice(2);
const [ours, theirs] = args.filter((word) => !word.startsWith('--')).map(read);
if (!ours || !theirs) {
  console.error('usage: bun scripts/compare-metallibs.ts OURS.metallib THEIRS.metallib [--all]');
  process.exit(2);
}

interface File {
  readonly bytes: Uint8Array;
  readonly library: ReadLibrary;
}

function read(path: string): File {
  const bytes = new Uint8Array(readFileSync(path));
  const diagnostics = new Diagnostics();
  const library = readMetallib(bytes, diagnostics);
  if (library) return { bytes, library };
  console.error(`${path}: ${diagnostics.list.map((d) => d.message).join('; ')}`);
  process.exit(2);
}

// ── the container ──

const dotted = ({ major, minor, patch }: Version): string => `${major}.${minor}.${patch}`;
const ascii = (bytes: Uint8Array): string => new TextDecoder('latin1').decode(bytes);

/** Codes of tags one behind the other, up to the end tag. */
function tagCodes(bytes: Uint8Array, start: number, end: number): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const codes: string[] = [];
  for (let at = start; at < end; at += 6 + view.getUint16(at + 4, true)) {
    codes.push(ascii(bytes.subarray(at, at + 4)));
    if (codes.at(-1) === 'ENDT') break;
  }
  return codes;
}

const rangeOf = (ranges: readonly ByteRange[], name: string): ByteRange | undefined =>
  ranges.flatMap((each) => [each, ...(each.parts ?? [])]).find((each) => each.name === name);

function containerFields({ bytes, library }: File): Fields {
  const extension = rangeOf(library.ranges, 'header extension');
  return new Map([
    ['header: bytes 0-3', ascii(bytes.subarray(0, 4))],
    ['header: bytes 4-5, major and macOS bit', `0x${(bytes[4]! + 256 * bytes[5]!).toString(16)}`],
    ['header: container version', dotted(library.version)],
    ['header: byte 10, file type', String(bytes[10])],
    ['header: byte 11, platform', `0x${bytes[11]!.toString(16)}`],
    ['header: bytes 12-15, system', dotted(library.os)],
    ['functions', String(library.functions.length)],
    ['header extension: tags', extension ? tagCodes(bytes, extension.offset, extension.offset + extension.size).join(' ') : 'none'],
    ['sections behind the bitcode', (library.sections ?? []).map(({ code }) => code).join(' ') || 'none'],
  ]);
}

function functionFields(fn: LibraryFunction, { bytes, library }: File): Fields {
  const group = rangeOf(library.ranges, `tags of ${fn.name}`);
  const codes = group ? tagCodes(bytes, group.offset + 4, group.offset + group.size) : [];
  const tags = (list: LibraryFunction['publicTags']): string => (list ?? []).map(({ code }) => code).join(' ') || 'empty';
  return new Map([
    ['list: tags', codes.join(' ')],
    ['list: TYPE', fn.type],
    ['list: VERS', `AIR ${fn.airVersion.join('.')}, Metal ${fn.metalVersion.join('.')}`],
    ['public metadata', tags(fn.publicTags)],
    ['private metadata', tags(fn.privateTags)],
  ]);
}

// ── the module ──

const attributeText = (of: Attribute): string =>
  of.form === 'string'
    ? `"${of.key}"${of.value === undefined ? '' : `="${of.value}"`}`
    : `${attributeNames[of.kind] ?? `attribute ${of.kind}`}${of.form === 'int' ? `(${of.value})` : ''}`;

function listFields(out: Fields, where: string, list: AttributeList, count: number): void {
  for (const of of list.function)
    out.set(
      `${where}: ${of.form === 'string' ? `"${of.key}"` : attributeText(of)}`,
      of.form === 'string' ? (of.value ?? 'there') : 'there',
    );
  for (let i = 0; i < count; i++) out.set(`${where}: parameter ${i}`, (list.params[i] ?? []).map(attributeText).join(' ') || 'none');
}

/** Blocks in their order, operands of the records whose length depends on the LLVM that wrote them, and the fixed tables. */
function streamFields(bitcode: Uint8Array): Fields {
  const stream = readStream(bitcode);
  const order = (list: readonly RawBlock[]): string => [...new Set(list.map(({ id }) => blockName(id)))].join(' ');
  const module = stream.find(({ id }) => blockName(id) === 'module')!;
  const inner = (name: string): RawBlock | undefined => module.blocks.find(({ id }) => blockName(id) === name);
  const operands = (code: number): string =>
    [...new Set(module.records.filter((each) => each.code === code).map(({ ops }) => ops.length))].join(', ') || 'none';
  const count = (name: string): string => String(inner(name)?.records.length ?? 0);
  return new Map([
    ['blocks of the stream', order(stream)],
    ['blocks of the module', order(module.blocks)],
    ['VERSION', String(module.records.find(({ code }) => code === 1)?.ops[0])],
    ['operands of FUNCTION', operands(8)],
    ['operands of GLOBALVAR', operands(7)],
    ['kinds of metadata', count('metadataKind')],
    ['operand bundle tags', count('operandBundleTags')],
    ['synchronisation scopes', count('syncScopeNames')],
  ]);
}

function moduleFields(module: Module, kernelName: string): Fields {
  const text = disassemble(module);
  const out: Fields = new Map([
    ['identification', module.identification || 'empty'],
    ['source name', module.sourceFilename === kernelName ? 'that of the kernel' : 'other'],
    ['data layout', module.dataLayout],
    ['triple', module.triple],
    ['variables', module.globals.map((g) => `${g.linkage} ${spell(g.valueType)} in space ${g.type.space}`).join('; ') || 'none'],
    ['named metadata', module.namedMetadata.map(({ name }) => name).join(' ')],
  ]);
  const kernel = module.functions.find(({ name }) => name === kernelName)!;
  out.set('kernel: type', spell(kernel.functionType));
  out.set('kernel: linkage and unnamed_addr', `${kernel.linkage} ${kernel.unnamedAddr}`);
  listFields(out, 'kernel attributes', kernel.attributes, kernel.args.length);
  for (const fn of module.functions.filter(({ blocks }) => blocks.length === 0)) {
    out.set(`declaration ${fn.name}`, spell(fn.functionType));
    listFields(out, `declaration ${fn.name}`, fn.attributes, fn.args.length);
  }
  const attached = new Set([...text.matchAll(/, !([\w.]+) !\d/g)].map((match) => match[1]!));
  out.set('attachments of instructions', [...attached].sort().join(' ') || 'none');
  out.set(
    'fast-math flags of instructions',
    [...new Set(text.match(/ (fast|nnan|contract|reassoc|afn) /g) ?? [])].join('').trim() || 'none',
  );
  addNodes(out, text);
  return out;
}

/** Flags, versions and the nodes of the kernel, each under a name of its own, from the text with references put in. */
function addNodes(out: Fields, text: string): void {
  const bodies = new Map([...text.matchAll(/^!(\d+) = (?:distinct )?(!\{.*\})$/gm)].map((match) => [match[1]!, match[2]!]));
  const listed = (name: string): string[] =>
    [...(text.match(new RegExp(`^!${name.replaceAll('.', '\\.')} = !\\{(.*)\\}$`, 'm'))?.[1] ?? '').matchAll(/!(\d+)/g)].map(
      (match) => match[1]!,
    );
  const inner = (id: string): string => bodies.get(id)!.slice(2, -1);
  for (const id of listed('llvm.module.flags')) {
    const [, behaviour, name, value] = /^i32 (\d+), !"([^"]+)", (.*)$/.exec(inner(id)) ?? [];
    out.set(`flag ${name}`, `${value} (behaviour ${behaviour})`);
  }
  for (const name of ['llvm.ident', 'air.version', 'air.language_version', 'air.compile_options'])
    out.set(`!${name}`, listed(name).map(inner).join('; ') || 'none');
  const kernel = listed('air.kernel')[0];
  if (kernel === undefined) return;
  const [outputs, params, ...attributes] = [...inner(kernel).matchAll(/!(\d+)/g)].map((match) => match[1]!);
  out.set('air.kernel: outputs', inner(outputs!) || 'empty');
  const nodes = [...inner(params!).matchAll(/!(\d+)/g)].map((match) => match[1]!);
  out.set('air.kernel: parameters', String(nodes.length));
  nodes.forEach((id, i) => void addParameter(out, `parameter ${i}`, inner(id)));
  out.set('air.kernel: attributes', attributes.map(inner).join('; ') || 'none');
}

/** One field for each key; the name of the parameter is only said to be there. */
function addParameter(out: Fields, where: string, body: string): void {
  const items = body.match(/!"[^"]*"|i32 -?\d+|!\d+/g) ?? [];
  out.set(`${where}: index and kind`, items.slice(0, 2).join(' '));
  const isKey = (item: string): boolean => /^!"air\./.test(item);
  for (let i = 2; i < items.length; ) {
    const key = items[i++]!;
    const values: string[] = [];
    while (i < items.length && !isKey(items[i]!)) values.push(items[i++]!);
    const isName = key === '!"air.arg_name"' || key === '!"air.struct_type_info"';
    out.set(`${where}: ${key.slice(1)}`, isName ? 'there' : values.join(' ') || 'there');
  }
}

// ── side by side ──

let [compared, different] = [0, 0];

function show(title: string, a: Fields, b: Fields): void {
  const keys = [...new Set([...a.keys(), ...b.keys()])];
  const rows = keys.map((key) => [key, a.get(key) ?? '-', b.get(key) ?? '-'] as const);
  const unlike = rows.filter(([, x, y]) => x !== y);
  compared += rows.length;
  different += unlike.length;
  console.log(`\n${title}: ${rows.length} fields, ${unlike.length} differ\n`);
  const shown = args.includes('--all') ? rows : unlike;
  if (shown.length === 0) return;
  console.log('| field | ours | theirs |\n| --- | --- | --- |');
  for (const [key, x, y] of shown) console.log(`| ${key} | ${x} | ${y} |`);
}

show('container', containerFields(ours), containerFields(theirs));
theirs.library.functions.forEach((other, i) => {
  const own = ours.library.functions.find(({ name }) => name === other.name) ?? ours.library.functions[i];
  if (!own || other.type !== 'kernel') return;
  const [a, b] = [own, other].map((fn) => readModule(fn.bitcode, new Diagnostics()));
  show(`function ${own.name} beside ${other.name}, container`, functionFields(own, ours), functionFields(other, theirs));
  show(`function ${own.name} beside ${other.name}, bitstream`, streamFields(own.bitcode), streamFields(other.bitcode));
  if (a && b) show(`function ${own.name} beside ${other.name}, module`, moduleFields(a, own.name), moduleFields(b, other.name));
});
console.log(`\n${compared} fields compared, ${different} differ`);
process.exit(different === 0 ? 0 : 1);
