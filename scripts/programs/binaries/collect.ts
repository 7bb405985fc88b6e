/**
 * Writes `results.json` from what the programs of `programs.json` printed and left in memory:
 *
 *   bun scripts/programs/binaries/collect.ts FOLDER > scripts/programs/binaries/results.json
 *
 * FOLDER has, for a program NAME: `cpu/NAME`, what it printed under `cumetal exec`; `cpu/NAME.time`, its user and system seconds;
 * `cpu/NAME.buffers`, written by `buffers.c`; the same without the time in `h200/`; `sanitizer/NAME`, what it printed under
 * `cumetal exec --sanitize`; and `ptx/NAME.ptx`. A program without `cpu/NAME` keeps what `results.json` has of it, but for new findings.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bf16Value, f16Value } from '../../../src/base/float.ts';
import { verdictOf } from '../verdict.ts';
import { type Result, usesOf } from './results.ts';

type Type = 'f16' | 'bf16' | 'f32' | 'f64' | 'u8' | 'u32';

interface Program {
  readonly name: string;
  readonly suite: string;
  readonly title: string;
  /** The buffers that it computes, by the number of their allocation; a type stands for all buffers that both devices have. */
  readonly outputs?: readonly { readonly buffer: number; readonly type: Type }[] | Type;
  /** Why its buffers are not compared. */
  readonly why?: string;
  /** What it prints if its check passes, where that is not a usual word. */
  readonly passes?: string;
}

const folder = process.argv[2]!;
const textOf = (...path: string[]): string | undefined =>
  existsSync(join(folder, ...path)) ? readFileSync(join(folder, ...path), 'latin1') : undefined;

/** The buffers of a file of `buffers.c`, by number. */
function buffersOf(path: string): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  if (!existsSync(path)) return found;
  const bytes = readFileSync(path);
  for (let at = 0; at + 16 <= bytes.length; ) {
    const [number, size] = [Number(bytes.readBigUInt64LE(at)), Number(bytes.readBigUInt64LE(at + 8))];
    found.set(number, new Uint8Array(bytes.subarray(at + 16, at + 16 + size)));
    at += 16 + size;
  }
  return found;
}

const readers: Readonly<Record<Type, [size: number, read: (view: DataView, at: number) => number]>> = {
  u8: [1, (view, at) => view.getUint8(at)],
  u32: [4, (view, at) => view.getUint32(at, true)],
  f32: [4, (view, at) => view.getFloat32(at, true)],
  f64: [8, (view, at) => view.getFloat64(at, true)],
  bf16: [2, (view, at) => bf16Value(view.getUint16(at, true))],
  f16: [2, (view, at) => f16Value(view.getUint16(at, true))],
};

/** The elements that differ in bits, all elements, and the largest difference over the largest magnitude. */
function difference(ours: Uint8Array, theirs: Uint8Array, type: Type): { count: number; of: number; relative: number } {
  const [size, read] = readers[type];
  const [a, b] = [ours, theirs].map((bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)) as [DataView, DataView];
  let [count, worst, largest] = [0, 0, 0];
  for (let at = 0; at + size <= theirs.length; at += size) {
    const [x, y] = [read(a, at), read(b, at)];
    largest = Math.max(largest, Math.abs(y) || 0);
    if (Object.is(x, y)) continue;
    count++;
    worst = Math.max(worst, Number.isNaN(x - y) ? Infinity : Math.abs(x - y));
  }
  return { count, of: Math.floor(theirs.length / size), relative: worst / largest };
}

function differs({ name, outputs, why }: Program): string {
  if (!outputs) return why ?? '';
  const [ours, theirs] = ['cpu', 'h200'].map((device) => buffersOf(join(folder, device, `${name}.buffers`))) as [
    Map<number, Uint8Array>,
    Map<number, Uint8Array>,
  ];
  const both = [...ours].flatMap(([buffer, { length }]) => (theirs.get(buffer)?.length === length ? [buffer] : []));
  const compared = typeof outputs === 'string' ? both.map((buffer) => ({ buffer, type: outputs })) : outputs;
  if (compared.length === 0) return 'not compared';
  const found = compared.map(({ buffer, type }) => {
    const [x, y] = [ours.get(buffer), theirs.get(buffer)];
    return x && y && x.length === y.length ? difference(x, y, type) : undefined;
  });
  if (found.some((each) => each === undefined)) return 'not compared';
  const sum = (pick: (each: { count: number; of: number }) => number): number => found.reduce((all, each) => all + pick(each!), 0);
  const count = sum((each) => each.count);
  if (count === 0) return 'bit for bit';
  return `${Math.max(...found.map((each) => each!.relative)).toExponential(1)} in ${count} of ${sum((each) => each.of)}`;
}

function checkOf({ passes }: Program, text: string | undefined): string {
  if (text === undefined) return 'not run';
  if (passes !== undefined) return text.includes(passes) ? 'passes' : 'fails';
  const verdict = verdictOf(text);
  return verdict === 'pass' ? 'passes' : verdict === 'fail' ? 'fails' : 'none';
}

/** The findings that the sanitizer counted; `none` for a program that it let end. */
function findingsOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const codes = [...text.matchAll(/\b(?:error|warning)\[(CM\d{4})\]/g)].map(([, code]) => code!);
  return codes.length === 0 ? 'none' : [...new Set(codes)].join(', ');
}

const listOf = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
const programs = listOf('programs.json') as readonly Program[];
const before = new Map((listOf('results.json') as readonly Result[]).map((result) => [result.name, result]));
const results = programs.flatMap((program): Result[] => {
  const { name, suite, title } = program;
  const printed = textOf('cpu', name);
  const findings = findingsOf(textOf('sanitizer', name));
  const known = before.get(name);
  if (printed === undefined) return known ? [{ ...known, ...(findings === undefined ? {} : { findings }) }] : [];
  const time = textOf('cpu', `${name}.time`)?.trim().split('\n').at(-1)?.split(' ').map(Number);
  return [
    {
      name,
      suite,
      title,
      uses: usesOf(textOf('ptx', `${name}.ptx`) ?? ''),
      own: checkOf(program, printed),
      h200: checkOf(program, textOf('h200', name)),
      differs: differs(program),
      ...(time ? { seconds: Math.round((time[0]! + time[1]!) * 10) / 10 } : {}),
      ...(findings === undefined ? {} : { findings }),
    },
  ];
});
console.log(JSON.stringify(results, undefined, 1));
