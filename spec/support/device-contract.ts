/**
 * The device contract, a list of tests for every device: memory, arguments, limits, module memory, printed text, faults. Expected
 * results are worked out by hand from the PTX manual and `src/device/device.ts`.
 */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, reflect } from '../../src/compile/index.ts';
import { hostTarget } from '../../src/device/host-target.ts';
import type { Device, DeviceBuffer, DeviceModule, Dim3, LaunchArgument, LaunchRequest, LaunchResult } from '../../src/device/index.ts';
import type { Register } from './need.ts';
import { printCall, printingModule } from './printing.ts';

/** A device under test. */
export interface Candidate {
  readonly name: string;
  open(): Device;
  /** Called after each test, when its devices are closed; throws on misuse that the device recorded. */
  check?(): void;
  /** Launches of the longest test, where 10 000 would take too long. */
  readonly launches?: number;
  /** Called regularly in long tests, for a device that keeps records. */
  forget?(): void;
  /** Called before a launch that does not end, for a device that simulates it. */
  willHang?(): void;
  /** Codes for a kernel that never ends and for an invalid address; undefined for a GPU shared with others. */
  readonly overdue?: 'CM6010' | 'CM6020';
  readonly outside?: 'CM6011' | 'CM6021';
  /** The code for a kernel that stops itself, where nothing can be launched afterwards. */
  readonly stopped?: 'CM6042';
}

const head = '.version 9.0\n.target sm_90\n.address_size 64\n';

const libraries = new Map<string, Uint8Array>();

/** The metallib of a module that has to compile; cached. */
export function libraryOf(text: string): Uint8Array {
  const known = libraries.get(text);
  if (known) return known;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text.startsWith('.version') ? text : head + text));
  const compiled = compile(diagnostics.file!, { hostTarget: hostTarget() }, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  libraries.set(text, compiled.metallib);
  return compiled.metallib;
}

/** The libraries of the whole list as text, for a process in which compiling them is slow. */
export const packLibraries = (): string =>
  JSON.stringify([...Object.values(kernels), manyParams, printing].map((text) => [text, Buffer.from(libraryOf(text)).toString('base64')]));

/** Uses the libraries of `packLibraries` instead of compiling. */
export function takeLibraries(packed: string): void {
  for (const [text, bytes] of JSON.parse(packed)) libraries.set(text, new Uint8Array(Buffer.from(bytes, 'base64')));
}

/** Loads a module in the form that the device accepts. */
function loadOn(device: Device, text: string, diagnostics: Diagnostics): DeviceModule | undefined {
  if (!device.loadPtx) return device.load(libraryOf(text), diagnostics);
  const source = new SourceFile('k.ptx', text.startsWith('.version') ? text : head + text);
  const reflection = reflect(source, {}, diagnostics);
  return reflection && device.loadPtx({ source, kernels: reflection.kernels }, diagnostics);
}

/** A device with a module, for one test. */
interface Rig {
  readonly device: Device;
  readonly module: DeviceModule;
  readonly diagnostics: Diagnostics;
  /** A buffer that holds words. */
  words(...values: number[]): DeviceBuffer;
  launch(kernel: string, args: readonly (DeviceBuffer | number | bigint | Uint8Array)[], shape?: Shape): LaunchResult | undefined;
  /** Codes of the diagnostics since the last call. */
  codes(): string[];
}

interface Shape {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly shared?: number;
  readonly timeoutMs?: number;
  readonly print?: (text: Uint8Array) => void;
  readonly schedule?: LaunchRequest['schedule'];
}

const bytesOf = (value: ArrayBufferView): Uint8Array => new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
const wordsIn = (buffer: DeviceBuffer): number[] => [...new Uint32Array(buffer.read().buffer)];

function argument(given: DeviceBuffer | number | bigint | Uint8Array): LaunchArgument {
  if (typeof given === 'number') return { kind: 'bytes', bytes: bytesOf(Uint32Array.of(given)) };
  if (typeof given === 'bigint') return { kind: 'bytes', bytes: bytesOf(BigUint64Array.of(given)) };
  return given instanceof Uint8Array ? { kind: 'bytes', bytes: given } : { kind: 'buffer', buffer: given };
}

