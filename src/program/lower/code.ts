/**
 * The code section: every address of 64 bits is looked at and cut to 32, right before the instruction that uses it. The memory is a window of
 * 4 GiB in the addresses of 64 bits. An address outside it goes to a function of the host, if the program imports one, and otherwise stops the
 * program; it never reaches another byte.
 */
import { ByteWriter } from '../../base/bytes.ts';
import { signed, unsigned } from '../../wasm/leb.ts';
import { type Immediate, type Kept, type Opcode, written as op, opcodes, prefixed, type Use } from './opcodes.ts';
import { type ModuleReader, Unfit } from './reader.ts';

const typeCodes: Readonly<Record<Kept, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** What has 64-bit addresses in a module. */
export interface Wide {
  readonly memory: boolean;
  /** By the number of the table. */
  readonly tables: readonly boolean[];
  /** The upper 32 bits of the addresses of the memory. */
  readonly window: number;
  /** The function that makes an index of an address outside the window. */
  readonly outside: number | undefined;
  /** Whether that function can find an index: if not, it does not return, and no code follows its call. */
  readonly isShared: boolean;
}

/** One instruction of memory as it was read. */
interface Access {
  readonly at: number;
  readonly end: number;
  readonly alignment: number;
  readonly offset: bigint;
  /** The bytes of the opcode. */
  readonly opcode: Uint8Array;
  /** What follows alignment and offset. */
  readonly rest: Uint8Array;
}

/** Lowers the body of a function with `params` parameters; the reader is behind its size and ends with it. */
export function lowerBody(from: ModuleReader, params: number, wide: Wide): Uint8Array {
  const groups = from.u32Leb();
  const groupsStart = from.offset;
  let locals = params;
  for (let i = 0; i < groups; i++) {
    locals += from.u32Leb();
    from.valueType();
  }
  if (locals > 50_000) throw new Unfit(groupsStart, 'more than 50,000 local variables');
  const body = new Body(from, locals, wide);
  const groupBytes = from.bytes.subarray(groupsStart, from.offset);
  body.run();
  const out = new ByteWriter();
  unsigned(out, groups + body.added.length);
  out.bytes(groupBytes);
  for (const type of body.added) out.bytes([1, typeCodes[type]]);
  out.bytes(body.out.finish());
  return out.finish();
}

class Body {
  readonly out = new ByteWriter();
  /** Types of local variables behind those of the function. */
  readonly added: Kept[] = [];
  readonly #from: ModuleReader;
  readonly #locals: number;
  readonly #wide: Wide;
  /** Up to where the input has been copied. */
  #copied: number;
  readonly #byName = new Map<string, number>();
  /** Local variables whose value was an address below 4 GiB when it was last looked at, on every path to here. */
  readonly #known = new Set<number>();
  /** The local variable that the last instruction put on the stack. */
  #last: number | undefined;

  constructor(from: ModuleReader, locals: number, wide: Wide) {
    this.#from = from;
    this.#locals = locals;
    this.#wide = wide;
    this.#copied = from.offset;
  }

  run(): void {
    const from = this.#from;
    while (from.remaining > 0) {
      const at = from.offset;
      const first = from.u8();
      const row = opcodes.get(first);
      if (row) this.#plain(at, first, row);
      else this.#prefixed(at, first);
    }
    if (from.bytes[from.end - 1] !== op.end) throw new Unfit(from.end, 'a function without an end');
    this.#copyTo(from.end);
  }

