/**
 * The AIR rules that a module must satisfy to load on an Apple GPU, each with its source. They are checked before every file is written and
 * by `cumetal validate`.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { sizeOf } from '../../bitcode/layout.ts';
import type { Constant, Function as LlvmFunction, Module, Value } from '../../bitcode/model.ts';
import { partsOf, someOperand } from '../../bitcode/operands.ts';
import { spell, type Type } from '../../bitcode/types.ts';
import { hasSignature, intrinsicOf } from '../intrinsics.ts';
import { type KernelDescription, readKernels } from '../raise/read-metadata.ts';
import { dataLayout, dialectOf, limits, spaces, targets } from '../targets.ts';
import { type AirRule, containsType, driverRules, typeRule } from './driver-rules.ts';

/** The AIR version of a module; undefined if it has none. */
const statedVersion = (module: Module): number[] | undefined =>
  module.namedMetadata
    .find(({ name }) => name === 'air.version')
    ?.nodes[0]?.operands.map((part) =>
      part?.kind === 'value' && part.value.kind === 'constant' && part.value.form === 'int' ? Number(part.value.value) : 0,
    );

const isBfloat = (type: Type): boolean => type.kind === 'float' && type.name === 'bfloat';

/** Whether a test holds for a value or for a constant inside it. Results are cached, because a constant may have millions of parts. */
function contains(test: (value: Constant) => boolean): (value: Value) => boolean {
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

const changesSpace = contains((value) => value.kind === 'constant' && value.form === 'cast' && value.opcode === 'addrspacecast');
const isPoison = contains((value) => value.kind === 'constant' && value.form === 'poison');

/** The constructs of a function that readers of its AIR version reject. */
function levelFaults(fn: LlvmFunction, { lastAttribute, hasFneg, hasBfloat }: ReturnType<typeof dialectOf>): string[] {
  const insts = fn.blocks.flatMap(({ body }) => body);
  // Calls have few lists between them.
  const lists = new Set([fn.attributes]);
  for (const inst of insts) if (inst.op === 'call') lists.add(inst.attributes);
  const given = [...lists].flatMap((list) => [list.function, list.result, ...list.params].flat());
  const kinds = given.flatMap((of) =>
    of.form !== 'string' && of.kind > lastAttribute ? [`the attribute ${of.kind} in \`${fn.name}\``] : [],
  );
  const ops = hasFneg ? [] : insts.flatMap(({ op }) => (op === 'fneg' || op === 'freeze' ? [`\`${op}\` in \`${fn.name}\``] : []));
  const poison = hasFneg || !insts.some((inst) => someOperand(inst, isPoison)) ? [] : [`poison in \`${fn.name}\``];
  const types = [...fn.args, ...insts].map(({ type }) => type);
  return [
    ...kinds,
    ...ops,
    ...poison,
    ...(!hasBfloat && types.some((type) => containsType(type, isBfloat)) ? [`bfloat in \`${fn.name}\``] : []),
  ];
}

const isDouble = (type: Type): boolean => type.kind === 'float' && type.name === 'double';
const isWide = (type: Type): boolean => type.kind === 'int' && type.bits > 64;
const isBool = (type: Type): boolean => type.kind === 'int' && type.bits === 1;

/** Present in the data layout of AIR 2.0. Source: a library for iOS 11.3. */
const x87Layout = '-f80:128:128';

const triples = /^air64(_v\d+)?-apple-(macosx|ios|tvos|watchos|xros)\d+(\.\d+)*(-simulator|-macabi)?$/;

/** Every rule; `docs/air-rules.md` lists them. */
export const airRules: readonly AirRule[] = [
  {
    name: 'triple',
    doc: 'The triple has an air64 architecture and an Apple system with a version.',
    source: 'all real modules: for macOS, iOS, tvOS and visionOS, and their simulators',
    check: (m) => (triples.test(m.triple) ? [] : [`the triple is \`${m.triple}\``]),
  },
  {
    name: 'data-layout',
    doc: 'The data layout is that of Apple’s modules. The layout of iOS 11 also has an entry for x87 floats.',
    source: 'all real modules',
    check: (m) => (m.dataLayout.replaceAll(x87Layout, '') === dataLayout ? [] : ['the data layout differs from AIR’s']),
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
    doc: 'Up to AIR 2.5 a module has no attributes above `writeonly`, no `fneg`, `freeze` or poison, and no bfloat.',
    source: '"Unknown attribute kind" and "Failed to materializeAll": DXMT, llvm-downgrade, floor; all real modules up to macOS 13',
    check: (m) => {
      const version = statedVersion(m);
      return version ? m.functions.flatMap((fn) => levelFaults(fn, dialectOf(version))) : [];
    },
  },
  typeRule('no-double', 'No type is or contains a double: pipeline creation fails.', 'GPUCompiler.jl validation', isDouble),
  typeRule('no-i128', 'No integer is wider than 64 bits.', 'GPUCompiler.jl validation', isWide),
  {
    name: 'no-bool-memory',
    doc: 'No i1 is loaded or stored.',
    source: 'MetalASM, GPUCompiler.jl',
    each: (inst, fn) => {
      const moved = inst.op === 'load' ? inst.type : inst.op === 'store' ? inst.value.type : undefined;
      return moved && containsType(moved, isBool) ? `a ${inst.op} of ${spell(moved)} in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'known-functions',
    doc: 'Every declared function is an `air.*` function with the right signature.',
    source: '"Undefined symbols" at pipeline creation',
    check: (m) =>
      m.functions.flatMap((fn) => {
        if (fn.blocks.length > 0) return [];
        const row = intrinsicOf(fn.name);
        if (fn.name.startsWith('cumetal.')) return [`\`${fn.name}\` runs only on the CPU device`];
        return !row || hasSignature(row, fn.functionType) ? [] : [`\`${fn.name}\` is declared as ${spell(fn.functionType)}`];
      }),
  },
  {
    name: 'convergent-barrier',
    doc: 'Barriers are convergent; otherwise passes may move them into a branch.',
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
    doc: 'There are no casts between address spaces, because there are no generic pointers.',
    source: 'GPUCompiler.jl',
    each: (inst, fn) => {
      const isCast = inst.op === 'cast' && inst.opcode === 'addrspacecast';
      return isCast || someOperand(inst, changesSpace) ? `an addrspacecast in \`${fn.name}\`` : undefined;
    },
  },
  {
    name: 'threadgroup-memory',
    doc: `Static threadgroup memory, used or not, has at most ${targets.macos14.shared.declared} bytes and no initial value.`,
    source: 'MetalASM; Apple’s limits',
    check: (m) => {
      const shared = m.globals.filter((g) => g.type.space === spaces.threadgroup);
      const bytes = shared.reduce((sum, g) => sum + sizeOf(g.valueType), 0);
      const initialized = shared
        .filter((g) => g.init?.kind === 'constant' && g.init.form !== 'undef')
        .map((g) => `\`${g.name}\` has an initial value`);
      return bytes > targets.macos14.shared.declared ? [...initialized, `${bytes} bytes of threadgroup memory`] : initialized;
    },
  },
  {
    name: 'global-spaces',
    doc: 'Variables are in constant or threadgroup space.',
    source: 'GPUCompiler.jl',
    check: (m) =>
      m.globals
        .filter((g) => g.type.space !== spaces.constant && g.type.space !== spaces.threadgroup && !g.name.startsWith('llvm.'))
        .map((g) => `\`${g.name}\` is in address space ${g.type.space}`),
  },
  {
    name: 'slots',
    doc: 'Buffer slots are from 0 to 30, and no slot is used twice.',
    source: 'Apple’s limits',
    check: (_, kernels) => kernels.flatMap(slotFaults),
  },
  {
    name: 'parameter-types',
    doc: 'A buffer parameter is a typed pointer in the address space of its metadata. An input is an integer or a vector of integers.',
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
        ? [`buffer \`${p.name}\` of \`${fn.name}\` has space ${p.space} in its metadata, but type space ${type.space}`]
        : [];
    }
    if (p.kind === 'other') return [];
    const scalar = type.kind === 'vector' ? type.element : type;
    return scalar.kind === 'int' ? [] : [`\`air.${p.input.name}\` of \`${fn.name}\` is a ${spell(type)}`];
  });
}

/** Checks a module against every AIR rule; reports CM4050 for each violation. Returns whether the module is valid. */
export function validateAir(module: Module, diagnostics: Diagnostics): boolean {
  const before = diagnostics.list.length;
  const kernels = readKernels(module, diagnostics);
  const violations = new Set<string>();
  const report = (rule: AirRule, why: string): void => {
    if (violations.has(`${rule.name} ${why}`)) return;
    violations.add(`${rule.name} ${why}`);
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
