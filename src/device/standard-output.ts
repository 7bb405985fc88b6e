/** Standard output, for what kernels print: in Bun and Node that of the process, in a page the lines of its console. */

interface Scope {
  readonly process?: { readonly stdout?: { write(bytes: Uint8Array): unknown } };
  readonly console: { log(text: string): void };
}

/** Text of a page that does not end a line yet. */
let unended = '';
let decoder: TextDecoder | undefined;

/** Writes bytes to standard output, in order with `console.log`. */
export function printToStandardOutput(bytes: Uint8Array): void {
  const { process, console } = globalThis as unknown as Scope;
  if (process?.stdout) {
    process.stdout.write(bytes);
    return;
  }
  decoder ??= new TextDecoder();
  const lines = (unended + decoder.decode(bytes, { stream: true })).split('\n');
  unended = lines.pop()!;
  for (const line of lines) console.log(line);
  // A console has whole lines only. The rest of this one may follow in the next piece of the same output.
  if (unended !== '') setTimeout(endLine, 0);
}

function endLine(): void {
  if (unended === '') return;
  console.log(unended);
  unended = '';
}