  #plain(at: number, first: number, row: Opcode): void {
    if (row.use) {
      this.#use(at, row, row.use);
      return;
    }
    if (first >= op.localGet && first <= op.localTee) {
      const local = this.#from.u32Leb();
      if (first !== op.localGet) this.#known.delete(local);
      this.#last = first === op.localSet ? undefined : local;
      return;
    }
    this.#last = undefined;
    // Where paths meet, what is known of one of them is not known.
    if (first <= 0x1f && first !== 0x10 && first !== 0x0d && (first < 0x1a || first > 0x1c)) this.#known.clear();
    this.#immediates(row.immediates);
  }

  #prefixed(at: number, prefix: number): void {
    const table = prefixed.get(prefix);
    const code = table && this.#from.u32Leb();
    const row = code === undefined ? undefined : table!.get(code);
    if (!row) throw new Unfit(at, `the opcode 0x${prefix.toString(16)}${code === undefined ? '' : ` 0x${code.toString(16)}`}`);
    if (row.use) this.#use(at, row, row.use);
    else this.#immediates(row.immediates);
    this.#last = undefined;
  }

  #immediates(list: readonly Immediate[]): void {
    for (const each of list) this.#immediate(each);
  }

  #immediate(what: Immediate): void {
    const from = this.#from;
    if (what === 'index' || what === 'table') from.u32Leb();
    else if (what === 'lane' || what === 'order') from.u8();
    else if (what === 'i32') from.skipSigned(32);
    else if (what === 'i64') from.skipSigned(64);
    else if (what === 'bytes4') from.take(4);
    else if (what === 'bytes8') from.take(8);
    else if (what === 'bytes16') from.take(16);
    else if (what === 'blockType') from.blockType();
    else if (what === 'heapType') from.skipSigned(33);
    else if (what === 'memory') this.#memory();
    else if (what === 'labels') for (let n = from.u32Leb(); n >= 0; n--) from.u32Leb();
    else if (what === 'types') for (let n = from.u32Leb(); n > 0; n--) from.valueType();
    else for (let n = from.u32Leb(); n > 0; n--) this.#catch();
  }

  /** One clause of `try_table`: with a tag or of everything, and the label. */
  #catch(): void {
    if (this.#from.u8() < 2) this.#from.u32Leb();
    this.#from.u32Leb();
  }

  #memory(): void {
    const at = this.#from.offset;
    if (this.#from.u32Leb() !== 0) throw new Unfit(at, 'a second memory');
  }

  #use(at: number, { immediates }: Opcode, use: Use): void {
    const last = this.#last;
    this.#last = undefined;
    if (use.kind === 'table') {
      const tables = immediates.map((each) => (each === 'table' ? this.#from.u32Leb() : void this.#immediate(each)));
      const isWide = this.#wide.tables[tables.find((each) => each !== undefined)!];
      if (isWide) this.#before(at, () => this.#number());
      return;
    }
    if (use.kind === 'access') {
      const access = this.#access(at, immediates);
      if (this.#wide.memory) this.#lowerAccess(access, use.above, last);
      return;
    }
    this.#immediates(immediates);
    if (this.#wide.memory) this.#lowerWhole(at, use.kind);
  }

  #access(at: number, immediates: readonly Immediate[]): Access {
    const from = this.#from;
    const opcode = from.bytes.subarray(at, from.offset);
    const alignment = from.u32Leb();
    // The sixth bit says that the number of a memory follows.
    if (alignment >= 64) throw new Unfit(at, 'a second memory');
    const offset = from.u64Leb();
    const rest = from.offset;
    this.#immediates(immediates.slice(1));
    return { at, end: from.offset, alignment, offset, opcode, rest: from.bytes.subarray(rest, from.offset) };
  }

  #lowerAccess({ at, end, alignment, offset, opcode, rest }: Access, above: readonly Kept[], last: number | undefined): void {
    const { out } = this;
    this.#copyTo(at);
    this.#copied = end;
    // Linkers put the address of an array there, so that the address on the stack is only the way into it.
    const isFar = offset > 0xffff_ffffn;
    this.#under(above, () => {
      if (isFar) this.#addOffset(offset);
      this.#address(above.length === 0 && !isFar ? last : undefined);
    });
    out.bytes(opcode);
    unsigned(out, alignment);
    unsigned(out, isFar ? 0 : Number(offset));
    out.bytes(rest);
  }

  /** Adds an offset to the address on the stack. A sum of 2^64 or more, which is no address, must not become one. */
  #addOffset(offset: bigint): void {
    const { out } = this;
    const sum = this.#local('i64', 2);
    out.u8(op.i64Const);
    signed(out, BigInt.asIntN(64, offset));
    out.u8(op.i64Add);
    this.#at(op.localTee, sum);
    this.#at(op.localGet, sum);
    out.u8(op.i64Const);
    signed(out, BigInt.asIntN(64, offset));
    out.bytes([op.i64LtU, op.if, op.emptyType, op.unreachable, op.end]);
  }

  /** Instructions on the whole of memory or on ranges of it. */
  #lowerWhole(at: number, kind: Exclude<Use['kind'], 'access' | 'table'>): void {
    const { out } = this;
    if (kind === 'size') {
      this.#copyTo(this.#from.offset);
      out.u8(op.i64ExtendU);
      this.#addWindow();
    } else if (kind === 'grow') this.#lowerGrow(at);
    else if (kind === 'fill') this.#before(at, () => this.#range('i32'));
    else if (kind === 'init') this.#before(at, () => this.#under(['i32', 'i32'], () => this.#address(undefined)));
    else this.#before(at, () => this.#range('i64'));
  }

  /** A destination below what is copied from or written, below a length of 64 bits. */
  #range(middle: Kept): void {
    const second = this.#local(middle, 0);
    const length = this.#local('i64', 1);
    this.#at(op.localSet, length);
    this.#at(op.localSet, second);
    this.#address(undefined);
    this.#at(op.localGet, second);
    if (middle === 'i64') this.#address(undefined);
    this.#at(op.localGet, length);
    this.#number();
  }

  /** More pages than there can be are refused as `memory.grow` refuses them: with -1. */
  #lowerGrow(at: number): void {
    const { out } = this;
    const from = this.#from;
    this.#copyTo(at);
    const pages = this.#local('i64', 2);
    this.#at(op.localTee, pages);
    out.bytes([op.i64Const, 16, op.i64ShrU, op.i32Wrap, op.if, typeCodes.i64, op.i64Const]);
    signed(out, -1n);
    out.u8(op.else);
    this.#at(op.localGet, pages);
    out.u8(op.i32Wrap);
    out.bytes(from.bytes.subarray(at, from.offset));
    // The number before, or -1 if memory cannot grow.
    const before = this.#local('i32', 2);
    this.#at(op.localTee, before);
    out.bytes([op.i32Const]);
    signed(out, -1n);
    out.bytes([op.i32Eq, op.if, typeCodes.i64, op.i64Const]);
    signed(out, -1n);
    out.u8(op.else);
    this.#at(op.localGet, before);
    out.u8(op.i64ExtendU);
    this.#addWindow();
    out.bytes([op.end, op.end]);
    this.#copied = from.offset;
  }

  /** Adds the pages below the window to a number of pages. */
  #addWindow(): void {
    const { window } = this.#wide;
    if (window === 0) return;
    this.out.u8(op.i64Const);
    signed(this.out, BigInt(window) * 65_536n);
    this.out.u8(op.i64Add);
  }

  /** Cuts the address on the stack to 32 bits, if it is in the window. `local` is where it was read from right before. */
  #address(local: number | undefined): void {
    const { out } = this;
    const { window, outside, isShared } = this.#wide;
    if (local !== undefined && this.#known.has(local)) {
      out.u8(op.i32Wrap);
      return;
    }
    const kept = local ?? this.#local('i64', 2);
    if (local === undefined) this.#at(op.localTee, kept);
    out.bytes([op.i64Const, 32, op.i64ShrU]);
    if (window === 0) out.u8(op.i32Wrap);
    else {
      out.u8(op.i64Const);
      signed(out, BigInt(window));
      out.u8(op.i64Ne);
    }
    if (outside === undefined || !isShared) {
      out.bytes([op.if, op.emptyType]);
      if (outside !== undefined) {
        this.#at(op.localGet, kept);
        this.#at(op.call, outside);
        out.u8(op.drop);
      }
      // No value lives across the call, so that engines keep values in registers. A call that returns makes host code four times slower.
      out.bytes([op.unreachable, op.end]);
      this.#at(op.localGet, kept);
      out.u8(op.i32Wrap);
      if (local !== undefined) this.#known.add(local);
      return;
    }
    out.bytes([op.if, typeCodes.i32]);
    this.#at(op.localGet, kept);
    this.#at(op.call, outside);
    out.u8(op.else);
    this.#at(op.localGet, kept);
    out.bytes([op.i32Wrap, op.end]);
  }

  /** Cuts a length, or the index of a table entry, to 32 bits; one of 2^32 or more stops the program. */
  #number(): void {
    const { out } = this;
    const kept = this.#local('i64', 2);
    this.#at(op.localTee, kept);
    out.bytes([op.i64Const, 32, op.i64ShrU, op.i32Wrap, op.if, op.emptyType, op.unreachable, op.end]);
    this.#at(op.localGet, kept);
    out.u8(op.i32Wrap);
  }

  /** Runs `then` with the values above taken off the stack, and puts them back. */
  #under(above: readonly Kept[], then: () => void): void {
    const locals = above.map((type, i) => this.#local(type, i));
    for (const local of [...locals].reverse()) this.#at(op.localSet, local);
    then();
    for (const local of locals) this.#at(op.localGet, local);
  }

  /** Writes something before the instruction that starts at `at` and has just been read. */
  #before(at: number, write: () => void): void {
    this.#copyTo(at);
    write();
    this.#copyTo(this.#from.offset);
  }

  /** The n-th variable of a type for values that are kept; `i64` number 2 is that of addresses. */
  #local(type: Kept, n: number): number {
    const name = `${type} ${n}`;
    const found = this.#byName.get(name);
    if (found !== undefined) return found;
    const index = this.#locals + this.added.push(type) - 1;
    this.#byName.set(name, index);
    return index;
  }

  #at(opcode: number, local: number): void {
    this.out.u8(opcode);
    unsigned(this.out, local);
  }

  #copyTo(end: number): void {
    if (end > this.#copied) this.out.bytes(this.#from.bytes.subarray(this.#copied, end));
    this.#copied = end;
  }
}
