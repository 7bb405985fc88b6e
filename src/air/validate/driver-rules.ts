/**
 * Rules for constructs that crash drivers or that drivers miscompile, each with its source. Libraries of Apple's compilers violate none of
 * them. `index.ts` has the rules derived from such libraries, and applies both.
 */
import type { Instruction, Function as LlvmFunction, Module } from '../../bitcode/model.ts';
import { spell, type Type } from '../../bitcode/types.ts';
import type { KernelDescription } from '../raise/read-metadata.ts';
import { limits, spaces } from '../targets.ts';

export interface AirRule {
  /** A short name, printed with a violation. */
  readonly name: string;
  readonly doc: string;
  readonly source: string;
  /** The violations in a module, one sentence each. */
  check?(module: Module, kernels: readonly KernelDescription[]): string[];
  /** The violation in one instruction. All rules check an instruction before the next one. */
  each?(inst: Instruction, fn: LlvmFunction): string | undefined;
}

/** Whether a test holds for a type or for a type inside it. */
export const containsType = (type: Type, test: (type: Type) => boolean): boolean => {
  if (test(type)) return true;
  if (type.kind === 'array' || type.kind === 'vector') return containsType(type.element, test);
  if (type.kind === 'struct') return type.fields?.some((field) => containsType(field, test)) ?? false;
  return type.kind === 'pointer' && containsType(type.pointee, test);
};

/** A rule about the types of values and variables. Results are cached by type, because a module has few types. */
export function typeRule(name: string, doc: string, source: string, test: (type: Type) => boolean): AirRule {
  const llvmFunctions = new WeakMap<Type, boolean>();
  const breaks = (type: Type): boolean => {
    const found = llvmFunctions.get(type) ?? containsType(type, test);
    llvmFunctions.set(type, found);
    return found;
  };
  return {
    name,
    doc,
    source,
    check: (module) => [
      ...module.globals.filter(({ valueType }) => breaks(valueType)).map((of) => `\`${of.name}\` of type ${spell(of.valueType)}`),
      ...module.functions.flatMap((fn) =>
        fn.args.filter((arg) => breaks(arg.type)).map((arg) => `a parameter of type ${spell(arg.type)} of \`${fn.name}\``),
      ),
    ],
    each: (inst, fn) => (breaks(inst.type) ? `\`${inst.op}\` of type ${spell(inst.type)} in \`${fn.name}\`` : undefined),
  };
}

const widths: ReadonlySet<number> = new Set([1, 8, 16, 32, 64]);
/** 64 is for matrices. */
const counts: ReadonlySet<number> = new Set([2, 3, 4, 64]);
const maxPointerPhis = 63;

/** LLVM functions, by name after `llvm.`. Source: as in the rule; Apple's modules contain those of debug information. */
const known = [
  'sqrt exp exp2 log log2 fabs floor ceil trunc round rint fma fmuladd minnum maxnum copysign',
  'ctlz cttz ctpop bswap bitreverse smin smax umin umax abs fshl fshr',
  'sadd.sat uadd.sat ssub.sat usub.sat sshl.sat ushl.sat',
  'sadd.with.overflow uadd.with.overflow ssub.with.overflow usub.with.overflow smul.with.overflow umul.with.overflow',
  'lifetime.start lifetime.end assume memcpy memmove memset dbg.declare dbg.value dbg.label experimental.noalias.scope.decl',
].flatMap((words) => words.split(' '));
const traps: ReadonlySet<string> = new Set(['llvm.trap', 'llvm.debugtrap', 'llvm.ubsantrap']);

/** The name without `llvm.` and without its type suffix. */
const plainName = (name: string): string => name.replace(/^llvm\./, '').replace(/(\.(p\d+\w*|v\d+\w+|[if]\d+|bf16))+$/, '');
const isKnown = (name: string): boolean => known.includes(plainName(name));

const declared = ({ functions }: Module): readonly LlvmFunction[] => functions.filter(({ blocks }) => blocks.length === 0);

