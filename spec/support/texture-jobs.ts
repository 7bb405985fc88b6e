/** Fetches of textures as `scripts/record/textures` records them: a line of words says what is fetched, and how. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Format, Textures } from './textures.ts';

const path = join(import.meta.dirname, '../../fixtures/h200/textures/samples.json.gz');

/** One line: its words by name. Source: `jobs.ts` of the recorder. */
export interface Job {
  readonly form: string;
  readonly source: number;
  readonly format: Format;
  readonly extent: readonly [number, number, number];
  readonly flags: number;
  readonly line: string;
  readonly address: readonly number[];
  readonly words: readonly string[];
  readonly coordinates: Uint32Array;
  readonly results: Uint32Array;
  readonly stride: number;
  readonly channels: number;
}

export function recordedJobs(): Job[] {
  const { jobs, data } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as { jobs: string[]; data: string };
  const bytes = new Uint8Array(Buffer.from(data, 'base64'));
  return jobs.map((line) => {
    const words = line.split(' ');
    const number = (i: number): number => Number(words[i]);
    const form = words[0]!;
    const stride = form.startsWith('l_') ? 8 : 4;
    const [at, count, channels] = [number(29), number(30), number(31)];
    const list = (from: number, size: number): Uint32Array => new Uint32Array(bytes.slice(from, from + 4 * size).buffer);
    return {
      ...{ form, line, words, stride, channels, source: number(1), flags: number(8) },
      format: [number(3), number(4), number(2)],
      extent: [number(5), number(6), number(7)],
      address: [9, 10, 11].map(number),
      coordinates: list(at, count * stride),
      results: list(at + 4 * count * stride, count * channels),
    };
  });
}

const float = new Float32Array(1);
const asFloat = (hex: string): number => {
  new Uint32Array(float.buffer)[0] = Number.parseInt(hex, 16);
  return float[0]!;
};

