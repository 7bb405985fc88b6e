/**
 * Gathers of AVX-512: one check for the addresses of all lanes, and one load. The processor takes indexes for signed numbers, so that they are relative
 * to the middle of 4 GiB.
 */
import type { Places } from '../../machine/types.ts';
import { reserved } from '../../machine/types.ts';
import type { Inst } from '../../ssa/types.ts';
import { type Assembler, general, immediate, type Label, mask, memory, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { custom, lanesOf, patternOperand, resultOf, temps, type Width, widthOf } from './steps.ts';

const middle = 2 ** 31;
const maxImmediate = 2 ** 31 - 1;
/** The predicate of `vpcmpud`: more than, unsigned. */
const isMore = 6;

interface Gather {
  /** Bytes of the result, and of the vector of addresses. */
  readonly bytes: Width;
  readonly addressBytes: Width;
  /** Bytes of memory for each lane. */
  readonly element: 1 | 2 | 4 | 8;
  readonly offset: number;
  /** The order of the words of the addresses, for `vpshufd`; undefined for the one that they have. */
  readonly order: number | undefined;
}

function gatherOf(s: Selection, inst: Inst, element: Gather['element']): Gather {
  const bytes = widthOf(s, inst.result!);
  // The words that are used, twice, so that the check is of no others.
  const order = element === 8 && bytes === 16 ? (inst.lane === 0 ? 0x44 : 0xee) : undefined;
  return { bytes, addressBytes: widthOf(s, inst.args[0]!), element, offset: inst.offset!, order };
}

const gather =
  (element: Gather['element']): Rule =>
  (s, inst) => {
    const plan = gatherOf(s, inst, element);
    const trap = s.trap('bounds');
    custom(
      s,
      { def: resultOf(s, inst), uses: [s.register(inst.args[0]!)], temps: temps('general', 'vector', 'vector'), isEarly: true },
      (out, places) => {
        const [scalar, limit, ordered] = places.temps as [number, number, number];
        let addresses = places.uses[0]!;
        if (plan.order !== undefined) {
          out.emit('vpshufd', vector(ordered), vector(addresses), immediate(plan.order));
          addresses = ordered;
        }
        setLimit(out, plan, scalar, trap);
        out.emit('vpbroadcastd', vector(limit, plan.addressBytes), general(scalar, 4));
        out.emit('vpcmpud', mask(1), vector(addresses, plan.addressBytes), vector(limit, plan.addressBytes), immediate(isMore));
        out.emit('kortestw', mask(1), mask(1));
        out.jumpIf('ne', trap);
        load(out, plan, places, addresses);
      },
    );
  };

/** Sets a register to a number that is not negative; writing 32 bits of it clears the others. */
function setNumber(out: Assembler, to: number, value: number): void {
  out.emit('mov', general(to, value < 2 ** 32 ? 4 : 8), immediate(value));
}

/** The last address that is in bounds. If there is none, the code leaves the module. */
function setLimit(out: Assembler, { offset, element }: Gather, to: number, trap: Label): void {
  const end = offset + element;
  if (end <= maxImmediate) {
    out.emit('mov', general(to), general(reserved.memoryBytes));
    out.emit('sub', general(to), immediate(end));
    out.jumpIf('b', trap);
    return;
  }
  setNumber(out, to, end);
  out.emit('cmp', general(reserved.memoryBytes), general(to));
  out.jumpIf('b', trap);
  out.emit('neg', general(to));
  out.emit('add', general(to), general(reserved.memoryBytes));
}

function load(out: Assembler, { bytes, addressBytes, element, offset }: Gather, { def, temps: own }: Places, addresses: number): void {
  const [base, indexes] = own as [number, number];
  const to = vector(def, bytes);
  out.emit(
    'vpxord',
    vector(indexes, addressBytes),
    vector(addresses, addressBytes),
    patternOperand(out, 'vpxord', lanesOf(middle, 4), addressBytes),
  );
  // Of shorter elements, the word that ends in them is loaded.
  const start = offset - Math.max(0, 4 - element);
  const isNear = start <= maxImmediate;
  setNumber(out, base, middle + (isNear ? 0 : start));
  out.emit('add', general(base), general(reserved.memory));
  // The processor waits for what the result's register had before.
  out.emit('vpxord', vector(def), vector(def), vector(def));
  out.emit('kxnorw', mask(1), mask(1), mask(1));
  const from = { ...memory(base, isNear ? start : 0, indexes), isVectorIndex: true };
  out.emitMasked(element === 8 ? 'vpgatherdq' : 'vpgatherdd', mask(1), false, to, from);
  if (element < 4) out.emit('vpsrld', to, to, immediate(32 - 8 * element));
}

export const gatherRules: Readonly<Record<string, Rule>> = {
  'vector.load8_gather': gather(1),
  'vector.load16_gather': gather(2),
  'vector.load32_gather': gather(4),
  'vector.load64_gather': gather(8),
};
