/**
 * An LLVM module as an object graph, which the writer encodes, the reader decodes and the disassembler prints. Operands are references
 * to the objects that define them; only the writer numbers them. Covers the constructs of LLVM 14 that AIR modules use; the reader
 * refuses others with a diagnostic.
 * Source of meanings: LLVM 14 Language Reference and `llvm/Bitcode/LLVMBitCodes.h`.
 */
import type { Type, TypeOf } from './types.ts';

/** A module of LLVM. */
export interface Module {
  /** IDENTIFICATION_BLOCK string; Apple's is empty. */
  identification: string;
  sourceFilename: string;
  triple: string;
  dataLayout: string;
  /** Named structs in order of their definition in the type table. */
  structs: TypeOf<'struct'>[];
  globals: GlobalVariable[];
  functions: Function[];
  namedMetadata: NamedMetadata[];
  /** Section names that globals and functions refer to. */
  sections: string[];
}

/** The linkage of a function or variable, in the words of LLVM. */
export type Linkage =
  | 'external'
  | 'weak'
  | 'appending'
  | 'internal'
  | 'linkonce'
  | 'private'
  | 'available_externally'
  | 'extern_weak'
  | 'common'
  | 'weak_odr'
  | 'linkonce_odr';
/** A visibility other than the default one. */
export type Visibility = 'hidden' | 'protected';
/** Whether the address of a global is significant. */
export type UnnamedAddr = 'none' | 'unnamed_addr' | 'local_unnamed_addr';

/** A global variable. */
export interface GlobalVariable {
  readonly kind: 'global';
  name: string;
  /** Pointer to `valueType` in the variable's address space. */
  readonly type: TypeOf<'pointer'>;
  readonly valueType: Type;
  isConstant: boolean;
  init: Constant | undefined;
  linkage: Linkage;
  /** The default visibility if absent. */
  visibility?: Visibility;
  /** In bytes; 0 if unspecified. */
  align: number;
  section: string | undefined;
  unnamedAddr: UnnamedAddr;
  externallyInitialized: boolean;
  dsoLocal: boolean;
  metadata?: Attachment[];
}

/** A function, or the declaration of one. */
export interface Function {
  readonly kind: 'function';
  name: string;
  /** Pointer to `functionType`, address space 0. */
  readonly type: TypeOf<'pointer'>;
  readonly functionType: TypeOf<'function'>;
  linkage: Linkage;
  /** The default visibility if absent. */
  visibility?: Visibility;
  /** LLVM's number; 0, the C convention, if absent. */
  convention?: number;
  /** In bytes; unspecified if absent. */
  align?: number;
  attributes: AttributeList;
  unnamedAddr: UnnamedAddr;
  dsoLocal: boolean;
  section: string | undefined;
  args: Argument[];
  /** Empty for a declaration. */
  blocks: Block[];
  metadata: Attachment[];
}

/** An argument of a function. */
export interface Argument {
  readonly kind: 'argument';
  readonly type: Type;
  readonly index: number;
  name: string | undefined;
}

/** A basic block. */
export interface Block {
  readonly kind: 'block';
  name: string | undefined;
  body: Instruction[];
}

// ── attributes ──────────────────────────────────────────────────────────────

/** An attribute of a function, a parameter or a result. */
export type Attribute =
  | { readonly form: 'enum'; readonly kind: number }
  | { readonly form: 'int'; readonly kind: number; readonly value: bigint }
  | { readonly form: 'string'; readonly key: string; readonly value: string | undefined }
  | { readonly form: 'type'; readonly kind: number; readonly type: Type | undefined };

/** Attributes of a function or call; if all lists are empty, there is no attribute list. */
export interface AttributeList {
  readonly function: readonly Attribute[];
  readonly result: readonly Attribute[];
  /** By parameter number; may be shorter than the parameter list. */
  readonly params: readonly (readonly Attribute[])[];
}

// ── constants ───────────────────────────────────────────────────────────────

