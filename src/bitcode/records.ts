/**
 * The blocks of LLVM bitcode, their records and the fields of each: the one table that writer and reader derive from (`fields.ts`).
 * Numbers of opcodes, predicates and linkages are in `codes.ts`, names by number in `names.ts`.
 * Source: `llvm/Bitcode/LLVMBitCodes.h` of LLVM 14; layouts as found in Apple's modules.
 */
import type { Fields, RecordRow } from './fields.ts';

interface BlockRow {
  readonly id: number;
  /** Width of abbreviation ids inside, bits. */
  readonly width: number;
  readonly records: Readonly<Record<string, RecordRow>>;
}

const rec = <const F extends Fields>(code: number, fields: F): RecordRow<F> => ({ code, fields, plan: undefined });
const noFields = {} as const;

export const blocks = {
  blockinfo: { id: 0, width: 2, records: { setBid: rec(1, { block: 'word+' }) } },
  identification: { id: 13, width: 5, records: { string: rec(1, { text: 'text' }), epoch: rec(2, { epoch: 'word' }) } },
  module: {
    id: 8,
    width: 3,
    records: {
      version: rec(1, { version: 'word' }),
      triple: rec(2, { text: 'text' }),
      dataLayout: rec(3, { text: 'text' }),
      sectionName: rec(5, { text: 'text' }),
      globalVar: rec(7, {
        name: 'word',
        size: 'word',
        type: 'word',
        flags: 'word',
        init: 'word',
        linkage: 'word+',
        align: 'word+',
        section: 'word+',
        visibility: 'word+',
        tls: 'word+',
        unnamed: 'word+',
        external: 'word+',
        dll: 'word+',
        comdat: 'word+',
        attributes: 'word+',
        dsoLocal: 'word+',
        partition: 'word+',
        partitionSize: 'word+',
      }),
      function: rec(8, {
        name: 'word',
        size: 'word',
        type: 'word',
        cc: 'word+',
        declaration: 'word+',
        linkage: 'word+',
        attributes: 'word+',
        align: 'word+',
        section: 'word+',
        visibility: 'word+',
        gc: 'word+',
        unnamed: 'word+',
        prologue: 'word+',
        dll: 'word+',
        comdat: 'word+',
        prefix: 'word+',
        personality: 'word+',
        dsoLocal: 'word+',
        space: 'word+',
        partition: 'word+',
        partitionSize: 'word+',
      }),
      oldAlias: rec(9, { type: 'word', aliasee: 'word', linkage: 'word' }),
      vstOffset: rec(13, { word: 'word' }),
      alias: rec(14, { name: 'word', size: 'word', type: 'word', space: 'word', aliasee: 'word', linkage: 'word' }),
      ifunc: rec(15, { name: 'word', size: 'word', type: 'word', space: 'word', resolver: 'word', linkage: 'word' }),
      sourceFilename: rec(16, { text: 'text' }),
    },
  },
  paramattr: { id: 9, width: 4, records: { entry: rec(2, { groups: 'words' }) } },
  paramattrGroup: { id: 10, width: 4, records: { entry: rec(3, { group: 'word', index: 'word', attributes: 'words' }) } },
  constants: {
    id: 11,
    width: 4,
    records: {
      setType: rec(1, { type: 'word' }),
      null: rec(2, noFields),
      undef: rec(3, noFields),
      integer: rec(4, { value: 'word' }),
      wideInteger: rec(5, { words: 'words' }),
      float: rec(6, { bits: 'word' }),
      aggregate: rec(7, { elements: 'words' }),
      string: rec(8, { elements: 'words' }),
      cstring: rec(9, { elements: 'words' }),
      binop: rec(10, { opcode: 'word', a: 'word', b: 'word', flags: 'word?' }),
      cast: rec(11, { opcode: 'word', type: 'word', value: 'word' }),
      gep: rec(12, { sourceType: 'word+', operands: 'pairs' }),
      inboundsGep: rec(20, { sourceType: 'word+', operands: 'pairs' }),
      data: rec(22, { elements: 'words' }),
      poison: rec(26, noFields),
      /** The three forms of LLVM 19 and later, in modules with opaque pointers. */
      inlineAsm: rec(30, { type: 'word', flags: 'word', text: 'words' }),
      gepInRange: rec(31, { sourceType: 'word', flags: 'word', bits: 'word', low: 'word', high: 'word', operands: 'pairs' }),
      gepWithFlags: rec(32, { sourceType: 'word', flags: 'word', operands: 'pairs' }),
    },
  },
  function: {
    id: 12,
    width: 4,
    records: {
      declareBlocks: rec(1, { count: 'word' }),
      binop: rec(2, { a: 'typed', b: 'value', opcode: 'word', flags: 'flags' }),
      cast: rec(3, { value: 'typed', type: 'type', opcode: 'word' }),
      extractElement: rec(6, { vector: 'typed', index: 'typed' }),
      insertElement: rec(7, { vector: 'typed', value: 'value', index: 'typed' }),
      shuffleVector: rec(8, { a: 'typed', b: 'value', mask: 'typed' }),
      ret: rec(10, { value: 'typed?' }),
      br: rec(11, { then: 'block', else: 'block?', condition: 'value?' }),
      switch: rec(12, { type: 'operandType', condition: 'value', default: 'block', cases: 'cases' }),
      unreachable: rec(15, noFields),
      phi: rec(16, { type: 'type', incoming: 'incoming', flags: 'flags' }),
      alloca: rec(19, { type: 'type', sizeType: 'operandType', size: 'id', align: 'word' }),
      load: rec(20, { pointer: 'typed', type: 'type+', align: 'word', volatile: 'word' }),
      extractValue: rec(26, { aggregate: 'typed', path: 'words' }),
      insertValue: rec(27, { aggregate: 'typed', value: 'typed', path: 'words' }),
      cmp2: rec(28, { a: 'typed', b: 'value', predicate: 'word', flags: 'flags' }),
      select: rec(29, { true: 'typed', false: 'value', condition: 'typed', flags: 'flags' }),
      debugLocAgain: rec(33, noFields),
      call: rec(34, {
        attributes: 'attributes',
        cc: 'callFlags',
        flags: 'fastMath',
        type: 'explicitType',
        callee: 'typed',
        args: 'arguments',
      }),
      debugLoc: rec(35, { line: 'word', column: 'word', scope: 'node', inlined: 'node', implicit: 'word+' }),
      fence: rec(36, { order: 'word', scope: 'word' }),
      loadAtomic: rec(41, { pointer: 'typed', type: 'type', align: 'word', volatile: 'word', order: 'word', scope: 'word' }),
      gep: rec(43, { inbounds: 'word', type: 'type', base: 'typed', indices: 'typedList' }),
      store: rec(44, { pointer: 'typed', value: 'typed', align: 'word', volatile: 'word' }),
      storeAtomic: rec(45, { pointer: 'typed', value: 'typed', align: 'word', volatile: 'word', order: 'word', scope: 'word' }),
      cmpxchg: rec(46, {
        pointer: 'typed',
        expected: 'typed',
        value: 'value',
        volatile: 'word',
        order: 'word',
        scope: 'word',
        failureOrder: 'word',
        weak: 'word',
        align: 'word',
      }),
      operandBundle: rec(55, { tag: 'word', values: 'typedList' }),
      unop: rec(56, { value: 'typed', opcode: 'word', flags: 'flags' }),
      freeze: rec(58, { value: 'typed' }),
      atomicrmw: rec(59, {
        pointer: 'typed',
        value: 'typed',
        operation: 'word',
        volatile: 'word',
        order: 'word',
        scope: 'word',
        align: 'word',
      }),
    },
  },
  valueSymtab: {
    id: 14,
    width: 4,
    records: {
      entry: rec(1, { value: 'word', name: 'text' }),
      bbEntry: rec(2, { block: 'word', name: 'text' }),
      /** The word of the stream that the function's block starts at. */
      fnEntry: rec(3, { value: 'word', start: 'word', name: 'text' }),
    },
  },
  metadata: {
    id: 15,
    width: 4,
    records: {
      oldString: rec(1, { text: 'text' }),
      value: rec(2, { type: 'word', value: 'word' }),
      node: rec(3, { operands: 'words' }),
      name: rec(4, { text: 'text' }),
      distinctNode: rec(5, { operands: 'words' }),
      kind: rec(6, { kind: 'word', name: 'text' }),
      namedNode: rec(10, { nodes: 'words' }),
      /** Debug information is in `debug-info.ts`, but for what has no fixed fields. `head` holds whether the node is distinct. */
      generic: rec(12, { head: 'word', tag: 'word+', version: 'word+', operands: 'words' }),
      enumerator: rec(14, { head: 'word', bits: 'word', name: 'word', value: 'words' }),
      /** Before LLVM 12; bit 2 of `head` is 0 there. */
      oldEnumerator: rec(14, { head: 'word', value: 'word+', name: 'word+' }),
      /** Before LLVM 8; bit 2 of `head` is 0 there. */
      oldSubprogram: rec(21, {
        head: 'word',
        scope: 'word',
        name: 'word',
        linkage: 'word',
        file: 'word',
        line: 'word',
        type: 'word',
        isLocal: 'word',
        isDefinition: 'word',
        scopeLine: 'word',
        containing: 'word',
        virtuality: 'word',
        virtualIndex: 'word',
        flags: 'word',
        isOptimized: 'word',
        unit: 'word',
        params: 'word',
        declaration: 'word',
        retained: 'word',
        adjustment: 'word+',
        thrown: 'word+',
      }),
      expression: rec(29, { head: 'word', elements: 'words' }),
      strings: rec(35, { count: 'word', offset: 'word', blob: 'blob' }),
      globalDeclAttachment: rec(36, { value: 'word', attachments: 'pairs' }),
      indexOffset: rec(38, { low: 'word', high: 'word' }),
      index: rec(39, { offsets: 'words' }),
      argList: rec(46, { values: 'words' }),
    },
  },
  metadataAttachment: { id: 16, width: 4, records: { attachment: rec(11, { instruction: 'word?', attachments: 'pairs' }) } },
  types: {
    id: 17,
    width: 4,
    records: {
      count: rec(1, { count: 'word' }),
      void: rec(2, noFields),
      float: rec(3, noFields),
      double: rec(4, noFields),
      label: rec(5, noFields),
      opaque: rec(6, { packed: 'word' }),
      integer: rec(7, { bits: 'word' }),
      pointer: rec(8, { pointee: 'word', space: 'word+' }),
      half: rec(10, noFields),
      array: rec(11, { count: 'word', element: 'word' }),
      vector: rec(12, { count: 'word', element: 'word' }),
      metadata: rec(16, noFields),
      structAnon: rec(18, { packed: 'word', elements: 'words' }),
      structName: rec(19, { name: 'text' }),
      structNamed: rec(20, { packed: 'word', elements: 'words' }),
      function: rec(21, { vararg: 'word', result: 'word', params: 'words' }),
      token: rec(22, noFields),
      bfloat: rec(23, noFields),
      opaquePointer: rec(25, { space: 'word' }),
    },
  },
  useList: { id: 18, width: 4, records: {} },
  operandBundleTags: { id: 21, width: 3, records: { tag: rec(1, { text: 'text' }) } },
  metadataKind: { id: 22, width: 3, records: { kind: rec(6, { kind: 'word', name: 'text' }) } },
  strtab: { id: 23, width: 3, records: { blob: rec(1, { blob: 'blob' }) } },
  symtab: { id: 25, width: 3, records: { blob: rec(1, { blob: 'blob' }) } },
  syncScopeNames: { id: 26, width: 3, records: { name: rec(1, { text: 'text' }) } },
} as const satisfies Record<string, BlockRow>;

export type BlockName = keyof typeof blocks;
export type RecordName<B extends BlockName> = keyof (typeof blocks)[B]['records'] & string;
/** The fields of a record. */
export type FieldsOf<B extends BlockName, N extends RecordName<B>> =
  (typeof blocks)[B]['records'][N] extends RecordRow<infer F> ? F : never;

const blockNames: ReadonlyMap<number, string> = new Map(Object.entries(blocks).map(([name, { id }]) => [id, name]));

/** The name of a block by its number, for messages. */
export const blockName = (id: number): string => blockNames.get(id) ?? `block ${id}`;
