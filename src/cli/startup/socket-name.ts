/** The name of the helper's socket in its folder: that of a build of this program and of Bun, so that no other one answers. */
export const socketName = (build: string): string => `${build.slice(-12)}-${Bun.revision.slice(0, 9)}`;
