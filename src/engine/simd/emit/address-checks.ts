/**
 * Address checks. `aligned` faults where an address of an active lane is misaligned. `addressable` faults where an address of an active lane is not below 4 GiB. Affine parts are checked in the first and the last
 * lane alone. Where these two are below 4 GiB, so are all others: an extended integer that wraps around between them moves the address by at
 * least 4 GiB. Varying parts have a test of 32-bit lanes. A test that fails under a mask is repeated exactly for the active lanes.
 */
import { affine, type Inst, type InstOf, isAddressCheck, uniform, type Value, varying } from '../../../ir/index.ts';
import { faultMisaligned } from '../../codegen/check-alignment.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, longOf, maskPart, shapeOf } from '../lanes/lane-group.ts';
import { pushBits } from '../lanes/lane-masks.ts';
import { longs, words } from '../lanes/vectors.ts';

/** The address of a check: a number of 64 bits or a pointer, plus terms. */
interface Check {
  readonly a: Value;
  readonly terms: readonly Term[];
}

/** An integer of 32 bits that is extended and multiplied. */
interface Term {
  readonly value: Value;
  readonly by: number;
  readonly isSigned: boolean;
}

/** Emits a check of an address; returns whether the instruction is one. */
export function writeAddressCheck(s: LaneGroup, inst: Inst): boolean {
  if (inst.op === 'addressable') writeAddressable(s, inst);
  else if (inst.op === 'aligned') writeAligned(s, inst);
  return isAddressCheck(inst);
}

// ── alignment ──

/** Emits a fault unless the addresses of all active lanes are multiples of a power of two. */
function writeAligned(s: LaneGroup, { a, align }: InstOf<'aligned'>): void {
  const { code, plan } = s;
  const stride = shapeOf(s, a) === affine ? plan.shapes.stride[a]! : 0;
  if (shapeOf(s, a) === varying || stride % align !== 0) {
    for (let part = 0; part < (longOf(s, a) ? 2 : 1) * plan.packs; part++) {
      s.part(a, part);
      code.v128(longOf(s, a) ? longs(BigInt(align - 1)) : words(align - 1));
      code.op('v128.and');
      if (s.mask) {
        maskPart(s, part, longOf(s, a));
        code.op('v128.and');
      }
      if (part > 0) code.op('v128.or');
    }
    code.op('v128.any_true');
  } else {
    s.scalar(a);
    if (longOf(s, a)) code.op('i32.wrap_i64');
    code.i32(align - 1);
    code.op('i32.and');
  }
  code.openRare();
  // The address of the first lane is that of an inactive one perhaps.
  if (s.mask) {
    pushBits(s);
    code.open('if');
  }
  faultMisaligned(code);
  if (s.mask) code.end();
  code.end();
}

// ── addresses beyond 4 GiB ──

/** Emits the check of an address. */
function writeAddressable(s: LaneGroup, inst: InstOf<'addressable'>): void {
  const terms = [
    { value: inst.b, by: inst.byB, isSigned: inst.isSignedB },
    { value: inst.c, by: inst.byC, isSigned: inst.isSignedC },
  ].filter(({ by }) => by !== 0);
  const check: Check = { a: inst.a, terms };
  const different = terms.filter(({ value }) => shapeOf(s, value) === varying);
  if (different.length === 0 && shapeOf(s, inst.a) !== varying) return checkEnds(s, check);
  const [only] = different;
  const isUniform = shapeOf(s, inst.a) === uniform && terms.every((each) => each === only || shapeOf(s, each.value) === uniform);
  if (only && isUniform && hasVectorTest(only)) checkVarying(s, check, only);
  else checkExactly(s, check);
}

/** Pushes the 64-bit number on the stack times a constant. */
function times({ code }: LaneGroup, by: number, shape: 'i64' | 'i64x2'): void {
  if (by === 1) return;
  if (isPowerOfTwo(by)) {
    if (shape === 'i64') code.i64(BigInt(Math.log2(by)));
    else code.i32(Math.log2(by));
    return code.op(`${shape}.shl`);
  }
  if (shape === 'i64') code.i64(BigInt(by));
  else code.v128(longs(BigInt.asUintN(64, BigInt(by))));
  code.op(`${shape}.mul`);
}

