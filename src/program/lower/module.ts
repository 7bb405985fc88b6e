/**
 * A linked module whose memory and tables have 64-bit addresses, as one with 32-bit memory whose code goes on to compute with pointers of 64
 * bits. Everything but addresses of memory and indices of tables stays what it is: types, globals, imports and exports of functions.
 * Source: WebAssembly Core Specification 3.0, 5.5 (modules).
 */
import { ByteWriter } from '../../base/bytes.ts';
import { signed32, unsigned } from '../../wasm/leb.ts';
import { lowerBody, type Wide } from './code.ts';
import { ModuleReader, Unfit } from './reader.ts';

const magic = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** Most pages of a memory with 32-bit addresses. The last one is never there, so that an access at the highest address fails. */
const maxPages = 65_535n;
/** Pages of a window. */
const windowPages = 65_536n;
/** The import that makes an index of an address outside the window; it is not called by the program itself. */
const outsideImport = 'cumetal.outside';
/** Most entries of a table with 32-bit indices. */
const maxEntries = 0xffff_ffffn;

const sections = { custom: 0, type: 1, import: 2, function: 3, table: 4, memory: 5, element: 9, code: 10, data: 11 } as const;
const kinds = { function: 0, table: 1, memory: 2, global: 3, tag: 4 } as const;
/** Flags of limits: a maximum, shared by threads, addresses of 64 bits. */
const limitFlags = { maximum: 1, shared: 2, wide: 4 } as const;

interface State {
  readonly window: number;
  outside: number | undefined;
  isShared: boolean;
  /** Imports that give addresses outside the window to the program. */
  readonly sharing: ReadonlySet<string>;
  /** The number of parameters of each type. */
  readonly params: number[];
  /** The type of each function, imported ones first. */
  readonly functions: number[];
  imported: number;
  memory: boolean;
  readonly tables: boolean[];
}

type Lower = (from: ModuleReader, out: ByteWriter, state: State) => void;

/** Lowers a module. Throws `Unfit` or `OutOfBytes` where it is none, or has something that this does not know. */
export function lowerModule(bytes: Uint8Array, window: number, sharing: ReadonlySet<string>): Uint8Array {
  const from = new ModuleReader(bytes);
  const start = from.take(magic.length);
  if (!magic.every((byte, i) => start[i] === byte)) throw new Unfit(0, 'no WebAssembly module');
  const state: State = {
    window,
    outside: undefined,
    isShared: false,
    sharing,
    params: [],
    functions: [],
    imported: 0,
    memory: false,
    tables: [],
  };
  const out = new ByteWriter();
  out.bytes(magic);
  while (from.remaining > 0) {
    const at = from.offset;
    const id = from.u8();
    const size = from.u32Leb();
    const body = from.offset;
    from.take(size);
    const section = new ModuleReader(bytes, body, body + size);
    if (id === sections.custom) {
      if (isKept(section)) out.bytes(bytes.subarray(at, from.offset));
      continue;
    }
    const lower = lowerings[id];
    if (!lower) {
      out.bytes(bytes.subarray(at, from.offset));
      continue;
    }
    const lowered = new ByteWriter();
    lower(section, lowered, state);
    if (section.remaining > 0) throw new Unfit(section.offset, 'bytes behind a section');
    out.u8(id);
    unsigned(out, lowered.length);
    out.bytes(lowered.finish());
  }
  return out.finish();
}

/** Custom sections that name places in the code would name others afterwards; those of names and producers stay. */
function isKept(section: ModuleReader): boolean {
  const name = section.text(section.u32Leb());
  if (/^(reloc\.|linking$|dylink)/.test(name)) throw new Unfit(section.offset, 'an object file or a shared library, not a linked program');
  return !/^(\.debug_|cumetal\.|metadata\.code\.|sourceMappingURL$|external_debug_info$)/.test(name);
}

/** Passes over `count` items, each lowered by `each`. */
function vector(from: ModuleReader, out: ByteWriter, each: (index: number) => void): void {
  const count = from.u32Leb();
  unsigned(out, count);
  for (let i = 0; i < count; i++) each(i);
}

/** What `pass` reads, copied. */
function copied(from: ModuleReader, out: ByteWriter, pass: () => void): void {
  const start = from.offset;
  pass();
  out.bytes(from.bytes.subarray(start, from.offset));
}

