/**
 * Rules for what drivers crash at or compile wrong, one entry each, with where it was learnt. None of them is broken by a library that
 * Apple's compilers wrote. `index.ts` has those that follow from such libraries, and applies both.
 */
import type { Instruction, Function as LlvmFunction, Module } from '../../bitcode/model.ts';
import { spell, type Type } from '../../bitcode/types.ts';
import type { KernelDescription } from '../raise/read-metadata.ts';
import { limits, spaces } from '../targets.ts';

export interface AirRule {
  /** Short name, printed with a violation. */
  readonly name: string;
  readonly doc: string;
  readonly source: string;
  /** What breaks it, one sentence each. */
  check?(module: Module, kernels: readonly KernelDescription[]): string[];
  /** What breaks it in one instruction. All rules see an instruction before the next. */
  each?(inst: Instruction, fn: LlvmFunction): string | undefined;
}

/** Whether a type is, or is made of, one that a test holds for. */
export const holds = (type: Type, test: (type: Type) => boolean): boolean => {
  if (test(type)) return true;
  if (type.kind === 'array' || type.kind === 'vector') return holds(type.element, test);
  if (type.kind === 'struct') return type.fields?.some((field) => holds(field, test)) ?? false;
  return type.kind === 'pointer' && holds(type.pointee, test);
};

