/** `CUMETAL_VERIFY=1` in the environment: the device verifies the IR of a kernel after each pass. A page has no environment. */
import { type AfterPass, verifyAfterPass } from '../../ir/index.ts';

const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };

/** The observer of the device's passes; nothing where none was asked for. */
export const devicePassObserver = (): AfterPass | undefined => (process?.env?.CUMETAL_VERIFY === '1' ? verifyAfterPass : undefined);