/** Whether the name of a copy has the address spaces of its pointers. */
function namesSpaces({ name, functionType }: LlvmFunction): boolean {
  if (!/^llvm\.mem(cpy|move|set)\./.test(name)) return true;
  const named = [...name.matchAll(/\.p(\d+)/g)].map(([, space]) => Number(space));
  const given = functionType.params.flatMap((type) => (type.kind === 'pointer' ? [type.space] : []));
  return named.join() === given.join();
}

const isWideSimd = (name: string): boolean => /^air\.(simd|quad)_(?!ballot|active_threads_mask|all|any|is_).*[if]64$/.test(name);

/** Whether an atomic function does not exist in AIR. */
function isUnknownAtomic(name: string, version: readonly number[]): boolean {
  if (!name.startsWith('air.atomic.')) return false;
  if (/[if]64$/.test(name)) return !/^air\.atomic\.global\.(min|max)\.u\.i64$/.test(name);
  return /^air\.atomic\.local\..*f32$/.test(name) && (version[1] ?? 0) < 9;
}

/** Recursive functions, direct or indirect: the functions left after repeatedly removing those without callees or callers. */
function recursive({ functions }: Module): LlvmFunction[] {
  const calls = new Map(functions.map((fn) => [fn, calledBy(fn)]));
  const callers = new Map(functions.map((fn): [LlvmFunction, LlvmFunction[]] => [fn, []]));
  for (const [fn, called] of calls) for (const each of called) callers.get(each)?.push(fn);
  const left = new Set(functions);
  for (const [out, back] of [
    [calls, callers],
    [callers, calls],
  ] as const) {
    const counts = new Map(functions.map((fn) => [fn, out.get(fn)!.filter((each) => left.has(each)).length]));
    const open = functions.filter((fn) => left.has(fn) && counts.get(fn) === 0);
    for (let fn = open.pop(); fn; fn = open.pop()) {
      left.delete(fn);
      for (const each of back.get(fn)!) {
        counts.set(each, counts.get(each)! - 1);
        if (counts.get(each) === 0 && left.has(each)) open.push(each);
      }
    }
  }
  return [...left];
}

function calledBy({ blocks }: LlvmFunction): LlvmFunction[] {
  const found = new Set<LlvmFunction>();
  for (const { body } of blocks)
    for (const inst of body)
      if (inst.op === 'call' && inst.callee.kind === 'function' && inst.callee.blocks.length > 0) found.add(inst.callee);
  return [...found];
}

const sections: ReadonlySet<string> = new Set(['air.static_init', 'air.fc_initializer']);

