/** Returns the promise of `key` in `kept`, and calls `make` if there is none. A promise that rejects is removed, so that the
 * next call tries again. */
export function once<K, T>(kept: Map<K, Promise<T>>, key: K, make: () => Promise<T>): Promise<T> {
  const earlier = kept.get(key);
  if (earlier) return earlier;
  const making = make().catch((error: unknown) => {
    kept.delete(key);
    throw error;
  });
  kept.set(key, making);
  return making;
}
