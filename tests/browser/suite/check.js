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
