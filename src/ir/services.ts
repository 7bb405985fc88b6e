/**
 * Services of the CPU device, which a kernel reaches by the memory that a hidden parameter points to. Apple's GPUs have neither.
 *
 * `grid`: the workspace of a launch for barriers of its grid. The driver of NVIDIA gives its address in `%envreg1` and `%envreg2`, in launches
 * that are not cooperative as well; the word at byte 4 counts the blocks that have arrived at a barrier of the grid. All of it is 0 when a kernel starts.
 */

/** The names of their parameters. */
export const serviceNames = { grid: 'cumetal.grid' } as const;
export type Service = keyof typeof serviceNames;

/** Bytes of the workspace of a grid. */
export const gridWorkspaceBytes = 64;

export const serviceNamed = (name: string): Service | undefined =>
  (Object.keys(serviceNames) as Service[]).find((service) => serviceNames[service] === name);
