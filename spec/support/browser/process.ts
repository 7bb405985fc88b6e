/** Headless browsers as processes, each with a profile of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Browsers by the name of their program; words that open an address in a profile of its own. */
const browsers: Readonly<Record<string, (profile: string, address: string) => string[]>> = {
  chromium: (profile, address) => [
    ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
    ...[`--user-data-dir=${profile}`, address],
  ],
  'firefox-esr': (profile, address) => {
    const quiet = {
      'browser.shell.checkDefaultBrowser': false,
      'datareporting.policy.dataSubmissionEnabled': false,
      'app.update.enabled': false,
    };
    writeFileSync(
      join(profile, 'user.js'),
      Object.entries(quiet)
        .map(([name, value]) => `user_pref('${name}', ${value});\n`)
        .join(''),
    );
    return ['--headless', '--no-remote', '--profile', profile, address];
  },
};

/** Words that give a page of Chromium WebGPU. */
const gpuWords = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan'];

interface Limits {
  /** Whether the page has WebGPU, on the driver for Vulkan that comes with Chromium. */
  readonly hasGpu?: boolean;
  readonly limitMs: number;
  /** How far it has come, for the message of the limit. */
  state(): string;
}

/** Opens an address until something is finished. Throws where the browser ends before, or needs too long. */
export async function whileOpen<T>(browser: string, address: string, finished: Promise<T>, { limitMs, state, hasGpu }: Limits): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'cumetal-browser-'));
  const usual = browsers[browser]!(profile, address);
  const words = hasGpu ? [...gpuWords, ...usual.filter((word) => word !== '--disable-gpu')] : usual;
  const child = spawn(browser, words, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } });
  let said = '';
  child.stderr.on('data', (more) => {
    said += more;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([
      finished,
      ended.then(() => Promise.reject(new Error(`${browser} has ended:\n${said.slice(-4000)}`))),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${browser} ${state()}:\n${said.slice(-4000)}`)), limitMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(killer);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