const lowerings: Readonly<Record<number, Lower>> = {
  [sections.type](from, out, { params }) {
    vector(from, out, () =>
      copied(from, out, () => {
        const at = from.offset;
        const form = from.u8();
        if (form !== 0x60) throw new Unfit(at, `the type form 0x${form.toString(16)}`);
        const count = from.u32Leb();
        for (let i = 0; i < count; i++) from.valueType();
        params.push(count);
        for (let i = from.u32Leb(); i > 0; i--) from.valueType();
      }),
    );
  },
  [sections.import](from, out, state) {
    vector(from, out, () => {
      const kind = { value: 0 };
      let name = '';
      copied(from, out, () => {
        name = `${from.text(from.u32Leb())}.${from.text(from.u32Leb())}`;
        kind.value = from.u8();
      });
      if (state.sharing.has(name)) state.isShared = true;
      if (name === outsideImport && kind.value === kinds.function) state.outside = state.imported;
      importOf(kind.value, from, out, state);
    });
  },
  [sections.function](from, out, { functions }) {
    vector(from, out, () => copied(from, out, () => void functions.push(from.u32Leb())));
  },
  [sections.table](from, out, { tables }) {
    vector(from, out, () => {
      if (from.bytes[from.offset] === 0x40) throw new Unfit(from.offset, 'a table with an initial value');
      copied(from, out, () => from.valueType());
      tables.push(limits(from, out, maxEntries, 0n));
    });
  },
  [sections.memory](from, out, state) {
    vector(from, out, (i) => {
      if (i > 0 || state.memory) throw new Unfit(from.offset, 'a second memory');
      state.memory = limits(from, out, maxPages, BigInt(state.window) * windowPages);
    });
  },
  [sections.element](from, out, state) {
    vector(from, out, () => element(from, out, state));
  },
  [sections.code](from, out, state) {
    const { memory, tables, window, outside, isShared } = state;
    const wide: Wide = { memory, tables, window, outside, isShared };
    vector(from, out, (i) => {
      const at = from.offset;
      const size = from.u32Leb();
      const start = from.offset;
      from.take(size);
      const type = state.functions[state.imported + i];
      const params = type === undefined ? undefined : state.params[type];
      if (params === undefined) throw new Unfit(at, 'code of a function that is not declared');
      const body = lowerBody(new ModuleReader(from.bytes, start, start + size), params, wide);
      unsigned(out, body.length);
      out.bytes(body);
    });
  },
  [sections.data](from, out, state) {
    vector(from, out, () => {
      const at = from.offset;
      const flag = from.u32Leb();
      if (flag > 1) throw new Unfit(at, flag === 2 ? 'data with the number of a memory' : `the form ${flag} of data`);
      unsigned(out, flag);
      if (flag === 0) place(from, out, state.memory, state.window);
      copied(from, out, () => void from.take(from.u32Leb()));
    });
  },
};

function importOf(kind: number, from: ModuleReader, out: ByteWriter, state: State): void {
  if (kind === kinds.function) {
    copied(from, out, () => void state.functions.push(from.u32Leb()));
    state.imported++;
  } else if (kind === kinds.table) {
    copied(from, out, () => from.valueType());
    state.tables.push(limits(from, out, maxEntries, 0n));
  } else if (kind === kinds.memory) {
    if (state.memory) throw new Unfit(from.offset, 'a second memory');
    state.memory = limits(from, out, maxPages, BigInt(state.window) * windowPages);
  } else if (kind === kinds.global)
    copied(from, out, () => {
      from.valueType();
      from.u8();
    });
  else if (kind === kinds.tag)
    copied(from, out, () => {
      from.u8();
      from.u32Leb();
    });
  else throw new Unfit(from.offset, `an import of the kind ${kind}`);
}

/** Limits as those of 32 bits, without what is below the window. Returns whether they were of 64. */
function limits(from: ModuleReader, out: ByteWriter, most: bigint, below: bigint): boolean {
  const at = from.offset;
  const flags = from.u8();
  if (flags > 7) throw new Unfit(at, `the flags 0x${flags.toString(16)} of limits`);
  const isWide = (flags & limitFlags.wide) !== 0;
  const given = from.u64Leb();
  const first = isWide ? below : 0n;
  const minimum = given > first ? given - first : 0n;
  if (minimum > most) throw new Unfit(at, `at least ${given} pages or entries, more than 32 bits can address`);
  out.u8(flags & ~limitFlags.wide);
  unsigned(out, Number(minimum));
  if ((flags & limitFlags.maximum) !== 0) {
    const maximum = from.u64Leb() - first;
    unsigned(out, Number(maximum < minimum ? minimum : maximum < most ? maximum : most));
  }
  return isWide;
}

/** Where data or elements are put: a constant, which has 64 bits where the addresses have. */
function place(from: ModuleReader, out: ByteWriter, isWide: boolean, window: number): void {
  if (!isWide) {
    copied(from, out, () => expression(from));
    return;
  }
  const at = from.offset;
  if (from.u8() !== 0x42) throw new Unfit(at, 'a place that is not a constant');
  const address = from.s64Leb() - (BigInt(window) << 32n);
  if (address < 0n || address > 0xffff_ffffn) throw new Unfit(at, 'a place outside the window');
  if (from.u8() !== 0x0b) throw new Unfit(at, 'a place that is not a constant');
  out.u8(0x41);
  signed32(out, Number(address));
  out.u8(0x0b);
}

/** Passes over an expression of one constant, one variable or one reference. */
function expression(from: ModuleReader): void {
  const at = from.offset;
  const first = from.u8();
  if (first === 0x41) from.skipSigned(32);
  else if (first === 0x42) from.skipSigned(64);
  else if (first === 0x23 || first === 0xd2) from.u32Leb();
  else if (first === 0xd0) from.skipSigned(33);
  else throw new Unfit(at, `the opcode 0x${first.toString(16)} in a constant`);
  if (from.u8() !== 0x0b) throw new Unfit(at, 'a constant of several instructions');
}

/** One list of elements. Bit 0: no place; bit 1: a table or kind is named; bit 2: expressions instead of functions. */
function element(from: ModuleReader, out: ByteWriter, { tables }: State): void {
  const at = from.offset;
  const form = from.u32Leb();
  if (form > 7) throw new Unfit(at, `the form ${form} of elements`);
  unsigned(out, form);
  const isActive = (form & 1) === 0;
  const isNamed = (form & 2) !== 0;
  if (isActive) {
    const table = isNamed ? from.u32Leb() : 0;
    if (isNamed) unsigned(out, table);
    place(from, out, tables[table] === true, 0);
  }
  copied(from, out, () => {
    const hasExpressions = (form & 4) !== 0;
    if ((form & 3) !== 0) {
      if (hasExpressions) from.valueType();
      else from.u8();
    }
    for (let n = from.u32Leb(); n > 0; n--) {
      if (hasExpressions) expression(from);
      else from.u32Leb();
    }
  });
}