const one: Dim3 = [1, 1, 1];

function rigOn(device: Device, text: string): Rig {
  const diagnostics = new Diagnostics();
  const module = loadOn(device, text, diagnostics);
  assert.ok(module, diagnostics.list.map((d) => d.message).join('; '));
  let reported = 0;
  return {
    device,
    module,
    diagnostics,
    words(...values) {
      const buffer = device.allocate(4 * values.length, diagnostics)!;
      buffer.write(bytesOf(Uint32Array.from(values)));
      return buffer;
    },
    launch(kernel, args, { grid = one, block = one, shared = 0, timeoutMs = 10_000, ...others } = {}) {
      const request = { kernel, grid, block, dynamicSharedBytes: shared, timeoutMs, args: args.map(argument) };
      return module.launch({ ...request, ...others }, diagnostics);
    },
    codes() {
      const list = diagnostics.list.slice(reported).map(({ code }) => code);
      reported = diagnostics.list.length;
      return list;
    },
  };
}

const kernels = {
  /** Each thread of each block stores its position plus a scalar. */
  places: `.visible .entry places(.param .u64 out, .param .u32 more)
{
  .reg .b32 x, y, z, w, h, n; .reg .b64 p, o;
  ld.param.u64 p, [out]; ld.param.u32 n, [more];
  mov.u32 x, %ctaid.x; mov.u32 w, %nctaid.x; mov.u32 y, %ctaid.y; mov.u32 h, %nctaid.y; mov.u32 z, %ctaid.z;
  mad.lo.u32 z, z, h, y; mad.lo.u32 z, z, w, x;
  mov.u32 x, %ntid.x; mov.u32 y, %ntid.y; mul.lo.u32 w, x, y; mov.u32 y, %tid.y; mov.u32 h, %tid.x; mad.lo.u32 y, y, x, h;
  mad.lo.u32 z, z, w, y;
  mul.wide.u32 o, z, 4; add.s64 p, p, o; add.u32 z, z, n;
  st.global.u32 [p], z;
  ret;
}`,
  /** The second parameter may have been a pointer; the third is none, because it is stored. */
  unread: `.visible .entry unread(.param .u64 out, .param .u64 unused, .param .u64 value)
{
  .reg .b64 p, v;
  ld.param.u64 p, [out]; ld.param.u64 v, [value]; st.global.u64 [p], v;
  ret;
}`,
  /** A value of every size, and a struct. */
  values: `.visible .entry values(.param .u8 a, .param .u64 out, .param .u16 b, .param .u32 c, .param .u64 d, .param .align 4 .b8 e[12])
{
  .reg .b32 x; .reg .b64 p, y;
  ld.param.u64 p, [out];
  ld.param.u8 x, [a]; st.global.u32 [p], x;
  ld.param.u16 x, [b]; st.global.u32 [p+4], x;
  ld.param.u32 x, [c]; st.global.u32 [p+8], x;
  ld.param.u64 y, [d]; st.global.u64 [p+16], y;
  ld.param.u32 x, [e+8]; st.global.u32 [p+12], x;
  ret;
}`,
  /** The last word of a struct of 8 KiB, more than a command takes by value. */
  large: `.visible .entry large(.param .u64 out, .param .align 4 .b8 all[8192])
{
  .reg .b32 x; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 x, [all+8188]; st.global.u32 [p], x;
  ret;
}`,
  /** Reverses 64 words through shared memory, half of it static and half dynamic. */
  turn: `.extern .shared .align 4 .b8 more[];
.visible .entry turn(.param .u64 out)
{
  .shared .align 4 .b8 own[128];
  .reg .pred p; .reg .b32 t, x, a, b; .reg .b64 o, w;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 w, t, 4; add.s64 o, o, w;
  ld.global.u32 x, [o];
  setp.lt.u32 p, t, 32;
  mov.u32 a, own; mov.u32 b, more; shl.b32 t, t, 2; add.u32 a, a, t; sub.u32 b, b, 128; add.u32 b, b, t;
  @p st.shared.u32 [a], x; @!p st.shared.u32 [b], x;
  bar.sync 0;
  sub.u32 t, 252, t; mov.u32 a, own; mov.u32 b, more; add.u32 a, a, t; sub.u32 b, b, 128; add.u32 b, b, t;
  @p ld.shared.u32 x, [b]; @!p ld.shared.u32 x, [a];
  st.global.u32 [o], x;
  ret;
}`,
  /** The sum over a warp, by shuffles. */
  warp: `.visible .entry warp(.param .u64 out)
{
  .reg .b32 t, x, y; .reg .b64 o, w;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 w, t, 4; add.s64 o, o, w; ld.global.u32 x, [o];
  shfl.sync.bfly.b32 y, x, 16, 31, -1; add.u32 x, x, y; shfl.sync.bfly.b32 y, x, 8, 31, -1; add.u32 x, x, y;
  shfl.sync.bfly.b32 y, x, 4, 31, -1; add.u32 x, x, y; shfl.sync.bfly.b32 y, x, 2, 31, -1; add.u32 x, x, y;
  shfl.sync.bfly.b32 y, x, 1, 31, -1; add.u32 x, x, y;
  st.global.u32 [o], x;
  ret;
}`,
  /** A counter of the module, a table with values, the address of one in the other, and a constant that the host writes. */
  module: `.global .u32 count;
.global .align 4 .u32 table[3] = {7, 8, 9};
.global .align 8 .u64 where = table;
.const .align 4 .u32 factor;
.visible .entry bump(.param .u32 by)
{ .reg .b32 d, x; ld.param.u32 x, [by]; atom.global.add.u32 d, [count], x; ret; }
.visible .entry show(.param .u64 out)
{
  .reg .b32 x, f; .reg .b64 p, q;
  ld.param.u64 p, [out]; ld.global.u32 x, [count]; st.global.u32 [p], x;
  ld.global.u64 q, [where]; ld.global.u32 x, [q+8]; ld.const.u32 f, [factor]; mul.lo.u32 x, x, f; st.global.u32 [p+4], x;
  ret;
}`,
  /** Thread 5 traps; the others store. */
  stops: `.visible .entry stops(.param .u64 out)
{
  .reg .pred p; .reg .b32 t; .reg .b64 o, w;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 w, t, 4; add.s64 o, o, w;
  setp.eq.u32 p, t, 5; @p trap;
  st.global.u32 [o], 1;
  ret;
}`,
  endless: `.visible .entry endless(.param .u64 out)
{
  .reg .b32 x; .reg .b64 p;
  ld.param.u64 p, [out];
again:
  atom.global.add.u32 x, [p], 1;
  bra again;
}`,
  /** Each thread adds to a sum of 64 bits, and stores the old sum. */
  sums: `.visible .entry sums(.param .u64 olds, .param .u64 sum)
{
  .reg .b32 t, b, n; .reg .b64 o, s, w, d;
  ld.param.u64 o, [olds]; ld.param.u64 s, [sum];
  mov.u32 t, %tid.x; mov.u32 b, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 t, b, n, t; mul.wide.u32 w, t, 8; add.s64 o, o, w;
  atom.global.add.u64 d, [s], 0x380000000;
  st.global.u64 [o], d;
  ret;
}`,
  /** Reads through an address in memory. */
  follow: `.visible .entry follow(.param .u64 out, .param .u64 list)
{
  .reg .b32 x; .reg .b64 p, q, r;
  ld.param.u64 p, [out]; ld.param.u64 q, [list];
  ld.global.u64 r, [q+8]; ld.global.u32 x, [r+4]; st.global.u32 [p], x;
  st.global.u32 [r], 77;
  ret;
}`,
  stray: `.visible .entry stray(.param .u64 out)
{
  .reg .b32 x; .reg .b64 p, q;
  ld.param.u64 p, [out]; mov.u64 q, 4; ld.global.u32 x, [q]; st.global.u32 [p], x;
  ret;
}`,
} as const;