function mixed(value: number): number {
  let x = value >>> 0;
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** The texels of an image: values that filters can mix, any bits, their numbers, 256 times their coordinates, or 256 times the level. */
function texelsOf({ format: [bits, channels, kind], words }: Job, [w, h, d]: readonly number[], level: number): Uint8Array {
  const [seed, mode] = [Number(words[27]) + level, Number(words[28])];
  const count = w! * h! * d! * channels;
  const out = new DataView(new ArrayBuffer((count * bits) / 8));
  for (let e = 0; e < count; e++) {
    const [channel, texel] = [e % channels, Math.floor(e / channels)];
    const place = [texel % w!, Math.floor(texel / w!) % h!, Math.floor(texel / (w! * h!)), 1][channel]!;
    const random = mixed(seed + Math.imul(e, 0x9e3779b9));
    const parts = bits === 32 ? [0x807fffff, 23, 118, 16] : [0x83ff, 10, 8, 13];
    const exponent = parts[2]! + (((random >>> parts[1]!) & 15) % parts[3]!);
    const value = [0, 0, e, kind === 2 ? 256 * place : place, 256 * (seed & 255)][mode]!;
    const word = mode === 0 && kind === 2 ? ((random & parts[0]!) | (exponent << parts[1]!)) >>> 0 : mode < 2 ? random : value;
    if (mode > 1 && kind === 2) out.setFloat32(4 * e, word, true);
    else if (bits === 32) out.setUint32(4 * e, word, true);
    else if (bits === 16) out.setUint16(2 * e, word & 0xffff, true);
    else out.setUint8(e, word & 0xff);
  }
  return new Uint8Array(out.buffer);
}

const letters: Readonly<Record<string, string>> = { f: 'f32', u: 'u32', s: 's32' };
const float4 = '%f0, %f1, %f2, %f3';

/** The instruction of a form. Coordinates of integers and layers are words, others floats. */
export function bodyOf(form: string): string {
  const [how = '', shape = ''] = form.split('_');
  const gathered = /^t(\d|[us])$/.exec(how)?.[1];
  const dtype = gathered ? (letters[gathered] ?? 'f32') : (letters[how[0]!] ?? 'f32');
  const isInteger = how.endsWith('i');
  const axes = shape === 'cube' || shape === 'acube' ? 3 : Number(/\d/.exec(shape)![0]);
  const list = Array.from({ length: axes + (shape.startsWith('a') ? 1 : 0) }, (_, i) =>
    isInteger || (i === 0 && shape.startsWith('a')) ? `%c${i}` : `%f${i}`,
  );
  while (list.length === 3) list.push(list[2]!);
  const component = gathered ? 'rgba'[['0', '1', '2', '3'].indexOf(gathered) < 0 ? (gathered === 's' ? 1 : 0) : Number(gathered)] : '';
  const name = gathered ? `tld4.${component}` : how === 'l' ? 'tex.level' : how === 'b' ? 'tex.base' : 'tex';
  const after = how === 'l' ? ', %l' : how === 'o' ? (axes === 1 ? ', {-3}' : ', {3, -2}') : '';
  const results = dtype === 'f32' ? float4 : '%r0, %r1, %r2, %r3';
  const moves = dtype === 'f32' ? [0, 1, 2, 3].map((i) => `mov.b32 %r${i}, %f${i};`).join(' ') : '';
  return `${name}.${shape}.v4.${dtype}.${isInteger ? 's32' : 'f32'} {${results}}, [%t, {${list.join(', ')}}]${after}; ${moves}`;
}

export class TextureJobs {
  readonly #textures = new Textures();

  #texture(job: Job): bigint {
    const textures = this.#textures;
    const { call, memory } = textures.one;
    const [w, h, d] = job.extent.map((n) => Math.max(1, n)) as [number, number, number];
    const { words } = job;
    const on = (i: number): boolean => words[i] !== '0';
    const sampler = {
      ...{ address: job.address, isLinear: on(12), isNormalizedFloat: on(13), isNormalized: on(14), isSrgb: on(15) },
      ...{ border: words.slice(16, 20).map(asFloat), isMipLinear: on(20), bias: asFloat(words[21]!) },
      levels: [asFloat(words[22]!), asFloat(words[23]!)] as const,
    };
    const shape = { format: job.format, extent: job.extent, flags: job.flags };
    if (job.source === 2) return textures.texture(textures.resource(textures.array(shape, texelsOf(job, [w, h, d], 0))), sampler);
    if (job.source === 3) {
      const levels = Number(words[26]);
      const extent = textures.longs(1088, [...job.extent]);
      const made = textures.call(() =>
        call.cudaMallocMipmappedArray!(textures.at200, textures.format(job.format), extent, levels, job.flags),
      );
      for (let level = 0; level < levels; level++) {
        const part = textures.call(() => call.cudaGetMipmappedArrayLevel!(textures.at200, made, level));
        const size = job.extent.map((n, i) => (n === 0 || (i === 2 && (job.flags & 5) !== 0) ? n : Math.max(1, n >> level)));
        const whole = size.map((n) => Math.max(1, n));
        textures.fill(part, { ...shape, extent: size as unknown as [number, number, number] }, texelsOf(job, whole, level));
      }
      return textures.texture(textures.resource(made, 1), sampler);
    }
    const bytes = texelsOf(job, [w, h, 1], 0);
    const rowBytes = (w * job.format[0] * job.format[1]) / 8;
    const pitch = Math.ceil(rowBytes / 512) * 512;
    const padded = new Uint8Array(job.source === 1 ? pitch * h : bytes.length);
    if (job.source === 1) for (let y = 0; y < h; y++) padded.set(bytes.subarray(y * rowBytes, (y + 1) * rowBytes), y * pitch);
    else padded.set(bytes);
    const data = textures.bytes(padded);
    const format = memory.slice(textures.format(job.format), 20)!.slice();
    const resource = textures.longs(1024, [
      job.source === 1 ? 3 : 2,
      data,
      0,
      0,
      0,
      ...(job.source === 1 ? [w, h, pitch] : [bytes.length]),
    ]);
    memory.put(resource + 16n, format);
    return textures.texture(resource, sampler);
  }

  /** The words of the results on the CPU device, as many for each fetch as were recorded. */
  results(job: Job): Uint32Array {
    const texture = this.#texture(job);
    const count = job.coordinates.length / job.stride;
    const four = new Uint32Array(4 * count);
    const out = new Uint32Array(count * job.channels);
    for (let i = 0; i < count; i++) four.set(job.coordinates.subarray(job.stride * i, job.stride * i + 4), 4 * i);
    const details = job.stride === 8 ? new Uint32Array(count).map((_, i) => job.coordinates[8 * i + 4]!) : undefined;
    const { words } = this.#textures.run(bodyOf(job.form), texture, four, details);
    for (let i = 0; i < count; i++) out.set(words.subarray(4 * i, 4 * i + job.channels), job.channels * i);
    return out;
  }
}
