/** `docs/cli.md`: every command and its options. */
import { cliMarkdown } from '../../src/cli/help.ts';

export const cliPage = { path: 'docs/cli.md', text: cliMarkdown };
