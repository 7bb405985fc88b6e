/** One function of the table: what its arguments are, and what it does. */
import { type CudaErrorName, CudaFailure, type CudaState, driverNumberOf } from './state.ts';

/**
 * The arguments: `pointer` and `long` are numbers of 64 bits as they come, `size` is one below 2^53 as a number, `int` has 32 bits, `uint` the
 * same without a sign, `float` is a number of 32 bits.
 */
export type Argument = 'pointer' | 'long' | 'size' | 'int' | 'uint' | 'float';
type ValueOf<A extends Argument> = A extends 'pointer' | 'long' ? bigint : number;
export type Values<List extends readonly Argument[]> = { [I in keyof List]: ValueOf<List[I]> };

export interface Row {
  readonly args: readonly Argument[];
  /** An error number of the runtime or of the driver, a pointer, or nothing. */
  readonly result: 'error' | 'driver' | 'pointer' | 'uint' | 'void';
  run(state: CudaState, ...args: never[]): bigint | number | undefined;
}

/** A function that returns an error of CUDA: `run` fails with `fail`. */
export const row = <const List extends readonly Argument[]>(args: List, run: (state: CudaState, ...args: Values<List>) => void): Row => ({
  args,
  result: 'error',
  run: run as Row['run'],
});

/** A function of the driver, which has numbers of its own for errors. */
export const driverRow = <const List extends readonly Argument[]>(
  args: List,
  run: (state: CudaState, ...args: Values<List>) => void,
): Row => ({ args, result: 'driver', run: run as Row['run'] });

/** A function that returns something else. */
export const plainRow = <const List extends readonly Argument[]>(
  args: List,
  result: 'pointer' | 'uint' | 'void',
  run: (state: CudaState, ...args: Values<List>) => bigint | number | undefined,
): Row => ({ args, result, run: run as Row['run'] });

function converted(argument: Argument, value: bigint | number): bigint | number {
  if (argument === 'pointer' || argument === 'long') return BigInt.asUintN(64, BigInt(value));
  if (argument === 'size') return Number(BigInt.asUintN(64, BigInt(value)));
  return argument === 'uint' ? Number(value) >>> 0 : Number(value);
}

/** The import of a row: fails with the error that the device is left with, if it has one. */
export function importOf(state: CudaState, { args, result, run }: Row): (...values: (bigint | number)[]) => bigint | number | undefined {
  const numberOf = (error: CudaErrorName): number => (result === 'driver' ? driverNumberOf(error) : state.note(error));
  return (...values) => {
    const given = args.map((argument, i) => converted(argument, values[i] ?? 0)) as never[];
    if (result !== 'error' && result !== 'driver') return run(state, ...given);
    try {
      if (state.sticky) return numberOf(state.sticky);
      if (result === 'error') {
        state.isInitialized = true;
        state.usesRuntime = true;
      }
      run(state, ...given);
      // The error of a kernel is that of a later call.
      return 0;
    } catch (error) {
      if (!(error instanceof CudaFailure)) throw error;
      return numberOf(error.cuda);
    }
  };
}

/** Writes to memory of the program, or fails as CUDA does for a null pointer. */
export function must(written: boolean): void {
  if (!written) throw new CudaFailure('cudaErrorInvalidValue');
}
