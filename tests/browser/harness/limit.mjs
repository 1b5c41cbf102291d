// Time limits for single test cases.

/** Time limit of a case, far above its duration, so that only cases that hang exceed it. */
const LIMIT_SECONDS = Number(process.env.PAGEPRESS_CASE_SECONDS ?? 600);

/** The error of a case that exceeds its time limit. */
export class Late extends Error {}

/** Returns the outcome of `work`, or rejects with a `Late` after the limit. */
export async function within(work, seconds = LIMIT_SECONDS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Late(`not done after ${seconds} s`)), 1000 * seconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
