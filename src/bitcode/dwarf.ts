/**
 * Names of the constants of DWARF and LLVM debug information. A number without a name here is printed as a number, which LLVM’s
 * text allows. Source: `llvm/BinaryFormat/Dwarf.def`, `DebugInfoFlags.def` of LLVM 14.
 */

/** Names by number, from runs of a first number and the names of consecutive numbers. */
function numbered(runs: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const run of runs.split('|')) {
    const [first, ...names] = run.trim().split(/\s+/);
    names.forEach((name, i) => void (name === '-' || found.set(Number(first) + i, name)));
  }
  return found;
}

export const dwarfTags = numbered(`
  0x01 array_type class_type entry_point enumeration_type formal_parameter - - imported_declaration - label lexical_block - member -
    pointer_type reference_type compile_unit string_type structure_type - subroutine_type typedef union_type unspecified_parameters variant
    common_block common_inclusion inheritance inlined_subroutine module ptr_to_member_type set_type subrange_type with_stmt
    access_declaration base_type catch_block const_type constant enumerator file_type friend namelist namelist_item packed_type subprogram
    template_type_parameter template_value_parameter thrown_type try_block variant_part variable volatile_type dwarf_procedure
    restrict_type interface_type namespace imported_module unspecified_type partial_unit imported_unit - condition shared_type type_unit
    rvalue_reference_type template_alias coarray_type generic_subrange dynamic_type atomic_type call_site call_site_parameter
    skeleton_unit immutable_type
  | 0x4106 GNU_template_template_param GNU_template_parameter_pack GNU_formal_parameter_pack GNU_call_site GNU_call_site_parameter | 0x4200 APPLE_property | 0x6000 LLVM_annotation`);

export const dwarfLanguages = numbered(`
  0x01 C89 C Ada83 C_plus_plus Cobol74 Cobol85 Fortran77 Fortran90 Pascal83 Modula2 Java C99 Ada95 Fortran95 PLI ObjC ObjC_plus_plus UPC D
    Python OpenCL Go Modula3 Haskell C_plus_plus_03 C_plus_plus_11 OCaml Rust C11 Swift Julia Dylan C_plus_plus_14 Fortran03 Fortran08
    RenderScript BLISS
  | 0x8001 Mips_Assembler | 0x8e57 GOOGLE_RenderScript | 0xb000 BORLAND_Delphi`);

export const dwarfEncodings = numbered(`
  0x01 address boolean complex_float float signed signed_char unsigned unsigned_char imaginary_float packed_decimal numeric_string edited
    signed_fixed unsigned_fixed decimal_float UTF UCS ASCII`);

export const dwarfConventions = numbered(`
  0x01 normal program nocall pass_by_reference pass_by_value | 0x40 GNU_renesas_sh GNU_borland_fastcall_i386
  | 0xb0 BORLAND_safecall BORLAND_stdcall BORLAND_pascal BORLAND_msfastcall BORLAND_msreturn BORLAND_thiscall BORLAND_fastcall
  | 0xc0 LLVM_vectorcall LLVM_Win64 LLVM_X86_64SysV LLVM_AAPCS LLVM_AAPCS_VFP LLVM_IntelOclBicc LLVM_SpirFunction LLVM_OpenCLKernel
    LLVM_Swift LLVM_PreserveMost LLVM_PreserveAll LLVM_X86RegCall | 0xff GDB_IBM_OpenCL`);

export const dwarfMacinfo = numbered('0x01 define undef start_file end_file | 0xff vendor_ext');

/** Operations of expressions, and how many numbers follow each. */
const dwarfOperations = numbered(`
  0x03 addr | 0x06 deref | 0x08 const1u const1s const2u const2s const4u const4s const8u const8s constu consts dup drop over pick swap rot
    xderef abs and div minus mod mul neg not or plus plus_uconst shl shr shra xor bra eq ge gt le lt ne skip
  | 0x90 regx fbreg bregx piece deref_size xderef_size nop push_object_address call2 call4 call_ref form_tls_address call_frame_cfa
    bit_piece implicit_value stack_value implicit_pointer addrx constx entry_value const_type regval_type deref_type xderef_type convert
    reinterpret
  | 0x1000 LLVM_fragment LLVM_convert LLVM_tag_offset LLVM_entry_value LLVM_implicit_pointer LLVM_arg`);
