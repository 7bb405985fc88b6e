/**
 * Runs a program beside processes that serve it: signals reach the program, its exit code is the result, and nothing is left when it ends,
 * however it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { constants as os } from 'node:os';
import { kind } from './protocol.ts';
import type { Shim } from './shim/build.ts';

export interface Supervision {
  /** The path of the program, and its arguments with the name that it is started by. */
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The library that is preloaded, and the folder of those that the program asks for. */
  readonly shim: Pick<Shim, 'preload'> & Partial<Shim>;
  /** A folder for the folder of this session. */
  readonly temporary: string;
  /** The process that serves, if one does: the words that start it, and its environment. */
  readonly server?: { readonly words: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> };
}

/** Signals that are passed on. Those that a terminal sends reach the program by themselves. */
const passed = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'] as const;
const ofTerminals: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/** The code by which a shell reports the end of a program. */
export const codeOfEnd = (code: number | null, signal: NodeJS.Signals | null): number =>
  signal ? 128 + (os.signals[signal] ?? 0) : (code ?? 1);

/** In the folder of a session: the sanitizer has found faults. */
const findings = 'findings';

/** Says that a sanitizer has found faults, for the exit code of the command. */
export const noteFindings = (folder: string): void => writeFileSync(`${folder}/${findings}`, '');

/** Runs the program to its end; its exit code, or why it could not be started. A program that ends well with findings of the sanitizer gives 1. */
export async function superviseProgram(options: Supervision): Promise<number | NodeJS.ErrnoException> {
  const session = new Session(options);
  try {
    await session.listen();
    const code = await session.run();
    return code === 0 && session.hasFindings() ? 1 : code;
  } finally {
    session.end();
  }
}

/** Folders of sessions, by the number of the process that made them. */
const folderName = 'cumetal-exec-';

/** Removes what sessions left that were killed. */
export function removeAbandoned(temporary: string): void {
  for (const name of readdirSync(temporary)) {
    const pid = name.startsWith(folderName) ? Number.parseInt(name.slice(folderName.length), 10) : Number.NaN;
    if (!Number.isInteger(pid) || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(`${temporary}/${name}`, { recursive: true, force: true });
    } catch {
      // It is somebody else's.
    }
  }
}

class Session {
  readonly #options: Supervision;
  readonly #folder: string;
  readonly #processes = new Set<ChildProcess>();
  readonly #server: Server;
  /** A process that waits for a program to serve. */
  #idle: ChildProcess | undefined;

  constructor(options: Supervision) {
    this.#options = options;
    this.#folder = mkdtempSync(`${options.temporary}/${folderName}${process.pid}-`);
    this.#server = createServer((socket) => {
      socket.once('data', (line) => this.#serve(Number.parseInt(String(line), 10)));
      socket.on('error', () => {});
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(`${this.#folder}/hello`, resolve);
    });
  }

  run(): Promise<number | NodeJS.ErrnoException> {
    const { path, args, env, shim, server } = this.#options;
    const preload = [shim.preload, env.LD_PRELOAD].filter(Boolean).join(':');
    const libraries = [shim.folder, env.LD_LIBRARY_PATH].filter(Boolean).join(':');
    return new Promise((resolve) => {
      const program = spawn(path, args.slice(1), {
        argv0: args[0]!,
        stdio: 'inherit',
        env: {
          ...env,
          LD_PRELOAD: preload,
          ...(libraries === '' ? {} : { LD_LIBRARY_PATH: libraries }),
          ...(server ? { CUMETAL_EXEC: `${process.pid}:${this.#folder}` } : {}),
        },
      });
      const passOn = passed.map((signal) => {
        const pass = (): void => {
          if (!(ofTerminals.has(signal) && isInForeground())) program.kill(signal);
        };
        process.on(signal, pass);
        return [signal, pass] as const;
      });
      const ended = (result: number | NodeJS.ErrnoException): void => {
        for (const [signal, pass] of passOn) process.off(signal, pass);
        resolve(result);
      };
      program.once('error', ended);
      program.once('exit', (code, signal) => ended(codeOfEnd(code, signal)));
      if (server) this.#idle = this.#start();
    });
  }

  /** Gives a program to a process, and starts the next one when it is asked for. */
  #serve(pid: number): void {
    if (!Number.isInteger(pid) || !this.#options.server) return;
    const server = this.#idle ?? this.#start();
    this.#idle = undefined;
    server.once('exit', () => this.#refuse(pid));
    server.stdin!.end(`${this.#folder}\n${pid}\n`);
  }

  #start(): ChildProcess {
    const { words, env } = this.#options.server!;
    const [command, ...args] = words;
    const server = spawn(command!, args, {
      stdio: ['pipe', 'inherit', 'inherit'],
      // Of another session, so that a terminal's signals do not end it before the program.
      detached: true,
      env: { ...env, LD_PRELOAD: this.#options.shim.preload, CUMETAL_EXEC_GUARD: String(process.pid) },
    });
    this.#processes.add(server);
    server.stdin!.on('error', () => {});
    server.once('error', () => {});
    server.once('exit', () => this.#processes.delete(server));
    return server;
  }

  /** Tells a program that still waits for its device that there is none. */
  #refuse(pid: number): void {
    try {
      const replies = openSync(`${this.#folder}/${pid}.replies`, constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(replies, new Uint8Array(new Uint32Array([kind.failed, 4, 0]).buffer));
      closeSync(replies);
    } catch {
      // It has been served, and has removed its pipes.
    }
  }

  hasFindings(): boolean {
    return existsSync(`${this.#folder}/${findings}`);
  }

  end(): void {
    for (const server of this.#processes) server.kill('SIGKILL');
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whether a terminal sends its signals to this process and the program alike. */
function isInForeground(): boolean {
  try {
    const [, fields = ''] = /\) (.*)/.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
    // After the name: state, parent, process group, session, terminal, the terminal's foreground group.
    const [, , group, , , foreground] = fields.split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}
