// Assertions of the test cases.

/** Fails unless `condition`. */
export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Fails unless both arrays are equal. */
export function same(actual, expected, what) {
  check(actual.length === expected.length, `${what}: ${actual.length} long, expected ${expected.length}`);
  for (let i = 0; i < expected.length; i += 1) {
    check(actual[i] === expected[i], `${what}: [${i}] is ${actual[i]}, expected ${expected[i]}`);
  }
}

/** Fails unless `work` rejects with a `PagepressError` with this code; returns the error. */
export async function rejects(work, code, PagepressError) {
  const error = await work.then(
    () => null,
    (reason) => reason,
  );
  check(error !== null, `resolved instead of rejecting with ${code}`);
  check(error instanceof PagepressError, `not a PagepressError: ${error}`);
  check(error.code === code, `rejected with ${error.code} (${error.message}), expected ${code}`);
  return error;
}

/** Fails unless one of five attempts, which return times in milliseconds, takes less than `limit`: other programs may hold the processors. */
export async function soon(what, limit, attempt) {
  const taken = [];
  do taken.push(Math.round(await attempt()));
  while (taken.at(-1) >= limit && taken.length < 5);
  check(taken.at(-1) < limit, `${what}: ${taken.join(", ")} ms`);
}

/** Returns a signal that is aborted for `reason` after `ms`, and a function that returns the milliseconds since then. */
export function abortAfter(ms, reason) {
  const controller = new AbortController();
  let abortedAt = Infinity;
  setTimeout(() => {
    abortedAt = performance.now();
    controller.abort(reason);
  }, ms);
  return { signal: controller.signal, since: () => performance.now() - abortedAt };
}
