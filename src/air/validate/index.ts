/**
 * The AIR rules a module must keep to be loadable on an Apple GPU, one entry each, with where the rule was learnt. Run before
 * every file is written and by `cumetal validate`.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Constant, Function as LlvmFunction, Module, Value } from '../../bitcode/model.ts';
import { operandsOf, partsOf } from '../../bitcode/operands.ts';
import { spell, type Type } from '../../bitcode/types.ts';
import { hasSignature, intrinsicOf } from '../intrinsics.ts';
import { sizeOf } from '../layout.ts';
import { type KernelDescription, readKernels } from '../raise/read-metadata.ts';
import { dataLayout, dialectOf, limits, spaces, targets } from '../targets.ts';
import { type AirRule, driverRules, holds, typeRule } from './driver-rules.ts';

/** The AIR version that a module states; nothing where it states none. */
const statedVersion = (module: Module): number[] | undefined =>
  module.namedMetadata
    .find(({ name }) => name === 'air.version')
    ?.nodes[0]?.operands.map((part) =>
      part?.kind === 'value' && part.value.kind === 'constant' && part.value.form === 'int' ? Number(part.value.value) : 0,
    );

const isBfloat = (type: Type): boolean => type.kind === 'float' && type.name === 'bfloat';

/** Whether something holds for a value or a constant that it is made of. What is known is kept: one may be made of millions. */
function madeWith(test: (value: Constant) => boolean): (value: Value) => boolean {
  const known = new WeakMap<Value, boolean>();
  const found = (value: Value): boolean => {
    if (value.kind !== 'constant') return false;
    const before = known.get(value);
    if (before !== undefined) return before;
    const now = test(value) || partsOf(value).some(found);
    known.set(value, now);
    return now;
  };
  return found;
}

const changesSpace = madeWith((value) => value.kind === 'constant' && value.form === 'cast' && value.opcode === 'addrspacecast');
const isPoison = madeWith((value) => value.kind === 'constant' && value.form === 'poison');

/** What a function holds that readers of its level give up on. */
function levelFaults(fn: LlvmFunction, { lastAttribute, hasFneg, hasBfloat }: ReturnType<typeof dialectOf>): string[] {
  const insts = fn.blocks.flatMap(({ body }) => body);
  const lists = [fn.attributes, ...insts.flatMap((inst) => (inst.op === 'call' ? [inst.attributes] : []))];
  const given = lists.flatMap((list) => [list.function, list.result, ...list.params].flat());
  const kinds = given.flatMap((of) =>
    of.form !== 'string' && of.kind > lastAttribute ? [`the attribute ${of.kind} in \`${fn.name}\``] : [],
  );
  const ops = hasFneg ? [] : insts.flatMap(({ op }) => (op === 'fneg' || op === 'freeze' ? [`\`${op}\` in \`${fn.name}\``] : []));
  const poison = hasFneg || !insts.some((inst) => operandsOf(inst).some(isPoison)) ? [] : [`poison in \`${fn.name}\``];
  const types = [...fn.args, ...insts].map(({ type }) => type);
  return [...kinds, ...ops, ...poison, ...(!hasBfloat && types.some((type) => holds(type, isBfloat)) ? [`bfloat in \`${fn.name}\``] : [])];
}

const isDouble = (type: Type): boolean => type.kind === 'float' && type.name === 'double';
const isWide = (type: Type): boolean => type.kind === 'int' && type.bits > 64;
const isBool = (type: Type): boolean => type.kind === 'int' && type.bits === 1;

/** In the data layout of AIR 2.0. Source: a library for iOS 11.3. */
const oldWords = '-f80:128:128';

const triples = /^air64(_v\d+)?-apple-(macosx|ios|tvos|watchos|xros)\d+(\.\d+)*(-simulator|-macabi)?$/;

