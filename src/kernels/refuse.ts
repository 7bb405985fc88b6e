/** Errors of the library: exceptions with a diagnostic, as those of the API. */
import { errorOf } from '../api/failures.ts';
import { Diagnostics } from '../base/diagnostic.ts';

/** Throws CM5093: a launch of a library kernel that cannot be right. */
export function refuse(kernel: string, why: string): never {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5093', { kernel, why });
  throw errorOf(diagnostics);
}
