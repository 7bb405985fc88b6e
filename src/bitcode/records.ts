/**
 * LLVM bitcode as data: blocks, their records with named fields, and the numbers of opcodes, predicates and
 * linkages; names by number are in `names.ts`. Writer, reader and disassembler take them from here.
 * Source: `llvm/Bitcode/LLVMBitCodes.h` of LLVM 14; layouts as met in Apple's modules.
 */
import type { BinaryOpcode, CastOpcode, Linkage, Predicate, UnnamedAddr, Visibility } from './model.ts';

interface RecordSpec {
  readonly code: number;
  /** Field names in order; `…` ends a list of any length. */
  readonly fields: string;
}

interface BlockSpec {
  readonly id: number;
  /** Width of abbreviation ids inside, bits. */
  readonly width: number;
  readonly records: Readonly<Record<string, RecordSpec>>;
}

const rec = (code: number, fields = ''): RecordSpec => ({ code, fields });

export const blocks = {
  blockinfo: { id: 0, width: 2, records: { setBid: rec(1, 'block') } },
  identification: { id: 13, width: 5, records: { string: rec(1, 'chars…'), epoch: rec(2, 'epoch') } },
  module: {
    id: 8,
    width: 3,
    records: {
      version: rec(1, 'version'),
      triple: rec(2, 'chars…'),
      dataLayout: rec(3, 'chars…'),
      sectionName: rec(5, 'chars…'),
      globalVar: rec(
        7,
        'name size type flags init linkage align section visibility tls unnamed external dll comdat attributes dso partition partitionSize',
      ),
      function: rec(
        8,
        'name size type cc declaration linkage attributes align section visibility gc unnamed prologue dll comdat prefix personality dso space partition partitionSize',
      ),
      oldAlias: rec(9, 'type aliasee linkage'),
      vstOffset: rec(13, 'word'),
      alias: rec(14, 'name size type space aliasee linkage'),
      ifunc: rec(15, 'name size type space resolver linkage'),
      sourceFilename: rec(16, 'chars…'),
    },
  },
  paramattr: { id: 9, width: 4, records: { entry: rec(2, 'groups…') } },
  paramattrGroup: { id: 10, width: 4, records: { entry: rec(3, 'group index attributes…') } },
  constants: {
    id: 11,
    width: 4,
    records: {
      setType: rec(1, 'type'),
      null: rec(2),
      undef: rec(3),
      integer: rec(4, 'value'),
      wideInteger: rec(5, 'words…'),
      float: rec(6, 'bits'),
      aggregate: rec(7, 'values…'),
      string: rec(8, 'chars…'),
      cstring: rec(9, 'chars…'),
      binop: rec(10, 'opcode a b flags'),
      cast: rec(11, 'opcode type value'),
      gep: rec(12, 'operands…'),
      inboundsGep: rec(20, 'operands…'),
      data: rec(22, 'elements…'),
      poison: rec(26),
    },
  },
  function: {
    id: 12,
    width: 4,
    records: {
      declareBlocks: rec(1, 'count'),
      binop: rec(2, 'a b opcode flags'),
      cast: rec(3, 'value type opcode'),
      extractElement: rec(6, 'vector index'),
      insertElement: rec(7, 'vector value index'),
      shuffleVector: rec(8, 'a b mask'),
      ret: rec(10, 'value'),
      br: rec(11, 'then else condition'),
      switch: rec(12, 'type condition default cases…'),
      unreachable: rec(15),
      phi: rec(16, 'type incoming…'),
      alloca: rec(19, 'type sizeType size align'),
      load: rec(20, 'pointer type align volatile'),
      extractValue: rec(26, 'aggregate path…'),
      insertValue: rec(27, 'aggregate value path…'),
      cmp2: rec(28, 'a b predicate flags'),
      select: rec(29, 'true false condition'),
      call: rec(34, 'attributes cc flags type callee args…'),
      debugLoc: rec(35, 'line column scope inlined implicit'),
      debugLocAgain: rec(33),
      gep: rec(43, 'inbounds type operands…'),
      store: rec(44, 'pointer value align volatile'),
      operandBundle: rec(55, 'tag values…'),
      unop: rec(56, 'value opcode flags'),
      freeze: rec(58, 'value'),
    },
  },
  valueSymtab: {
    id: 14,
    width: 4,
    records: { entry: rec(1, 'value chars…'), bbEntry: rec(2, 'block chars…'), fnEntry: rec(3, 'value word chars…') },
  },
  metadata: {
    id: 15,
    width: 4,
    records: {
      oldString: rec(1, 'chars…'),
      value: rec(2, 'type value'),
      node: rec(3, 'operands…'),
      name: rec(4, 'chars…'),
      distinctNode: rec(5, 'operands…'),
      kind: rec(6, 'kind chars…'),
      namedNode: rec(10, 'nodes…'),
      strings: rec(35, 'count offset blob'),
      globalDeclAttachment: rec(36, 'value attachments…'),
      indexOffset: rec(38, 'low high'),
      index: rec(39, 'offsets…'),
    },
  },
  metadataAttachment: { id: 16, width: 4, records: { attachment: rec(11, 'attachments…') } },
  types: {
    id: 17,
    width: 4,
    records: {
      count: rec(1, 'count'),
      void: rec(2),
      float: rec(3),
      double: rec(4),
      label: rec(5),
      opaque: rec(6, 'ispacked'),
      integer: rec(7, 'bits'),
      pointer: rec(8, 'pointee space'),
      half: rec(10),
      array: rec(11, 'count element'),
      vector: rec(12, 'count element'),
      metadata: rec(16),
      structAnon: rec(18, 'packed fields…'),
      structName: rec(19, 'chars…'),
      structNamed: rec(20, 'packed fields…'),
      function: rec(21, 'vararg result params…'),
      token: rec(22),
      bfloat: rec(23),
    },
  },
  useList: { id: 18, width: 4, records: {} },
  operandBundleTags: { id: 21, width: 3, records: { tag: rec(1, 'chars…') } },
  metadataKind: { id: 22, width: 3, records: { kind: rec(6, 'kind chars…') } },
  strtab: { id: 23, width: 3, records: { blob: rec(1, 'blob') } },
  symtab: { id: 25, width: 3, records: { blob: rec(1, 'blob') } },
  syncScopeNames: { id: 26, width: 3, records: { name: rec(1, 'chars…') } },
} as const satisfies Record<string, BlockSpec>;

