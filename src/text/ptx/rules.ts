/** PTX for every op of the IR. */
import { bug } from '../../base/bug.ts';
import { elementOf, isVector, lockTableBytes, printListName, type Type, type Value } from '../../ir/index.ts';
import { accessRules } from './accesses.ts';
import { addPointer } from './addresses.ts';
import { asmRules } from './asm.ts';
import { conversionRules, convertWhole } from './conversions.ts';
import { estimate, floatRules } from './floats.ts';
import { estimateOf, extremeOf, saturatedOf, wholeConversion, wholeShift } from './idioms.ts';
import { integerRules } from './integers.ts';
import type { Printer, Rule, Rules } from './printer.ts';
import { moveType } from './registers.ts';
import { warpRules } from './warps.ts';

const absent =
  (what: string) =>
  (p: Printer): never =>
    bug(`${p.kernel.name} has ${what}`);

/** Special registers, as far as PTX has them; others are computed. */
const named = /^(?:n?tid|n?ctaid)\.[xyz]$|^laneid$/;

const register: Rule<'sreg'> = (p, { name }, value) => {
  const d = p.reg(value);
  if (named.test(name)) return p.line(`mov.u32 ${d}, %${name};`);
  const own = (text: string): string => {
    const made = p.temp('i32');
    p.line(`mov.u32 ${made}, %${text};`);
    return made;
  };
  const axis = name.slice(-1);
  if (name.startsWith('gid.')) return p.line(`mad.lo.s32 ${d}, ${own(`ctaid.${axis}`)}, ${own(`ntid.${axis}`)}, ${own(`tid.${axis}`)};`);
  const width = own('ntid.x');
  if (name === 'nwarpid') {
    p.line(`mul.lo.s32 ${d}, ${width}, ${own('ntid.y')};`);
    p.line(`mul.lo.s32 ${d}, ${d}, ${own('ntid.z')};`);
    p.line(`add.s32 ${d}, ${d}, 31;`);
    return p.line(`shr.u32 ${d}, ${d}, 5;`);
  }
  p.line(`mad.lo.s32 ${d}, ${own('tid.z')}, ${own('ntid.y')}, ${own('tid.y')};`);
  p.line(`mad.lo.s32 ${d}, ${d}, ${width}, ${own('tid.x')};`);
  if (name === 'warpid') p.line(`shr.u32 ${d}, ${d}, 5;`);
};

/** Why what a hidden parameter points to is not there on other devices. */
const services: Readonly<Record<string, readonly [what: string, why: string]>> = {
  cluster: ['a cluster of blocks', 'clusters need sm_90'],
  heap: ['the heap of kernels', 'a metallib has its own'],
  launches: ['a launch by a kernel', 'a metallib notes launches for the host'],
  stack: ['a recursive function or `alloca`', 'a metallib has its own stack'],
  alone: ['an atomic access of 128 bits', 'only the CPU device makes it atomic'],
};

const parameter: Rule<'param'> = (p, { index, type }, value) => {
  const param = p.kernel.params[index]!;
  const d = p.reg(value);
  if (param.memory) return addPointer(p, value);
  if (param.faults) return;
  if (param.formats) {
    if (param.name !== printListName) p.refuse(value, '`printf`', 'the metallib writes its records for a host of Metal');
    return;
  }
  if (param.locks) {
    p.module.declared.set('cumetal_locks', `.global .align 16 .b8 cumetal_locks[${lockTableBytes}];`);
    return p.line(`mov.b64 ${d}, cumetal_locks;`);
  }
  if (param.service === 'grid') return gridWorkspace(p, d);
  if (param.service) return p.refuse(value, ...services[param.service]!);
  if (param.kind === 'threadgroup') return p.line(`mov.b64 ${d}, ${dynamicMemory(p, value)};`);
  if (type === 'ptr.param') return p.line(`mov.b64 ${d}, ${p.parameter(index)};`);
  const generic = p.temp('i64');
  p.line(`ld.param.u64 ${generic}, [${p.parameter(index)}];`);
  p.line(`cvta.to.global.u64 ${d}, ${generic};`);
};

/** The workspace of the grid, whose address the driver gives. */
function gridWorkspace(p: Printer, d: string): void {
  const [high, low] = [p.temp('i32'), p.temp('i32')];
  p.line(`mov.u32 ${high}, %envreg1;`);
  p.line(`mov.u32 ${low}, %envreg2;`);
  p.line(`mov.b64 ${d}, {${low}, ${high}};`);
}

/** Shared memory of the launch, which Metal binds to a slot. */
function dynamicMemory(p: Printer, value: Value): string {
  if (p.kernel.params.filter(({ kind }) => kind === 'threadgroup').length > 1)
    p.refuse(value, 'threadgroup memory in several slots', 'a launch has one block of dynamic shared memory');
  p.module.declared.set('dynamic_shared', '.extern .shared .align 16 .b8 dynamic_shared[];');
  return 'dynamic_shared';
}

