/**
 * The API contract, a list of tests for every device: memory in all states, stream order, kernels with typed arguments, symbols,
 * events, host functions, sticky errors, reset. Expected results are worked out by hand from the manuals of PTX and of the CUDA
 * runtime.
 */
import * as assert from 'uvu/assert';
import { type Buffer, bindLibrary, CumetalError, Device, DeviceLostError, LaunchError, ResourceError } from '../../src/api/index.ts';
import type { ElementType } from '../../src/runtime/index.ts';
import type { Candidate } from './device-contract.ts';
import type { Register } from './need.ts';
import { printCall, printingModule } from './printing.ts';

export const head = '.version 9.0\n.target sm_90\n.address_size 64\n';

export const kernels = {
  /** y[i] = a * x[i] + y[i]; nvcc compiles an `int` parameter to `.u32`. */
  saxpy: `${head}.visible .entry saxpy(.param .f32 factor, .param .u64 from, .param .u64 to, .param .u32 count)
{
  .reg .pred p; .reg .b32 i, b, t, n; .reg .f32 a, u, v; .reg .b64 x, y, w;
  ld.param.f32 a, [factor]; ld.param.u64 x, [from]; ld.param.u64 y, [to]; ld.param.u32 n, [count];
  mov.u32 b, %ctaid.x; mov.u32 i, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, b, t;
  setp.ge.s32 p, i, n; @p ret;
  mul.wide.u32 w, i, 4; add.s64 x, x, w; add.s64 y, y, w;
  ld.global.f32 u, [x]; ld.global.f32 v, [y]; fma.rn.f32 v, a, u, v; st.global.f32 [y], v;
  ret;
}`,
  /** A value of every size, and a struct. */
  values: `${head}.visible .entry values(.param .u8 a, .param .u64 out, .param .s16 b, .param .u32 c, .param .u64 d, .param .align 4 .b8 e[12], .param .f64 f)
{
  .reg .b32 x; .reg .b64 p, y; .reg .f64 z;
  ld.param.u64 p, [out];
  ld.param.u8 x, [a]; st.global.u32 [p], x;
  ld.param.s16 x, [b]; st.global.u32 [p+4], x;
  ld.param.u32 x, [c]; st.global.u32 [p+8], x;
  ld.param.u64 y, [d]; st.global.u64 [p+16], y;
  ld.param.u32 x, [e+8]; st.global.u32 [p+12], x;
  ld.param.f64 z, [f]; st.global.f64 [p+24], z;
  ret;
}`,
  /** Reads through an address stored in memory. */
  follow: `${head}.visible .entry follow(.param .u64 out, .param .u64 list)
{
  .reg .b32 x; .reg .b64 p, q, r;
  ld.param.u64 p, [out]; ld.param.u64 q, [list]; ld.global.u64 r, [q]; ld.global.u32 x, [r+4]; st.global.u32 [p], x;
  ret;
}`,
  /** Adds one to a word. */
  bump: `${head}.visible .entry bump(.param .u64 word)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [word]; ld.global.u32 x, [p]; add.u32 x, x, 1; st.global.u32 [p], x; ret; }`,
  module: `${head}.global .u32 count;
.global .align 4 .u32 table[3] = {7, 8, 9};
.visible .entry show(.param .u64 out)
{
  .reg .b32 x; .reg .b64 p;
  ld.param.u64 p, [out]; ld.global.u32 x, [table+4]; st.global.u32 [p], x; atom.global.add.u32 x, [count], 1;
  ret;
}`,
  /** Reverses words in dynamic shared memory. */
  turn: `${head}.extern .shared .align 4 .b8 room[];
.visible .entry turn(.param .u64 words)
{
  .reg .b32 t, x, a, n; .reg .b64 p, w;
  ld.param.u64 p, [words]; mov.u32 t, %tid.x; mov.u32 n, %ntid.x; mul.wide.u32 w, t, 4; add.s64 p, p, w; ld.global.u32 x, [p];
  mov.u32 a, room; shl.b32 t, t, 2; add.u32 a, a, t; st.shared.u32 [a], x;
  bar.sync 0;
  shl.b32 n, n, 2; sub.u32 n, n, 4; sub.u32 n, n, t; mov.u32 a, room; add.u32 a, a, n; ld.shared.u32 x, [a]; st.global.u32 [p], x;
  ret;
}`,
  stops: `${head}.visible .entry stops(.param .u64 out) { .reg .b64 p; ld.param.u64 p, [out]; st.global.u32 [p], 1; trap; ret; }`,
  demands: `${head}.visible .entry demands(.param .u64 out) .reqntid 4, 2, 1 { .reg .b64 p; ld.param.u64 p, [out]; st.global.u32 [p], 1; ret; }`,
} as const;

