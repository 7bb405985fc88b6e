/** The exit codes. 70 (EX_SOFTWARE) is an internal error. */
export const exit = {
  ok: 0,
  /** The launch failed, a check failed, devices disagree, a file is invalid. */
  failed: 1,
  /** Invalid command-line usage. */
  usage: 2,
  doesNotCompile: 3,
  noDevice: 4,
  ourBug: 70,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];