/** Registers the tests of the contract for a device. */
export function contract(test: Register, candidate: Candidate): void {
  /** A test on a device of its own, which is closed afterwards. */
  const on = (what: string, text: string, body: (rig: Rig) => void): void =>
    test(`${candidate.name}: ${what}`, () => {
      const device = candidate.open();
      try {
        body(rigOn(device, text));
      } finally {
        device.close();
      }
      candidate.check?.();
    });

  on('memory holds zeros at first, keeps what is written, and reads are copies', kernels.places, ({ device, diagnostics }) => {
    const buffer = device.allocate(6, diagnostics)!;
    assert.is(buffer.size, 6);
    assert.equal([...buffer.read()], [0, 0, 0, 0, 0, 0]);
    buffer.write(Uint8Array.of(1, 2, 3));
    buffer.write(Uint8Array.of(8, 9), 4);
    const copy = buffer.read();
    buffer.write(Uint8Array.of(5));
    assert.equal([...copy], [1, 2, 3, 0, 8, 9]);
    assert.equal([...(buffer.view?.() ?? buffer.read())], [5, 2, 3, 0, 8, 9]);
    assert.throws(() => buffer.write(Uint8Array.of(1, 2), 5), /./);
    buffer.free();
    buffer.free();
  });

  on('an empty buffer is valid, also as an argument', kernels.places, (rig) => {
    const buffer = rig.device.allocate(0, rig.diagnostics)!;
    assert.is(buffer.read().length, 0);
    assert.ok(rig.launch('places', [buffer, 0], { grid: [0, 1, 1] }));
    assert.equal(rig.codes(), []);
    buffer.free();
  });

  on('impossible allocations are refused', kernels.places, ({ device, diagnostics, codes }) => {
    for (const size of [-1, 1.5, Number.NaN, 2 ** 40]) assert.is(device.allocate(size, diagnostics), undefined);
    assert.equal(codes(), ['CM6012', 'CM6012', 'CM6012', 'CM6012']);
  });

  on('a view shows what kernels write, without a copy', kernels.places, (rig) => {
    const out = rig.words(9, 9);
    const view = out.view?.();
    assert.ok(rig.launch('places', [out, 3], { block: [2, 1, 1] }));
    // Views stay valid when the memory grows.
    rig.device.allocate(2 ** 20, rig.diagnostics)!.free();
    if (view) assert.equal([...new Uint32Array(view.buffer, view.byteOffset, 2)], [3, 4]);
    assert.equal(wordsIn(out), [3, 4]);
  });

  on('three-dimensional grids and blocks', kernels.places, (rig) => {
    const count = 2 * 3 * 4 * 5 * 6;
    const out = rig.words(...new Array<number>(count).fill(0xffffffff));
    const result = rig.launch('places', [out, 10], { grid: [4, 3, 2], block: [6, 5, 1] });
    assert.ok(result, rig.diagnostics.list.map((d) => d.message).join());
    assert.ok(result.durationMs >= 0 && result.durationMs < 60_000);
    assert.equal(
      wordsIn(out),
      Array.from({ length: count }, (_, i) => i + 10),
    );
  });

  on('values of every size, and structs', kernels.values, (rig) => {
    const out = rig.words(0, 0, 0, 0, 0, 0);
    const struct = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    const args = [Uint8Array.of(0xfe), out, Uint8Array.of(0x34, 0x12), 0x89abcdef, 0x1122334455667788n, struct];
    assert.ok(rig.launch('values', args));
    assert.equal(wordsIn(out), [0xfe, 0x1234, 0x89abcdef, 0x0c0b0a09, 0x55667788, 0x11223344]);
  });

  on('a value of 8 KiB', kernels.large, (rig) => {
    const out = rig.words(0);
    const all = new Uint8Array(8192).fill(0xee);
    all.set([4, 3, 2, 1], 8188);
    assert.ok(rig.launch('large', [out, all]));
    assert.equal(wordsIn(out), [0x01020304]);
  });

  on('more parameters than slots', manyParams, (rig) => {
    const out = rig.words(...new Array<number>(40).fill(0));
    const values = Array.from({ length: 40 }, (_, i) => 1000 + i);
    assert.ok(rig.launch('many', [...values.slice(0, 20), out, ...values.slice(20)]));
    assert.equal(wordsIn(out), values);
  });

  on('static and dynamic shared memory', kernels.turn, (rig) => {
    const values = Array.from({ length: 64 }, (_, i) => 3 * i + 1);
    const out = rig.words(...values);
    // Metal allocates multiples of 16 bytes.
    assert.ok(rig.launch('turn', [out], { block: [64, 1, 1], shared: 130 }));
    assert.equal(wordsIn(out), values.reverse());
  });

  on('warps', kernels.warp, (rig) => {
    const out = rig.words(...Array.from({ length: 64 }, (_, i) => i));
    assert.ok(rig.launch('warp', [out], { block: [64, 1, 1] }));
    assert.equal(
      wordsIn(out),
      Array.from({ length: 64 }, (_, i) => (i < 32 ? 496 : 496 + 32 * 32)),
    );
  });

  on('module memory outlives launches, and hosts read and write it', kernels.module, (rig) => {
    const symbol = (name: string) => rig.module.symbols.find((each) => each.name === name)!;
    const out = rig.words(0, 0);
    symbol('factor').write(bytesOf(Uint32Array.of(10)));
    assert.ok(rig.launch('bump', [3]) && rig.launch('bump', [40]) && rig.launch('show', [out]));
    assert.equal(wordsIn(out), [43, 90]);
    assert.equal([...new Uint32Array(symbol('count').read().buffer)], [43]);
    symbol('count').write(bytesOf(Uint32Array.of(100)));
    symbol('table').write(bytesOf(Uint32Array.of(5)), 8);
    assert.ok(rig.launch('bump', [1]) && rig.launch('show', [out]));
    assert.equal(wordsIn(out), [101, 50]);
    const fresh = rigOn(rig.device, kernels.module);
    assert.ok(fresh.launch('show', [out]));
    assert.equal(wordsIn(out), [0, 0]);
  });

  on('freeing a buffer twice does not affect a later one', kernels.follow, (rig) => {
    const first = rig.words(1, 2);
    first.deviceAddress!();
    first.free();
    const target = rig.words(11, 22);
    const [out, list] = [rig.words(0), rig.words(0, 0, 0, 0)];
    list.write(bytesOf(BigUint64Array.of(target.deviceAddress!())), 8);
    first.free();
    assert.ok(rig.launch('follow', [out, list]));
    assert.equal([wordsIn(out), wordsIn(target)], [[22], [77, 22]]);
  });

  on('an argument may be an offset in a buffer', kernels.places, (rig) => {
    const out = rig.words(1, 2, 3, 4, 5);
    const value = argument(7);
    const shape = { kernel: 'places', grid: one, block: [2, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
    const at = (offset: number) => rig.module.launch({ ...shape, args: [{ kind: 'buffer', buffer: out, offset }, value] }, rig.diagnostics);
    assert.ok(at(8));
    assert.equal(wordsIn(out), [1, 2, 7, 8, 5]);
    for (const offset of [20, -4, 1.5, Number.NaN]) assert.is(at(offset), undefined);
    assert.equal(rig.codes(), ['CM5015', 'CM5015', 'CM5015', 'CM5015']);
    assert.equal(wordsIn(out), [1, 2, 7, 8, 5]);
  });

  on('an address in memory refers to its buffer', kernels.follow, (rig) => {
    const [out, target, list] = [rig.words(0), rig.words(11, 22), rig.words(0, 0, 0, 0)];
    list.write(bytesOf(BigUint64Array.of(target.deviceAddress())), 8);
    assert.ok(rig.launch('follow', [out, list]));
    assert.equal([wordsIn(out), wordsIn(target)], [[22], [77, 22]]);
  });

  on('a kernel that stops itself fails the launch when the others have ended', kernels.stops, (rig) => {
    const out = rig.words(0, 0, 0, 0, 0, 0, 0, 0);
    assert.is(rig.launch('stops', [out], { block: [8, 1, 1] }), undefined);
    if (candidate.stopped) {
      assert.equal(rig.codes(), [candidate.stopped]);
      assert.is(rig.launch('stops', [out], { block: [4, 1, 1] }), undefined);
      assert.equal(rig.codes(), ['CM6029']);
      return;
    }
    assert.equal(rig.codes(), ['CM6014']);
    assert.match(rig.diagnostics.list[0]!.message, /`trap` was executed/);
    assert.equal(wordsIn(out), [1, 1, 1, 1, 1, 0, 1, 1]);
    // The next launch is not affected.
    assert.ok(rig.launch('stops', [out], { block: [4, 1, 1] }));
  });

  // Locks need fences.
  if (!/^macos1[34]$/.test(hostTarget() ?? ''))
    on('sums of 64 bits', kernels.sums, (rig) => {
      const count = 4 * 64;
      const [olds, sum] = [rig.words(...new Uint32Array(2 * count)), rig.words(7, 0)];
      for (const from of [0, count]) {
        assert.ok(rig.launch('sums', [olds, sum], { grid: [4, 1, 1], block: [64, 1, 1] }), rig.codes().join());
        const found = [...new BigUint64Array(olds.read().buffer)].map(Number).sort((a, b) => a - b);
        assert.equal(
          found,
          Array.from({ length: count }, (_, i) => 7 + (from + i) * 0x3_8000_0000),
        );
      }
    });

  on('text that kernels print', printing, (rig) => {
    let text = '';
    const print = (bytes: Uint8Array): void => {
      text += new TextDecoder().decode(bytes);
    };
    const out = rig.words(0, 0, 0);
    assert.ok(rig.launch('k', [out], { block: [3, 1, 1], print }));
    assert.equal(text.trim().split('\n').sort(), ['thread 0', 'thread 1', 'thread 2']);
    assert.ok(rig.launch('k', [out], { block: [1, 1, 1], print }));
    assert.is(text.trim().split('\n').length, 4);
  });

  const { overdue, outside } = candidate;
  if (overdue && outside) faults(on, candidate);

  on('arguments that do not match the kernel are refused', kernels.places, (rig) => {
    const out = rig.words(0);
    const freed = rig.words(0);
    freed.free();
    const stranger: DeviceBuffer = { size: 4, write: () => {}, read: () => new Uint8Array(4), deviceAddress: () => 0n, free: () => {} };
    const cases: [string, readonly (DeviceBuffer | number | bigint)[]][] = [
      ['CM5011', [out]],
      ['CM5011', [out, 1, 2]],
      ['CM5012', [1, 1]],
      ['CM5012', [out, out]],
      ['CM5013', [out, 1n]],
      ['CM5012', [freed, 1]],
      ['CM5012', [stranger, 1]],
    ];
    for (const [code, args] of cases) {
      assert.is(rig.launch('places', args), undefined);
      assert.equal(rig.codes(), [code]);
    }
    const other = candidate.open();
    const foreign = other.allocate(4, rig.diagnostics)!;
    assert.is(rig.launch('places', [foreign, 1]), undefined);
    assert.equal(rig.codes(), ['CM5012']);
    other.close();
  });

  on('64 bits that a kernel does not read take a buffer as well, because PTX declares pointers so', kernels.unread, (rig) => {
    const out = rig.words(0, 0);
    for (const [given, value] of [
      [rig.words(9), 5n],
      [3n, 6n],
    ] as const) {
      assert.ok(rig.launch('unread', [out, given, value]), rig.codes().join());
      assert.equal(wordsIn(out), [Number(value), 0]);
    }
    assert.is(rig.launch('unread', [out, 3n, out]), undefined);
    assert.is(rig.launch('unread', [out, 3, 3n]), undefined);
    assert.equal(rig.codes(), ['CM5012', 'CM5013']);
  });

  on('impossible launch shapes are refused', kernels.turn, (rig) => {
    const out = rig.words(0);
    const cases: [string, Shape][] = [
      ['CM5021', { block: [1025, 1, 1] }],
      ['CM5021', { block: [32, 32, 2] }],
      ['CM5022', { shared: rig.device.info.limits.maxThreadgroupBytes - 127 }],
      ['CM5024', { grid: [1.5, 1, 1] }],
      ['CM5024', { grid: [-1, 1, 1] }],
      ['CM5024', { grid: [2 ** 31, 1, 1] }],
      ['CM5024', { shared: -4 }],
    ];
    for (const [code, shape] of cases) {
      assert.is(rig.launch('turn', [out], shape), undefined);
      assert.equal(rig.codes(), [code], JSON.stringify(shape));
    }
    assert.is(rig.launch('tunr', [out]), undefined);
    assert.equal(rig.codes(), ['CM5001']);
  });

  on('options of the CPU device are refused elsewhere, and not ignored', kernels.places, (rig) => {
    const out = rig.words(0);
    const result = rig.launch('places', [out, 1], { schedule: { kind: 'reverse' } });
    assert.is(result !== undefined, rig.device.info.kind === 'cpu');
    assert.equal(rig.codes(), rig.device.info.kind === 'cpu' ? [] : ['CM5029']);
  });

  on('an empty launch has a duration of zero', kernels.turn, (rig) => {
    assert.equal(rig.launch('turn', [rig.words(0)], { grid: [4, 0, 1] }), { durationMs: 0 });
    assert.equal(rig.launch('turn', [rig.words(0)], { block: [0, 1, 1] }), { durationMs: 0 });
  });

  on('a file that is no library is refused', kernels.places, ({ device, diagnostics, codes }) => {
    if (device.loadPtx) {
      assert.is(device.load(libraryOf(kernels.places), diagnostics), undefined);
      assert.is(
        device.loadPtx({ source: new SourceFile('k.ptx', `${head}.visible .entry k() { sturdy; }`), kernels: [] }, diagnostics),
        undefined,
      );
      assert.equal(codes(), ['CM6040', 'CM6041']);
      return;
    }
    const cut = libraryOf(kernels.places).slice(0, 200);
    assert.is(device.load(cut, diagnostics), undefined);
    assert.is(device.load(new Uint8Array(0), diagnostics), undefined);
    assert.equal(codes(), ['CM4001', 'CM4001']);
  });

  on('several modules on one device, and several launches of each', kernels.places, (rig) => {
    const other = rigOn(rig.device, kernels.values);
    const out = rig.words(0, 0);
    for (let i = 0; i < 20; i++) {
      assert.ok(rig.launch('places', [out, i], { block: [2, 1, 1] }));
      assert.equal(wordsIn(out), [i, i + 1]);
    }
    assert.is(other.module.kernels[0]!.name, 'values');
    assert.is(other.launch('places', [out, 1]), undefined);
    assert.equal(other.codes(), ['CM5001']);
  });

  test(`${candidate.name}: closing frees what is left, and can be repeated`, () => {
    const device = candidate.open();
    const rig = rigOn(device, kernels.module);
    assert.ok(rig.launch('show', [rig.words(0, 0)]));
    device.close();
    device.close();
    candidate.check?.();
  });
}

type On = (what: string, text: string, body: (rig: Rig) => void) => void;

/** Faults that a device has to survive. */
function faults(on: On, candidate: Candidate): void {
  on('a kernel that never ends is stopped or abandoned', kernels.endless, (rig) => {
    const out = rig.words(0);
    candidate.willHang?.();
    assert.is(rig.launch('endless', [out], { timeoutMs: 100 }), undefined);
    assert.equal(rig.codes(), [candidate.overdue!]);
  });

  on('a kernel that reads at an invalid address', kernels.stray, (rig) => {
    assert.is(rig.launch('stray', [rig.words(0)]), undefined);
    assert.equal(rig.codes(), [candidate.outside!]);
  });
}

const names = Array.from({ length: 40 }, (_, i) => `v${i}`);
/** Forty values and a pointer among them; each value is stored at its index. */
const manyParams = `.visible .entry many(${[...names.slice(0, 20).map((n) => `.param .u32 ${n}`), '.param .u64 out', ...names.slice(20).map((n) => `.param .u32 ${n}`)].join(', ')})
{
  .reg .b32 x; .reg .b64 p;
  ld.param.u64 p, [out];
${names.map((name, i) => `  ld.param.u32 x, [${name}]; st.global.u32 [p+${4 * i}], x;`).join('\n')}
  ret;
}`;

const printing = printingModule({ format: 'thread %d\n' }, `  st.local.u32 [depot], t;\n${printCall('format', 'list')}`);
