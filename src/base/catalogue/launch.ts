import { entries } from './entry.ts';

/** CM50xx: launches: arguments, sizes, limits. */
export const launch = entries({
  CM5001: {
    severity: 'error',
    title: 'kernel not found',
    message: 'no kernel named `{name}`',
    page: 'The module holds kernels of other names. `cumetal inspect` lists them.',
  },
});