const call = (p: Printer, { fn, type: _ }: { fn: string; type: Type }, value: Value, operands: readonly Value[]): void => {
  const known = p.kernel.functions?.get(fn);
  if (!known?.since) bug(`${fn} is no instruction`);
  p.needs(known.since.ptx);
  const registers = [p.reg(value), ...operands.map((operand) => p.reg(operand))];
  p.line(`${fn.replaceAll(/\$(\d)/g, (_all, at: string) => registers[Number(at)]!)};`);
};

/** A choice that is a part of another instruction; false for others. */
function chooseWithin(p: Printer, value: Value): boolean {
  const { kernel } = p;
  const saturated = saturatedOf(kernel, value);
  if (saturated !== undefined) {
    p.line(`cvt.sat.f32.f32 ${p.reg(value)}, ${p.reg(saturated)};`);
    return true;
  }
  const estimated = estimateOf(kernel, value);
  if (estimated) {
    estimate(p, estimated, value);
    return true;
  }
  const converted = wholeConversion(kernel, value);
  if (converted === undefined) return false;
  convertWhole(p, converted, p.reg(value));
  return true;
}

const choose: Rule<'select'> = (p, inst, value) => {
  const { cond, a, b, type } = inst;
  if (chooseWithin(p, value)) return;
  const shifted = wholeShift(p.kernel, inst);
  if (shifted !== undefined) return p.line(`mov.b${type === 'i64' ? 64 : 32} ${p.reg(value)}, ${p.reg(shifted)};`);
  const extreme = extremeOf(p.kernel, inst);
  if (extreme !== undefined) return p.line(`${extreme} ${p.reg(value)}, ${p.reg(a)}, ${p.operand(b)};`);
  const c = p.reg(cond);
  if (type === 'i1') {
    const [x, y] = [p.temp('i1'), p.temp('i1')];
    p.line(`and.pred ${x}, ${c}, ${p.reg(a)};`);
    p.line(`not.pred ${y}, ${c};`);
    p.line(`and.pred ${y}, ${y}, ${p.reg(b)};`);
    return p.line(`or.pred ${p.reg(value)}, ${x}, ${y};`);
  }
  if (!isVector(type)) return p.line(`selp.${moveType(type)} ${p.reg(value)}, ${p.operand(a)}, ${p.operand(b)}, ${c};`);
  const [d, x, y] = [p.lanes(value), p.lanes(a), p.lanes(b)];
  for (const [i, own] of d.entries()) p.line(`selp.${moveType(elementOf(type))} ${own}, ${x[i]}, ${y[i]}, ${c};`);
};

/** Addresses and numbers are the same bits, in registers of one kind. */
const sameBits = (p: Printer, { a }: { a: Value }, value: Value): void => p.setLanes(value, [p.reg(a)]);

const vector = (p: Printer, operands: readonly Value[], value: Value): void =>
  p.setLanes(
    value,
    operands.map((operand) => p.reg(operand)),
  );

const clock: Rule<'clock'> = (p, { name }, value) => p.line(`mov.u64 ${p.reg(value)}, %${name === 'time' ? 'globaltimer' : 'clock64'};`);

export const rules: Rules = {
  const: () => undefined,
  arg: absent('a block parameter in a body'),
  param: parameter,
  variable: (p, _, value) => addPointer(p, value),
  sreg: register,
  ...integerRules,
  ...floatRules,
  ...conversionRules,
  call1: (p, inst, value) => call(p, inst, value, [inst.a]),
  call2: (p, inst, value) => call(p, inst, value, [inst.a, inst.b]),
  call3: (p, inst, value) => call(p, inst, value, [inst.a, inst.b, inst.c]),
  select: choose,
  vec2: (p, { a, b }, value) => vector(p, [a, b], value),
  vec4: (p, { a, b, c, d }, value) => vector(p, [a, b, c, d], value),
  extract: (p, { a, lane }, value) => p.setLanes(value, [p.lanes(a)[lane]!]),
  ptradd: (p, _, value) => addPointer(p, value),
  ptrtoint: sameBits,
  inttoptr: sameBits,
  fetch: absent('a function that reads memory'),
  exchange: absent('a function that exchanges values'),
  isspace: absent('an address-space test that lowering did not resolve'),
  ...accessRules,
  ...asmRules,
  clock,
  ...warpRules,
  yield: () => undefined,
  members: absent('a mask of the fast sanitizer'),
  mark: () => undefined,
  within: absent('an access check of the CPU device'),
  addressable: absent('an access check of the CPU device'),
  aligned: absent('an access check of the CPU device'),
  guard: absent('an access check of the CPU device'),
};
