/** Pointers in memory: argument buffers with addresses that the host stores, and chains of them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { airLibrary, airModule, buffer } from '../support/air-text.ts';
import { need } from '../support/need.ts';

const test = suite('air argument buffers');

/** Takes a struct by reference in place of the first buffer, as Apple's compiler describes one. */
const asIndirect = (text: string, bytes: number): string =>
  text.replace(
    /!10 = !\{i32 0, !"air.buffer", .*?\n/,
    `!10 = !{i32 0, !"air.indirect_buffer", !"air.buffer_size", i32 ${bytes}, !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 2, !"air.struct_type_info", !40, !"air.arg_type_size", i32 ${bytes}, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"Args", !"air.arg_name", !"args"}
!40 = !{i32 0, i32 8, i32 0, !"float", !"data", !"air.indirect_argument", !41, i32 8, i32 4, i32 0, !"uint", !"count", !"air.indirect_argument", !42}
!41 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"data"}
!42 = !{i32 1, !"air.indirect_constant", !"air.location_index", i32 1, i32 1, !"air.arg_type_name", !"uint", !"air.arg_name", !"count"}
`,
  );

/** With a type, which LLVM wants in front of its uses. */
const typed = (type: string, text: string): string => text.replace('\ndefine', `\n${type}\ndefine`);

interface Room {
  /** Puts words in a new buffer and gives its address. */
  put(words: readonly number[]): bigint;
  /** The content of the buffer at an address. */
  words(address: bigint): number[];
  launch(args: readonly (bigint | Uint8Array)[], threads?: number): string;
}

function roomFor(metallib: Uint8Array): Room {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice();
  const module = device.load(metallib, diagnostics);
  const buffers = new Map<bigint, ReturnType<typeof device.allocate>>();
  return {
    put(words) {
      const made = device.allocate(4 * words.length, diagnostics)!;
      made.write(new Uint8Array(Uint32Array.from(words).buffer));
      buffers.set(made.deviceAddress(), made);
      return made.deviceAddress();
    },
    words: (address) => [...new Uint32Array(buffers.get(address)!.read().slice().buffer)],
    launch(args, threads = 1) {
      const given = args.map(
        (arg): LaunchArgument => (typeof arg === 'bigint' ? { kind: 'buffer', buffer: buffers.get(arg)! } : { kind: 'bytes', bytes: arg }),
      );
      const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
      module?.launch({ kernel: 'k', ...shape, args: given }, diagnostics);
      return diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
    },
  };
}

/** Addresses and words, one behind the other as in a struct. */
function struct(...fields: (bigint | number)[]): Uint8Array {
  const bytes = new Uint8Array(fields.length * 8);
  const view = new DataView(bytes.buffer);
  fields.forEach((field, i) => {
    if (typeof field === 'bigint') view.setBigUint64(8 * i, field, true);
    else view.setUint32(8 * i, field, true);
  });
  return bytes;
}

need(test, ['llvm-as-14'], 'a struct of pointers by reference: each thread doubles a word behind one', () => {
  const text = airModule(
    [
      { type: '%args addrspace(2)*', kind: 'air.buffer' },
      { type: 'i32', kind: 'air.thread_position_in_grid' },
    ],
    `  %at = getelementptr %args, %args addrspace(2)* %p0, i64 0, i32 1
  %count = load i32, i32 addrspace(2)* %at
  %inside = icmp ult i32 %p1, %count
  br i1 %inside, label %go, label %end
go:
  %where = getelementptr %args, %args addrspace(2)* %p0, i64 0, i32 0
  %data = load i32 addrspace(1)*, i32 addrspace(1)* addrspace(2)* %where
  %wide = zext i32 %p1 to i64
  %to = getelementptr i32, i32 addrspace(1)* %data, i64 %wide
  %x = load i32, i32 addrspace(1)* %to
  %y = shl i32 %x, 1
  store i32 %y, i32 addrspace(1)* %to
  br label %end
end:`,
  );
  const room = roomFor(airLibrary(typed('%args = type { i32 addrspace(1)*, i32 }', asIndirect(text, 16))));
  const data = room.put([5, 6, 7, 8]);
  assert.is(room.launch([struct(data, 3)], 4), '');
  assert.equal(room.words(data), [10, 12, 14, 8]);
});

need(test, ['llvm-as-14'], 'a list that is followed from pointer to pointer, by a phi', () => {
  const text = airModule(
    [{ type: '%node addrspace(1)*', kind: 'air.buffer' }, buffer],
    `  br label %loop
loop:
  %node = phi %node addrspace(1)* [ %p0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %av = getelementptr %node, %node addrspace(1)* %node, i64 0, i32 1
  %value = load i32, i32 addrspace(1)* %av
  %more = add i32 %sum, %value
  %an = getelementptr %node, %node addrspace(1)* %node, i64 0, i32 0
  %next = load %node addrspace(1)*, %node addrspace(1)* addrspace(1)* %an
  %last = icmp eq %node addrspace(1)* %next, null
  br i1 %last, label %out, label %loop
out:
  store i32 %more, i32 addrspace(1)* %p1`,
  );
  const room = roomFor(airLibrary(typed('%node = type { %node addrspace(1)*, i32 }', text)));
  const halves = (address: bigint): number[] => [Number(address & 0xffffffffn), Number(address >> 32n)];
  const third = room.put([0, 0, 100, 0]);
  const second = room.put([...halves(third), 20, 0]);
  const first = room.put([...halves(second), 3, 0]);
  const out = room.put([0]);
  assert.is(room.launch([first, out]), '');
  assert.equal(room.words(out), [123]);
});

need(test, ['llvm-as-14'], 'a constant buffer behind a pointer, walked by a phi, beside a table of the module', () => {
  const text = airModule(
    [{ type: '%args addrspace(2)*', kind: 'air.buffer' }, buffer],
    `  %where = getelementptr %args, %args addrspace(2)* %p0, i64 0, i32 0
  %data = load i32 addrspace(2)*, i32 addrspace(2)* addrspace(2)* %where
  br label %loop
loop:
  %at = phi i32 addrspace(2)* [ %data, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]
  %x = load i32, i32 addrspace(2)* %at
  %wide = zext i32 %i to i64
  %af = getelementptr [3 x i32], [3 x i32] addrspace(2)* @factors, i64 0, i64 %wide
  %factor = load i32, i32 addrspace(2)* %af
  %product = mul i32 %x, %factor
  %more = add i32 %sum, %product
  %next = getelementptr i32, i32 addrspace(2)* %at, i64 1
  %j = add i32 %i, 1
  %done = icmp eq i32 %j, 3
  br i1 %done, label %out, label %loop
out:
  store i32 %more, i32 addrspace(1)* %p1`,
    '@factors = internal addrspace(2) constant [3 x i32] [i32 1, i32 10, i32 100]',
  );
  const room = roomFor(airLibrary(typed('%args = type { i32 addrspace(2)*, i32 }', asIndirect(text, 16))));
  const data = room.put([4, 5, 6]);
  const out = room.put([0]);
  assert.is(room.launch([struct(data, 0), out]), '');
  assert.equal(room.words(out), [654]);
});

need(test, ['llvm-as-14'], 'an address of the module’s own constants is not put into memory', () => {
  const text = airModule(
    [{ type: 'i32 addrspace(2)* addrspace(1)*', kind: 'air.buffer' }],
    '  store i32 addrspace(2)* @one, i32 addrspace(2)* addrspace(1)* %p0',
    '@one = internal addrspace(2) constant i32 1',
  );
  const room = roomFor(airLibrary(text));
  assert.match(room.launch([room.put([0, 0])]), /^CM4053 .*an address of constant memory in memory/);
});

test.run();
