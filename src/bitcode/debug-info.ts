/**
 * The nodes of debug information: the number of their record, its fields, and their form in LLVM’s text. Reader,
 * writing and the disassembler derive from these rows.
 * Source: `llvm/lib/Bitcode/Writer/BitcodeWriter.cpp`, `llvm/lib/IR/AsmWriter.cpp` of LLVM 14.
 */

/** The form of a field in text. */
export type DebugStyle =
  /** A number, left out if it is 0; `signed` may have a sign. */
  | 'int'
  | 'signed'
  /** A node or string by number; left out if absent. */
  | 'ref'
  /** A quoted string, left out if it is empty. */
  | 'text'
  | 'bool'
  | 'flags'
  | 'spFlags'
  /** A number, a constant that is printed as a number, or a reference; left out if absent. */
  | 'bound'
  /** An address space plus 1; 0 for none. */
  | 'space'
  | 'tag'
  | 'language'
  | 'encoding'
  | 'convention'
  | 'macinfo'
  | 'emission'
  | 'nameTable'
  | 'checksum';

export interface DebugText {
  readonly name: string;
  /** The name of the field in the record. */
  readonly from: string;
  readonly style: DebugStyle;
  /** Printed even if it is 0, empty or absent. */
  readonly always: boolean;
  /** Left out if the field has this value. */
  readonly unless: number | undefined;
}

export interface DebugRow {
  readonly code: number;
  readonly name: string;
  /** Fields of the record in order. */
  readonly fields: readonly DebugField[];
  /** The first field without its lowest bit, which is set for distinct nodes. */
  readonly head: number;
  readonly text: readonly DebugText[];
}

export interface DebugField {
  readonly name: string;
  readonly kind: 'number' | 'ref' | 'id';
}

