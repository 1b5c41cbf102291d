/** Returns a built-in module of Node, which Deno and Bun have too; rejects in other hosts. Bundlers do not see the import,
 * and it works where scripts cannot import modules, as in Jest. */
export async function builtin<T>(name: string): Promise<T> {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): T | undefined } };
  const found = process?.getBuiltinModule?.(name);
  return found ?? ((await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)) as T);
}
