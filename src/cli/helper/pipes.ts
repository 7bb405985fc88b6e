/**
 * Pairs of named pipes in a folder beside the socket, by which `bin/ask-helper.sh` asks. Each pair is for one command: a shell makes a file to have it,
 * writes the command into one pipe and reads lines from the other, as long as the helper lives. The next pair is there when the last one is answered: a
 * shell that finds none asks by the program, which does not wait long.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync, promises, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { replaceBy } from '../../files/index.ts';
import { type PipedAnswer, type PipedTask, unpackedTask } from './pipe-message.ts';
import { pipesFolder } from './place.ts';

/** Pairs that are made at once, by a process. */
const madeAtOnce = 64;

/** The longest command; `client.ts` has the same limit for files. */
const maxBytes = 600 * 1024;

/** Milliseconds within which a shell that has a pair opens it. */
const openMs = 10_000;

/** Two pipes, and what this process has open of them. */
interface Pair {
  readonly number: number;
  /** Keeps a reader, so that a shell may open the other end. */
  readonly asked: number;
  /** Both ends of the answer: its reader sees an end when this process has ended. */
  readonly answered: number;
  /** Once a shell has opened the pipe. */
  readonly opened: Promise<promises.FileHandle>;
}

/** Runs a command; undefined where the shell is to do it otherwise. */
type Run = (task: PipedTask) => Promise<PipedAnswer | undefined>;

export class Pipes {
  readonly #folder: string;
  readonly #run: Run;
  readonly #buffer = new Uint8Array(maxBytes);
  #number = 0;
  #made = 0;
  /** The number of the pair that no shell has opened. */
  #waiting: number | undefined;
  #hasEnded = false;

  constructor(socket: string, run: Run) {
    this.#folder = pipesFolder(socket);
    this.#run = run;
  }

  /** Serves one pair after the other. Where the system makes no pipes, commands come through the socket alone. */
  async serve(): Promise<void> {
    try {
      rmSync(this.#folder, { recursive: true, force: true });
      mkdirSync(this.#folder, { mode: 0o700 });
      let next: Pair | undefined;
      while (!this.#hasEnded) {
        if (!next) await this.#makePipes();
        next = await this.#serve(next ?? this.#openPair());
      }
    } catch {
      this.end();
    }
  }

  /** A shell that took a pair and was killed or stopped has lost it. */
  look(): void {
    if (this.#waiting === undefined) return;
    const taken = lstatSync(this.#path(this.#waiting, 'taken'), { throwIfNoEntry: false });
    if (taken && Math.abs(Date.now() - taken.mtimeMs) > openMs) this.#endWaiting();
  }

  /** Opens the pipe itself: nothing is a command that was cut off. */
  #endWaiting(): void {
    if (this.#waiting !== undefined) closeSync(openSync(this.#path(this.#waiting, 'ask'), constants.O_WRONLY | constants.O_NONBLOCK));
  }

  /** Removes the pipes; who waits for an answer finds their end. */
  end(): void {
    this.#hasEnded = true;
    try {
      this.#endWaiting();
    } catch {
      // Somebody else has removed it.
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #path(number: number, what: 'ask' | 'answer' | 'taken'): string {
    return `${this.#folder}/${number}.${what}`;
  }

  /** No function of the runtime makes them. */
  async #makePipes(): Promise<void> {
    const names = Array.from({ length: madeAtOnce }, (_, i) => [`${this.#made + i}.ask`, `${this.#made + i}.answer`]).flat();
    const { exited } = Bun.spawn(['/bin/sh', '-c', 'exec mkfifo -m 600 "$@"', 'mkfifo', ...names], {
      cwd: this.#folder,
      env: { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    if ((await exited) !== 0) throw new Error('no pipes');
    this.#made += madeAtOnce;
  }

  /** Opens a pair, and says that it is to be taken. */
  #openPair(): Pair {
    const number = this.#number++;
    const ask = this.#path(number, 'ask');
    const pair = {
      number,
      asked: openSync(ask, constants.O_RDONLY | constants.O_NONBLOCK),
      answered: openSync(this.#path(number, 'answer'), constants.O_RDWR | constants.O_NONBLOCK),
      opened: promises.open(ask, 'r'),
    };
    this.#waiting = number;
    const next = `${this.#folder}/next`;
    writeFileSync(`${next}.new`, `${number}\n`);
    renameSync(`${next}.new`, next);
    return pair;
  }

  /** Answers the command that comes through a pair. Gives the next one, which is open before the answer: a shell may ask at once. */
  async #serve(pair: Pair): Promise<Pair | undefined> {
    const task = unpackedTask(await this.#readFrom(pair));
    const answer = task && (await this.#run(task));
    const next = this.#number < this.#made && !this.#hasEnded ? this.#openPair() : undefined;
    if (task && answer) answerAt(pair.answered, task, answer);
    closeSync(pair.answered);
    for (const what of ['ask', 'answer', 'taken'] as const) rmSync(this.#path(pair.number, what), { force: true });
    return next;
  }

  /** What a shell writes, until it closes the pipe; nothing if it is too long. */
  async #readFrom({ asked, opened }: Pair): Promise<Uint8Array> {
    const file = await opened;
    this.#waiting = undefined;
    try {
      for (let length = 0; length < maxBytes; ) {
        const { bytesRead } = await file.read(this.#buffer, length, maxBytes - length);
        if (bytesRead === 0) return this.#buffer.slice(0, length);
        length += bytesRead;
      }
      return new Uint8Array();
    } finally {
      await file.close();
      closeSync(asked);
    }
  }
}

/** Writes the output, then the lines: without them the shell does the work. */
function answerAt(pipe: number, { output }: PipedTask, { file, lines }: PipedAnswer): void {
  try {
    if (file) replaceBy(output!.partial, output!.path, file);
    writeSync(pipe, lines);
  } catch {
    // The process that asked meets the same problem, and reports it.
  }
}