/** A constant by its form. */
export type Constant =
  | {
      readonly kind: 'constant';
      readonly form: 'int';
      readonly type: TypeOf<'int'> /** The bits as an unsigned number. */;
      readonly value: bigint;
    }
  | {
      readonly kind: 'constant';
      readonly form: 'float';
      readonly type: TypeOf<'float'> /** The bits in the type's own width. */;
      readonly bits: bigint;
    }
  | { readonly kind: 'constant'; readonly form: 'null' | 'undef' | 'poison'; readonly type: Type }
  | { readonly kind: 'constant'; readonly form: 'aggregate'; readonly type: Type; readonly elements: readonly Constant[] }
  | { readonly kind: 'constant'; readonly form: 'cast'; readonly type: Type; readonly opcode: CastOpcode; readonly value: Constant }
  | {
      readonly kind: 'constant';
      readonly form: 'gep';
      readonly type: Type;
      readonly sourceType: Type;
      readonly inbounds: boolean;
      readonly base: Constant;
      readonly indices: readonly Constant[];
    }
  | {
      readonly kind: 'constant';
      readonly form: 'binary';
      readonly type: Type;
      readonly opcode: BinaryOpcode;
      readonly a: Constant;
      readonly b: Constant;
      readonly flags: number;
    }
  | {
      readonly kind: 'constant';
      readonly form: 'asm';
      readonly type: Type;
      readonly text: string;
      readonly constraints: string;
      readonly hasSideEffects: boolean;
    }
  | GlobalVariable
  | Function;

// ── metadata ────────────────────────────────────────────────────────────────

/** A node of metadata, a string or a value in metadata. */
export type Metadata =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'value'; readonly value: Constant | Argument | Instruction }
  | MetadataNode;

/** A tuple. `operands` is filled after creation if nodes refer to each other. */
export interface MetadataNode {
  readonly kind: 'node';
  readonly distinct: boolean;
  operands: (Metadata | undefined)[];
  /** The fields of a node of debug information. Its `operands` are the fields that are references, in order. */
  readonly debug?: DebugFields;
}

/** The fields of the row of `debug-info.ts` with this name; references are 0 here. */
export interface DebugFields {
  readonly name: string;
  readonly values: readonly (number | bigint)[];
}

/** Metadata as an argument of a call, which may be local to the function. */
export interface MetadataArgument {
  readonly kind: 'metadata';
  readonly metadata: Metadata;
}

/** A named list of metadata nodes of a module. */
export interface NamedMetadata {
  name: string;
  nodes: MetadataNode[];
}

/** A node attached to a function, variable or instruction under a metadata kind such as `tbaa`. The source location of an instruction is the first, of kind `dbg`. */
export interface Attachment {
  readonly kind: string;
  readonly node: MetadataNode;
}

// ── instructions ────────────────────────────────────────────────────────────

/** An operand of an instruction. */
export type Value = Constant | Argument | Instruction;

/** An opcode with two operands of one type. */
export type BinaryOpcode =
  | 'add'
  | 'sub'
  | 'mul'
  | 'udiv'
  | 'sdiv'
  | 'urem'
  | 'srem'
  | 'shl'
  | 'lshr'
  | 'ashr'
  | 'and'
  | 'or'
  | 'xor'
  | 'fadd'
  | 'fsub'
  | 'fmul'
  | 'fdiv'
  | 'frem';
/** The opcode of a conversion. */
export type CastOpcode =
  | 'trunc'
  | 'zext'
  | 'sext'
  | 'fptoui'
  | 'fptosi'
  | 'uitofp'
  | 'sitofp'
  | 'fptrunc'
  | 'fpext'
  | 'ptrtoint'
  | 'inttoptr'
  | 'bitcast'
  | 'addrspacecast';
/** An operation of `atomicrmw`. */
export type AtomicOperation =
  | 'xchg'
  | 'add'
  | 'sub'
  | 'and'
  | 'nand'
  | 'or'
  | 'xor'
  | 'max'
  | 'min'
  | 'umax'
  | 'umin'
  | 'fadd'
  | 'fsub'
  | 'fmax'
  | 'fmin'
  | 'uinc_wrap'
  | 'udec_wrap';
/** The order of an atomic access, in the words of LLVM. */
export type MemoryOrder = 'unordered' | 'monotonic' | 'acquire' | 'release' | 'acq_rel' | 'seq_cst';
/** The order of an access, and the threads that see it: the empty scope is the whole system. */
export interface Atomicity {
  readonly order: MemoryOrder;
  readonly scope: string;
}