/** `&name` is a reference (an id plus 1, 0 for none), `#name` a plain id; the first field is always `distinct`. */
const fieldsOf = (text: string): DebugField[] =>
  text.split(' ').map((word) => ({
    name: word.replace(/^[&#]/, ''),
    kind: word.startsWith('&') ? 'ref' : word.startsWith('#') ? 'id' : 'number',
  }));

/** `name`, `name!` (always printed), `name=field`, `name-1` (left out if 1), each with `:style`. */
function textOf(words: string): DebugText[] {
  return words.split(' ').map((word) => {
    const [, name, from, bang, unless, style] = /^(\w+?)(?:=(\w+))?(!)?(?:-(\d+))?:(\w+)$/.exec(word)!;
    return {
      name: name!,
      from: from ?? name!,
      style: style as DebugStyle,
      always: bang !== undefined,
      unless: unless === undefined ? undefined : Number(unless),
    };
  });
}

const row = (code: number, name: string, fields: string, text: string, head = 0): DebugRow => ({
  code,
  name,
  fields: fieldsOf(`distinct ${fields}`),
  head,
  text: text === '' ? [] : textOf(text),
});

/** Every node of debug information except expressions, enumerators and generic nodes, which `records.ts` describes. */
export const debugRows: readonly DebugRow[] = [
  row(
    7,
    'DILocation',
    'line column #scope &inlinedAt implicit',
    'line!:int column:int scope!:ref inlinedAt:ref isImplicitCode=implicit-0:bool',
  ),
  row(13, 'DISubrange', '&count &lower &upper &stride', 'count:bound lowerBound=lower:bound upperBound=upper:bound stride:bound', 4),
  row(15, 'DIBasicType', 'tag &name size align encoding flags', 'tag-36:tag name:text size:int align:int encoding:encoding flags:flags'),
  row(
    16,
    'DIFile',
    '&filename &directory checksumKind &checksum &source',
    'filename!:text directory!:text checksumkind=checksumKind:checksum checksum:text source:text',
  ),
  row(
    17,
    'DIDerivedType',
    'tag &name &file line &scope &base size align offset flags &extra addressSpace &annotations',
    'tag:tag name:text scope:ref file:ref line:int baseType=base!:ref size:int align:int offset:int flags:flags extraData=extra:ref dwarfAddressSpace=addressSpace:space annotations:ref',
  ),
  row(
    18,
    'DICompositeType',
    'tag &name &file line &scope &base size align offset flags &elements runtime &vtable &params &identifier &discriminator &location &associated &allocated &rank &annotations',
    'tag:tag name:text scope:ref file:ref line:int baseType=base:ref size:int align:int offset:int flags:flags elements:ref runtimeLang=runtime:language vtableHolder=vtable:ref templateParams=params:ref identifier:text discriminator:ref dataLocation=location:ref associated:ref allocated:ref rank:bound annotations:ref',
    2,
  ),
  row(19, 'DISubroutineType', 'flags &types cc', 'flags:flags cc:convention types!:ref', 2),
  row(
    20,
    'DICompileUnit',
    'language &file &producer optimized &flags runtime &split emission &enums &retained subprograms &globals &imports dwoId &macros inlining profiling nameTable ranges &sysroot &sdk',
    'language!:language file!:ref producer:text isOptimized=optimized!:bool flags:text runtimeVersion=runtime!:int splitDebugFilename=split:text emissionKind=emission!:emission enums:ref retainedTypes=retained:ref globals:ref imports:ref macros:ref dwoId:int splitDebugInlining=inlining-1:bool debugInfoForProfiling=profiling-0:bool nameTableKind=nameTable:nameTable rangesBaseAddress=ranges-0:bool sysroot:text sdk:text',
  ),
  row(
    21,
    'DISubprogram',
    '&scope &name &linkage &file line &type scopeLine &containing spFlags virtualIndex flags &unit &params &declaration &retained adjustment &thrown &annotations',
    'name:text linkageName=linkage:text scope!:ref file:ref line:int type:ref scopeLine:int containingType=containing:ref virtualIndex:int thisAdjustment=adjustment:signed flags:flags spFlags!:spFlags unit:ref templateParams=params:ref declaration:ref retainedNodes=retained:ref thrownTypes=thrown:ref annotations:ref',
    6,
  ),
  row(22, 'DILexicalBlock', '&scope &file line column', 'scope!:ref file:ref line:int column:int'),
  row(23, 'DILexicalBlockFile', '&scope &file discriminator', 'scope!:ref file:ref discriminator!:int'),
  row(24, 'DINamespace', '&scope &name', 'name:text scope!:ref exportSymbols=distinct-0:bool'),
  row(25, 'DITemplateTypeParameter', '&name &type default', 'name:text type!:ref defaulted=default-0:bool'),
  row(
    26,
    'DITemplateValueParameter',
    'tag &name &type default &value',
    'tag-48:tag name:text type:ref defaulted=default-0:bool value!:ref',
  ),
  row(
    27,
    'DIGlobalVariable',
    '&scope &name &linkage &file line &type local definition &declaration &params align &annotations',
    'name:text linkageName=linkage:text scope!:ref file:ref line:int type:ref isLocal=local!:bool isDefinition=definition!:bool declaration:ref templateParams=params:ref align:int annotations:ref',
    4,
  ),
  row(
    28,
    'DILocalVariable',
    '&scope &name &file line &type arg flags align &annotations',
    'name:text arg:int scope!:ref file:ref line:int type:ref flags:flags align:int annotations:ref',
    2,
  ),
  row(
    30,
    'DIObjCProperty',
    '&name &file line &getter &setter attributes &type',
    'name:text file:ref line:int setter:text getter:text attributes:int type:ref',
  ),
  row(
    31,
    'DIImportedEntity',
    'tag &scope &entity line &name &file &elements',
    'tag:tag name:text scope!:ref entity:ref file:ref line:int elements:ref',
  ),
  row(
    32,
    'DIModule',
    '&file &scope &name &macros &include &notes line declaration',
    'scope!:ref name:text configMacros=macros:text includePath=include:text apinotes=notes:text file:ref line:int isDecl=declaration-0:bool',
  ),
  row(33, 'DIMacro', 'type line &name &value', 'type:macinfo line:int name:text value:text'),
  row(34, 'DIMacroFile', 'type line &file &elements', 'line:int file!:ref nodes=elements:ref'),
  row(37, 'DIGlobalVariableExpression', '&variable &expression', 'var=variable:ref expr=expression:ref'),
  row(40, 'DILabel', '&scope &name &file line', 'scope!:ref name:text file:ref line:int'),
  row(
    41,
    'DIStringType',
    'tag &name &length &lengthExpression &location size align encoding',
    'tag-18:tag name:text stringLength=length:ref stringLengthExpression=lengthExpression:ref stringLocationExpression=location:ref size:int align:int encoding:encoding',
  ),
  row(44, 'DICommonBlock', '&scope &declaration &name &file line', 'scope!:ref declaration:ref name:text file:ref line:int'),
  row(45, 'DIGenericSubrange', '&count &lower &upper &stride', 'count:ref lowerBound=lower:ref upperBound=upper:ref stride:ref'),
];

const byCode: ReadonlyMap<number, DebugRow> = new Map(debugRows.map((each) => [each.code, each]));
const byName: ReadonlyMap<string, DebugRow> = new Map(debugRows.map((each) => [each.name, each]));

export const debugRowOf = (code: number): DebugRow | undefined => byCode.get(code);
export const debugRowNamed = (name: string): DebugRow | undefined => byName.get(name);
