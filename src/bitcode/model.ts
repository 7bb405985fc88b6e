/**
 * An LLVM module as an object graph: what the writer turns into bitcode, what the reader makes of bitcode, and what the
 * disassembler prints. Operands are references to the objects that define them; numbering is the writer's business.
 * Covers what LLVM 14 can say in AIR modules; a construct outside it makes the reader refuse with a diagnostic.
 * Source of meanings: LLVM 14 Language Reference and `llvm/Bitcode/LLVMBitCodes.h`.
 */
import type { Type, TypeOf } from './types.ts';

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
export type Visibility = 'hidden' | 'protected';
export type UnnamedAddr = 'none' | 'unnamed_addr' | 'local_unnamed_addr';

export interface GlobalVariable {
  readonly kind: 'global';
  name: string;
  /** Pointer to `valueType` in the variable's address space. */
  readonly type: TypeOf<'pointer'>;
  readonly valueType: Type;
  isConstant: boolean;
  init: Constant | undefined;
  linkage: Linkage;
  /** Default where absent. */
  visibility?: Visibility;
  /** In bytes; 0 when not stated. */
  align: number;
  section: string | undefined;
  unnamedAddr: UnnamedAddr;
  externallyInitialized: boolean;
  dsoLocal: boolean;
  metadata?: Attachment[];
}

export interface Function {
  readonly kind: 'function';
  name: string;
  /** Pointer to `functionType`, address space 0. */
  readonly type: TypeOf<'pointer'>;
  readonly functionType: TypeOf<'function'>;
  linkage: Linkage;
  /** Default where absent. */
  visibility?: Visibility;
  /** LLVM's number; 0, that of C, where absent. */
  convention?: number;
  /** In bytes; not stated where absent. */
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

export interface Argument {
  readonly kind: 'argument';
  readonly type: Type;
  readonly index: number;
  name: string | undefined;
}

export interface Block {
  readonly kind: 'block';
  name: string | undefined;
  body: Instruction[];
}

// ── attributes ──────────────────────────────────────────────────────────────

export type Attribute =
  | { readonly form: 'enum'; readonly kind: number }
  | { readonly form: 'int'; readonly kind: number; readonly value: bigint }
  | { readonly form: 'string'; readonly key: string; readonly value: string | undefined }
  | { readonly form: 'type'; readonly kind: number; readonly type: Type | undefined };

/** Attributes of a function or call by where they stand; empty lists throughout mean no attribute list. */
export interface AttributeList {
  readonly function: readonly Attribute[];
  readonly result: readonly Attribute[];
  /** By parameter number; shorter than the parameter list when the rest have none. */
  readonly params: readonly (readonly Attribute[])[];
}

// ── constants ───────────────────────────────────────────────────────────────

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
  | GlobalVariable
  | Function;

// ── metadata ────────────────────────────────────────────────────────────────

export type Metadata =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'value'; readonly value: Constant | Argument | Instruction }
  | MetadataNode;

/** A tuple. `operands` is filled after creation where nodes refer to each other. */
export interface MetadataNode {
  readonly kind: 'node';
  readonly distinct: boolean;
  operands: (Metadata | undefined)[];
  /** Of a node of debug information: what it is beyond a tuple. `operands` holds what it refers to, in the order of its fields. */
  readonly debug?: DebugFields;
}

/** Fields as in the record of `debug-info.ts` that the name stands for; those that refer to something are 0 here. */
export interface DebugFields {
  readonly name: string;
  readonly values: readonly (number | bigint)[];
}

/** Metadata as an argument of a call; also of values that only the function knows. */
export interface MetadataArgument {
  readonly kind: 'metadata';
  readonly metadata: Metadata;
}

export interface NamedMetadata {
  name: string;
  nodes: MetadataNode[];
}

/** A node hung on a function, variable or instruction under a metadata kind, `tbaa` say. An instruction’s place in the source is its first, `dbg`. */
export interface Attachment {
  readonly kind: string;
  readonly node: MetadataNode;
}

// ── instructions ────────────────────────────────────────────────────────────

export type Value = Constant | Argument | Instruction;

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
  /** Its value number in the function, set while values are numbered and stale afterwards. A map would dominate the time of numbering. */
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
        /** LLVM's number; 0, that of C, where absent. */
        readonly convention?: number;
        args: (Value | MetadataArgument)[];
        readonly attributes: AttributeList;
        readonly tail: 'none' | 'tail' | 'musttail' | 'notail';
        readonly flags: number;
      }
    | { readonly op: 'alloca'; readonly allocated: Type; count: Value; readonly align: number }
    | { readonly op: 'load'; pointer: Value; readonly align: number; readonly isVolatile: boolean }
    | { readonly op: 'store'; pointer: Value; value: Value; readonly align: number; readonly isVolatile: boolean }
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

export type InstructionOf<O extends Instruction['op']> = Extract<Instruction, { op: O }>;