export type BlockName = keyof typeof blocks;

const blockNames: ReadonlyMap<number, string> = new Map(Object.entries(blocks).map(([name, { id }]) => [id, name]));

/** The name of a block by its number, for messages. */
export const blockName = (id: number): string => blockNames.get(id) ?? `block ${id}`;

const inverse = <K extends string>(table: Record<K, number>): ReadonlyMap<number, K> =>
  new Map(Object.entries(table).map(([k, v]) => [v as number, k as K]));

/** Binary opcodes as the records number them; integer and float forms share numbers. */
export const binaryCodes: Record<BinaryOpcode, number> = {
  add: 0,
  sub: 1,
  mul: 2,
  udiv: 3,
  sdiv: 4,
  urem: 5,
  srem: 6,
  shl: 7,
  lshr: 8,
  ashr: 9,
  and: 10,
  or: 11,
  xor: 12,
  fadd: 0,
  fsub: 1,
  fmul: 2,
  fdiv: 4,
  frem: 6,
};
const intOpcodes = ['add', 'sub', 'mul', 'udiv', 'sdiv', 'urem', 'srem', 'shl', 'lshr', 'ashr', 'and', 'or', 'xor'] as const;
const floatOpcodes: Readonly<Record<number, BinaryOpcode>> = { 0: 'fadd', 1: 'fsub', 2: 'fmul', 4: 'fdiv', 6: 'frem' };

/** The opcode of a number on operands of integer or float type. */
export const binaryOpcode = (code: number, isFloat: boolean): BinaryOpcode | undefined => (isFloat ? floatOpcodes[code] : intOpcodes[code]);

export const castCodes: Record<CastOpcode, number> = {
  trunc: 0,
  zext: 1,
  sext: 2,
  fptoui: 3,
  fptosi: 4,
  uitofp: 5,
  sitofp: 6,
  fptrunc: 7,
  fpext: 8,
  ptrtoint: 9,
  inttoptr: 10,
  bitcast: 11,
  addrspacecast: 12,
};
export const castOpcodes = inverse(castCodes);

export const predicateCodes: Record<Predicate, number> = {
  false: 0,
  oeq: 1,
  ogt: 2,
  oge: 3,
  olt: 4,
  ole: 5,
  one: 6,
  ord: 7,
  uno: 8,
  ueq: 9,
  fugt: 10,
  fuge: 11,
  fult: 12,
  fule: 13,
  une: 14,
  true: 15,
  eq: 32,
  ne: 33,
  ugt: 34,
  uge: 35,
  ult: 36,
  ule: 37,
  sgt: 38,
  sge: 39,
  slt: 40,
  sle: 41,
};
export const predicates = inverse(predicateCodes);

/** How LLVM text spells a predicate. */
export const predicateName = (predicate: Predicate): string => (predicate.startsWith('fu') ? predicate.slice(1) : predicate);

export const linkageCodes: Record<Linkage, number> = {
  external: 0,
  appending: 2,
  internal: 3,
  extern_weak: 7,
  common: 8,
  private: 9,
  available_externally: 12,
  weak: 16,
  weak_odr: 17,
  linkonce: 18,
  linkonce_odr: 19,
};
/** Numbers that older writers used map to the same linkages. */
export const linkages: ReadonlyMap<number, Linkage> = new Map([
  ...inverse(linkageCodes),
  [1, 'weak'],
  [4, 'linkonce'],
  [5, 'external'],
  [6, 'external'],
  [10, 'weak_odr'],
  [11, 'linkonce_odr'],
  [13, 'private'],
  [14, 'private'],
  [15, 'external'],
] as const);

export const unnamedAddrCodes: Record<UnnamedAddr, number> = { none: 0, unnamed_addr: 1, local_unnamed_addr: 2 };
export const unnamedAddrs = inverse(unnamedAddrCodes);

export const visibilityCodes: Record<Visibility, number> = { hidden: 1, protected: 2 };
export const visibilities = inverse(visibilityCodes);

/** Bits of a call's flags operand. */
export const callFlags = {
  conventionShift: 1,
  conventionMask: 0x3ff,
  tail: 1 << 0,
  mustTail: 1 << 14,
  explicitType: 1 << 15,
  noTail: 1 << 16,
  fastMath: 1 << 17,
} as const;
/** The explicit-type bit of an alloca's alignment operand. */
export const allocaExplicitType = 1 << 6;
