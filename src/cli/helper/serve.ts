/**
 * The helper: a process that keeps the compiler loaded and compiled, and answers one command line after the other. It ends when it was not asked for some
 * minutes, when it takes much memory, and when its socket is that of another one.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { distrust } from '../../cache/trust.ts';
import { buildId } from '../command/build-id.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { answerTo } from './answer.ts';
import { exchange } from './exchange.ts';
import { type PipedAnswer, type PipedTask, pipedAnswer } from './pipe-message.ts';
import { Pipes } from './pipes.ts';
import { isOwnSocket } from './place.ts';
import { startingFile } from './start.ts';
import { type Answered, begun, divided, type HelperState, maxMessageBytes, packed, type Request, type Task, unpacked } from './wire.ts';

/** Milliseconds without a task after which it ends, and between two looks at that. */
const [idleMs, lookMs] = [300_000, 15_000];

/** Memory above which it ends, behind the answer. */
const maxMemoryBytes = 400 * 1024 * 1024;

/** Compilations after which the engine has compiled what runs often. The first task is repeated so often, when there is nothing else to do. */
const warmRounds = 30;

/** A connection: what has arrived of its message, and what is still to be sent. */
interface Peer {
  received: Buffer;
  unsent: Uint8Array;
  isAnswered: boolean;
  isClosed: boolean;
}

/** A message that arrived whole. */
interface Asked {
  readonly request: Request;
  readonly bytes: Uint8Array;
  /** Whether the process that asked has gone. */
  readonly isClosed: () => boolean;
  /** Says that the work begins. */
  readonly begin: () => void;
  readonly answer: (answered: Answered) => void;
}

/** Listens until it ends. The arguments are the folder and the socket. */
export async function serveHelper([folder = '', socket = '']: readonly string[]): Promise<ExitCode> {
  if (folder === '' || distrust(folder) !== undefined) return exit.failed;
  const isThere = isOwnSocket(socket) && typeof (await exchange(socket, packed({ ask: 'status' }, []), { answerMs: 1000 })) !== 'string';
  if (!isThere) {
    rmSync(socket, { force: true });
    process.umask(0o077);
    new Helper(socket).listen();
  }
  rmSync(startingFile({ folder, socket }), { force: true });
  return exit.ok;
}

class Helper {
  readonly #socket: string;
  readonly #pipes: Pipes;
  readonly #startedAt = Date.now();
  #inode = 0;
  #served = 0;
  #lastAsked = Date.now();
  /** Messages that wait. */
  readonly #waiting: Asked[] = [];
  #isBusy = false;
  #rounds = 0;
  /** How many tasks had been served when memory was released. */
  #collectedFor = 0;

  constructor(socket: string) {
    this.#socket = socket;
    this.#pipes = new Pipes(socket, (task) => this.#receivePiped(task));
  }

