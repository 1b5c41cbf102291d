// A generator of Python that is suspended in the middle, with modules of the standard library and a file.
import { freeze as freezePython, start as startPython, thaw as thawPython } from "./guide/pyodide.js";

const program = `
import collections, decimal, hashlib, random

def chain():
    state, counts, number = hashlib.sha256(b"start"), collections.Counter(), random.Random(7)
    total = decimal.Decimal(0)
    while True:
        for _ in range(1000):
            state.update(number.randbytes(16))
            counts[state.hexdigest()[0]] += 1
            total += decimal.Decimal(number.randrange(1, 1000)) / 7
        yield state.hexdigest(), dict(counts), str(total)

running = chain()
log = open("log.txt", "w")
log.write("started\\n")
log.close()
`;

const advance = (rounds) => async ({ pyodide }) => {
  pyodide.runPython(`for _ in range(${rounds}): last = next(running)\nwith open("log.txt", "a") as log: log.write(last[0] + "\\n")`);
};

export async function start() {
  const pyodide = await startPython();
  pyodide.runPython(program);
  return { pyodide };
}

export const work = [
  advance(20),
  advance(5),
  async (machine) => {
    await advance(20)(machine);
    machine.result = JSON.parse(machine.pyodide.runPython("import json; json.dumps([last, open('log.txt').read()])"));
  },
];

export const freeze = ({ pyodide }, previous) => freezePython(pyodide, previous);
export const thaw = async (version) => ({ pyodide: await thawPython(version) });
