// Time limits of single cases.

/** Far more than any case takes on a slow machine: one that needs longer hangs. */
const LIMIT_SECONDS = Number(process.env.PAGEPRESS_CASE_SECONDS ?? 600);

/** What a case fails with that has not ended after its limit. */
export class Late extends Error {}

/** The outcome of `work`; rejects with a `Late` if there is none after the limit. */
export async function within(work, seconds = LIMIT_SECONDS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Late(`not done after ${seconds} s`)), 1000 * seconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
