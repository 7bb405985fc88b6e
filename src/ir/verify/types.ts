/** Promises T1 to T6: operand domains and result types, from the op table and one rule for each op that states its type. */
import { isWide } from '../dialect.ts';
import type { Inst, Kernel, Value } from '../kernel.ts';
import { factorType, isProductForm, mmaForm, mmaRegisters, registersAs, sumType } from '../mma.ts';
import { argsOf } from '../operands.ts';
import { clocks, type Domain, fcmpPredicates, fenceScopes, folds, icmpPredicates, type Op, ops, specOf, type TypeRule } from '../ops.ts';
import { sregs } from '../sregs.ts';
import { bitsOf, elementOf, isFloat, isInt, isPointer, isScalar, isVector, lanesOf, spaces, type Type } from '../types.ts';
import { checkAccess, checkParam, checkVariable } from './memory.ts';
import type { Report, Rule } from './report.ts';

const domains: Record<Domain, (type: Type) => boolean> = {
  int: isInt,
  float: isFloat,
  f32: (type) => type === 'f32',
  scalar: isScalar,
  pointer: isPointer,
  i1: (type) => type === 'i1',
  any: (type) => type !== 'void',
};

/** T1 to T6 of one instruction, and the M promises of those that touch memory. */
export function checkInst(kernel: Kernel, value: Value, report: Report): void {
  const inst = kernel.insts[value]!;
  const loc = kernel.locs[value];
  const types = argsOf(inst.op).map((name) => typeOfArg(kernel, inst, name));
  const reportHere: Report = (rule, why) => report(rule, `${inst.op}: ${why}`, loc);
  if (!checkOperands(inst, types, reportHere)) return;
  checkResult(inst, types, reportHere);
  const broken = extra[inst.op]?.(inst as never, types, kernel, value);
  for (const [rule, why] of broken ?? []) reportHere(rule, why);
}

/** Result type by the op's rule; `given` where the instruction states it. */
function resultType(op: Op, given: Type | undefined, a: Type | undefined, b: Type | undefined): Type {
  const rule = ops[op].type as TypeRule;
  if (rule === 'a') return a ?? 'void';
  if (rule === 'b') return b ?? 'void';
  return rule === 'given' ? (given ?? 'void') : rule;
}

const typeOfArg = (kernel: Kernel, inst: Inst, name: string): Type =>
  kernel.insts[(inst as unknown as Record<string, Value>)[name]!]?.type ?? 'void';

function checkOperands(inst: Inst, types: readonly Type[], report: Report): boolean {
  // A void is V3's to report.
  if (types.includes('void')) return false;
  let isSound = true;
  argsOf(inst.op).forEach((name, i) => {
    const domain = specOf(inst.op).args[name]!;
    const wanted = domain === '=a' ? types[argsOf(inst.op).indexOf('a')]! : domain;
    if (domain === '=a' ? types[i] === wanted : domains[domain](types[i]!)) return;
    report('T1', `operand ${name} is ${types[i]}, not ${wanted}`);
    isSound = false;
  });
  return isSound;
}

function checkResult(inst: Inst, types: readonly Type[], report: Report): void {
  const of = (name: string): Type | undefined => types[argsOf(inst.op).indexOf(name)];
  const wanted = resultType(inst.op, inst.type, of('a'), of('b'));
  if (inst.type !== wanted) report('T2', `the result is ${inst.type}, not ${wanted}`);
}

type Broken = readonly (readonly [rule: Rule, why: string])[];
type Extra<K extends Op> = (inst: Extract<Inst, { op: K }>, types: readonly Type[], kernel: Kernel, value: Value) => Broken;

const when = (isBroken: boolean, rule: Rule, why: string): Broken => (isBroken ? [[rule, why]] : []);

/** From one kind of type to another, and how the widths compare. */
const conversion =
  (isResult: (type: Type) => boolean, widths: (from: number, to: number) => boolean) =>
  ({ type }: Inst, [a]: readonly Type[]): Broken =>
    when(!isResult(type) || !widths(bitsOf(a!), bitsOf(type)), 'T3', `${a} does not convert to ${type}`);
const anyWidth = (): boolean => true;

const hasMemoryForm = (type: Type): boolean => (isScalar(type) || isVector(type)) && elementOf(type) !== 'i1';
const vector =
  (lanes: number) =>
  ({ type }: Inst, [a]: readonly Type[]): Broken =>
    when(
      !isVector(type) || lanesOf(type) !== lanes || elementOf(type) !== a || !hasMemoryForm(type),
      'T4',
      `${lanes} ${a} do not make ${type}`,
    );
/** A lane's share of a matrix: two floats other than f64. */
const isSpread = (type: Type): boolean => isVector(type) && lanesOf(type) === 2 && isFloat(elementOf(type)) && elementOf(type) !== 'f64';
const oneOf = (word: string, words: readonly string[]): Broken => when(!words.includes(word), 'T5', `there is no \`${word}\``);

const call = ({ type, fn }: { type: Type; fn: string }, types: readonly Type[], kernel: Kernel): Broken => {
  const known = kernel.functions?.get(fn);
  if (!known) return [['T5', `there is no function \`${fn}\``]];
  const { body, result } = known;
  const wanted = body.blocks[0]!.params.map((param) => body.insts[param]!.type);
  const gives = body.insts[result]!.type;
  return [
    ...when(type !== gives, 'T3', `\`${fn}\` gives ${gives}, not ${type}`),
    ...when(wanted.join() !== types.join(), 'T1', `\`${fn}\` is a function of ${wanted.join(', ')}`),
  ];
};