const isPowerOfTwo = (by: number): boolean => by > 0 && Number.isInteger(Math.log2(by));

/** Emits a fault if the i32 on the stack is not 0. */
function faultIf({ code }: LaneGroup): void {
  code.openRare();
  code.op('unreachable');
  code.end();
}

// ── uniform and affine addresses ──

/** Pushes the address of a lane, whose values are uniform or affine. */
function pushAddress(s: LaneGroup, { a, terms }: Check, lane: number): void {
  const { code } = s;
  pushScalar(s, a, lane);
  if (!longOf(s, a)) code.op('i64.extend_i32_u');
  for (const { value, by, isSigned } of terms) {
    pushScalar(s, value, lane);
    code.op(isSigned ? 'i64.extend_i32_s' : 'i64.extend_i32_u');
    times(s, by, 'i64');
    code.op('i64.add');
  }
}

function pushScalar(s: LaneGroup, value: Value, lane: number): void {
  s.scalar(value);
  const ahead = shapeOf(s, value) === affine ? Math.imul(lane, s.plan.shapes.stride[value]!) : 0;
  if (ahead === 0) return;
  s.code.i32(ahead);
  s.code.op('i32.add');
}

function checkEnds(s: LaneGroup, check: Check): void {
  const { code } = s;
  for (const [i, lane] of checkedLanes(s, check).entries()) {
    pushAddress(s, check, lane);
    if (i > 0) code.op('i64.or');
  }
  code.i64(32n);
  code.op('i64.shr_u');
  code.op('i32.wrap_i64');
  if (!s.mask) return faultIf(s);
  code.openRare();
  checkActiveLanes(s, check);
  code.end();
}

/** Bytes from the first to the last lane that keep a lane within the memory that is never allocated. */
const maxSpan = 32768;

/**
 * The lanes whose addresses show that all are below 4 GiB. One is enough for a pointer plus one extended integer: where the integer wraps
 * around, the lanes before that are beyond 4 GiB already, if it is signed and has a factor, and so are those behind it that are above 4 GiB
 * if it is unsigned.
 */
function checkedLanes(s: LaneGroup, { a, terms }: Check): readonly number[] {
  const { lanes, shapes } = s.plan;
  const moving = terms.filter(({ value }) => shapeOf(s, value) !== uniform);
  if (moving.length === 0 && shapeOf(s, a) === uniform) return [0];
  const [term] = moving;
  const ends = [0, lanes - 1];
  if (!term || terms.length > 1 || longOf(s, a) || shapeOf(s, a) !== uniform) return ends;
  const stride = shapes.stride[term.value]!;
  if (Math.abs(stride * term.by) * lanes > maxSpan) return ends;
  if (term.isSigned) return Math.abs(term.by) >= 2 ? [0] : ends;
  return [stride > 0 ? 0 : lanes - 1];
}

/** Checks the active lanes one by one, of a test that failed for lanes that may be inactive. */
function checkActiveLanes(s: LaneGroup, check: Check): void {
  const { a, terms } = check;
  if (shapeOf(s, a) !== uniform) return checkExactly(s, check);
  const { code } = s;
  pushAddress(s, { a, terms: [] }, 0);
  for (const at of [0, 1]) {
    const term = terms[at];
    if (term) s.scalar(term.value);
    else code.i32(0);
    code.i32(term && shapeOf(s, term.value) === affine ? s.plan.shapes.stride[term.value]! : 0);
    code.i64(BigInt(term?.by ?? 0));
    code.i32(term?.isSigned ? 1 : 0);
  }
  pushBits(s);
  code.at('call', s.simdHelper('addressableLanes'));
}

// ── varying addresses ──

/** Whether a test of 32-bit lanes shows that an address with this term is below 4 GiB. */
const hasVectorTest = ({ by }: Term): boolean => isPowerOfTwo(by);

