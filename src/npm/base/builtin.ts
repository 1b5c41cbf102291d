/** A module of Node, as Deno and Bun have it too, by its name; rejects elsewhere. No bundler sees it, and it works where
 * scripts cannot import, as in Jest. */
export async function builtin<T>(name: string): Promise<T> {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): T | undefined } };
  const found = process?.getBuiltinModule?.(name);
  return found ?? ((await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)) as T);
}
