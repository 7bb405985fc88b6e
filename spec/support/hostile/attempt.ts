/** One mutant: made from a seed and a number alone, read, and measured. */
import { gcAndSweep, heapSize } from 'bun:jsc';
import { random } from '../mutate.ts';
import { type InputKind, inputKinds } from './kinds.ts';

/** The longest reading in seconds of CPU time: tens of times what the largest whole input takes. */
const maxSeconds = 4;

/** Why an input is a finding; undefined for one that is read as it should be. */
export interface Attempt {
  readonly finding: string | undefined;
  readonly outcome: string;
  readonly seconds: number;
}

/** The bytes of mutant `number` of a kind: the same for the same seed. */
export function mutantOf(kind: string, seed: number, number: number): Uint8Array {
  const { examples, damage } = inputKinds[kind]!;
  const next = random(seed * 1_000_003 + Object.keys(inputKinds).indexOf(kind) * 7919 + number);
  const list = examples();
  // The first ones of a list are the small ones, where that matters; as much is in them, and they take less time.
  return damage(list[Math.floor(next() ** 2 * list.length)]!.slice(), next);
}

/** Reads an input. An exception, too much time and too much memory are findings. */
export function attempt(kind: string, bytes: Uint8Array, limit = maxSeconds): Attempt {
  const { read } = inputKinds[kind]!;
  const [before, start] = [heapSize(), process.cpuUsage()];
  let [outcome, finding] = ['', undefined as string | undefined];
  try {
    outcome = read(bytes);
  } catch (error) {
    finding = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const seconds = process.cpuUsage(start).user / 1e6;
  if (seconds > limit) finding ??= slow(bytes, kind, limit);
  return { outcome, seconds, finding: finding ?? tooLarge(bytes, kind, heapSize() - before) };
}

/** Measures again, because the engine may have compiled code or collected others' memory meanwhile. */
function slow(bytes: Uint8Array, kind: string, limit: number): string | undefined {
  const start = process.cpuUsage();
  inputKinds[kind]!.read(bytes);
  const seconds = process.cpuUsage(start).user / 1e6;
  return seconds > limit ? `${seconds.toFixed(1)} s of CPU time` : undefined;
}

function tooLarge(bytes: Uint8Array, kind: string, grown: number): string | undefined {
  const { memory, read }: InputKind = inputKinds[kind]!;
  const limit = memory[0] * bytes.length + memory[1];
  if (grown <= limit) return undefined;
  gcAndSweep();
  const start = heapSize();
  read(bytes);
  const again = heapSize() - start;
  return again > limit ? `${again} bytes of memory for ${bytes.length}, where ${limit} are the limit` : undefined;
}
