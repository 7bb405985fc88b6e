/** The build of this program. Sources that run directly have no build id, because they may change between two runs. */
import { version } from './version.ts';

/** The hash of all sources, inserted by `scripts/bundle.ts`. */
declare const CUMETAL_BUILD: string | undefined;

export const buildId: string | undefined = typeof CUMETAL_BUILD === 'string' ? `${version}+${CUMETAL_BUILD}` : undefined;
