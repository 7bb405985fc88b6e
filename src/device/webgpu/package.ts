/** The package with WebGPU that a user has installed for Bun or Node. It is no dependency: it is large, and few need it. */

/** The packages, the preferred one first: Dawn's own, and one for Bun. */
const packages = ['webgpu', 'bun-webgpu'] as const;

interface Builtins {
  createRequire?(from: string): { resolve(name: string): string };
  pathToFileURL?(path: string): URL;
}

interface Scope {
  readonly process?: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly versions: Readonly<Record<string, string>>;
    cwd(): string;
    getBuiltinModule?(name: string): Builtins | undefined;
  };
}

/** Whether this is a page, which has WebGPU itself. */
export const isPage = (): boolean => (globalThis as unknown as Scope).process?.getBuiltinModule === undefined;

/** The address of the package; without one, a text that says what to do. */
export function findPackage(): { readonly url: string } | { readonly why: string } {
  const { process } = globalThis as unknown as Scope;
  const createRequire = process?.getBuiltinModule?.('node:module')?.createRequire;
  const toUrl = process?.getBuiltinModule?.('node:url')?.pathToFileURL;
  if (!process || !createRequire || !toUrl)
    return {
      why: 'a page connects its GPU before, in a worker: `await Device.connect("webgpu")`, or `await prepareWebgpu()` of `cumetal/device`',
    };
  const own = process.env.CUMETAL_WEBGPU;
  if (own) {
    const path = resolved(createRequire, `${process.cwd()}/here.js`, own);
    return path === undefined ? { why: `CUMETAL_WEBGPU names no package: ${own}` } : { url: toUrl(path).href };
  }
  for (const from of [`${process.cwd()}/here.js`, import.meta.url])
    for (const name of packages) {
      // `bun-webgpu` calls its library by `bun:ffi`.
      if (name === 'bun-webgpu' && !process.versions.bun) continue;
      const path = resolved(createRequire, from, name);
      if (path !== undefined) return { url: toUrl(path).href };
    }
  return { why: 'WebGPU is a package of its own: `npm install webgpu` (Dawn, some 130 MB), or `bun add bun-webgpu` for Bun (20 MB)' };
}

function resolved(createRequire: NonNullable<Builtins['createRequire']>, from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