  listen(): void {
    Bun.listen<Peer>({
      unix: this.#socket,
      socket: {
        open: (socket) => {
          socket.data = { received: Buffer.alloc(0), unsent: new Uint8Array(), isAnswered: false, isClosed: false };
        },
        data: (socket, chunk) => this.#receive(socket, chunk),
        drain: (socket) => send(socket),
        close: (socket) => {
          socket.data.isClosed = true;
        },
        error: (socket) => {
          socket.data.isClosed = true;
        },
      },
    });
    chmodSync(this.#socket, 0o600);
    this.#inode = lstatSync(this.#socket).ino;
    setInterval(() => this.#look(), lookMs);
    void this.#pipes.serve();
  }

  #receive(socket: Bun.Socket<Peer>, chunk: Buffer): void {
    const { data } = socket;
    data.received = data.received.length === 0 ? Buffer.from(chunk) : Buffer.concat([data.received, chunk]);
    const found = unpacked<Request>(data.received);
    if (found === 'more' && data.received.length <= maxMessageBytes) return;
    if (typeof found === 'string') return void socket.terminate();
    this.#waiting.push({
      request: found.head,
      bytes: found.rest,
      isClosed: () => data.isClosed,
      begin: () => {
        data.unsent = Uint8Array.of(begun);
        send(socket);
      },
      answer: ({ head, parts }) => {
        data.unsent = joined(data.unsent, packed(head, parts));
        data.isAnswered = true;
        send(socket);
      },
    });
    void this.#work();
  }

  /** A command that came through a pipe, and its lines. */
  #receivePiped({ task, bytes, output }: PipedTask): Promise<PipedAnswer | undefined> {
    const { promise, resolve } = Promise.withResolvers<PipedAnswer | undefined>();
    this.#waiting.push({
      request: { ...task, build: buildId! },
      bytes,
      isClosed: () => false,
      begin: () => {},
      answer: (answered) => resolve(pipedAnswer(answered, output)),
    });
    void this.#work();
    return promise;
  }

  /** Answers what waits, one message after the other. */
  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let asked = this.#waiting.shift(); asked; asked = this.#waiting.shift()) {
      // Who waited too long does the work itself, and has closed the connection: that is noticed between two tasks.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (asked.isClosed()) continue;
      const answered = await this.#answer(asked);
      // Who says that it is to end finds nothing of it behind the answer.
      if (asked.request.ask === 'stop') this.#end();
      asked.answer(answered);
      if (process.memoryUsage.rss() > maxMemoryBytes) this.#end();
    }
    this.#isBusy = false;
  }

  async #answer({ request, bytes, begin }: Asked): Promise<Answered> {
    if (request.ask !== 'run') return { head: { state: this.#state() }, parts: [] };
    const parts = divided(bytes, request.files);
    if (request.build !== buildId || !parts) return { head: { declined: true }, parts: [] };
    begin();
    this.#served++;
    this.#lastAsked = Date.now();
    const answered = await answerTo(request, parts);
    this.#rounds++;
    if (this.#rounds < warmRounds) this.#warmUp(request, parts);
    return answered;
  }

  #state(): HelperState {
    const { user, system } = process.cpuUsage();
    const memoryBytes = process.memoryUsage.rss();
    return { pid: process.pid, served: this.#served, startedAt: this.#startedAt, memoryBytes, cpuMs: (user + system) / 1000 };
  }

  /** Repeats a task while there is no other, so that the engine compiles what the next one runs. */
  #warmUp(task: Task, parts: readonly Uint8Array[]): void {
    setTimeout(async () => {
      if (this.#isBusy || this.#rounds >= warmRounds) return;
      this.#rounds++;
      this.#isBusy = true;
      await answerTo(task, parts);
      this.#isBusy = false;
      if (this.#waiting.length > 0) await this.#work();
      else this.#warmUp(task, parts);
    }, 20);
  }

  /** Ends if it was not asked, and if it cannot be: another helper has the socket, or it was removed. Releases memory when there is nothing to do. */
  #look(): void {
    const isOwn = lstatSync(this.#socket, { throwIfNoEntry: false })?.ino === this.#inode;
    this.#pipes.look();
    const idle = this.#isBusy ? 0 : Date.now() - this.#lastAsked;
    if (!isOwn || idle > idleMs) this.#end(isOwn);
    else if (idle > lookMs && this.#collectedFor !== this.#served) {
      this.#collectedFor = this.#served;
      Bun.gc(true);
    }
  }

  /** Ends behind what is being sent. */
  #end(isOwn = true): void {
    if (isOwn) {
      rmSync(this.#socket, { force: true });
      this.#pipes.end();
    }
    setTimeout(() => process.exit(exit.ok), 100);
  }
}

const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => (a.length === 0 ? b : new Uint8Array(Buffer.concat([a, b])));

/** Sends what the connection takes; the rest follows when it takes more. */
function send(socket: Bun.Socket<Peer>): void {
  const { data } = socket;
  if (data.isClosed) return;
  const count = Math.max(0, socket.write(data.unsent));
  data.unsent = data.unsent.subarray(count);
  if (data.isAnswered && data.unsent.length === 0) socket.end();
}
