/**
 * Barriers in memory, bulk reductions and copies by tensor maps against an NVIDIA H200 (`scripts/record/async`). The recording has digests of what
 * a test leaves; its input is made of the recorder's random numbers from a seed on.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeIm2col, encodeTiled, tensorTypes } from '../../src/device/tensor-maps.ts';
import { ptx, run } from '../support/async.ts';
import { TensorKernels } from '../support/tensors.ts';

const test = suite('h200/async');

interface Trial {
  readonly seed: number;
  readonly digest: string;
}
interface Tensor extends Trial {
  readonly dims: readonly number[];
  readonly strides: readonly number[];
  readonly steps: readonly number[];
  readonly at: readonly number[];
  readonly bytes: number;
}
interface Box extends Tensor {
  readonly type: number;
  readonly swizzle: number;
  readonly fill: number;
  readonly box: readonly number[];
}
interface Column extends Tensor {
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly pixels: number;
  readonly offsets: readonly number[];
}
interface Recorded {
  readonly loads: readonly Box[];
  readonly columns: readonly Column[];
  readonly stores: readonly (Trial & { readonly op: string; readonly type: number })[];
  readonly reductions: readonly (Trial & { readonly form: string; readonly mode: number })[];
  readonly converted: readonly { readonly type: number; readonly input: string; readonly bytes: number; readonly digest: string }[];
  readonly barriers: readonly {
    readonly init: number;
    readonly steps: readonly (readonly [kind: number, count: number])[];
    readonly results: readonly number[];
  }[];
}
const path = new URL('../../fixtures/h200/async/recorded.json.gz', import.meta.url);
const recorded = JSON.parse(gunzipSync(readFileSync(path)).toString()) as Recorded;
const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** Floats that are at an edge, which the recorder puts between random ones. */
const special = [
  0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f800fff, 0x3f801000, 0x3f801001,
  0x3f802fff, 0x3f803000, 0x7f7fffff, 0x3f7fffff,
];

/** The input of a test: bytes, floats of eighths (mode 1) or floats at edges (mode 2). */
function inputOf(seed: number, bytes: number, mode: number): Uint8Array {
  let state = seed;
  const draw = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 8;
  };
  const made = Uint8Array.from({ length: bytes }, draw);
  const [words, floats] = [new Uint32Array(made.buffer), new Float32Array(made.buffer)];
  for (const i of words.keys())
    if (mode === 1) floats[i] = ((draw() % 2001) - 1000) / 8;
    else if (mode === 2) words[i] = i % 3 === 2 ? Math.imul(draw(), 2654435761) : special[i % special.length]!;
  return made;
}

const kernels = new TensorKernels();
/** The same kernels for Apple GPUs, of which some trials are enough. */
const apple = new TensorKernels('macos15');
test.after(() => {
  kernels.close();
  apple.close();
});

interface Load {
  readonly memory: Uint8Array;
  readonly map: (address: bigint) => Uint8Array;
  /** Of the copy: its operands are registers. */
  readonly form: 'tile' | 'im2col';
  readonly at: readonly number[];
  readonly offsets?: readonly number[];
  /** Bytes that are recorded, and those of the copy. */
  readonly total: number;
  readonly bytes: number;
}

/** Shared memory around a copy, which has 0xee before. The operands lie behind the tensor, so that copies of a rank have one kernel. */
function loaded({ memory, map, form, at, offsets = [], total, bytes }: Load, on = kernels): Uint8Array {
  const operands = Uint8Array.from(new Uint8Array(Int32Array.of(total, bytes, ...at, ...offsets).buffer));
  const given = new Uint8Array(memory.length + operands.length);
  given.set(memory);
  given.set(operands, memory.length);
  const places = at.map((_, i) => `c${i}`);
  const filter = offsets.map((_, i) => `o${i}`);
  const loads = [...places, ...filter].map(
    (name, i) => `ld.global.${name.startsWith('c') ? 'b32' : 'b16'} ${name}, [in+${memory.length + 8 + 4 * i}];`,
  );
  const body = `.reg .b32 total, bytes, both, c<5>;
.reg .b16 o<3>;
mov.b64 map, p1;
cvta.param.u64 map, map;
ld.param.u64 in, [p2];
ld.global.b32 total, [in+${memory.length}];
ld.global.b32 bytes, [in+${memory.length + 4}];
add.u32 both, total, bytes;
${loads.join('\n')}
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared.b64 state, [bar], both;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [out], total, [bar];
cp.async.bulk.tensor.${at.length}d.shared::cluster.global.${form}.mbarrier::complete_tx::bytes [data], [map, ${list(places)}], [bar]${filter.length ? `, ${list(filter)}` : ''};
mbarrier.test_wait.shared.b64 p, [bar], state;
@!p trap;
cp.async.bulk.global.shared::cta.bulk_group [out], [data], total;`;
  const { out, said } = on.launch(body, new Uint8Array(total).fill(0xee), { memory: given, map });
  if (said) throw new Error(said);
  return out;
}
const made = (map: ReturnType<typeof encodeTiled>): Uint8Array =>
  'bytes' in map ? map.bytes : (assert.unreachable(map.why) as unknown as Uint8Array);
const list = (numbers: readonly (number | string)[]): string => `{${numbers.join(', ')}}`;
const typeOf = (number: number) => tensorTypes[number]!.name;
const boxBytes = ({ box, steps, type }: Pick<Box, 'box' | 'steps' | 'type'>): number =>
  box.reduce((product, n, i) => product * (i === 0 ? n : Math.ceil(n / steps[i]!)), tensorTypes[type]!.bytes);