/** A product of matrices, whose form says the registers of each. */
function brokenMma(text: string, type: Type, types: readonly Type[]): Broken {
  if (!isProductForm(text)) return [['T5', `there is no form \`${text}\``]];
  const form = mmaForm(text);
  const count = mmaRegisters(form);
  const sum = sumType(form.sum);
  const wanted = [
    registersAs(factorType(form.a), count.a),
    registersAs(factorType(form.b), count.b),
    registersAs(sum, count.c),
    'i32',
    registersAs(sum, count.c),
  ];
  const given = [...types, type];
  return when(given.join() !== wanted.join(), 'T4', `${text} of ${given.join(', ')}`);
}

/** The integer type that the address of a pointer has. */
const addressType = (kernel: Kernel, pointer: Value): Type => (isWide(kernel, pointer) ? 'i64' : 'i32');
const asWide = (kernel: Kernel, value: Value, ...operands: readonly Value[]): Broken =>
  when(
    operands.some((operand) => isWide(kernel, operand) !== isWide(kernel, value)),
    'T6',
    'an operand is a pointer of another width',
  );

const extra: { [K in Op]?: Extra<K> } = {
  call1: call,
  call2: call,
  call3: call,
  fetch: call,
  exchange: call,
  shuffle: (_, [, lane]) => when(lane !== 'i32', 'T3', `a lane of type ${lane}`),
  ballot: ({ type }) => when(type !== 'i32', 'T3', `a ballot of type ${type}`),
  clock: ({ type, name }) => [...when(type !== 'i64', 'T3', `a clock of type ${type}`), ...oneOf(name, clocks)],
  fence: ({ scope }) => oneOf(scope, fenceScopes),
  matmul: ({ type }, types) => [...types, type].flatMap((each) => when(!isSpread(each), 'T4', `a matrix as ${each}`)),
  mma: ({ type, form }, types) => brokenMma(form, type, types),
  shufflesync: ({ type }, [, lane]) => [
    ...when(lane !== 'i32', 'T3', `a lane of type ${lane}`),
    ...when(type !== 'i32', 'T3', `a shuffle of ${type}`),
  ],
  ballotsync: ({ type }) => when(type !== 'i32', 'T3', `a ballot of type ${type}`),
  reducesync: ({ fold, type }) => [...oneOf(fold, folds), ...when(type !== 'i32', 'T3', `a reduction of ${type}`)],
  reduce: ({ fold, type }) => [...oneOf(fold, folds), ...when(type !== 'i32', 'T3', `a reduction of ${type}`)],
  const: ({ type, bits }) => [
    ...when(!isScalar(type) && !(isPointer(type) && bits === 0n), 'T3', `a constant of type ${type}`),
    ...when(isScalar(type) && BigInt.asUintN(bitsOf(type), bits) !== bits, 'T5', `${bits} does not fit ${type}`),
  ],
  arg: ({ type }) => when(type === 'void', 'T3', 'a void'),
  sreg: ({ type, name }) => [...when(type !== 'i32', 'T3', `the result is ${type}, not i32`), ...oneOf(name, sregs)],
  icmp: ({ pred }) => oneOf(pred, icmpPredicates),
  fcmp: ({ pred }) => oneOf(pred, fcmpPredicates),
  trunc: conversion(isInt, (from, to) => to < from),
  zext: conversion(isInt, (from, to) => to > from),
  sext: conversion(isInt, (from, to) => to > from),
  bitcast: conversion(isScalar, (from, to) => to === from),
  fptosi: conversion(isInt, anyWidth),
  fptoui: conversion(isInt, anyWidth),
  sitofp: conversion(isFloat, anyWidth),
  uitofp: conversion(isFloat, anyWidth),
  fpext: conversion(isFloat, (from, to) => to > from),
  fptrunc: conversion(isFloat, (from, to) => to < from),
  select: ({ a, b }, _, kernel, value) => asWide(kernel, value, a, b),
  ptrtoint: ({ type, a: pointer }, [a], kernel) => when(type !== addressType(kernel, pointer), 'T3', `${a} does not convert to ${type}`),
  inttoptr: ({ type }, [a], kernel, value) =>
    when(!isPointer(type) || a !== addressType(kernel, value), 'T3', `${a} does not convert to ${type}`),
  isspace: ({ space }, [a]) => [...when(a !== 'i64', 'T3', `an address of type ${a}`), ...oneOf(space, spaces)],
  ptradd: ({ a }, [, b], kernel, value) => {
    const wanted = addressType(kernel, value);
    return [...when(b !== wanted, 'T3', `the offset is ${b}, not ${wanted}`), ...asWide(kernel, value, a)];
  },
  vec2: vector(2),
  vec4: vector(4),
  extract: ({ type, lane }, [a]) => [
    ...when(!isVector(a!) || elementOf(a!) !== type, 'T4', `an element of ${a} is not ${type}`),
    ...when(!Number.isInteger(lane) || lane < 0 || lane >= lanesOf(a!), 'T4', `there is no element ${lane} in ${a}`),
  ],
  load: ({ type, align }) => checkAccess(type, align, hasMemoryForm(type)),
  store: ({ align }, [addr, value]) => checkAccess(value!, align, hasMemoryForm(value!), addr),
  atomic: ({ type }, [addr]) => checkAccess(type, 1, hasMemoryForm(type), addr),
  cas: ({ type }, [addr, , c]) => [...checkAccess(type, 1, hasMemoryForm(type), addr), ...when(c !== type, 'T1', `c is ${c}, not ${type}`)],
  param: ({ type, index }, _, kernel) => checkParam(type, kernel.params[index]),
  variable: ({ type, name }, _, kernel) =>
    checkVariable(
      type,
      kernel.variables.find((v) => v.name === name),
    ),
};