/** Tests one varying term next to uniform ones: the lanes are compared with what is left of 4 GiB, in units of the factor. */
function checkVarying(s: LaneGroup, { a, terms }: Check, term: Term): void {
  const { code } = s;
  const others = terms.filter((each) => each !== term);
  const isLow = others.length === 0 && !longOf(s, a);
  withScratch(s, 'i64', 1, ([base]) => {
    pushAddress(s, { a, terms: others }, 0);
    code.at('local.set', base);
    withScratch(s, 'v128', 1, ([units]) => {
      const count = Math.log2(term.by);
      code.at('local.get', base);
      if (!term.isSigned) invert(s);
      code.i64(BigInt(count));
      code.op('i64.shr_u');
      code.op('i32.wrap_i64');
      code.op('i32x4.splat');
      code.at('local.set', units);
      for (let pack = 0; pack < s.plan.packs; pack++) {
        testPack(s, term, pack, units);
        if (s.mask) {
          maskPart(s, pack, false);
          code.op('v128.and');
        }
        if (pack > 0) code.op('v128.or');
      }
    });
    code.op('v128.any_true');
    if (!isLow) {
      code.at('local.get', base);
      code.i64(32n);
      code.op('i64.shr_u');
      code.op('i32.wrap_i64');
      code.op('i32.or');
    }
    code.openRare();
    for (let pack = 0; pack < s.plan.packs; pack++) callExact(s, term, pack, base);
    code.end();
  });
}

/** Replaces the i64 on the stack by how far it is below 2^32 - 1. */
function invert({ code }: LaneGroup): void {
  code.i64(0xffff_ffffn);
  code.op('i64.xor');
}

/** Pushes which lanes of a pack may be beyond 4 GiB. */
function testPack(s: LaneGroup, { value, by, isSigned }: Term, pack: number, units: number): void {
  const { code } = s;
  s.part(value, pack);
  if (!isSigned) {
    code.at('local.get', units);
    return code.op('i32x4.gt_u');
  }
  if (by > 1) {
    code.at('local.get', units);
    code.op('i32x4.add');
    code.v128(words(2 ** 32 / by));
    return code.op('i32x4.ge_u');
  }
  // A sum carries if it is below an operand, as it has to where the other is negative.
  code.at('local.get', units);
  code.op('i32x4.add');
  code.at('local.get', units);
  code.op('i32x4.lt_u');
  s.part(value, pack);
  code.v128(words(0));
  code.op('i32x4.lt_s');
  code.op('v128.xor');
}

function callExact(s: LaneGroup, { value, by, isSigned }: Term, pack: number, base: number): void {
  const { code } = s;
  code.at('local.get', base);
  s.part(value, pack);
  code.i64(BigInt(by));
  code.i32(isSigned ? 1 : 0);
  if (s.mask) maskPart(s, pack, false);
  else code.v128(words(-1));
  code.at('call', s.simdHelper('addressablePack'));
}

/** Checks all active lanes in 64 bits. */
function checkExactly(s: LaneGroup, { a, terms }: Check): void {
  const { code } = s;
  for (let part = 0; part < 2 * s.plan.packs; part++) {
    pushBasePart(s, a, part);
    for (const { value, by, isSigned } of terms) {
      s.part(value, part >> 1);
      code.op(`i64x2.extend_${part % 2 === 0 ? 'low' : 'high'}_i32x4_${isSigned ? 's' : 'u'}`);
      times(s, by, 'i64x2');
      code.op('i64x2.add');
    }
    code.i32(32);
    code.op('i64x2.shr_u');
    if (s.mask) {
      maskPart(s, part, true);
      code.op('v128.and');
    }
    if (part > 0) code.op('v128.or');
  }
  code.op('v128.any_true');
  faultIf(s);
}

/** Pushes two lanes of the base, extended to 64 bits. */
function pushBasePart(s: LaneGroup, a: Value, part: number): void {
  const { code } = s;
  if (longOf(s, a)) return s.part(a, part);
  s.part(a, part >> 1);
  code.op(`i64x2.extend_${part % 2 === 0 ? 'low' : 'high'}_i32x4_u`);
}
