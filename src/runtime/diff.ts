/** Compares the outcomes of one launch on two devices, buffer by buffer. */
import type { Tolerance } from './argument.ts';
import { type Comparison, compareElements } from './compare.ts';
import { decodeElements, type ElementType, type ElementValue, elements } from './element.ts';
import type { LaunchOutcome, Output } from './launch.ts';

/** The first element in which two buffers differ by more than they may. */
export interface Mismatch {
  readonly at: number;
  readonly reference: ElementValue;
  readonly other: ElementValue;
  /** Representable values between the two; infinite where only one of them is NaN or infinite. */
  readonly ulp: number;
}

/** A buffer of one device against that of the reference. */
export interface Difference extends Comparison {
  readonly index: number;
  readonly name: string;
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly tolerance: Tolerance;
  readonly mismatch: Mismatch | undefined;
}

/** Bit equality. */
export const exactly: Tolerance = { rtol: 0, atol: 0, ulp: 0 };

/**
 * Compares every buffer of a launch. Without a tolerance, a buffer has that of its expectation; without an expectation, its bits must be
 * equal. Both outcomes are of the same plan.
 */
export function compareOutcomes(reference: LaunchOutcome, other: LaunchOutcome, tolerance?: Tolerance): Difference[] {
  return reference.outputs.flatMap((want) => {
    const got = other.outputs.find(({ index }) => index === want.index);
    return got ? [compareOutputs(want, got, tolerance ?? want.expect ?? exactly)] : [];
  });
}

function compareOutputs({ index, name, element, shape, bytes: want }: Output, { bytes: got }: Output, tolerance: Tolerance): Difference {
  const { rtol, atol, ulp } = tolerance;
  const comparison = compareElements(element, got, want, tolerance);
  const { firstMismatch: at } = comparison;
  const mismatch = at === undefined ? undefined : mismatchAt(element, want, got, at);
  return { index, name, element, shape, tolerance: { rtol, atol, ulp }, ...comparison, mismatch };
}

function mismatchAt(element: ElementType, want: Uint8Array, got: Uint8Array, at: number): Mismatch {
  const { size } = elements[element];
  const [wanted, given] = [want, got].map((bytes) => bytes.subarray(at * size, (at + 1) * size)) as [Uint8Array, Uint8Array];
  const [reference, other] = [wanted, given].map((bytes) => decodeElements(element, bytes)[0]!) as [ElementValue, ElementValue];
  return { at, reference, other, ulp: compareElements(element, given, wanted, exactly).maxUlp };
}