const operands: Readonly<Record<string, number>> = {
  LLVM_convert: 2,
  LLVM_fragment: 2,
  bregx: 2,
  constu: 1,
  consts: 1,
  deref_size: 1,
  plus_uconst: 1,
  LLVM_tag_offset: 1,
  LLVM_entry_value: 1,
  LLVM_arg: 1,
  regx: 1,
};
/** How many numbers follow an operation in an expression. Source: `DIExpression::ExprOperand::getSize`. */
export function operandCount(operation: number): number {
  const isBaseRegister = operation >= 0x70 && operation <= 0x8f;
  return isBaseRegister ? 1 : (operands[dwarfOperations.get(operation) ?? ''] ?? 0);
}
/** The name of an operation; literals and registers are runs of 32. */
export function operationName(operation: number): string | undefined {
  const named = dwarfOperations.get(operation);
  if (named) return named;
  const runs = [
    [0x30, 'lit'],
    [0x50, 'reg'],
    [0x70, 'breg'],
  ] as const;
  const run = runs.find(([first]) => operation >= first && operation < first + 32);
  return run && `${run[1]}${operation - run[0]}`;
}

export const emissionKinds = ['NoDebug', 'FullDebug', 'LineTablesOnly', 'DebugDirectivesOnly'] as const;
export const nameTableKinds = ['Default', 'GNU', 'None'] as const;
export const checksumKinds = ['', 'CSK_MD5', 'CSK_SHA1', 'CSK_SHA256'] as const;

/** Bits of flags; the two lowest are one number. */
const flagNames = numbered(`
  2 FwdDecl AppleBlock - Virtual Artificial Explicit Prototyped ObjcClassComplete ObjectPointer Vector StaticMember LValueReference
    RValueReference ExportSymbols - - IntroducedVirtual BitField NoReturn - TypePassByValue TypePassByReference EnumClass Thunk NonTrivial BigEndian
    LittleEndian AllCallsDescribed`);
const accessNames = ['', 'Private', 'Protected', 'Public'] as const;
const inheritanceNames = ['', 'SingleInheritance', 'MultipleInheritance', 'VirtualInheritance'] as const;
const inheritanceShift = 16;

/** Names of the flags that are set, as LLVM splits them, and the bits without a name. */
export function splitFlags(flags: number): { readonly names: readonly string[]; readonly rest: number } {
  const names: string[] = [];
  let rest = flags;
  const take = (bits: number, name: string): void => {
    names.push(`DIFlag${name}`);
    rest &= ~bits;
  };
  if (rest & 3) take(3, accessNames[rest & 3]!);
  const inheritance = (rest >>> inheritanceShift) & 3;
  if (inheritance) take(3 << inheritanceShift, inheritanceNames[inheritance]!);
  const indirectBase = (1 << 2) | (1 << 5);
  if ((rest & indirectBase) === indirectBase) take(indirectBase, 'IndirectVirtualBase');
  for (const [bit, name] of flagNames) if (rest & (1 << bit)) take(1 << bit, name);
  return { names, rest: rest >>> 0 };
}

const spFlagNames = numbered('2 LocalToUnit Definition Optimized Pure Elemental Recursive MainSubprogram Deleted - ObjCDirect');
const virtualities = ['', 'Virtual', 'PureVirtual', ''] as const;

/** The same for the flags of subprograms. */
export function splitSpFlags(flags: number): { readonly names: readonly string[]; readonly rest: number } {
  const names: string[] = [];
  let rest = flags;
  const virtuality = virtualities[rest & 3]!;
  if (virtuality) {
    names.push(`DISPFlag${virtuality}`);
    rest &= ~3;
  }
  for (const [bit, name] of spFlagNames)
    if (rest & (1 << bit)) {
      names.push(`DISPFlag${name}`);
      rest &= ~(1 << bit);
    }
  return { names, rest: rest >>> 0 };
}
