/** `cumetal helper`: whether the helper runs, and its end. */
import type { Context } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { sizeText } from '../terminal/size-text.ts';
import { exchange } from './exchange.ts';
import { helperPlace } from './place.ts';
import { type Answer, type HelperState, packed, type Request } from './wire.ts';

const answerMs = 5000;

/** Runs the command. */
export async function helper({ parsed, terminal }: Context): Promise<ExitCode> {
  const what = parsed.positionals[0]!;
  if (what !== 'status' && what !== 'stop')
    return usageError(`unexpected argument \`${what}\`: expected one of status, stop`, 'cumetal helper --help', terminal);
  const place = helperPlace({ env: terminal.env, platform: process.platform });
  if ('why' in place) {
    terminal.err(`error: there is no helper: ${place.why}\n`);
    return exit.failed;
  }
  const request: Request = { ask: what };
  const answer = await exchange<Answer>(place.socket, packed(request, []), { answerMs });
  if (answer === 'failed') {
    terminal.err('error: the helper does not answer\n');
    return exit.failed;
  }
  const state = answer !== 'absent' && 'state' in answer.head ? answer.head.state : undefined;
  terminal.out(`${said(what, state)}\n`);
  return exit.ok;
}

function said(what: 'status' | 'stop', state: HelperState | undefined): string {
  if (!state) return 'no helper runs';
  const { pid, served, memoryBytes, cpuMs } = state;
  if (what === 'stop') return `the helper has ended, process ${pid}`;
  return `the helper runs: process ${pid}, ${served} command${served === 1 ? '' : 's'}, ${(cpuMs / 1000).toFixed(2)} s of processor time, ${sizeText(memoryBytes)}`;
}