test(`${recorded.loads.length} boxes of tensors into shared memory`, () => {
  for (const [number, trial] of recorded.loads.entries()) {
    const { type, swizzle, fill, dims, strides, box, steps, at, bytes } = trial;
    const width = ([0, 32, 64, 128] as const)[swizzle]!;
    const tensor = { type: typeOf(type), dims, strides, box, steps, swizzle: width, fill: fill ? 'nan' : 'zero' } as const;
    const map = (address: bigint): Uint8Array => made(encodeTiled({ ...tensor, address }));
    const load = { memory: inputOf(trial.seed, 1 << 15, 0), map, form: 'tile', at, total: bytes, bytes: boxBytes(trial) } as const;
    for (const on of at.length === 3 && number < 40 ? [kernels, apple] : [kernels])
      assert.is(digestOf(loaded(load, on)), trial.digest, JSON.stringify(trial));
  }
});

test(`${recorded.converted.length} boxes of numbers that are converted`, () => {
  for (const { type, input, bytes, digest } of recorded.converted) {
    const tensor = { type: typeOf(type), dims: [64, 16], strides: [256], box: [64, 16], fill: 'zero' } as const;
    const map = (address: bigint): Uint8Array => made(encodeTiled({ ...tensor, address }));
    const out = loaded({ memory: new Uint8Array(Buffer.from(input, 'base64')), map, form: 'tile', at: [0, 0], total: bytes, bytes: 4096 });
    assert.is(digestOf(out), digest, typeOf(type));
  }
});

test(`${recorded.columns.length} columns of convolutions`, () => {
  for (const trial of recorded.columns) {
    const { dims, strides, lower, upper, steps, pixels, at, offsets, bytes } = trial;
    const tensor = { type: 'u16', dims, strides, lower, upper, steps, channels: 8, pixels, fill: 'zero' } as const;
    const map = (address: bigint): Uint8Array => made(encodeIm2col({ ...tensor, address }));
    const out = loaded({ memory: inputOf(trial.seed, 1 << 15, 0), map, form: 'im2col', at, offsets, total: bytes, bytes });
    assert.is(digestOf(out), trial.digest, JSON.stringify(trial));
  }
});

test(`${recorded.stores.length} stores and sums through maps that convert loads`, () => {
  for (const [number, { seed, op, type, digest }] of recorded.stores.entries()) {
    const input = inputOf(seed, 4096, 2);
    const tensor = { type: typeOf(type), dims: [16, 8], strides: [64], box: [16, 8], fill: 'zero' } as const;
    const shared = new Uint8Array(8192);
    shared.set(input.subarray(0, 512));
    const memory = input.slice(2048, 2048 + 640);
    const map = (address: bigint): Uint8Array => made(encodeTiled({ ...tensor, address }));
    const copy = { memory, shared, map, start: [0, 0], ...(op ? { op } : {}) } as const;
    for (const on of op || number > 9 ? [kernels] : [kernels, apple])
      assert.is(digestOf(on.store(copy)), digest, `${op || 'store'} ${typeOf(type)}`);
  }
});

test(`${recorded.reductions.length} bulk reductions`, () => {
  for (const form of new Set(recorded.reductions.map((each) => each.form))) {
    const body = `ld.param.u64 in, [p1];
mbarrier.init.shared.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [in], 512, [bar];
cp.reduce.async.bulk.global.shared::cta.bulk_group.${form} [out], [data], 512;`;
    const text = ptx(body, { params: ', .param .u64 p1' });
    for (const { seed, mode, digest } of recorded.reductions.filter((each) => each.form === form)) {
      const input = inputOf(seed, 1024, mode);
      const [out] = run(text, { args: [input.slice(0, 512), input.slice(512)] });
      assert.is(digestOf(out!), digest, `${form} ${mode}`);
    }
  }
});

/** The instruction of a step, by its number in the recorder. */
const stepOf = [
  (n: number) => `mbarrier.arrive.shared::cta.b64 state, [bar], ${n};`,
  (n: number) => `mbarrier.arrive.expect_tx.shared::cta.b64 state, [bar], ${n};`,
  (n: number) => `mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], ${n};`,
  (n: number) => `mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], ${n};`,
  (n: number) => `mbarrier.arrive_drop.shared::cta.b64 state, [bar], ${n};`,
  (n: number) => `mbarrier.arrive.noComplete.shared::cta.b64 state, [bar], ${n};`,
];

// Each is a kernel of its own, which takes its time to compile.
const barriers = recorded.barriers.slice(0, 5);
test(`${barriers.length} barriers, step by step`, () => {
  for (const [number, { init, steps, results }] of barriers.entries()) {
    const body = steps.map(([kind, count], i) => {
      const hasState = kind !== 2 && kind !== 3;
      const more = `mbarrier.test_wait.shared::cta.b64 p, [bar], state;\nselp.u32 y, 4, 0, p;\nor.b32 x, x, y;
mbarrier.pending_count.b64 y, state;\nshl.b32 y, y, 8;\nor.b32 x, x, y;`;
      return `${stepOf[kind]!(count)}
mbarrier.test_wait.parity.shared::cta.b64 p, [bar], 0;\nselp.u32 x, 1, 0, p;
mbarrier.test_wait.parity.shared::cta.b64 p, [bar], 1;\nselp.u32 y, 2, 0, p;\nor.b32 x, x, y;
${hasState ? more : ''}\nst.global.u32 [out+${4 * i}], x;`;
    });
    const text = ptx(`mbarrier.init.shared::cta.b64 [bar], ${init};\n${body.join('\n')}`);
    for (const target of number < 1 ? (['cpu', 'macos15'] as const) : (['cpu'] as const)) {
      const [out] = run(text, { args: [new Uint32Array(steps.length)] }, target);
      assert.equal([...new Uint32Array(out!.slice().buffer)], [...results], `of ${init} on ${target}`);
    }
  }
});

test.run();
