/** An assembler of the WAT that `moduleText` writes, through the encoder: the text holds all of the module if the bytes come out the same. */
import {
  type Code,
  hasImmediate,
  type NumberType,
  newModule,
  type Signature,
  type ValueType,
  type WasmModule,
} from '../../src/wasm/index.ts';

const typesIn = (text: string, word: string): ValueType[] =>
  (new RegExp(`\\(${word} ([^)]*)\\)`).exec(text)?.[1]?.split(' ') ?? []) as ValueType[];
const signatureIn = (text: string): Signature => ({ params: typesIn(text, 'param'), results: typesIn(text, 'result') });

/** The bytes of a module's text. */
export function assembleWat(text: string): Uint8Array {
  const module = newModule();
  const lines = text.trimEnd().split('\n').slice(1, -1);
  const types = lines.filter((line) => line.startsWith('  (type ')).map(signatureIn);
  const typeOf = (line: string): Signature => types[Number(/\(type (\d+)\)/.exec(line)![1])]!;
  const exports = new Map([...text.matchAll(/^ {2}\(export "(.*)" \(\w+ (\S+)\)\)$/gm)].map(([, name, target]) => [target!, name!]));
  const indices = new Map<string, number>();
  const bodies: { readonly code: Code; readonly lines: string[] }[] = [];
  for (const line of lines) {
    const [, what, name = ''] = /^ {2}\((\w+) (\S+)/.exec(line) ?? [];
    if (what === 'import') importLine(module, line, indices, typeOf);
    else if (what === 'global') indices.set(name, module.global(/\(mut (\w+)\)/.exec(line)![1] as NumberType, exports.get(name)));
    else if (what === 'func') {
      const { index, code } = module.fn(typeOf(line), exports.get(name));
      indices.set(name, index);
      bodies.push({ code, lines: [] });
    } else if (line.startsWith('    ')) bodies.at(-1)!.lines.push(line.trim());
  }
  for (const { code, lines } of bodies) for (const line of lines) assembleLine(code, line, indices);
  return module.finish();
}

function importLine(module: WasmModule, line: string, indices: Map<string, number>, typeOf: (line: string) => Signature): void {
  const [, name = '', id = ''] = /"env" "(.*)" \(func (\S+)/.exec(line) ?? [];
  if (name !== '') return void indices.set(id, module.importFunction(name, typeOf(line)));
  const [, memory = '', min, max, shared] = /"env" "(.*)" \(memory (\d+) (\d+)( shared)?/.exec(line)!;
  module.importMemory(memory, Number(min), Number(max), shared !== undefined);
}

function floatBits(text: string, bytes: 4 | 8): bigint {
  const view = new DataView(new ArrayBuffer(8));
  const nan = /^(-?)nan:(0x[0-9a-f]+)$/.exec(text);
  if (bytes === 4) view.setFloat32(4, Number(text.replace('inf', 'Infinity')));
  else view.setFloat64(0, Number(text.replace('inf', 'Infinity')));
  if (!nan) return view.getBigUint64(0);
  const [exponent, sign] = bytes === 4 ? [0x7f800000n, 1n << 31n] : [0x7ff0000000000000n, 1n << 63n];
  return exponent | BigInt(nan[2]!) | (nan[1] ? sign : 0n);
}

function assembleLine(code: Code, line: string, indices: ReadonlyMap<string, number>): void {
  const [name = '', ...rest] = line.split(' ');
  const [first = ''] = rest;
  const [result] = typesIn(line, 'result');
  if (name === '(local') return typesIn(line, 'local').forEach((type) => void code.local(type));
  if (name === 'block' || name === 'loop' || name === 'if') return code.open(name, result);
  if (name === 'else') return code.else();
  if (name === 'end') return code.end();
  if (name === 'br_table') return code.table(rest.slice(0, -1).map(Number), Number(rest.at(-1)));
  if (name === 'select' && result) return code.choose(result);
  if (name === 'i32.const') return code.i32(Number(first));
  if (name === 'i64.const') return code.i64(BigInt(first));
  if (name === 'f32.const') return code.f32(Number(floatBits(first, 4)));
  if (name === 'f64.const') return code.f64(floatBits(first, 8));
  if (name === 'v128.const') return code.v128(rest.slice(1).map(Number));
  if (name === 'i8x16.shuffle') return code.shuffle(rest.map(Number));
  const offset = Number(/offset=(\d+)/.exec(line)?.[1] ?? 0);
  const align = Number(/align=(\d+)/.exec(line)?.[1] ?? 0);
  if (hasImmediate(name, 'none')) return code.op(name);
  if (hasImmediate(name, 'index')) return code.at(name, indices.get(first) ?? Number(first));
  if (hasImmediate(name, 'lane')) return code.lane(name, Number(first));
  if (hasImmediate(name, 'memory')) return code.access(name, align, offset);
  if (hasImmediate(name, 'memoryLane')) return code.accessLane(name, align, offset, Number(rest.at(-1)));
  throw new Error(`no instruction: ${line}`);
}