/** A rule about the types of values and variables. What is known of a type is kept: a module has few. */
export function typeRule(name: string, doc: string, source: string, test: (type: Type) => boolean): AirRule {
  const known = new WeakMap<Type, boolean>();
  const breaks = (type: Type): boolean => {
    const found = known.get(type) ?? holds(type, test);
    known.set(type, found);
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
/** 64 are the elements of a matrix. */
const counts: ReadonlySet<number> = new Set([2, 3, 4, 64]);
const mostPointerPhis = 63;

/** LLVM's functions by the words behind `llvm.`. Source: as in the rule; those of debug information stand in Apple's modules. */
const known = [
  'sqrt exp exp2 log log2 fabs floor ceil trunc round rint fma fmuladd minnum maxnum copysign',
  'ctlz cttz ctpop bswap bitreverse smin smax umin umax abs fshl fshr',
  'sadd.sat uadd.sat ssub.sat usub.sat sshl.sat ushl.sat',
  'sadd.with.overflow uadd.with.overflow ssub.with.overflow usub.with.overflow smul.with.overflow umul.with.overflow',
  'lifetime.start lifetime.end assume memcpy memmove memset dbg.declare dbg.value dbg.label experimental.noalias.scope.decl',
].flatMap((words) => words.split(' '));
const traps: ReadonlySet<string> = new Set(['llvm.trap', 'llvm.debugtrap', 'llvm.ubsantrap']);

/** The name without `llvm.` and without the types that it ends in. */
const plainName = (name: string): string => name.replace(/^llvm\./, '').replace(/(\.(p\d+\w*|v\d+\w+|[if]\d+|bf16))+$/, '');
const isKnown = (name: string): boolean => known.includes(plainName(name));

const declared = ({ functions }: Module): readonly LlvmFunction[] => functions.filter(({ blocks }) => blocks.length === 0);

/** Whether what a copy is called says the address spaces of its pointers. */
function saysSpaces({ name, functionType }: LlvmFunction): boolean {
  if (!/^llvm\.mem(cpy|move|set)\./.test(name)) return true;
  const named = [...name.matchAll(/\.p(\d+)/g)].map(([, space]) => Number(space));
  const given = functionType.params.flatMap((type) => (type.kind === 'pointer' ? [type.space] : []));
  return named.join() === given.join();
}

const isWideSimd = (name: string): boolean => /^air\.(simd|quad)_(?!ballot|active_threads_mask|all|any|is_).*[if]64$/.test(name);

/** Atomic functions that there are not. */
function isUnknownAtomic(name: string, version: readonly number[]): boolean {
  if (!name.startsWith('air.atomic.')) return false;
  if (/[if]64$/.test(name)) return !/^air\.atomic\.global\.(min|max)\.u\.i64$/.test(name);
  return /^air\.atomic\.local\..*f32$/.test(name) && (version[1] ?? 0) < 9;
}

/** Functions that call themselves, directly or through others: what is left without those that call none of the rest or are called by none. */
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

/** `statedVersion` gives the AIR version of a module. */
export const driverRules = (statedVersion: (module: Module) => number[] | undefined): readonly AirRule[] => [
  typeRule(
    'integer-widths',
    'Integers have 1, 8, 16, 32 or 64 bits.',
    'zig-metallib and MetalASM: others fail in places; all real modules',
    (type) => type.kind === 'int' && type.bits <= 64 && !widths.has(type.bits),
  ),
  typeRule(
    'vector-widths',
    'Vectors have 2, 3 or 4 elements, those of matrices 64.',
    'DXMT; all real modules',
    (type) => type.kind === 'vector' && !counts.has(type.count),
  ),
  {
    name: 'no-null-store',
    doc: 'A constant null is not stored as a pointer: the integer 0 is.',
    source: '"Failed to materializeAll": GPUCompiler.jl',
    each: (inst, fn) =>
      inst.op === 'store' && inst.value.kind === 'constant' && inst.value.form === 'null' && inst.value.type.kind === 'pointer'
        ? `a null of type ${spell(inst.value.type)} is stored in \`${fn.name}\``
        : undefined,
  },
  {
    name: 'pointer-phis',
    doc: `At most ${mostPointerPhis} phis of a basic block are pointers.`,
    source: 'MetalASM: more crash the compiler of drivers',
    check: ({ functions }) =>
      functions.flatMap((fn) =>
        fn.blocks.flatMap(({ body }) => {
          const count = body.filter((inst) => inst.op === 'phi' && inst.type.kind === 'pointer').length;
          return count > mostPointerPhis ? [`${count} phis of pointers in a block of \`${fn.name}\``] : [];
        }),
      ),
  },
  {
    name: 'no-trap',
    doc: 'Nothing traps or cannot be reached: the GPU may hang until the machine starts anew.',
    source: 'GPUCompiler.jl; all real modules',
    each: (inst, fn) => {
      if (inst.op === 'unreachable') return `an \`unreachable\` in \`${fn.name}\``;
      const isTrap = inst.op === 'call' && inst.callee.kind === 'function' && traps.has(inst.callee.name);
      return isTrap ? `a trap in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'llvm-functions',
    doc: 'Functions of LLVM are those that a driver was seen to take.',
    source: 'zig-metallib, measured on an M3: `llvm.sin` and others abort the compiler of the driver',
    check: (module) =>
      declared(module)
        .filter(({ name }) => name.startsWith('llvm.') && !isKnown(name) && !traps.has(name))
        .map(({ name }) => `\`${name}\``),
  },
  {
    name: 'copy-spaces',
    doc: 'The name of a copy says the address spaces of its pointers.',
    source: 'GPUCompiler.jl, floor',
    check: (module) =>
      declared(module)
        .filter((fn) => !saysSpaces(fn))
        .map((fn) => `\`${fn.name}\` is declared as ${spell(fn.functionType)}`),
  },
  {
    name: 'simd-widths',
    doc: 'What simdgroups and quadgroups exchange has at most 32 bits.',
    source: 'MetalASM: 64 crash the compiler service',
    check: (module) =>
      declared(module)
        .filter(({ name }) => isWideSimd(name))
        .map(({ name }) => `\`${name}\``),
  },
  {
    name: 'atomics',
    doc: 'Atomics have 32 bits, but for `min` and `max` of 64 in device memory; those of floats in threadgroup memory are there from AIR 2.9 on.',
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
    doc: 'Variables and functions are in no section but those of function constants.',
    source: 'GPUCompiler.jl; constants of Metal.jl',
    check: ({ globals, functions }) =>
      [...globals, ...functions]
        .filter(({ section }) => section !== undefined && !sections.has(section))
        .map(({ name, section }) => `\`${name}\` is in the section \`${section}\``),
  },
  {
    name: 'stack',
    doc: 'Stack memory is of constant size, taken in the first block, in the thread’s address space.',
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
    doc: 'No function calls itself, directly or through others.',
    source: 'GPUCompiler.jl, MetalASM',
    check: (module) => recursive(module).map(({ name }) => `\`${name}\` calls itself`),
  },
  {
    name: 'threads',
    doc: `A kernel says of its threadgroups, where it says anything, that they have 1 to ${limits.threadsPerThreadgroup} threads.`,
    source: 'Apple’s limits',
    check: (_, kernels) =>
      kernels
        .filter(({ maxThreads }) => maxThreads !== undefined && !(maxThreads >= 1 && maxThreads <= limits.threadsPerThreadgroup))
        .map(({ fn, maxThreads }) => `\`${fn.name}\` has up to ${maxThreads} threads`),
  },
];
