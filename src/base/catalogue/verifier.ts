/** Diagnostics of the IR verifier. */
import { entries } from './entry.ts';

/** CM30xx: an IR invariant is violated, which is an internal error. */
export const verifier = entries({
  CM3001: {
    severity: 'error',
    title: 'IR verifier',
    message: 'IR rule {rule} is violated in `{kernel}`: {why}',
    help: 'this is a bug in the compiler: please report it with the kernel',
    page: 'The compiler checks its own intermediate representation. A violation is a bug in the compiler.',
  },
  CM3002: {
    severity: 'error',
    title: 'malformed IR text',
    message: 'malformed IR text: {why}',
    page: '`docs/ir.md` describes the text form of the IR, which `--emit ir` prints.',
  },
});
