/** What functions of the driver API need before they do anything. Source: CUDA Driver API. */
import { type Argument, driverRow, type Row, type Values } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** A function of the driver that needs `cuInit` first. */
export const initialized = <const List extends readonly Argument[]>(
  args: List,
  run: (state: CudaState, ...args: Values<List>) => void,
): Row =>
  driverRow(args, (state, ...given) => {
    if (!state.isInitialized) fail('cudaErrorInitializationError');
    run(state, ...given);
  });

/** A function that needs a current context, which a call of the runtime makes. */
export const inContext = <const List extends readonly Argument[]>(
  args: List,
  run: (state: CudaState, ...args: Values<List>) => void,
): Row =>
  initialized(args, (state, ...given) => {
    if (state.contexts.length === 0 && !state.usesRuntime) fail('cudaErrorDeviceUninitialized');
    run(state, ...given);
  });

/** A function of the runtime under its name in the driver API. */
export const same = ({ args, run }: Row): Row => inContext(args, run as (state: CudaState, ...args: unknown[]) => void);
