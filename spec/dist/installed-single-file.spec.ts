/** The specs of the command line on the single-file program. */
import { installedSuite } from '../support/installed-suite.ts';

installedSuite('single-file');
