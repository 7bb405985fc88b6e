/** LLVM 14's tools, for checking bitcode that we write and read. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of its own for one spec; removed when the process ends. */
export function scratch(): (name: string, bytes: Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return (name, bytes) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
}

/** The output of a tool; throws its messages if it fails. */
export function tool(name: string, args: readonly string[]): Buffer {
  const { status, stdout, stderr, error } = spawnSync(name, args, { maxBuffer: 2 ** 26 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

const withoutFirstLine = (text: string): string => text.replace(/^.*\n/, '');

/** LLVM's text of a bitcode file, without the line that names the file. */
export const llvmText = (path: string): string => withoutFirstLine(tool('llvm-dis-14', [path, '-o', '-']).toString());

export const assembled = (path: string): Uint8Array => new Uint8Array(tool('llvm-as-14', [path, '-o', '-']));

/** Throws unless LLVM can read the bitstream and verify the module. */
export function accepts(path: string): void {
  tool('llvm-bcanalyzer-14', [path]);
  tool('opt-14', ['-passes=verify', '-disable-output', path]);
}

/** Runs LLVM's verifier on a text; LLVM does not know the processor `air64`, so the triple is only checked as text. */
export function verifiedText(file: ReturnType<typeof scratch>, name: string, text: string): void {
  const triple = /target triple = "air64\w*-/;
  if (!triple.test(text)) throw new Error(`${name} is not for air64`);
  const path = file(`${name}.ll`, new TextEncoder().encode(text.replace(triple, 'target triple = "arm64-')));
  tool('opt-14', ['-passes=verify', '-disable-output', path]);
}