/** Every rule; `docs/air-rules.md` lists them. */
export const airRules: readonly AirRule[] = [
  {
    name: 'triple',
    doc: 'The triple names an air64 architecture, and a system of Apple’s with its version.',
    source: 'all real modules: for macOS, iOS, tvOS and visionOS, and their simulators',
    check: (m) => (triples.test(m.triple) ? [] : [`the triple is \`${m.triple}\``]),
  },
  {
    name: 'data-layout',
    doc: 'The data layout is the one of Apple’s modules; those of iOS 11 had words for x87’s floats in it as well.',
    source: 'all real modules',
    check: (m) => (m.dataLayout.replaceAll(oldWords, '') === dataLayout ? [] : ['the data layout differs from AIR’s']),
  },
  {
    name: 'versions',
    doc: 'The module states its AIR and language versions.',
    source: 'all real modules',
    check: (m) =>
      ['air.version', 'air.language_version']
        .filter((name) => !m.namedMetadata.some((n) => n.name === name))
        .map((name) => `no \`!${name}\``),
  },
  {
    name: 'level',
    doc: 'Up to AIR 2.5 there are no attributes above `writeonly`, no `fneg`, `freeze` and poison, no bfloat.',
    source: '"Unknown attribute kind" and "Failed to materializeAll": DXMT, llvm-downgrade, floor; all real modules up to macOS 13',
    check: (m) => {
      const version = statedVersion(m);
      return version ? m.functions.flatMap((fn) => levelFaults(fn, dialectOf(version))) : [];
    },
  },
  typeRule('no-double', 'No double anywhere: pipeline creation is refused.', 'GPUCompiler.jl validation', isDouble),
  typeRule('no-i128', 'No integer wider than 64 bits.', 'GPUCompiler.jl validation', isWide),
  {
    name: 'no-bool-memory',
    doc: 'An i1 is never loaded or stored.',
    source: 'MetalASM, GPUCompiler.jl',
    each: (inst, fn) => {
      const moved = inst.op === 'load' ? inst.type : inst.op === 'store' ? inst.value.type : undefined;
      return moved && holds(moved, isBool) ? `a ${inst.op} of ${spell(moved)} in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'known-functions',
    doc: 'Every declared function is an `air.*` function with its right signature.',
    source: '"Undefined symbols" at pipeline creation',
    check: (m) =>
      m.functions.flatMap((fn) => {
        if (fn.blocks.length > 0) return [];
        const row = intrinsicOf(fn.name);
        if (fn.name.startsWith('cumetal.')) return [`\`${fn.name}\` runs on the CPU device alone`];
        return !row || hasSignature(row, fn.functionType) ? [] : [`\`${fn.name}\` is declared as ${spell(fn.functionType)}`];
      }),
  },
  {
    name: 'convergent-barrier',
    doc: 'Barriers are convergent, or passes may move them into a branch.',
    source: 'GPUCompiler.jl, DXMT',
    check: (m) =>
      m.functions
        .filter(
          (fn) => intrinsicOf(fn.name)?.class === 'convergent' && !fn.attributes.function.some((a) => a.form === 'enum' && a.kind === 43),
        )
        .map((fn) => `\`${fn.name}\` is not convergent`),
  },
  {
    name: 'no-generic-pointers',
    doc: 'No casts between address spaces: there are no generic pointers.',
    source: 'GPUCompiler.jl',
    each: (inst, fn) => {
      const isCast = inst.op === 'cast' && inst.opcode === 'addrspacecast';
      return isCast || operandsOf(inst).some(changesSpace) ? `an addrspacecast in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'threadgroup-memory',
    doc: `Static threadgroup memory, used or not, is at most ${targets.macos14.shared.declared} bytes and not initialised.`,
    source: 'MetalASM; Apple’s limits',
    check: (m) => {
      const shared = m.globals.filter((g) => g.type.space === spaces.threadgroup);
      const bytes = shared.reduce((sum, g) => sum + sizeOf(g.valueType), 0);
      const initialised = shared
        .filter((g) => g.init?.kind === 'constant' && g.init.form !== 'undef')
        .map((g) => `\`${g.name}\` is initialised`);
      return bytes > targets.macos14.shared.declared ? [...initialised, `${bytes} bytes of threadgroup memory`] : initialised;
    },
  },
  {
    name: 'global-spaces',
    doc: 'Variables are in constant or threadgroup space only.',
    source: 'GPUCompiler.jl',
    check: (m) =>
      m.globals
        .filter((g) => g.type.space !== spaces.constant && g.type.space !== spaces.threadgroup && !g.name.startsWith('llvm.'))
        .map((g) => `\`${g.name}\` is in address space ${g.type.space}`),
  },
  {
    name: 'slots',
    doc: 'Buffer slots are 0 to 30 and used once.',
    source: 'Apple’s limits',
    check: (_, kernels) => kernels.flatMap(slotFaults),
  },
  {
    name: 'parameter-types',
    doc: 'A buffer parameter is a typed pointer in the address space its metadata names, an input an integer or a vector of them.',
    source: 'all real kernels',
    check: (_, kernels) => kernels.flatMap(parameterFaults),
  },
  ...driverRules(statedVersion),
];

type Kernel = KernelDescription;

function slotFaults({ fn, params }: Kernel): string[] {
  const seen = new Set<string>();
  return params.flatMap((p) => {
    if (p.kind !== 'buffer') return [];
    const isThreadgroup = p.space === spaces.threadgroup;
    const key = `${isThreadgroup ? 'threadgroup' : 'buffer'} slot ${p.slot}`;
    const again = seen.has(key);
    seen.add(key);
    if (p.slot < 0 || p.slot >= limits.buffers) return [`${key} of \`${fn.name}\` is out of range`];
    return again ? [`${key} of \`${fn.name}\` is used twice`] : [];
  });
}

function parameterFaults({ fn, params }: Kernel): string[] {
  return params.flatMap((p) => {
    const type = fn.args[p.index]!.type;
    if (p.kind === 'buffer') {
      if (type.kind !== 'pointer') return [`buffer \`${p.name}\` of \`${fn.name}\` is a ${spell(type)}`];
      return p.space >= 0 && type.space !== p.space
        ? [`buffer \`${p.name}\` of \`${fn.name}\` is said to be in space ${p.space} and is in ${type.space}`]
        : [];
    }
    if (p.kind === 'other') return [];
    const scalar = type.kind === 'vector' ? type.element : type;
    return scalar.kind === 'int' ? [] : [`\`air.${p.input.name}\` of \`${fn.name}\` is a ${spell(type)}`];
  });
}

/** Checks a module against every AIR rule: CM4050 for each violation. Returns whether there was none. */
export function validateAir(module: Module, diagnostics: Diagnostics): boolean {
  const before = diagnostics.list.length;
  const kernels = readKernels(module, diagnostics);
  const said = new Set<string>();
  const report = (rule: AirRule, why: string): void => {
    if (said.has(`${rule.name} ${why}`)) return;
    said.add(`${rule.name} ${why}`);
    diagnostics.report('CM4050', { rule: rule.name, why });
  };
  for (const rule of airRules) for (const why of rule.check?.(module, kernels) ?? []) report(rule, why);
  const perInstruction = airRules.filter((rule) => rule.each !== undefined);
  for (const fn of module.functions)
    for (const block of fn.blocks)
      for (const inst of block.body)
        for (const rule of perInstruction) {
          const why = rule.each?.(inst, fn);
          if (why !== undefined) report(rule, why);
        }
  return diagnostics.list.length === before;
}
