/** Which build of the program this is. Sources that run as they are have none: they may change from one run to the next. */
import { version } from './version.ts';

/** What `scripts/bundle.ts` puts here: the hash of all sources. */
declare const CUMETAL_BUILD: string | undefined;

export const buildId: string | undefined = typeof CUMETAL_BUILD === 'string' ? `${version}+${CUMETAL_BUILD}` : undefined;
