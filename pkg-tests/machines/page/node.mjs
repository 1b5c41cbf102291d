// Runs a call of page.js in Node: node node.mjs METHOD ARGUMENTS. Prints its result as JSON.
import "./page.js";

const [method, ...values] = process.argv.slice(2);
const result = await globalThis.machines[method](...values);
// Machines may have timers that would keep the process running.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
