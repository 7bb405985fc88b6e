/** CPU time of a process and of all that it started: what a limit may count on a machine that has other work, too. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process of this machine. */
export interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  /** CPU seconds of the process, on Linux with those of children that ended. */
  readonly seconds: number;
}

/** Ticks of a second in `/proc`: `sysconf(_SC_CLK_TCK)`, which is 100 on every architecture that Bun runs on. */
const ticks = 100;

/** A line of `/proc/PID/stat`. Source: proc(5), /proc/pid/stat, fields 4 (ppid) and 14 to 17 (utime, stime, cutime, cstime). */
export function parseStat(text: string): ProcessTime | undefined {
  // The name stands in parentheses and may have spaces and parentheses itself.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  if (end < 0 || fields.length < 15) return undefined;
  const used = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(text, 10), parent: Number(fields[1]), seconds: used / ticks };
}

/** A line of `ps -A -o pid=,ppid=,time=`, whose time is `[[DAYS-]HOURS:]MINUTES:SECONDS`. Source: ps(1) of macOS and POSIX. */
export function parsePs(line: string): ProcessTime | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)\s*$/.exec(line);
  if (!match) return undefined;
  const [days, hours, minutes, seconds] = match.slice(3).map((part) => Number(part ?? 0)) as [number, number, number, number];
  return { pid: Number(match[1]), parent: Number(match[2]), seconds: ((days * 24 + hours) * 60 + minutes) * 60 + seconds };
}

/** Every process of this machine. */
export function processTimes(): ProcessTime[] {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,time='], { encoding: 'utf8' });
    return (stdout ?? '').split('\n').flatMap((line) => parsePs(line) ?? []);
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
      } catch {
        // It ended between the two calls.
        return [];
      }
    });
}

/** A process and what it started, and their CPU seconds in all. */
export function treeOf(root: number, all: readonly ProcessTime[]): { readonly pids: readonly number[]; readonly seconds: number } {
  const found = all.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return { pids: found.map(({ pid }) => pid), seconds: found.reduce((sum, { seconds }) => sum + seconds, 0) };
}
