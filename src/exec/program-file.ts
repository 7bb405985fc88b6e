/** What a program's file says of how it can be served. */
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import { type Elf, isElf, readElf, type Section, sectionBytes } from '../ptx/container/elf.ts';

export interface ProgramFacts {
  /** `script` is what another program interprets, `other` no program. */
  readonly kind: 'elf' | 'script' | 'other';
  /** e_machine of an ELF file. */
  readonly machine: number;
  /** Whether libraries can be loaded with it. */
  readonly isDynamic: boolean;
  /** Functions of CUDA that it takes from libraries. */
  readonly wanted: readonly string[];
  /** Whether it has device code. */
  readonly hasDeviceCode: boolean;
  /** Whether it has NVIDIA's runtime inside, with its symbols. */
  readonly hasRuntime: boolean;
}

const isCudaName = (name: string): boolean => /^(__)?cuda[A-Z]|^cu[A-Z]/.test(name);

/** Section types of symbol tables: all of them, and those for the dynamic linker. */
const [allSymbols, dynamicSymbols] = [2, 11];
const symbolSize = 24;

/** Reads a program's file. A damaged one is `other`. */
export function programFacts(bytes: Uint8Array): ProgramFacts {
  const none = { machine: 0, isDynamic: false, wanted: [], hasDeviceCode: false, hasRuntime: false };
  if (bytes[0] === 0x23 && bytes[1] === 0x21) return { ...none, kind: 'script' };
  if (!isElf(bytes)) return { ...none, kind: 'other' };
  try {
    const elf = readElf(bytes);
    const dynamic = symbolsOf(bytes, elf, dynamicSymbols);
    return {
      kind: 'elf',
      machine: elf.machine,
      isDynamic: elf.sections.some(({ name }) => name === '.interp'),
      wanted: dynamic.filter(({ name, isDefined }) => !isDefined && isCudaName(name)).map(({ name }) => name),
      hasDeviceCode: elf.sections.some(({ name }) => name === '.nv_fatbin'),
      hasRuntime: symbolsOf(bytes, elf, allSymbols).some(({ name, isDefined }) => isDefined && name === '__cudaRegisterFatBinary'),
    };
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
    return { ...none, kind: 'other' };
  }
}

interface ElfSymbol {
  readonly name: string;
  readonly isDefined: boolean;
}

/** The symbols of CUDA in a table. Throws `OutOfBytes`. */
function symbolsOf(bytes: Uint8Array, { sections }: Elf, type: number): ElfSymbol[] {
  const table = sections.find((section) => section.type === type);
  const names = table && sections[table.link];
  if (!table || !names) return [];
  const text = sectionBytes(bytes, names);
  return entriesOf(bytes, table).flatMap(({ nameAt, section }) => {
    // `cu…` or `__cu…`: other names are not read.
    const at = text[nameAt] === 0x5f ? nameAt + 2 : nameAt;
    if (text[at] !== 0x63 || text[at + 1] !== 0x75) return [];
    const end = text.indexOf(0, nameAt);
    return [{ name: new TextDecoder().decode(text.subarray(nameAt, end < 0 ? text.length : end)), isDefined: section !== 0 }];
  });
}

function entriesOf(bytes: Uint8Array, table: Section): { readonly nameAt: number; readonly section: number }[] {
  const r = new ByteReader(sectionBytes(bytes, table));
  return Array.from({ length: Math.floor(r.remaining / symbolSize) }, () => {
    const nameAt = r.u32();
    r.take(2);
    const section = r.u16();
    r.take(16);
    return { nameAt, section };
  });
}