/** A predicate of a comparison. */
export type Predicate =
  | 'eq'
  | 'ne'
  | 'ugt'
  | 'uge'
  | 'ult'
  | 'ule'
  | 'sgt'
  | 'sge'
  | 'slt'
  | 'sle'
  | 'false'
  | 'oeq'
  | 'ogt'
  | 'oge'
  | 'olt'
  | 'ole'
  | 'one'
  | 'ord'
  | 'uno'
  | 'ueq'
  | 'fugt'
  | 'fuge'
  | 'fult'
  | 'fule'
  | 'une'
  | 'true';

interface Common {
  readonly kind: 'instruction';
  /** The number of its value in the function, valid only while a writer numbers them. A map would be much slower. */
  number?: number;
  readonly type: Type;
  name?: string;
  metadata?: Attachment[];
}

/** `flags` of integer operations: 1 nuw, 2 nsw, or 1 exact; of float operations the fast-math bits: 2 nnan, 4 ninf, 8 nsz, 16 arcp, 32 contract, 64 afn, 128 reassoc. */
export type Instruction = Common &
  (
    | { readonly op: 'binary'; readonly opcode: BinaryOpcode; a: Value; b: Value; readonly flags: number }
    | { readonly op: 'fneg'; value: Value; readonly flags: number }
    | { readonly op: 'cast'; readonly opcode: CastOpcode; value: Value }
    | { readonly op: 'icmp'; readonly predicate: Predicate; a: Value; b: Value; readonly flags: number }
    | {
        readonly op: 'fcmp' /** Predicates that clash with integer ones are spelled `fugt fuge fult fule`. */;
        readonly predicate: Predicate;
        a: Value;
        b: Value;
        readonly flags: number;
      }
    | { readonly op: 'select'; condition: Value; a: Value; b: Value; readonly flags: number }
    | { readonly op: 'phi'; incoming: { value: Value; block: Block }[]; readonly flags: number }
    | {
        readonly op: 'call';
        readonly functionType: TypeOf<'function'>;
        callee: Value;
        /** LLVM's number; 0, the C convention, if absent. */
        readonly convention?: number;
        args: (Value | MetadataArgument)[];
        readonly attributes: AttributeList;
        readonly tail: 'none' | 'tail' | 'musttail' | 'notail';
        readonly flags: number;
      }
    | { readonly op: 'alloca'; readonly allocated: Type; count: Value; readonly align: number }
    | { readonly op: 'load'; pointer: Value; readonly align: number; readonly isVolatile: boolean; readonly atomic?: Atomicity }
    | {
        readonly op: 'store';
        pointer: Value;
        value: Value;
        readonly align: number;
        readonly isVolatile: boolean;
        readonly atomic?: Atomicity;
      }
    | { readonly op: 'fence'; readonly atomic: Atomicity }
    | {
        readonly op: 'atomicrmw';
        readonly operation: AtomicOperation;
        pointer: Value;
        value: Value;
        readonly align: number;
        readonly isVolatile: boolean;
        readonly atomic: Atomicity;
      }
    | {
        readonly op: 'cmpxchg' /** A struct of the old value and whether it was replaced. */;
        pointer: Value;
        expected: Value;
        value: Value;
        readonly align: number;
        readonly isVolatile: boolean;
        readonly atomic: Atomicity;
        readonly failureOrder: MemoryOrder;
        readonly isWeak: boolean;
      }
    | { readonly op: 'gep'; readonly sourceType: Type; readonly inbounds: boolean; base: Value; indices: Value[] }
    | { readonly op: 'extractvalue'; aggregate: Value; readonly path: readonly number[] }
    | { readonly op: 'insertvalue'; aggregate: Value; value: Value; readonly path: readonly number[] }
    | { readonly op: 'extractelement'; vector: Value; index: Value }
    | { readonly op: 'insertelement'; vector: Value; value: Value; index: Value }
    | { readonly op: 'shufflevector'; a: Value; b: Value; mask: Value }
    | { readonly op: 'freeze'; value: Value }
    | { readonly op: 'br'; target: Block }
    | { readonly op: 'condbr'; condition: Value; ifTrue: Block; ifFalse: Block }
    | { readonly op: 'switch'; condition: Value; defaultBlock: Block; cases: { value: Constant; block: Block }[] }
    | { readonly op: 'ret'; value: Value | undefined }
    | { readonly op: 'unreachable' }
  );

/** The instruction of one op. */
export type InstructionOf<O extends Instruction['op']> = Extract<Instruction, { op: O }>;