/** Forty values and a pointer among them: more parameters than Metal has slots. */
const names = Array.from({ length: 40 }, (_, i) => `v${i}`);
export const manyParams = `${head}.visible .entry many(${[...names.slice(0, 20).map((n) => `.param .u32 ${n}`), '.param .u64 out', ...names.slice(20).map((n) => `.param .u32 ${n}`)].join(', ')})
{
  .reg .b32 x; .reg .b64 p;
  ld.param.u64 p, [out];
${names.map((name, i) => `  ld.param.u32 x, [${name}]; st.global.u32 [p+${4 * i}], x;`).join('\n')}
  ret;
}`;

const printer = printingModule({ format: 'thread %d\n' }, `  st.local.u32 [depot], t;\n${printCall('format', 'list')}`);

/** The code of the exception of a call or of its rejected promise; `nothing` without one. */
export async function codeOf(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'nothing';
  } catch (error) {
    if (error instanceof CumetalError) return error.code;
    throw error;
  }
}

const one = { grid: 1, block: 1 } as const;

/** Registers the tests of the contract for the API over a device. */
export function apiContract(test: Register, candidate: Candidate): void {
  /** A test on a device of its own, which is closed afterwards. */
  const on = (what: string, body: (device: Device) => Promise<void>): void =>
    test(`${candidate.name}: ${what}`, async () => {
      const device = Device.over(candidate.open(), { reopen: candidate.open });
      try {
        await body(device);
      } finally {
        // Pending releases are completed.
        await device.synchronize().catch(() => {});
        device.close();
      }
      candidate.check?.();
    });

  on('buffers of every type hold zeros, then what is written, and reads are copies', async (device) => {
    const types: [ElementType, number, number[]][] = [
      ['u8', 1, [0, 7, 255]],
      ['i8', 1, [-128, 0, 127]],
      ['u16', 2, [0, 1, 65535]],
      ['i16', 2, [-32768, 5, 32767]],
      ['u32', 4, [0, 1, 4294967295]],
      ['i32', 4, [-2147483648, 3, 2147483647]],
      ['f32', 4, [0.5, -1.25, 3]],
      ['f64', 8, [0.1, -1e300, 3]],
    ];
    for (const [element, size, values] of types) {
      const buffer = device.allocate(element, 3);
      assert.equal([buffer.length, buffer.byteLength, buffer.element, buffer.state], [3, 3 * size, element, 'device']);
      assert.equal([...(await buffer.read())], [0, 0, 0]);
      buffer.write(values);
      assert.equal([...(await buffer.read())], values);
    }
    // 1.0 and -2.0 as IEEE 754 f16, and as bf16; numbers on the way out, whatever they were on the way in.
    for (const [type, bits] of [
      ['f16', [0x3c00, 0xc000]],
      ['bf16', [0x3f80, 0xc000]],
    ] as const) {
      for (const data of [[1, -2], Float32Array.of(1, -2), Uint16Array.from(bits)] as const) {
        const halves = device.bufferOf(type, data);
        assert.equal([...(await halves.read())], [1, -2]);
        assert.equal([...(await halves.as('u16').read())], bits);
      }
    }
    // Integers out of range, as numbers of either sign.
    assert.throws(() => device.bufferOf('u8', [1, 300]), /300 at index 1, which does not fit/);
    assert.throws(() => device.bufferOf('i16', [-40000]), /does not fit/);
    assert.throws(() => device.allocate('u32', 2).fill(2 ** 32), /does not fit/);
    assert.throws(() => device.bufferOf('u16', [1.5]), /does not fit/);
    const wide = device.allocate('u64', 2);
    wide.write([2n ** 64n - 1n, 5]);
    assert.equal([...(await wide.read())], [2n ** 64n - 1n, 5n]);
    assert.equal([...(await wide.as('i64').read())], [-1n, 5n]);
  });

  on('data is copied at the call; subviews share memory; a fill sets every element', async (device) => {
    const buffer = device.allocate('u32', 6);
    const data = Uint32Array.of(1, 2, 3, 4, 5, 6);
    buffer.write(data);
    data.fill(9);
    const middle = buffer.part(2, 3);
    middle.fill(7);
    middle.part(1).write([8]);
    assert.equal([...(await buffer.read())], [1, 2, 7, 8, 7, 6]);
    assert.equal([...(await middle.as('u8').read())], [7, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0]);
    device.allocate('f64', 2).fill(-0.5);
    assert.equal(
      await Promise.all(
        [
          () => buffer.part(4, 3),
          () => buffer.part(-1),
          () => buffer.part(0.5, 1),
          () => buffer.part(1).as('f64'),
          () => buffer.write(new Uint32Array(7)),
        ].map(codeOf),
      ),
      ['CM5063', 'CM5063', 'CM5063', 'CM5063', 'CM5063'],
    );
    assert.is(await codeOf(() => buffer.write(new Float32Array(1) as never)), 'CM5074');
  });

  on('host and device visibility: misuse is a type error, and CM5060 at run time', async (device) => {
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const [host, staging, memory] = [device.allocate('u32', 1, 'host'), device.allocate('u32', 1, 'staging'), device.allocate('u32', 1)];
    host.view[0] = 5;
    staging.view[0] = 6;
    const misuses = [
      // @ts-expect-error kernels cannot access host memory
      () => bump.launch({ ...one, args: [host] }),
      // @ts-expect-error nor staging memory
      () => bump.launch({ ...one, args: [staging] }),
      // @ts-expect-error the host cannot access device memory
      () => memory.view,
      // @ts-expect-error host memory has no device address
      () => host.address,
      // @ts-expect-error and no asynchronous read
      () => host.read(),
      // @ts-expect-error nor fill
      () => device.defaultStream.fill(staging, 1),
    ];
    for (const misuse of misuses) assert.is(await codeOf(misuse), 'CM5060');
    // @ts-expect-error elements of another type
    const other = () => bump.launch({ ...one, args: [device.allocate('f32', 1)] });
    assert.type(other, 'function');
    assert.is(await codeOf(() => device.allocate('u32', -1, 'host')), 'CM6012');
    assert.is(await codeOf(() => device.allocate('u32', 2 ** 40)), 'CM6012');
  });

  on('unified memory is accessed in place by host and device, but not by the host while work is pending', async (device) => {
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const shared = device.allocate('u32', 2, 'unified');
    shared.view.set([41, 7]);
    const work = bump.launch({ ...one, args: [shared] });
    assert.is(await codeOf(() => shared.view), 'CM5066');
    await work.ended();
    const { view } = shared;
    assert.equal([...view], [42, 7]);
    // Later allocations do not invalidate the view.
    device.allocate('u8', 2 ** 20).free();
    view[1] = 10;
    assert.equal([...(await shared.read())], [42, 10]);
  });

  on('copies between all states; host memory is read at the call, staging memory in stream order', async (device) => {
    const stream = device.stream();
    const [host, staging] = [device.allocate('u32', 2, 'host'), device.allocate('u32', 2, 'staging')];
    const [a, b, unified] = [device.allocate('u32', 2), device.allocate('u32', 2), device.allocate('u32', 2, 'unified')];
    host.view.set([1, 2]);
    staging.view.set([3, 4]);
    stream.copy(a, host);
    stream.copy(b, staging);
    host.view.fill(99);
    staging.view.set([5, 6]);
    stream.copy(unified.part(1), a.part(0, 1));
    stream.copy(a, Uint32Array.of(8));
    const back = device.allocate('u32', 2, 'host');
    stream.copy(back, b);
    stream.copy(staging, unified);
    const into = new Uint32Array(2);
    stream.fetch(into, a);
    assert.equal([...back.view, ...into], [0, 0, 0, 0]);
    await stream.synchronize();
    assert.equal([...(await a.read())], [8, 2]);
    assert.equal(
      [[...back.view], [...staging.view], [...into]],
      [
        [5, 6],
        [0, 1],
        [8, 2],
      ],
    );
    stream.copy(a.part(1), a.part(0, 1));
    assert.equal([...(await a.read({ stream }))], [8, 8]);
    assert.is(await codeOf(() => stream.copy(a.part(1), b)), 'CM5063');
    stream.close();
  });

  on('a kernel with typed arguments: buffers, subviews, and addresses within them', async (device) => {
    const saxpy = device.load(kernels.saxpy).kernel('saxpy', ['f32', 'f32*', 'f32*', 'u32']);
    const [x, y] = [device.bufferOf('f32', [1, 2, 3, 4]), device.bufferOf('f32', [10, 20, 30, 40])];
    const { durationMs, warnings } = await saxpy.launch({ grid: 2, block: [2], args: [0.5, x, y, 4] }).ended();
    assert.ok(durationMs >= 0 && durationMs < 60_000);
    assert.equal(warnings, []);
    assert.equal([...(await y.read())], [10.5, 21, 31.5, 42]);
    saxpy.launch({ grid: 1, block: 4, args: [1, x.part(2), y.address + 4n, 2] });
    assert.equal([...(await y.read())], [10.5, 24, 35.5, 42]);
    // An `int` of -1, for which no thread is in bounds.
    saxpy.launch({ grid: 1, block: 4, args: [1, x, y, -1] });
    assert.equal([...(await y.read())], [10.5, 24, 35.5, 42]);
  });

  on('values of every size; an address by value; 40 parameters; dynamic shared memory', async (device) => {
    const out = device.allocate('u32', 8);
    const struct = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    device
      .load(kernels.values)
      .kernel()
      .launch({ ...one, args: [254, out, -2, 0x89abcdef, 0x1122334455667788n, struct, -0.5] });
    // -0.5 is 0xbfe0000000000000.
    assert.equal([...(await out.read())], [0xfe, 0xfffffffe, 0x89abcdef, 0x0c0b0a09, 0x55667788, 0x11223344, 0, 0xbfe00000]);
    const [list, target] = [device.allocate('u64', 1), device.bufferOf('u32', [5, 6])];
    // The kernel treats the pointer as a number and does not dereference it.
    device
      .load(kernels.values)
      .kernel()
      .launch({ ...one, args: [0, out, 0, 0, target.part(1), struct, 0] });
    assert.is((await out.as('u64').read())[2], target.address + 4n);
    list.write([target.address]);
    device
      .load(kernels.follow)
      .kernel('follow', ['u32*', 'u64*'])
      .launch({ ...one, args: [out.part(3), list] });
    assert.is((await out.read())[3], 6);
    const wide = device.allocate('u32', 40);
    const numbers = Array.from({ length: 40 }, (_, i) => 3 * i + 1);
    device
      .load(manyParams)
      .kernel()
      .launch({ ...one, args: [...numbers.slice(0, 20), wide, ...numbers.slice(20)] });
    assert.equal([...(await wide.read())], numbers);
    const turned = device.bufferOf('u32', [1, 2, 3, 4]);
    device
      .load(kernels.turn)
      .kernel()
      .launch({ grid: 1, block: 4, args: [turned], shared: 16 });
    assert.equal([...(await turned.read())], [4, 3, 2, 1]);
  });

  on('invalid launches are refused before the device is called', async (device) => {
    const [module, values] = [device.load(kernels.saxpy), device.load(kernels.values).kernel()];
    const saxpy = module.kernel('saxpy');
    const [x, freed] = [device.bufferOf('f32', [1]), device.allocate('f32', 1)];
    const { address } = freed;
    freed.free();
    const launch = (args: readonly unknown[], shape = {}) => saxpy.launch({ ...one, ...shape, args: args as never });
    const struct = new Uint8Array(12);
    const value = (i: number, to: unknown) => () =>
      values.launch({ ...one, args: [1, x, 2, 3, 4, struct, 5].map((v, at) => (at === i ? to : v)) as never });
    const faults: [string, () => unknown][] = [
      ['CM5011', () => launch([1, x, x])],
      ['CM5011', () => launch([1, x, x, 1, 1])],
      ['CM5070', () => launch([x, x, x, 1])],
      ['CM5070', () => launch([1n, x, x, 1])],
      ['CM5070', () => launch([1, 5, x, 1])],
      ['CM5070', () => launch([1, new Float32Array(4), x, 1])],
      ['CM5070', () => launch([null, x, x, 1])],
      ['CM5070', () => launch([1, x, x, 1.5])],
      ['CM5070', () => launch([1, x, x, 2 ** 32])],
      ['CM5070', () => launch([1, x, x, 'one'])],
      ['CM5061', () => launch([1, freed, x, 1])],
      ['CM5064', () => launch([1, address, x, 1])],
      ['CM5064', () => launch([1, 0n, x, 1])],
      ['CM5021', () => launch([1, x, x, 1], { block: 2048 })],
      ['CM5022', () => launch([1, x, x, 1], { shared: 2 ** 20 })],
      ['CM5024', () => launch([1, x, x, 1], { grid: -1 })],
      [
        'CM5034',
        () =>
          device
            .load(kernels.turn)
            .kernel()
            .launch({ grid: 1, block: 1, args: [x] }),
      ],
      [
        'CM5020',
        () =>
          device
            .load(kernels.demands)
            .kernel()
            .launch({ grid: 1, block: 8, args: [x] }),
      ],
      ['CM5070', value(0, 256)],
      ['CM5070', value(0, -129)],
      ['CM5070', value(2, 65536)],
      ['CM5070', value(4, 2n ** 64n)],
      ['CM5070', value(4, 2 ** 60)],
      ['CM5070', value(5, 1)],
      ['CM5013', value(5, new Uint8Array(11))],
      ['CM5001', () => module.kernel('saxpi')],
      ['CM5071', () => module.kernel('saxpy', ['f32', 'f32*', 'f32*'])],
      ['CM5071', () => module.kernel('saxpy', ['u32', 'f32*', 'f32*', 'u32'])],
      ['CM5071', () => module.kernel('saxpy', ['f32', 'f32', 'f32*', 'u32'])],
      ['CM5071', () => module.kernel('saxpy', ['f32', 'f32*', 'f32*', 'u64'])],
      ['CM5071', () => module.kernel('saxpy', ['f32', 'f32*', 'f32*', 'u32', 'u32'])],
    ];
    for (const [code, run] of faults) assert.is(await codeOf(run), code, run.toString());
    assert.equal([...(await x.read())], [1]);
    await device.synchronize();
  });

  on('objects of another device are refused', async (device) => {
    const other = Device.over(candidate.open());
    const [theirs, stream, event] = [other.allocate('u32', 1), other.stream(), other.event()];
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const ours = device.allocate('u32', 1);
    const faults = [
      () => bump.launch({ ...one, args: [theirs] }),
      () => bump.launch({ ...one, args: [ours], stream }),
      () => device.defaultStream.record(event),
      () => ours.write([1], { stream }),
      () => ours.read({ stream }),
      () => ours.fill(1, { stream }),
    ];
    for (const run of faults) assert.is(await codeOf(run), 'CM5062');
    // Waiting for an event of another device is allowed.
    stream.record(event);
    device.defaultStream.wait(event);
    await device.synchronize();
    other.close();
  });

  on('module variables are written and read in stream order', async (device) => {
    const module = device.load(kernels.module);
    const [table, out, stream] = [module.symbol('table'), device.allocate('u32', 1), device.stream()];
    assert.equal([...module.symbols].sort(), ['count', 'table']);
    assert.is(table.byteLength, 12);
    const show = module.kernel('show', ['u32*']);
    show.launch({ ...one, args: [out], stream });
    const first = out.read({ stream });
    table.write(Uint32Array.of(80), { offset: 4, stream });
    show.launch({ ...one, args: [out], stream });
    assert.equal([...(await first)], [8]);
    assert.equal([...(await out.read({ stream }))], [80]);
    assert.equal([...(await table.read())], [7, 0, 0, 0, 80, 0, 0, 0, 9, 0, 0, 0]);
    assert.equal([...(await module.symbol('count').read())], [2, 0, 0, 0]);
    assert.is(await codeOf(() => module.symbol('tabel')), 'CM5023');
    assert.is(await codeOf(() => table.write(new Uint8Array(4), { offset: 10 })), 'CM5063');
    stream.close();
  });

  on('printed text is passed to the launch, or to the device', async () => {
    const printed: string[] = [];
    const to = (target: string) => (text: Uint8Array) => void printed.push(`${target}: ${new TextDecoder().decode(text).trim()}`);
    const printing = Device.over(candidate.open(), { print: to('device') });
    const kernel = printing.load(printer).kernel();
    const word = printing.allocate('u32', 1);
    kernel.launch({ grid: 1, block: 1, args: [word] });
    kernel.launch({ grid: 1, block: 1, args: [word], print: to('launch') });
    await printing.synchronize();
    printing.close();
    assert.equal(printed, ['device: thread 0', 'launch: thread 0']);
  });

  on('host functions are called in stream order, and cannot use the device', async (device) => {
    const [stream, counter] = [device.stream(), device.allocate('u32', 1)];
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const order: string[] = [];
    bump.launch({ ...one, args: [counter], stream });
    stream.call(() => order.push('first'));
    stream.call(() => order.push('second'));
    assert.equal(order, []);
    await stream.synchronize();
    assert.equal(order, ['first', 'second']);
    stream.call(() => void device.allocate('u8', 1));
    assert.is(await codeOf(() => stream.synchronize()), 'CM5069');
    const work = stream.call(() => {
      throw new Error('of the host function');
    });
    assert.is(await codeOf(() => work.ended()), 'CM5073');
    // The error was reported, and the stream continues.
    await stream.synchronize();
    assert.equal([...(await counter.read({ stream }))], [1]);
    stream.close();
    assert.is(await codeOf(() => stream.call(() => {})), 'CM5061');
    assert.is(await codeOf(() => stream.synchronize()), 'CM5061');
  });

  on('events complete after the work before them, and measure elapsed time', async (device) => {
    const [stream, start, end, untimed] = [device.stream(), device.event(), device.event(), device.event({ timing: false })];
    assert.is(start.isDone, true);
    await start.synchronize();
    assert.is(await codeOf(() => end.elapsedSince(start)), 'CM5067');
    stream.record(start);
    stream.call(() => {
      const until = performance.now() + 5;
      while (performance.now() < until);
    });
    stream.record(end);
    stream.record(untimed);
    assert.equal([start.isDone, end.isDone, stream.isDone], [false, false, false]);
    assert.is(await codeOf(() => end.elapsedSince(start)), 'CM5068');
    await end.synchronize();
    assert.equal([start.isDone, end.isDone], [true, true]);
    const elapsed = end.elapsedSince(start);
    assert.ok(elapsed >= 4.9 && elapsed < 60_000, `${elapsed} ms`);
    await untimed.synchronize();
    assert.is(await codeOf(() => untimed.elapsedSince(start)), 'CM5067');
    end.close();
    assert.is(await codeOf(() => end.isDone), 'CM5061');
    stream.close();
  });

  on('work of a closed stream or buffer is completed', async (device) => {
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const [counter, copy, stream] = [device.allocate('u32', 1), device.allocate('u32', 1), device.stream({ nonBlocking: true })];
    for (let i = 0; i < 3; i++) bump.launch({ ...one, args: [counter], stream });
    const work = stream.copy(copy, counter);
    counter.free();
    stream.close();
    assert.is(await codeOf(() => counter.read()), 'CM5061');
    await work.ended();
    assert.equal([...(await copy.read())], [3]);
    counter.free();
  });

  on('the error of a kernel is sticky until the device is reset', async (device) => {
    const out = device.allocate('u32', 1);
    const [stops, stream] = [device.load(kernels.stops).kernel('stops', ['u32*']), device.stream()];
    const failed = stops.launch({ ...one, args: [out] });
    const after = stream.copy(out, Uint32Array.of(9));
    await failed.ended().then(
      () => assert.unreachable(),
      (error: unknown) => {
        assert.instance(error, LaunchError);
        assert.equal([(error as LaunchError).code, (error as LaunchError).cuda.number], [candidate.stopped ?? 'CM6014', 719]);
      },
    );
    const error: unknown = await device.synchronize().catch((reason: unknown) => reason);
    assert.instance(error, DeviceLostError);
    assert.equal([(error as DeviceLostError).code, (error as DeviceLostError).cuda.name], ['CM5072', 'cudaErrorLaunchFailure']);
    assert.is((error as DeviceLostError).cause, device.failure);
    for (const run of [() => after.ended(), () => out.read(), () => device.allocate('u8', 1), () => stream.isDone, () => device.stream()])
      assert.is(await codeOf(run), 'CM5072');
    // The process cannot use the GPU any more either.
    if (candidate.stopped) return;
    await device.reset();
    assert.is(device.failure, undefined);
    assert.is(await codeOf(() => out.read()), 'CM5061');
    assert.is(await codeOf(() => stops.launch({ ...one, args: [out] })), 'CM5061');
    assert.is(await codeOf(() => stream.synchronize()), 'CM5061');
    const counter = device.bufferOf('u32', [1]);
    device
      .load(kernels.bump)
      .kernel()
      .launch({ ...one, args: [counter] });
    assert.equal([...(await counter.read())], [2]);
  });

  on('a closed device refuses work, and work that has not started is dropped', async (device) => {
    const buffer = device.allocate('u32', 1);
    const work = device.defaultStream.fill(buffer, 1);
    device.close();
    assert.is(await codeOf(() => work.ended()), 'CM5061');
    for (const run of [() => device.allocate('u8', 1), () => buffer.read(), () => device.synchronize(), () => device.reset()])
      assert.is(await codeOf(run), 'CM5061');
    buffer.free();
    device.close();
  });

  on('`await using` waits for pending work and reports its errors', async (device) => {
    const order: string[] = [];
    {
      await using other = Device.over(candidate.open());
      other.defaultStream.call(() => order.push('done'));
    }
    order.push('closed');
    assert.equal(order, ['done', 'closed']);
    const failing = async (): Promise<void> => {
      await using other = Device.over(candidate.open());
      other.defaultStream.call(() => {
        throw new Error('of the host function');
      });
    };
    assert.is(await codeOf(failing), 'CM5073');
    device.close();
    await device[Symbol.asyncDispose]();
  });

  on('the one-call form: arrays are passed and hold the results afterwards', async (device) => {
    using library = bindLibrary(kernels.saxpy, { device });
    const [x, y] = [Float32Array.of(1, 2, 3), Float32Array.of(10, 20, 30)];
    await library.launchKernel({ name: 'saxpy', grid: 1, block: 32, args: [2, x, y, 3] });
    assert.equal(
      [[...x], [...y]],
      [
        [1, 2, 3],
        [12, 24, 36],
      ],
    );
    // One array for two parameters is one buffer.
    await library.launchKernel({ grid: 1, block: 32, args: [1, y, y, 3] });
    assert.equal([...y], [24, 48, 72]);
    assert.is(await codeOf(() => library.launchKernel({ name: 'saxpi', grid: 1, block: 1, args: [] })), 'CM5001');
    assert.is(await codeOf(() => library.launchKernel({ grid: 1, block: 1, args: [1] })), 'CM5011');
    assert.is(await codeOf(() => bindLibrary('no PTX', { device })), 'CM1001');
  });

  const launches = candidate.launches ?? 10_000;
  on(`${launches} launches, 1 000 allocations and frees leak nothing`, async (device) => {
    const bump = device.load(kernels.bump).kernel('bump', ['u32*']);
    const counter = device.allocate('u32', 1);
    for (let i = 0; i < launches; i++) {
      bump.launch({ ...one, args: [counter] });
      if (i % 500 !== 499) continue;
      await device.synchronize();
      candidate.forget?.();
    }
    assert.equal([...(await counter.read())], [launches]);
    // With a leak the CPU device would run out of memory: 1 000 of 8 MiB. A device that keeps records reports leaks itself.
    const size = candidate.check ? 2 ** 12 : 2 ** 23;
    for (let i = 0; i < 1000; i++) {
      const buffer: Buffer<'u8', 'device'> = device.allocate('u8', size);
      if (i % 100 === 0) assert.ok(buffer.address > 0n);
      buffer.free();
      if (i % 50 === 49) {
        await device.synchronize();
        candidate.forget?.();
      }
    }
  });

  test(`${candidate.name}: errors have named classes and the diagnostic's message`, async () => {
    const device = Device.over(candidate.open());
    let error: unknown;
    try {
      device.allocate('u32', 2 ** 40);
    } catch (thrown) {
      error = thrown;
    }
    assert.instance(error, ResourceError);
    assert.instance(error, CumetalError);
    const { name, message, diagnostics, cuda } = error as ResourceError;
    assert.equal([name, diagnostics.length, cuda.number], ['ResourceError', 1, 2]);
    // Runtimes print this name. `spec/dist/installed-api.spec.ts` asks the built classes.
    assert.equal([(error as ResourceError).constructor.name, CumetalError.name], ['ResourceError', 'CumetalError']);
    assert.is(message, 'the device cannot allocate 4398046511104 bytes for a buffer [CM6012]');
    device.close();
    candidate.check?.();
  });
}
