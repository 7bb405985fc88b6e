/** The words of the IR verifier. */
import { entries } from './entry.ts';

/** CM30xx: a promise of the IR is broken. The fault is ours, not the input's. */
export const verifier = entries({
  CM3001: {
    severity: 'error',
    title: 'IR verifier',
    message: 'IR rule {rule} is broken in `{kernel}`: {why}',
    help: 'this is a fault of the compiler: please report it with the kernel',
    page: 'The compiler checks its own intermediate form. A violation is never caused by the input alone.',
  },
  CM3002: {
    severity: 'error',
    title: 'IR text',
    message: 'the IR text cannot be read: {why}',
    page: 'The text form of the intermediate form, as `--emit ir` prints it, is described in `docs/ir.md`.',
  },
});
