/** Loads and stores of vectors and of their lanes. The address and its check are those of all accesses (`Selection.address`). */

import type { Inst } from '../../ssa/types.ts';
import type { Assembler } from '../../x64/types.ts';
import { immediate, type MemoryOperand, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { custom, extractPart, partOf, resultOf, type Width, widthOf } from './steps.ts';

/** Adds a load whose instruction is written for its memory. */
function addLoad(s: Selection, inst: Inst, emit: (out: Assembler, to: number, bytes: Width, from: MemoryOperand) => void): void {
  const address = s.address(inst);
  const bytes = widthOf(s, inst.result!);
  custom(s, { def: resultOf(s, inst), uses: address.uses }, (out, places) => emit(out, places.def, bytes, address.operand(places, 0)));
}

const loadBy =
  (mnemonicOf: (bytes: Width) => string): Rule =>
  (s, inst) =>
    addLoad(s, inst, (out, to, bytes, from) => out.emit(mnemonicOf(bytes), vector(to, bytes), from));

/** Adds a store of a vector, which is the first register it uses. */
function addStore(s: Selection, inst: Inst, emit: (out: Assembler, value: number, bytes: Width, to: MemoryOperand) => void): void {
  const value = s.register(inst.args[1]!);
  const bytes = widthOf(s, inst.args[1]!);
  const address = s.address(inst);
  custom(s, { uses: [value, ...address.uses] }, (out, places) => emit(out, places.uses[0]!, bytes, address.operand(places, 1)));
}

/** A store of a vector. A part of a wide one is taken by the store. */
const store: Rule = (s, inst) => {
  const found = partOf(s, inst.args[1]!);
  if (!found) return addStore(s, inst, (out, value, bytes, to) => out.emit('vmovups', to, vector(value, bytes)));
  const { wide, part } = found;
  const value = s.register(wide);
  const bytes = widthOf(s, wide);
  const address = s.address(inst);
  custom(s, { uses: [value, ...address.uses] }, (out, places) => {
    const to = address.operand(places, 1);
    if (part === 0) out.emit('vmovups', to, vector(places.uses[0]!));
    else out.emit(extractPart(s), to, vector(places.uses[0]!, bytes), immediate(part));
  });
};

const suffix = { 1: 'b', 2: 'w', 4: 'd', 8: 'q' } as const;
type Lane = keyof typeof suffix;

const laneOfName = (op: string): Lane => (Number(/(\d+)_lane$/.exec(op)![1]) / 8) as Lane;

/** A load of one lane of a vector. */
const loadLane: Rule = (s, inst) => {
  const lane = laneOfName(inst.op);
  const value = s.register(inst.args[1]!);
  const address = s.address(inst);
  custom(s, { def: resultOf(s, inst), uses: [value, ...address.uses] }, (out, places) =>
    out.emit(`vpinsr${suffix[lane]}`, vector(places.def), vector(places.uses[0]!), address.operand(places, 1), immediate(inst.lane!)),
  );
};

/** A store of one lane. */
const storeLane: Rule = (s, inst) => {
  const lane = laneOfName(inst.op);
  addStore(s, inst, (out, value, _, to) => {
    if (inst.lane === 0 && lane >= 4) out.emit(lane === 4 ? 'vmovss' : 'vmovsd', to, vector(value));
    else if (lane === 8) out.emit('vmovhps', to, vector(value));
    else out.emit(`vpextr${suffix[lane]}`, to, vector(value), immediate(inst.lane!));
  });
};

const extending = { '8x8': 'bw', '16x4': 'wd', '32x2': 'dq' } as const;

export const memoryRules: Readonly<Record<string, Rule>> = {
  'v128.load': loadBy(() => 'vmovups'),
  'v128.store': store,
  'v128.load8_splat': loadBy(() => 'vpbroadcastb'),
  'v128.load16_splat': loadBy(() => 'vpbroadcastw'),
  'v128.load32_splat': loadBy(() => 'vbroadcastss'),
  'v128.load64_splat': loadBy((bytes) => (bytes === 16 ? 'vmovddup' : 'vbroadcastsd')),
  'v128.load32_zero': loadBy(() => 'vmovss'),
  'v128.load64_zero': loadBy(() => 'vmovsd'),
  ...Object.fromEntries(
    Object.entries(extending).flatMap(([shape, lanes]) =>
      (['s', 'u'] as const).map((sign) => [`v128.load${shape}_${sign}`, loadBy(() => `vpmov${sign === 's' ? 's' : 'z'}x${lanes}`)]),
    ),
  ),
  ...Object.fromEntries(
    [8, 16, 32, 64].flatMap((bits) => [
      [`v128.load${bits}_lane`, loadLane],
      [`v128.store${bits}_lane`, storeLane],
    ]),
  ),
};