/** `statedVersion` reads the AIR version of a module. */
export const driverRules = (statedVersion: (module: Module) => number[] | undefined): readonly AirRule[] => [
  typeRule(
    'integer-widths',
    'Integers have 1, 8, 16, 32 or 64 bits.',
    'zig-metallib and MetalASM: others fail in places; all real modules',
    (type) => type.kind === 'int' && type.bits <= 64 && !widths.has(type.bits),
  ),
  typeRule(
    'vector-widths',
    'Vectors have 2, 3 or 4 elements; matrix vectors have 64.',
    'DXMT; all real modules',
    (type) => type.kind === 'vector' && !counts.has(type.count),
  ),
  {
    name: 'no-null-store',
    doc: 'A constant null pointer is never stored; the integer 0 is stored instead.',
    source: '"Failed to materializeAll": GPUCompiler.jl',
    each: (inst, fn) =>
      inst.op === 'store' && inst.value.kind === 'constant' && inst.value.form === 'null' && inst.value.type.kind === 'pointer'
        ? `a null of type ${spell(inst.value.type)} is stored in \`${fn.name}\``
        : undefined,
  },
  {
    name: 'pointer-phis',
    doc: `A basic block has at most ${maxPointerPhis} phis of pointers.`,
    source: 'MetalASM: more crash the driver’s compiler',
    check: ({ functions }) =>
      functions.flatMap((fn) =>
        fn.blocks.flatMap(({ body }) => {
          const count = body.filter((inst) => inst.op === 'phi' && inst.type.kind === 'pointer').length;
          return count > maxPointerPhis ? [`${count} phis of pointers in a block of \`${fn.name}\``] : [];
        }),
      ),
  },
  {
    name: 'no-trap',
    doc: 'A kernel contains no trap and no unreachable instruction: the GPU may hang until a restart.',
    source: 'GPUCompiler.jl; all real modules',
    each: (inst, fn) => {
      if (inst.op === 'unreachable') return `an \`unreachable\` in \`${fn.name}\``;
      const isTrap = inst.op === 'call' && inst.callee.kind === 'function' && traps.has(inst.callee.name);
      return isTrap ? `a trap in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'llvm-functions',
    doc: 'Only LLVM functions that drivers are known to accept are called.',
    source: 'zig-metallib, measured on an M3: `llvm.sin` and others abort the driver’s compiler',
    check: (module) =>
      declared(module)
        .filter(({ name }) => name.startsWith('llvm.') && !isKnown(name) && !traps.has(name))
        .map(({ name }) => `\`${name}\``),
  },
  {
    name: 'copy-spaces',
    doc: 'The name of a memory copy includes the address spaces of its pointers.',
    source: 'GPUCompiler.jl, floor',
    check: (module) =>
      declared(module)
        .filter((fn) => !namesSpaces(fn))
        .map((fn) => `\`${fn.name}\` is declared as ${spell(fn.functionType)}`),
  },
  {
    name: 'simd-widths',
    doc: 'Simdgroup and quadgroup functions exchange values of at most 32 bits.',
    source: 'MetalASM: 64 bits crash the compiler service',
    check: (module) =>
      declared(module)
        .filter(({ name }) => isWideSimd(name))
        .map(({ name }) => `\`${name}\``),
  },
  {
    name: 'atomics',
    doc: 'Atomics have 32 bits, except `min` and `max` of 64 bits in device memory. Float atomics in threadgroup memory exist from AIR 2.9 on.',
    source: 'Metal’s own library of AIR; floor',
    check: (module) => {
      const version = statedVersion(module) ?? [];
      return declared(module)
        .filter(({ name }) => isUnknownAtomic(name, version))
        .map(({ name }) => `\`${name}\``);
    },
  },
  {
    name: 'sections',
    doc: 'Variables and functions have no section, except for those of function constants.',
    source: 'GPUCompiler.jl; constants of Metal.jl',
    check: ({ globals, functions }) =>
      [...globals, ...functions]
        .filter(({ section }) => section !== undefined && !sections.has(section))
        .map(({ name, section }) => `\`${name}\` is in the section \`${section}\``),
  },
  {
    name: 'stack',
    doc: 'Stack memory has a constant size and is allocated in the first block, in the thread’s address space.',
    source: 'all real modules',
    check: ({ functions }) =>
      functions.flatMap((fn) =>
        fn.blocks.flatMap(({ body }, block) =>
          body.flatMap((inst) => {
            if (inst.op !== 'alloca') return [];
            const isThread = inst.type.kind === 'pointer' && inst.type.space === spaces.thread;
            return block === 0 && isThread && inst.count.kind === 'constant' ? [] : [`a stack variable of \`${fn.name}\``];
          }),
        ),
      ),
  },
  {
    name: 'no-recursion',
    doc: 'No function is recursive, directly or through others.',
    source: 'GPUCompiler.jl, MetalASM',
    check: (module) => recursive(module).map(({ name }) => `\`${name}\` is recursive`),
  },
  {
    name: 'threads',
    doc: `A limit on a kernel’s threadgroup size is from 1 to ${limits.threadsPerThreadgroup} threads.`,
    source: 'Apple’s limits',
    check: (_, kernels) =>
      kernels
        .filter(({ maxThreads }) => maxThreads !== undefined && !(maxThreads >= 1 && maxThreads <= limits.threadsPerThreadgroup))
        .map(({ fn, maxThreads }) => `\`${fn.name}\` has up to ${maxThreads} threads`),
  },
];
