/** A helper function of WGSL: its text, and the helpers that it calls. */

export interface Helper {
  readonly text: string;
  readonly needs?: readonly string[];
}

export type Helpers = Readonly<Record<string, Helper>>;

/** A function of a head and the lines of its body. */
export const fn = (head: string, body: string): string =>
  `fn ${head} {\n${body
    .trim()
    .split('\n')
    .map((line) => (line.trim() === '' ? '' : `  ${line}`))
    .join('\n')}\n}`;
